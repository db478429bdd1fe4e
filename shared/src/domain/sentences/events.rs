//! What each event tells.

use crate::domain::event::EventType;

/// When an event of a type is sent.
#[must_use]
pub fn event_type(event_type: EventType) -> &'static str {
    match event_type {
        EventType::AgreementPublished => "A member confirmed its publication, and its steps begin",
        EventType::AgreementCompleted => "Its last step is done",
        EventType::ProposalCreated => "Somebody proposed to publish or cancel an agreement",
        EventType::ProposalConfirmed => "A member confirmed a proposal",
        EventType::ProposalDeclined => "A member declined a proposal",
        EventType::ProposalExpired => "Nobody decided a proposal within 72 hours",
        EventType::WorkspaceActivated => "A member activated a workspace",
        EventType::WebhookTest => "An admin pressed the test button",
    }
}
