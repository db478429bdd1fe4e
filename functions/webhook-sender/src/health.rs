//! Limits how often the sender writes the health of an endpoint.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use shared::domain::ids::EndpointId;
use shared::limits;
use tokio::time::Instant;

/// When each endpoint's health was last recorded, and whether as a success. Repeated successes are recorded rarely.
#[derive(Debug, Default)]
pub(crate) struct HealthThrottle(Mutex<HashMap<EndpointId, (Instant, bool)>>);

impl HealthThrottle {
    /// Whether to record the result of an attempt.
    pub fn should_record(&self, endpoint: EndpointId, is_success: bool) -> bool {
        let mut recorded = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let has_recent_success = recorded
            .get(&endpoint)
            .is_some_and(|(at, was_success)| *was_success && at.elapsed() < limits::HEALTH_SUCCESS_INTERVAL);
        if is_success && has_recent_success {
            return false;
        }
        if recorded.len() >= limits::HEALTH_ENDPOINTS_MAX {
            recorded.clear();
        }
        recorded.insert(endpoint, (Instant::now(), is_success));
        true
    }
}
