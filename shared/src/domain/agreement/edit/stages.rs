use std::collections::BTreeSet;

use super::{Edited, check_limit, move_item, unknown};
use crate::domain::agreement::gate::{Countdown, FieldType, Gate, GateRule, GateState, InformationField};
use crate::domain::agreement::{Agreement, Label, Stage, StageAction, StageState};
use crate::domain::ids::{GateId, SignatureBlockId, StageId};
use crate::domain::time::Timestamp;
use crate::limits;
use crate::wire::fields::{FieldCode, FieldErrors};

impl Agreement {
    /// Appends a stage.
    pub fn add_stage(&self, name: Label, actions: BTreeSet<StageAction>, now: Timestamp) -> Edited<StageId> {
        let id = StageId::new();
        Ok((self.put_stage(id, name, actions, now)?, id))
    }

    /// Appends a stage with the id from its form; no change if it exists.
    pub fn put_stage(
        &self,
        id: StageId,
        name: Label,
        actions: BTreeSet<StageAction>,
        now: Timestamp,
    ) -> Result<Self, FieldErrors> {
        let mut draft = self.to_be_edited(now)?;
        if self.stage(id).is_some() {
            return Ok(self.clone());
        }
        check_limit("stages", draft.stages.len(), limits::AGREEMENT_STAGES_MAX)?;
        draft.stages.push(Stage { id, name, state: StageState::Upcoming, actions, gates: Vec::new() });
        Ok(draft)
    }

    /// Sets a stage's name and actions.
    pub fn change_stage(
        &self,
        stage: StageId,
        name: Label,
        actions: BTreeSet<StageAction>,
        now: Timestamp,
    ) -> Result<Self, FieldErrors> {
        let mut draft = self.to_be_edited(now)?;
        let changed = draft.stage_mut(stage)?;
        changed.name = name;
        changed.actions = actions;
        Ok(draft)
    }

    /// The stage before one, if neither it nor an earlier stage holds payments back.
    #[must_use]
    pub fn stage_to_hold_back(&self, before: StageId) -> Option<&Stage> {
        let holds_back = [StageAction::OpenMovement, StageAction::ReleaseInstructions];
        let earlier = || self.stages.iter().take_while(|stage| stage.id != before);
        let is_held = earlier().any(|stage| holds_back.iter().any(|action| stage.actions.contains(action)));
        earlier().last().filter(|_| !is_held)
    }

    /// Has the stage before one let members authorize payments, and not before; no change if payments are held back.
    pub fn hold_back(&self, before: StageId, now: Timestamp) -> Result<Self, FieldErrors> {
        let Some(stage) = self.stage_to_hold_back(before) else { return Ok(self.clone()) };
        let actions = stage.actions.iter().copied().chain([StageAction::OpenMovement]).collect();
        self.change_stage(stage.id, stage.name.clone(), actions, now)
    }

    /// Moves a stage to an index.
    pub fn move_stage(&self, stage: StageId, to: usize, now: Timestamp) -> Result<Self, FieldErrors> {
        let mut draft = self.to_be_edited(now)?;
        let from = draft.stages.iter().position(|moved| moved.id == stage);
        move_item(&mut draft.stages, from.ok_or_else(|| unknown("stage_id", "step"))?, to)?;
        Ok(draft)
    }

    /// Removes a stage and its gates.
    pub fn remove_stage(&self, stage: StageId, now: Timestamp) -> Result<Self, FieldErrors> {
        let mut draft = self.to_be_edited(now)?;
        draft.stage_mut(stage)?;
        draft.stages.retain(|kept| kept.id != stage);
        Ok(draft)
    }

    /// Adds a gate to a stage.
    pub fn add_gate(&self, stage: StageId, rule: GateRule, now: Timestamp) -> Edited<GateId> {
        let id = GateId::new();
        Ok((self.put_gate(stage, id, rule, now)?, id))
    }

    /// Adds a gate with the id from its form; no change if it exists.
    pub fn put_gate(&self, stage: StageId, id: GateId, rule: GateRule, now: Timestamp) -> Result<Self, FieldErrors> {
        let mut draft = self.to_be_edited(now)?;
        if self.gate(id).is_some() {
            return Ok(self.clone());
        }
        let rule = self.checked(rule)?;
        self.check_named(id, &rule)?;
        let stage = draft.stage_mut(stage)?;
        check_limit("gates", stage.gates.len(), limits::STAGE_GATES_MAX)?;
        stage.gates.push(Gate { id, rule, state: GateState::Locked });
        Ok(draft)
    }

    /// Moves a gate to an index in its stage.
    pub fn move_gate(&self, gate: GateId, to: usize, now: Timestamp) -> Result<Self, FieldErrors> {
        let mut draft = self.to_be_edited(now)?;
        let place = |stage: &Stage| stage.gates.iter().position(|moved| moved.id == gate);
        let stage = draft.stages.iter_mut().find_map(|stage| Some((place(stage)?, stage)));
        let (from, stage) = stage.ok_or_else(|| unknown("gate_id", "condition"))?;
        move_item(&mut stage.gates, from, to)?;
        Ok(draft)
    }

    /// Replaces a gate's settings or type.
    pub fn change_gate(&self, gate: GateId, rule: GateRule, now: Timestamp) -> Result<Self, FieldErrors> {
        let mut draft = self.to_be_edited(now)?;
        let rule = self.checked(rule)?;
        self.check_named(gate, &rule)?;
        draft.gate_mut(gate)?.rule = rule;
        Ok(draft)
    }

    /// Removes a gate.
    pub fn remove_gate(&self, gate: GateId, now: Timestamp) -> Result<Self, FieldErrors> {
        let mut draft = self.to_be_edited(now)?;
        draft.gate_mut(gate)?;
        for stage in &mut draft.stages {
            stage.gates.retain(|kept| kept.id != gate);
        }
        Ok(draft)
    }

    fn check_named(&self, gate: GateId, rule: &GateRule) -> Result<(), FieldErrors> {
        let others = self.stages.iter().flat_map(|stage| &stage.gates).filter(|other| other.id != gate);
        let rules = others.map(|other| &other.rule).chain([rule]);
        let named: usize = rules.filter_map(GateRule::participant_ids).map(BTreeSet::len).sum();
        if named <= limits::NAMED_PARTICIPANTS_MAX {
            return Ok(());
        }
        let message = format!("the conditions may name {} participants in all", limits::NAMED_PARTICIPANTS_MAX);
        Err(FieldErrors::one("participant_ids", FieldCode::LimitReached, message))
    }

    pub(super) fn stage_mut(&mut self, id: StageId) -> Result<&mut Stage, FieldErrors> {
        self.stages.iter_mut().find(|stage| stage.id == id).ok_or_else(|| unknown("stage_id", "step"))
    }

    pub(super) fn gate_mut(&mut self, id: GateId) -> Result<&mut Gate, FieldErrors> {
        let mut gates = self.stages.iter_mut().flat_map(|stage| &mut stage.gates);
        gates.find(|gate| gate.id == id).ok_or_else(|| unknown("gate_id", "condition"))
    }

    pub(super) fn checked(&self, rule: GateRule) -> Result<GateRule, FieldErrors> {
        if let Some(participant_ids) = rule.participant_ids() {
            self.check_participants(participant_ids)?;
        }
        match &rule {
            GateRule::SignatureBlocks { block_ids } => {
                let all: BTreeSet<SignatureBlockId> =
                    self.documents.iter().flat_map(|document| &document.blocks).map(|block| block.id).collect();
                if !block_ids.is_subset(&all) {
                    return Err(unknown("block_ids", "signature block"));
                }
            }
            GateRule::DocumentSigned { document_id: Some(id) } if self.document(*id).is_none() => {
                return Err(unknown("document_id", "document"));
            }
            GateRule::MovementAuthorized { movement_id: Some(id) }
            | GateRule::MovementReconciled { movement_id: Some(id) }
                if !self.facts.movements.contains_key(id) =>
            {
                return Err(unknown("movement_id", "payment"));
            }
            GateRule::Countdown { until: Some(Countdown::AfterHours(hours)) }
                if !(1..=limits::COUNTDOWN_HOURS_MAX).contains(hours) =>
            {
                let message = format!("must be from 1 to {} hours", limits::COUNTDOWN_HOURS_MAX);
                return Err(FieldErrors::one("after_hours", FieldCode::OutOfRange, message));
            }
            GateRule::InformationRequest { fields, .. } => check_questions(fields)?,
            _ => {}
        }
        Ok(rule)
    }
}

fn check_questions(fields: &[InformationField]) -> Result<(), FieldErrors> {
    let mut errors = FieldErrors::default();
    if fields.len() > limits::GATE_FIELDS_MAX {
        let message = format!("at most {} questions", limits::GATE_FIELDS_MAX);
        errors.extend(FieldErrors::one("fields", FieldCode::LimitReached, message));
    }
    for (n, field) in fields.iter().enumerate() {
        let mut wrong =
            |code, message: &str| errors.extend(FieldErrors::one(format!("fields[{n}].options"), code, message));
        let takes_options = matches!(field.field_type, FieldType::Choice | FieldType::MultiChoice);
        let distinct: BTreeSet<&String> = field.options.iter().collect();
        match field.options.len() {
            0 if takes_options => wrong(FieldCode::Required, "must have at least one option"),
            0 => {}
            _ if !takes_options => wrong(FieldCode::InvalidValue, "are only for a choice"),
            count if count > limits::FIELD_OPTIONS_MAX => wrong(FieldCode::LimitReached, "too many options"),
            count if count != distinct.len() => wrong(FieldCode::InvalidValue, "must each be different"),
            _ if field
                .options
                .iter()
                .any(|option| crate::wire::text::check_line(option, limits::NAME_CHARS_MAX).as_ref() != Ok(option)) =>
            {
                wrong(FieldCode::InvalidValue, "must each be one line of 1 to 200 characters");
            }
            _ => {}
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

#[cfg(test)]
mod tests {
    use super::super::super::fixtures::{Deal, label, noon, question};
    use super::super::tests::refused;
    use super::*;
    use crate::domain::agreement::gate::RequestedFile;
    use crate::domain::ids::{DocumentId, MovementId, ParticipantId};

    #[test]
    fn a_stage_goes_where_it_is_put() {
        let draft = Deal::complete().draft;
        let order = |draft: &Agreement| draft.stages.iter().map(|stage| stage.id).collect::<Vec<_>>();
        let [first, second, third] = order(&draft)[..] else { panic!("three stages") };
        for (stage, to, expected) in [
            (first, 0, [first, second, third]),
            (first, 1, [second, first, third]),
            (first, 2, [second, third, first]),
            (third, 0, [third, first, second]),
            (second, 2, [first, third, second]),
        ] {
            assert_eq!(order(&draft.move_stage(stage, to, noon()).unwrap()), expected);
        }
        refused(draft.move_stage(first, 3, noon()), "position", FieldCode::OutOfRange);
        refused(draft.move_stage(StageId::new(), 0, noon()), "stage_id", FieldCode::NotFound);
    }

    #[test]
    fn what_a_gate_names_must_be_there() {
        let draft = Deal::complete().draft;
        let stage = draft.stages[0].id;
        let nobody: BTreeSet<ParticipantId> = [draft.participants[0].id, ParticipantId::new()].into();
        let add = |rule| draft.add_gate(stage, rule, noon());
        for rule in [
            GateRule::ParticipantApproval { participant_ids: nobody.clone() },
            GateRule::FileUpload { participant_ids: nobody.clone(), file: RequestedFile::default() },
            GateRule::InformationRequest { participant_ids: nobody.clone(), fields: vec![question("Why?")] },
            GateRule::IdentityVerified { participant_ids: nobody },
        ] {
            refused(add(rule.clone()), "participant_ids", FieldCode::NotFound);
            refused(
                draft.change_gate(draft.stages[0].gates[0].id, rule, noon()),
                "participant_ids",
                FieldCode::NotFound,
            );
        }
        let block_ids = [SignatureBlockId::new()].into();
        refused(add(GateRule::SignatureBlocks { block_ids }), "block_ids", FieldCode::NotFound);
        let document_id = Some(DocumentId::new());
        refused(add(GateRule::DocumentSigned { document_id }), "document_id", FieldCode::NotFound);
        let movement_id = Some(MovementId::new());
        refused(add(GateRule::MovementReconciled { movement_id }), "movement_id", FieldCode::NotFound);
        for hours in [0, limits::COUNTDOWN_HOURS_MAX + 1] {
            let until = Some(Countdown::AfterHours(hours));
            refused(add(GateRule::Countdown { until }), "after_hours", FieldCode::OutOfRange);
        }
        for rule in [
            GateRule::SignatureBlocks { block_ids: [].into() },
            GateRule::DocumentSigned { document_id: None },
            GateRule::ParticipantApproval { participant_ids: [].into() },
            GateRule::FileUpload { participant_ids: [].into(), file: RequestedFile::default() },
            GateRule::Countdown { until: None },
            GateRule::Countdown { until: Some(Countdown::At(noon())) },
            GateRule::MovementAuthorized { movement_id: None },
            GateRule::MovementReconciled { movement_id: None },
            GateRule::InformationRequest { participant_ids: [].into(), fields: Vec::new() },
            GateRule::IdentityVerified { participant_ids: [].into() },
        ] {
            add(rule).unwrap();
        }
        let elsewhere = StageId::new();
        refused(
            draft.add_gate(elsewhere, GateRule::Countdown { until: None }, noon()),
            "stage_id",
            FieldCode::NotFound,
        );
        refused(draft.change_stage(elsewhere, label("A"), [].into(), noon()), "stage_id", FieldCode::NotFound);
        refused(draft.remove_stage(elsewhere, noon()), "stage_id", FieldCode::NotFound);
        refused(draft.remove_gate(GateId::new(), noon()), "gate_id", FieldCode::NotFound);
        let (document, participant) = (draft.documents[0].id, draft.participants[0].id);
        let block = |document, participant| draft.add_signature_block(document, participant, label("A"), noon());
        refused(block(DocumentId::new(), participant), "document_id", FieldCode::NotFound);
        refused(block(document, ParticipantId::new()), "participant_ids", FieldCode::NotFound);
    }

    #[test]
    fn questions_that_make_no_sense_are_refused() {
        let draft = Deal::complete().draft;
        let ask = |fields| {
            let participant_ids = [].into();
            draft.add_gate(draft.stages[0].id, GateRule::InformationRequest { participant_ids, fields }, noon())
        };
        let of = |field_type, options: &[&str]| InformationField {
            field_type,
            options: options.iter().map(|option| (*option).to_owned()).collect(),
            ..question("Which?")
        };
        for (field, code) in [
            (of(FieldType::Choice, &[]), FieldCode::Required),
            (of(FieldType::MultiChoice, &[]), FieldCode::Required),
            (of(FieldType::Text, &["a"]), FieldCode::InvalidValue),
            (of(FieldType::Choice, &["a", "a"]), FieldCode::InvalidValue),
            (of(FieldType::Choice, &["a", " b"]), FieldCode::InvalidValue),
            (of(FieldType::Choice, &["a", ""]), FieldCode::InvalidValue),
        ] {
            refused(ask(vec![question("Why?"), field]), "fields[1].options", code);
        }
        ask(vec![of(FieldType::Choice, &["a", "b"]), of(FieldType::MultiChoice, &["c"])]).unwrap();
        refused(ask(vec![question("Why?"); limits::GATE_FIELDS_MAX + 1]), "fields", FieldCode::LimitReached);
    }
}
