//! How many calls of one organization a process answers in a second, so that one caller's flood leaves room to others.
//!
//! The gateway's throttle is for all callers together, and a function's instance answers one call at a time: the budget
//! bounds what an organization takes of each instance, and what its calls cost the table.
//!
//! - Decision: a refused call has its audit row like any other refusal, since every call gets one (specification and
//!   contract, section 1), and a flood is what an organization wants to find in its log. With the look-up of the token,
//!   without which nobody knows whose call it is, that is a read unit and a write unit, in place of up to hundreds of a
//!   list. What has to cost less than that is stopped before it reaches a function: the handbook says how.
//! - Decision: seconds are counted from an organization's first call, and begin anew with the first call after one. A
//!   bucket that fills evenly would be smoother, and `Retry-After`, in whole seconds, say no more.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::domain::ids::OrgId;
use crate::error::Error;
use crate::limits;
use crate::platform::config::{self, ConfigError};

const CALLS_PER_SECOND: &str = "CALLS_PER_SECOND";
const SECOND: Duration = Duration::from_secs(1);

/// The calls that a process answers per organization and second. By default, all.
#[derive(Debug, Default)]
pub struct CallBudget {
    per_second: Option<NonZeroU32>,
    /// When each organization's second began, and its calls since.
    spent: Mutex<HashMap<OrgId, (Instant, u32)>>,
}

impl CallBudget {
    /// As many calls per organization and second; 0 is no limit.
    #[must_use]
    pub fn per_second(calls: u32) -> Self {
        Self { per_second: NonZeroU32::new(calls), spent: Mutex::default() }
    }

    /// A function's budget on Lambda, from `CALLS_PER_SECOND`. No limit if it isn't set.
    ///
    /// # Errors
    /// If it is no number.
    pub fn from_env() -> Result<Self, ConfigError> {
        let Some(calls) = config::optional(CALLS_PER_SECOND) else { return Ok(Self::default()) };
        let invalid = |_| ConfigError::Invalid { name: CALLS_PER_SECOND, why: "it is no number of calls".to_owned() };
        calls.parse().map(Self::per_second).map_err(invalid)
    }

    /// Counts a call of an organization. [`Error::RateLimited`] if this second's are spent.
    pub(crate) fn spend(&self, org: OrgId) -> Result<(), Error> {
        self.spend_at(org, Instant::now())
    }

    fn spend_at(&self, org: OrgId, now: Instant) -> Result<(), Error> {
        let Some(per_second) = self.per_second else { return Ok(()) };
        let is_over = |began: Instant| SECOND <= now.saturating_duration_since(began);
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        if limits::CALL_BUDGET_ORGANIZATIONS_MAX <= spent.len() {
            spent.retain(|_, (began, _)| !is_over(*began));
        }
        let (began, calls) = spent.entry(org).or_insert((now, 0));
        if is_over(*began) {
            (*began, *calls) = (now, 0);
        }
        if per_second.get() <= *calls {
            return Err(Error::RateLimited);
        }
        *calls += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_organization_has_its_calls_per_second() {
        let (budget, began) = (CallBudget::per_second(3), Instant::now());
        let (org, other) = (OrgId::new(), OrgId::new());
        let answered = |org, after_ms| budget.spend_at(org, began + Duration::from_millis(after_ms)).is_ok();
        assert_eq!([0, 1, 500, 600, 999].map(|at| answered(org, at)), [true, true, true, false, false]);
        assert!(answered(other, 600), "another one has its own");
        assert_eq!([1000, 1001, 1002, 1003].map(|at| answered(org, at)), [true, true, true, false]);
        // Refused calls don't prolong it.
        assert_eq!([1999, 2000].map(|at| answered(org, at)), [false, true]);
    }

    #[test]
    fn without_a_limit_all_are_answered_and_organizations_are_forgotten() {
        let (none, org) = (CallBudget::per_second(0), OrgId::new());
        assert!((0..1000).all(|_| none.spend(org).is_ok()));
        let (budget, began) = (CallBudget::per_second(1), Instant::now());
        for _ in 0..limits::CALL_BUDGET_ORGANIZATIONS_MAX {
            assert!(budget.spend_at(OrgId::new(), began).is_ok());
        }
        assert!(budget.spend_at(org, began + SECOND).is_ok());
        assert_eq!(budget.spent.lock().unwrap().len(), 1);
    }
}
