//! The usage of the table, counted per handle.

use std::sync::{Arc, Mutex, PoisonError};

use aws_sdk_dynamodb::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_dynamodb::error::BoxError;
use aws_sdk_dynamodb::types::ConsumedCapacity;
use aws_smithy_runtime_api::client::interceptors::context::BeforeTransmitInterceptorContextRef;

/// The usage of the table by some calls.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Usage {
    /// Read capacity units.
    pub read_units: f64,
    /// Write capacity units.
    pub write_units: f64,
    /// Calls, each counted once, however many attempts it took.
    pub round_trips: u32,
    /// Attempts beyond the first of each call.
    pub retries: u32,
}

/// Counts the usage of one handle. As an interceptor it sees every attempt at a call.
#[derive(Debug, Clone, Default)]
pub(super) struct UsageMeter(Arc<Mutex<Counts>>);

/// The counts of a meter.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    usage: Usage,
    attempts: u32,
}

impl UsageMeter {
    fn add(&self, change: impl FnOnce(&mut Counts)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Counts a call, and returns the interceptor that counts its attempts.
    pub(super) fn count_call(&self) -> Self {
        self.add(|counts| counts.usage.round_trips += 1);
        self.clone()
    }

    /// Adds the units of a read.
    pub(super) fn add_read(&self, capacity: Option<&ConsumedCapacity>) {
        self.add(|counts| {
            counts.usage.read_units += capacity.and_then(ConsumedCapacity::capacity_units).unwrap_or_default();
        });
    }

    /// Adds the units of a write.
    pub(super) fn add_written(&self, capacity: &[ConsumedCapacity]) {
        let units: f64 = capacity.iter().filter_map(ConsumedCapacity::capacity_units).sum();
        self.add(|counts| counts.usage.write_units += units);
    }

    /// The usage so far.
    pub(super) fn usage(&self) -> Usage {
        let counts = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Usage { retries: counts.attempts.saturating_sub(counts.usage.round_trips), ..counts.usage }
    }
}

#[aws_smithy_runtime_api::client::interceptors::dyn_dispatch_hint]
impl Intercept for UsageMeter {
    fn name(&self) -> &'static str {
        "UsageMeter"
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
