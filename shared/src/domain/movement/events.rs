use super::Movement;
use super::state::{ExceptionReason, MovementState};
use crate::domain::event::{EventKind, MovementData, MovementExceptionData};

impl Movement {
    /// The event of entering a state since an earlier movement (contract, section 3).
    #[must_use]
    pub fn event_since(&self, before: &Self) -> Option<EventKind> {
        if before.state() == self.state() {
            return None;
        }
        let data = MovementData { movement_id: self.id, agreement_id: self.agreement_id };
        let exception = |reason| MovementExceptionData { movement_id: self.id, reason };
        match (self.state(), self.exception_reason()) {
            (MovementState::SenderReported, _) => Some(EventKind::MovementSenderReported(data)),
            (MovementState::Reconciled, _) => Some(EventKind::MovementReconciled(data)),
            (MovementState::Exception, Some(reason)) => Some(EventKind::MovementException(exception(reason))),
            (MovementState::Returned, _) => Some(EventKind::MovementException(exception(ExceptionReason::Returned))),
            _ => None,
        }
    }
}
