//! A complete draft for tests.

use std::collections::{BTreeMap, BTreeSet};

use super::blockers::{Blocker, DraftContext, DraftPayment, blockers};
use super::facts::Facts;
use super::gate::{Countdown, FieldType, GateRule, InformationField, RequestedFile};
use super::promise::{Parties, Promise, PromiseTerms};
use super::{
    Agreement, AgreementKind, AgreementName, ConversionTiming, DocumentContent, Label, Life, NewAgreement,
    NewParticipant, ParticipantRole, Roles, SafeTerms,
};
use crate::domain::actor::Actor;
use crate::domain::contact::{Contact, ContactKind, DisplayName, Email};
use crate::domain::ids::{
    ContactId, FieldId, FundingItemId, GateId, MovementId, ParticipantId, PromiseId, WorkspaceId,
};
use crate::domain::movement::Movement;
use crate::domain::movement::safe_text::SafeLine;
use crate::domain::movement::state::MovementState;
use crate::domain::movement::terms::PaymentTerms;
use crate::domain::time::Timestamp;
use crate::domain::time_scale::TimeScale;
use crate::wire::input::OrDefault;

pub(crate) fn noon() -> Timestamp {
    Timestamp::from_unix_ms(1_773_489_600_000).unwrap()
}

pub(crate) fn after(hours: i64) -> Timestamp {
    noon().plus_seconds(hours * 3600)
}

pub(crate) fn time_scale() -> TimeScale {
    TimeScale::default()
}

pub(crate) fn promise(draft: &Agreement, name: &str) -> Promise {
    let [ada, ben] = [draft.participants[0].id, draft.participants[1].id];
    let parties = Parties::new([ben].into(), [ada].into()).unwrap();
    Promise { id: PromiseId::new(), name: label(name), terms: PromiseTerms::standing(90).unwrap(), parties }
}

pub(crate) fn payment(of: &Agreement, purpose: &str) -> Movement {
    let terms = PaymentTerms { purpose: Some(SafeLine::parse(purpose).unwrap()), ..PaymentTerms::default() };
    Movement::draft(MovementId::new(), of.id(), of.workspace_id, terms, Actor::system(), noon())
}

pub(crate) fn with_payment(mut of: Agreement, id: MovementId, state: MovementState) -> Agreement {
    of.facts.movements.insert(id, state);
    of
}

pub(crate) fn waiting(hours: u32) -> GateRule {
    GateRule::Countdown { until: Some(Countdown::AfterHours(hours)) }
}

pub(crate) fn until(at: Timestamp) -> GateRule {
    GateRule::Countdown { until: Some(Countdown::At(at)) }
}

pub(crate) fn label(text: &str) -> Label {
    Label::parse(text).unwrap()
}

pub(crate) fn contact(name: &str) -> Contact {
    contact_of_kind(name, ContactKind::Person)
}

pub(crate) fn contact_of_kind(name: &str, kind: ContactKind) -> Contact {
    Contact {
        id: ContactId::new(),
        display_name: DisplayName::parse(name).unwrap(),
        kind,
        email: Some(Email::parse(&format!("{}@example.org", name.to_lowercase())).unwrap()),
        external_reference: None,
        created_at: noon(),
        updated_at: noon(),
        identity_version: 0,
        former: Vec::new(),
        merged_into: None,
        merged: Vec::new(),
        archived_at: None,
    }
}

pub(crate) fn part(contact: &Contact, roles: &[ParticipantRole]) -> NewParticipant {
    NewParticipant { contact_id: contact.id, roles: Roles(roles.iter().copied().collect()) }
}

pub(crate) fn draft(kind: AgreementKind) -> Agreement {
    let name = AgreementName::parse("Seed round").unwrap();
    let new = NewAgreement { workspace_id: WorkspaceId::new(), name, kind: OrDefault(kind) };
    Agreement::draft(new, Actor::system(), noon())
}

pub(crate) fn with_movements(movements: BTreeMap<MovementId, MovementState>) -> Facts {
    Facts { movements, ..Facts::none() }
}

pub(crate) fn cancelled(live: &Agreement, at: Timestamp) -> Agreement {
    live.cancelled(at)
}

pub(crate) fn answered(mut live: Agreement, gate: GateId, by: ParticipantId, at: Timestamp) -> Agreement {
    live.facts.answered = [((gate, by), at)].into();
    live
}

pub(crate) fn published(draft: &Agreement) -> Agreement {
    draft.published(&Facts::none(), time_scale(), noon())
}

pub(crate) fn completed(active: &Agreement, at: Timestamp) -> Agreement {
    Agreement { life: Life::Completed { published_at: at, completed_at: at }, ..active.clone() }
}

pub(crate) fn question(label_text: &str) -> InformationField {
    InformationField {
        id: FieldId::new(),
        label: label(label_text),
        field_type: FieldType::Text,
        required: true,
        options: Vec::new(),
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Deal {
    pub draft: Agreement,
    pub contacts: Vec<Contact>,
    pub payments: Vec<DraftPayment>,
    pub changed_items: Vec<FundingItemId>,
    pub is_activated: bool,
}

impl Deal {
    pub(crate) fn complete() -> Self {
        let now = noon();
        let (ada, ben, eve) = (contact("Ada"), contact("Ben"), contact("Eve"));
        let draft = draft(AgreementKind::Safe);
        let investor = draft.add_participant(part(&ada, &[ParticipantRole::Investor]), now).unwrap();
        let issuer = investor.agreement.add_participant(part(&ben, &[ParticipantRole::Issuer]), now).unwrap();
        let watcher = issuer.agreement.add_participant(part(&eve, &[ParticipantRole::Observer]), now).unwrap();
        let (investor, issuer) = (investor.participant.id, issuer.participant.id);
        let content = DocumentContent { sha256: "0".repeat(64), size_bytes: 1 };
        let (draft, document) = watcher.agreement.add_document(label("SAFE"), Some(content), now).unwrap();
        let (draft, block) = draft.add_signature_block(document, investor, label("Investor"), now).unwrap();
        let movement = MovementId::new();
        let payments = vec![DraftPayment {
            id: movement,
            is_complete: true,
            sender: Some(investor),
            receiver: Some(issuer),
            money: None,
        }];
        let both: BTreeSet<ParticipantId> = BTreeSet::from([investor, issuer]);
        let rules = [
            GateRule::SignatureBlocks { block_ids: BTreeSet::from([block]) },
            GateRule::DocumentSigned { document_id: Some(document) },
            GateRule::ParticipantApproval { participant_ids: both.clone() },
            GateRule::FileUpload { participant_ids: both.clone(), file: RequestedFile::default() },
            GateRule::Countdown { until: Some(Countdown::AfterHours(24)) },
            GateRule::MovementAuthorized { movement_id: Some(movement) },
            GateRule::MovementReconciled { movement_id: Some(movement) },
            GateRule::InformationRequest { participant_ids: both.clone(), fields: vec![question("Why?")] },
            GateRule::IdentityVerified { participant_ids: both },
        ];
        let mut draft = draft;
        draft.facts.movements.insert(movement, MovementState::Draft);
        for (n, rules) in rules.chunks(3).enumerate() {
            let (with_stage, stage) = draft.add_stage(label(&format!("Step {n}")), BTreeSet::new(), now).unwrap();
            draft = with_stage;
            for rule in rules {
                draft = draft.add_gate(stage, rule.clone(), now).unwrap().0;
            }
        }
        let terms = SafeTerms {
            investment_amount_minor: Some(25_000_000),
            currency: Some("USD".to_owned()),
            valuation_cap_minor: Some(800_000_000),
            discount_rate: Some("0.20".to_owned()),
            mfn: false,
            pro_rata: true,
            conversion_timing: Some(ConversionTiming::PostMoney),
            governing_law: Some("Delaware".to_owned()),
        };
        let draft = draft.set_terms(terms, now).unwrap().set_expiry(Some(now.plus_seconds(60)), now).unwrap();
        let contacts = vec![ada, ben, eve];
        Self { draft, contacts, payments, changed_items: Vec::new(), is_activated: true }
    }

    pub(crate) fn blockers_at(&self, now: Timestamp) -> Vec<Blocker> {
        let context = DraftContext {
            workspace_activated: self.is_activated,
            contacts: &self.contacts,
            payments: &self.payments,
            changed_items: &self.changed_items,
            now,
        };
        blockers(&self.draft, &context)
    }

    pub(crate) fn blockers(&self) -> Vec<Blocker> {
        self.blockers_at(noon())
    }
}
