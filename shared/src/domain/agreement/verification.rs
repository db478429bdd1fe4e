//! Verified identities of participants. Countersign verifies nobody: a member says how a participant was verified, with
//! which reference and on which day, and answers for it.
//!
//! Decision: a verification is never changed or removed. A member who made a mistake records another one, and both are
//! shown.

use serde::{Deserialize, Serialize};

use super::Label;
use crate::domain::actor::Actor;
use crate::domain::day::Day;
use crate::domain::ids::{ParticipantId, VerificationId};
use crate::domain::time::Timestamp;

/// A verification to be recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewVerification {
    /// How the identity was verified.
    pub method: Label,
    /// Where the check can be found again, if it can.
    pub reference: Option<Label>,
    /// The day of the check.
    pub day: Day,
}

/// A recorded verification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verification {
    /// Its id.
    pub id: VerificationId,
    /// The participant.
    pub participant_id: ParticipantId,
    /// How the identity was verified.
    pub method: Label,
    /// Where the check can be found again, if it can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Label>,
    /// The day of the check.
    pub day: Day,
    /// The member who recorded it.
    pub recorded_by: Actor,
    /// When.
    pub recorded_at: Timestamp,
}
