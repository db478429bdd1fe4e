//! Exceptions that ended, for the record: why a payment needed attention, and what a member made of that.
//!
//! Decision: a movement keeps the newest ones only, because members may flag and resolve without limit and it is written
//! as a whole. The audit trail has all acts.

use serde::{Deserialize, Serialize};

use super::{Exception, Movement, Stamp, Status};
use crate::limits;
use crate::wire::enums::text_enum;

text_enum! {
    /// How an exception ended.
    pub enum ExceptionOutcome {
        /// The money had to be sent, possibly again.
        SendAgain = "send_again",
        /// A member chose to wait for proof.
        AwaitProof = "await_proof",
        /// A member filed evidence of an arrival.
        EvidenceFiled = "evidence_filed",
        /// A member said what became of the surplus.
        SurplusSettled = "surplus_settled",
        /// The money came back.
        Returned = "returned",
        /// The movement was cancelled.
        Cancelled = "cancelled",
    }
}

/// An exception that ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastException {
    /// The exception.
    pub exception: Exception,
    /// How it ended.
    pub outcome: ExceptionOutcome,
    /// Who ended it, and when.
    pub ended: Stamp,
}

impl Movement {
    /// Its exceptions that ended, oldest first: at most the newest [`limits::PAST_EXCEPTIONS_KEPT`].
    #[must_use]
    pub fn past_exceptions(&self) -> &[PastException] {
        &self.past_exceptions
    }

    /// The movement, with its exception, if it is one, among those that ended.
    pub(super) fn past_exception(&self, outcome: ExceptionOutcome, ended: &Stamp) -> Self {
        let mut after = self.clone();
        if let Status::Exception(exception) = &self.status {
            let (exception, ended) = (exception.clone(), ended.clone());
            after.past_exceptions.push(PastException { exception, outcome, ended });
            let oldest = after.past_exceptions.len().saturating_sub(limits::PAST_EXCEPTIONS_KEPT);
            after.past_exceptions.drain(..oldest);
        }
        after
    }
}
