//! A test run's tables, queues and secrets at an endpoint, named by run and time, so that a later run deletes them.

use std::fmt;
use std::time::Duration;

use shared::domain::time::Timestamp;
use uuid::Uuid;

/// The variable with the run's id.
pub const RUN: &str = "COUNTERSIGN_TEST_RUN";

pub(crate) const PREFIX: &str = "countersign-test-";

/// A run this old has ended or was interrupted.
pub const RUN_MAX: Duration = Duration::from_hours(3);

/// A run's id in hexadecimal: the second when it began, and a random number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunId(String);

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl RunId {
    /// The length of its text: eight digits for the second, four for the number.
    const CHARS: usize = 12;

    /// A run that began at this time.
    #[must_use]
    pub fn begun_at(time: Timestamp) -> Self {
        let [high, low, ..] = *Uuid::new_v4().as_bytes();
        Self(format!("{:08x}{high:02x}{low:02x}", time.unix_ms() / 1000))
    }

    /// This process's run: the environment's, or its own.
    #[must_use]
    pub fn current() -> Self {
        let given = std::env::var(RUN).ok().filter(|id| Self::parse(id).is_some());
        given.map_or_else(|| Self::begun_at(Timestamp::now()), Self)
    }

    fn parse(text: &str) -> Option<Self> {
        let is_id = text.len() == Self::CHARS && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_id.then(|| Self(text.to_owned()))
    }

    /// The run that created a resource, or `None` if the name isn't ours.
    #[must_use]
    pub fn of_resource(name: &str) -> Option<Self> {
        let (id, _) = name.strip_prefix(PREFIX)?.split_once('-')?;
        Self::parse(id)
    }

    /// Whether the run has ended or was interrupted.
    #[must_use]
    pub fn is_over(&self, now: Timestamp) -> bool {
        let began_s = i64::from_str_radix(&self.0[..8], 16).unwrap_or(i64::MAX);
        now.unix_ms() / 1000 - began_s > i64::try_from(RUN_MAX.as_secs()).unwrap_or(i64::MAX)
    }

    /// A new resource name of at most 80 characters, SQS's limit.
    #[must_use]
    pub fn resource_name(&self, kind: &str) -> String {
        format!("{PREFIX}{self}-{kind}-{}", Uuid::now_v7().simple())
    }
}

/// A new resource name of this run.
#[must_use]
pub fn resource_name(kind: &str) -> String {
    RunId::current().resource_name(kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_its_run_and_a_run_ends() {
        let now = Timestamp::now();
        let run = RunId::begun_at(now);
        let name = run.resource_name("dead-letters");
        assert!(name.len() <= 80, "{name}");
        assert_eq!(RunId::of_resource(&name), Some(run.clone()));
        let max_s = i64::try_from(RUN_MAX.as_secs()).unwrap();
        assert!(!run.is_over(now) && !run.is_over(now.plus_seconds(max_s - 1)));
        assert!(run.is_over(now.plus_seconds(max_s + 2)));
        for other in ["countersign", "countersign-test-", "countersign-test-0123-x", "countersign-test-0198f00dbeeg-x"]
        {
            assert_eq!(RunId::of_resource(other), None, "{other}");
        }
    }
}
