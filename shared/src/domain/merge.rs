//! Merging two contacts that are the same person or entity.
//!
//! Decision: a merge rewrites no reference and no signature. Both contacts stay as they are, and agreements go on to name
//! the one that they name. `merged_into` says which one the app's lists and pickers show in place of both.
//!
//! Decision: the `ETag` of the contact that stays is that of its stored version, and so changes with a merge that none of
//! its fields shows: at worst a conditional change is refused once, and none is ever lost. Its `updated_at` stays.

use super::contact::{Contact, ContactKind};
use super::time::Timestamp;
use crate::limits;

/// Why a contact can't be merged into another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotMerged {
    /// They are one contact.
    Itself,
    /// It is one of the organization's own.
    Own,
    /// It is merged already.
    Already,
    /// Others are merged into it.
    HasMerged,
    /// The other one is merged itself.
    IntoMerged,
    /// The other one is archived.
    IntoArchived,
    /// One is a person, the other an entity.
    OtherKind,
    /// The other one has as many as it can.
    TooMany,
}

impl Contact {
    /// Both contacts once this one is merged into the other.
    pub fn merge_into(&self, into: &Self, now: Timestamp) -> Result<(Self, Self), NotMerged> {
        let is_person = |contact: &Self| contact.kind == ContactKind::Person;
        let refusals = [
            (self.id == into.id, NotMerged::Itself),
            (self.merged_into.is_some(), NotMerged::Already),
            (!self.merged.is_empty(), NotMerged::HasMerged),
            (into.merged_into.is_some(), NotMerged::IntoMerged),
            (into.archived_at.is_some(), NotMerged::IntoArchived),
            (is_person(self) != is_person(into), NotMerged::OtherKind),
            (into.merged.len() >= limits::MERGED_CONTACTS_MAX, NotMerged::TooMany),
        ];
        if let Some((_, refusal)) = refusals.into_iter().find(|(applies, _)| *applies) {
            return Err(refusal);
        }
        let merged = Self { merged_into: Some(into.id), updated_at: now.max(self.updated_at), ..self.clone() };
        let mut into = into.clone();
        into.merged.push(self.id);
        Ok((merged, into))
    }

    /// Both contacts once this one is separate again. None unless it is merged into the other.
    #[must_use]
    pub fn separate_from(&self, other: &Self, now: Timestamp) -> Option<(Self, Self)> {
        if self.merged_into != Some(other.id) {
            return None;
        }
        let separate = Self { merged_into: None, updated_at: now.max(self.updated_at), ..self.clone() };
        let mut other = other.clone();
        other.merged.retain(|id| *id != self.id);
        Some((separate, other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::agreement::fixtures::{contact, contact_of_kind, noon};
    use crate::wire::page::Shelf;

    #[test]
    fn merged_contacts_are_as_before_once_they_are_separate_again() {
        let (ada, twin) = (contact("Ada"), contact("Ada"));
        let (merged, kept) = twin.merge_into(&ada, noon()).unwrap();
        assert_eq!((merged.merged_into, merged.shelf()), (Some(ada.id), Shelf::Merged));
        assert_eq!((kept.merged.as_slice(), kept.shelf()), ([twin.id].as_slice(), Shelf::Current));
        assert_eq!((&merged.display_name, merged.identity_version), (&twin.display_name, 0), "nothing else changes");
        assert_eq!(merged.separate_from(&kept, noon()), Some((twin.clone(), ada.clone())));
        assert_eq!(twin.separate_from(&ada, noon()), None);
    }

    #[test]
    fn no_merge_makes_a_chain_or_of_a_person_an_entity() {
        let (ada, twin, third) = (contact("Ada"), contact("Ada"), contact("Ada"));
        let (merged, kept) = twin.merge_into(&ada, noon()).unwrap();
        let firm = contact_of_kind("Ada", ContactKind::Llc);
        let mut full = ada.clone();
        full.merged = (0..limits::MERGED_CONTACTS_MAX).map(|_| contact("Ada").id).collect();
        for (from, into, refusal) in [
            (&ada, &ada, NotMerged::Itself),
            (&merged, &third, NotMerged::Already),
            (&kept, &third, NotMerged::HasMerged),
            (&third, &merged, NotMerged::IntoMerged),
            (&third, &ada.archived(true, noon()), NotMerged::IntoArchived),
            (&third, &firm, NotMerged::OtherKind),
            (&third, &full, NotMerged::TooMany),
        ] {
            assert_eq!(from.merge_into(into, noon()), Err(refusal));
        }
        let trust = contact_of_kind("Ada", ContactKind::Trust);
        assert!(trust.merge_into(&firm, noon()).is_ok(), "entities of two kinds");
    }
}
