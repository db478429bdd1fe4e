//! A draft's blockers as a checklist: what is missing, where, and a link to fix it.

use shared::domain::agreement::blockers::{self, Blocker, DraftContext, DraftPayment};
use shared::domain::agreement::gate::GateRule;
use shared::domain::agreement::{Agreement, ParticipantRole};
use shared::domain::contact::Contact;
use shared::domain::ids::{AgreementId, GateId, MovementId, StageId};
use shared::domain::movement::Movement;
use shared::domain::movement::terms::PaymentTerms;
use shared::domain::time::Timestamp;
use shared::text;

use crate::agreement_summary::participant_name;
use crate::payment_list::{lacking as lacking_terms, name};
use crate::urls::{
    agreement_url, condition_url, contact_url, document_url, payment_url, payments_url, step_url, workspace_url,
};

/// A blocker and the place to fix it.
pub struct BlockerRow {
    /// Where to fix it.
    pub url: String,
    /// What to do.
    pub text: String,
}

/// A draft's blockers, except the workspace's activation, which publishing does. Names only the given `payments`.
#[must_use]
pub fn blocker_rows(
    agreement: &Agreement,
    contacts: &[Contact],
    payments: &[Movement],
    blockers: &[Blocker],
) -> Vec<BlockerRow> {
    let blockers = blockers.iter().filter(|blocker| !blocker.allows_proposal());
    blockers.map(|blocker| blocker_row(agreement, contacts, payments, blocker)).collect()
}

fn blocker_row(agreement: &Agreement, contacts: &[Contact], payments: &[Movement], blocker: &Blocker) -> BlockerRow {
    let id = agreement.id();
    let own = agreement_url(id);
    let step_name = |stage: StageId| agreement.stage(stage).map_or("", |stage| stage.name.as_str());
    let (url, text) = match blocker {
        Blocker::WorkspaceNotActivated => (workspace_url(agreement.workspace_id), "Activate the workspace".to_owned()),
        Blocker::NoParticipants => (format!("{own}/participants"), "Add a participant".to_owned()),
        Blocker::ParticipantEmailMissing { participant_id } => {
            let contact = agreement.participant(*participant_id).map(|participant| participant.contact_id);
            let url = contact.map_or_else(|| own.clone(), |contact| format!("{}#email", contact_url(contact)));
            (url, format!("Add an email address for {}", participant_name(agreement, contacts, *participant_id)))
        }
        Blocker::NoStages => (format!("{own}#add-step"), "Add a step".to_owned()),
        Blocker::StageEmpty { stage_id } => {
            (format!("{}#add", step_url(id, *stage_id)), format!("Add a condition to “{}”", step_name(*stage_id)))
        }
        Blocker::GateIncomplete { stage_id, gate_id } => incomplete(agreement, *stage_id, *gate_id),
        Blocker::GateParticipantMissing { stage_id, gate_id } => {
            let text = format!("Choose who must act in {}", place(agreement, *stage_id, *gate_id));
            (condition_url(id, *gate_id), text)
        }
        Blocker::DocumentMissing { document_id } => {
            let name = agreement.document(*document_id).map_or("", |document| document.name.as_str());
            (format!("{}#file", document_url(id, *document_id)), format!("Upload the file of “{name}”"))
        }
        Blocker::SafeTermsIncomplete => {
            let missing = agreement.terms.as_ref().map(blockers::missing_terms).unwrap_or_default();
            (format!("{own}/terms"), format!("Complete the SAFE terms: {}", missing.join("; ")))
        }
        Blocker::SafePartiesMissing => (format!("{own}#participants"), missing_parties(agreement)),
        Blocker::ExpiryInPast => (format!("{own}/details#expires_at"), "Choose an expiry in the future".to_owned()),
        Blocker::PaymentIncomplete { movement_id } => {
            let (url, found) = payment(id, *movement_id, payments);
            let lacks = found.map(|found| lacking_of(found.terms(), agreement, &["purpose", "amount"]));
            let text = match (found, lacks) {
                (Some(found), Some(lacks)) => format!("Complete the payment “{}”: {lacks}", name(found)),
                _ => "Complete a payment: purpose and amount".to_owned(),
            };
            (url, text)
        }
        Blocker::PaymentPartiesMissing { movement_id } => {
            let (url, found) = payment(id, *movement_id, payments);
            let text = match found {
                Some(found) => {
                    let lacks = lacking_of(found.terms(), agreement, &["payer", "payee"]);
                    format!("Choose who takes part in the payment “{}”: {lacks}", name(found))
                }
                None => "Choose the payer and the payee of a payment".to_owned(),
            };
            (url, text)
        }
        Blocker::FundingItemChanged => (own, blocker.message().to_owned()),
    };
    BlockerRow { url, text }
}

fn payment(agreement: AgreementId, id: MovementId, payments: &[Movement]) -> (String, Option<&Movement>) {
    (payment_url(agreement, id), payments.iter().find(|payment| payment.id() == id))
}

fn lacking_of(terms: &PaymentTerms, agreement: &Agreement, these: &[&str]) -> String {
    let lacks = lacking_terms(terms, agreement).into_iter().filter(|name| these.contains(name));
    lacks.collect::<Vec<_>>().join(" and ")
}

fn incomplete(agreement: &Agreement, stage: StageId, gate: GateId) -> (String, String) {
    let (id, place) = (agreement.id(), place(agreement, stage, gate));
    let own = condition_url(id, gate);
    match agreement.gate(gate).map(|gate| &gate.rule) {
        Some(GateRule::SignatureBlocks { .. }) => (own, format!("Choose the signature blocks of {place}")),
        Some(GateRule::DocumentSigned { document_id }) => {
            match document_id.and_then(|document| agreement.document(document)) {
                // The condition is set: what is missing is on its document's page.
                Some(document) => (
                    format!("{}#add-block", document_url(id, document.id)),
                    format!("Add a signature block to “{}”, for {place}", document.name.as_str()),
                ),
                None => (own, format!("Choose the document of {place}")),
            }
        }
        Some(GateRule::Countdown { .. }) => (own, format!("Set the waiting period of {place}")),
        Some(GateRule::InformationRequest { .. }) => {
            (format!("{own}#add-question"), format!("Add questions to {place}"))
        }
        Some(GateRule::MovementAuthorized { .. } | GateRule::MovementReconciled { .. })
            if agreement.movements().is_empty() =>
        {
            (payments_url(id), format!("Add a payment, for {place}"))
        }
        Some(GateRule::MovementAuthorized { .. } | GateRule::MovementReconciled { .. }) => {
            (own, format!("Choose the payment of {place}"))
        }
        _ => (own, format!("Complete {place}")),
    }
}

/// A condition by type and step, such as `“Approval” in “Closing”`; numbered if the step has several of the type.
fn place(agreement: &Agreement, stage: StageId, gate: GateId) -> String {
    let Some(stage) = agreement.stage(stage) else { return String::new() };
    let type_of = |id: GateId| stage.gates.iter().find(|gate| gate.id == id).map(|gate| gate.rule.gate_type());
    let own = type_of(gate);
    let same: Vec<GateId> =
        stage.gates.iter().filter(|gate| Some(gate.rule.gate_type()) == own).map(|gate| gate.id).collect();
    let number = match same.iter().position(|id| *id == gate) {
        Some(index) if same.len() > 1 => format!(" {}", index + 1),
        _ => String::new(),
    };
    let name = own.map_or("", text::condition);
    format!("“{name}{number}” in “{}”", stage.name.as_str())
}

fn missing_parties(agreement: &Agreement) -> String {
    let has = |role| agreement.participants.iter().any(|participant| participant.roles.contains(&role));
    let missing: Vec<String> = [ParticipantRole::Investor, ParticipantRole::Issuer]
        .into_iter()
        .filter(|role| !has(*role))
        .map(|role| format!("one participant the role {}", text::role(role)))
        .collect();
    format!("Give {}", missing.join(" and "))
}

/// What a condition lacks, in sentences.
#[must_use]
pub fn lacking(agreement: &Agreement, gate: GateId, now: Timestamp) -> Vec<String> {
    // Depends on the draft alone: payments report their own gaps.
    let payment =
        |id: &MovementId| DraftPayment { id: *id, is_complete: true, sender: None, receiver: None, money: None };
    let payments: Vec<DraftPayment> = agreement.movements().keys().map(payment).collect();
    let context =
        DraftContext { workspace_activated: true, contacts: &[], payments: &payments, changed_items: &[], now };
    let found = blockers::blockers(agreement, &context);
    let own = found.iter().filter(|blocker| match blocker {
        Blocker::GateIncomplete { gate_id, .. } | Blocker::GateParticipantMissing { gate_id, .. } => *gate_id == gate,
        _ => false,
    });
    own.map(|blocker| format!("Still to do: {}.", lowercase_first(&blocker_row(agreement, &[], &[], blocker).text)))
        .collect()
}

fn lowercase_first(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}
