//! Events: what subscribers are told (specification, "Event types and data fields"). Each is written in the
//! transaction of the change that it tells.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::agreement::AgreementName;
use super::ids::{AgreementId, EventId, ProposalId, WorkspaceId};
use super::proposal::{Proposal, ProposalAction};
use super::time::Timestamp;

/// What kinds of things are told (specification, "Event types and data fields"). More come with their resources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
pub enum EventType {
    /// A draft was published.
    #[serde(rename = "agreement.published")]
    AgreementPublished,
    /// A proposal was made.
    #[serde(rename = "proposal.created")]
    ProposalCreated,
    /// A member confirmed a proposal.
    #[serde(rename = "proposal.confirmed")]
    ProposalConfirmed,
    /// A member declined a proposal.
    #[serde(rename = "proposal.declined")]
    ProposalDeclined,
    /// Nobody decided a proposal in time.
    #[serde(rename = "proposal.expired")]
    ProposalExpired,
    /// A workspace was activated.
    #[serde(rename = "workspace.activated")]
    WorkspaceActivated,
    /// A member pressed the test button of an endpoint. Never sent for anything else, and to that endpoint only.
    #[serde(rename = "webhook.test")]
    WebhookTest,
}

impl EventType {
    /// All that can be subscribed to, in the specification's order: everything but the test.
    pub const SUBSCRIBABLE: [Self; 6] = [
        Self::AgreementPublished,
        Self::ProposalCreated,
        Self::ProposalConfirmed,
        Self::ProposalDeclined,
        Self::ProposalExpired,
        Self::WorkspaceActivated,
    ];

    /// The type as it is written.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AgreementPublished => "agreement.published",
            Self::ProposalCreated => "proposal.created",
            Self::ProposalConfirmed => "proposal.confirmed",
            Self::ProposalDeclined => "proposal.declined",
            Self::ProposalExpired => "proposal.expired",
            Self::WorkspaceActivated => "workspace.activated",
            Self::WebhookTest => "webhook.test",
        }
    }

    /// The type that is written so.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::SUBSCRIBABLE.into_iter().chain([Self::WebhookTest]).find(|known| known.as_str() == text)
    }
}

/// What happened, with the data that subscribers get: ids, a name, an enumeration. Written, it is the `data` object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum EventKind {
    /// A draft was published.
    AgreementPublished {
        /// Which.
        agreement_id: AgreementId,
        /// What it is called.
        name: AgreementName,
    },
    /// A proposal was made.
    ProposalCreated(ProposalData),
    /// A member confirmed a proposal.
    ProposalConfirmed(ProposalData),
    /// A member declined a proposal.
    ProposalDeclined(ProposalData),
    /// Nobody decided a proposal in time.
    ProposalExpired(ProposalData),
    /// A workspace was activated.
    WorkspaceActivated {
        /// Which.
        workspace_id: WorkspaceId,
        /// By what.
        authorization: Authorization,
    },
    /// A member pressed the test button of an endpoint.
    WebhookTest {
        /// That it is a test.
        message: &'static str,
    },
}

impl EventKind {
    /// Its type.
    #[must_use]
    pub fn event_type(&self) -> EventType {
        match self {
            Self::AgreementPublished { .. } => EventType::AgreementPublished,
            Self::ProposalCreated(_) => EventType::ProposalCreated,
            Self::ProposalConfirmed(_) => EventType::ProposalConfirmed,
            Self::ProposalDeclined(_) => EventType::ProposalDeclined,
            Self::ProposalExpired(_) => EventType::ProposalExpired,
            Self::WorkspaceActivated { .. } => EventType::WorkspaceActivated,
            Self::WebhookTest { .. } => EventType::WebhookTest,
        }
    }
}

/// What every event of a proposal says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProposalData {
    /// Which.
    pub proposal_id: ProposalId,
    /// For which agreement.
    pub agreement_id: AgreementId,
    /// What is proposed.
    pub action: ProposalAction,
}

/// What a workspace was activated by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Authorization {
    /// A member's own act.
    Direct,
    /// Confirming a publication.
    Proposal,
}

/// Something that happened, as it is written: the body of its deliveries, `{id, type, created_at, data}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Event {
    /// Its id, by which subscribers tell a repeat.
    pub id: EventId,
    /// What kind of thing.
    #[serde(rename = "type")]
    event_type: EventType,
    /// When.
    pub created_at: Timestamp,
    /// What.
    #[serde(rename = "data")]
    kind: EventKind,
}

impl Event {
    /// Something that happens now.
    #[must_use]
    pub fn new(kind: EventKind, now: Timestamp) -> Self {
        Self { id: EventId::new(), event_type: kind.event_type(), created_at: now, kind }
    }

    /// Its type.
    #[must_use]
    pub fn event_type(&self) -> EventType {
        self.event_type
    }
}

impl From<&Proposal> for ProposalData {
    fn from(proposal: &Proposal) -> Self {
        Self { proposal_id: proposal.id, agreement_id: proposal.agreement_id, action: proposal.action }
    }
}
