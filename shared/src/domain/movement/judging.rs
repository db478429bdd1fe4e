//! Evidence that is filed, accepted, rejected and withdrawn, and the transitions of the movement that follow (contract,
//! section 3). Pure functions of the movement and one piece of evidence.
//!
//! Decision: partial receipts add up. While less than the amount was accepted, the movement is `processing` if more evidence
//! waits for a member, and else `receipt_pending` again; what was accepted so far is shown. Exactly the amount reconciles
//! it. More is accepted too, because it arrived, but is an exception, `amount_over`.
//!
//! Decision: `processing` means that evidence of the receiving side waits for a member. Rejecting one of two leaves the
//! movement there.
//!
//! Decision: evidence that nobody has decided about can be withdrawn like it can be rejected: it never counted, so it is no
//! exception. Withdrawing what was accepted is one, `evidence_withdrawn`, from `instructions_ready` on. A movement that is
//! authorized again, or an exception already, stays what it is.
//!
//! Decision: evidence of a movement that was returned or cancelled can still be rejected and withdrawn, but not accepted. That
//! changes no state. It gives free what the evidence counts under, because a document that was filed for the wrong movement
//! has to be filed for the right one.
//!
//! Decision: a party files a limited number, also counting what was withdrawn or rejected, so that no party can use up the
//! room that members need for the proof.

use std::collections::BTreeSet;

use super::evidence::{Evidence, EvidenceKey, EvidenceState, KeyChange, NewEvidence, ReceiverEvidence, Sided};
use super::safe_text::SafeNote;
use super::source::Side;
use super::state::{ExceptionReason, MovementState};
use super::{Confirmation, Exception, Movement, NotMoved, ReceiptEntry, Stamp, Status};
use crate::domain::actor::{Actor, ActorType};
use crate::domain::ids::{EvidenceId, ParticipantId};
use crate::limits;

/// A movement, the evidence that the act was about, and the keys that it claims or gives free.
type Judged = Result<(Movement, Evidence, KeyChange), NotMoved>;

impl Movement {
    /// Files evidence: of the receiving side, `instructions_ready` … `processing` → `processing`; of the sender's side,
    /// `sender_reported` → `receipt_pending`, and nothing after that.
    pub(in crate::domain) fn file(&self, new: NewEvidence, stamp: Stamp) -> Judged {
        let party = self.party(&stamp.by);
        let evidence = new.filed(self.id, stamp.by, stamp.at);
        let side = evidence.source().side();
        self.expect_that(|state| state.takes_evidence_of(side))?;
        self.amount()?;
        if party.is_some_and(|party| !self.has_room_for(party)) {
            return Err(NotMoved::PartyFull);
        }
        if self.evidence_filed >= limits::EVIDENCE_PER_MOVEMENT_MAX {
            return Err(NotMoved::Full);
        }
        let keys: BTreeSet<EvidenceKey> = evidence.keys().into_iter().collect();
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
                let entry =
                    ReceiptEntry { source: receiver.source(), money: evidence.facts().money, is_accepted: false };
                after.receipts.insert(evidence.id(), entry);
                after.status = Status::Processing;
            }
        }
        Ok((after, evidence, KeyChange { claimed: keys.into_iter().collect(), released: Vec::new() }))
    }

    /// The party that filed something, if it was one.
    fn party(&self, by: &Actor) -> Option<ParticipantId> {
        let parties = [self.terms.sender, self.terms.receiver].into_iter().flatten();
        parties.into_iter().find(|party| by.is(ActorType::Participant, party.uuid()))
    }

    /// Whether the same document is filed already, or the same reference on the same side. Both sides may name the reference
    /// of one transfer.
    fn has_filed(&self, id: EvidenceId, side: Side, keys: &BTreeSet<EvidenceKey>) -> bool {
        let is_same = |(other, others): (&EvidenceId, &BTreeSet<EvidenceKey>)| {
            let other_side = if self.receipts.contains_key(other) { Side::Receiver } else { Side::Sender };
            let counts = |key: &EvidenceKey| !key.is_reference() || other_side == side;
            *other == id || keys.intersection(others).any(counts)
        };
        self.keys.iter().any(is_same)
    }

    /// Accepts evidence of the receiving side: `processing` → `reconciled` if that makes the amount, and as the decisions of
    /// this module say if it does not.
    pub(in crate::domain) fn accept(&self, evidence: ReceiverEvidence, stamp: Stamp) -> Judged {
        let (id, money) = (evidence.evidence().id(), evidence.evidence().facts().money);
        self.expect_own(evidence.evidence())?;
        if !evidence.evidence().is_undecided() {
            return Err(NotMoved::Decided);
        }
        self.expect(MovementState::Processing)?;
        let amount = self.amount()?;
        if money.currency() != amount.currency() {
            return Err(NotMoved::WrongCurrency);
        }
        let mut after = self.to(self.status.clone(), stamp.at);
        after.receipts.get_mut(&id).ok_or(NotMoved::Unknown)?.is_accepted = true;
        let accepted = i64::try_from(after.accepted_minor()).map_err(|_| NotMoved::Full)?;
        match accepted.cmp(&amount.amount_minor()) {
            std::cmp::Ordering::Less => after.await_judgment(),
            std::cmp::Ordering::Equal => {
                let accepted = after.receipts.values().filter(|entry| entry.is_accepted);
                // The entry that was just accepted is one of them.
                let weakest = accepted.map(|entry| entry.source).min().unwrap_or(evidence.source());
                let (confirmed_at, confirmed_by) = (stamp.at, stamp.by.clone());
                after.status = Status::Reconciled(Confirmation { confirmed_at, confirmed_by, basis: weakest.basis() });
            }
            std::cmp::Ordering::Greater => {
                let (reason, by) = (ExceptionReason::AmountOver, stamp.by.clone());
                after.status = Status::Exception(Exception { reason, note: None, at: stamp.at, by });
            }
        }
        let state = EvidenceState::Accepted { at: stamp.at, by: stamp.by };
        Ok((after, evidence.into_evidence().decided(state), KeyChange::default()))
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
        Ok((after, evidence.clone().decided(state), keys))
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
        Ok((after, evidence.clone().decided(state), keys))
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
        let released = keys.into_iter().filter(is_free).collect();
        (after, KeyChange { claimed: Vec::new(), released })
    }

    fn expect_own(&self, evidence: &Evidence) -> Result<(), NotMoved> {
        if evidence.movement_id() == self.id { Ok(()) } else { Err(NotMoved::Unknown) }
    }
}
