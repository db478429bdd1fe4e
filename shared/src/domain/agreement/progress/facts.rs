//! The recorded facts that gates wait for.

use std::collections::BTreeSet;

use crate::domain::ids::{GateId, MovementId, ParticipantId, SignatureBlockId};
use crate::domain::movement::MovementState;
use crate::domain::time::Timestamp;

/// The facts that have been recorded about an agreement's documents, participants and movements, for its gates. The
/// transaction that records another fact first advances the agreement to that moment without the fact, then with it.
///
/// Only the domain makes facts; other code knows none:
///
/// ```compile_fail
/// use shared::domain::agreement::progress::Facts;
/// use shared::domain::ids::{GateId, ParticipantId};
///
/// fn approve(facts: &mut Facts, gate: GateId, participant: ParticipantId) {
///     facts.approved.insert((gate, participant));
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// The time of the last recorded fact. The facts count from then on.
    pub(in crate::domain) recorded_at: Option<Timestamp>,
    /// The signed blocks.
    pub(in crate::domain) signed: BTreeSet<SignatureBlockId>,
    /// The approvals: the gate, and the participant who approved.
    pub(in crate::domain) approved: BTreeSet<(GateId, ParticipantId)>,
    /// The uploads: the gate, and the participant who uploaded a file.
    pub(in crate::domain) uploaded: BTreeSet<(GateId, ParticipantId)>,
    /// The accepted answers: the gate, and the participant whose latest answers a member has accepted.
    pub(in crate::domain) accepted: BTreeSet<(GateId, ParticipantId)>,
    /// The participants with a recorded verification.
    pub(in crate::domain) verified: BTreeSet<ParticipantId>,
    /// The agreement's movements.
    pub(in crate::domain) movements: Vec<(MovementId, MovementState)>,
}

impl Facts {
    /// No facts. Signatures, approvals, uploads, answers and movements are not recorded yet, so only time advances an
    /// agreement.
    #[must_use]
    pub fn none() -> Self {
        Self {
            recorded_at: None,
            signed: BTreeSet::new(),
            approved: BTreeSet::new(),
            uploaded: BTreeSet::new(),
            accepted: BTreeSet::new(),
            verified: BTreeSet::new(),
            movements: Vec::new(),
        }
    }

    /// Whether money is on its way. An agreement neither expires nor is cancelled then.
    #[must_use]
    pub fn has_movement_in_flight(&self) -> bool {
        self.movements.iter().any(|(_, state)| state.is_in_flight())
    }

    pub(super) fn movement(&self, wanted: Option<MovementId>) -> Option<MovementState> {
        self.movements.iter().find(|(id, _)| Some(*id) == wanted).map(|(_, state)| *state)
    }
}
