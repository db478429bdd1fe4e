//! Movements that end with their agreement.

use std::ops::Deref;

use super::{Ending, Movement, Status};
use crate::domain::actor::Actor;
use crate::domain::agreement::Agreement;
use crate::domain::moment::Moment;
use crate::domain::movement::state::MovementState;

/// A movement that was cancelled because its agreement was cancelled or expired: the only change of a movement that needs no
/// person.
///
/// ```compile_fail
/// use shared::domain::moment::Moment;
/// use shared::domain::movement::{EndedMovement, Movement};
///
/// fn end(movement: Movement, moment: Moment) -> EndedMovement {
///     EndedMovement { movement, moment }
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndedMovement {
    movement: Movement,
    moment: Moment,
}

impl Deref for EndedMovement {
    type Target = Movement;

    fn deref(&self) -> &Movement {
        &self.movement
    }
}

impl EndedMovement {
    /// The call that ends it, with its time.
    #[must_use]
    pub fn moment(&self) -> Moment {
        self.moment
    }
}

impl Movement {
    /// The movement cancelled with its agreement, which says so already. None if nothing is left to do. It emits no event,
    /// because the specification has none for it.
    #[must_use]
    pub fn ended_with(&self, agreement: &Agreement, moment: Moment) -> Option<EndedMovement> {
        let is_of_agreement = self.agreement_id == agreement.id();
        let says_so = agreement.movement_state(self.id) == Some(MovementState::Cancelled);
        if !is_of_agreement || !says_so || !self.state().ends_with_agreement() {
            return None;
        }
        let status = Status::Cancelled(Ending { at: moment.at(), by: Actor::system(), reason: None });
        let movement = Self { status, released: None, updated_at: moment.at().max(self.updated_at), ..self.clone() };
        Some(EndedMovement { movement, moment })
    }
}
