//! The blockers that keep a draft from being published (contract, section 5), in a stable order.

use std::collections::BTreeMap;

use super::gate::{Gate, GateRule};
use super::{Agreement, AgreementKind, ParticipantRole, SafeTerms};
use crate::domain::contact::Contact;
use crate::domain::ids::{ContactId, DocumentId, FundingItemId, GateId, MovementId, ParticipantId, StageId};
use crate::domain::money::Money;
use crate::domain::time::Timestamp;
use crate::wire::fields::FieldCode;

/// A blocker and the part of the draft it concerns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Blocker {
    /// The workspace is not activated. Confirming the publication activates it.
    WorkspaceNotActivated,
    /// The agreement has no participants.
    NoParticipants,
    /// A participant who must act has no email address.
    ParticipantEmailMissing {
        /// The participant.
        participant_id: ParticipantId,
    },
    /// The agreement has no stages.
    NoStages,
    /// A stage has no gates.
    StageEmpty {
        /// The stage.
        stage_id: StageId,
    },
    /// A gate lacks its document, movement, date or questions.
    GateIncomplete {
        /// The gate's stage.
        stage_id: StageId,
        /// The gate.
        gate_id: GateId,
    },
    /// A gate names no participant, or one who is not in the agreement.
    GateParticipantMissing {
        /// The gate's stage.
        stage_id: StageId,
        /// The gate.
        gate_id: GateId,
    },
    /// A document has no file.
    DocumentMissing {
        /// The document.
        document_id: DocumentId,
    },
    /// A payment lacks its amount, currency or purpose.
    PaymentIncomplete {
        /// The payment's movement.
        movement_id: MovementId,
    },
    /// A payment lacks its sender or its receiver.
    PaymentPartiesMissing {
        /// The payment's movement.
        movement_id: MovementId,
    },
    /// The terms of the SAFE are incomplete.
    SafeTermsIncomplete,
    /// The SAFE lacks its investor or its issuer.
    SafePartiesMissing,
    /// A funding item has changed since it was papered.
    FundingItemChanged,
    /// The expiry is in the past.
    ExpiryInPast,
}

/// The data of a draft's payment that publication depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DraftPayment {
    /// The movement.
    pub id: MovementId,
    /// Whether it has an amount, currency and purpose.
    pub is_complete: bool,
    /// The sender.
    pub sender: Option<ParticipantId>,
    /// The receiver.
    pub receiver: Option<ParticipantId>,
    /// Its amount, if known.
    pub money: Option<Money>,
}

/// The data of a draft's records that publication depends on, and the time.
#[derive(Debug, Clone, Copy)]
pub struct DraftContext<'a> {
    /// Whether its workspace is activated.
    pub workspace_activated: bool,
    /// The contacts of its participants.
    pub contacts: &'a [Contact],
    /// Its payments.
    pub payments: &'a [DraftPayment],
    /// The funding items changed since they were papered.
    pub changed_items: &'a [FundingItemId],
    /// The time.
    pub now: Timestamp,
}

/// The blockers of a draft.
#[must_use]
pub fn blockers(draft: &Agreement, context: &DraftContext<'_>) -> Vec<Blocker> {
    let mut found = Vec::new();
    if !context.workspace_activated {
        found.push(Blocker::WorkspaceNotActivated);
    }
    if draft.participants.is_empty() {
        found.push(Blocker::NoParticipants);
    }
    found.extend(without_email(draft, context));
    if draft.stages.is_empty() {
        found.push(Blocker::NoStages);
    }
    for stage in &draft.stages {
        if stage.gates.is_empty() {
            found.push(Blocker::StageEmpty { stage_id: stage.id });
        }
        for gate in &stage.gates {
            if !is_complete(gate, draft, context.payments) {
                found.push(Blocker::GateIncomplete { stage_id: stage.id, gate_id: gate.id });
            }
            if lacks_participant(gate, draft) {
                found.push(Blocker::GateParticipantMissing { stage_id: stage.id, gate_id: gate.id });
            }
        }
    }
    let without_file = draft.documents.iter().filter(|document| document.content.is_none());
    found.extend(without_file.map(|document| Blocker::DocumentMissing { document_id: document.id }));
    for payment in context.payments {
        if !payment.is_complete {
            found.push(Blocker::PaymentIncomplete { movement_id: payment.id });
        }
        let takes_part = |id: Option<ParticipantId>| id.is_some_and(|id| draft.participant(id).is_some());
        if !takes_part(payment.sender) || !takes_part(payment.receiver) {
            found.push(Blocker::PaymentPartiesMissing { movement_id: payment.id });
        }
    }
    if draft.kind == AgreementKind::Safe {
        if !draft.terms.as_ref().is_some_and(|terms| missing_terms(terms).is_empty()) {
            found.push(Blocker::SafeTermsIncomplete);
        }
        let has = |role| draft.participants.iter().any(|participant| participant.roles.contains(&role));
        if !has(ParticipantRole::Investor) || !has(ParticipantRole::Issuer) {
            found.push(Blocker::SafePartiesMissing);
        }
    }
    if !context.changed_items.is_empty() {
        found.push(Blocker::FundingItemChanged);
    }
    if draft.expires_at.is_some_and(|moment| moment <= context.now) {
        found.push(Blocker::ExpiryInPast);
    }
    found
}

/// The participants who must act but have no email address: payers, promisors, and those whom gates or blocks name.
fn without_email(draft: &Agreement, context: &DraftContext<'_>) -> Vec<Blocker> {
    let emails: BTreeMap<ContactId, bool> =
        context.contacts.iter().map(|contact| (contact.id, contact.email.is_some())).collect();
    let gates = draft.stages.iter().flat_map(|stage| &stage.gates);
    let mut acting: std::collections::BTreeSet<ParticipantId> = gates.flat_map(|gate| gate.rule.named(draft)).collect();
    acting.extend(draft.documents.iter().flat_map(|document| &document.blocks).map(|block| block.participant_id));
    acting.extend(context.payments.iter().filter_map(|payment| payment.sender));
    acting.extend(draft.promises.iter().flat_map(|promise| promise.parties.promisors()));
    let silent = draft.participants.iter().filter(|participant| {
        acting.contains(&participant.id) && !emails.get(&participant.contact_id).copied().unwrap_or_default()
    });
    silent.map(|participant| Blocker::ParticipantEmailMissing { participant_id: participant.id }).collect()
}

fn is_complete(gate: &Gate, draft: &Agreement, payments: &[DraftPayment]) -> bool {
    match &gate.rule {
        GateRule::SignatureBlocks { block_ids } => {
            let exists = |id| draft.documents.iter().flat_map(|document| &document.blocks).any(|block| block.id == id);
            !block_ids.is_empty() && block_ids.iter().all(|id| exists(*id))
        }
        GateRule::DocumentSigned { document_id } => {
            document_id.and_then(|id| draft.document(id)).is_some_and(|document| !document.blocks.is_empty())
        }
        GateRule::Countdown { until } => until.is_some(),
        GateRule::MovementAuthorized { movement_id } | GateRule::MovementReconciled { movement_id } => {
            movement_id.is_some_and(|id| payments.iter().any(|payment| payment.id == id))
        }
        GateRule::InformationRequest { fields, .. } => !fields.is_empty(),
        GateRule::ParticipantApproval { .. } | GateRule::FileUpload { .. } | GateRule::IdentityVerified { .. } => true,
    }
}

fn lacks_participant(gate: &Gate, draft: &Agreement) -> bool {
    let named = gate.rule.named(draft);
    let is_missing = named.iter().any(|id| draft.participant(*id).is_none());
    let needs_someone = matches!(
        gate.rule,
        GateRule::ParticipantApproval { .. }
            | GateRule::FileUpload { .. }
            | GateRule::InformationRequest { .. }
            | GateRule::IdentityVerified { .. }
    );
    is_missing || (needs_someone && named.is_empty())
}

/// The names of the terms that a SAFE still lacks.
#[must_use]
pub fn missing_terms(terms: &SafeTerms) -> Vec<&'static str> {
    let has_price = terms.valuation_cap_minor.is_some() || terms.discount_rate.is_some() || terms.mfn;
    let needed = [
        ("investment amount", terms.investment_amount_minor.is_some_and(|amount| amount > 0)),
        ("currency", terms.currency.is_some()),
        ("valuation cap, discount or most favored nation", has_price),
        ("conversion", terms.conversion_timing.is_some()),
        ("governing law", terms.governing_law.is_some()),
    ];
    needed.into_iter().filter(|(_, is_set)| !is_set).map(|(name, _)| name).collect()
}

impl Blocker {
    /// Its code.
    #[must_use]
    pub fn code(&self) -> FieldCode {
        match self {
            Self::WorkspaceNotActivated => FieldCode::WorkspaceNotActivated,
            Self::NoParticipants => FieldCode::NoParticipants,
            Self::ParticipantEmailMissing { .. } => FieldCode::ParticipantEmailMissing,
            Self::NoStages => FieldCode::NoStages,
            Self::StageEmpty { .. } => FieldCode::StageEmpty,
            Self::GateIncomplete { .. } => FieldCode::GateIncomplete,
            Self::GateParticipantMissing { .. } => FieldCode::GateParticipantMissing,
            Self::DocumentMissing { .. } => FieldCode::DocumentMissing,
            Self::PaymentIncomplete { .. } => FieldCode::PaymentIncomplete,
            Self::PaymentPartiesMissing { .. } => FieldCode::PaymentPartiesMissing,
            Self::SafeTermsIncomplete => FieldCode::SafeTermsIncomplete,
            Self::SafePartiesMissing => FieldCode::SafePartiesMissing,
            Self::FundingItemChanged => FieldCode::FundingItemChanged,
            Self::ExpiryInPast => FieldCode::ExpiryInPast,
        }
    }

    /// Whether the draft can be proposed despite it: confirming completes the activation.
    #[must_use]
    pub fn allows_proposal(&self) -> bool {
        matches!(self, Self::WorkspaceNotActivated)
    }

    /// Whether it concerns a contact or payment rather than the draft itself.
    #[must_use]
    pub fn is_of_another_record(&self) -> bool {
        matches!(
            self,
            Self::ParticipantEmailMissing { .. } | Self::PaymentIncomplete { .. } | Self::PaymentPartiesMissing { .. }
        )
    }

    /// What would help, for display.
    #[must_use]
    pub fn message(&self) -> &'static str {
        match self {
            Self::WorkspaceNotActivated => {
                "The workspace is not activated yet; confirming the publication completes that."
            }
            Self::NoParticipants => "Nobody takes part yet. Add a participant.",
            Self::ParticipantEmailMissing { .. } => {
                "Someone who must act has no email address. Add one to their contact."
            }
            Self::NoStages => "There are no steps yet. Add one in the app.",
            Self::StageEmpty { .. } => "A step has no conditions. Add one, or remove the step.",
            Self::GateIncomplete { .. } => {
                "A condition is incomplete. Choose its document, payment, date or questions."
            }
            Self::GateParticipantMissing { .. } => "A condition waits for nobody who takes part. Choose who must act.",
            Self::DocumentMissing { .. } => "A document has no file. Upload it.",
            Self::PaymentIncomplete { .. } => "A payment lacks its amount, currency or purpose.",
            Self::PaymentPartiesMissing { .. } => "A payment lacks its sender or its receiver.",
            Self::SafeTermsIncomplete => "The terms of the SAFE are incomplete.",
            Self::SafePartiesMissing => "A SAFE needs an investor and an issuer among its participants.",
            Self::FundingItemChanged => {
                "A funding item is on hold or has left this agreement, or its trust, an owner or a trustee has changed since it was papered. Clear the hold, or discard this draft and paper the items again."
            }
            Self::ExpiryInPast => "The agreement would have expired already. Choose a later date.",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{Deal, draft, noon, promise, question};
    use super::super::gate::RequestedFile;
    use super::super::promise::{Parties, Promise};
    use super::*;
    use crate::domain::ids::MovementId;

    type Case = (&'static [FieldCode], fn(&mut Deal));

    fn codes(found: &[Blocker]) -> Vec<FieldCode> {
        found.iter().map(Blocker::code).collect()
    }

    fn gate(deal: &mut Deal, stage: usize, gate: usize) -> &mut Gate {
        &mut deal.draft.stages[stage].gates[gate]
    }

    fn promised(deal: &mut Deal, promisor: usize, promisee: usize) {
        let id = |n: usize| deal.draft.participants[n].id;
        let parties = Parties::new([id(promisor)].into(), [id(promisee)].into()).unwrap();
        let made = promise(&deal.draft, "Insurance");
        deal.draft.promises.push(Promise { parties, ..made });
    }

    const CASES: &[Case] = &[
        (&[], |_| {}),
        (&[FieldCode::WorkspaceNotActivated], |deal| deal.is_activated = false),
        (&[FieldCode::ParticipantEmailMissing], |deal| deal.contacts[1].email = None),
        // An observer needs no email address.
        (&[], |deal| deal.contacts[2].email = None),
        (&[FieldCode::ParticipantEmailMissing], |deal| {
            deal.contacts[2].email = None;
            promised(deal, 2, 0);
        }),
        // A member can record that a promise was kept.
        (&[], |deal| {
            deal.contacts[2].email = None;
            promised(deal, 0, 2);
        }),
        (&[FieldCode::NoStages], |deal| deal.draft.stages.clear()),
        (&[FieldCode::StageEmpty], |deal| deal.draft.stages[1].gates.clear()),
        (&[FieldCode::GateIncomplete], |deal| {
            gate(deal, 0, 0).rule = GateRule::SignatureBlocks { block_ids: [].into() };
        }),
        (&[FieldCode::GateIncomplete], |deal| {
            gate(deal, 0, 0).rule =
                GateRule::SignatureBlocks { block_ids: [crate::domain::ids::SignatureBlockId::new()].into() };
        }),
        (&[FieldCode::GateIncomplete], |deal| gate(deal, 0, 1).rule = GateRule::DocumentSigned { document_id: None }),
        (&[FieldCode::GateIncomplete], |deal| {
            gate(deal, 0, 1).rule = GateRule::DocumentSigned { document_id: Some(DocumentId::new()) };
        }),
        (&[FieldCode::GateIncomplete; 2], |deal| deal.draft.documents[0].blocks.clear()),
        (&[FieldCode::GateIncomplete], |deal| gate(deal, 1, 1).rule = GateRule::Countdown { until: None }),
        (&[FieldCode::GateIncomplete], |deal| {
            gate(deal, 1, 2).rule = GateRule::MovementAuthorized { movement_id: None }
        }),
        (&[FieldCode::GateIncomplete], |deal| {
            gate(deal, 2, 0).rule = GateRule::MovementReconciled { movement_id: None }
        }),
        (&[FieldCode::GateIncomplete], |deal| {
            gate(deal, 2, 0).rule = GateRule::MovementReconciled { movement_id: Some(MovementId::new()) };
        }),
        (&[FieldCode::GateIncomplete], |deal| {
            let participant_ids = gate(deal, 2, 2).clone().rule.named(&deal.draft);
            gate(deal, 2, 1).rule = GateRule::InformationRequest { participant_ids, fields: Vec::new() };
        }),
        (&[FieldCode::GateParticipantMissing], |deal| {
            gate(deal, 0, 2).rule = GateRule::ParticipantApproval { participant_ids: [].into() };
        }),
        (&[FieldCode::GateParticipantMissing], |deal| {
            gate(deal, 1, 0).rule =
                GateRule::FileUpload { participant_ids: [ParticipantId::new()].into(), file: RequestedFile::default() };
        }),
        (&[FieldCode::GateParticipantMissing], |deal| {
            let fields = vec![question("Who?")];
            gate(deal, 2, 1).rule = GateRule::InformationRequest { participant_ids: [].into(), fields };
        }),
        (&[FieldCode::GateParticipantMissing], |deal| {
            gate(deal, 2, 2).rule = GateRule::IdentityVerified { participant_ids: [].into() };
        }),
        // A block of an unknown participant blocks both gates that wait for it.
        (&[FieldCode::GateParticipantMissing; 2], |deal| {
            deal.draft.documents[0].blocks[0].participant_id = ParticipantId::new();
        }),
        (&[FieldCode::DocumentMissing], |deal| deal.draft.documents[0].content = None),
        (&[FieldCode::PaymentIncomplete], |deal| deal.payments[0].is_complete = false),
        (&[FieldCode::PaymentPartiesMissing], |deal| deal.payments[0].receiver = None),
        (&[FieldCode::PaymentPartiesMissing], |deal| deal.payments[0].sender = Some(ParticipantId::new())),
        (&[FieldCode::PaymentIncomplete, FieldCode::PaymentPartiesMissing], |deal| {
            (deal.payments[0].is_complete, deal.payments[0].sender) = (false, None);
        }),
        (&[FieldCode::SafeTermsIncomplete], |deal| deal.draft.terms = None),
        (&[FieldCode::SafeTermsIncomplete], |deal| terms(deal).investment_amount_minor = None),
        (&[FieldCode::SafeTermsIncomplete], |deal| terms(deal).investment_amount_minor = Some(0)),
        (&[FieldCode::SafeTermsIncomplete], |deal| terms(deal).currency = None),
        (&[FieldCode::SafeTermsIncomplete], |deal| terms(deal).conversion_timing = None),
        (&[FieldCode::SafeTermsIncomplete], |deal| terms(deal).governing_law = None),
        (&[FieldCode::SafeTermsIncomplete], |deal| {
            (terms(deal).valuation_cap_minor, terms(deal).discount_rate) = (None, None);
        }),
        (&[], |deal| terms(deal).valuation_cap_minor = None),
        (&[], |deal| {
            (terms(deal).valuation_cap_minor, terms(deal).discount_rate, terms(deal).mfn) = (None, None, true);
        }),
        (&[FieldCode::SafePartiesMissing], |deal| deal.draft.participants[0].roles = [ParticipantRole::Funder].into()),
        (&[FieldCode::SafePartiesMissing], |deal| {
            deal.draft.participants[1].roles = [ParticipantRole::Receiver].into();
        }),
        (&[], |deal| (deal.draft.kind, deal.draft.terms) = (AgreementKind::General, None)),
        (&[FieldCode::FundingItemChanged], |deal| {
            deal.changed_items = vec![FundingItemId::new(), FundingItemId::new()];
        }),
        (&[FieldCode::ExpiryInPast], |deal| deal.draft.expires_at = Some(noon())),
        (&[], |deal| deal.draft.expires_at = Some(Timestamp::from_unix_ms(noon().unix_ms() + 1).unwrap())),
        (&[], |deal| deal.draft.expires_at = None),
    ];

    fn terms(deal: &mut Deal) -> &mut SafeTerms {
        deal.draft.terms.as_mut().unwrap()
    }

    #[test]
    fn each_blocker_is_where_it_should_be_and_only_there() {
        for (n, (expected, change)) in CASES.iter().enumerate() {
            let mut deal = Deal::complete();
            change(&mut deal);
            assert_eq!(codes(&deal.blockers()), *expected, "case {n}");
        }
    }

    #[test]
    fn nobody_at_all_is_a_blocker_of_its_own() {
        let mut deal = Deal::complete();
        deal.draft = draft(AgreementKind::General);
        deal.payments.clear();
        assert_eq!(codes(&deal.blockers()), [FieldCode::NoParticipants, FieldCode::NoStages]);
    }

    #[test]
    fn all_blockers_are_listed_in_a_stable_order() {
        let mut deal = Deal::complete();
        deal.is_activated = false;
        deal.contacts[0].email = None;
        deal.contacts[1].email = None;
        deal.draft.documents[0].content = None;
        gate(&mut deal, 0, 2).rule = GateRule::ParticipantApproval { participant_ids: [].into() };
        gate(&mut deal, 1, 1).rule = GateRule::Countdown { until: None };
        deal.draft.stages[2].gates.clear();
        deal.payments[0].receiver = None;
        terms(&mut deal).currency = None;
        deal.draft.expires_at = Some(noon());
        let expected = [
            FieldCode::WorkspaceNotActivated,
            FieldCode::ParticipantEmailMissing,
            FieldCode::ParticipantEmailMissing,
            FieldCode::GateParticipantMissing,
            FieldCode::GateIncomplete,
            FieldCode::StageEmpty,
            FieldCode::DocumentMissing,
            FieldCode::PaymentPartiesMissing,
            FieldCode::SafeTermsIncomplete,
            FieldCode::ExpiryInPast,
        ];
        assert_eq!(codes(&deal.blockers()), expected);
        assert_eq!(deal.blockers(), deal.blockers());
    }

    #[test]
    fn only_activation_allows_a_proposal() {
        for (expected, change) in CASES {
            let mut deal = Deal::complete();
            change(&mut deal);
            let allows = deal.blockers().iter().all(Blocker::allows_proposal);
            assert_eq!(allows, expected.iter().all(|code| *code == FieldCode::WorkspaceNotActivated), "{expected:?}");
        }
    }
}
