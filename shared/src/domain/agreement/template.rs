//! Templates for new drafts (`templates.json`) name parties and what each does. Blockers ask for those left open.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde::Deserialize;

use super::gate::{Countdown, FieldType, GateRule, InformationField, RequestedFile};
use super::{Agreement, AgreementKind, Label, NewAgreement, NewParticipant, ParticipantRole, Roles, StageAction};
use crate::domain::actor::Actor;
use crate::domain::ids::{AgreementId, ContactId, DocumentId, FieldId, MovementId, ParticipantId};
use crate::domain::movement::Movement;
use crate::domain::movement::safe_text::SafeLine;
use crate::domain::movement::terms::{Direction, Method, PaymentTerms};
use crate::domain::time::Timestamp;
use crate::wire::fields::{FieldCode, FieldErrors};

/// A template.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Template {
    /// Its name in URLs and forms.
    pub key: String,
    /// Its display name.
    pub name: String,
    /// Its purpose, in a sentence.
    pub about: String,
    /// The kind of its agreements.
    pub kind: AgreementKind,
    /// The parties, which become participants.
    pub parties: Vec<Party>,
    documents: Vec<TemplateDocument>,
    #[serde(default)]
    payments: Vec<TemplatePayment>,
    steps: Vec<Step>,
}

/// A party of a template.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Party {
    /// Its name in forms.
    pub key: String,
    /// Its display name.
    pub label: String,
    /// Its roles.
    pub roles: BTreeSet<ParticipantRole>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct TemplateDocument {
    key: String,
    name: Label,
    /// The signing parties. Empty for a document that is only read.
    signers: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct TemplatePayment {
    key: String,
    purpose: String,
    payer: String,
    payee: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    name: Label,
    #[serde(default)]
    actions: BTreeSet<StageAction>,
    conditions: Vec<Condition>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum Condition {
    DocumentSigned {
        document: String,
    },
    ParticipantApproval {
        parties: Vec<String>,
    },
    FileUpload {
        parties: Vec<String>,
        #[serde(default)]
        file: RequestedFile,
    },
    IdentityVerified {
        parties: Vec<String>,
    },
    Countdown {
        after_hours: u32,
    },
    MovementReconciled {
        payment: String,
    },
    InformationRequest {
        parties: Vec<String>,
        questions: Vec<Question>,
    },
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    label: Label,
    #[serde(rename = "type")]
    field_type: FieldType,
    required: bool,
    #[serde(default)]
    options: Vec<String>,
}

/// All templates, in display order.
#[must_use]
pub fn all() -> &'static [Template] {
    // An unreadable file would mean no templates; a test reads it.
    static ALL: LazyLock<Vec<Template>> =
        LazyLock::new(|| serde_json::from_str(include_str!("templates.json")).unwrap_or_default());
    &ALL
}

/// The template with a key.
#[must_use]
pub fn find(key: &str) -> Option<&'static Template> {
    all().iter().find(|template| template.key == key)
}

impl Template {
    /// Checks that each contact is at most one party; otherwise `invalid_value` at `party.` and the later party's key.
    pub fn check_parties(&self, parties: &BTreeMap<String, ContactId>) -> Result<(), FieldErrors> {
        let mut errors = FieldErrors::default();
        let mut labels: BTreeMap<ContactId, &str> = BTreeMap::new();
        for party in &self.parties {
            let Some(contact) = parties.get(&party.key) else { continue };
            if let Some(earlier) = labels.get(contact) {
                let message = format!("must be a different contact from “{earlier}”");
                let field = format!("party.{}", party.key);
                errors.extend(FieldErrors::one(field, FieldCode::InvalidValue, message));
            } else {
                labels.insert(*contact, &party.label);
            }
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    /// A new draft with its payments. `parties` maps party keys to contacts; `own` are the organization's own contacts.
    pub fn draft(
        &self,
        id: AgreementId,
        new: NewAgreement,
        parties: &BTreeMap<String, ContactId>,
        own: &BTreeSet<ContactId>,
        created_by: &Actor,
        now: Timestamp,
    ) -> Result<(Agreement, Vec<Movement>), FieldErrors> {
        let mut draft = Agreement::draft(new, created_by.clone(), now).with_id(id);
        let mut participants: BTreeMap<&str, ParticipantId> = BTreeMap::new();
        for party in &self.parties {
            let Some(contact_id) = parties.get(&party.key) else { continue };
            let new = NewParticipant { contact_id: *contact_id, roles: Roles(party.roles.clone()) };
            let added = draft.add_participant(new, now).map_err(|reason| reason.at("agreement_id"))?;
            participants.insert(&party.key, added.participant.id);
            draft = added.agreement;
        }
        let mut documents: BTreeMap<&str, DocumentId> = BTreeMap::new();
        for document in &self.documents {
            let (with_document, id) = draft.add_document(document.name.clone(), None, now)?;
            draft = with_document;
            documents.insert(&document.key, id);
            if document.signers.is_empty() {
                draft = draft.set_for_reading(id, true, now)?;
            }
            for party in &document.signers {
                let Some(participant) = participants.get(party.as_str()) else { continue };
                let label = self.parties.iter().find(|known| known.key == *party).map(|known| known.label.as_str());
                let label = Label::parse(label.unwrap_or("Signature"))
                    .map_err(|(code, message)| FieldErrors::one("label", code, message))?;
                draft = draft.add_signature_block(id, *participant, label, now)?.0;
            }
        }
        let (mut movements, mut payments): (Vec<Movement>, BTreeMap<&str, MovementId>) = Default::default();
        for payment in &self.payments {
            let id = MovementId::new();
            let terms = payment.terms(&draft, &participants, own)?;
            let (with_payment, movement) = draft.add_payment(id, terms, created_by.clone(), now)?;
            draft = with_payment;
            payments.insert(&payment.key, id);
            movements.extend(movement);
        }
        for step in &self.steps {
            let (with_stage, stage) = draft.add_stage(step.name.clone(), step.actions.clone(), now)?;
            draft = with_stage;
            for condition in &step.conditions {
                draft = draft.add_gate(stage, condition.rule(&participants, &documents, &payments), now)?.0;
            }
        }
        Ok((draft, movements))
    }

    /// Whether its drafts have payments.
    #[must_use]
    pub fn has_payments(&self) -> bool {
        !self.payments.is_empty()
    }
}

impl TemplatePayment {
    fn terms(
        &self,
        draft: &Agreement,
        participants: &BTreeMap<&str, ParticipantId>,
        own: &BTreeSet<ContactId>,
    ) -> Result<PaymentTerms, FieldErrors> {
        let purpose =
            SafeLine::parse(&self.purpose).map_err(|(code, message)| FieldErrors::one("purpose", code, message))?;
        let party = |key: &str| participants.get(key).copied();
        let (sender, receiver) = (party(&self.payer), party(&self.payee));
        let is_own = |id: Option<ParticipantId>| {
            id.and_then(|id| draft.participant(id)).is_some_and(|found| own.contains(&found.contact_id))
        };
        Ok(PaymentTerms {
            purpose: Some(purpose),
            reference: None,
            money: None,
            direction: Direction::between(is_own(sender), is_own(receiver)),
            method: Method::default(),
            sender,
            receiver,
            due_on: None,
        })
    }
}

impl Condition {
    fn rule(
        &self,
        participants: &BTreeMap<&str, ParticipantId>,
        documents: &BTreeMap<&str, DocumentId>,
        payments: &BTreeMap<&str, MovementId>,
    ) -> GateRule {
        let who =
            |parties: &[String]| parties.iter().filter_map(|party| participants.get(party.as_str())).copied().collect();
        match self {
            Self::DocumentSigned { document } => {
                GateRule::DocumentSigned { document_id: documents.get(document.as_str()).copied() }
            }
            Self::ParticipantApproval { parties } => GateRule::ParticipantApproval { participant_ids: who(parties) },
            Self::FileUpload { parties, file } => {
                GateRule::FileUpload { participant_ids: who(parties), file: file.clone() }
            }
            Self::IdentityVerified { parties } => GateRule::IdentityVerified { participant_ids: who(parties) },
            Self::Countdown { after_hours } => GateRule::Countdown { until: Some(Countdown::AfterHours(*after_hours)) },
            Self::MovementReconciled { payment } => {
                GateRule::MovementReconciled { movement_id: payments.get(payment.as_str()).copied() }
            }
            Self::InformationRequest { parties, questions } => GateRule::InformationRequest {
                participant_ids: who(parties),
                fields: questions.iter().map(Question::field).collect(),
            },
        }
    }
}

impl Question {
    fn field(&self) -> InformationField {
        InformationField {
            id: FieldId::new(),
            label: self.label.clone(),
            field_type: self.field_type,
            required: self.required,
            options: self.options.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::AgreementName;
    use super::super::blockers::{Blocker, DraftContext, DraftPayment, blockers};
    use super::super::fixtures::{contact, noon};
    use super::super::warnings::warnings;
    use super::*;
    use crate::domain::contact::Contact;
    use crate::domain::day::Day;
    use crate::domain::ids::WorkspaceId;
    use crate::wire::input::OrDefault;

    fn begun(template: &Template, contacts: &[Contact]) -> Vec<Blocker> {
        let name = AgreementName::parse(&template.name).unwrap();
        let new = NewAgreement { workspace_id: WorkspaceId::new(), name, kind: OrDefault(template.kind) };
        let parties = template.parties.iter().map(|party| party.key.clone()).zip(contacts.iter().map(|one| one.id));
        let id = AgreementId::new();
        let parties = parties.collect();
        let (draft, movements) = template.draft(id, new, &parties, &BTreeSet::new(), &Actor::system(), noon()).unwrap();
        assert!(draft.id() == id && draft.as_draft().is_ok(), "{}", template.key);
        let payments: Vec<DraftPayment> = movements.iter().map(DraftPayment::from).collect();
        assert!(payments.iter().all(|payment| draft.movements().contains_key(&payment.id)), "{}", template.key);
        assert_eq!(warnings(&draft, &payments, Day::parse("2026-03-14").unwrap()), [], "{}", template.key);
        let context =
            DraftContext { workspace_activated: true, contacts, payments: &payments, changed_items: &[], now: noon() };
        blockers(&draft, &context)
    }

    #[test]
    fn a_template_leaves_only_its_files_and_terms_to_do() {
        let keys: Vec<&str> = all().iter().map(|template| template.key.as_str()).collect();
        assert_eq!(keys, ["two-party-signature", "safe", "engagement-letter", "notice-period"]);
        for template in all() {
            let contacts: Vec<Contact> = template.parties.iter().map(|party| contact(&party.key)).collect();
            let left = begun(template, &contacts);
            let is_expected = |blocker: &Blocker| match blocker {
                Blocker::DocumentMissing { .. } => true,
                Blocker::SafeTermsIncomplete | Blocker::PaymentIncomplete { .. } => {
                    template.kind == AgreementKind::Safe
                }
                _ => false,
            };
            assert!(left.iter().all(is_expected), "{}: {left:?}", template.key);
        }
    }

    #[test]
    fn no_contact_is_two_parties() {
        for template in all() {
            let one = ContactId::new();
            let parties = |of: &[Party]| of.iter().map(|party| (party.key.clone(), one)).collect();
            let Some((first, others)) = template.parties.split_first() else { continue };
            assert_eq!(template.check_parties(&parties(std::slice::from_ref(first))), Ok(()));
            let refused = template.check_parties(&parties(&template.parties));
            let fields: Vec<String> =
                refused.err().into_iter().flat_map(FieldErrors::into_list).map(|error| error.field).collect();
            let expected: Vec<String> = others.iter().map(|party| format!("party.{}", party.key)).collect();
            assert_eq!(fields, expected, "{}", template.key);
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
        for template in all() {
            let is_party = |key: &String| template.parties.iter().any(|party| party.key == *key);
            assert!(template.documents.iter().flat_map(|document| &document.signers).all(is_party), "{}", template.key);
            let payments = template.payments.iter();
            assert!(payments.flat_map(|payment| [&payment.payer, &payment.payee]).all(is_party), "{}", template.key);
            for condition in template.steps.iter().flat_map(|step| &step.conditions) {
                match condition {
                    Condition::DocumentSigned { document } => {
                        assert!(template.documents.iter().any(|known| known.key == *document), "{}", template.key);
                    }
                    Condition::ParticipantApproval { parties }
                    | Condition::FileUpload { parties, .. }
                    | Condition::IdentityVerified { parties }
                    | Condition::InformationRequest { parties, .. } => assert!(parties.iter().all(is_party)),
                    Condition::MovementReconciled { payment } => {
                        assert!(template.payments.iter().any(|known| known.key == *payment), "{}", template.key);
                    }
                    Condition::Countdown { after_hours } => assert!(*after_hours > 0),
                }
            }
        }
    }
}
