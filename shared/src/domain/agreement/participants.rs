//! Participants: contacts join an agreement while it is a draft. Adding one again merges the roles.

use super::{Agreement, Life, NewParticipant, Participant};
use crate::domain::contact::Contact;
use crate::domain::ids::{ContactId, ParticipantId};
use crate::domain::time::Timestamp;
use crate::limits;
use crate::wire::fields::{FieldCode, FieldErrors};

/// The result of adding a participant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Added {
    /// The changed agreement.
    pub agreement: Agreement,
    /// The participant.
    pub participant: Participant,
    /// Whether the participant is new, or else their roles were merged.
    pub is_new: bool,
}

/// Why a participant was not added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotAdded {
    /// The agreement has been published or cancelled.
    NotADraft,
    /// The agreement has the maximum number of participants.
    Full,
}

impl NotAdded {
    /// The error at the field that names the agreement.
    #[must_use]
    pub fn at(self, agreement_field: &str) -> FieldErrors {
        match self {
            Self::NotADraft => {
                let message = "participants are added while the agreement is a draft";
                FieldErrors::one(agreement_field, FieldCode::WrongState, message)
            }
            Self::Full => {
                let message = format!("an agreement has at most {} participants", limits::AGREEMENT_PARTICIPANTS_MAX);
                FieldErrors::one("contact_id", FieldCode::LimitReached, message)
            }
        }
    }
}

impl Agreement {
    /// Adds a participant, or merges roles if the contact is already one.
    pub fn add_participant(&self, new: NewParticipant, now: Timestamp) -> Result<Added, NotAdded> {
        if self.life != Life::Draft {
            return Err(NotAdded::NotADraft);
        }
        let mut agreement = self.clone();
        let existing = agreement.participants.iter_mut().find(|participant| participant.contact_id == new.contact_id);
        let (participant, is_new) = if let Some(participant) = existing {
            participant.roles.extend(new.roles.0);
            (participant.clone(), false)
        } else {
            if agreement.participants.len() >= limits::AGREEMENT_PARTICIPANTS_MAX {
                return Err(NotAdded::Full);
            }
            let (id, contact_id) = (ParticipantId::new(), new.contact_id);
            let participant = Participant { id, contact_id, roles: new.roles.0, contact_version: None };
            agreement.participants.push(participant.clone());
            (participant, true)
        };
        if agreement != *self {
            agreement.updated_at = now.max(self.updated_at);
        }
        Ok(Added { agreement, participant, is_new })
    }

    #[must_use]
    pub(in crate::domain) fn with_contact_versions(mut self, contacts: &[Contact]) -> Self {
        for participant in &mut self.participants {
            let contact = contacts.iter().find(|contact| contact.id == participant.contact_id);
            participant.contact_version = contact.map(|contact| contact.identity_version);
        }
        self
    }

    /// Whether the contact is a participant and so must stay in the workspace. Discarded drafts don't count.
    #[must_use]
    pub fn keeps(&self, contact: ContactId) -> bool {
        let is_discarded = matches!(self.life, Life::Cancelled { published_at: None, .. });
        !is_discarded && self.participants.iter().any(|participant| participant.contact_id == contact)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::fixtures::{contact, draft, noon, part};
    use super::super::{AgreementKind, ParticipantRole, Roles};
    use super::*;
    use crate::domain::ids::ContactId;

    const ROLES: [ParticipantRole; 9] = [
        ParticipantRole::Signer,
        ParticipantRole::Funder,
        ParticipantRole::Receiver,
        ParticipantRole::Approver,
        ParticipantRole::Investor,
        ParticipantRole::Issuer,
        ParticipantRole::Trustee,
        ParticipantRole::Contributor,
        ParticipantRole::Observer,
    ];

    fn additions() -> impl Strategy<Value = Vec<(usize, Vec<ParticipantRole>)>> {
        let roles = proptest::sample::subsequence(ROLES.to_vec(), 1..=ROLES.len());
        proptest::collection::vec((0..4_usize, roles), 0..12)
    }

    fn parts(agreement: &Agreement) -> Vec<(ContactId, Vec<ParticipantRole>)> {
        let part = |participant: &Participant| (participant.contact_id, participant.roles.iter().copied().collect());
        let mut parts: Vec<_> = agreement.participants.iter().map(part).collect();
        parts.sort();
        parts
    }

    fn added(contacts: &[ContactId], additions: &[(usize, Vec<ParticipantRole>)]) -> Agreement {
        additions.iter().fold(draft(AgreementKind::General), |agreement, (who, roles)| {
            let new = NewParticipant { contact_id: contacts[*who], roles: Roles(roles.iter().copied().collect()) };
            agreement.add_participant(new, noon()).unwrap().agreement
        })
    }

    proptest! {
        #[test]
        fn merging_roles_does_not_mind_order_or_repetition(
            (first, shuffled) in additions().prop_flat_map(|list| (Just(list.clone()), Just(list).prop_shuffle()))
        ) {
            let contacts: Vec<ContactId> = (0..4).map(|_| ContactId::new()).collect();
            let once = added(&contacts, &first);
            prop_assert_eq!(parts(&once), parts(&added(&contacts, &shuffled)));
            prop_assert_eq!(parts(&once), parts(&added(&contacts, &[first, shuffled].concat())));
            let mut distinct: Vec<ContactId> = once.participants.iter().map(|part| part.contact_id).collect();
            distinct.sort();
            distinct.dedup();
            prop_assert_eq!(distinct.len(), once.participants.len(), "one participant for each contact");
        }
    }

    #[test]
    fn what_changes_nothing_leaves_the_agreement_as_it_was() {
        let ada = contact("Ada");
        let first =
            draft(AgreementKind::General).add_participant(part(&ada, &[ParticipantRole::Signer]), noon()).unwrap();
        assert!(first.is_new);
        let later = noon().plus_seconds(5);
        let again = first.agreement.add_participant(part(&ada, &[ParticipantRole::Signer]), later).unwrap();
        assert_eq!((again.agreement, again.is_new), (first.agreement.clone(), false));
        let merged = first.agreement.add_participant(part(&ada, &[ParticipantRole::Funder]), later).unwrap();
        assert_eq!((merged.participant.id, merged.agreement.updated_at), (first.participant.id, later));
    }

    #[test]
    fn there_are_a_hundred_participants_at_most() {
        let mut agreement = draft(AgreementKind::General);
        for n in 0..limits::AGREEMENT_PARTICIPANTS_MAX {
            agreement = agreement.add_participant(part(&contact(&format!("C{n}")), &ROLES), noon()).unwrap().agreement;
        }
        let refused = agreement.add_participant(part(&contact("Late"), &ROLES), noon()).unwrap_err();
        let refused = refused.at("path.agreement_id").into_list();
        assert_eq!((refused[0].field.as_str(), refused[0].code), ("contact_id", FieldCode::LimitReached));
    }
}
