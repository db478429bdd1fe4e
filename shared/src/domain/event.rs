//! Events: the notifications that subscribers get (specification, "Event types and data fields"). Each is written in
//! its change's transaction. To add one, add an entry to `events!` below, and a struct if its data is new.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::agreement::{AgreementName, Label};
use super::funding::{FundingStatus, Verb, WaitingOn};
use super::ids::{
    AgreementId, DocumentId, EventId, FundingItemId, MovementId, ObligationId, ParticipantId, ProposalId, TrustId,
    WorkspaceId,
};
use super::movement::state::ExceptionReason;
use super::proposal::{Proposal, ProposalAction};
use super::shards::DueShards;
use super::time::Timestamp;
use crate::wire::enums::text_enum;
use crate::wire::fields::FieldCode;

/// Declares the events, from which [`EventType`], [`EventKind`], the examples and the API document's webhooks follow.
macro_rules! events {
    ($(
        $(#[$($about:tt)*])*
        $name:ident = $text:tt { data: $data:ident, sent_when: $sent_when:literal }
    )+) => {
        text_enum! {
            /// The type of an event (specification, "Event types and data fields").
            pub enum EventType {
                $($(#[$($about)*])* $name = $text,)+
            }
        }

        impl EventType {
            /// When an event of this type is sent, for display.
            #[must_use]
            pub fn sent_when(self) -> &'static str {
                match self {
                    $(Self::$name => $sent_when,)+
                }
            }

            /// Shows a visitor the data type of such an event.
            pub fn visit_data<V: DataVisitor>(self, visitor: &mut V) -> V::Output {
                match self {
                    $(Self::$name => visitor.data::<$data>(),)+
                }
            }
        }

        /// What happened, with its data for subscribers: ids, a name, an enumeration. Serializes as the `data` object.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize)]
        #[serde(untagged)]
        pub enum EventKind {
            $($(#[$($about)*])* $name($data),)+
        }

        impl EventKind {
            /// Its type.
            #[must_use]
            pub fn event_type(&self) -> EventType {
                match self {
                    $(Self::$name(_) => EventType::$name,)+
                }
            }

            fn examples() -> Result<Vec<Self>, (FieldCode, String)> {
                Ok(vec![$(Self::$name($data::example()?)),+])
            }
        }
    };
}

events! {
    /// A draft was published.
    AgreementPublished = "agreement.published" {
        data: AgreementData,
        sent_when: "A member confirmed the publication of an agreement"
    }
    /// The last stage of an agreement is done.
    AgreementCompleted = "agreement.completed" {
        data: AgreementData,
        sent_when: "The last step of an agreement is done"
    }
    /// A participant has signed a document: all of their blocks in it.
    SignatureCompleted = "signature.completed" {
        data: SignatureData,
        sent_when: "A participant has signed a document, everywhere it asks for their signature"
    }
    /// The sender says that money was sent.
    MovementSenderReported = "movement.sender_reported" {
        data: MovementData,
        sent_when: "A sender said that they sent the money of a payment. It is a claim, and no proof that it arrived"
    }
    /// Receiver-side evidence that adds up to the amount was accepted.
    MovementReconciled = "movement.reconciled" {
        data: MovementData,
        sent_when: "A member accepted proof from the receiving side that a payment arrived in full"
    }
    /// A movement needs attention, or its money came back.
    MovementException = "movement.exception" {
        data: MovementExceptionData,
        sent_when: "A payment needs attention, or its money came back"
    }
    /// A person declared that a trigger of an obligation happened.
    ObligationTriggered = "obligation.triggered" {
        data: ObligationData,
        sent_when: "A trigger of an obligation was declared"
    }
    /// The promisor says that an obligation was satisfied, once: a claim.
    ObligationSatisfied = "obligation.satisfied" {
        data: ObligationData,
        sent_when: "Someone recorded that an obligation was satisfied, which the other side has not confirmed yet"
    }
    /// The other side, or a member, has confirmed it.
    ObligationConfirmed = "obligation.confirmed" {
        data: ObligationData,
        sent_when: "The other side or a member confirmed that an obligation was satisfied, or verified that it still holds"
    }
    /// A proposal was made.
    ProposalCreated = "proposal.created" {
        data: ProposalData,
        sent_when: "A proposal to publish or cancel an agreement was made"
    }
    /// A member confirmed a proposal.
    ProposalConfirmed = "proposal.confirmed" {
        data: ProposalData,
        sent_when: "A member confirmed a proposal"
    }
    /// A member declined a proposal.
    ProposalDeclined = "proposal.declined" {
        data: ProposalData,
        sent_when: "A member declined a proposal"
    }
    /// A proposal expired undecided.
    ProposalExpired = "proposal.expired" {
        data: ProposalData,
        sent_when: "A proposal expired after 72 hours without a decision"
    }
    /// A trust was created.
    TrustCreated = "trust.created" {
        data: TrustData,
        sent_when: "A trust was created"
    }
    /// A trust has other values.
    TrustUpdated = "trust.updated" {
        data: TrustData,
        sent_when: "A trust got another name, other settlors or other trustees"
    }
    /// A funding item was added.
    FundingItemAdded = "funding_item.added" {
        data: FundingItemData,
        sent_when: "An asset was added to the funding of a workspace"
    }
    /// What is to be done with a funding item, or its trust, has changed.
    FundingItemSorted = "funding_item.sorted" {
        data: FundingItemSortedData,
        sent_when: "It was decided what is to be done with an asset, or for which trust"
    }
    /// A funding item was put on hold, or its hold was cleared.
    FundingItemParked = "funding_item.parked" {
        data: FundingItemParkedData,
        sent_when: "An asset was put on hold, or its hold was cleared: then there is no `waiting_on`"
    }
    /// An agreement was drafted for a funding item.
    FundingItemPapered = "funding_item.papered" {
        data: FundingItemPaperedData,
        sent_when: "An agreement was drafted that papers an asset"
    }
    /// A funding item was closed.
    FundingItemClosed = "funding_item.closed" {
        data: FundingItemClosedData,
        sent_when: "A member accepted proof from the receiving side that an asset arrived, or closed it as unfunded"
    }
    /// A funding item is open again.
    FundingItemReopened = "funding_item.reopened" {
        data: FundingItemReopenedData,
        sent_when: "A closed asset was opened again, or the agreement that papered it was cancelled or expired"
    }
    /// A workspace was activated.
    WorkspaceActivated = "workspace.activated" {
        data: WorkspaceData,
        sent_when: "A member activated a workspace"
    }
    /// An admin pressed the test button of an endpoint. Only that endpoint gets it, even unsubscribed.
    WebhookTest = "webhook.test" {
        data: TestData,
        sent_when: "An admin sent a test event"
    }
}

impl EventType {
    /// The types that endpoints subscribe to, in the specification's order: all but the test.
    pub fn subscribable() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|event_type| *event_type != Self::WebhookTest)
    }
}

/// Visits the Rust type of an event's data. The API document needs its schema.
pub trait DataVisitor {
    /// The visitor's result.
    type Output;

    /// Visits the type.
    fn data<D: ToSchema>(&mut self) -> Self::Output;
}

trait Example: Sized {
    fn example() -> Result<Self, (FieldCode, String)>;
}

/// What events of an agreement say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct AgreementData {
    /// The agreement that the event is about.
    pub agreement_id: AgreementId,
    /// What it is called.
    pub name: AgreementName,
}

impl Example for AgreementData {
    fn example() -> Result<Self, (FieldCode, String)> {
        Ok(Self { agreement_id: AgreementId::from(EXAMPLE_AGREEMENT), name: AgreementName::parse("Seed round SAFE")? })
    }
}

/// What events of a signature say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct SignatureData {
    /// The agreement.
    pub agreement_id: AgreementId,
    /// The signed document.
    pub document_id: DocumentId,
    /// Who signed it.
    pub participant_id: ParticipantId,
}

impl Example for SignatureData {
    fn example() -> Result<Self, (FieldCode, String)> {
        Ok(Self {
            agreement_id: AgreementId::from(EXAMPLE_AGREEMENT),
            document_id: DocumentId::from(EXAMPLE_DOCUMENT),
            participant_id: ParticipantId::from(EXAMPLE_PARTICIPANT),
        })
    }
}

/// What events of a movement say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct MovementData {
    /// The movement that the event is about.
    pub movement_id: MovementId,
    /// The agreement.
    pub agreement_id: AgreementId,
}

impl Example for MovementData {
    fn example() -> Result<Self, (FieldCode, String)> {
        Ok(Self { movement_id: MovementId::from(EXAMPLE_MOVEMENT), agreement_id: AgreementId::from(EXAMPLE_AGREEMENT) })
    }
}

/// What the event of a movement that needs attention says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct MovementExceptionData {
    /// The movement that needs attention.
    pub movement_id: MovementId,
    /// Why it needs attention.
    pub reason: ExceptionReason,
}

impl Example for MovementExceptionData {
    fn example() -> Result<Self, (FieldCode, String)> {
        Ok(Self { movement_id: MovementId::from(EXAMPLE_MOVEMENT), reason: ExceptionReason::AmountShort })
    }
}

/// What events of an obligation say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ObligationData {
    /// The obligation that the event is about.
    pub obligation_id: ObligationId,
    /// What was promised.
    pub name: Label,
}

impl Example for ObligationData {
    fn example() -> Result<Self, (FieldCode, String)> {
        let obligation_id = ObligationId::from(uuid::uuid!("01980a55-2b60-7e19-b7d4-08f1a2c3e4d5"));
        Ok(Self { obligation_id, name: Label::parse("Quarterly report")? })
    }
}

/// What events of a trust say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct TrustData {
    /// The trust that the event is about.
    pub trust_id: TrustId,
    /// The workspace that runs its funding.
    pub workspace_id: WorkspaceId,
}

impl Example for TrustData {
    fn example() -> Result<Self, (FieldCode, String)> {
        Ok(Self { trust_id: TrustId::from(EXAMPLE_TRUST), workspace_id: WorkspaceId::from(EXAMPLE_WORKSPACE) })
    }
}

/// What the event of a new funding item says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct FundingItemData {
    /// The item that the event is about.
    pub funding_item_id: FundingItemId,
    /// Its workspace.
    pub workspace_id: WorkspaceId,
    /// Its trust; left out while none is assigned.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = TrustId, required = false)]
    pub trust_id: Option<TrustId>,
}

impl Example for FundingItemData {
    fn example() -> Result<Self, (FieldCode, String)> {
        let (funding_item_id, workspace_id) = (EXAMPLE_ITEM.into(), EXAMPLE_WORKSPACE.into());
        Ok(Self { funding_item_id, workspace_id, trust_id: Some(EXAMPLE_TRUST.into()) })
    }
}

/// What the event of a sorted funding item says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct FundingItemSortedData {
    /// The item that was sorted.
    pub funding_item_id: FundingItemId,
    /// Its workspace.
    pub workspace_id: WorkspaceId,
    /// What is to be done with it.
    pub verb: Verb,
    /// Its trust; left out while none is assigned.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = TrustId, required = false)]
    pub trust_id: Option<TrustId>,
}

impl Example for FundingItemSortedData {
    fn example() -> Result<Self, (FieldCode, String)> {
        let (funding_item_id, workspace_id) = (EXAMPLE_ITEM.into(), EXAMPLE_WORKSPACE.into());
        Ok(Self { funding_item_id, workspace_id, verb: Verb::Retitle, trust_id: Some(EXAMPLE_TRUST.into()) })
    }
}

/// What the event of a parked funding item says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct FundingItemParkedData {
    /// The item whose hold has changed.
    pub funding_item_id: FundingItemId,
    /// Its workspace.
    pub workspace_id: WorkspaceId,
    /// For whom it waits; left out when the hold was cleared.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = WaitingOn, required = false)]
    pub waiting_on: Option<WaitingOn>,
}

impl Example for FundingItemParkedData {
    fn example() -> Result<Self, (FieldCode, String)> {
        let (funding_item_id, workspace_id) = (EXAMPLE_ITEM.into(), EXAMPLE_WORKSPACE.into());
        Ok(Self { funding_item_id, workspace_id, waiting_on: Some(WaitingOn::Institution) })
    }
}

/// What the event of a papered funding item says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct FundingItemPaperedData {
    /// The item that was papered.
    pub funding_item_id: FundingItemId,
    /// Its workspace.
    pub workspace_id: WorkspaceId,
    /// The agreement that papers it.
    pub agreement_id: AgreementId,
}

impl Example for FundingItemPaperedData {
    fn example() -> Result<Self, (FieldCode, String)> {
        let (funding_item_id, workspace_id) = (EXAMPLE_ITEM.into(), EXAMPLE_WORKSPACE.into());
        Ok(Self { funding_item_id, workspace_id, agreement_id: EXAMPLE_AGREEMENT.into() })
    }
}

/// What the event of a closed funding item says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct FundingItemClosedData {
    /// The item that was closed.
    pub funding_item_id: FundingItemId,
    /// Its workspace.
    pub workspace_id: WorkspaceId,
    /// How it was closed: `funded` or `unfunded`.
    pub status: FundingStatus,
}

impl Example for FundingItemClosedData {
    fn example() -> Result<Self, (FieldCode, String)> {
        let (funding_item_id, workspace_id) = (EXAMPLE_ITEM.into(), EXAMPLE_WORKSPACE.into());
        Ok(Self { funding_item_id, workspace_id, status: FundingStatus::Funded })
    }
}

/// What the event of a funding item that is open again says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct FundingItemReopenedData {
    /// The item that is open again.
    pub funding_item_id: FundingItemId,
    /// Its workspace.
    pub workspace_id: WorkspaceId,
}

impl Example for FundingItemReopenedData {
    fn example() -> Result<Self, (FieldCode, String)> {
        Ok(Self { funding_item_id: EXAMPLE_ITEM.into(), workspace_id: EXAMPLE_WORKSPACE.into() })
    }
}

/// What events of a workspace say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct WorkspaceData {
    /// The workspace that the event is about.
    pub workspace_id: WorkspaceId,
    /// How it was activated.
    pub authorization: Authorization,
}

impl Example for WorkspaceData {
    fn example() -> Result<Self, (FieldCode, String)> {
        let workspace_id = WorkspaceId::from(uuid::uuid!("01980a41-0c8a-7e31-b3d4-6a90c1f25e77"));
        Ok(Self { workspace_id, authorization: Authorization::Direct })
    }
}

/// What a test says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct TestData {
    /// A sentence that says so.
    pub message: &'static str,
}

impl TestData {
    /// The message of every test.
    pub const NOTHING_HAPPENED: Self = Self { message: "This is a test event from Countersign. Nothing has happened." };
}

impl Example for TestData {
    fn example() -> Result<Self, (FieldCode, String)> {
        Ok(Self::NOTHING_HAPPENED)
    }
}

/// What every event of a proposal says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProposalData {
    /// The proposal that the event is about.
    pub proposal_id: ProposalId,
    /// For which agreement.
    pub agreement_id: AgreementId,
    /// What is proposed.
    pub action: ProposalAction,
}

impl Example for ProposalData {
    fn example() -> Result<Self, (FieldCode, String)> {
        Ok(Self {
            proposal_id: ProposalId::from(uuid::uuid!("01980a57-3c11-7a94-b0c8-5e6f7d8091a2")),
            agreement_id: AgreementId::from(EXAMPLE_AGREEMENT),
            action: ProposalAction::PublishAgreement,
        })
    }
}

const EXAMPLE_DOCUMENT: Uuid = uuid::uuid!("01980a53-1c77-7d20-8a4b-90f3e6d5c2b1");
const EXAMPLE_PARTICIPANT: Uuid = uuid::uuid!("01980a52-f3a8-7b61-9d0e-3c4b5a697887");
const EXAMPLE_MOVEMENT: Uuid = uuid::uuid!("01980a54-2d88-7e31-9b5c-a104f7e6d3c2");
const EXAMPLE_TRUST: Uuid = uuid::uuid!("01980a60-1b22-7c33-8d44-5e66f7788990");
const EXAMPLE_ITEM: Uuid = uuid::uuid!("01980a61-2c33-7d44-9e55-6f7788990a1b");
const EXAMPLE_WORKSPACE: Uuid = uuid::uuid!("01980a41-0c8a-7e31-b3d4-6a90c1f25e77");
const EXAMPLE_AGREEMENT: Uuid = uuid::uuid!("01980a52-90bd-7f6a-8e21-c4d2b7035a18");

text_enum! {
    /// What a workspace was activated by.
    pub enum Authorization {
        /// A member's own act.
        Direct = "direct",
        /// Confirming a publication.
        Proposal = "proposal",
    }
}

/// An event as stored and delivered: `{id, type, created_at, data}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Event {
    /// Its id, by which subscribers detect repeats.
    pub id: EventId,
    /// Its type.
    #[serde(rename = "type")]
    of_type: EventType,
    /// When the change happened.
    pub created_at: Timestamp,
    /// Its data.
    #[serde(rename = "data")]
    kind: EventKind,
}

impl Event {
    /// An event that happens now, in one of some shards of the due index.
    #[must_use]
    pub fn new(kind: EventKind, now: Timestamp, shards: DueShards) -> Self {
        Self { id: EventId::in_any_of(shards), of_type: kind.event_type(), created_at: now, kind }
    }

    /// Its type.
    #[must_use]
    pub fn event_type(&self) -> EventType {
        self.of_type
    }

    /// One of each type, always the same, for the API document.
    pub fn examples() -> Result<Vec<Self>, (FieldCode, String)> {
        let id = EventId::from(uuid::uuid!("01980a58-6f2e-7c35-9d40-8b7a6c5e4f31"));
        let created_at =
            Timestamp::from_unix_ms(1_773_480_413_589).map_err(|_| (FieldCode::InvalidValue, String::new()))?;
        let example = |kind: EventKind| Self { id, of_type: kind.event_type(), created_at, kind };
        Ok(EventKind::examples()?.into_iter().map(example).collect())
    }
}

impl From<&Proposal> for ProposalData {
    fn from(proposal: &Proposal) -> Self {
        Self { proposal_id: proposal.id(), agreement_id: proposal.agreement_id, action: proposal.action }
    }
}
