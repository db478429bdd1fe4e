//! Setting up a draft: stages, gates, documents, signature blocks, terms, expiry. Pure, and each act gives the whole
//! draft as it is after it; what is missing is no error here but a blocker. Fields of errors are those of the forms.
//!
//! What something else of the draft names can't be removed before that is changed: a condition never comes to ask for
//! less because of an edit elsewhere. Whatever is edited goes through [`super::draft`] on its way to the store.

use std::collections::BTreeSet;

use super::gate::{Countdown, FieldType, Gate, GateRule, GateState, InformationField};
use super::{
    Agreement, AgreementKind, Document, DocumentContent, DocumentState, Label, Life, SafeTerms, SignatureBlock, Stage,
    StageAction, StageState,
};
use crate::domain::ids::{DocumentId, GateId, ParticipantId, SignatureBlockId, StageId};
use crate::domain::time::Timestamp;
use crate::limits;
use crate::wire::fields::{FieldCode, FieldErrors};

/// What an edit gives: the draft after it, and the id of what it made.
pub type Made<Id> = Result<(Agreement, Id), FieldErrors>;

impl Agreement {
    /// Adds a stage at the end.
    ///
    /// # Errors
    /// `wrong_state` when it is no draft, `limit_reached`.
    pub fn add_stage(&self, name: Label, actions: BTreeSet<StageAction>, now: Timestamp) -> Made<StageId> {
        let mut draft = self.to_be_edited(now)?;
        check_limit("stages", draft.stages.len(), limits::AGREEMENT_STAGES_MAX)?;
        let id = StageId::new();
        draft.stages.push(Stage { id, name, state: StageState::Upcoming, actions, gates: Vec::new() });
        Ok((draft, id))
    }

    /// Gives a stage another name.
    ///
    /// # Errors
    /// `wrong_state` when it is no draft, `not_found` when it has no such stage.
    pub fn rename_stage(&self, stage: StageId, name: Label, now: Timestamp) -> Result<Self, FieldErrors> {
        let mut draft = self.to_be_edited(now)?;
        draft.stage_mut(stage)?.name = name;
        Ok(draft)
    }

    /// Moves a stage to another place, counted from 0; the others close up.
    ///
    /// # Errors
    /// `wrong_state` when it is no draft, `not_found` when it has no such stage, `out_of_range` when it has no such place.
    pub fn move_stage(&self, stage: StageId, to: usize, now: Timestamp) -> Result<Self, FieldErrors> {
        let mut draft = self.to_be_edited(now)?;
        let from = draft.stages.iter().position(|moved| moved.id == stage);
        let from = from.ok_or_else(|| unknown("stage_id", "step"))?;
        if to >= draft.stages.len() {
            let message = format!("must be one of the {} places", draft.stages.len());
            return Err(FieldErrors::one("position", FieldCode::OutOfRange, message));
        }
        let moved = draft.stages.remove(from);
        draft.stages.insert(to, moved);
        Ok(draft)
    }

    /// Removes a stage with its gates.
    ///
    /// # Errors
    /// `wrong_state` when it is no draft, `not_found` when it has no such stage.
    pub fn remove_stage(&self, stage: StageId, now: Timestamp) -> Result<Self, FieldErrors> {
        let mut draft = self.to_be_edited(now)?;
        draft.stage_mut(stage)?;
        draft.stages.retain(|kept| kept.id != stage);
        Ok(draft)
    }

    /// Adds a gate to a stage.
    ///
    /// # Errors
    /// `wrong_state` when it is no draft, `not_found` for what the draft does not have, `limit_reached`, and what is
    /// wrong with its settings.
    pub fn add_gate(&self, stage: StageId, rule: GateRule, now: Timestamp) -> Made<GateId> {
        let mut draft = self.to_be_edited(now)?;
        let rule = self.checked(rule)?;
        let stage = draft.stage_mut(stage)?;
        check_limit("gates", stage.gates.len(), limits::STAGE_GATES_MAX)?;
        let id = GateId::new();
        stage.gates.push(Gate { id, rule, state: GateState::Locked });
        Ok((draft, id))
    }

    /// Gives a gate other settings, or another type.
    ///
    /// # Errors
    /// `wrong_state` when it is no draft, `not_found` for what the draft does not have, and what is wrong with the
    /// settings.
    pub fn change_gate(&self, gate: GateId, rule: GateRule, now: Timestamp) -> Result<Self, FieldErrors> {
        let mut draft = self.to_be_edited(now)?;
        let rule = self.checked(rule)?;
        draft.gate_mut(gate)?.rule = rule;
        Ok(draft)
    }

    /// Removes a gate.
    ///
    /// # Errors
    /// `wrong_state` when it is no draft, `not_found` when it has no such gate.
    pub fn remove_gate(&self, gate: GateId, now: Timestamp) -> Result<Self, FieldErrors> {
        let mut draft = self.to_be_edited(now)?;
        draft.gate_mut(gate)?;
        for stage in &mut draft.stages {
            stage.gates.retain(|kept| kept.id != gate);
        }
        Ok(draft)
    }

    /// Adds a document; its file may come later.
    ///
    /// # Errors
    /// `wrong_state` when it is no draft, `limit_reached`.
    pub fn add_document(&self, name: Label, content: Option<DocumentContent>, now: Timestamp) -> Made<DocumentId> {
        let mut draft = self.to_be_edited(now)?;
        check_limit("documents", draft.documents.len(), limits::AGREEMENT_DOCUMENTS_MAX)?;
        let id = DocumentId::new();
        let document = Document { id, name, content, state: DocumentState::Draft, blocks: Vec::new() };
        draft.documents.push(document);
        Ok((draft, id))
    }

    /// Gives a document another name.
    ///
    /// # Errors
    /// `wrong_state` when it is no draft, `not_found` when it has no such document.
    pub fn rename_document(&self, document: DocumentId, name: Label, now: Timestamp) -> Result<Self, FieldErrors> {
        let mut draft = self.to_be_edited(now)?;
        draft.document_mut(document)?.name = name;
        Ok(draft)
    }

    /// Gives a document a file, in the place of the one that it may have. Its signature blocks stay.
    ///
    /// # Errors
    /// `wrong_state` when it is no draft, `not_found` when it has no such document.
    pub fn set_file(
        &self,
        document: DocumentId,
        content: DocumentContent,
        now: Timestamp,
    ) -> Result<Self, FieldErrors> {
        let mut draft = self.to_be_edited(now)?;
        draft.document_mut(document)?.content = Some(content);
        Ok(draft)
    }

    /// Removes a document with its signature blocks.
    ///
    /// # Errors
    /// `wrong_state` when it is no draft or a gate names the document or one of its blocks, `not_found` when it has no
    /// such document.
    pub fn remove_document(&self, document: DocumentId, now: Timestamp) -> Result<Self, FieldErrors> {
        let mut draft = self.to_be_edited(now)?;
        let blocks: BTreeSet<SignatureBlockId> =
            draft.document_mut(document)?.blocks.iter().map(|block| block.id).collect();
        self.check_unnamed("document_id", |rule| match rule {
            GateRule::DocumentSigned { document_id } => *document_id == Some(document),
            GateRule::SignatureBlocks { block_ids } => !block_ids.is_disjoint(&blocks),
            _ => false,
        })?;
        draft.documents.retain(|kept| kept.id != document);
        Ok(draft)
    }

    /// Gives a signature block another label.
    ///
    /// # Errors
    /// `wrong_state` when it is no draft, `not_found` when it has no such block.
    pub fn rename_signature_block(
        &self,
        block: SignatureBlockId,
        label: Label,
        now: Timestamp,
    ) -> Result<Self, FieldErrors> {
        let mut draft = self.to_be_edited(now)?;
        draft.block_mut(block)?.label = label;
        Ok(draft)
    }

    /// Removes a signature block.
    ///
    /// # Errors
    /// `wrong_state` when it is no draft or a gate names the block, `not_found` when it has no such block.
    pub fn remove_signature_block(&self, block: SignatureBlockId, now: Timestamp) -> Result<Self, FieldErrors> {
        let mut draft = self.to_be_edited(now)?;
        draft.block_mut(block)?;
        self.check_unnamed(
            "block_id",
            |rule| matches!(rule, GateRule::SignatureBlocks { block_ids } if block_ids.contains(&block)),
        )?;
        for document in &mut draft.documents {
            document.blocks.retain(|kept| kept.id != block);
        }
        Ok(draft)
    }

    /// Removes a participant. Their contact stays among the workspace's people.
    ///
    /// # Errors
    /// `wrong_state` when it is no draft, or a gate or a signature block names them, with an entry for each; `not_found`
    /// when it has no such participant.
    pub fn remove_participant(&self, participant: ParticipantId, now: Timestamp) -> Result<Self, FieldErrors> {
        let mut draft = self.to_be_edited(now)?;
        if self.participant(participant).is_none() {
            return Err(unknown("participant_id", "participant"));
        }
        let named = self.check_unnamed(
            "participant_id",
            |rule| matches!(rule.participant_ids(), Some(ids) if ids.contains(&participant)),
        );
        let mut errors = named.err().unwrap_or_default();
        for document in &self.documents {
            if document.blocks.iter().any(|block| block.participant_id == participant) {
                let message = format!("signs “{}”; remove that signature block first", document.name.as_str());
                errors.extend(FieldErrors::one("participant_id", FieldCode::WrongState, message));
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        draft.participants.retain(|kept| kept.id != participant);
        Ok(draft)
    }

    /// Adds a place where a participant signs a document.
    ///
    /// # Errors
    /// `wrong_state` when it is no draft, `not_found` for what the draft does not have, `limit_reached`.
    pub fn add_signature_block(
        &self,
        document: DocumentId,
        participant: ParticipantId,
        label: Label,
        now: Timestamp,
    ) -> Made<SignatureBlockId> {
        let mut draft = self.to_be_edited(now)?;
        self.check_participants(&BTreeSet::from([participant]))?;
        let blocks = draft.documents.iter().map(|document| document.blocks.len()).sum();
        check_limit("signature_blocks", blocks, limits::AGREEMENT_BLOCKS_MAX)?;
        let id = SignatureBlockId::new();
        draft.document_mut(document)?.blocks.push(SignatureBlock { id, participant_id: participant, label });
        Ok((draft, id))
    }

    /// Sets the terms of a SAFE; what is left open is a blocker.
    ///
    /// # Errors
    /// `wrong_state` when it is no draft or no SAFE, and what is wrong with each term.
    pub fn set_terms(&self, terms: SafeTerms, now: Timestamp) -> Result<Self, FieldErrors> {
        let mut draft = self.to_be_edited(now)?;
        if self.kind != AgreementKind::Safe {
            return Err(FieldErrors::one("terms", FieldCode::WrongState, "only a SAFE has such terms"));
        }
        check_terms(&terms)?;
        draft.terms = Some(terms);
        Ok(draft)
    }

    /// Sets when the agreement ends if it is not completed by then, or that it does not. A moment in the past is a
    /// blocker, not an error: time passes while a draft is set up.
    ///
    /// # Errors
    /// `wrong_state` when it is no draft.
    pub fn set_expiry(&self, expires_at: Option<Timestamp>, now: Timestamp) -> Result<Self, FieldErrors> {
        let mut draft = self.to_be_edited(now)?;
        draft.expires_at = expires_at;
        Ok(draft)
    }

    fn to_be_edited(&self, now: Timestamp) -> Result<Self, FieldErrors> {
        if self.life != Life::Draft {
            let message = "only a draft can be changed";
            return Err(FieldErrors::one("agreement_id", FieldCode::WrongState, message));
        }
        // Acts that meet are decided in another order than they came in.
        Ok(Self { updated_at: now.max(self.updated_at), ..self.clone() })
    }

    fn stage_mut(&mut self, id: StageId) -> Result<&mut Stage, FieldErrors> {
        self.stages.iter_mut().find(|stage| stage.id == id).ok_or_else(|| unknown("stage_id", "step"))
    }

    fn gate_mut(&mut self, id: GateId) -> Result<&mut Gate, FieldErrors> {
        let mut gates = self.stages.iter_mut().flat_map(|stage| &mut stage.gates);
        gates.find(|gate| gate.id == id).ok_or_else(|| unknown("gate_id", "condition"))
    }

    fn document_mut(&mut self, id: DocumentId) -> Result<&mut Document, FieldErrors> {
        self.documents.iter_mut().find(|document| document.id == id).ok_or_else(|| unknown("document_id", "document"))
    }

    fn block_mut(&mut self, id: SignatureBlockId) -> Result<&mut SignatureBlock, FieldErrors> {
        let mut blocks = self.documents.iter_mut().flat_map(|document| &mut document.blocks);
        blocks.find(|block| block.id == id).ok_or_else(|| unknown("block_id", "signature block"))
    }

    /// Refuses while a gate names something, with an entry for each step that has such gates.
    fn check_unnamed(&self, field: &str, names: impl Fn(&GateRule) -> bool) -> Result<(), FieldErrors> {
        let mut errors = FieldErrors::default();
        for stage in self.stages.iter().filter(|stage| stage.gates.iter().any(|gate| names(&gate.rule))) {
            let message = format!("is named by a condition of the step “{}”; change that first", stage.name.as_str());
            errors.extend(FieldErrors::one(field, FieldCode::WrongState, message));
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    fn check_participants(&self, ids: &BTreeSet<ParticipantId>) -> Result<(), FieldErrors> {
        if ids.iter().all(|id| self.participant(*id).is_some()) {
            Ok(())
        } else {
            Err(unknown("participant_ids", "participant"))
        }
    }

    /// The settings of a gate, if all that they name is there. What is not named yet is a blocker.
    fn checked(&self, rule: GateRule) -> Result<GateRule, FieldErrors> {
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

fn unknown(field: &str, what: &str) -> FieldErrors {
    FieldErrors::one(field, FieldCode::NotFound, format!("is no {what} of this agreement"))
}

fn check_limit(what: &str, count: usize, max: usize) -> Result<(), FieldErrors> {
    if count < max { Ok(()) } else { Err(FieldErrors::one(what, FieldCode::LimitReached, format!("at most {max}"))) }
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
            0 if takes_options => wrong(FieldCode::Required, "what can be chosen"),
            0 => {}
            _ if !takes_options => wrong(FieldCode::InvalidValue, "only for a choice"),
            count if count > limits::FIELD_OPTIONS_MAX => wrong(FieldCode::LimitReached, "too many options"),
            count if count != distinct.len() => wrong(FieldCode::InvalidValue, "each option once"),
            _ if field.options.iter().any(|option| {
                crate::wire::input::check_text(option, limits::NAME_CHARS_MAX).as_ref() != Ok(option)
            }) =>
            {
                wrong(FieldCode::InvalidValue, "an option is one line of 1 to 200 characters");
            }
            _ => {}
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

fn check_terms(terms: &SafeTerms) -> Result<(), FieldErrors> {
    let mut errors = FieldErrors::default();
    let mut wrong =
        |field: &str, code, message: &str| errors.extend(FieldErrors::one(format!("terms.{field}"), code, message));
    let amounts = [
        ("investment_amount_minor", terms.investment_amount_minor),
        ("valuation_cap_minor", terms.valuation_cap_minor),
    ];
    for (field, amount) in amounts {
        if amount.is_some_and(|amount| amount <= 0) {
            wrong(field, FieldCode::OutOfRange, "must be more than zero");
        }
    }
    let is_currency = |code: &String| code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_uppercase());
    if terms.currency.as_ref().is_some_and(|code| !is_currency(code)) {
        wrong("currency", FieldCode::InvalidFormat, "must be a currency of ISO 4217, such as USD");
    }
    if terms.discount_rate.as_deref().is_some_and(|rate| !is_rate(rate)) {
        wrong(
            "discount_rate",
            FieldCode::InvalidFormat,
            "must be a decimal between 0 and 1 such as 0.20, for 20 % off",
        );
    }
    let law = terms.governing_law.as_ref();
    if law.is_some_and(|law| crate::wire::input::check_text(law, limits::NAME_CHARS_MAX).as_ref() != Ok(law)) {
        wrong("governing_law", FieldCode::InvalidValue, "must be one line of 1 to 200 characters");
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// A discount as it is written, in one form only: `0.` and two digits, or up to four of which the last is not zero.
fn is_rate(text: &str) -> bool {
    const DIGITS: usize = 2;
    const DIGITS_MAX: usize = 4;
    let digits = text.strip_prefix("0.").unwrap_or_default();
    let is_shortest = digits.len() == DIGITS || !digits.ends_with('0');
    (DIGITS..=DIGITS_MAX).contains(&digits.len())
        && is_shortest
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && digits.bytes().any(|byte| byte != b'0')
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{Deal, draft, label, noon, published, question};
    use super::super::{ConversionTiming, DocumentContent};
    use super::*;
    use crate::domain::ids::MovementId;

    fn code<T: std::fmt::Debug>(refused: Result<T, FieldErrors>) -> (String, FieldCode) {
        let error = refused.unwrap_err().into_list().remove(0);
        (error.field, error.code)
    }

    fn refused<T: std::fmt::Debug>(result: Result<T, FieldErrors>, field: &str, expected: FieldCode) {
        assert_eq!(code(result), (field.to_owned(), expected));
    }

    #[test]
    fn only_a_draft_can_be_changed() {
        let live = published(&Deal::complete().draft);
        let (stage, document) = (live.stages[0].id, live.documents[0].id);
        let (gate, participant) = (live.stages[0].gates[0].id, live.participants[0].id);
        let rule = GateRule::Countdown { until: None };
        let wrong = ("agreement_id".to_owned(), FieldCode::WrongState);
        assert_eq!(code(live.add_stage(label("A"), [].into(), noon())), wrong);
        assert_eq!(code(live.rename_stage(stage, label("A"), noon())), wrong);
        assert_eq!(code(live.remove_stage(stage, noon())), wrong);
        assert_eq!(code(live.add_gate(stage, rule.clone(), noon())), wrong);
        assert_eq!(code(live.change_gate(gate, rule, noon())), wrong);
        assert_eq!(code(live.remove_gate(gate, noon())), wrong);
        assert_eq!(code(live.add_document(label("A"), None, noon())), wrong);
        assert_eq!(code(live.add_signature_block(document, participant, label("A"), noon())), wrong);
        let content = DocumentContent { sha256: "0".repeat(64), size_bytes: 9 };
        let block = live.documents[0].blocks[0].id;
        assert_eq!(code(live.move_stage(stage, 1, noon())), wrong);
        assert_eq!(code(live.rename_document(document, label("A"), noon())), wrong);
        assert_eq!(code(live.set_file(document, content, noon())), wrong);
        assert_eq!(code(live.remove_document(document, noon())), wrong);
        assert_eq!(code(live.rename_signature_block(block, label("A"), noon())), wrong);
        assert_eq!(code(live.remove_signature_block(block, noon())), wrong);
        assert_eq!(code(live.remove_participant(participant, noon())), wrong);
        assert_eq!(code(live.set_terms(SafeTerms::default(), noon())), wrong);
        assert_eq!(code(live.set_expiry(None, noon())), wrong);
    }

    #[test]
    fn each_edit_does_what_it_says_and_no_more() {
        let before = Deal::complete().draft;
        let later = noon().plus_seconds(7);
        let (stage, gate) = (before.stages[1].id, before.stages[1].gates[1].id);
        let unchanged = |after: &Agreement, put_back: fn(&Agreement, &mut Agreement)| {
            assert_eq!(after.updated_at, later);
            let mut after = Agreement { updated_at: before.updated_at, ..after.clone() };
            put_back(&before, &mut after);
            assert_eq!(after, before);
        };
        let renamed = before.rename_stage(stage, label("Money"), later).unwrap();
        assert_eq!(renamed.stages[1].name, label("Money"));
        unchanged(&renamed, |before, after| after.stages[1].name = before.stages[1].name.clone());
        let removed = before.remove_stage(stage, later).unwrap();
        assert_eq!(removed.stages.len(), before.stages.len() - 1);
        unchanged(&removed, |before, after| after.stages.insert(1, before.stages[1].clone()));
        let (added, id) = before.add_stage(label("Last"), [StageAction::OpenSigning].into(), later).unwrap();
        assert_eq!(added.stages.last().map(|stage| (stage.id, stage.state)), Some((id, StageState::Upcoming)));
        unchanged(&added, |_, after| drop(after.stages.pop()));
        let changed = before.change_gate(gate, GateRule::Countdown { until: None }, later).unwrap();
        unchanged(&changed, |before, after| after.stages[1].gates[1].rule = before.stages[1].gates[1].rule.clone());
        let removed = before.remove_gate(gate, later).unwrap();
        unchanged(&removed, |before, after| after.stages[1].gates.insert(1, before.stages[1].gates[1].clone()));
        let (added, id) = before.add_gate(stage, GateRule::Countdown { until: None }, later).unwrap();
        assert_eq!(added.stages[1].gates.last().map(|gate| (gate.id, &gate.state)), Some((id, &GateState::Locked)));
        unchanged(&added, |_, after| drop(after.stages[1].gates.pop()));
        let (document, block) = (before.documents[0].id, before.documents[0].blocks[0].id);
        let renamed = before.rename_document(document, label("Deed"), later).unwrap();
        assert_eq!(renamed.documents[0].name, label("Deed"));
        unchanged(&renamed, |before, after| after.documents[0].name = before.documents[0].name.clone());
        let content = DocumentContent { sha256: "1".repeat(64), size_bytes: 7 };
        let filed = before.set_file(document, content.clone(), later).unwrap();
        assert_eq!(filed.documents[0].content, Some(content));
        unchanged(&filed, |before, after| after.documents[0].content = before.documents[0].content.clone());
        let renamed = before.rename_signature_block(block, label("Here"), later).unwrap();
        assert_eq!(renamed.documents[0].blocks[0].label, label("Here"));
        unchanged(&renamed, |before, after| {
            after.documents[0].blocks[0].label = before.documents[0].blocks[0].label.clone();
        });
        let watcher = before.participants[2].id;
        let removed = before.remove_participant(watcher, later).unwrap();
        assert_eq!(removed.participant(watcher), None);
        unchanged(&removed, |before, after| after.participants.push(before.participants[2].clone()));
        unchanged(&before.set_expiry(None, later).unwrap(), |before, after| after.expires_at = before.expires_at);
        let earlier = before.set_expiry(None, noon().plus_seconds(-9)).unwrap();
        assert_eq!(earlier.updated_at, before.updated_at, "time does not run backwards");
    }

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
    fn what_something_names_stays_until_that_is_changed() {
        let mut draft = Deal::complete().draft;
        let (document, block) = (draft.documents[0].id, draft.documents[0].blocks[0].id);
        let (investor, issuer) = (draft.participants[0].id, draft.participants[1].id);
        refused(draft.remove_document(document, noon()), "document_id", FieldCode::WrongState);
        refused(draft.remove_signature_block(block, noon()), "block_id", FieldCode::WrongState);
        refused(draft.remove_participant(issuer, noon()), "participant_id", FieldCode::WrongState);
        let told = draft.remove_participant(investor, noon()).unwrap_err().into_list();
        assert_eq!(told.len(), 4, "an entry for each of the three steps, and for the document: {told:?}");
        assert!(told[3].message.contains("“SAFE”"), "{told:?}");

        for stage in draft.stages.clone() {
            draft = draft.remove_stage(stage.id, noon()).unwrap();
        }
        let told = draft.remove_participant(investor, noon()).unwrap_err().into_list();
        assert_eq!(told.len(), 1, "still signs: {told:?}");
        let without_document = draft.remove_document(document, noon()).unwrap();
        assert_eq!(without_document.documents, []);
        assert!(without_document.remove_participant(investor, noon()).is_ok());
        let without_block = draft.remove_signature_block(block, noon()).unwrap();
        assert_eq!((without_block.documents.len(), &without_block.documents[0].blocks), (1, &Vec::new()));
        let alone = without_block.remove_participant(investor, noon()).unwrap();
        assert!(alone.remove_participant(issuer, noon()).is_ok());

        refused(alone.remove_participant(investor, noon()), "participant_id", FieldCode::NotFound);
        refused(alone.remove_signature_block(block, noon()), "block_id", FieldCode::NotFound);
        refused(alone.rename_signature_block(block, label("A"), noon()), "block_id", FieldCode::NotFound);
        let elsewhere = DocumentId::new();
        refused(alone.remove_document(elsewhere, noon()), "document_id", FieldCode::NotFound);
        refused(alone.rename_document(elsewhere, label("A"), noon()), "document_id", FieldCode::NotFound);
        let content = DocumentContent { sha256: "1".repeat(64), size_bytes: 7 };
        refused(alone.set_file(elsewhere, content, noon()), "document_id", FieldCode::NotFound);
    }

    #[test]
    fn what_a_gate_names_must_be_there() {
        let draft = Deal::complete().draft;
        let stage = draft.stages[0].id;
        let nobody: BTreeSet<ParticipantId> = [draft.participants[0].id, ParticipantId::new()].into();
        let add = |rule| draft.add_gate(stage, rule, noon());
        for rule in [
            GateRule::ParticipantApproval { participant_ids: nobody.clone() },
            GateRule::FileUpload { participant_ids: nobody.clone() },
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
        for hours in [0, limits::COUNTDOWN_HOURS_MAX + 1] {
            let until = Some(Countdown::AfterHours(hours));
            refused(add(GateRule::Countdown { until }), "after_hours", FieldCode::OutOfRange);
        }
        // What is not chosen yet is a blocker, and no error.
        for rule in [
            GateRule::SignatureBlocks { block_ids: [].into() },
            GateRule::DocumentSigned { document_id: None },
            GateRule::ParticipantApproval { participant_ids: [].into() },
            GateRule::FileUpload { participant_ids: [].into() },
            GateRule::Countdown { until: None },
            GateRule::Countdown { until: Some(Countdown::At(noon())) },
            GateRule::MovementAuthorized { movement_id: None },
            GateRule::MovementReconciled { movement_id: Some(MovementId::new()) },
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
        refused(draft.rename_stage(elsewhere, label("A"), noon()), "stage_id", FieldCode::NotFound);
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

    #[test]
    fn there_are_limits_to_everything() {
        let mut draft = Deal::complete().draft;
        let (stage, document, participant) = (draft.stages[2].id, draft.documents[0].id, draft.participants[0].id);
        while let Ok((more, _)) = draft.add_stage(label("More"), [].into(), noon()) {
            draft = more;
        }
        refused(draft.add_stage(label("More"), [].into(), noon()), "stages", FieldCode::LimitReached);
        while let Ok((more, _)) = draft.add_gate(stage, GateRule::Countdown { until: None }, noon()) {
            draft = more;
        }
        refused(draft.add_gate(stage, GateRule::Countdown { until: None }, noon()), "gates", FieldCode::LimitReached);
        while let Ok((more, _)) = draft.add_document(label("More"), None, noon()) {
            draft = more;
        }
        refused(draft.add_document(label("More"), None, noon()), "documents", FieldCode::LimitReached);
        while let Ok((more, _)) = draft.add_signature_block(document, participant, label("More"), noon()) {
            draft = more;
        }
        let one_more = draft.add_signature_block(draft.documents[1].id, participant, label("More"), noon());
        refused(one_more, "signature_blocks", FieldCode::LimitReached);
        assert_eq!((draft.stages.len(), draft.stages[2].gates.len()), (50, 20));
        let blocks: usize = draft.documents.iter().map(|document| document.blocks.len()).sum();
        assert_eq!((draft.documents.len(), blocks), (50, 200));
    }

    #[test]
    fn terms_are_of_a_safe_and_make_sense() {
        let general = draft(AgreementKind::General);
        refused(general.set_terms(SafeTerms::default(), noon()), "terms", FieldCode::WrongState);
        let safe = draft(AgreementKind::Safe);
        let with = |change: fn(&mut SafeTerms)| {
            let mut terms = SafeTerms::default();
            change(&mut terms);
            safe.set_terms(terms, noon())
        };
        assert_eq!(with(|_| {}).unwrap().terms, Some(SafeTerms::default()), "what is missing is a blocker");
        refused(
            with(|terms| terms.investment_amount_minor = Some(0)),
            "terms.investment_amount_minor",
            FieldCode::OutOfRange,
        );
        refused(with(|terms| terms.valuation_cap_minor = Some(-1)), "terms.valuation_cap_minor", FieldCode::OutOfRange);
        refused(with(|terms| terms.currency = Some("usd".into())), "terms.currency", FieldCode::InvalidFormat);
        refused(
            with(|terms| terms.governing_law = Some(String::new())),
            "terms.governing_law",
            FieldCode::InvalidValue,
        );
        for rate in ["", "0", "0.", "0.2", "0.200", "0.00", "1.00", "20", "-0.20", "0.12345", ".20", "0.2O"] {
            assert!(!is_rate(rate), "{rate}");
        }
        for rate in ["0.20", "0.05", "0.99", "0.125", "0.0001"] {
            assert!(is_rate(rate), "{rate}");
        }
        let whole = with(|terms| {
            terms.discount_rate = Some("0.20".to_owned());
            terms.conversion_timing = Some(ConversionTiming::PreMoney);
        });
        assert_eq!(whole.unwrap().terms.unwrap().discount_rate.as_deref(), Some("0.20"));
    }

    #[test]
    fn a_document_may_come_without_its_file() {
        let content = Some(DocumentContent { sha256: "0".repeat(64), size_bytes: 9 });
        let (draft, document) = draft(AgreementKind::General).add_document(label("Deed"), None, noon()).unwrap();
        assert_eq!(
            draft.document(document).map(|document| (&document.content, document.state)),
            Some((&None, DocumentState::Draft))
        );
        let (draft, document) = draft.add_document(label("Plan"), content.clone(), noon()).unwrap();
        assert_eq!(draft.document(document).map(|document| &document.content), Some(&content));
    }
}
