use super::{move_item, unknown};
use crate::domain::agreement::Agreement;
use crate::domain::agreement::gate::{GateRule, InformationField};
use crate::domain::ids::{FieldId, GateId};
use crate::domain::time::Timestamp;
use crate::wire::fields::{FieldCode, FieldErrors};

impl Agreement {
    /// Appends a question with the id from its form; no change if it exists.
    pub fn put_question(&self, gate: GateId, question: InformationField, now: Timestamp) -> Result<Self, FieldErrors> {
        if self.question(gate, question.id).is_some() {
            return Ok(self.clone());
        }
        self.change_questions(gate, now, |questions| {
            questions.push(question);
            Ok(())
        })
    }

    /// Replaces the question with the same id.
    pub fn change_question(
        &self,
        gate: GateId,
        question: InformationField,
        now: Timestamp,
    ) -> Result<Self, FieldErrors> {
        self.change_questions(gate, now, |questions| {
            let place = place_of(questions, question.id)?;
            questions[place] = question;
            Ok(())
        })
    }

    /// Moves a question to an index.
    pub fn move_question(
        &self,
        gate: GateId,
        question: FieldId,
        to: usize,
        now: Timestamp,
    ) -> Result<Self, FieldErrors> {
        self.change_questions(gate, now, |questions| {
            let from = place_of(questions, question)?;
            move_item(questions, from, to)
        })
    }

    /// Removes a question.
    pub fn remove_question(&self, gate: GateId, question: FieldId, now: Timestamp) -> Result<Self, FieldErrors> {
        self.change_questions(gate, now, |questions| {
            let place = place_of(questions, question)?;
            questions.remove(place);
            Ok(())
        })
    }

    fn change_questions(
        &self,
        gate: GateId,
        now: Timestamp,
        change: impl FnOnce(&mut Vec<InformationField>) -> Result<(), FieldErrors>,
    ) -> Result<Self, FieldErrors> {
        let mut draft = self.to_be_edited(now)?;
        let mut rule = draft.gate_mut(gate)?.rule.clone();
        let GateRule::InformationRequest { fields, .. } = &mut rule else {
            return Err(FieldErrors::one("gate_id", FieldCode::WrongState, "asks no questions"));
        };
        change(fields)?;
        draft.gate_mut(gate)?.rule = self.checked(rule)?;
        Ok(draft)
    }
}

fn place_of(questions: &[InformationField], id: FieldId) -> Result<usize, FieldErrors> {
    questions.iter().position(|question| question.id == id).ok_or_else(|| unknown("question_id", "question"))
}

#[cfg(test)]
mod tests {
    use super::super::super::AgreementKind;
    use super::super::super::fixtures::{Deal, draft, label, noon, question, waiting};
    use super::super::tests::refused;
    use super::*;

    #[test]
    fn questions_are_added_once_changed_moved_and_removed() {
        let draft = Deal::complete().draft;
        let gate = draft.stages[2].gates[1].id;
        let texts = |draft: &Agreement| match &draft.gate(gate).unwrap().rule {
            GateRule::InformationRequest { fields, .. } => {
                fields.iter().map(|field| field.label.as_str().to_owned()).collect::<Vec<_>>()
            }
            other => panic!("{other:?}"),
        };
        let (who, when) = (question("Who?"), question("When?"));
        let draft = draft.put_question(gate, who.clone(), noon()).unwrap();
        let draft = draft.put_question(gate, when.clone(), noon()).unwrap();
        assert_eq!(draft.put_question(gate, who.clone(), noon()).unwrap(), draft, "once");
        assert_eq!(texts(&draft), ["Why?", "Who?", "When?"]);
        let draft = draft.move_question(gate, when.id, 0, noon()).unwrap();
        let renamed = InformationField { label: label("Whose?"), ..who.clone() };
        let draft = draft.change_question(gate, renamed, noon()).unwrap();
        assert_eq!(texts(&draft), ["When?", "Why?", "Whose?"]);
        let draft = draft.remove_question(gate, when.id, noon()).unwrap();
        assert_eq!(texts(&draft), ["Why?", "Whose?"]);
        refused(draft.remove_question(gate, when.id, noon()), "question_id", FieldCode::NotFound);
        refused(draft.change_question(gate, when.clone(), noon()), "question_id", FieldCode::NotFound);
        refused(draft.move_question(gate, who.id, 2, noon()), "position", FieldCode::OutOfRange);
        refused(draft.put_question(GateId::new(), when, noon()), "gate_id", FieldCode::NotFound);
    }

    #[test]
    fn only_an_information_request_asks() {
        let (draft, stage) = draft(AgreementKind::General).add_stage(label("A"), [].into(), noon()).unwrap();
        let (draft, gate) = draft.add_gate(stage, waiting(1), noon()).unwrap();
        refused(draft.put_question(gate, question("Why?"), noon()), "gate_id", FieldCode::WrongState);
    }
}
