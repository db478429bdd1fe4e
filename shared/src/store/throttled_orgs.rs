//! Organizations whose work the table throttled a moment ago.
//!
//! The relay and the clock handle due entries of all organizations. An entry whose organization writes more than its
//! partitions of the table take is tried for seconds; a batch full of them would hold up the others' entries, and a
//! flood all batches. So after the first failure an organization's entries are left for later.
//!
//! - Decision: each process remembers for itself and for seconds only. A list that all share would be read with each
//!   batch, and be one more partition that can be hot.
//! - Decision: what throttles may also be a shard of the due index, which is everybody's. Then those who met it wait for
//!   the clock without having caused it, and the rest goes on.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tokio::time::Instant;

use crate::domain::ids::OrgId;
use crate::limits;
use crate::retry::{Obstacle, Transient};

/// Which organizations the table throttled, and when.
#[derive(Debug, Default)]
pub struct ThrottledOrgs(Mutex<HashMap<OrgId, Instant>>);

impl ThrottledOrgs {
    /// Does an organization's work. None, with nothing done, if the table throttled it within
    /// [`THROTTLED_ORG_PAUSE`](limits::THROTTLED_ORG_PAUSE).
    pub async fn unless_throttled<T, E: Transient>(
        &self,
        org: OrgId,
        work: impl Future<Output = Result<T, E>>,
    ) -> Option<Result<T, E>> {
        if self.has(org, Instant::now()) {
            return None;
        }
        let done = work.await;
        if done.as_ref().err().and_then(Transient::obstacle) == Some(Obstacle::Throttled) {
            self.add(org, Instant::now());
        }
        Some(done)
    }

    fn has(&self, org: OrgId, now: Instant) -> bool {
        let throttled = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        throttled.get(&org).is_some_and(|at| is_recent(*at, now))
    }

    fn add(&self, org: OrgId, now: Instant) {
        let mut throttled = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        throttled.retain(|_, at| is_recent(*at, now));
        throttled.insert(org, now);
    }
}

fn is_recent(at: Instant, now: Instant) -> bool {
    now.saturating_duration_since(at) < limits::THROTTLED_ORG_PAUSE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[tokio::test]
    async fn only_what_is_throttled_waits() {
        let (throttled, org, other) = (ThrottledOrgs::default(), OrgId::new(), OrgId::new());
        let attempt = async |org, result: Result<(), Error>| {
            throttled.unless_throttled(org, std::future::ready(result)).await.map(|done| done.is_ok())
        };
        assert_eq!(attempt(org, Err(Error::Conflict)).await, Some(false));
        assert_eq!(attempt(org, Err(Error::Internal("a defect".to_owned()))).await, Some(false));
        assert_eq!(attempt(org, Err(Error::Throttled("a hot partition".to_owned()))).await, Some(false));
        assert_eq!(attempt(org, Ok(())).await, None);
        assert_eq!(attempt(other, Ok(())).await, Some(true));
    }

    #[test]
    fn an_organization_is_tried_again_after_the_pause_and_forgotten() {
        let (throttled, org, began) = (ThrottledOrgs::default(), OrgId::new(), Instant::now());
        throttled.add(org, began);
        let after = began + limits::THROTTLED_ORG_PAUSE;
        assert!(throttled.has(org, began) && !throttled.has(org, after));
        throttled.add(OrgId::new(), after);
        assert_eq!(throttled.0.lock().unwrap().len(), 1);
    }
}
