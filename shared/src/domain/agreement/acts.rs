//! The acts in an agreement's history: who did what, when.

use serde::{Deserialize, Serialize};

use super::edit::without_questions;
use super::gate::{Gate, GateType, InformationField};
use super::promise::Promise;
use super::{Agreement, Document, Label, SignatureBlock, Stage};
use crate::domain::actor::Actor;
use crate::domain::event::EventType;
use crate::domain::ids::{ContactId, GateId};
use crate::domain::movement::safe_text::SafeLine;
use crate::domain::proposal::ProposalAction;
use crate::domain::time::Timestamp;

/// A call that changed an agreement or one of its proposals.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Act {
    /// The operation's id.
    pub operation: String,
    /// Who did it, by their name at the time.
    pub actor: Actor,
    /// When.
    pub at: Timestamp,
    /// The action of the proposal that the act made or decided, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposed: Option<ProposalAction>,
    /// The part of a draft that it edited, or the document, payment or obligation that it acted on. None for edits of a
    /// draft as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<EditedPart>,
    /// The events that it caused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<EventType>,
}

/// The part of an agreement that an act was about, by its name at the time: a draft may no longer have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "part", rename_all = "snake_case")]
pub enum EditedPart {
    /// A participant.
    Participant {
        /// Their contact.
        contact_id: ContactId,
    },
    /// A document.
    Document {
        /// Its name.
        name: Label,
    },
    /// A signature block.
    SignatureBlock {
        /// The name of its document.
        document: Label,
        /// The contact who signs there.
        contact_id: Option<ContactId>,
    },
    /// A step.
    Step {
        /// Its name.
        name: Label,
    },
    /// A condition.
    Condition {
        /// Its type.
        gate: GateType,
        /// The name of its step.
        step: Label,
    },
    /// A question of an information request.
    Question {
        /// The question.
        label: Label,
    },
    /// A payment, of a draft or not; its terms are in a separate record.
    Payment {
        /// Its purpose, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        purpose: Option<SafeLine>,
    },
    /// A promise, or the obligation that it became.
    Promise {
        /// Its name.
        name: Label,
    },
}

impl EditedPart {
    /// The part that an edit changed: first one that came or went, since removing it also changes what refers to it.
    #[must_use]
    pub fn of_edit(before: &Agreement, after: &Agreement) -> Option<Self> {
        let (before, after) = (Parts::of(before), Parts::of(after));
        before.came_or_went(&after).or_else(|| before.changed(&after)).or_else(|| before.moved(&after))
    }

    /// A condition, if the agreement has it.
    #[must_use]
    pub fn condition(agreement: &Agreement, id: GateId) -> Option<Self> {
        let stage = agreement.stages.iter().find(|stage| stage.gates.iter().any(|gate| gate.id == id))?;
        Some(of_gate(stage, agreement.gate(id)?))
    }

    /// The contact it names.
    #[must_use]
    pub fn contact_id(&self) -> Option<ContactId> {
        match self {
            Self::Participant { contact_id } => Some(*contact_id),
            Self::SignatureBlock { contact_id, .. } => *contact_id,
            _ => None,
        }
    }
}

struct Parts<'a> {
    agreement: &'a Agreement,
    blocks: Vec<(&'a Document, &'a SignatureBlock)>,
    gates: Vec<(&'a Stage, &'a Gate)>,
    questions: Vec<&'a InformationField>,
}

impl<'a> Parts<'a> {
    fn of(agreement: &'a Agreement) -> Self {
        let blocks = |document: &'a Document| document.blocks.iter().map(move |block| (document, block));
        let gates = |stage: &'a Stage| stage.gates.iter().map(move |gate| (stage, gate));
        let gates: Vec<_> = agreement.stages.iter().flat_map(gates).collect();
        let questions = gates.iter().filter_map(|(_, gate)| agreement.questions(gate.id)).flatten();
        Self {
            agreement,
            blocks: agreement.documents.iter().flat_map(blocks).collect(),
            questions: questions.collect(),
            gates,
        }
    }

    fn block(&self, other: &Self, document: &Document, block: &SignatureBlock) -> EditedPart {
        let signer = [self, other].into_iter().find_map(|parts| parts.agreement.participant(block.participant_id));
        EditedPart::SignatureBlock {
            document: document.name.clone(),
            contact_id: signer.map(|participant| participant.contact_id),
        }
    }

    fn came_or_went(&self, after: &Self) -> Option<EditedPart> {
        let (was, is) = (self.agreement, after.agreement);
        let participant = || came_or_went(&was.participants, &is.participants, |found| found.id);
        let document = || came_or_went(&was.documents, &is.documents, |found| found.id);
        let block = || came_or_went(&self.blocks, &after.blocks, |(_, block)| block.id);
        let stage = || came_or_went(&was.stages, &is.stages, |stage| stage.id);
        let gate = || came_or_went(&self.gates, &after.gates, |(_, gate)| gate.id);
        let question = || came_or_went(&self.questions, &after.questions, |question| question.id);
        let promise = || came_or_went(&was.promises, &is.promises, |promise| promise.id);
        participant()
            .map(|found| EditedPart::Participant { contact_id: found.contact_id })
            .or_else(|| document().map(of_document))
            .or_else(|| block().map(|(document, block)| self.block(after, document, block)))
            .or_else(|| stage().map(of_stage))
            .or_else(|| gate().map(|(stage, gate)| of_gate(stage, gate)))
            .or_else(|| question().copied().map(of_question))
            .or_else(|| promise().map(of_promise))
    }

    fn changed(&self, after: &Self) -> Option<EditedPart> {
        let (was, is) = (self.agreement, after.agreement);
        let roles =
            is.participants.iter().find(|found| was.participant(found.id).is_some_and(|was| was.roles != found.roles));
        let question = || {
            after.questions.iter().find(|found| self.questions.iter().any(|was| was.id == found.id && was != *found))
        };
        let gate = || {
            let is_other = |was: &Gate, gate: &Gate| without_questions(&was.rule) != without_questions(&gate.rule);
            after.gates.iter().find(|(_, gate)| was.gate(gate.id).is_some_and(|was| is_other(was, gate)))
        };
        let document = || {
            let is_other = |was: &Document, found: &Document| was.name != found.name || was.content != found.content;
            is.documents.iter().find(|found| was.document(found.id).is_some_and(|was| is_other(was, found)))
        };
        let stage = || {
            let is_other = |was: &Stage, found: &Stage| was.name != found.name || was.actions != found.actions;
            is.stages.iter().find(|found| was.stage(found.id).is_some_and(|was| is_other(was, found)))
        };
        let promise = || is.promises.iter().find(|found| was.promise(found.id).is_some_and(|was| was != *found));
        roles
            .map(|found| EditedPart::Participant { contact_id: found.contact_id })
            .or_else(|| question().copied().map(of_question))
            .or_else(|| gate().map(|(stage, gate)| of_gate(stage, gate)))
            .or_else(|| document().map(of_document))
            .or_else(|| stage().map(of_stage))
            .or_else(|| promise().map(of_promise))
    }

    fn moved(&self, after: &Self) -> Option<EditedPart> {
        moved(&self.agreement.stages, &after.agreement.stages, |stage| stage.id)
            .map(of_stage)
            .or_else(|| moved(&self.gates, &after.gates, |(_, gate)| gate.id).map(|(stage, gate)| of_gate(stage, gate)))
            .or_else(|| moved(&self.questions, &after.questions, |question| question.id).copied().map(of_question))
            .or_else(|| {
                moved(&self.agreement.promises, &after.agreement.promises, |promise| promise.id).map(of_promise)
            })
    }
}

fn of_document(document: &Document) -> EditedPart {
    EditedPart::Document { name: document.name.clone() }
}

fn of_stage(stage: &Stage) -> EditedPart {
    EditedPart::Step { name: stage.name.clone() }
}

fn of_gate(stage: &Stage, gate: &Gate) -> EditedPart {
    EditedPart::Condition { gate: gate.rule.gate_type(), step: stage.name.clone() }
}

fn of_question(question: &InformationField) -> EditedPart {
    EditedPart::Question { label: question.label.clone() }
}

fn of_promise(promise: &Promise) -> EditedPart {
    EditedPart::Promise { name: promise.name.clone() }
}

fn came_or_went<'a, T, I: PartialEq>(before: &'a [T], after: &'a [T], id: impl Fn(&T) -> I) -> Option<&'a T> {
    let only_in =
        |these: &'a [T], others: &[T]| these.iter().find(|this| others.iter().all(|other| id(other) != id(this)));
    only_in(after, before).or_else(|| only_in(before, after))
}

fn moved<'a, T, I: PartialEq>(before: &'a [T], after: &'a [T], id: impl Fn(&T) -> I) -> Option<&'a T> {
    let (was, is) = before.iter().zip(after).find(|(was, is)| id(was) != id(is))?;
    let without = |list: &[T]| list.iter().map(&id).filter(|other| *other != id(is)).collect::<Vec<_>>();
    Some(if without(before) == without(after) { is } else { was })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::fixtures::{Deal, contact, label, noon, part, promise as promise_of, question, waiting};
    use super::super::gate::GateRule;
    use super::super::{ParticipantRole, Roles};
    use super::*;

    fn told(before: &Agreement, after: &Agreement) -> EditedPart {
        EditedPart::of_edit(before, after).unwrap()
    }

    fn step(name: &str) -> EditedPart {
        EditedPart::Step { name: label(name) }
    }

    #[test]
    fn an_edit_tells_which_part_came_or_went() {
        let draft = Deal::complete().draft;
        let (stage, eve) = (draft.stages[1].clone(), draft.participants[2].clone());
        let (with_step, _) = draft.add_stage(label("Closing"), BTreeSet::new(), noon()).unwrap();
        assert_eq!(told(&draft, &with_step), step("Closing"));
        assert_eq!(told(&with_step, &draft), step("Closing"));
        let without_step = draft.remove_stage(stage.id, noon()).unwrap();
        assert_eq!(told(&draft, &without_step), step("Step 1"), "its conditions went with it");
        let condition = |gate| EditedPart::Condition { gate, step: label("Step 1") };
        let (with_gate, _) = draft.add_gate(stage.id, waiting(3), noon()).unwrap();
        assert_eq!(told(&draft, &with_gate), condition(GateType::Countdown));
        let without_gate = draft.remove_gate(stage.gates[0].id, noon()).unwrap();
        assert_eq!(told(&draft, &without_gate), condition(GateType::FileUpload));
        let asks = draft.stages.iter().flat_map(|stage| &stage.gates).find(|gate| draft.questions(gate.id).is_some());
        let with_question = draft.put_question(asks.unwrap().id, question("When?"), noon()).unwrap();
        assert_eq!(told(&draft, &with_question), EditedPart::Question { label: label("When?") });

        let without_eve = draft.remove_participant(eve.id, noon()).unwrap();
        assert_eq!(told(&draft, &without_eve), EditedPart::Participant { contact_id: eve.contact_id });
        let zoe = contact("Zoe");
        let with_zoe = draft.add_participant(part(&zoe, &[ParticipantRole::Signer]), noon()).unwrap().agreement;
        assert_eq!(told(&draft, &with_zoe), EditedPart::Participant { contact_id: zoe.id });
        let (with_document, document) = draft.add_document(label("Deed"), None, noon()).unwrap();
        assert_eq!(told(&draft, &with_document), EditedPart::Document { name: label("Deed") });
        let (with_block, _) = with_document.add_signature_block(document, eve.id, label("Eve"), noon()).unwrap();
        let block = EditedPart::SignatureBlock { document: label("Deed"), contact_id: Some(eve.contact_id) };
        assert_eq!((told(&with_document, &with_block), told(&with_block, &with_document)), (block.clone(), block));
    }

    #[test]
    fn an_edit_tells_which_part_changed_or_moved() {
        let draft = Deal::complete().draft;
        let ada = &draft.participants[0];
        let roles = draft.set_roles(ada.id, Roles([ParticipantRole::Funder].into()), noon()).unwrap();
        assert_eq!(told(&draft, &roles), EditedPart::Participant { contact_id: ada.contact_id });
        let renamed = draft.rename_document(draft.documents[0].id, label("Note"), noon()).unwrap();
        assert_eq!(told(&draft, &renamed), EditedPart::Document { name: label("Note") });
        let mut other = draft.clone();
        other.stages[2].name = label("Payment");
        assert_eq!(told(&draft, &other), step("Payment"));
        let mut other = draft.clone();
        other.stages[1].gates[1].rule = waiting(7);
        assert_eq!(told(&draft, &other), EditedPart::Condition { gate: GateType::Countdown, step: label("Step 1") });
        let mut other = draft.clone();
        for gate in other.stages.iter_mut().flat_map(|stage| &mut stage.gates) {
            if let GateRule::InformationRequest { fields, .. } = &mut gate.rule {
                fields[0].label = label("How?");
            }
        }
        assert_eq!(told(&draft, &other), EditedPart::Question { label: label("How?") });

        let moved = |from: usize, to| draft.move_stage(draft.stages[from].id, to, noon()).unwrap();
        assert_eq!(told(&draft, &moved(2, 0)), step("Step 2"));
        assert_eq!(told(&draft, &moved(0, 2)), step("Step 0"));
        assert_eq!(told(&draft, &moved(0, 1)), step("Step 1"), "of two neighbours, the one that is first now");
        let gates = draft.move_gate(draft.stages[0].gates[2].id, 0, noon()).unwrap();
        let approval = EditedPart::Condition { gate: GateType::ParticipantApproval, step: label("Step 0") };
        assert_eq!(told(&draft, &gates), approval);
        assert_eq!(EditedPart::of_edit(&draft, &draft.set_expiry(None, noon()).unwrap()), None, "no part");

        let promise = |name: &str| EditedPart::Promise { name: label(name) };
        let (first, second) = (promise_of(&draft, "Insurance"), promise_of(&draft, "Books open"));
        let one = draft.put_promise(first.clone(), noon()).unwrap();
        let two = one.put_promise(second, noon()).unwrap();
        assert_eq!((told(&draft, &one), told(&one, &two)), (promise("Insurance"), promise("Books open")));
        assert_eq!(told(&two, &two.move_promise(first.id, 1, noon()).unwrap()), promise("Books open"));
        let changed = two.change_promise(Promise { name: label("Cover"), ..first }, noon()).unwrap();
        assert_eq!(told(&two, &changed), promise("Cover"));
    }
}
