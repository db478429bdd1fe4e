//! The recorded facts that gates wait for.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::domain::ids::{GateId, MovementId, ParticipantId, SignatureBlockId};
use crate::domain::movement::state::MovementState;
use crate::domain::time::Timestamp;

/// The recorded facts for an agreement's gates. Recording one first advances the agreement to that moment without it.
///
/// Only the domain makes facts:
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
/// Decision: an agreement stores its facts itself. They are small, lists need them, and facts recorded concurrently
/// meet in the agreement's version. The basis of a fact, such as a verification's method, is a separate record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    pub(in crate::domain) recorded_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(in crate::domain) signed: BTreeSet<SignatureBlockId>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(in crate::domain) approved: BTreeSet<(GateId, ParticipantId)>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(in crate::domain) uploaded: BTreeSet<(GateId, ParticipantId)>,
    /// The answers and files that wait for a member's review, by gate and participant, with the time they were sent.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", with = "answers_that_wait")]
    pub(in crate::domain) answered: BTreeMap<(GateId, ParticipantId), Timestamp>,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(in crate::domain) answer_bytes: usize,
    /// The bytes of all evidence files ever filed, accepted or not, but not of the agreement's documents.
    #[serde(default, skip_serializing_if = "is_no_byte")]
    pub(in crate::domain) file_bytes: u64,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(in crate::domain) accepted: BTreeSet<(GateId, ParticipantId)>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(in crate::domain) verified: BTreeSet<ParticipantId>,
    /// Movements' own records change in the same transaction, except that those ending with the agreement follow later.
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

/// Stores waiting answers as a list, because keys of stored maps are texts.
mod answers_that_wait {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::domain::ids::{GateId, ParticipantId};
    use crate::domain::time::Timestamp;

    type Answers = BTreeMap<(GateId, ParticipantId), Timestamp>;

    #[derive(Serialize, Deserialize)]
    struct Waiting(GateId, ParticipantId, Timestamp);

    pub(super) fn serialize<S: Serializer>(answers: &Answers, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(answers.iter().map(|((gate, by), sent_at)| Waiting(*gate, *by, *sent_at)))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Answers, D::Error> {
        let waiting = Vec::<Waiting>::deserialize(from)?;
        Ok(waiting.into_iter().map(|Waiting(gate, by, sent_at)| ((gate, by), sent_at)).collect())
    }
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
            answered: BTreeMap::new(),
            answer_bytes: 0,
            file_bytes: 0,
            accepted: BTreeSet::new(),
            verified: BTreeSet::new(),
            movements: BTreeMap::new(),
        }
    }

    pub(in crate::domain) fn is_none(&self) -> bool {
        *self == Self::none()
    }

    pub(crate) fn movement_states(&self) -> impl Iterator<Item = MovementState> + '_ {
        self.movements.values().copied()
    }

    /// Whether money is in flight. The agreement then neither expires nor can be cancelled.
    #[must_use]
    pub fn has_movement_in_flight(&self) -> bool {
        self.movements.values().any(|state| state.is_in_flight())
    }

    pub(super) fn movement(&self, wanted: Option<MovementId>) -> Option<MovementState> {
        wanted.and_then(|id| self.movements.get(&id)).copied()
    }

    pub(super) fn end_movements(&mut self) {
        for state in self.movements.values_mut().filter(|state| state.ends_with_agreement()) {
            *state = MovementState::Cancelled;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_keep_when_they_were_sent() {
        let sent_at = Timestamp::from_unix_ms(1_800_000_000_000).unwrap();
        let facts = Facts { answered: [((GateId::new(), ParticipantId::new()), sent_at)].into(), ..Facts::none() };
        let stored = serde_dynamo::aws_sdk_dynamodb_1::to_item(&facts).unwrap();
        assert_eq!(serde_dynamo::aws_sdk_dynamodb_1::from_item::<Facts>(stored).unwrap(), facts);
    }
}
