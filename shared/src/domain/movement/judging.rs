//! Filing, accepting, rejecting and withdrawing evidence, and the resulting transitions (contract, section 3).
//!
//! Decision: partial receipts add up. Below the amount, the movement is `processing` while more evidence is undecided,
//! otherwise `receipt_pending`. Exactly the amount reconciles it. More is accepted too, because it arrived, but is an
//! exception, `amount_over`, until a member says what becomes of the rest.
//!
//! Decision: one arrival may be filed in two forms, such as a batch and its details. Evidence that may be the same
//! arrival as accepted evidence, for this movement or another, counts only if the member calls it a separate one.
//!
//! Decision: undecided evidence never counted, so withdrawing it raises no exception. Withdrawing accepted evidence
//! does, `evidence_withdrawn`, from `instructions_ready` on. A movement that is authorized again, or already an
//! exception, stays as it is.
//!
//! Decision: evidence of a returned or cancelled movement can still be rejected and withdrawn, because a document filed
//! for the wrong movement must be released for the right one. It can be accepted, as late, only if the movement was
//! cancelled with its agreement.
//!
//! Decision: each party files a limited number, including withdrawn and rejected ones, so that no party uses up the
//! room that members need for the proof.

use std::collections::BTreeSet;

use super::claim::TransferReference;
use super::evidence::{
    BankReference, Evidence, EvidenceKey, EvidenceState, KeyChange, NewEvidence, ReceiverEvidence, Sided,
};
use super::safe_text::{SafeLine, SafeNote};
use super::source::Side;
use super::state::{ExceptionReason, MovementState};
use super::{Confirmation, Exception, Movement, NotMoved, ReceiptEntry, Stamp, Status};
use crate::domain::actor::{Actor, ActorType};
use crate::domain::ids::{EvidenceId, ParticipantId};
use crate::limits;

/// What a member says about evidence that may be of an arrival already counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Arrivals {
    /// Nothing: it may be the same arrival.
    #[default]
    One,
    /// They are two arrivals.
    Two,
}

#[derive(Debug)]
pub(in crate::domain) struct MovementWithEvidence {
    pub(in crate::domain) movement: Movement,
    pub(in crate::domain) evidence: Evidence,
    pub(in crate::domain) keys: KeyChange,
}

type Judged = Result<MovementWithEvidence, NotMoved>;

impl Movement {
    /// Files evidence. Receiver side: `instructions_ready` … `processing` → `processing`. Sender side:
    /// `sender_reported` → `receipt_pending`, no transition later.
    pub(in crate::domain) fn file(&self, new: NewEvidence, stamp: Stamp) -> Judged {
        let party = self.party(&stamp.by);
        let is_late = self.ended_with_its_agreement();
        let evidence = new.filed(self.id, Stamp { at: stamp.at, by: stamp.by }, is_late)?;
        let side = evidence.source().side();
        if !self.takes_evidence_of(side) {
            return Err(NotMoved::NotNow(self.state()));
        }
        self.amount()?;
        if party.is_some_and(|party| !self.has_room_for(party)) {
            return Err(NotMoved::PartyFull);
        }
        if self.evidence_filed >= limits::EVIDENCE_PER_MOVEMENT_MAX {
            return Err(NotMoved::Full);
        }
        let keys = self.keys_of(&evidence);
        if self.has_filed(evidence.id(), side, &keys) {
            return Err(NotMoved::FiledAlready);
        }
        let mut after = self.to(self.status.clone(), stamp.at);
        after.evidence_filed += 1;
        if let Some(party) = party {
            *after.filed_by_party.entry(party).or_default() += 1;
        }
        after.keys.insert(evidence.id(), keys.clone());
        match evidence.clone().split() {
            Sided::Sender(_) => {
                if after.status == Status::SenderReported {
                    after.status = Status::ReceiptPending;
                }
            }
            Sided::Receiver(receiver) => {
                let (source, money) = (receiver.source(), evidence.facts().money);
                let is_of_another_account = evidence.is_of_another_account();
                let entry = ReceiptEntry { source, money, is_accepted: false, is_late, is_of_another_account };
                after.receipts.insert(evidence.id(), entry);
                if !is_late {
                    after.status = Status::Processing;
                }
            }
        }
        let claimed = keys.into_iter().filter(EvidenceKey::is_claimed).collect();
        let keys = KeyChange { claimed, released: Vec::new() };
        Ok(MovementWithEvidence { movement: after, evidence, keys })
    }

    /// The keys evidence counts under. The sender's references don't identify a transfer, even if a bank repeats them.
    fn keys_of(&self, evidence: &Evidence) -> BTreeSet<EvidenceKey> {
        let chosen = self.references_of_sender();
        let is_chosen = |key: &EvidenceKey| chosen.iter().any(|reference| key.is_of(reference));
        evidence.keys().into_iter().filter(|key| !is_chosen(key)).collect()
    }

    /// The references chosen by the sender: the one in the terms, and those in claims that no bank made.
    fn references_of_sender(&self) -> Vec<BankReference> {
        let claims = self.earlier_claims.iter().chain(&self.claim).flat_map(|claim| &claim.references);
        let chosen = claims.filter(|reference| reference.reference_type().is_chosen_by_sender());
        let texts = chosen.map(TransferReference::value).chain(self.terms.reference.as_ref().map(SafeLine::as_str));
        texts.filter_map(|text| BankReference::parse(text).ok()).collect()
    }

    fn party(&self, by: &Actor) -> Option<ParticipantId> {
        let parties = [self.terms.sender, self.terms.receiver].into_iter().flatten();
        parties.into_iter().find(|party| by.is(ActorType::Participant, party.uuid()))
    }

    /// Both sides may have the document or reference of one transfer.
    fn has_filed(&self, id: EvidenceId, side: Side, keys: &BTreeSet<EvidenceKey>) -> bool {
        let is_same = |(other, others): (&EvidenceId, &BTreeSet<EvidenceKey>)| {
            let other_side = if self.receipts.contains_key(other) { Side::Receiver } else { Side::Sender };
            let is_there = |key: &EvidenceKey| others.iter().any(|own| own.is_same_as(key));
            *other == id || (other_side == side && keys.iter().any(is_there))
        };
        self.keys.iter().any(is_same)
    }

    /// Accepts receiver-side evidence: `processing` → `reconciled` if it completes the amount. `besides` is what was
    /// already accepted for this movement, and other movements' possible duplicates.
    pub(in crate::domain) fn accept(
        &self,
        evidence: ReceiverEvidence,
        besides: &[Evidence],
        counting: Arrivals,
        stamp: Stamp,
    ) -> Judged {
        let (id, money) = (evidence.evidence().id(), evidence.evidence().facts().money);
        self.expect_own(evidence.evidence())?;
        if !evidence.evidence().is_undecided() {
            return Err(NotMoved::Decided);
        }
        if !self.takes_acceptance() {
            return Err(NotMoved::NotNow(self.state()));
        }
        let amount = self.amount()?;
        if money.currency() != amount.currency() {
            return Err(NotMoved::WrongCurrency);
        }
        let is_another = self.perhaps_arrived_before(evidence.evidence(), besides)?;
        if is_another && counting == Arrivals::One {
            return Err(NotMoved::PerhapsSame);
        }
        let mut after = self.to(self.status.clone(), stamp.at);
        after.receipts.get_mut(&id).ok_or(NotMoved::Unknown)?.is_accepted = true;
        let accepted = i64::try_from(after.accepted_minor()).map_err(|_| NotMoved::Full)?;
        match accepted.cmp(&amount.amount_minor()) {
            _ if after.ended_with_its_agreement() => {}
            std::cmp::Ordering::Less => after.await_judgment(),
            std::cmp::Ordering::Equal => {
                let confirmation = after.confirmation_by(&stamp).ok_or(NotMoved::Unknown)?;
                after.status = Status::Reconciled(confirmation);
            }
            std::cmp::Ordering::Greater => {
                let (reason, by) = (ExceptionReason::AmountOver, stamp.by.clone());
                after.status = Status::Exception(Exception { reason, note: None, at: stamp.at, by });
            }
        }
        let state = EvidenceState::Accepted { at: stamp.at, by: stamp.by, is_another };
        let evidence = evidence.into_evidence().decided(state);
        Ok(MovementWithEvidence { movement: after, evidence, keys: KeyChange::default() })
    }

    /// Whether evidence may describe an arrival among `besides`, which has everything accepted for this movement.
    fn perhaps_arrived_before(&self, evidence: &Evidence, besides: &[Evidence]) -> Result<bool, NotMoved> {
        let is_elsewhere = |other: &&Evidence| other.movement_id() != self.id && other.is_accepted();
        let mut is_found = besides.iter().filter(is_elsewhere).any(|other| other.may_be_same_arrival(evidence));
        for id in self.receipts.iter().filter(|(_, entry)| entry.is_accepted).map(|(id, _)| *id) {
            let is_it =
                |record: &&Evidence| record.id() == id && record.movement_id() == self.id && record.is_accepted();
            let before = besides.iter().find(is_it);
            is_found |= before.ok_or(NotMoved::Unknown)?.may_be_same_arrival(evidence);
        }
        Ok(is_found)
    }

    pub(super) fn confirmation_by(&self, Stamp { at, by }: &Stamp) -> Option<Confirmation> {
        let accepted = self.receipts.values().filter(|entry| entry.is_accepted);
        let basis = accepted.map(|entry| entry.source).min()?.basis();
        Some(Confirmation { confirmed_at: *at, confirmed_by: by.clone(), basis })
    }

    /// `processing` → `receipt_pending` unless more is undecided.
    pub(in crate::domain) fn reject(&self, evidence: &Evidence, reason: SafeNote, stamp: Stamp) -> Judged {
        self.expect_own(evidence)?;
        if !evidence.is_undecided() {
            return Err(NotMoved::Decided);
        }
        let (mut after, keys) = self.without(evidence, &stamp);
        after.settle_after_removal();
        let state = EvidenceState::Rejected { at: stamp.at, by: stamp.by, reason };
        Ok(MovementWithEvidence { movement: after, evidence: evidence.clone().decided(state), keys })
    }

    /// Withdraws evidence: an exception if it was accepted, unless the movement is returned or cancelled.
    pub(in crate::domain) fn withdraw(&self, evidence: &Evidence, reason: SafeNote, stamp: Stamp) -> Judged {
        self.expect_own(evidence)?;
        let (mut after, keys) = self.without(evidence, &stamp);
        match evidence.state() {
            EvidenceState::Rejected { .. } | EvidenceState::Withdrawn { .. } => return Err(NotMoved::NotStanding),
            EvidenceState::Filed => after.settle_after_removal(),
            EvidenceState::Accepted { .. } => match self.state() {
                MovementState::InstructionsReady
                | MovementState::SenderReported
                | MovementState::ReceiptPending
                | MovementState::Processing
                | MovementState::Reconciled => {
                    let (reason, note) = (ExceptionReason::EvidenceWithdrawn, Some(reason.clone()));
                    after.status = Status::Exception(Exception { reason, note, at: stamp.at, by: stamp.by.clone() });
                }
                MovementState::Draft
                | MovementState::Authorized
                | MovementState::Exception
                | MovementState::Returned
                | MovementState::Cancelled => {}
            },
        }
        let state = EvidenceState::Withdrawn { at: stamp.at, by: stamp.by, reason };
        Ok(MovementWithEvidence { movement: after, evidence: evidence.clone().decided(state), keys })
    }

    pub(super) fn await_judgment(&mut self) {
        self.status = if self.has_undecided_receipt() { Status::Processing } else { Status::ReceiptPending };
    }

    fn settle_after_removal(&mut self) {
        if self.status == Status::Processing {
            self.await_judgment();
        }
    }

    fn without(&self, evidence: &Evidence, stamp: &Stamp) -> (Self, KeyChange) {
        let mut after = self.to(self.status.clone(), stamp.at);
        after.receipts.remove(&evidence.id());
        let keys = after.keys.remove(&evidence.id()).unwrap_or_default();
        let is_free = |key: &EvidenceKey| !after.keys.values().any(|others| others.contains(key));
        let released = keys.into_iter().filter(|key| key.is_claimed() && is_free(key)).collect();
        (after, KeyChange { claimed: Vec::new(), released })
    }

    fn expect_own(&self, evidence: &Evidence) -> Result<(), NotMoved> {
        if evidence.movement_id() == self.id { Ok(()) } else { Err(NotMoved::Unknown) }
    }
}
