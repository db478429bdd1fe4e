//! Evidence that is filed, accepted, rejected and withdrawn, and the transitions of the movement that follow (contract,
//! section 3). Pure functions of the movement and one piece of evidence.
//!
//! Decision: partial receipts add up. While less than the amount was accepted, the movement is `processing` if more evidence
//! waits for a member, and else `receipt_pending` again; what was accepted so far is shown. Exactly the amount reconciles
//! it. More is accepted too, because it arrived, but is an exception, `amount_over`, until a member says what becomes of the
//! rest.
//!
//! Decision: one arrival may be filed in two shapes, such as a batch and its details. What may be the arrival of evidence that
//! was accepted before, for this movement or another, is counted besides only if the member says that it is another one.
//!
//! Decision: `processing` means that evidence of the receiving side waits for a member. Rejecting one of two leaves the
//! movement there.
//!
//! Decision: evidence that nobody has decided about can be withdrawn like it can be rejected: it never counted, so it is no
//! exception. Withdrawing what was accepted is one, `evidence_withdrawn`, from `instructions_ready` on. A movement that is
//! authorized again, or an exception already, stays what it is.
//!
//! Decision: evidence of a movement that was returned or cancelled can still be rejected and withdrawn, but not accepted, unless
//! the movement was cancelled with its agreement: then it is accepted as late. None of that changes the state. It gives free what the evidence counts under, because a document that was filed for the wrong movement
//! has to be filed for the right one.
//!
//! Decision: a party files a limited number, also counting what was withdrawn or rejected, so that no party can use up the
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

/// What a member says of evidence that may be about an arrival that counts already.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Arrivals {
    /// Nothing: it may be the same arrival.
    #[default]
    One,
    /// They are two arrivals.
    Two,
}

/// A movement after an act on one piece of its evidence.
#[derive(Debug)]
pub(in crate::domain) struct MovementWithEvidence {
    /// The movement.
    pub(in crate::domain) movement: Movement,
    /// The evidence that was filed or decided about.
    pub(in crate::domain) evidence: Evidence,
    /// The unique keys that it claims or gives free.
    pub(in crate::domain) keys: KeyChange,
}

type Judged = Result<MovementWithEvidence, NotMoved>;

impl Movement {
    /// Files evidence: of the receiving side, `instructions_ready` … `processing` → `processing`; of the sender's side,
    /// `sender_reported` → `receipt_pending`, and nothing after that.
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

    /// What evidence counts under. A reference that the sender chose for the payment tells no transfer from another, also where a
    /// bank repeats it in an entry as its own.
    fn keys_of(&self, evidence: &Evidence) -> BTreeSet<EvidenceKey> {
        let chosen = self.references_of_sender();
        let is_chosen = |key: &EvidenceKey| chosen.iter().any(|reference| key.is_of(reference));
        evidence.keys().into_iter().filter(|key| !is_chosen(key)).collect()
    }

    /// The references that the sender of the payment chooses: that of the terms, and those of the claims that no bank made.
    fn references_of_sender(&self) -> Vec<BankReference> {
        let claims = self.earlier_claims.iter().chain(&self.claim).flat_map(|claim| &claim.references);
        let chosen = claims.filter(|reference| reference.reference_type().is_chosen_by_sender());
        let texts = chosen.map(TransferReference::value).chain(self.terms.reference.as_ref().map(SafeLine::as_str));
        texts.filter_map(|text| BankReference::parse(text).ok()).collect()
    }

    /// The party that filed something, if it was one.
    fn party(&self, by: &Actor) -> Option<ParticipantId> {
        let parties = [self.terms.sender, self.terms.receiver].into_iter().flatten();
        parties.into_iter().find(|party| by.is(ActorType::Participant, party.uuid()))
    }

    /// Whether the same document or reference is filed already on the same side. Both sides may have those of one transfer.
    fn has_filed(&self, id: EvidenceId, side: Side, keys: &BTreeSet<EvidenceKey>) -> bool {
        let is_same = |(other, others): (&EvidenceId, &BTreeSet<EvidenceKey>)| {
            let other_side = if self.receipts.contains_key(other) { Side::Receiver } else { Side::Sender };
            let is_there = |key: &EvidenceKey| others.iter().any(|own| own.is_same_as(key));
            *other == id || (other_side == side && keys.iter().any(is_there))
        };
        self.keys.iter().any(is_same)
    }

    /// Accepts evidence of the receiving side: `processing` → `reconciled` if that makes the amount, and as the decisions of
    /// this module say if it does not. `besides` has what was accepted before: all of this movement, and of others what may be
    /// the same arrival.
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
                // The entry that was just accepted is one of those that it rests on.
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

    /// Whether evidence that was accepted may be about the arrival that evidence is about. All that was accepted for this movement
    /// has to be there.
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

    /// The confirmation of all that was accepted, which rests on the weakest of it. None if nothing was.
    pub(super) fn confirmation_by(&self, Stamp { at, by }: &Stamp) -> Option<Confirmation> {
        let accepted = self.receipts.values().filter(|entry| entry.is_accepted);
        let basis = accepted.map(|entry| entry.source).min()?.basis();
        Some(Confirmation { confirmed_at: *at, confirmed_by: by.clone(), basis })
    }

    /// Rejects evidence: `processing` → `receipt_pending`, unless more waits for a member.
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

    /// Withdraws evidence: an exception if it had been accepted, and else as rejecting it. A movement that was returned or
    /// cancelled stays so.
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

    /// Where a movement is whose proof is not complete: with a member if evidence waits, and else waiting for proof.
    pub(super) fn await_judgment(&mut self) {
        self.status = if self.has_undecided_receipt() { Status::Processing } else { Status::ReceiptPending };
    }

    fn settle_after_removal(&mut self) {
        if self.status == Status::Processing {
            self.await_judgment();
        }
    }

    /// The movement without evidence, and the keys that no other evidence of it counts under.
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
