//! Editing drafts. Each edit returns the whole edited draft; missing values are blockers, not errors.
//!
//! Edits fail with `wrong_state` unless the agreement is a draft, and while another part refers to a part being
//! removed; with `not_found` for an unknown part, `out_of_range` for an index beyond the list, and `limit_reached`.

mod documents;
mod part;
mod payments;
mod promises;
mod questions;
#[cfg(test)]
mod sequences;
mod stages;
mod terms;

pub(super) use part::without_questions;
pub use part::{Part, Seen};

use std::collections::BTreeSet;

use super::gate::GateRule;
use super::{Agreement, AgreementKind, AgreementName, Life, Roles};
use crate::domain::ids::ParticipantId;
use crate::domain::time::Timestamp;
use crate::wire::fields::{FieldCode, FieldErrors};

/// The draft after adding a part, and the part's id.
pub type Edited<Id> = Result<(Agreement, Id), FieldErrors>;

impl Agreement {
    /// Sets the draft's name and kind. An agreement that becomes general loses the terms of a SAFE.
    pub fn describe(&self, name: AgreementName, kind: AgreementKind, now: Timestamp) -> Result<Self, FieldErrors> {
        let mut draft = self.to_be_edited(now)?;
        draft.name = name;
        draft.kind = kind;
        draft.terms = match kind {
            AgreementKind::General => None,
            AgreementKind::Safe => Some(draft.terms.take().unwrap_or_default()),
        };
        Ok(draft)
    }

    /// Sets a participant's roles.
    pub fn set_roles(&self, participant: ParticipantId, roles: Roles, now: Timestamp) -> Result<Self, FieldErrors> {
        let mut draft = self.to_be_edited(now)?;
        let found = draft.participants.iter_mut().find(|found| found.id == participant);
        found.ok_or_else(|| unknown("participant_id", "participant"))?.roles = roles.0;
        Ok(draft)
    }

    /// Removes a participant. The contact stays in the workspace.
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
        for promise in self.promises_naming(participant) {
            let message = format!("is a party of the obligation “{}”; change that first", promise.name.as_str());
            errors.extend(FieldErrors::one("participant_id", FieldCode::WrongState, message));
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        draft.participants.retain(|kept| kept.id != participant);
        Ok(draft)
    }

    /// Sets or removes the expiry. A past time is a blocker, not an error, because time passes while a draft is set up.
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
        // Concurrent edits may be decided in a different order than they began.
        Ok(Self { updated_at: now.max(self.updated_at), ..self.clone() })
    }

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
}

fn unknown(field: &str, what: &str) -> FieldErrors {
    FieldErrors::one(field, FieldCode::NotFound, format!("is no {what} of this agreement"))
}

fn move_item<T>(list: &mut Vec<T>, from: usize, to: usize) -> Result<(), FieldErrors> {
    if to >= list.len() {
        let message = format!("must be one of the {} places", list.len());
        return Err(FieldErrors::one("position", FieldCode::OutOfRange, message));
    }
    let moved = list.remove(from);
    list.insert(to, moved);
    Ok(())
}

fn check_limit(what: &str, count: usize, max: usize) -> Result<(), FieldErrors> {
    if count < max { Ok(()) } else { Err(FieldErrors::one(what, FieldCode::LimitReached, format!("at most {max}"))) }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{Deal, label, noon, published};
    use super::super::gate::GateState;
    use super::super::{DocumentContent, SafeTerms, StageAction, StageState};
    use super::*;
    use crate::domain::ids::DocumentId;

    fn code<T: std::fmt::Debug>(refused: Result<T, FieldErrors>) -> (String, FieldCode) {
        let error = refused.unwrap_err().into_list().remove(0);
        (error.field, error.code)
    }

    pub(super) fn refused<T: std::fmt::Debug>(result: Result<T, FieldErrors>, field: &str, expected: FieldCode) {
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
        assert_eq!(code(live.change_stage(stage, label("A"), [].into(), noon())), wrong);
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
        let renamed = before.change_stage(stage, label("Money"), [].into(), later).unwrap();
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
}
