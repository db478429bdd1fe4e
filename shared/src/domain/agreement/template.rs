//! The product's templates (`templates.json`). Blockers ask for what they leave open.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::outline::Outline;

/// A template of the product.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Template {
    /// Its name in URLs and forms.
    pub key: String,
    /// Its display name.
    pub name: String,
    /// Its purpose, in a sentence.
    pub about: String,
    /// What its drafts begin with.
    pub outline: Outline,
}

/// All templates, in display order.
#[must_use]
pub fn all() -> &'static [Template] {
    // An unreadable file would mean no templates; a test reads it.
    static ALL: LazyLock<Vec<Template>> =
        LazyLock::new(|| serde_json::from_str(include_str!("templates.json")).unwrap_or_default());
    &ALL
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::blockers::{Blocker, DraftContext, DraftPayment, blockers};
    use super::super::fixtures::{contact, noon};
    use super::super::outline::{Condition, Party};
    use super::super::warnings::warnings;
    use super::super::{AgreementKind, AgreementName, NewAgreement};
    use super::*;
    use crate::domain::actor::Actor;
    use crate::domain::contact::Contact;
    use crate::domain::day::Day;
    use crate::domain::ids::{AgreementId, ContactId, WorkspaceId};
    use crate::wire::fields::FieldErrors;
    use crate::wire::input::OrDefault;

    fn begun(template: &Template, contacts: &[Contact]) -> Vec<Blocker> {
        let (name, outline) = (AgreementName::parse(&template.name).unwrap(), &template.outline);
        let new = NewAgreement { workspace_id: WorkspaceId::new(), name, kind: OrDefault(outline.kind) };
        let parties = outline.parties.iter().map(|party| party.key.clone()).zip(contacts.iter().map(|one| one.id));
        let id = AgreementId::new();
        let parties = parties.collect();
        let (draft, movements) = outline.draft(id, new, &parties, &BTreeSet::new(), &Actor::system(), noon()).unwrap();
        assert!(draft.id() == id && draft.as_draft().is_ok(), "{}", template.key);
        let payments: Vec<DraftPayment> = movements.iter().map(DraftPayment::from).collect();
        assert!(payments.iter().all(|payment| draft.movements().contains_key(&payment.id)), "{}", template.key);
        assert_eq!(warnings(&draft, &payments, Day::parse("2026-03-14").unwrap()), [], "{}", template.key);
        let context =
            DraftContext { workspace_activated: true, contacts, payments: &payments, changed_items: &[], now: noon() };
        blockers(&draft, &context)
    }

    #[test]
    fn the_file_says_nothing_that_a_template_does_not_know() {
        let file: serde_json::Value = serde_json::from_str(include_str!("templates.json")).unwrap();
        assert_eq!(serde_json::to_value(all()).unwrap(), file);
    }

    #[test]
    fn a_template_leaves_only_its_files_and_terms_to_do() {
        let keys: Vec<&str> = all().iter().map(|template| template.key.as_str()).collect();
        assert_eq!(keys, ["two-party-signature", "safe", "engagement-letter", "notice-period"]);
        for template in all() {
            let contacts: Vec<Contact> = template.outline.parties.iter().map(|party| contact(&party.key)).collect();
            let left = begun(template, &contacts);
            let is_expected = |blocker: &Blocker| match blocker {
                Blocker::DocumentMissing { .. } => true,
                Blocker::SafeTermsIncomplete | Blocker::PaymentIncomplete { .. } => {
                    template.outline.kind == AgreementKind::Safe
                }
                _ => false,
            };
            assert!(left.iter().all(is_expected), "{}: {left:?}", template.key);
        }
    }

    #[test]
    fn no_contact_is_two_parties() {
        for Template { key, outline, .. } in all() {
            let one = ContactId::new();
            let parties = |of: &[Party]| of.iter().map(|party| (party.key.clone(), one)).collect();
            let Some((first, others)) = outline.parties.split_first() else { continue };
            assert_eq!(outline.check_parties(&parties(std::slice::from_ref(first))), Ok(()));
            let refused = outline.check_parties(&parties(&outline.parties));
            let fields: Vec<String> =
                refused.err().into_iter().flat_map(FieldErrors::into_list).map(|error| error.field).collect();
            let expected: Vec<String> = others.iter().map(|party| format!("party.{}", party.key)).collect();
            assert_eq!(fields, expected, "{key}");
        }
    }

    #[test]
    fn a_party_that_is_left_open_is_asked_for() {
        for template in all() {
            let left = begun(template, &[]);
            assert!(left.contains(&Blocker::NoParticipants), "{}: {left:?}", template.key);
        }
    }

    #[test]
    fn every_name_in_a_template_is_one_of_its_own() {
        for Template { key, outline, .. } in all() {
            let is_party = |key: &String| outline.parties.iter().any(|party| party.key == *key);
            assert!(outline.documents.iter().flat_map(|document| &document.places).all(|place| is_party(&place.party)));
            let payments = outline.payments.iter();
            assert!(payments.flat_map(|payment| [&payment.payer, &payment.payee]).flatten().all(is_party), "{key}");
            let is_payment = |key: &String| outline.payments.iter().any(|known| known.key == *key);
            for condition in outline.steps.iter().flat_map(|step| &step.conditions) {
                match condition {
                    Condition::DocumentSigned { document } => {
                        assert!(outline.documents.iter().any(|known| Some(&known.key) == document.as_ref()), "{key}");
                    }
                    Condition::ParticipantApproval { parties }
                    | Condition::FileUpload { parties, .. }
                    | Condition::IdentityVerified { parties }
                    | Condition::InformationRequest { parties, .. } => assert!(parties.iter().all(is_party)),
                    Condition::MovementAuthorized { payment } | Condition::MovementReconciled { payment } => {
                        assert!(payment.as_ref().is_some_and(is_payment), "{key}");
                    }
                    Condition::Countdown { after_hours } => assert!(after_hours.is_some_and(|hours| hours > 0)),
                    Condition::SignatureBlocks { .. } => panic!("{key} waits for documents"),
                }
            }
        }
    }
}
