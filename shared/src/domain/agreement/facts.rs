//! The recorded facts that gates wait for.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::domain::ids::{GateId, MovementId, ParticipantId, SignatureBlockId};
use crate::domain::movement::state::MovementState;
use crate::domain::time::Timestamp;

/// The facts that have been recorded about an agreement's documents, participants and movements, for its gates. The
/// transaction that records another fact first advances the agreement to that moment without the fact, then with it.
///
/// Only the domain makes facts; other code knows none:
///
/// ```compile_fail
/// use shared::domain::agreement::facts::Facts;
/// use shared::domain::ids::{GateId, ParticipantId};
///
/// fn approve(facts: &mut Facts, gate: GateId, participant: ParticipantId) {
///     facts.approved.insert((gate, participant));
/// }
/// ```
///
/// Decision: an agreement keeps its facts itself. They are small, lists need them too, and two facts that are recorded at
/// once meet in the agreement's version. What a fact rests on, such as the method of a verification, is a record of its
/// own, which only its pages read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// The time of the last recorded fact. The facts count from then on.
    pub(in crate::domain) recorded_at: Option<Timestamp>,
    /// The signed blocks.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(in crate::domain) signed: BTreeSet<SignatureBlockId>,
    /// The approvals: the gate, and the participant who approved.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(in crate::domain) approved: BTreeSet<(GateId, ParticipantId)>,
    /// The uploads: the gate, and the participant who uploaded a file.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(in crate::domain) uploaded: BTreeSet<(GateId, ParticipantId)>,
    /// The answers that wait for a member: the gate, and the participant who sent them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(in crate::domain) answered: BTreeSet<(GateId, ParticipantId)>,
    /// The bytes of all answers that were ever sent.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(in crate::domain) answer_bytes: usize,
    /// The bytes of all files of its evidence that were ever filed, its documents not counted: uploads, the documents of
    /// payments, and scans, whatever was decided about them.
    #[serde(default, skip_serializing_if = "is_no_byte")]
    pub(in crate::domain) file_bytes: u64,
    /// The accepted answers: the gate, and the participant whose latest answers a member has accepted.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(in crate::domain) accepted: BTreeSet<(GateId, ParticipantId)>,
    /// The participants with a recorded verification.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(in crate::domain) verified: BTreeSet<ParticipantId>,
    /// The agreement's movements with their states. They are records of their own, and change with this in one transaction;
    /// those that end with the agreement follow it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(in crate::domain) movements: BTreeMap<MovementId, MovementState>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_no_byte(bytes: &u64) -> bool {
    *bytes == 0
}

impl Facts {
    /// No facts.
    #[must_use]
    pub fn none() -> Self {
        Self {
            recorded_at: None,
            signed: BTreeSet::new(),
            approved: BTreeSet::new(),
            uploaded: BTreeSet::new(),
            answered: BTreeSet::new(),
            answer_bytes: 0,
            file_bytes: 0,
            accepted: BTreeSet::new(),
            verified: BTreeSet::new(),
            movements: BTreeMap::new(),
        }
    }

    /// Whether nothing has been recorded.
    pub(in crate::domain) fn is_none(&self) -> bool {
        *self == Self::none()
    }

    /// Whether money is on its way. An agreement neither expires nor is cancelled then.
    #[must_use]
    pub fn has_movement_in_flight(&self) -> bool {
        self.movements.values().any(|state| state.is_in_flight())
    }

    pub(super) fn movement(&self, wanted: Option<MovementId>) -> Option<MovementState> {
        wanted.and_then(|id| self.movements.get(&id)).copied()
    }

    /// Cancels the movements that end with the agreement.
    pub(super) fn end_movements(&mut self) {
        for state in self.movements.values_mut().filter(|state| state.ends_with_agreement()) {
            *state = MovementState::Cancelled;
        }
    }
}
