//! Movements that end with their agreement.
//!
//! Decision: readers see a movement as cancelled, and acts are refused, as soon as the agreement's record says so,
//! although the movement's own record follows in a later transaction. Expiry takes effect when committed (contract,
//! section 3, "Clock rules"); until then clients see an active agreement with unchanged movements.
//!
//! Decision: money sent before the end may still arrive. The movement stays cancelled and is never reconciled, but
//! takes evidence and a return, permanently marked as late.

use std::borrow::Cow;
use std::ops::Deref;

use super::{Ending, Movement, Status};
use crate::domain::actor::Actor;
use crate::domain::agreement::Agreement;
use crate::domain::moment::Moment;
use crate::domain::movement::state::MovementState;
use crate::domain::time::Timestamp;

/// A movement cancelled by its agreement's cancellation or expiry: the only change of a movement without a person.
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
    /// The call that ends it, and its time.
    #[must_use]
    pub fn moment(&self) -> Moment {
        self.moment
    }
}

impl Movement {
    /// The movement, cancelled with its agreement. None if nothing remains to be done. The specification has no event
    /// for it.
    #[must_use]
    pub fn ended_with(&self, agreement: &Agreement, moment: Moment) -> Option<EndedMovement> {
        let is_of_agreement = self.agreement_id == agreement.id();
        let says_so = agreement.movement_state(self.id) == Some(MovementState::Cancelled);
        if !is_of_agreement || !says_so || !self.state().ends_with_agreement() {
            return None;
        }
        Some(EndedMovement { movement: self.cancelled_by_end(moment.at()), moment })
    }

    /// The movement as readers see it: cancelled once its agreement was cancelled or has expired, recorded or not.
    #[must_use]
    pub fn as_told(&self, agreement: &Agreement) -> Cow<'_, Self> {
        let ends =
            self.agreement_id == agreement.id() && agreement.has_ended_early() && self.state().ends_with_agreement();
        if ends { Cow::Owned(self.cancelled_by_end(agreement.updated_at)) } else { Cow::Borrowed(self) }
    }

    /// The same when the agreement is known to have ended, but not when.
    #[must_use]
    pub fn told_at_end(&self) -> Cow<'_, Self> {
        let ends = self.state().ends_with_agreement();
        if ends { Cow::Owned(self.cancelled_by_end(self.updated_at)) } else { Cow::Borrowed(self) }
    }

    fn cancelled_by_end(&self, at: Timestamp) -> Self {
        let status = Status::Cancelled(Ending { at, by: Actor::system(), reason: None, late_since: None });
        Self { status, released: None, updated_at: at.max(self.updated_at), ..self.clone() }
    }
}
