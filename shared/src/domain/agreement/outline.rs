//! Outlines: what a template says of an agreement. Each names parties by keys of its own, in place of people.
//!
//! The product's templates and those that members keep are outlines alike, so drafts begin from both in one way.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::gate::{Countdown, FieldType, GateRule, GateType, InformationField, RequestedFile};
use super::promise::{Parties, Promise, PromiseTerms};
use super::{
    Agreement, AgreementKind, Label, NewAgreement, NewParticipant, ParticipantRole, Roles, SafeTerms, StageAction,
};
use crate::domain::actor::Actor;
use crate::domain::ids::{
    AgreementId, ContactId, DocumentId, FieldId, MovementId, ParticipantId, PromiseId, SignatureBlockId,
};
use crate::domain::movement::Movement;
use crate::domain::movement::safe_text::SafeLine;
use crate::domain::movement::terms::{Direction, Method, PaymentTerms};
use crate::domain::time::Timestamp;
use crate::wire::fields::{FieldCode, FieldErrors};

/// What a template says of its agreements.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outline {
    /// The kind.
    pub kind: AgreementKind,
    /// The parties, which become participants.
    pub parties: Vec<Party>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) documents: Vec<OutlinedDocument>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) payments: Vec<OutlinedPayment>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) promises: Vec<OutlinedPromise>,
    /// The terms of a SAFE, without the amount.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) terms: Option<SafeTerms>,
    pub(super) steps: Vec<Step>,
}

/// A party: a role that a contact fills when a draft begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Party {
    /// Its name in forms.
    pub key: String,
    /// Its display name.
    pub label: Label,
    /// What it does.
    pub roles: BTreeSet<ParticipantRole>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OutlinedDocument {
    pub key: String,
    pub name: Label,
    /// The places to sign.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<Place>,
    /// Whether nobody signs it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub for_reading: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Place {
    pub party: String,
    /// None for the party's own label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<Label>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OutlinedPayment {
    pub key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purpose: Option<SafeLine>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub method: Method,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payer: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payee: Option<String>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OutlinedPromise {
    pub name: Label,
    pub terms: PromiseTerms,
    pub promisors: Vec<String>,
    pub promisees: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Step {
    pub name: Label,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub actions: BTreeSet<StageAction>,
    pub conditions: Vec<Condition>,
}

/// The rule of a gate, with keys in place of ids.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Condition {
    SignatureBlocks {
        places: Vec<PlaceOf>,
    },
    DocumentSigned {
        document: Option<String>,
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
        after_hours: Option<u32>,
    },
    MovementAuthorized {
        payment: Option<String>,
    },
    MovementReconciled {
        payment: Option<String>,
    },
    InformationRequest {
        parties: Vec<String>,
        questions: Vec<Question>,
    },
}

/// A place to sign, by its document and its index there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct PlaceOf {
    pub document: String,
    pub place: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Question {
    pub label: Label,
    #[serde(rename = "type")]
    pub field_type: FieldType,
    pub required: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
}

impl Outline {
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
                labels.insert(*contact, party.label.as_str());
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
        let mut begun = Begun::new(Agreement::draft(new, created_by.clone(), now).with_id(id), now);
        if let Some(terms) = &self.terms {
            begun.draft = begun.draft.set_terms(terms.clone(), now)?;
        }
        for party in &self.parties {
            begun.add_party(party, parties)?;
        }
        for document in &self.documents {
            begun.add_document(document, &self.parties)?;
        }
        for payment in &self.payments {
            begun.add_payment(payment, own, created_by)?;
        }
        for promise in &self.promises {
            begun.add_promise(promise)?;
        }
        for step in &self.steps {
            begun.add_step(step)?;
        }
        Ok((begun.draft, begun.movements))
    }

    /// Whether its drafts have payments.
    #[must_use]
    pub fn has_payments(&self) -> bool {
        !self.payments.is_empty()
    }

    /// The names of its documents.
    pub fn documents(&self) -> impl Iterator<Item = &Label> {
        self.documents.iter().map(|document| &document.name)
    }

    /// What its payments are for. None of one that says nothing.
    pub fn payments(&self) -> impl Iterator<Item = Option<&SafeLine>> {
        self.payments.iter().map(|payment| payment.purpose.as_ref())
    }

    /// The names of its promises.
    pub fn promises(&self) -> impl Iterator<Item = &Label> {
        self.promises.iter().map(|promise| &promise.name)
    }

    /// Its steps with the types of their conditions.
    pub fn steps(&self) -> impl Iterator<Item = (&Label, Vec<GateType>)> {
        self.steps.iter().map(|step| (&step.name, step.conditions.iter().map(Condition::gate_type).collect()))
    }
}

/// A draft that is being made from an outline, with the ids of what the outline's keys name.
struct Begun<'a> {
    draft: Agreement,
    movements: Vec<Movement>,
    participants: BTreeMap<&'a str, ParticipantId>,
    documents: BTreeMap<&'a str, DocumentId>,
    blocks: BTreeMap<PlaceOf, SignatureBlockId>,
    payments: BTreeMap<&'a str, MovementId>,
    now: Timestamp,
}

impl<'a> Begun<'a> {
    fn new(draft: Agreement, now: Timestamp) -> Self {
        let (movements, participants, documents) = Default::default();
        Self { draft, movements, participants, documents, blocks: BTreeMap::new(), payments: BTreeMap::new(), now }
    }

    fn add_party(&mut self, party: &'a Party, chosen: &BTreeMap<String, ContactId>) -> Result<(), FieldErrors> {
        let Some(contact_id) = chosen.get(&party.key) else { return Ok(()) };
        let new = NewParticipant { contact_id: *contact_id, roles: Roles(party.roles.clone()) };
        let added = self.draft.add_participant(new, self.now).map_err(|reason| reason.at("agreement_id"))?;
        self.participants.insert(&party.key, added.participant.id);
        self.draft = added.agreement;
        Ok(())
    }

    fn add_document(&mut self, document: &'a OutlinedDocument, parties: &[Party]) -> Result<(), FieldErrors> {
        let (draft, id) = self.draft.add_document(document.name.clone(), None, self.now)?;
        self.draft = draft;
        self.documents.insert(&document.key, id);
        if document.for_reading {
            self.draft = self.draft.set_for_reading(id, true, self.now)?;
        }
        for (n, place) in document.places.iter().enumerate() {
            let Some(participant) = self.party(&place.party) else { continue };
            let of_party = || parties.iter().find(|party| party.key == place.party).map(|party| party.label.clone());
            let Some(label) = place.label.clone().or_else(of_party) else { continue };
            let (draft, block) = self.draft.add_signature_block(id, participant, label, self.now)?;
            self.draft = draft;
            self.blocks.insert(PlaceOf { document: document.key.clone(), place: n }, block);
        }
        Ok(())
    }

    fn add_payment(
        &mut self,
        payment: &'a OutlinedPayment,
        own: &BTreeSet<ContactId>,
        created_by: &Actor,
    ) -> Result<(), FieldErrors> {
        let party = |key: &Option<String>| self.party(key.as_ref()?);
        let (sender, receiver) = (party(&payment.payer), party(&payment.payee));
        let is_own = |id: Option<ParticipantId>| {
            id.and_then(|id| self.draft.participant(id)).is_some_and(|found| own.contains(&found.contact_id))
        };
        let terms = PaymentTerms {
            purpose: payment.purpose.clone(),
            direction: Direction::between(is_own(sender), is_own(receiver)),
            method: payment.method,
            sender,
            receiver,
            ..PaymentTerms::default()
        };
        let id = MovementId::new();
        let (draft, movement) = self.draft.add_payment(id, terms, created_by.clone(), self.now)?;
        self.draft = draft;
        self.payments.insert(&payment.key, id);
        self.movements.extend(movement);
        Ok(())
    }

    /// Leaves out a promise while one of its sides has nobody: no promise is incomplete.
    fn add_promise(&mut self, promise: &OutlinedPromise) -> Result<(), FieldErrors> {
        let (promisors, promisees) = (self.who(&promise.promisors), self.who(&promise.promisees));
        if promisors.is_empty() || promisees.is_empty() {
            return Ok(());
        }
        let parties = Parties::new(promisors, promisees)?;
        let OutlinedPromise { name, terms, .. } = promise;
        let promise = Promise { id: PromiseId::new(), name: name.clone(), terms: terms.clone(), parties };
        self.draft = self.draft.put_promise(promise, self.now)?;
        Ok(())
    }

    fn add_step(&mut self, step: &Step) -> Result<(), FieldErrors> {
        let (draft, stage) = self.draft.add_stage(step.name.clone(), step.actions.clone(), self.now)?;
        self.draft = draft;
        for condition in &step.conditions {
            self.draft = self.draft.add_gate(stage, self.rule(condition), self.now)?.0;
        }
        Ok(())
    }

    fn party(&self, key: &str) -> Option<ParticipantId> {
        self.participants.get(key).copied()
    }

    fn who(&self, parties: &[String]) -> BTreeSet<ParticipantId> {
        parties.iter().filter_map(|party| self.party(party)).collect()
    }

    fn rule(&self, condition: &Condition) -> GateRule {
        let payment = |key: &Option<String>| self.payments.get(key.as_deref()?).copied();
        match condition {
            Condition::SignatureBlocks { places } => GateRule::SignatureBlocks {
                block_ids: places.iter().filter_map(|place| self.blocks.get(place)).copied().collect(),
            },
            Condition::DocumentSigned { document } => GateRule::DocumentSigned {
                document_id: document.as_deref().and_then(|key| self.documents.get(key)).copied(),
            },
            Condition::ParticipantApproval { parties } => {
                GateRule::ParticipantApproval { participant_ids: self.who(parties) }
            }
            Condition::FileUpload { parties, file } => {
                GateRule::FileUpload { participant_ids: self.who(parties), file: file.clone() }
            }
            Condition::IdentityVerified { parties } => {
                GateRule::IdentityVerified { participant_ids: self.who(parties) }
            }
            Condition::Countdown { after_hours } => {
                GateRule::Countdown { until: after_hours.map(Countdown::AfterHours) }
            }
            Condition::MovementAuthorized { payment: key } => {
                GateRule::MovementAuthorized { movement_id: payment(key) }
            }
            Condition::MovementReconciled { payment: key } => {
                GateRule::MovementReconciled { movement_id: payment(key) }
            }
            Condition::InformationRequest { parties, questions } => GateRule::InformationRequest {
                participant_ids: self.who(parties),
                fields: questions.iter().map(Question::field).collect(),
            },
        }
    }
}

impl Condition {
    fn gate_type(&self) -> GateType {
        match self {
            Self::SignatureBlocks { .. } => GateType::SignatureBlocks,
            Self::DocumentSigned { .. } => GateType::DocumentSigned,
            Self::ParticipantApproval { .. } => GateType::ParticipantApproval,
            Self::FileUpload { .. } => GateType::FileUpload,
            Self::IdentityVerified { .. } => GateType::IdentityVerified,
            Self::Countdown { .. } => GateType::Countdown,
            Self::MovementAuthorized { .. } => GateType::MovementAuthorized,
            Self::MovementReconciled { .. } => GateType::MovementReconciled,
            Self::InformationRequest { .. } => GateType::InformationRequest,
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
