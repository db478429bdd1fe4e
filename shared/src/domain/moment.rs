//! The moment of a protected transition.

use super::ids::RequestId;
use super::time::Timestamp;

/// The time and the call of a protected transition's decision. Only a call's context makes one, from its own clock: no
/// caller chooses when a proposal is decided, and the store refuses a change decided in another call.
///
/// ```
/// use shared::api::caller::WriteCaller;
/// use shared::domain::proposal::{Proposal, ExpiredProposal};
///
/// fn expire(caller: &WriteCaller, proposal: &Proposal) -> Option<ExpiredProposal> {
///     proposal.expired(caller.moment())
/// }
/// ```
///
/// A transition takes no plain time:
///
/// ```compile_fail
/// use shared::api::caller::WriteCaller;
/// use shared::domain::proposal::{Proposal, ExpiredProposal};
///
/// fn expire(caller: &WriteCaller, proposal: &Proposal) -> Option<ExpiredProposal> {
///     proposal.expired(caller.now())
/// }
/// ```
///
/// And a plain time can't become a moment:
///
/// ```compile_fail
/// use shared::domain::ids::RequestId;
/// use shared::domain::moment::Moment;
/// use shared::domain::time::Timestamp;
///
/// fn of(call: RequestId, at: Timestamp) -> Moment {
///     Moment { at, call }
/// }
/// ```
///
/// ```compile_fail
/// use shared::domain::ids::RequestId;
/// use shared::domain::moment::Moment;
/// use shared::domain::time::Timestamp;
///
/// fn of(call: RequestId, at: Timestamp) -> Moment {
///     Moment::of_call(call, at)
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    at: Timestamp,
    call: RequestId,
}

impl Moment {
    /// Creates the moment of a call. Only the call's context uses this.
    pub(crate) fn of_call(call: RequestId, at: Timestamp) -> Self {
        Self { at, call }
    }

    #[cfg(test)]
    pub(crate) fn test(at: Timestamp) -> Self {
        Self { at, call: RequestId::from(uuid::Uuid::nil()) }
    }

    /// The time.
    #[must_use]
    pub fn at(self) -> Timestamp {
        self.at
    }

    /// The call that decides.
    #[must_use]
    pub fn call(self) -> RequestId {
        self.call
    }
}
