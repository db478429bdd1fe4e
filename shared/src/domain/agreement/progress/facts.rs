//! What has been recorded of what gates wait for.

use std::collections::BTreeSet;

use crate::domain::ids::{GateId, MovementId, ParticipantId, SignatureBlockId};
use crate::domain::movement::MovementState;
use crate::domain::time::Timestamp;

/// What the gates of an agreement wait for, as far as it has come about: what has been recorded of its documents,
/// participants and movements. Whoever records another fact lets the agreement go on to that moment first without it,
/// and then with it, in the transaction that records it.
///
/// Only the domain makes facts; all others know none:
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
    /// When the last of them was recorded; they count from then on.
    pub(in crate::domain) recorded_at: Option<Timestamp>,
    /// The blocks that are signed.
    pub(in crate::domain) signed: BTreeSet<SignatureBlockId>,
    /// Who has approved, at which gate.
    pub(in crate::domain) approved: BTreeSet<(GateId, ParticipantId)>,
    /// Who has uploaded a file, at which gate.
    pub(in crate::domain) uploaded: BTreeSet<(GateId, ParticipantId)>,
    /// Whose latest answers a member has read and accepted, at which gate.
    pub(in crate::domain) accepted: BTreeSet<(GateId, ParticipantId)>,
    /// Of whom a verification is recorded.
    pub(in crate::domain) verified: BTreeSet<ParticipantId>,
    /// The agreement's movements.
    pub(in crate::domain) movements: Vec<(MovementId, MovementState)>,
}

impl Facts {
    /// Nothing is recorded: what participants do, and movements, come with their own resources, and with what reads them
    /// wherever this is called. Until then only time takes an agreement further.
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

    /// Whether money is on its way: nothing ends an agreement then.
    #[must_use]
    pub fn has_movement_in_flight(&self) -> bool {
        self.movements.iter().any(|(_, state)| state.is_in_flight())
    }

    pub(super) fn movement(&self, wanted: Option<MovementId>) -> Option<MovementState> {
        self.movements.iter().find(|(id, _)| Some(*id) == wanted).map(|(_, state)| *state)
    }
}
