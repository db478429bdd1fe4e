//! What a run of the tests makes at an endpoint that outlives it: tables, queues and secrets. Their names tell the run
//! and when it began, so that they can be deleted at its end, or by a later run if it was interrupted.

use std::fmt;
use std::time::Duration;

use shared::domain::time::Timestamp;
use uuid::Uuid;

/// The environment variable with the id of the run.
pub const RUN: &str = "COUNTERSIGN_TEST_RUN";

/// The beginning of every name.
pub(crate) const PREFIX: &str = "countersign-test-";

/// After this time a run has ended or was interrupted: longer than any run takes.
pub const RUN_MAX: Duration = Duration::from_hours(3);

/// The id of a run: the second at which it began, and a random number, in hexadecimal.
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

    /// A run that began at a time.
    #[must_use]
    pub fn begun_at(time: Timestamp) -> Self {
        let [high, low, ..] = *Uuid::new_v4().as_bytes();
        Self(format!("{:08x}{high:02x}{low:02x}", time.unix_ms() / 1000))
    }

    /// The run of this process: the environment's, or one of its own.
    #[must_use]
    pub fn current() -> Self {
        let given = std::env::var(RUN).ok().filter(|id| Self::parse(id).is_some());
        given.map_or_else(|| Self::begun_at(Timestamp::now()), Self)
    }

    fn parse(text: &str) -> Option<Self> {
        let is_id = text.len() == Self::CHARS && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_id.then(|| Self(text.to_owned()))
    }

    /// The run that made a resource. `None` if the name is not one of ours.
    #[must_use]
    pub fn of_resource(name: &str) -> Option<Self> {
        let (id, _) = name.strip_prefix(PREFIX)?.split_once('-')?;
        Self::parse(id)
    }

    /// Whether it has ended by now, or was interrupted.
    #[must_use]
    pub fn is_over(&self, now: Timestamp) -> bool {
        let began_s = i64::from_str_radix(&self.0[..8], 16).unwrap_or(i64::MAX);
        now.unix_ms() / 1000 - began_s > i64::try_from(RUN_MAX.as_secs()).unwrap_or(i64::MAX)
    }

    /// A new name for a resource: at most 80 characters, as SQS allows.
    #[must_use]
    pub fn resource_name(&self, kind: &str) -> String {
        format!("{PREFIX}{self}-{kind}-{}", Uuid::now_v7().simple())
    }
}

/// A new name for a resource of this run.
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
