//! Members' reviews of files that participants uploaded, where a condition asks for one (contract, "Gate rules").
//!
//! Decision: a review is a record of its own, since a receipt never changes. It covers all files that the participant
//! uploaded for the condition up to the one that it names.

use serde::{Deserialize, Serialize};

use super::actor::Actor;
use super::ids::{GateId, ParticipantId, ReceiptId};
use super::member::Judgment;
use super::participant::receipt::{Receipt, ReceiptAct};
use super::time::Timestamp;

/// A member's decision about the files that a participant uploaded for a condition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileReview {
    /// The receipt of the newest file that the member saw.
    pub receipt_id: ReceiptId,
    /// The condition.
    pub gate_id: GateId,
    /// The participant.
    pub participant_id: ParticipantId,
    /// What the member decided.
    pub judgment: Judgment,
    /// The member.
    pub reviewed_by: Actor,
    /// When.
    pub reviewed_at: Timestamp,
}

impl Receipt {
    /// Whether it is of a file that the participant uploaded for a condition.
    #[must_use]
    pub fn is_upload_for(&self, gate: GateId, participant: ParticipantId) -> bool {
        let is_for = matches!(&self.act, ReceiptAct::Uploaded { gate_id, .. } if *gate_id == gate);
        is_for && self.participant_id == participant
    }
}
