//! Movements that end with their agreement.
//!
//! Decision: readers are told of the end from the moment on in which the agreement's record says it, as acts are refused from
//! then on. That each movement's own record follows in a transaction of its own, a little later, is nobody's concern. When an
//! agreement expires is committed (contract, section 3, "Clock rules"), so until then the agreement is active for clients, and
//! its movements are as they were: the two never disagree.
//!
//! Decision: money that was sent before the end, and not reported, may still arrive. The movement stays cancelled and is never
//! reconciled, but takes evidence and a return. They are late for good: record, ledger and bundle say so.

use std::borrow::Cow;
use std::ops::Deref;

use super::{Ending, Movement, Status};
use crate::domain::actor::Actor;
use crate::domain::agreement::Agreement;
use crate::domain::moment::Moment;
use crate::domain::movement::state::MovementState;
use crate::domain::time::Timestamp;

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
        Some(EndedMovement { movement: self.cancelled_by_end(moment.at()), moment })
    }

    /// The movement as readers are told: cancelled once its agreement was cancelled or has expired, recorded or not.
    #[must_use]
    pub fn as_told(&self, agreement: &Agreement) -> Cow<'_, Self> {
        let ends =
            self.agreement_id == agreement.id() && agreement.has_ended_early() && self.state().ends_with_agreement();
        if ends { Cow::Owned(self.cancelled_by_end(agreement.updated_at)) } else { Cow::Borrowed(self) }
    }

    /// The same where it is known that the agreement has ended, and not when.
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
