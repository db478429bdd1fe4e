//! Limits the attempts that are under way at one endpoint in this process.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use shared::domain::ids::EndpointId;
use shared::limits;

/// The number of attempts under way, by endpoint.
#[derive(Debug, Default)]
pub(crate) struct UnderWay(Mutex<HashMap<EndpointId, usize>>);

/// The place of one attempt. Dropping it makes room for another, however the attempt ends.
#[derive(Debug)]
pub(crate) struct Room<'a> {
    under_way: &'a UnderWay,
    endpoint: EndpointId,
}

impl UnderWay {
    fn counts(&self) -> MutexGuard<'_, HashMap<EndpointId, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Room for one more attempt, if there is any.
    pub fn room_at(&self, endpoint: EndpointId) -> Option<Room<'_>> {
        let mut counts = self.counts();
        let count = counts.entry(endpoint).or_default();
        if limits::ENDPOINT_ATTEMPTS_MAX <= *count {
            return None;
        }
        *count += 1;
        Some(Room { under_way: self, endpoint })
    }
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        let mut counts = self.under_way.counts();
        if let Some(count) = counts.get_mut(&self.endpoint) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.endpoint);
            }
        }
    }
}
