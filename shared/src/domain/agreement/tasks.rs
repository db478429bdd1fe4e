//! A participant's task list, by the rules of `waiting_on_participant_ids` (specification, "Agreement"). It also asks who
//! signed on paper: until a member has confirmed that, signing on screen ends the wait.

use std::collections::BTreeSet;

use super::gate::{Gate, GateRule, GateStatus};
use super::{Agreement, Document, DocumentState, Lifecycle};
use crate::domain::event::{EventKind, SignatureData};
use crate::domain::ids::{DocumentId, GateId, ParticipantId, SignatureBlockId};

/// A task of a participant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// Sign a document.
    Sign(DocumentId),
    /// Approve.
    Approve(GateId),
    /// Upload a file.
    Upload(GateId),
    /// Answer the questions of an information request.
    Answer(GateId),
    /// Have their identity verified, which a member records.
    BeVerified(GateId),
}

impl Agreement {
    /// A participant's tasks in the current step, each document once. Documents without a condition come last.
    #[must_use]
    pub fn tasks_of(&self, participant: ParticipantId) -> Vec<Task> {
        let mut tasks = Vec::new();
        let open = self.waiting_gates().filter(|gate| gate.state.status() == GateStatus::Open);
        for gate in open.filter(|gate| self.unmet_by(gate).contains(&participant)) {
            match gate.rule {
                GateRule::SignatureBlocks { .. } | GateRule::DocumentSigned { .. } => {
                    for document in self.documents.iter().filter(|document| gate.asks_to_sign(document)) {
                        let asked = self.blocks_to_sign(document, participant);
                        if asked.iter().any(|block| gate.asks_for(document, *block)) {
                            tasks.push(Task::Sign(document.id));
                        }
                    }
                }
                GateRule::ParticipantApproval { .. } => tasks.push(Task::Approve(gate.id)),
                GateRule::FileUpload { .. } => tasks.push(Task::Upload(gate.id)),
                GateRule::InformationRequest { .. } => tasks.push(Task::Answer(gate.id)),
                GateRule::IdentityVerified { .. } => tasks.push(Task::BeVerified(gate.id)),
                GateRule::Countdown { .. }
                | GateRule::MovementAuthorized { .. }
                | GateRule::MovementReconciled { .. } => {}
            }
        }
        let others = self.documents.iter().filter(|document| !self.blocks_to_sign(document, participant).is_empty());
        tasks.extend(others.map(|document| Task::Sign(document.id)));
        let mut seen = Vec::new();
        tasks.retain(|task| {
            !seen.contains(task) && {
                seen.push(*task);
                true
            }
        });
        tasks
    }

    /// The unsigned blocks in an open document that a participant may sign now, without what later steps ask for.
    #[must_use]
    pub fn blocks_to_sign(&self, document: &Document, participant: ParticipantId) -> BTreeSet<SignatureBlockId> {
        if self.lifecycle() != Lifecycle::Active || document.state != DocumentState::Out {
            return BTreeSet::new();
        }
        let may_sign = |block: &SignatureBlockId| {
            let mut asking = self.gates_asking_for(document, *block).map(|gate| gate.state.status()).peekable();
            asking.peek().is_none() || asking.any(|status| status == GateStatus::Open)
        };
        self.unsigned(document, participant).filter(may_sign).collect()
    }

    /// Whether a participant can decline to sign: an open condition asks for a block that they may sign now.
    #[must_use]
    pub fn can_decline(&self, document: &Document, participant: ParticipantId) -> bool {
        let is_open = |gate: &Gate| gate.state.status() == GateStatus::Open;
        let mut blocks = self.blocks_to_sign(document, participant).into_iter();
        blocks.any(|block| self.gates_asking_for(document, block).any(is_open))
    }

    pub(in crate::domain) fn unsigned<'a>(
        &'a self,
        document: &'a Document,
        participant: ParticipantId,
    ) -> impl Iterator<Item = SignatureBlockId> + 'a {
        let own = document.blocks.iter().filter(move |block| block.participant_id == participant);
        own.map(|block| block.id).filter(|block| !self.facts.signed.contains(block))
    }

    pub(in crate::domain) fn gates_asking_for<'a>(
        &'a self,
        document: &'a Document,
        block: SignatureBlockId,
    ) -> impl Iterator<Item = &'a Gate> + 'a {
        let gates = self.stages.iter().flat_map(|stage| &stage.gates);
        gates.filter(move |gate| gate.asks_for(document, block))
    }

    /// Whether a condition that asks for a block is declined.
    #[must_use]
    pub fn is_declined_for(&self, document: &Document, block: SignatureBlockId) -> bool {
        self.gates_asking_for(document, block).any(|gate| gate.state.status() == GateStatus::Declined)
    }

    /// Whether a signature block is signed.
    #[must_use]
    pub fn is_signed(&self, block: SignatureBlockId) -> bool {
        self.facts.signed.contains(&block)
    }

    pub(in crate::domain) fn signature_completion(
        &self,
        document_id: DocumentId,
        participant_id: ParticipantId,
    ) -> Option<EventKind> {
        let data = SignatureData { agreement_id: self.id(), document_id, participant_id };
        let document = self.document(document_id)?;
        self.has_signed(document, participant_id).then_some(EventKind::SignatureCompleted(data))
    }

    /// Whether a declined condition keeps a participant from signing a block in a document.
    #[must_use]
    pub fn is_on_hold_for(&self, document: &Document, participant: ParticipantId) -> bool {
        self.unsigned(document, participant).any(|block| self.is_declined_for(document, block))
    }

    /// Whether a participant has blocks in a document and has signed all of them.
    #[must_use]
    pub fn has_signed(&self, document: &Document, participant: ParticipantId) -> bool {
        document.blocks.iter().any(|block| block.participant_id == participant)
            && self.unsigned(document, participant).next().is_none()
    }
}

impl Gate {
    fn asks_for(&self, document: &Document, block: SignatureBlockId) -> bool {
        match &self.rule {
            GateRule::SignatureBlocks { block_ids } => block_ids.contains(&block),
            GateRule::DocumentSigned { document_id } => *document_id == Some(document.id),
            _ => false,
        }
    }

    fn asks_to_sign(&self, document: &Document) -> bool {
        document.blocks.iter().any(|block| self.asks_for(document, block.id))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::domain::agreement::StageAction;
    use crate::domain::agreement::fixtures::{Deal, label, noon, published};

    fn two_steps(actions: BTreeSet<StageAction>) -> (Agreement, [ParticipantId; 2]) {
        let deal = Deal::complete();
        let (ada, ben) = (deal.draft.participants[0].id, deal.draft.participants[1].id);
        let document = deal.draft.documents[0].id;
        let first = deal.draft.documents[0].blocks[0].id;
        let mut draft = Agreement { stages: Vec::new(), expires_at: None, ..deal.draft };
        let mut block = |participant| {
            let (more, block) = draft.add_signature_block(document, participant, label("At closing"), noon()).unwrap();
            draft = more;
            block
        };
        let (second, of_ben) = (block(ada), block(ben));
        for (blocks, actions) in [([first].into(), actions), ([second, of_ben].into(), BTreeSet::new())] {
            let (more, stage) = draft.add_stage(label("Step"), actions, noon()).unwrap();
            draft = more.add_gate(stage, GateRule::SignatureBlocks { block_ids: blocks }, noon()).unwrap().0;
        }
        (published(&draft), [ada, ben])
    }

    #[test]
    fn a_signature_of_a_later_step_is_not_asked_for_yet() {
        let (live, [ada, ben]) = two_steps(BTreeSet::new());
        let document = &live.documents[0];
        assert_eq!(live.tasks_of(ada), [Task::Sign(document.id)]);
        assert_eq!(live.blocks_to_sign(document, ada), [document.blocks[0].id].into());
        assert_eq!((live.tasks_of(ben), live.blocks_to_sign(document, ben).len()), (Vec::new(), 0));
    }

    #[test]
    fn what_no_condition_asks_for_can_be_signed_once_it_is_out() {
        let (live, [ada, _]) = two_steps(BTreeSet::new());
        let (mut free, document) = (live.clone(), live.documents[0].clone());
        free.stages[1].gates.clear();
        let both: BTreeSet<_> = document.blocks[..2].iter().map(|block| block.id).collect();
        assert_eq!(free.blocks_to_sign(&document, ada), both);
        free.documents[0].state = DocumentState::Draft;
        assert!(free.tasks_of(ada).is_empty(), "it is not out");
    }

    #[test]
    fn each_kind_of_condition_is_a_task_of_those_whom_it_waits_for() {
        let deal = Deal::complete();
        let live = published(&deal.draft);
        let [ada, ben, eve] = [0, 1, 2].map(|n| live.participants[n].id);
        let gates: Vec<GateId> = live.stages[0].gates.iter().map(|gate| gate.id).collect();
        let document = live.documents[0].id;
        assert_eq!(live.tasks_of(ada), [Task::Sign(document), Task::Approve(gates[2])]);
        assert_eq!(live.tasks_of(ben), [Task::Approve(gates[2])]);
        assert_eq!(live.tasks_of(eve), []);
        assert_eq!(deal.draft.tasks_of(ada), [], "a draft asks nobody");
        assert_eq!(live.cancelled(noon()).tasks_of(ada), []);
    }
}
