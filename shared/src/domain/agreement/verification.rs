//! Verified identities. Countersign verifies none: a member states how, with reference and day, and answers for it.
//!
//! Decision: verifications are never changed or removed. To correct one, a member records another; pages show both.

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
    /// A reference to the check, if any.
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
    /// A reference to the check, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Label>,
    /// The day of the check.
    pub day: Day,
    /// The member who recorded it.
    pub recorded_by: Actor,
    /// When it was recorded.
    pub recorded_at: Timestamp,
}
