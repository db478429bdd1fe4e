//! Events: what subscribers are told (specification, "Event types and data fields"). Each is written in the
//! transaction of the change that it tells.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::agreement::AgreementName;
use super::ids::{AgreementId, EventId, ProposalId, WorkspaceId};
use super::proposal::{Proposal, ProposalAction};
use super::time::Timestamp;
use crate::wire::enums::text_enum;
use crate::wire::fields::FieldCode;

/// What kinds of things are told (specification, "Event types and data fields"). More come with their resources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
pub enum EventType {
    /// A draft was published.
    #[serde(rename = "agreement.published")]
    AgreementPublished,
    /// The last stage of an agreement is done.
    #[serde(rename = "agreement.completed")]
    AgreementCompleted,
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
    pub const SUBSCRIBABLE: [Self; 7] = [
        Self::AgreementPublished,
        Self::AgreementCompleted,
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
            Self::AgreementCompleted => "agreement.completed",
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
    AgreementPublished(AgreementData),
    /// The last stage of an agreement is done.
    AgreementCompleted(AgreementData),
    /// A proposal was made.
    ProposalCreated(ProposalData),
    /// A member confirmed a proposal.
    ProposalConfirmed(ProposalData),
    /// A member declined a proposal.
    ProposalDeclined(ProposalData),
    /// Nobody decided a proposal in time.
    ProposalExpired(ProposalData),
    /// A workspace was activated.
    WorkspaceActivated(WorkspaceData),
    /// A member pressed the test button of an endpoint.
    WebhookTest(TestData),
}

impl EventKind {
    /// Its type.
    #[must_use]
    pub fn event_type(&self) -> EventType {
        match self {
            Self::AgreementPublished(_) => EventType::AgreementPublished,
            Self::AgreementCompleted(_) => EventType::AgreementCompleted,
            Self::ProposalCreated(_) => EventType::ProposalCreated,
            Self::ProposalConfirmed(_) => EventType::ProposalConfirmed,
            Self::ProposalDeclined(_) => EventType::ProposalDeclined,
            Self::ProposalExpired(_) => EventType::ProposalExpired,
            Self::WorkspaceActivated(_) => EventType::WorkspaceActivated,
            Self::WebhookTest(_) => EventType::WebhookTest,
        }
    }
}

/// What events of an agreement say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct AgreementData {
    /// Which.
    pub agreement_id: AgreementId,
    /// What it is called.
    pub name: AgreementName,
}

/// What events of a workspace say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct WorkspaceData {
    /// Which.
    pub workspace_id: WorkspaceId,
    /// By what it was activated.
    pub authorization: Authorization,
}

/// What a test says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct TestData {
    /// That it is one.
    pub message: &'static str,
}

impl TestData {
    /// The message of every test.
    pub const NOTHING_HAPPENED: Self = Self { message: "This is a test event from Countersign. Nothing has happened." };
}

/// What every event of a proposal says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProposalData {
    /// Which.
    pub proposal_id: ProposalId,
    /// For which agreement.
    pub agreement_id: AgreementId,
    /// What is proposed.
    pub action: ProposalAction,
}

text_enum! {
    /// What a workspace was activated by.
    pub enum Authorization {
        /// A member's own act.
        Direct = "direct",
        /// Confirming a publication.
        Proposal = "proposal",
    }
}

/// Something that happened, as it is written: the body of its deliveries, `{id, type, created_at, data}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Event {
    /// Its id, by which subscribers tell a repeat.
    pub id: EventId,
    /// What kind of thing.
    #[serde(rename = "type")]
    of_type: EventType,
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
        Self { id: EventId::new(), of_type: kind.event_type(), created_at: now, kind }
    }

    /// Its type.
    #[must_use]
    pub fn event_type(&self) -> EventType {
        self.of_type
    }

    /// One of each type, always the same: the description's examples.
    ///
    /// # Errors
    /// When an example is none.
    pub fn examples() -> Result<Vec<Self>, (FieldCode, String)> {
        let agreement_id = AgreementId::from(uuid::uuid!("01980a52-90bd-7f6a-8e21-c4d2b7035a18"));
        let proposal = ProposalData {
            proposal_id: ProposalId::from(uuid::uuid!("01980a57-3c11-7a94-b0c8-5e6f7d8091a2")),
            agreement_id,
            action: ProposalAction::PublishAgreement,
        };
        let name = AgreementName::parse("Seed round SAFE")?;
        let workspace_id = WorkspaceId::from(uuid::uuid!("01980a41-0c8a-7e31-b3d4-6a90c1f25e77"));
        let kinds = [
            EventKind::AgreementPublished(AgreementData { agreement_id, name: name.clone() }),
            EventKind::AgreementCompleted(AgreementData { agreement_id, name }),
            EventKind::ProposalCreated(proposal),
            EventKind::ProposalConfirmed(proposal),
            EventKind::ProposalDeclined(proposal),
            EventKind::ProposalExpired(proposal),
            EventKind::WorkspaceActivated(WorkspaceData { workspace_id, authorization: Authorization::Direct }),
            EventKind::WebhookTest(TestData::NOTHING_HAPPENED),
        ];
        let id = EventId::from(uuid::uuid!("01980a58-6f2e-7c35-9d40-8b7a6c5e4f31"));
        let created_at =
            Timestamp::from_unix_ms(1_773_480_413_589).map_err(|_| (FieldCode::InvalidValue, String::new()))?;
        Ok(kinds.map(|kind| Self { id, of_type: kind.event_type(), created_at, kind }).into())
    }
}

impl From<&Proposal> for ProposalData {
    fn from(proposal: &Proposal) -> Self {
        Self { proposal_id: proposal.id(), agreement_id: proposal.agreement_id, action: proposal.action }
    }
}
