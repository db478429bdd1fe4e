//! Lists of names, and counts, shared by several sentences.

use crate::domain::agreement::Agreement;
use crate::domain::agreement::gate::GateType;
use crate::domain::contact::Contact;
use crate::domain::ids::ParticipantId;

pub(super) fn names(agreement: &Agreement, ids: &[ParticipantId], contacts: &[Contact]) -> String {
    in_short(&each_name(agreement, ids, contacts))
}

pub(super) fn in_short(names: &[&str]) -> String {
    match names {
        [first, rest @ ..] if rest.len() > 1 => format!("{first} and {} others", rest.len()),
        few => listed(few),
    }
}

pub(super) fn all_names(agreement: &Agreement, ids: &[ParticipantId], contacts: &[Contact]) -> String {
    listed(&each_name(agreement, ids, contacts))
}

fn each_name<'a>(agreement: &Agreement, ids: &[ParticipantId], contacts: &'a [Contact]) -> Vec<&'a str> {
    let name = |id: &ParticipantId| {
        let participant = agreement.participant(*id)?;
        let contact = contacts.iter().find(|contact| contact.id == participant.contact_id)?;
        Some(contact.display_name.as_str())
    };
    ids.iter().filter_map(name).collect()
}

fn listed(names: &[&str]) -> String {
    match names {
        [] => "Someone".to_owned(),
        [one] => (*one).to_owned(),
        [all @ .., last] => format!("{} and {last}", all.join(", ")),
    }
}

/// The name of a condition's type.
#[must_use]
pub fn condition(gate_type: GateType) -> &'static str {
    match gate_type {
        GateType::SignatureBlocks => "Signatures",
        GateType::DocumentSigned => "Signed document",
        GateType::ParticipantApproval => "Approval",
        GateType::FileUpload => "File upload",
        GateType::Countdown => "Waiting period",
        GateType::MovementAuthorized => "Authorized payment",
        GateType::MovementReconciled => "Confirmed payment",
        GateType::InformationRequest => "Information request",
        GateType::IdentityVerified => "Identity check",
    }
}

/// A number of things, such as `1 payment` or `3 payments`.
#[must_use]
pub fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
