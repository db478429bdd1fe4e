//! Where an agreement and its gates are.

use super::names::names;
use crate::domain::agreement::gate::{Gate, GateRule, GateState};
use crate::domain::agreement::{Agreement, Life, Lifecycle, StageState};
use crate::domain::contact::Contact;
use crate::domain::ids::ParticipantId;

/// An agreement's `status`.
#[must_use]
pub fn agreement_status(agreement: &Agreement, is_ready: bool) -> String {
    match agreement.life {
        Life::Draft if is_ready => "Draft, ready to be proposed".to_owned(),
        Life::Draft => "Draft".to_owned(),
        Life::Active { .. } => {
            match agreement.stages.iter().enumerate().find(|(_, stage)| stage.state == StageState::Current) {
                Some((index, stage)) => {
                    format!("Active: step {} of {}, {}", index + 1, agreement.stages.len(), stage.name.as_str())
                }
                None => "Active".to_owned(),
            }
        }
        Life::Completed { .. } => "Completed".to_owned(),
        Life::Cancelled { .. } => "Cancelled".to_owned(),
        Life::Expired { .. } => "Expired".to_owned(),
    }
}

/// A gate's `waiting_on`.
#[must_use]
pub fn waiting_on(gate: &Gate, agreement: &Agreement, waited_for: &[ParticipantId], contacts: &[Contact]) -> String {
    let who = names(agreement, waited_for, contacts);
    let has_ended = !matches!(agreement.lifecycle(), Lifecycle::Draft | Lifecycle::Active);
    match (&gate.state, &gate.rule) {
        (GateState::Locked | GateState::Open { .. }, _) if has_ended => "Nobody: the agreement has ended".to_owned(),
        (GateState::Locked, _) if agreement.lifecycle() == Lifecycle::Draft => "Publication".to_owned(),
        (GateState::Cleared { .. }, _) => "Done".to_owned(),
        (GateState::Declined { participant_id, .. }, _) => {
            format!("Declined by {}", names(agreement, &[*participant_id], contacts))
        }
        (GateState::Locked, _) => "The steps before".to_owned(),
        (GateState::Open { .. }, GateRule::SignatureBlocks { .. } | GateRule::DocumentSigned { .. }) => {
            format!("{who} to sign")
        }
        (GateState::Open { .. }, GateRule::ParticipantApproval { .. }) => format!("{who} to approve"),
        (GateState::Open { .. }, GateRule::FileUpload { .. }) => format!("{who} to upload a file"),
        (GateState::Open { .. }, GateRule::Countdown { .. }) => match gate.due_at() {
            Some(due) => due.for_people(),
            None => "A date to be set".to_owned(),
        },
        (GateState::Open { .. }, GateRule::MovementAuthorized { .. }) => "The payment to be authorized".to_owned(),
        (GateState::Open { .. }, GateRule::MovementReconciled { .. }) => {
            "Proof from the receiving side that the payment arrived".to_owned()
        }
        (GateState::Open { .. }, GateRule::InformationRequest { .. }) => {
            format!("{who} to answer, and a member to accept")
        }
        (GateState::Open { .. }, GateRule::IdentityVerified { .. }) => format!("{who} to be verified"),
    }
}
