//! The agreement that an act is decided on.

use std::borrow::Cow;

use super::facts::Facts;
use super::{Agreement, Lifecycle};
use crate::domain::moment::Moment;
use crate::domain::time_scale::TimeScale;

/// The agreement that an act is decided on, and what its rules need.
#[derive(Debug, Clone, Copy)]
pub struct AgreementContext<'a> {
    /// The agreement as stored.
    pub agreement: &'a Agreement,
    /// What has been recorded for its gates.
    pub facts: &'a Facts,
    /// The speed of time.
    pub time_scale: TimeScale,
    /// The time and the call.
    pub moment: Moment,
}

impl<'a> AgreementContext<'a> {
    pub(in crate::domain) fn current(self) -> Cow<'a, Agreement> {
        self.agreement.as_of(self.facts, self.time_scale, self.moment.at())
    }

    pub(in crate::domain) fn active(self) -> Result<Cow<'a, Agreement>, Lifecycle> {
        let current = self.current();
        match current.lifecycle() {
            Lifecycle::Active => Ok(current),
            other => Err(other),
        }
    }

    pub(in crate::domain) fn recorded(self, record: impl FnOnce(&mut Facts)) -> Agreement {
        self.agreement.recorded(self.facts, self.time_scale, self.moment.at(), record)
    }
}
