//! The parts of a draft that forms edit, and what each form showed.
//!
//! Edits apply to the newest draft, so two members can edit different parts at once. Each form carries a fingerprint of
//! its part: if the part has changed since, the edit is refused, and the member sees the change.

use serde::Serialize;

use crate::crypto;
use crate::domain::agreement::gate::{Gate, GateRule, InformationField};
use crate::domain::agreement::{Agreement, Stage};
use crate::domain::ids::{DocumentId, FieldId, GateId, ParticipantId, PromiseId, SignatureBlockId, StageId};
use crate::domain::movement::terms::PaymentTerms;

/// A part of a draft with its own form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Its name and kind.
    Description,
    /// When it expires.
    Expiry,
    /// The terms of a SAFE.
    Terms,
    /// A participant's roles.
    Participant(ParticipantId),
    /// A document's name and file.
    Document(DocumentId),
    /// A signature block.
    SignatureBlock(SignatureBlockId),
    /// A stage's name and actions.
    Stage(StageId),
    /// The order of the stages.
    StageOrder,
    /// A gate's settings, without its questions.
    Gate(GateId),
    /// The order of the gates of a stage.
    GateOrder(StageId),
    /// A question.
    Question(GateId, FieldId),
    /// The order of an information request's questions.
    QuestionOrder(GateId),
    /// A promise's name, terms and parties.
    Promise(PromiseId),
    /// The order of the promises.
    PromiseOrder,
}

/// The fingerprint of a part as a form showed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen(String);

impl Seen {
    /// The fingerprint from a form field. An invalid one matches no part.
    #[must_use]
    pub fn from_form(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// The text for a form field.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The terms of a payment, which is a separate record.
    #[must_use]
    pub fn of_payment(terms: &PaymentTerms) -> Self {
        Self::of(terms)
    }

    fn of(value: &impl Serialize) -> Self {
        const DIGITS: usize = 16;
        let json = serde_json::to_vec(value).unwrap_or_default();
        let mut digits = crypto::hex(&crypto::fingerprint(&[&json]));
        digits.truncate(DIGITS);
        Self(digits)
    }
}

impl Agreement {
    /// A stage, by its id.
    #[must_use]
    pub fn stage(&self, id: StageId) -> Option<&Stage> {
        self.stages.iter().find(|stage| stage.id == id)
    }

    /// A gate, by its id.
    #[must_use]
    pub fn gate(&self, id: GateId) -> Option<&Gate> {
        self.stages.iter().flat_map(|stage| &stage.gates).find(|gate| gate.id == id)
    }

    /// The questions of an information request. `None` for other gates.
    #[must_use]
    pub fn questions(&self, gate: GateId) -> Option<&[InformationField]> {
        match &self.gate(gate)?.rule {
            GateRule::InformationRequest { fields, .. } => Some(fields),
            _ => None,
        }
    }

    /// A question of an information request.
    #[must_use]
    pub fn question(&self, gate: GateId, id: FieldId) -> Option<&InformationField> {
        self.questions(gate)?.iter().find(|question| question.id == id)
    }

    /// A part as it is now, for its form. `None` without such a part.
    #[must_use]
    pub fn seen(&self, part: Part) -> Option<Seen> {
        Some(match part {
            Part::Description => Seen::of(&(&self.name, self.kind)),
            Part::Expiry => Seen::of(&self.expires_at),
            Part::Terms => Seen::of(self.terms.as_ref()?),
            Part::Participant(id) => Seen::of(self.participant(id)?),
            Part::Document(id) => {
                let document = self.document(id)?;
                Seen::of(&(&document.name, &document.content))
            }
            Part::SignatureBlock(id) => {
                let mut blocks = self.documents.iter().flat_map(|document| &document.blocks);
                Seen::of(blocks.find(|block| block.id == id)?)
            }
            Part::Stage(id) => {
                let stage = self.stage(id)?;
                Seen::of(&(&stage.name, &stage.actions))
            }
            Part::StageOrder => Seen::of(&self.stages.iter().map(|stage| stage.id).collect::<Vec<_>>()),
            Part::Gate(id) => Seen::of(&without_questions(&self.gate(id)?.rule)),
            Part::GateOrder(id) => Seen::of(&self.stage(id)?.gates.iter().map(|gate| gate.id).collect::<Vec<_>>()),
            Part::Question(gate, id) => Seen::of(self.question(gate, id)?),
            Part::QuestionOrder(gate) => {
                Seen::of(&self.questions(gate)?.iter().map(|question| question.id).collect::<Vec<_>>())
            }
            Part::Promise(id) => Seen::of(self.promise(id)?),
            Part::PromiseOrder => Seen::of(&self.promises.iter().map(|promise| promise.id).collect::<Vec<_>>()),
        })
    }
}

pub(in crate::domain::agreement) fn without_questions(rule: &GateRule) -> GateRule {
    match rule {
        GateRule::InformationRequest { participant_ids, .. } => {
            GateRule::InformationRequest { participant_ids: participant_ids.clone(), fields: Vec::new() }
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::fixtures::{Deal, label, noon, promise, question};
    use super::super::super::promise::Promise;
    use super::*;

    fn parts(draft: &Agreement) -> Vec<Part> {
        let mut parts = vec![Part::Description, Part::Expiry, Part::Terms, Part::StageOrder, Part::PromiseOrder];
        parts.extend(draft.promises.iter().map(|promise| Part::Promise(promise.id)));
        parts.extend(draft.participants.iter().map(|participant| Part::Participant(participant.id)));
        for document in &draft.documents {
            parts.push(Part::Document(document.id));
            parts.extend(document.blocks.iter().map(|block| Part::SignatureBlock(block.id)));
        }
        for stage in &draft.stages {
            parts.extend([Part::Stage(stage.id), Part::GateOrder(stage.id)]);
            for gate in &stage.gates {
                parts.push(Part::Gate(gate.id));
                let questions = draft.questions(gate.id);
                parts.extend(questions.map(|_| Part::QuestionOrder(gate.id)));
                parts.extend(questions.into_iter().flatten().map(|question| Part::Question(gate.id, question.id)));
            }
        }
        parts
    }

    fn changed(before: &Agreement, after: &Agreement) -> Vec<Part> {
        parts(before).into_iter().filter(|part| before.seen(*part) != after.seen(*part)).collect()
    }

    #[test]
    fn an_edit_changes_its_own_part_and_no_other() {
        let draft = Deal::complete().draft;
        let (stage, gate) = (draft.stages[2].id, draft.stages[2].gates[1].id);
        assert!(parts(&draft).into_iter().all(|part| draft.seen(part).is_some()));
        let renamed = draft.change_stage(stage, label("Last"), [].into(), noon()).unwrap();
        assert_eq!(changed(&draft, &renamed), [Part::Stage(stage)]);
        let moved = draft.move_stage(stage, 0, noon()).unwrap();
        assert_eq!(changed(&draft, &moved), [Part::StageOrder]);
        let moved = draft.move_gate(gate, 0, noon()).unwrap();
        assert_eq!(changed(&draft, &moved), [Part::GateOrder(stage)]);
        let asked = draft.put_question(gate, question("Who?"), noon()).unwrap();
        assert_eq!(changed(&draft, &asked), [Part::QuestionOrder(gate)]);
        let question_id = draft.questions(gate).unwrap()[0].id;
        let reworded = InformationField { id: question_id, ..question("What for?") };
        let reworded = draft.change_question(gate, reworded, noon()).unwrap();
        assert_eq!(changed(&draft, &reworded), [Part::Question(gate, question_id)]);
        let unexpiring = draft.set_expiry(None, noon()).unwrap();
        assert_eq!(changed(&draft, &unexpiring), [Part::Expiry]);
        let made = promise(&draft, "Insurance");
        let promised = draft.put_promise(made.clone(), noon()).unwrap();
        assert_eq!(changed(&draft, &promised), [Part::PromiseOrder]);
        let reworded = Promise { name: label("Cover"), ..made.clone() };
        let reworded = promised.change_promise(reworded, noon()).unwrap();
        assert_eq!(changed(&promised, &reworded), [Part::Promise(made.id)]);
        assert_eq!(draft.seen(Part::Gate(GateId::new())), None);
    }
}
