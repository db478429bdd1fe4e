//! The usage of the table, counted per handle.

use std::sync::{Arc, Mutex, PoisonError};

use aws_sdk_dynamodb::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_dynamodb::error::BoxError;
use aws_sdk_dynamodb::types::ConsumedCapacity;
use aws_smithy_runtime_api::client::interceptors::context::{
    BeforeTransmitInterceptorContextRef, FinalizerInterceptorContextRef,
};

/// The usage of the table by some calls.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Usage {
    /// Read capacity units.
    pub read_units: f64,
    /// Write capacity units.
    pub write_units: f64,
    /// Calls, each counted once, however many attempts it took.
    pub round_trips: u32,
    /// Waits for the table, with concurrent calls as one: at least the longest chain of dependent calls.
    pub waits: u32,
    /// Attempts beyond the first of each call.
    pub retries: u32,
}

#[derive(Debug, Clone, Default)]
pub(super) struct UsageMeter(Arc<Mutex<Counts>>);

#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    usage: Usage,
    attempts: u32,
}

impl UsageMeter {
    fn add(&self, change: impl FnOnce(&mut Counts)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Counts a call that begins now, and returns the interceptor that sees its attempts and its end.
    pub(super) fn count_call(&self) -> CallMeter {
        let mut wait = 1;
        self.add(|counts| {
            counts.usage.round_trips += 1;
            wait += counts.usage.waits;
        });
        CallMeter { meter: self.clone(), wait }
    }

    pub(super) fn add_read(&self, capacity: Option<&ConsumedCapacity>) {
        self.add(|counts| {
            counts.usage.read_units += capacity.and_then(ConsumedCapacity::capacity_units).unwrap_or_default();
        });
    }

    pub(super) fn add_written(&self, capacity: &[ConsumedCapacity]) {
        let units: f64 = capacity.iter().filter_map(ConsumedCapacity::capacity_units).sum();
        self.add(|counts| counts.usage.write_units += units);
    }

    pub(super) fn usage(&self) -> Usage {
        let counts = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Usage { retries: counts.attempts.saturating_sub(counts.usage.round_trips), ..counts.usage }
    }
}

#[derive(Debug)]
pub(super) struct CallMeter {
    meter: UsageMeter,
    /// The call's wait: one more than the waits that had ended when it began.
    wait: u32,
}

#[aws_smithy_runtime_api::client::interceptors::dyn_dispatch_hint]
impl Intercept for CallMeter {
    fn name(&self) -> &'static str {
        "CallMeter"
    }

    fn read_before_attempt(
        &self,
        _: &BeforeTransmitInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        self.meter.add(|counts| counts.attempts += 1);
        Ok(())
    }

    fn read_after_execution(
        &self,
        _: &FinalizerInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        self.meter.add(|counts| counts.usage.waits = counts.usage.waits.max(self.wait));
        Ok(())
    }
}
