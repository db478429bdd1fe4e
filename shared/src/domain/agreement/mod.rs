//! Agreements: stages with gates, participants, documents and terms. The submodules have the rules.

pub mod acts;
pub mod blockers;
pub mod consistency;
pub mod context;
mod copy;
pub mod draft;
pub mod edit;
pub mod facts;
pub(in crate::domain) mod files;
#[cfg(test)]
pub(crate) mod fixtures;
pub mod gate;
pub mod keeping;
pub mod outline;
pub mod own_template;
pub mod papers;
pub mod participants;
pub mod payments;
pub mod pdf;
pub mod progress;
pub mod promise;
pub mod tasks;
pub mod template;
pub mod verification;
pub mod warnings;

use std::collections::{BTreeMap, BTreeSet};

use deserr::Deserr;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::actor::Actor;
use super::ids::{
    AgreementId, ContactId, DocumentId, FundingItemId, MovementId, PaperSignatureId, ParticipantId, SignatureBlockId,
    StageId, WorkspaceId,
};
use super::movement::state::MovementState;
use super::time::Timestamp;
use super::time_zone::TimeZone;
use crate::crypto;
use crate::limits;
use crate::wire::enums::text_enum;
use crate::wire::fields::FieldErrors;
use crate::wire::input::{OrDefault, texts};
use crate::wire::page::Shelf;
use facts::Facts;
use gate::{Gate, GateState};
use papers::PendingPaper;
use promise::Promise;

texts! {
    /// The name of an agreement.
    AgreementName: max limits::AGREEMENT_NAME_CHARS_MAX, example "Seed round SAFE";
    /// The name of a stage, a document, a signature block or a question.
    Label: max limits::NAME_CHARS_MAX, example "Signing";
}

text_enum! {
    /// What an agreement is (specification, "Enumerations").
    #[derive(Default)]
    pub enum AgreementKind {
        /// Any agreement.
        #[default]
        General = "general",
        /// A simple agreement for future equity.
        Safe = "safe",
    }
}

text_enum! {
    /// Where an agreement is in its life, as clients branch on it.
    pub enum Lifecycle {
        /// Being set up; sends nothing to anyone.
        Draft = "draft",
        /// Published: its stages run.
        Active = "active",
        /// Its last stage is done.
        Completed = "completed",
        /// Cancelled by a member.
        Cancelled = "cancelled",
        /// Its time ran out.
        Expired = "expired",
    }
}

impl Lifecycle {
    /// Whether it was cancelled or has expired.
    #[must_use]
    pub fn has_ended_early(self) -> bool {
        matches!(self, Self::Cancelled | Self::Expired)
    }
}

/// The lifecycle of an agreement, with the time of each transition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "lowercase")]
pub enum Life {
    /// Being set up.
    Draft,
    /// Published.
    Active {
        /// When it was published.
        published_at: Timestamp,
    },
    /// Completed.
    Completed {
        /// When it was published.
        published_at: Timestamp,
        /// When its last stage was done.
        completed_at: Timestamp,
    },
    /// Cancelled, as a draft or while active.
    Cancelled {
        /// When it was published, if ever.
        published_at: Option<Timestamp>,
        /// When it was cancelled.
        cancelled_at: Timestamp,
    },
    /// Its time ran out while active.
    Expired {
        /// When it was published.
        published_at: Timestamp,
        /// When it expired.
        expired_at: Timestamp,
    },
}

impl Life {
    /// The state, as clients see it.
    #[must_use]
    pub fn lifecycle(self) -> Lifecycle {
        match self {
            Self::Draft => Lifecycle::Draft,
            Self::Active { .. } => Lifecycle::Active,
            Self::Completed { .. } => Lifecycle::Completed,
            Self::Cancelled { .. } => Lifecycle::Cancelled,
            Self::Expired { .. } => Lifecycle::Expired,
        }
    }
}

text_enum! {
    /// A participant's role in an agreement (specification, "Enumerations").
    pub enum ParticipantRole {
        /// Signs.
        Signer = "signer",
        /// Sends money.
        Funder = "funder",
        /// Receives money.
        Receiver = "receiver",
        /// Approves.
        Approver = "approver",
        /// Invests.
        Investor = "investor",
        /// Issues what is invested in.
        Issuer = "issuer",
        /// Acts for a trust.
        Trustee = "trustee",
        /// Hands in documents or answers.
        Contributor = "contributor",
        /// Observes.
        Observer = "observer",
    }
}

/// A participant of an agreement: a reference to a contact, never a copy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Participant {
    /// Their id in this agreement.
    pub id: ParticipantId,
    /// The contact.
    pub contact_id: ContactId,
    /// Its roles, at least one.
    pub roles: BTreeSet<ParticipantRole>,
    /// The contact's `identity_version` at publication. None in drafts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact_version: Option<u64>,
}

/// A document of an agreement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// Its id.
    pub id: DocumentId,
    /// Its name.
    pub name: Label,
    /// Its file, if any.
    pub content: Option<DocumentContent>,
    /// Where it is.
    pub state: DocumentState,
    /// The places to sign.
    pub blocks: Vec<SignatureBlock>,
    /// Whether a member said that nobody signs it. Irrelevant once it has signature blocks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_for_reading: bool,
}

/// A document's file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentContent {
    /// SHA-256, in hexadecimal.
    pub sha256: String,
    /// Its size in bytes.
    pub size_bytes: u64,
}

impl DocumentContent {
    /// The hash and size of a file.
    #[must_use]
    pub fn of(file: &[u8]) -> Self {
        Self { sha256: crypto::sha256_hex(file), size_bytes: u64::try_from(file.len()).unwrap_or(u64::MAX) }
    }
}

text_enum! {
    /// Where a document is.
    pub enum DocumentState {
        /// It is not out for signing, yet or at all.
        Draft = "draft",
        /// It is out for signing.
        Out = "out",
        /// Everyone has signed.
        Signed = "signed",
    }
}

/// A place where one participant signs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignatureBlock {
    /// Its id.
    pub id: SignatureBlockId,
    /// Who signs there.
    pub participant_id: ParticipantId,
    /// The label next to it.
    pub label: Label,
}

/// A step: gates to clear, then actions that run once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stage {
    /// Its id.
    pub id: StageId,
    /// Its name.
    pub name: Label,
    /// Its state.
    pub state: StageState,
    /// The actions that run exactly once, when all gates are cleared.
    pub actions: BTreeSet<StageAction>,
    /// Its conditions.
    pub gates: Vec<Gate>,
}

text_enum! {
    /// Where a stage is.
    pub enum StageState {
        /// Not its turn yet.
        Upcoming = "upcoming",
        /// Its gates are open.
        Current = "current",
        /// Its actions have run.
        Done = "done",
    }
}

text_enum! {
    /// What a stage does when all of its gates are cleared (contract, section 2).
    pub enum StageAction {
        /// Opens documents for signing.
        OpenSigning = "open_signing",
        /// Lets a movement be authorized.
        OpenMovement = "open_movement",
        /// Makes wire instructions available to senders.
        ReleaseInstructions = "release_instructions",
        /// Records the obligations.
        ProjectObligations = "project_obligations",
    }
}

/// The terms of a SAFE; what is missing keeps it from being published.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "investment_amount_minor": 25_000_000,
    "currency": "USD",
    "valuation_cap_minor": 1_000_000_000,
    "discount_rate": "0.20",
    "mfn": false,
    "pro_rata": true,
    "conversion_timing": "post_money",
    "governing_law": "Delaware",
}))]
pub struct SafeTerms {
    /// What is invested, in minor units of the currency.
    #[schema(required = true)]
    pub investment_amount_minor: Option<i64>,
    /// The currency, by its code of ISO 4217.
    #[schema(required = true)]
    pub currency: Option<String>,
    /// The valuation cap, in minor units, if there is one.
    #[schema(required = true)]
    pub valuation_cap_minor: Option<i64>,
    /// The discount as a decimal string: `"0.20"` is 20% off.
    #[schema(required = true)]
    pub discount_rate: Option<String>,
    /// Most favored nation.
    pub mfn: bool,
    /// Pro-rata rights.
    pub pro_rata: bool,
    /// When it converts.
    #[schema(required = true)]
    pub conversion_timing: Option<ConversionTiming>,
    /// Whose law governs it.
    #[schema(required = true)]
    pub governing_law: Option<String>,
}

impl SafeTerms {
    /// The investment in minor units with its currency, whose code is empty if none is chosen.
    #[must_use]
    pub fn investment(&self) -> Option<(&str, i64)> {
        Some((self.currency.as_deref().unwrap_or_default(), self.investment_amount_minor?))
    }
}

text_enum! {
    /// When a SAFE converts.
    pub enum ConversionTiming {
        /// Post-money.
        PostMoney = "post_money",
        /// Pre-money.
        PreMoney = "pre_money",
    }
}

/// An agreement as stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agreement {
    /// Private, so that one agreement can't be written in place of another.
    id: AgreementId,
    /// The one workspace that it belongs to.
    pub workspace_id: WorkspaceId,
    /// Its name.
    pub name: AgreementName,
    /// Its kind.
    pub kind: AgreementKind,
    /// Private to the domain, whose functions alone change it.
    pub(super) life: Life,
    /// Its participants.
    pub participants: Vec<Participant>,
    /// Its documents.
    pub documents: Vec<Document>,
    /// Its steps, in order.
    pub stages: Vec<Stage>,
    /// The terms, if it is a SAFE.
    pub terms: Option<SafeTerms>,
    /// What participants promise each other beyond its steps, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub promises: Vec<Promise>,
    /// When it expires unless completed by then.
    pub expires_at: Option<Timestamp>,
    /// The funding items that it papers.
    pub funding_item_ids: Vec<FundingItemId>,
    /// Who created it.
    pub created_by: Actor,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    #[serde(default = "Facts::none", skip_serializing_if = "Facts::is_none")]
    pub(super) facts: Facts,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) pending_papers: BTreeMap<PaperSignatureId, PendingPaper>,
    /// The time zone for the days of its promises, set at publication.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) zone: Option<TimeZone>,
    /// When a member archived it, of a draft. Means nothing once it is published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) archived_at: Option<Timestamp>,
}

/// An agreement to be drafted.
#[derive(Debug, Clone, Deserr, ToSchema)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
#[schema(example = json!({"workspace_id": "01980a41-0c8a-7e31-b3d4-6a90c1f25e77", "name": "Seed round SAFE", "kind": "safe"}))]
pub struct NewAgreement {
    /// A workspace of your organization.
    pub workspace_id: WorkspaceId,
    /// What it is called.
    pub name: AgreementName,
    /// What it is; `general` if left out.
    #[deserr(default)]
    #[schema(value_type = AgreementKind, required = false)]
    pub kind: OrDefault<AgreementKind>,
}

/// A contact that is to take part, and as what.
#[derive(Debug, Clone, Deserr, ToSchema)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
#[schema(example = json!({"contact_id": "01980a3e-5f10-7c44-9a6b-2f1d8e0c7b35", "roles": ["signer", "investor"]}))]
pub struct NewParticipant {
    /// A contact of your organization.
    pub contact_id: ContactId,
    /// What they do; one or more.
    pub roles: Roles,
}

/// One or more roles, each once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roles(pub BTreeSet<ParticipantRole>);

impl deserr::Deserr<FieldErrors> for Roles {
    fn deserialize_from_value<V: deserr::IntoValue>(
        value: deserr::Value<V>,
        location: deserr::ValuePointerRef<'_>,
    ) -> Result<Self, FieldErrors> {
        let roles = Vec::<ParticipantRole>::deserialize_from_value(value, location)?;
        if roles.is_empty() {
            return Err(FieldErrors::at(
                location,
                crate::wire::fields::FieldCode::TooShort,
                "must have one role or more",
            ));
        }
        Ok(Self(roles.into_iter().collect()))
    }
}

impl utoipa::PartialSchema for Roles {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
        utoipa::openapi::schema::ArrayBuilder::new()
            .description(Some("One or more roles. A repeated one counts once."))
            .items(utoipa::openapi::Ref::from_schema_name(ParticipantRole::name()))
            .min_items(Some(1))
            .into()
    }
}

impl ToSchema for Roles {
    fn schemas(schemas: &mut Vec<(String, utoipa::openapi::RefOr<utoipa::openapi::schema::Schema>)>) {
        schemas.push((ParticipantRole::name().into(), <ParticipantRole as utoipa::PartialSchema>::schema()));
    }
}

impl Agreement {
    /// A new draft.
    #[must_use]
    pub fn draft(new: NewAgreement, created_by: Actor, now: Timestamp) -> Self {
        let OrDefault(kind) = new.kind;
        Self {
            id: AgreementId::new(),
            workspace_id: new.workspace_id,
            name: new.name,
            kind,
            life: Life::Draft,
            participants: Vec::new(),
            documents: Vec::new(),
            stages: Vec::new(),
            terms: (kind == AgreementKind::Safe).then(SafeTerms::default),
            promises: Vec::new(),
            expires_at: None,
            funding_item_ids: Vec::new(),
            created_by,
            created_at: now,
            updated_at: now,
            facts: Facts::none(),
            pending_papers: BTreeMap::new(),
            zone: None,
            archived_at: None,
        }
    }

    pub(crate) fn with_id(self, id: AgreementId) -> Self {
        Self { id, ..self }
    }

    /// Where the app lists it. A draft that is published is no longer archived.
    #[must_use]
    pub fn shelf(&self) -> Shelf {
        let is_archived = self.archived_at.is_some() && self.lifecycle() == Lifecycle::Draft;
        if is_archived { Shelf::Archived } else { Shelf::Current }
    }

    /// Archived or brought back. Only the app's lists show it, so it keeps its `updated_at`.
    #[must_use]
    pub fn archived(&self, is_archived: bool, now: Timestamp) -> Self {
        Self { archived_at: is_archived.then(|| self.archived_at.unwrap_or(now)), ..self.clone() }
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> AgreementId {
        self.id
    }

    /// Whether it has ever been published. False for drafts and discarded drafts.
    #[must_use]
    pub fn was_published(&self) -> bool {
        self.published_at().is_some()
    }

    /// When it was published, if ever.
    #[must_use]
    pub fn published_at(&self) -> Option<Timestamp> {
        match self.life {
            Life::Draft => None,
            Life::Active { published_at }
            | Life::Completed { published_at, .. }
            | Life::Expired { published_at, .. } => Some(published_at),
            Life::Cancelled { published_at, .. } => published_at,
        }
    }

    /// Its lifecycle, with the time of each transition.
    #[must_use]
    pub fn life(&self) -> Life {
        self.life
    }

    /// Since when a draft is unchanged, or an active agreement's current step is open. None after its end.
    #[must_use]
    pub fn open_since(&self) -> Option<Timestamp> {
        match self.life {
            Life::Draft => Some(self.updated_at),
            Life::Active { published_at } => {
                let current = self.stages.iter().find(|stage| stage.state == StageState::Current);
                let opened = current.into_iter().flat_map(|stage| &stage.gates).filter_map(Gate::opened_at).min();
                Some(opened.unwrap_or(published_at))
            }
            Life::Completed { .. } | Life::Cancelled { .. } | Life::Expired { .. } => None,
        }
    }

    /// The open or declined gates of an active agreement's current step.
    pub fn waiting_gates(&self) -> impl Iterator<Item = &Gate> {
        let is_active = self.lifecycle() == Lifecycle::Active;
        let current = self.stages.iter().find(|stage| is_active && stage.state == StageState::Current);
        let is_waiting = |gate: &&Gate| matches!(gate.state, GateState::Open { .. } | GateState::Declined { .. });
        current.into_iter().flat_map(|stage| &stage.gates).filter(is_waiting)
    }

    /// The contacts that the open gates of the current step wait for, without those whose signatures on paper wait for a
    /// member.
    #[must_use]
    pub fn waited_for(&self) -> BTreeSet<ContactId> {
        let open = self.waiting_gates().filter(|gate| matches!(gate.state, GateState::Open { .. }));
        let waited_for = open.flat_map(|gate| self.awaited_by(gate));
        waited_for.filter_map(|id| self.participant(id)).map(|participant| participant.contact_id).collect()
    }

    /// Whether a participant has declined a current gate, so that a member must decide how to proceed.
    #[must_use]
    pub fn is_declined(&self) -> bool {
        !self.declined_by().is_empty()
    }

    /// The participants who have declined a current gate.
    #[must_use]
    pub fn declined_by(&self) -> BTreeSet<ParticipantId> {
        let declined = self.waiting_gates().filter_map(|gate| match gate.state {
            GateState::Declined { participant_id, .. } => Some(participant_id),
            _ => None,
        });
        declined.collect()
    }

    /// How many participants' answers, files and identities wait for a member.
    #[must_use]
    pub fn reviews_waiting(&self) -> usize {
        self.waiting_gates().map(|gate| self.to_review(gate).len() + self.to_verify(gate).len()).sum()
    }

    /// The state, as clients see it.
    #[must_use]
    pub fn lifecycle(&self) -> Lifecycle {
        self.life.lifecycle()
    }

    /// A participant, by their id.
    #[must_use]
    pub fn participant(&self, id: ParticipantId) -> Option<&Participant> {
        self.participants.iter().find(|participant| participant.id == id)
    }

    /// Its movements with their states.
    #[must_use]
    pub fn movements(&self) -> &BTreeMap<MovementId, MovementState> {
        &self.facts.movements
    }

    /// Its movements that end with it on cancellation or expiry.
    pub fn open_movements(&self) -> impl Iterator<Item = MovementId> {
        self.facts.movements.iter().filter(|(_, state)| state.ends_with_agreement()).map(|(id, _)| *id)
    }

    /// Whether it was cancelled or has expired.
    #[must_use]
    pub fn has_ended_early(&self) -> bool {
        matches!(self.life, Life::Cancelled { .. } | Life::Expired { .. })
    }

    /// The state of a movement: `Cancelled` after the agreement's early end, even before the movement's own record.
    #[must_use]
    pub fn movement_state(&self, id: MovementId) -> Option<MovementState> {
        self.facts.movement(Some(id))
    }

    /// A document, by its id.
    #[must_use]
    pub fn document(&self, id: DocumentId) -> Option<&Document> {
        self.documents.iter().find(|document| document.id == id)
    }
}
