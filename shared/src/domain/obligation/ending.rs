//! How an obligation ends when its agreement ends early.
//!
//! Decision: the agreement's cancellation or expiry cancels every unconfirmed obligation, including satisfied ones,
//! which would otherwise wait for confirmation forever. Claims stay on record.

use std::borrow::Cow;
use std::ops::Deref;

use super::{CancelCause, Obligation};
use crate::domain::agreement::{Agreement, Lifecycle};
use crate::domain::moment::Moment;

/// An obligation cancelled by its agreement's end: the only cancellation without a member.
///
/// ```compile_fail
/// use shared::domain::moment::Moment;
/// use shared::domain::obligation::{EndedObligation, Obligation};
///
/// fn cancel(obligation: Obligation, moment: Moment) -> EndedObligation {
///     EndedObligation { obligation, moment }
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndedObligation {
    obligation: Obligation,
    moment: Moment,
}

impl Deref for EndedObligation {
    type Target = Obligation;

    fn deref(&self) -> &Obligation {
        &self.obligation
    }
}

impl EndedObligation {
    /// The call that cancels it, and its time.
    #[must_use]
    pub fn moment(&self) -> Moment {
        self.moment
    }
}

impl Obligation {
    /// The obligation after its agreement's cancellation or expiry (contract, section 3). None if nothing changes: the
    /// agreement lives on or is completed, which keeps obligations alive, or the obligation is done.
    #[must_use]
    pub fn ended(&self, agreement: &Agreement, moment: Moment) -> Option<EndedObligation> {
        let cause = self.cause_of_end(agreement)?;
        Some(EndedObligation { obligation: self.with_cancellation(cause, moment.at()), moment })
    }

    /// The obligation as readers see it: cancelled once its agreement was cancelled or has expired, recorded or not.
    #[must_use]
    pub fn as_told(&self, agreement: &Agreement) -> Cow<'_, Self> {
        match self.cause_of_end(agreement) {
            Some(cause) => Cow::Owned(self.with_cancellation(cause, agreement.updated_at)),
            None => Cow::Borrowed(self),
        }
    }

    fn cause_of_end(&self, agreement: &Agreement) -> Option<CancelCause> {
        let cause = match agreement.lifecycle() {
            Lifecycle::Cancelled => CancelCause::AgreementCancelled,
            Lifecycle::Expired => CancelCause::AgreementExpired,
            Lifecycle::Draft | Lifecycle::Active | Lifecycle::Completed => return None,
        };
        let is_of_it = self.agreement_id == agreement.id();
        (is_of_it && !self.is_done()).then_some(cause)
    }
}
