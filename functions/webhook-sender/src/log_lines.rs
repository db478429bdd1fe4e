//! The sender's log lines.

use serde::Serialize;
use shared::domain::delivery::{Attempt, Delivery, Outcome};
use shared::domain::ids::{EndpointId, EventId, OrgId};
use shared::domain::time::Timestamp;
use shared::webhook::queue::DeliveryMessage;

/// The log line of an attempt, without bodies, secrets or the endpoint's URL.
#[derive(Debug, Serialize)]
pub(crate) struct AttemptLine {
    operation: &'static str,
    organization_id: OrgId,
    endpoint_id: EndpointId,
    event_id: EventId,
    event_type: &'static str,
    attempt: u32,
    outcome: &'static str,
    status: Option<u16>,
    state: &'static str,
    duration_ms: u64,
    delivered: u8,
    failed: u8,
    exhausted: u8,
    /// The time from the event's commit to its first attempt's start.
    #[serde(skip_serializing_if = "Option::is_none")]
    since_commit_ms: Option<i64>,
}

impl AttemptLine {
    pub fn new(wake: DeliveryMessage, after: &Delivery, attempt: &Attempt, happened_at: Timestamp) -> Self {
        let (outcome, status) = match attempt.outcome {
            Outcome::Delivered { status } => ("delivered", Some(status)),
            Outcome::Failed { class, status } => (class.as_str(), status),
        };
        let is_first = after.attempted == 1;
        let state = after.state().as_str();
        Self {
            operation: "attempt_delivery",
            organization_id: wake.org(),
            endpoint_id: wake.delivery.endpoint,
            event_id: wake.delivery.event,
            event_type: after.event_type.as_str(),
            attempt: after.attempted,
            outcome,
            status,
            state,
            duration_ms: attempt.duration_ms,
            delivered: u8::from(outcome == "delivered"),
            failed: u8::from(outcome != "delivered"),
            exhausted: u8::from(state == "exhausted"),
            since_commit_ms: is_first.then(|| attempt.at.unix_ms() - happened_at.unix_ms()),
        }
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct FailureLine<'a> {
    operation: &'static str,
    organization_id: OrgId,
    endpoint_id: EndpointId,
    event_id: EventId,
    quarantine: bool,
    faults: u8,
    cause: &'a str,
}

impl<'a> FailureLine<'a> {
    pub fn new(wake: DeliveryMessage, quarantine: bool, cause: &'a str) -> Self {
        Self {
            operation: "attempt_delivery",
            organization_id: wake.org(),
            endpoint_id: wake.delivery.endpoint,
            event_id: wake.delivery.event,
            quarantine,
            faults: 1,
            cause,
        }
    }
}
