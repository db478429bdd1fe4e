//! Invariants of every stored agreement. The transitions maintain them, and operators can check them.

use std::collections::BTreeSet;

use super::gate::{Gate, GateRule, GateStatus};
use super::{Agreement, Life, StageState};
use crate::domain::ids::ParticipantId;

impl Agreement {
    /// Its contradictions, in words for operators that name nobody. Any entry means a bug or a foreign write.
    #[must_use]
    pub fn inconsistencies(&self) -> Vec<&'static str> {
        let mut found = Vec::new();
        self.check_steps(&mut found);
        self.check_life(&mut found);
        if self.was_published() {
            self.check_parts(&mut found);
        }
        found
    }

    fn check_steps(&self, found: &mut Vec<&'static str>) {
        let states: Vec<StageState> = self.stages.iter().map(|stage| stage.state).collect();
        let order = |state: &StageState| match state {
            StageState::Done => 0,
            StageState::Current => 1,
            StageState::Upcoming => 2,
        };
        if !states.is_sorted_by_key(order) || states.iter().filter(|state| **state == StageState::Current).count() > 1 {
            found.push("has steps out of order");
        }
        for stage in &self.stages {
            let are = |fits: fn(GateStatus) -> bool| stage.gates.iter().all(|gate| fits(gate.state.status()));
            let fits = match stage.state {
                StageState::Upcoming => are(|status| status == GateStatus::Locked),
                StageState::Current => are(|status| status != GateStatus::Locked),
                StageState::Done => are(|status| status == GateStatus::Cleared),
            };
            if !fits {
                found.push("has a condition that does not fit its step");
            }
        }
    }

    fn check_life(&self, found: &mut Vec<&'static str>) {
        let count = |state| self.stages.iter().filter(|stage| stage.state == state).count();
        let (current, done) = (count(StageState::Current), count(StageState::Done));
        let is_well = match self.life() {
            Life::Draft | Life::Cancelled { published_at: None, .. } => current == 0 && done == 0,
            Life::Active { .. } => current == 1,
            Life::Completed { .. } => done == self.stages.len(),
            Life::Cancelled { .. } | Life::Expired { .. } => done < self.stages.len() || self.stages.is_empty(),
        };
        if !is_well {
            found.push("has steps that do not fit its lifecycle");
        }
        let is_in_order = match self.life() {
            Life::Completed { published_at, completed_at: ended_at }
            | Life::Cancelled { published_at: Some(published_at), cancelled_at: ended_at }
            | Life::Expired { published_at, expired_at: ended_at } => published_at <= ended_at,
            Life::Draft | Life::Active { .. } | Life::Cancelled { published_at: None, .. } => true,
        };
        if !is_in_order {
            found.push("ended before it was published");
        }
    }

    fn check_parts(&self, found: &mut Vec<&'static str>) {
        let participants: BTreeSet<ParticipantId> =
            self.participants.iter().map(|participant| participant.id).collect();
        let contacts: BTreeSet<_> = self.participants.iter().map(|participant| participant.contact_id).collect();
        if participants.len() != self.participants.len() || contacts.len() != self.participants.len() {
            found.push("has a participant twice");
        }
        let blocks = || self.documents.iter().flat_map(|document| &document.blocks);
        if !blocks().all(|block| participants.contains(&block.participant_id)) {
            found.push("has a place to sign for someone who does not take part");
        }
        let block_ids: BTreeSet<_> = blocks().map(|block| block.id).collect();
        let is_there = |gate: &Gate| match &gate.rule {
            GateRule::SignatureBlocks { block_ids: named } => named.is_subset(&block_ids),
            GateRule::DocumentSigned { document_id } => document_id.is_none_or(|id| self.document(id).is_some()),
            GateRule::MovementAuthorized { movement_id } | GateRule::MovementReconciled { movement_id } => {
                movement_id.is_none_or(|id| self.movements().contains_key(&id))
            }
            rule => rule.participant_ids().is_none_or(|named| named.is_subset(&participants)),
        };
        if !self.stages.iter().flat_map(|stage| &stage.gates).all(is_there) {
            found.push("has a condition that names a document, a payment or a participant that it does not have");
        }
        let promised = |promise: &super::promise::Promise| {
            let (by, to) = (promise.parties.promisors(), promise.parties.promisees());
            by.is_subset(&participants) && to.is_subset(&participants)
        };
        if !self.promises.iter().all(promised) {
            found.push("has a promise of or to someone who does not take part");
        }
    }
}
