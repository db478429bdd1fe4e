//! What calls use of the table, counted per handle.

use std::sync::{Arc, Mutex, PoisonError};

use aws_sdk_dynamodb::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_dynamodb::error::BoxError;
use aws_sdk_dynamodb::types::ConsumedCapacity;
use aws_smithy_runtime_api::client::interceptors::context::BeforeTransmitInterceptorContextRef;

/// What calls have used.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Usage {
    /// Read capacity units.
    pub read_units: f64,
    /// Write capacity units.
    pub write_units: f64,
    /// Calls, however often each was tried.
    pub round_trips: u32,
    /// Attempts beyond the first of each call.
    pub retries: u32,
}

/// Adds up the usage of one handle; an interceptor that sees every attempt.
#[derive(Debug, Clone, Default)]
pub(super) struct Meter(Arc<Mutex<Counts>>);

/// Usage while it is counted.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    usage: Usage,
    attempts: u32,
}

impl Meter {
    fn add(&self, change: impl FnOnce(&mut Counts)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Counts a call, and gives the interceptor that counts its attempts.
    pub(super) fn call(&self) -> Self {
        self.add(|counts| counts.usage.round_trips += 1);
        self.clone()
    }

    /// Adds what was read.
    pub(super) fn read(&self, capacity: Option<&ConsumedCapacity>) {
        self.add(|counts| {
            counts.usage.read_units += capacity.and_then(ConsumedCapacity::capacity_units).unwrap_or_default();
        });
    }

    /// Adds what was written.
    pub(super) fn written(&self, capacity: &[ConsumedCapacity]) {
        let units: f64 = capacity.iter().filter_map(ConsumedCapacity::capacity_units).sum();
        self.add(|counts| counts.usage.write_units += units);
    }

    /// What has been counted.
    pub(super) fn usage(&self) -> Usage {
        let counts = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Usage { retries: counts.attempts.saturating_sub(counts.usage.round_trips), ..counts.usage }
    }
}

#[aws_smithy_runtime_api::client::interceptors::dyn_dispatch_hint]
impl Intercept for Meter {
    fn name(&self) -> &'static str {
        "Meter"
    }

    fn read_before_attempt(
        &self,
        _: &BeforeTransmitInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        self.add(|counts| counts.attempts += 1);
        Ok(())
    }
}
