//! The rules of the nine gate types: when each opens, is met and clears.

use std::collections::BTreeSet;

use crate::domain::agreement::facts::Facts;
use crate::domain::agreement::gate::{Gate, GateRule, GateState};
use crate::domain::agreement::{Agreement, Document, SignatureBlock};
use crate::domain::ids::{GateId, ParticipantId};
use crate::domain::movement::state::MovementState;
use crate::domain::time::Timestamp;
use crate::domain::time_scale::TimeScale;

pub(super) fn is_signed(document: &Document, facts: &Facts) -> bool {
    !document.blocks.is_empty() && document.blocks.iter().all(|block| facts.signed.contains(&block.id))
}

impl Agreement {
    /// The participants named by a gate who haven't done their part, ordered by id.
    #[must_use]
    pub fn unmet_by(&self, gate: &Gate) -> BTreeSet<ParticipantId> {
        let facts = &self.facts;
        let has_signed = |participant: ParticipantId, is_named: &dyn Fn(&Document, &SignatureBlock) -> bool| {
            let blocks =
                self.documents.iter().flat_map(|document| document.blocks.iter().map(move |block| (document, block)));
            let mut own =
                blocks.filter(|(document, block)| block.participant_id == participant && is_named(document, block));
            own.all(|(_, block)| facts.signed.contains(&block.id))
        };
        let is_done = |participant: ParticipantId| match &gate.rule {
            GateRule::SignatureBlocks { block_ids } => {
                has_signed(participant, &|_, block| block_ids.contains(&block.id))
            }
            GateRule::DocumentSigned { document_id } => {
                has_signed(participant, &|document, _| Some(document.id) == *document_id)
            }
            GateRule::ParticipantApproval { .. } => facts.approved.contains(&(gate.id, participant)),
            rule if rule.is_reviewed() => {
                let part = (gate.id, participant);
                facts.answered.contains_key(&part) || facts.accepted.contains(&part)
            }
            GateRule::FileUpload { .. } => facts.uploaded.contains(&(gate.id, participant)),
            GateRule::IdentityVerified { .. } => facts.verified.contains(&participant),
            GateRule::InformationRequest { .. }
            | GateRule::Countdown { .. }
            | GateRule::MovementAuthorized { .. }
            | GateRule::MovementReconciled { .. } => false,
        };
        gate.rule.named(self).into_iter().filter(|participant| !is_done(*participant)).collect()
    }

    /// The participants whose answers to a gate, or files for it, wait for a member's review, ordered by id.
    #[must_use]
    pub fn to_review(&self, gate: &Gate) -> BTreeSet<ParticipantId> {
        let named = gate.rule.named(self);
        named.into_iter().filter(|participant| self.facts.answered.contains_key(&(gate.id, *participant))).collect()
    }

    /// The participants whose identity a member still has to verify for an open gate, ordered by id.
    #[must_use]
    pub fn to_verify(&self, gate: &Gate) -> BTreeSet<ParticipantId> {
        match (&gate.rule, &gate.state) {
            (GateRule::IdentityVerified { .. }, GateState::Open { .. }) => self.unmet_by(gate),
            _ => BTreeSet::new(),
        }
    }

    /// When the oldest of what waits for review at a gate was sent. None if nothing waits.
    #[must_use]
    pub fn to_review_since(&self, gate: &Gate) -> Option<Timestamp> {
        let named = gate.rule.named(self);
        named.into_iter().filter_map(|participant| self.facts.answered.get(&(gate.id, participant)).copied()).min()
    }

    /// Whether a member has accepted a participant's answers to a gate, or files for it.
    #[must_use]
    pub fn has_accepted(&self, gate: GateId, participant: ParticipantId) -> bool {
        self.facts.accepted.contains(&(gate, participant))
    }

    /// Whether a participant has uploaded a file for a gate, returned or not, or a member has accepted their answers.
    #[must_use]
    pub fn has_sent(&self, gate: GateId, participant: ParticipantId) -> bool {
        let part = (gate, participant);
        self.facts.accepted.contains(&part) || self.facts.uploaded.contains(&part)
    }
}

impl Gate {
    pub(super) fn clears_at(&self) -> Option<Timestamp> {
        match self.state {
            GateState::Open { due_at, .. } => due_at,
            _ => None,
        }
    }

    pub(super) fn open(&mut self, time_scale: TimeScale, at: Timestamp) {
        self.state = GateState::Open { opened_at: at, due_at: self.rule.due_at(time_scale, at) };
    }

    /// Clears it if its rule is met. Reopens it if it relied on money that turns out not to have arrived.
    pub(super) fn settle(&mut self, documents: &[Document], facts: &Facts, at: Timestamp) {
        match self.state {
            GateState::Open { opened_at, .. } if self.is_met(documents, facts, at) => {
                self.state = GateState::Cleared { opened_at, cleared_at: at };
            }
            GateState::Cleared { opened_at, .. }
                if matches!(self.rule, GateRule::MovementReconciled { .. }) && !self.is_met(documents, facts, at) =>
            {
                self.state = GateState::Open { opened_at, due_at: None };
            }
            GateState::Locked | GateState::Open { .. } | GateState::Cleared { .. } | GateState::Declined { .. } => {}
        }
    }

    /// Whether its rule is met (contract, section 3, "Gate rules"). A rule that names nothing never is.
    fn is_met(&self, documents: &[Document], facts: &Facts, at: Timestamp) -> bool {
        let done_by_all = |named: &BTreeSet<ParticipantId>, done: &BTreeSet<(GateId, ParticipantId)>| {
            !named.is_empty() && named.iter().all(|participant| done.contains(&(self.id, *participant)))
        };
        match &self.rule {
            GateRule::SignatureBlocks { block_ids } => !block_ids.is_empty() && block_ids.is_subset(&facts.signed),
            GateRule::DocumentSigned { document_id } => {
                documents.iter().any(|document| Some(document.id) == *document_id && is_signed(document, facts))
            }
            GateRule::ParticipantApproval { participant_ids } => done_by_all(participant_ids, &facts.approved),
            GateRule::FileUpload { participant_ids, file } => {
                done_by_all(participant_ids, if file.review { &facts.accepted } else { &facts.uploaded })
            }
            GateRule::Countdown { .. } => self.clears_at().is_some_and(|due_at| due_at <= at),
            GateRule::MovementAuthorized { movement_id } => {
                facts.movement(*movement_id).is_some_and(MovementState::is_authorized)
            }
            GateRule::MovementReconciled { movement_id } => {
                facts.movement(*movement_id).is_some_and(MovementState::is_reconciled)
            }
            GateRule::InformationRequest { participant_ids, .. } => done_by_all(participant_ids, &facts.accepted),
            GateRule::IdentityVerified { participant_ids } => {
                !participant_ids.is_empty() && participant_ids.is_subset(&facts.verified)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::agreement::Lifecycle;
    use crate::domain::agreement::fixtures::{Deal, after, label, noon, time_scale};
    use crate::domain::agreement::gate::RequestedFile;
    use crate::domain::ids::MovementId;

    const MOVEMENT_STATES: [(MovementState, bool, bool); 10] = [
        (MovementState::Draft, false, false),
        (MovementState::Authorized, true, false),
        (MovementState::InstructionsReady, true, false),
        (MovementState::SenderReported, true, false),
        (MovementState::ReceiptPending, true, false),
        (MovementState::Processing, true, false),
        (MovementState::Reconciled, true, true),
        (MovementState::Exception, true, false),
        (MovementState::Returned, true, false),
        (MovementState::Cancelled, false, false),
    ];

    #[test]
    fn each_rule_is_met_by_what_it_asks_for_and_by_nothing_else() {
        let deal = Deal::complete();
        let mut rules: Vec<GateRule> =
            deal.draft.stages.iter().flat_map(|stage| &stage.gates).map(|gate| gate.rule.clone()).collect();
        let participant_ids = deal.draft.participants.iter().take(2).map(|participant| participant.id).collect();
        let file = RequestedFile { review: true, ..RequestedFile::default() };
        rules.push(GateRule::FileUpload { participant_ids, file });
        let live = Agreement { stages: Vec::new(), expires_at: None, ..deal.draft };
        let (both, block) = ([live.participants[0].id, live.participants[1].id], live.documents[0].blocks[0].id);
        let movement = deal.payments[0].id;
        for rule in rules {
            let (with_stage, stage) = live.add_stage(label("Step"), [].into(), noon()).unwrap();
            let (draft, gate) = with_stage.add_gate(stage, rule.clone(), noon()).unwrap();
            let live = draft.published(&Facts::none(), time_scale(), noon());
            let done = |participants: &[ParticipantId]| participants.iter().map(|id| (gate, *id)).collect();
            let met = |facts: &Facts, hours| {
                live.as_of(facts, time_scale(), after(hours)).lifecycle() == Lifecycle::Completed
            };
            let all = |of: &[ParticipantId], movement_state| Facts {
                recorded_at: None,
                signed: [block].into(),
                approved: done(of),
                uploaded: done(of),
                answered: both.map(|id| ((gate, id), noon())).into(),
                answer_bytes: 9,
                file_bytes: 9,
                accepted: done(of),
                verified: of.iter().copied().collect(),
                movements: [(movement, movement_state)].into(),
            };
            let (nothing, everything) = (Facts::none(), all(&both, MovementState::Reconciled));
            let is_countdown = matches!(rule, GateRule::Countdown { .. });
            assert_eq!(met(&nothing, 24), is_countdown, "{rule:?}");
            assert_eq!(met(&everything, 23), !is_countdown, "{rule:?}");
            let alone = [
                Facts { signed: everything.signed.clone(), ..Facts::none() },
                Facts { approved: everything.approved.clone(), ..Facts::none() },
                Facts { uploaded: everything.uploaded.clone(), ..Facts::none() },
                Facts { accepted: everything.accepted.clone(), ..Facts::none() },
                Facts { verified: everything.verified.clone(), ..Facts::none() },
                Facts { movements: everything.movements.clone(), ..Facts::none() },
            ];
            let which: Vec<bool> = alone.iter().map(|facts| met(facts, 1)).collect();
            let expected = match rule {
                GateRule::SignatureBlocks { .. } | GateRule::DocumentSigned { .. } => Some(0),
                GateRule::ParticipantApproval { .. } => Some(1),
                ref rule if rule.is_reviewed() => Some(3),
                GateRule::FileUpload { .. } => Some(2),
                GateRule::InformationRequest { .. } => Some(3),
                GateRule::IdentityVerified { .. } => Some(4),
                GateRule::MovementAuthorized { .. } | GateRule::MovementReconciled { .. } => Some(5),
                GateRule::Countdown { .. } => None,
            };
            assert_eq!(which, (0..6).map(|n| Some(n) == expected).collect::<Vec<_>>(), "{rule:?}");
            // Other participants' acts, or only half of the named ones, don't suffice.
            let others = Facts {
                movements: [(MovementId::new(), MovementState::Reconciled)].into(),
                ..all(&both[..1], MovementState::Reconciled)
            };
            assert!(rule.participant_ids().is_none() || !met(&others, 1), "{rule:?}");
            for (state, authorized, reconciled) in MOVEMENT_STATES {
                let facts = Facts { movements: [(movement, state)].into(), ..Facts::none() };
                match rule {
                    GateRule::MovementAuthorized { .. } => assert_eq!(met(&facts, 1), authorized, "{state:?}"),
                    GateRule::MovementReconciled { .. } => assert_eq!(met(&facts, 1), reconciled, "{state:?}"),
                    _ => {}
                }
            }
        }
    }
}
