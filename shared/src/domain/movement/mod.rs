//! Movements: money that moves between real banks. The service never holds it; it records what is claimed and what is
//! proven, as two facts that are never merged.
//!
//! Only the acts of [`member`](super::member) and [`participant`](super::participant) call the transitions (contract,
//! section 3, "Movement").
//!
//! Decision: a movement keeps a compact entry per undecided or accepted piece of receiver-side evidence, so that acts
//! and lists don't read all evidence. Sender-side evidence has no such entry, so it can't be counted.
//!
//! Decision: a movement doesn't know its version. The store does, and refuses decisions on an older one.

pub mod claim;
mod ending;
mod events;
pub mod evidence;
pub mod evidence_account;
mod evidence_key;
pub mod instructions;
mod judging;
pub mod past_exception;
mod refusal;
pub mod safe_text;
pub mod source;
pub mod state;
pub mod surplus;
pub mod terms;
mod transitions;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

pub use ending::EndedMovement;
pub use judging::Arrivals;
pub(in crate::domain) use judging::MovementWithEvidence;
pub use refusal::NotMoved;
pub use transitions::Resolution;

use super::actor::{Actor, ActorType};
use super::agreement::blockers::DraftPayment;
use super::ids::{AgreementId, EvidenceId, MovementId, ParticipantId, WorkspaceId};
use super::money::Money;
use super::time::Timestamp;
use crate::limits;
use claim::Claim;
use evidence::EvidenceKey;
use instructions::InstructionsStatus;
use past_exception::PastException;
use safe_text::SafeNote;
use source::{Assurance, ConfirmationBasis, ReceiverSource, Side};
use state::{ExceptionReason, MovementState};
use surplus::Surplus;
use terms::PaymentTerms;

/// A movement as stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Movement {
    id: MovementId,
    agreement_id: AgreementId,
    workspace_id: WorkspaceId,
    terms: PaymentTerms,
    status: Status,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    authorized: Option<Stamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    released: Option<Release>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    claim: Option<Claim>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    earlier_claims: Vec<Claim>,
    /// Undecided and accepted receiver-side evidence.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    receipts: BTreeMap<EvidenceId, ReceiptEntry>,
    /// The keys of both sides' undecided and accepted evidence.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    keys: BTreeMap<EvidenceId, BTreeSet<EvidenceKey>>,
    /// The number of pieces of evidence ever filed.
    evidence_filed: u32,
    /// How many each party filed on their own page.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    filed_by_party: BTreeMap<ParticipantId, u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    instructions: Option<InstructionsStatus>,
    /// What became of a surplus, as a member last stated it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    surplus: Option<Surplus>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    past_exceptions: Vec<PastException>,
    created_by: Actor,
    created_at: Timestamp,
    updated_at: Timestamp,
}

/// Who did something, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// When.
    pub at: Timestamp,
    /// Who.
    pub by: Actor,
}

/// The release of instructions to the sender.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Release {
    /// When.
    pub at: Timestamp,
    /// The member.
    pub by: Actor,
    /// Its basis.
    pub basis: ReleaseBasis,
}

/// The basis for releasing instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReleaseBasis {
    /// A second member verified them.
    Verified,
    /// The organization had no second member.
    OnlyMember,
}

/// The state of a movement and its data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Status {
    /// Not set up yet.
    Draft,
    /// Authorized.
    Authorized,
    /// Instructions are available to the sender.
    InstructionsReady,
    /// The sender says it was sent.
    SenderReported,
    /// It waits for proof that it arrived.
    ReceiptPending,
    /// Proof from the receiving side is under review.
    Processing,
    /// Proof from the receiving side was accepted.
    Reconciled(Confirmation),
    /// It needs attention.
    Exception(Exception),
    /// The money came back.
    Returned(Ending),
    /// It will not take place.
    Cancelled(Ending),
}

/// The confirmation that money arrived.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confirmation {
    /// When.
    pub confirmed_at: Timestamp,
    /// The member who accepted the last evidence.
    pub confirmed_by: Actor,
    /// The weakest accepted evidence.
    pub basis: ConfirmationBasis,
}

/// What may send a payment's money to the wrong people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Risk {
    /// A member suspects fraud.
    SuspectedFraud,
    /// Its instructions were changed, and nobody has verified them since.
    InstructionsChanged,
    /// Too many wrong tries ended the verification of its instructions.
    VerificationEnded,
}

/// A problem that needs attention.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exception {
    /// Why.
    pub reason: ExceptionReason,
    /// A member's note.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<SafeNote>,
    /// Since when.
    pub at: Timestamp,
    /// Who caused it.
    pub by: Actor,
}

/// The end of a movement that didn't arrive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ending {
    /// When.
    pub at: Timestamp,
    /// A member, or the service when the agreement ended.
    pub by: Actor,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<SafeNote>,
    /// When the movement ended with its agreement, if the money came back later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late_since: Option<Timestamp>,
}

/// Receiver-side evidence as its movement counts it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceiptEntry {
    /// Its source.
    pub source: ReceiverSource,
    /// The amount that arrived.
    pub money: Money,
    /// Whether a member accepted it.
    pub is_accepted: bool,
    /// Whether it was filed after the movement ended with its agreement.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_late: bool,
    /// Whether it names an account other than the instructed one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_of_another_account: bool,
}

/// What is proven, and what is undecided: the API's `receipt` (contract, section 2). It shares no field with [`Claim`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReceiptSummary {
    /// The number of undecided or accepted pieces of receiver-side evidence.
    pub evidence_count: usize,
    /// Their best assurance.
    pub best_assurance: Assurance,
    /// The accepted sum, in minor units, without undecided evidence.
    pub received_minor: i64,
}

impl Movement {
    pub(in crate::domain) fn draft(
        id: MovementId,
        agreement_id: AgreementId,
        workspace_id: WorkspaceId,
        terms: PaymentTerms,
        created_by: Actor,
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            agreement_id,
            workspace_id,
            terms,
            status: Status::Draft,
            authorized: None,
            released: None,
            claim: None,
            earlier_claims: Vec::new(),
            receipts: BTreeMap::new(),
            keys: BTreeMap::new(),
            evidence_filed: 0,
            filed_by_party: BTreeMap::new(),
            instructions: None,
            surplus: None,
            past_exceptions: Vec::new(),
            created_by,
            created_at: now,
            updated_at: now,
        }
    }

    pub(in crate::domain) fn with_terms(&self, terms: PaymentTerms, now: Timestamp) -> Self {
        Self { terms, updated_at: now.max(self.updated_at), ..self.clone() }
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> MovementId {
        self.id
    }

    /// The agreement.
    #[must_use]
    pub fn agreement_id(&self) -> AgreementId {
        self.agreement_id
    }

    /// The agreement's workspace.
    #[must_use]
    pub fn workspace_id(&self) -> WorkspaceId {
        self.workspace_id
    }

    /// What is to be paid.
    #[must_use]
    pub fn terms(&self) -> &PaymentTerms {
        &self.terms
    }

    /// Its state and data.
    #[must_use]
    pub fn status(&self) -> &Status {
        &self.status
    }

    /// Its state, as clients branch on it.
    #[must_use]
    pub fn state(&self) -> MovementState {
        match self.status {
            Status::Draft => MovementState::Draft,
            Status::Authorized => MovementState::Authorized,
            Status::InstructionsReady => MovementState::InstructionsReady,
            Status::SenderReported => MovementState::SenderReported,
            Status::ReceiptPending => MovementState::ReceiptPending,
            Status::Processing => MovementState::Processing,
            Status::Reconciled(_) => MovementState::Reconciled,
            Status::Exception(_) => MovementState::Exception,
            Status::Returned(_) => MovementState::Returned,
            Status::Cancelled(_) => MovementState::Cancelled,
        }
    }

    /// The confirmation of its arrival. Only for reconciled movements.
    #[must_use]
    pub fn confirmation(&self) -> Option<&Confirmation> {
        if let Status::Reconciled(confirmation) = &self.status { Some(confirmation) } else { None }
    }

    /// Why it needs attention, or that it came back. None in other states.
    #[must_use]
    pub fn exception_reason(&self) -> Option<ExceptionReason> {
        match &self.status {
            Status::Exception(exception) => Some(exception.reason),
            Status::Returned(_) => Some(ExceptionReason::Returned),
            _ => None,
        }
    }

    /// What puts its money at risk, if anything.
    #[must_use]
    pub fn risk(&self) -> Option<Risk> {
        if self.exception_reason() == Some(ExceptionReason::SuspectedFraud) {
            return Some(Risk::SuspectedFraud);
        }
        let is_open = |found: &&InstructionsStatus| found.verification.is_none() && !self.state().is_done();
        let unverified = self.instructions().filter(is_open)?;
        if unverified.has_verification_ended() {
            return Some(Risk::VerificationEnded);
        }
        (!unverified.changes.is_empty()).then_some(Risk::InstructionsChanged)
    }

    /// Who last authorized it, and when.
    #[must_use]
    pub fn authorized(&self) -> Option<&Stamp> {
        self.authorized.as_ref()
    }

    /// The release of the instructions, unless withdrawn.
    #[must_use]
    pub fn released(&self) -> Option<&Release> {
        self.released.as_ref()
    }

    /// The sender's claim for this attempt. It proves nothing.
    #[must_use]
    pub fn claim(&self) -> Option<&Claim> {
        self.claim.as_ref()
    }

    /// The claims of earlier attempts, oldest first.
    #[must_use]
    pub fn earlier_claims(&self) -> &[Claim] {
        &self.earlier_claims
    }

    /// What is known about the instructions.
    #[must_use]
    pub fn instructions(&self) -> Option<&InstructionsStatus> {
        self.instructions.as_ref()
    }

    pub(crate) fn held_keys(&self) -> impl Iterator<Item = &EvidenceKey> {
        self.keys.values().flatten().filter(|key| key.is_claimed()).collect::<BTreeSet<_>>().into_iter()
    }

    /// Undecided and accepted receiver-side evidence.
    #[must_use]
    pub fn receipts(&self) -> &BTreeMap<EvidenceId, ReceiptEntry> {
        &self.receipts
    }

    /// What is proven and what is undecided. None without such receiver-side evidence.
    #[must_use]
    pub fn receipt(&self) -> Option<ReceiptSummary> {
        let best_assurance = self.receipts.values().map(|entry| entry.source.assurance()).max()?;
        // Never saturates: larger sums are refused on acceptance.
        let received_minor = i64::try_from(self.accepted_minor()).unwrap_or(i64::MAX);
        Some(ReceiptSummary { evidence_count: self.receipts.len(), best_assurance, received_minor })
    }

    /// Whether accepted evidence names an account other than the instructed one.
    #[must_use]
    pub fn counts_another_account(&self) -> bool {
        self.receipts.values().any(|entry| entry.is_accepted && entry.is_of_another_account)
    }

    /// Whether a participant may file more evidence. Withdrawn evidence counts too.
    #[must_use]
    pub fn has_room_for(&self, participant: ParticipantId) -> bool {
        self.filed_by_party.get(&participant).is_none_or(|filed| *filed < limits::EVIDENCE_PER_PARTY_MAX)
    }

    /// Whether any money counts as received.
    #[must_use]
    pub fn has_received(&self) -> bool {
        self.receipts.values().any(|entry| entry.is_accepted)
    }

    pub(super) fn has_arrived(&self) -> bool {
        self.terms.money.is_some_and(|money| self.accepted_minor() >= i128::from(money.amount_minor()))
    }

    /// Whether the agreement's end cancelled it, rather than a member. Money sent before may arrive late.
    #[must_use]
    pub fn ended_with_its_agreement(&self) -> bool {
        let is_by_end = |ending: &Ending| ending.reason.is_none() && ending.by.actor_type == ActorType::System;
        matches!(&self.status, Status::Cancelled(ending) if is_by_end(ending))
    }

    /// Whether it takes evidence of a side now, or late, after it ended with its agreement.
    #[must_use]
    pub fn takes_evidence_of(&self, side: Side) -> bool {
        self.state().takes_evidence_of(side) || self.ended_with_its_agreement()
    }

    /// Whether it is an exception because it didn't arrive in full. A later arrival resolves that.
    #[must_use]
    pub fn is_not_received(&self) -> bool {
        self.exception_reason() == Some(ExceptionReason::NotReceived) && !self.has_arrived()
    }

    /// Whether members may accept undecided receiver-side evidence.
    #[must_use]
    pub fn takes_acceptance(&self) -> bool {
        self.state() == MovementState::Processing || self.ended_with_its_agreement()
    }

    /// Whether members may record that the money came back, possibly late.
    #[must_use]
    pub fn can_be_returned(&self) -> bool {
        self.state().can_be_returned() || self.ended_with_its_agreement()
    }

    /// The accepted sum, in minor units, of evidence filed after the movement ended with its agreement.
    #[must_use]
    pub fn late_minor(&self) -> i64 {
        let late = self.receipts.values().filter(|entry| entry.is_accepted && entry.is_late);
        let sum: i128 = late.map(|entry| i128::from(entry.money.amount_minor())).sum();
        // Never saturates: larger sums are refused on acceptance.
        i64::try_from(sum).unwrap_or(i64::MAX)
    }

    /// The accepted sum beyond the amount, in minor units, at least 0.
    #[must_use]
    pub fn surplus_minor(&self) -> i64 {
        let due = self.terms.money.map_or(i128::MAX, |money| i128::from(money.amount_minor()));
        i64::try_from((self.accepted_minor() - due).max(0)).unwrap_or(i64::MAX)
    }

    /// What became of a surplus, as a member last stated it. Kept permanently.
    #[must_use]
    pub fn surplus(&self) -> Option<&Surplus> {
        self.surplus.as_ref()
    }

    /// Whether receiver-side evidence is undecided.
    #[must_use]
    pub fn has_undecided_receipt(&self) -> bool {
        self.receipts.values().any(|entry| !entry.is_accepted)
    }

    /// Whether a member may cancel it or its missing rest: nothing is in flight, and less than the amount was received.
    #[must_use]
    pub fn can_be_cancelled(&self) -> bool {
        self.state().can_be_cancelled() && !self.has_arrived()
    }

    /// The party that has to act now: the sender to pay, or the receiver to say whether it has arrived.
    #[must_use]
    pub fn awaited_party(&self) -> Option<ParticipantId> {
        match self.state() {
            MovementState::InstructionsReady => self.terms.sender,
            MovementState::SenderReported | MovementState::ReceiptPending => self.terms.receiver,
            _ => None,
        }
    }

    /// The revision that the participant's page shows in full: only to the sender, while released and before a claim.
    /// Each view is recorded.
    #[must_use]
    pub fn instructions_shown_to(&self, participant: ParticipantId) -> Option<u32> {
        let is_theirs = self.terms.sender == Some(participant) && self.status == Status::InstructionsReady;
        self.instructions.as_ref().filter(|_| is_theirs).map(|instructions| instructions.revision)
    }

    /// Who created it.
    #[must_use]
    pub fn created_by(&self) -> &Actor {
        &self.created_by
    }

    /// When it was created.
    #[must_use]
    pub fn created_at(&self) -> Timestamp {
        self.created_at
    }

    /// When it was last changed.
    #[must_use]
    pub fn updated_at(&self) -> Timestamp {
        self.updated_at
    }

    fn accepted_minor(&self) -> i128 {
        let accepted = self.receipts.values().filter(|entry| entry.is_accepted);
        accepted.map(|entry| i128::from(entry.money.amount_minor())).sum()
    }
}

impl From<&Movement> for DraftPayment {
    fn from(movement: &Movement) -> Self {
        let PaymentTerms { sender, receiver, money, .. } = movement.terms;
        Self { id: movement.id, is_complete: movement.terms.is_complete(), sender, receiver, money }
    }
}
