//! The transitions behind members' acts, which only [`member::funding`](crate::domain::member::funding) calls.

use super::item::{FundingItem, Status};
use super::proof::{AcceptedProof, Claim, NewProof, Proof, ProofState, WithdrawnClaim};
use super::{CloseReason, FundingStatus};
use crate::domain::event::{EventKind, FundingItemClosedData};
use crate::domain::ids::ProofId;
use crate::domain::member::Member;
use crate::domain::member::funding::NotDone;
use crate::domain::moment::Moment;
use crate::domain::movement::evidence::EvidenceFile;
use crate::domain::movement::safe_text::SafeNote;
use crate::domain::note::Note;
use crate::limits;

impl FundingItem {
    pub(in crate::domain) fn closed_unfunded(
        &self,
        by: &Member,
        moment: Moment,
        reason: CloseReason,
        note: Option<Note>,
    ) -> (Self, EventKind) {
        let status = Status::Unfunded { reason, note, closed_at: moment.at(), by: by.actor() };
        let mut next = self.clone();
        next.set_proof_aside(moment.at());
        next.closed(status, FundingStatus::Unfunded, moment)
    }

    pub(in crate::domain) fn claimed(
        &self,
        by: &Member,
        moment: Moment,
        note: Option<SafeNote>,
    ) -> Result<Self, NotDone> {
        let papering = match &self.status {
            Status::InProgress { papering } => *papering,
            Status::Claimed { .. } => return Err(NotDone::ClaimedAlready),
            _ => return Err(self.not_in_progress()),
        };
        if self.withdrawn_claims.len() >= limits::CLAIMS_WITHDRAWN_MAX {
            return Err(NotDone::TooManyClaims);
        }
        let claim = Claim { claimed_at: moment.at(), by: by.actor(), note };
        let next = Self { status: Status::Claimed { papering, claim }, ..self.clone() };
        Ok(self.touched(next, moment.at()))
    }

    pub(in crate::domain) fn unclaimed(&self, by: &Member, moment: Moment, reason: SafeNote) -> Result<Self, NotDone> {
        let Status::Claimed { papering, claim } = &self.status else {
            return Err(if self.is_closed() { NotDone::Closed } else { NotDone::NothingClaimed });
        };
        let withdrawn = WithdrawnClaim { claim: claim.clone(), at: moment.at(), by: by.actor(), reason };
        let mut next = Self { status: Status::InProgress { papering: *papering }, ..self.clone() };
        next.withdrawn_claims.push(withdrawn);
        Ok(self.touched(next, moment.at()))
    }

    /// Whether proof of it waits for a member's decision.
    #[must_use]
    pub fn has_proof_to_review(&self) -> bool {
        !self.is_closed() && self.proofs.iter().any(Proof::is_undecided)
    }

    /// The withdrawn claims, oldest first.
    #[must_use]
    pub fn withdrawn_claims(&self) -> &[WithdrawnClaim] {
        &self.withdrawn_claims
    }

    pub(in crate::domain) fn with_proof(&self, by: &Member, moment: Moment, new: NewProof) -> Result<Self, NotDone> {
        if !self.waits_for_proof() {
            return Err(self.not_in_progress());
        }
        if self.proof(new.id).is_some() {
            return Err(NotDone::FiledAlready);
        }
        if new.file.is_none() && new.note.is_none() {
            return Err(NotDone::NothingToSee);
        }
        let is_same = |known: &EvidenceFile, new: &EvidenceFile| known.content == new.content;
        let counts = |proof: &&Proof| matches!(proof.state(), ProofState::Undecided | ProofState::Accepted { .. });
        let known = self.proofs.iter().filter(counts).filter_map(Proof::document);
        if new.file.as_ref().is_some_and(|file| known.into_iter().any(|known| is_same(known, file))) {
            return Err(NotDone::SameFile);
        }
        let waiting = self.proofs.iter().filter(|proof| proof.is_undecided()).count();
        if waiting >= limits::PROOFS_WAITING_MAX || self.proofs.len() >= limits::PROOFS_PER_ITEM_MAX {
            return Err(NotDone::TooMuchProof);
        }
        let mut next = self.clone();
        next.proofs.push(Proof::file(new, by, moment.at()));
        let bytes = serde_json::to_vec(&next).map_or(usize::MAX, |bytes| bytes.len());
        if bytes.saturating_add((waiting + 1) * limits::FUNDING_PROOF_DECISION_BYTES) > limits::FUNDING_ITEM_BYTES_MAX {
            return Err(NotDone::TooMuchProof);
        }
        Ok(self.touched(next, moment.at()))
    }

    pub(in crate::domain) fn funded(
        &self,
        by: &Member,
        moment: Moment,
        proof: ProofId,
    ) -> Result<(Self, EventKind), NotDone> {
        let found = self.proof(proof).ok_or(NotDone::UnknownProof)?;
        let accepted = found.accepted(by, moment.at()).ok_or(NotDone::DecidedAlready)?;
        self.funded_by(accepted, by, moment)
    }

    /// The only way to [`Status::Funded`]. Requires accepted proof, which no claim can become.
    fn funded_by(&self, accepted: AcceptedProof, by: &Member, moment: Moment) -> Result<(Self, EventKind), NotDone> {
        let (papering, claim) = match &self.status {
            Status::InProgress { papering } => (*papering, None),
            Status::Claimed { papering, claim } => (*papering, Some(claim.clone())),
            _ => return Err(self.not_in_progress()),
        };
        let accepted = accepted.into_proof();
        let proof_id = accepted.id();
        let status = Status::Funded { papering, claim, proof_id, funded_at: moment.at(), by: by.actor() };
        let (mut next, event) = self.closed(status, FundingStatus::Funded, moment);
        for proof in next.proofs.iter_mut().filter(|proof| proof.id() == proof_id) {
            *proof = accepted.clone();
        }
        Ok((next, event))
    }

    pub(in crate::domain) fn without_proof(
        &self,
        by: &Member,
        moment: Moment,
        proof: ProofId,
        reason: SafeNote,
    ) -> Result<Self, NotDone> {
        let mut next = self.clone();
        let found = next.proofs.iter_mut().find(|found| found.id() == proof).ok_or(NotDone::UnknownProof)?;
        if !found.is_undecided() {
            return Err(NotDone::DecidedAlready);
        }
        if !self.waits_for_proof() {
            return Err(self.not_in_progress());
        }
        found.state = ProofState::Rejected { at: moment.at(), by: by.actor(), reason };
        Ok(self.touched(next, moment.at()))
    }

    fn waits_for_proof(&self) -> bool {
        matches!(self.status, Status::InProgress { .. } | Status::Claimed { .. })
    }

    fn not_in_progress(&self) -> NotDone {
        if self.is_closed() { NotDone::Closed } else { NotDone::NotInProgress }
    }

    fn closed(&self, status: Status, closed: FundingStatus, moment: Moment) -> (Self, EventKind) {
        let next = self.touched(Self { status, hold: None, ..self.clone() }, moment.at());
        let data = FundingItemClosedData { funding_item_id: self.id, workspace_id: self.workspace_id, status: closed };
        (next, EventKind::FundingItemClosed(data))
    }
}
