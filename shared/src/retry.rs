//! The one policy for trying again: what other calls got in the way of, and what the table was too busy for.
//!
//! A conflict is over as soon as the other call is, so the pause is short and grows. Throttling means that there is too
//! much to do: it backs off for longer, and gives up sooner, since callers who pile up only make it worse. Every pause is
//! drawn evenly between nothing and its length, so that calls that met once do not meet again.

use std::time::{Duration, Instant};

use crate::limits;

/// What was in the way of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Obstacle {
    /// Another call changed the same records: read again, decide again.
    Conflict,
    /// The table refused for now.
    Throttled,
}

/// An error that tells whether another attempt may succeed.
pub trait Transient {
    /// What was in the way; nothing when another attempt would fail as well.
    fn obstacle(&self) -> Option<Obstacle>;
}

/// How long, and how often, attempts are made.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    until: Option<Instant>,
    attempts_max: u32,
}

impl Budget {
    /// Attempts that begin before a moment, as many as fit.
    #[must_use]
    pub fn until(deadline: Instant) -> Self {
        Self { until: Some(deadline), attempts_max: u32::MAX }
    }

    /// So many attempts, the first included.
    #[must_use]
    pub fn attempts(max: u32) -> Self {
        Self { until: None, attempts_max: max }
    }
}

/// The pauses between the attempts at one thing.
#[derive(Debug)]
pub struct Backoff {
    budget: Budget,
    attempts: u32,
    pause: Duration,
    throttled_until: Option<Instant>,
}

impl Backoff {
    /// Pauses before the second attempt and those after it.
    #[must_use]
    pub fn new(budget: Budget) -> Self {
        Self { budget, attempts: 1, pause: limits::WRITE_BACKOFF_FIRST, throttled_until: None }
    }

    /// How long to pause after an attempt that met an obstacle; nothing when the budget is spent.
    pub fn next(&mut self, obstacle: Obstacle) -> Option<Duration> {
        let now = Instant::now();
        if self.attempts >= self.budget.attempts_max || self.budget.until.is_some_and(|until| until <= now) {
            return None;
        }
        let longest = match obstacle {
            Obstacle::Conflict => limits::WRITE_BACKOFF_MAX,
            Obstacle::Throttled => {
                if *self.throttled_until.get_or_insert(now + limits::THROTTLED_DEADLINE) <= now {
                    return None;
                }
                self.pause = self.pause.max(limits::THROTTLED_BACKOFF_FIRST);
                limits::THROTTLED_BACKOFF_MAX
            }
        };
        let pause = self.pause.min(longest);
        self.attempts += 1;
        self.pause = (pause * 2).min(longest);
        Some(jittered(pause))
    }
}

/// Attempts something until nothing is in its way, or the budget is spent.
///
/// # Errors
/// The last attempt's.
pub async fn retry_on_conflict<T, E: Transient, F>(budget: Budget, mut attempt: impl FnMut() -> F) -> Result<T, E>
where
    F: Future<Output = Result<T, E>>,
{
    let mut backoff = Backoff::new(budget);
    loop {
        let ended = attempt().await;
        let obstacle = ended.as_ref().err().and_then(Transient::obstacle);
        let Some(pause) = obstacle.and_then(|obstacle| backoff.next(obstacle)) else { return ended };
        tokio::time::sleep(pause).await;
    }
}

fn jittered(longest: Duration) -> Duration {
    longest.mul_f64(fastrand::f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Transient for Option<Obstacle> {
        fn obstacle(&self) -> Option<Obstacle> {
            *self
        }
    }

    async fn attempts(budget: Budget, fails: impl Fn(u32) -> Option<Obstacle>) -> (u32, bool) {
        let mut made = 0;
        let ended = retry_on_conflict(budget, || {
            made += 1;
            let failure = fails(made);
            std::future::ready(if made == 4 { Ok(()) } else { Err(failure) })
        });
        let is_done = ended.await.is_ok();
        (made, is_done)
    }

    #[tokio::test]
    async fn attempts_end_with_success_another_error_or_the_budget() {
        let later = Instant::now() + Duration::from_hours(1);
        assert_eq!(attempts(Budget::until(later), |_| Some(Obstacle::Conflict)).await, (4, true));
        assert_eq!(attempts(Budget::until(later), |made| (made < 2).then_some(Obstacle::Conflict)).await, (2, false));
        assert_eq!(attempts(Budget::attempts(3), |_| Some(Obstacle::Conflict)).await, (3, false));
        assert_eq!(attempts(Budget::until(Instant::now()), |_| Some(Obstacle::Conflict)).await, (1, false));
    }

    #[test]
    fn pauses_grow_to_their_longest_and_throttling_backs_off_for_longer() {
        let longest = |obstacle| {
            let mut backoff = Backoff::new(Budget::attempts(u32::MAX));
            for _ in 0..20 {
                assert!(backoff.next(obstacle).is_some());
            }
            backoff.pause
        };
        assert_eq!(longest(Obstacle::Conflict), limits::WRITE_BACKOFF_MAX);
        assert_eq!(longest(Obstacle::Throttled), limits::THROTTLED_BACKOFF_MAX);
        let mut backoff = Backoff::new(Budget::attempts(u32::MAX));
        assert!(backoff.next(Obstacle::Throttled).is_some());
        backoff.throttled_until = Some(Instant::now());
        assert_eq!(backoff.next(Obstacle::Throttled), None, "callers who pile up make it worse");
        assert!(backoff.next(Obstacle::Conflict).is_some());
    }
}
