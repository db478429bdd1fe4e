use std::collections::BTreeSet;

use super::{Edited, check_limit, move_item, unknown};
use crate::domain::agreement::promise::{Parties, Promise, PromiseTerms};
use crate::domain::agreement::{Agreement, Label};
use crate::domain::ids::{ParticipantId, PromiseId};
use crate::domain::movement::safe_text::SafeLine;
use crate::domain::time::Timestamp;
use crate::limits;
use crate::wire::fields::FieldErrors;

impl Agreement {
    /// A promise, by its id.
    #[must_use]
    pub fn promise(&self, id: PromiseId) -> Option<&Promise> {
        self.promises.iter().find(|promise| promise.id == id)
    }

    /// Appends a promise.
    pub fn add_promise(&self, name: Label, terms: PromiseTerms, parties: Parties, now: Timestamp) -> Edited<PromiseId> {
        let id = PromiseId::new();
        Ok((self.put_promise(Promise { id, name, terms, parties }, now)?, id))
    }

    /// Appends a promise with the id from its form; no change if it exists.
    pub fn put_promise(&self, promise: Promise, now: Timestamp) -> Result<Self, FieldErrors> {
        let mut draft = self.to_be_edited(now)?;
        if self.promise(promise.id).is_some() {
            return Ok(self.clone());
        }
        self.check_parties(&promise.parties)?;
        check_texts(&promise)?;
        check_limit("promises", draft.promises.len(), limits::AGREEMENT_PROMISES_MAX)?;
        draft.promises.push(promise);
        Ok(draft)
    }

    /// Replaces a promise's name, terms and parties.
    pub fn change_promise(&self, changed: Promise, now: Timestamp) -> Result<Self, FieldErrors> {
        let mut draft = self.to_be_edited(now)?;
        let promise = draft.promises.iter_mut().find(|promise| promise.id == changed.id);
        let promise = promise.ok_or_else(|| unknown("promise_id", "promise"))?;
        self.check_parties(&changed.parties)?;
        check_texts(&changed)?;
        *promise = changed;
        Ok(draft)
    }

    /// Moves a promise to an index.
    pub fn move_promise(&self, promise: PromiseId, to: usize, now: Timestamp) -> Result<Self, FieldErrors> {
        let mut draft = self.to_be_edited(now)?;
        let from = draft.promises.iter().position(|moved| moved.id == promise);
        move_item(&mut draft.promises, from.ok_or_else(|| unknown("promise_id", "promise"))?, to)?;
        Ok(draft)
    }

    /// Removes a promise.
    pub fn remove_promise(&self, promise: PromiseId, now: Timestamp) -> Result<Self, FieldErrors> {
        let mut draft = self.to_be_edited(now)?;
        self.promise(promise).ok_or_else(|| unknown("promise_id", "promise"))?;
        draft.promises.retain(|kept| kept.id != promise);
        Ok(draft)
    }

    pub(super) fn promises_naming(&self, participant: ParticipantId) -> impl Iterator<Item = &Promise> {
        self.promises.iter().filter(move |promise| promise.parties.side(participant).is_some())
    }

    fn check_parties(&self, parties: &Parties) -> Result<(), FieldErrors> {
        let check = |field, ids: &BTreeSet<ParticipantId>| {
            let all_there = ids.iter().all(|id| self.participant(*id).is_some());
            if all_there { Ok(()) } else { Err(unknown(field, "participant")) }
        };
        check("promisor_participant_ids", parties.promisors())?;
        check("promisee_participant_ids", parties.promisees())
    }
}

/// Refuses account numbers in a promise's texts, which responses, events and searches show.
fn check_texts(promise: &Promise) -> Result<(), FieldErrors> {
    let check = |field: &str, text: &Label| {
        let checked = SafeLine::parse(text.as_str());
        checked.map(|_| ()).map_err(|(code, message)| FieldErrors::one(field, code, message))
    };
    check("name", &promise.name)?;
    match &promise.terms {
        PromiseTerms::Triggered { triggers } => {
            triggers.iter().try_for_each(|trigger| check("triggers", &trigger.description))
        }
        PromiseTerms::Scheduled { .. } | PromiseTerms::Standing { .. } => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::fixtures::{Deal, label, noon, promise, published};
    use super::super::tests::refused;
    use super::*;
    use crate::wire::fields::FieldCode;

    #[test]
    fn promises_come_change_move_and_go() {
        let before = Deal::complete().draft;
        let later = noon().plus_seconds(7);
        let names = |draft: &Agreement| {
            draft.promises.iter().map(|promise| promise.name.as_str().to_owned()).collect::<Vec<_>>()
        };
        let (first, second) = (promise(&before, "Insurance"), promise(&before, "Books open"));
        let draft = before.put_promise(first.clone(), later).unwrap().put_promise(second.clone(), later).unwrap();
        assert_eq!((names(&draft), draft.updated_at), (vec!["Insurance".to_owned(), "Books open".to_owned()], later));
        assert_eq!(draft.put_promise(first.clone(), later).unwrap(), draft, "a form that is sent twice adds one");
        assert_eq!(names(&draft.move_promise(second.id, 0, later).unwrap()), ["Books open", "Insurance"]);
        refused(draft.move_promise(second.id, 2, later), "position", FieldCode::OutOfRange);
        let changed = Promise { name: label("Liability insurance"), ..first.clone() };
        assert_eq!(names(&draft.change_promise(changed, later).unwrap()), ["Liability insurance", "Books open"]);
        let removed = draft.remove_promise(first.id, later).unwrap().remove_promise(second.id, later).unwrap();
        assert_eq!(Agreement { updated_at: before.updated_at, ..removed.clone() }, before);
        for unknown in [
            removed.remove_promise(first.id, later),
            removed.move_promise(first.id, 0, later),
            removed.change_promise(first.clone(), later),
        ] {
            refused(unknown, "promise_id", FieldCode::NotFound);
        }
        let stranger = Promise {
            parties: Parties::new([before.participants[0].id].into(), [ParticipantId::new()].into()).unwrap(),
            ..first.clone()
        };
        let told = Promise { name: label("Rent to DE89 3704 0044 0532 0130 00"), ..first.clone() };
        refused(before.put_promise(told.clone(), later), "name", FieldCode::SensitiveValue);
        refused(draft.change_promise(told, later), "name", FieldCode::SensitiveValue);
        refused(before.put_promise(stranger.clone(), later), "promisee_participant_ids", FieldCode::NotFound);
        refused(draft.change_promise(stranger, later), "promisee_participant_ids", FieldCode::NotFound);
    }

    #[test]
    fn a_participant_whom_a_promise_names_stays_and_nothing_changes_after_publication() {
        let mut draft = Deal::complete().draft;
        for stage in draft.stages.clone() {
            draft = draft.remove_stage(stage.id, noon()).unwrap();
        }
        let issuer = draft.participants[1].id;
        let made = promise(&draft, "Insurance");
        let draft = draft.put_promise(made.clone(), noon()).unwrap();
        let told = draft.remove_participant(issuer, noon()).unwrap_err().into_list();
        assert_eq!((told.len(), told[0].code), (1, FieldCode::WrongState));
        assert!(told[0].message.contains("“Insurance”"), "{told:?}");
        assert!(draft.remove_promise(made.id, noon()).unwrap().remove_participant(issuer, noon()).is_ok());

        let live = published(&draft);
        let id = made.id;
        for changed in [
            live.put_promise(made.clone(), noon()),
            live.change_promise(made, noon()),
            live.move_promise(id, 0, noon()),
            live.remove_promise(id, noon()),
        ] {
            refused(changed, "agreement_id", FieldCode::WrongState);
        }
    }

    #[test]
    fn there_are_so_many_at_most() {
        let mut draft = Deal::complete().draft;
        let more = |draft: &Agreement| {
            let Promise { name, terms, parties, .. } = promise(draft, "More");
            draft.add_promise(name, terms, parties, noon())
        };
        for _ in 0..limits::AGREEMENT_PROMISES_MAX {
            draft = more(&draft).unwrap().0;
        }
        refused(more(&draft), "promises", FieldCode::LimitReached);
    }
}
