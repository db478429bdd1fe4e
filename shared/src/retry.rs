//! The one retry policy, for conflicts with other calls and for throttling.
//!
//! A conflict ends with the other call, so pauses begin short and grow. Throttling means that the table is overloaded:
//! pauses are longer, and retries end sooner, counted from the call's beginning, because callers who pile up add to the
//! load. Each pause is drawn evenly between zero and its length, so that calls that conflicted once do not meet again.

use std::time::Duration;

use tokio::time::Instant;

use crate::limits;

/// Why an attempt failed, if a retry may succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Obstacle {
    /// Another call changed the same records: read and decide again.
    Conflict,
    /// The table is overloaded.
    Throttled,
}

/// An error that tells whether a retry may succeed.
pub trait Transient {
    /// None if a retry would fail as well.
    fn obstacle(&self) -> Option<Obstacle>;
}

/// A limit on attempts, by time or by number.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    until: Option<Instant>,
    attempts_max: u32,
    /// The beginning of the call, if that is before the first attempt.
    began: Option<Instant>,
}

impl Budget {
    /// Retries until a moment, any number of them.
    #[must_use]
    pub fn until(deadline: Instant) -> Self {
        Self { until: Some(deadline), attempts_max: u32::MAX, began: None }
    }

    /// A number of attempts, the first one included.
    #[must_use]
    pub fn attempts(max: u32) -> Self {
        Self { until: None, attempts_max: max, began: None }
    }

    /// The same for a call that began earlier, from which the time for throttled retries counts.
    #[must_use]
    pub fn of_call(self, began: Instant) -> Self {
        Self { began: Some(began), ..self }
    }
}

/// The pauses between attempts.
#[derive(Debug)]
pub struct Backoff {
    budget: Budget,
    attempts: u32,
    pause: Duration,
    throttled_until: Instant,
}

impl Backoff {
    /// The pauses of a new series of attempts.
    #[must_use]
    pub fn new(budget: Budget) -> Self {
        let throttled_until = budget.began.unwrap_or_else(Instant::now) + limits::THROTTLED_DEADLINE;
        Self { budget, attempts: 1, pause: limits::WRITE_BACKOFF_FIRST, throttled_until }
    }

    /// The pause after a failed attempt. None when the budget is spent.
    pub fn next(&mut self, obstacle: Obstacle) -> Option<Duration> {
        let now = Instant::now();
        if self.attempts >= self.budget.attempts_max || self.budget.until.is_some_and(|until| until <= now) {
            return None;
        }
        let longest = match obstacle {
            Obstacle::Conflict => limits::WRITE_BACKOFF_MAX,
            Obstacle::Throttled => {
                if self.throttled_until <= now {
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

/// Attempts an operation until it succeeds, its error is not transient, or the budget is spent.
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
    async fn attempts_end_with_success_a_lasting_error_or_the_budget() {
        let later = Instant::now() + Duration::from_hours(1);
        assert_eq!(attempts(Budget::until(later), |_| Some(Obstacle::Conflict)).await, (4, true));
        assert_eq!(attempts(Budget::until(later), |made| (made < 2).then_some(Obstacle::Conflict)).await, (2, false));
        assert_eq!(attempts(Budget::attempts(3), |_| Some(Obstacle::Conflict)).await, (3, false));
        assert_eq!(attempts(Budget::until(Instant::now()), |_| Some(Obstacle::Conflict)).await, (1, false));
    }

    #[test]
    fn pauses_grow_to_their_limit_and_throttling_ends_retries_early() {
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
        backoff.throttled_until = Instant::now();
        assert_eq!(backoff.next(Obstacle::Throttled), None);
        assert!(backoff.next(Obstacle::Conflict).is_some());
    }

    #[test]
    fn the_time_for_what_is_throttled_begins_with_the_call() {
        let began = |ago: Duration| Instant::now().checked_sub(ago).unwrap();
        let of_call = |ago| Backoff::new(Budget::attempts(u32::MAX).of_call(began(ago)));
        assert!(of_call(limits::THROTTLED_DEADLINE / 2).next(Obstacle::Throttled).is_some());
        let mut late = of_call(limits::THROTTLED_DEADLINE);
        assert_eq!(late.next(Obstacle::Throttled), None, "its own first attempt took as long");
        assert!(late.next(Obstacle::Conflict).is_some());
    }
}
