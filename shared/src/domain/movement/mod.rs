//! Movements: money that moves between real banks. The service never holds it; it records what is claimed and what is
//! proven about it, as two facts that are never merged.
//!
//! [`state`] has the states and the reasons of exceptions, [`terms`] what is to be paid, [`claim`] what the sender says,
//! [`evidence`] what is filed and [`source`] where it comes from, [`instructions`] where the money is to go, [`surplus`] what becomes of too much,
//! [`safe_text`] the texts that are shown. The transitions are in `transitions` (contract, section 3, "Movement") and `judging` (those of evidence), and only the acts of
//! [`member`](super::member) and [`participant`](super::participant) call them. `events` tells which events a transition
//! emits.
//!
//! Decision: a movement keeps a compact entry of each piece of evidence of the receiving side that is undecided or accepted.
//! An act needs no other evidence than the one that it is about, and lists show what arrived without reading any. Evidence
//! of the sender's side has no such entry, so nothing that adds up entries can count it.
//!
//! Decision: it knows no version. The store has it, and refuses what was decided on an older one.

pub mod claim;
mod ending;
mod events;
pub mod evidence;
pub mod evidence_account;
mod evidence_key;
pub mod instructions;
mod judging;
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
use safe_text::SafeNote;
use source::{Assurance, ConfirmationBasis, ReceiverSource, Side};
use state::{ExceptionReason, MovementState};
use surplus::Surplus;
use terms::PaymentTerms;

/// A movement as it is stored.
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
    /// The claims of earlier attempts at sending the money.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    earlier_claims: Vec<Claim>,
    /// The evidence of the receiving side that is undecided or accepted.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    receipts: BTreeMap<EvidenceId, ReceiptEntry>,
    /// What the evidence of both sides that is undecided or accepted counts under.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    keys: BTreeMap<EvidenceId, BTreeSet<EvidenceKey>>,
    /// How much evidence was ever filed.
    evidence_filed: u32,
    /// How much of it each party filed on their own page.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    filed_by_party: BTreeMap<ParticipantId, u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    instructions: Option<InstructionsStatus>,
    /// What became of money beyond the amount when a member said so last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    surplus: Option<Surplus>,
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
    /// What it rests on.
    pub basis: ReleaseBasis,
}

/// What the release of instructions rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReleaseBasis {
    /// A second member verified them.
    Verified,
    /// The organization had no second member.
    OnlyMember,
}

/// Where a movement is, with what belongs to it.
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
    /// Proof from the receiving side is being looked at.
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
    /// The weakest of what was accepted.
    pub basis: ConfirmationBasis,
}

/// What needs attention.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exception {
    /// Why.
    pub reason: ExceptionReason,
    /// What a member noted about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<SafeNote>,
    /// Since when.
    pub at: Timestamp,
    /// Whose act it followed from.
    pub by: Actor,
}

/// How a movement ended without having arrived.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ending {
    /// When.
    pub at: Timestamp,
    /// Who: a member, or the service when the agreement ended.
    pub by: Actor,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<SafeNote>,
    /// When the movement had ended with its agreement, if the money came back after that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late_since: Option<Timestamp>,
}

/// Evidence of the receiving side as its movement counts it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceiptEntry {
    /// Where it comes from.
    pub source: ReceiverSource,
    /// What it says arrived.
    pub money: Money,
    /// Whether a member accepted it.
    pub is_accepted: bool,
    /// Whether it was filed after the movement had ended with its agreement.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_late: bool,
    /// Whether it speaks of another account than the instructions named.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_of_another_account: bool,
}

/// What is proven of a movement, and what waits for a member: the `receipt` of the API (contract, section 2). It shares no
/// field with [`Claim`], and nothing of the sender's side is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReceiptSummary {
    /// How many pieces of evidence of the receiving side are undecided or accepted.
    pub evidence_count: usize,
    /// The best assurance among them.
    pub best_assurance: Assurance,
    /// What was accepted, in minor units. What is undecided is not in it.
    pub received_minor: i64,
}

impl Movement {
    /// A movement of a draft.
    pub(in crate::domain) fn draft(
        (id, agreement_id, workspace_id): (MovementId, AgreementId, WorkspaceId),
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
            created_by,
            created_at: now,
            updated_at: now,
        }
    }

    /// The same with other terms, while its agreement is a draft.
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

    /// The workspace of the agreement.
    #[must_use]
    pub fn workspace_id(&self) -> WorkspaceId {
        self.workspace_id
    }

    /// What is to be paid.
    #[must_use]
    pub fn terms(&self) -> &PaymentTerms {
        &self.terms
    }

    /// Where it is, with what belongs to it.
    #[must_use]
    pub fn status(&self) -> &Status {
        &self.status
    }

    /// Where it is, as clients branch on it.
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

    /// The confirmation of its arrival; none but for a reconciled movement.
    #[must_use]
    pub fn confirmation(&self) -> Option<&Confirmation> {
        if let Status::Reconciled(confirmation) = &self.status { Some(confirmation) } else { None }
    }

    /// Why it needs attention, or that it came back; none in other states.
    #[must_use]
    pub fn exception_reason(&self) -> Option<ExceptionReason> {
        match &self.status {
            Status::Exception(exception) => Some(exception.reason),
            Status::Returned(_) => Some(ExceptionReason::Returned),
            _ => None,
        }
    }

    /// Who authorized it last, and when.
    #[must_use]
    pub fn authorized(&self) -> Option<&Stamp> {
        self.authorized.as_ref()
    }

    /// The release of the instructions, unless it was withdrawn.
    #[must_use]
    pub fn released(&self) -> Option<&Release> {
        self.released.as_ref()
    }

    /// The sender's claim of this attempt. It proves nothing.
    #[must_use]
    pub fn claim(&self) -> Option<&Claim> {
        self.claim.as_ref()
    }

    /// The claims of earlier attempts at sending the money, the oldest first.
    #[must_use]
    pub fn earlier_claims(&self) -> &[Claim] {
        &self.earlier_claims
    }

    /// What is known of the instructions.
    #[must_use]
    pub fn instructions(&self) -> Option<&InstructionsStatus> {
        self.instructions.as_ref()
    }

    /// What its evidence that is undecided or accepted claims in the organization, each once.
    pub(crate) fn held_keys(&self) -> impl Iterator<Item = &EvidenceKey> {
        self.keys.values().flatten().filter(|key| key.is_claimed()).collect::<BTreeSet<_>>().into_iter()
    }

    /// The evidence of the receiving side that is undecided or accepted.
    #[must_use]
    pub fn receipts(&self) -> &BTreeMap<EvidenceId, ReceiptEntry> {
        &self.receipts
    }

    /// What is proven, and what waits for a member. None without evidence of the receiving side that is undecided or
    /// accepted.
    #[must_use]
    pub fn receipt(&self) -> Option<ReceiptSummary> {
        let best_assurance = self.receipts.values().map(|entry| entry.source.assurance()).max()?;
        // Never saturates: an acceptance beyond this range is refused.
        let received_minor = i64::try_from(self.accepted_minor()).unwrap_or(i64::MAX);
        Some(ReceiptSummary { evidence_count: self.receipts.len(), best_assurance, received_minor })
    }

    /// Whether what was accepted has evidence of another account than the instructions named.
    #[must_use]
    pub fn counts_another_account(&self) -> bool {
        self.receipts.values().any(|entry| entry.is_accepted && entry.is_of_another_account)
    }

    /// Whether a participant may file more evidence of theirs. What they withdrew counts too.
    #[must_use]
    pub fn has_room_for(&self, participant: ParticipantId) -> bool {
        self.filed_by_party.get(&participant).is_none_or(|filed| *filed < limits::EVIDENCE_PER_PARTY_MAX)
    }

    /// Whether evidence counts that some of the amount arrived.
    #[must_use]
    pub fn has_received(&self) -> bool {
        self.receipts.values().any(|entry| entry.is_accepted)
    }

    /// Whether accepted evidence makes the amount, or more.
    pub(super) fn has_arrived(&self) -> bool {
        self.terms.money.is_some_and(|money| self.accepted_minor() >= i128::from(money.amount_minor()))
    }

    /// Whether it was cancelled because its agreement ended, and not by a member. Money that was sent before that may arrive late.
    #[must_use]
    pub fn ended_with_its_agreement(&self) -> bool {
        let is_by_end = |ending: &Ending| ending.reason.is_none() && ending.by.actor_type == ActorType::System;
        matches!(&self.status, Status::Cancelled(ending) if is_by_end(ending))
    }

    /// Whether evidence of a side is filed for it now: also late, once it has ended with its agreement.
    #[must_use]
    pub fn takes_evidence_of(&self, side: Side) -> bool {
        self.state().takes_evidence_of(side) || self.ended_with_its_agreement()
    }

    /// Whether it is an exception because it did not arrive, or not all of it. An arrival that shows up after all resolves that.
    #[must_use]
    pub fn is_not_received(&self) -> bool {
        self.exception_reason() == Some(ExceptionReason::NotReceived) && !self.has_arrived()
    }

    /// Whether a member may accept evidence of the receiving side that waits.
    #[must_use]
    pub fn takes_acceptance(&self) -> bool {
        self.state() == MovementState::Processing || self.ended_with_its_agreement()
    }

    /// Whether a member may record that the money came back: also late.
    #[must_use]
    pub fn can_be_returned(&self) -> bool {
        self.state().can_be_returned() || self.ended_with_its_agreement()
    }

    /// What was accepted of evidence that was filed after the movement had ended with its agreement, in minor units.
    #[must_use]
    pub fn late_minor(&self) -> i64 {
        let late = self.receipts.values().filter(|entry| entry.is_accepted && entry.is_late);
        let sum: i128 = late.map(|entry| i128::from(entry.money.amount_minor())).sum();
        // Never saturates: an acceptance beyond this range is refused.
        i64::try_from(sum).unwrap_or(i64::MAX)
    }

    /// How much more than the amount was accepted, in minor units: 0 if it is not more.
    #[must_use]
    pub fn surplus_minor(&self) -> i64 {
        let due = self.terms.money.map_or(i128::MAX, |money| i128::from(money.amount_minor()));
        i64::try_from((self.accepted_minor() - due).max(0)).unwrap_or(i64::MAX)
    }

    /// What became of money beyond the amount when a member said so last. It stays on record, whatever follows.
    #[must_use]
    pub fn surplus(&self) -> Option<&Surplus> {
        self.surplus.as_ref()
    }

    /// Whether evidence of the receiving side waits for a member.
    #[must_use]
    pub fn has_undecided_receipt(&self) -> bool {
        self.receipts.values().any(|entry| !entry.is_accepted)
    }

    /// Whether a member may cancel it, or what is missing of it: nothing is on its way, and not all of it counts as received.
    #[must_use]
    pub fn can_be_cancelled(&self) -> bool {
        self.state().can_be_cancelled() && !self.has_arrived()
    }

    /// The instructions' revision that the participant's page shows in full: to the sender, while they are released and
    /// nobody has said that the money was sent. Each view is on record.
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

    /// What was accepted, in minor units.
    fn accepted_minor(&self) -> i128 {
        let accepted = self.receipts.values().filter(|entry| entry.is_accepted);
        accepted.map(|entry| i128::from(entry.money.amount_minor())).sum()
    }
}

/// What publication asks of a movement (contract, section 5).
impl From<&Movement> for DraftPayment {
    fn from(movement: &Movement) -> Self {
        let PaymentTerms { sender, receiver, money, .. } = movement.terms;
        Self { id: movement.id, is_complete: movement.terms.is_complete(), sender, receiver, money }
    }
}
