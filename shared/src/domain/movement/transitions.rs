//! The transitions of a movement other than those of evidence (contract, section 3, "Movement"). The acts check what
//! depends on the agreement.
//!
//! Decision: a second claim, or one after proof was filed, is refused: it could be mistaken for more than it is.
//!
//! Decision: authorizing again after an exception begins another attempt: the release is withdrawn, and the previous
//! attempt's claim is kept separately.
//!
//! Decision: waiting for proof never reconciles a movement. If the accepted sum reaches the amount, all of it becomes
//! undecided again, and a member accepts what really counts. Only settling a [surplus](super::surplus) reconciles,
//! since all of the amount is then proven.
//!
//! Decision: a movement of which a part arrived can be cancelled: what was received stays on record, and the rest won't
//! take place. Entering the same instructions again is no change: it would needlessly end their verification, and raise
//! an alarm while money is in flight.

use super::claim::{Claim, NewClaim};
use super::evidence::{Evidence, EvidenceState};
use super::instructions::{
    InstructionsChange, InstructionsStatus, NewInstructions, NewVerification, ReleasedRevision, SealedInstructions,
};
use super::past_exception::ExceptionOutcome;
use super::safe_text::SafeNote;
use super::state::{ExceptionReason, MovementState};
use super::surplus::{Surplus, SurplusOutcome};
use super::{Ending, Exception, Movement, NotMoved, Release, ReleaseBasis, Stamp, Status};
use crate::domain::actor::Actor;
use crate::domain::ids::ParticipantId;
use crate::domain::member::Counting;
use crate::domain::money::Money;
use crate::domain::participant::session::InPerson;
use crate::domain::time::Timestamp;
use crate::limits;

/// How a member resolves an exception.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    /// The money has to be sent, possibly again.
    SendAgain,
    /// The money may have arrived or be in flight: wait for proof.
    AwaitProof,
    /// More than the amount arrived; this became of the rest.
    Surplus(SurplusOutcome),
}

type Moved = Result<Movement, NotMoved>;

impl Movement {
    pub(in crate::domain) fn authorize(&self, stamp: Stamp) -> Moved {
        self.expect(MovementState::Draft)?;
        self.amount()?;
        self.sender()?;
        self.terms.receiver.ok_or(NotMoved::Incomplete)?;
        let after = self.to(Status::Authorized, stamp.at);
        Ok(Self { authorized: Some(stamp), ..after })
    }

    /// A change after the release is `instructions_ready` → `authorized`; with money in flight, an exception.
    pub(in crate::domain) fn enter_instructions(
        &self,
        new: NewInstructions,
        stamp: Stamp,
    ) -> Result<(Self, SealedInstructions), NotMoved> {
        if self.state().is_done() {
            return Err(NotMoved::NotNow(self.state()));
        }
        let status = self.without_release(ExceptionReason::InstructionsChanged, None, &stamp);
        let before = self.instructions.as_ref();
        let is_next = before.map_or(0, |before| before.revision) + 1 == new.sealed.revision;
        if new.sealed.movement_id != self.id || !is_next {
            return Err(NotMoved::InstructionsChanged);
        }
        // After too many wrong tries, re-entering the same instructions confirms them.
        if new.are_as_before && !before.is_some_and(InstructionsStatus::has_verification_ended) {
            return Err(NotMoved::SameInstructions);
        }
        let mut changes = before.map(|before| before.changes.clone()).unwrap_or_default();
        if changes.len() >= limits::INSTRUCTIONS_CHANGES_MAX {
            return Err(NotMoved::Full);
        }
        changes.extend(before.map(|before| InstructionsChange {
            ending_before: before.ending.clone(),
            ending_after: new.ending.clone(),
            by: stamp.by.clone(),
            at: stamp.at,
            verification: before.verification.clone(),
            release: self.released.clone(),
        }));
        let NewInstructions { sealed, kind, ending, accounts, are_as_before: _ } = new;
        let instructions = InstructionsStatus {
            revision: sealed.revision,
            kind,
            ending,
            accounts,
            entered_by: stamp.by,
            entered_at: stamp.at,
            verification: None,
            wrong_tries: 0,
            released_last: before.and_then(|before| before.released_last.clone()),
            changes,
        };
        let after = Self { instructions: Some(instructions), released: None, ..self.to(status, stamp.at) };
        Ok((after, sealed))
    }

    pub(in crate::domain) fn verify_instructions(
        &self,
        revision: u32,
        verification: NewVerification,
        counting: Counting,
        stamp: Stamp,
    ) -> Moved {
        let instructions = self.verifiable(revision, counting, &stamp)?;
        let at = stamp.at;
        let verification = Some(verification.by(stamp, counting == Counting::Alone));
        let instructions = Some(InstructionsStatus { verification, wrong_tries: 0, ..instructions.clone() });
        Ok(Self { instructions, ..self.to(self.status.clone(), at) })
    }

    /// Records a wrong try, and returns the remaining tries. The last one withdraws instructions released without a
    /// second member, and raises an exception if money may be in flight.
    pub(in crate::domain) fn count_wrong_try(
        &self,
        revision: u32,
        counting: Counting,
        stamp: &Stamp,
    ) -> Result<(Self, u32), NotMoved> {
        let mut instructions = self.verifiable(revision, counting, stamp)?.clone();
        // Wrong numbers void a verification that no second member made.
        instructions.verification = None;
        instructions.wrong_tries += 1;
        let left = instructions.tries_left();
        let counted = Self { instructions: Some(instructions), ..self.to(self.status.clone(), stamp.at) };
        if left > 0 {
            return Ok((counted, left));
        }
        let note = SafeNote::parse("Wrong numbers were typed too many times when the instructions were verified.").ok();
        let status = counted.without_release(ExceptionReason::SuspectedFraud, note, stamp);
        Ok((Self { status, released: None, ..counted }, left))
    }

    /// The status without released instructions: `authorized`, or an exception while money may be in flight.
    fn without_release(&self, reason: ExceptionReason, note: Option<SafeNote>, stamp: &Stamp) -> Status {
        match &self.status {
            Status::InstructionsReady => Status::Authorized,
            _ if self.state().is_in_flight() => {
                Status::Exception(Exception { reason, note, at: stamp.at, by: stamp.by.clone() })
            }
            other => other.clone(),
        }
    }

    fn verifiable(&self, revision: u32, counting: Counting, stamp: &Stamp) -> Result<&InstructionsStatus, NotMoved> {
        if self.state().is_done() {
            return Err(NotMoved::NotNow(self.state()));
        }
        let instructions = self.instructions_of(revision)?;
        let is_alone = counting == Counting::Alone;
        if instructions.verification.is_some() && (is_alone || instructions.is_verified_by_another()) {
            return Err(NotMoved::Verified);
        }
        if !is_alone && instructions.entered_by.id == stamp.by.id {
            return Err(NotMoved::Own);
        }
        if counting == Counting::OneSelf {
            return Err(NotMoved::OneSelf);
        }
        if instructions.has_verification_ended() {
            return Err(NotMoved::VerificationEnded);
        }
        Ok(instructions)
    }

    pub(in crate::domain) fn release_instructions(&self, revision: u32, is_alone: bool, stamp: Stamp) -> Moved {
        self.expect(MovementState::Authorized)?;
        let instructions = self.instructions_of(revision)?;
        let basis = match (instructions.is_verified_by_another(), is_alone) {
            (true, _) => ReleaseBasis::Verified,
            (false, true) => ReleaseBasis::OnlyMember,
            (false, false) => return Err(NotMoved::NotVerified),
        };
        let Stamp { at, by } = stamp;
        let released_last = Some(ReleasedRevision { revision, accounts: instructions.accounts.clone() });
        let instructions = Some(InstructionsStatus { released_last, ..instructions.clone() });
        let after = self.to(Status::InstructionsReady, at);
        Ok(Self { instructions, released: Some(Release { at, by, basis }), ..after })
    }

    pub(in crate::domain) fn report(&self, new: NewClaim, stamp: Stamp) -> Moved {
        self.expect_that(MovementState::takes_claim)?;
        let participant_id = self.sender()?;
        let NewClaim { sent_on, references } = new;
        let claim = Claim { reported_at: stamp.at, participant_id, by: stamp.by, in_person: None, sent_on, references };
        Ok(Self { claim: Some(claim), ..self.to(Status::SenderReported, stamp.at) })
    }

    pub(in crate::domain) fn reported_in_browser_of(self, in_person: Option<InPerson>) -> Self {
        Self { claim: self.claim.map(|claim| Claim { in_person, ..claim }), ..self }
    }

    pub(in crate::domain) fn ask_for_proof(&self, at: Timestamp) -> Moved {
        self.expect(MovementState::SenderReported)?;
        Ok(self.to(Status::ReceiptPending, at))
    }

    /// `instructions_ready` … `processing`, `reconciled` → `exception`, flagged by a member.
    pub(in crate::domain) fn flag(&self, reason: ExceptionReason, note: Option<SafeNote>, stamp: Stamp) -> Moved {
        if !reason.can_be_flagged() {
            return Err(NotMoved::WrongReason);
        }
        self.expect_that(MovementState::can_be_flagged)?;
        Ok(self.to(Status::Exception(Exception { reason, note, at: stamp.at, by: stamp.by }), stamp.at))
    }

    /// `exception` → `authorized`, `receipt_pending`, or `processing` if evidence is undecided; with a surplus,
    /// `reconciled`. `evidence` has the accepted records; those that become undecided again are returned.
    pub(in crate::domain) fn resolve(
        &self,
        evidence: &[Evidence],
        resolution: Resolution,
        stamp: Stamp,
    ) -> Result<(Self, Vec<Evidence>), NotMoved> {
        self.expect(MovementState::Exception)?;
        self.amount()?;
        let has_arrived = self.has_arrived();
        match resolution {
            Resolution::SendAgain => {
                if has_arrived {
                    return Err(NotMoved::Arrived);
                }
                if self.has_undecided_receipt() {
                    return Err(NotMoved::Undecided);
                }
                let mut after =
                    self.past_exception(ExceptionOutcome::SendAgain, &stamp).to(Status::Authorized, stamp.at);
                if after.earlier_claims.len() + 1 >= limits::CLAIMS_PER_MOVEMENT_MAX {
                    return Err(NotMoved::Full);
                }
                after.earlier_claims.extend(after.claim.take());
                (after.released, after.authorized) = (None, Some(stamp));
                Ok((after, Vec::new()))
            }
            Resolution::AwaitProof => {
                let before = self.past_exception(ExceptionOutcome::AwaitProof, &stamp);
                let mut after = before.to(Status::ReceiptPending, stamp.at);
                let undecided = if has_arrived { after.reopen_receipts(evidence)? } else { Vec::new() };
                after.await_judgment();
                Ok((after, undecided))
            }
            Resolution::Surplus(outcome) => Ok((self.settle_surplus(outcome, &stamp)?, Vec::new())),
        }
    }

    /// `exception` for a surplus → `reconciled`, with what became of the surplus.
    fn settle_surplus(&self, outcome: SurplusOutcome, stamp: &Stamp) -> Moved {
        if self.exception_reason() != Some(ExceptionReason::AmountOver) {
            return Err(NotMoved::WrongReason);
        }
        let amount_minor = self.surplus_minor();
        if amount_minor == 0 {
            return Err(NotMoved::NoSurplus);
        }
        if self.has_undecided_receipt() {
            return Err(NotMoved::Undecided);
        }
        let surplus = Surplus { amount_minor, outcome, at: stamp.at, by: stamp.by.clone() };
        let status = Status::Reconciled(self.confirmation_by(stamp).ok_or(NotMoved::NoSurplus)?);
        let before = self.past_exception(ExceptionOutcome::SurplusSettled, stamp);
        Ok(Self { surplus: Some(surplus), ..before.to(status, stamp.at) })
    }

    /// `exception` for not having arrived → `receipt_pending`, because something shows an arrival.
    pub(in crate::domain) fn resolve_not_received(&self, stamp: &Stamp) -> Moved {
        self.expect(MovementState::Exception)?;
        if !self.is_not_received() {
            return Err(NotMoved::WrongReason);
        }
        let before = self.past_exception(ExceptionOutcome::EvidenceFiled, stamp);
        let mut after = before.to(Status::ReceiptPending, stamp.at);
        after.await_judgment();
        Ok(after)
    }

    fn reopen_receipts(&mut self, evidence: &[Evidence]) -> Result<Vec<Evidence>, NotMoved> {
        let mut undecided = Vec::new();
        for (id, entry) in self.receipts.iter_mut().filter(|(_, entry)| entry.is_accepted) {
            let record = evidence.iter().find(|record| record.id() == *id && record.is_accepted());
            undecided.push(record.ok_or(NotMoved::Unknown)?.clone().decided(EvidenceState::Filed));
            entry.is_accepted = false;
        }
        Ok(undecided)
    }

    /// `sender_reported` … `reconciled`, `exception` → `returned`; also late, from `cancelled` with its agreement.
    pub(in crate::domain) fn record_return(&self, reason: SafeNote, stamp: Stamp) -> Moved {
        let late_since = match &self.status {
            Status::Cancelled(ending) if self.ended_with_its_agreement() => Some(ending.at),
            _ => None,
        };
        if late_since.is_none() {
            self.expect_that(MovementState::can_be_returned)?;
        }
        let before = self.past_exception(ExceptionOutcome::Returned, &stamp);
        let ending = Ending { at: stamp.at, by: stamp.by, reason: Some(reason), late_since };
        Ok(before.to(Status::Returned(ending), stamp.at))
    }

    /// `draft`, `authorized`, `instructions_ready`, `exception` → `cancelled`, unless the full amount was received.
    pub(in crate::domain) fn cancel(&self, reason: SafeNote, stamp: Stamp) -> Moved {
        self.expect_that(MovementState::can_be_cancelled)?;
        if !self.can_be_cancelled() {
            return Err(NotMoved::Received);
        }
        let before = self.past_exception(ExceptionOutcome::Cancelled, &stamp);
        let ending = Ending { at: stamp.at, by: stamp.by, reason: Some(reason), late_since: None };
        Ok(Self { released: None, ..before.to(Status::Cancelled(ending), stamp.at) })
    }

    pub(super) fn expect(&self, state: MovementState) -> Result<(), NotMoved> {
        self.expect_that(|own| own == state)
    }

    pub(super) fn expect_that(&self, is_right: impl FnOnce(MovementState) -> bool) -> Result<(), NotMoved> {
        if is_right(self.state()) { Ok(()) } else { Err(NotMoved::NotNow(self.state())) }
    }

    pub(super) fn amount(&self) -> Result<Money, NotMoved> {
        self.terms.money.ok_or(NotMoved::Incomplete)
    }

    pub(in crate::domain) fn sender(&self) -> Result<ParticipantId, NotMoved> {
        self.terms.sender.ok_or(NotMoved::Incomplete)
    }

    /// The movement in another state. This call's clock may be behind the previous call's.
    pub(super) fn to(&self, status: Status, at: Timestamp) -> Self {
        Self { status, updated_at: at.max(self.updated_at), ..self.clone() }
    }

    fn instructions_of(&self, revision: u32) -> Result<&InstructionsStatus, NotMoved> {
        let instructions = self.instructions.as_ref().ok_or(NotMoved::NoInstructions)?;
        if instructions.revision == revision { Ok(instructions) } else { Err(NotMoved::InstructionsChanged) }
    }
}

impl Stamp {
    pub(in crate::domain) fn new(by: Actor, at: Timestamp) -> Self {
        Self { at, by }
    }
}
