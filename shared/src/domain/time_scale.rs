//! The service's waits, and how the local stack shortens them.

use std::time::Duration;

use crate::domain::time::Timestamp;
use crate::limits;

/// The divisor of the service's waits, so that people can watch them pass locally. Lifetimes and leases aren't scaled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeScale {
    scale: u32,
}

impl Default for TimeScale {
    fn default() -> Self {
        Self { scale: 1 }
    }
}

impl TimeScale {
    const MS_MIN: i64 = 100;

    /// A divisor; 0 counts as 1.
    #[must_use]
    pub fn scaled(scale: u32) -> Self {
        Self { scale: scale.max(1) }
    }

    /// When a proposal made now expires.
    #[must_use]
    pub fn proposal_expiry(self, now: Timestamp) -> Timestamp {
        self.after(now, limits::PROPOSAL_LIFETIME_S)
    }

    /// When a countdown ends.
    #[must_use]
    pub fn countdown_end(self, from: Timestamp, hours: u32) -> Timestamp {
        self.after(from, i64::from(hours) * 3600)
    }

    /// When a file uploaded now is removed if nothing refers to it.
    #[must_use]
    pub fn upload_end(self, now: Timestamp) -> Timestamp {
        self.after(now, limits::UPLOAD_LIFETIME_S)
    }

    /// When an attempt that can't be made now is tried again.
    #[must_use]
    pub fn next_try(self, now: Timestamp) -> Timestamp {
        self.after(now, limits::PUT_BACK_S)
    }

    /// The interval at which the clock looks for due entries.
    #[must_use]
    pub fn sweep_interval(self) -> Duration {
        (limits::SWEEP_INTERVAL / self.scale).max(Duration::from_millis(Self::MS_MIN.unsigned_abs()))
    }

    /// How long the clock waits for the stream before it relays a new event itself, in milliseconds.
    #[must_use]
    pub fn relay_grace_ms(self) -> i64 {
        self.scaled_ms(limits::RELAY_GRACE_S * 1000)
    }

    /// A wait in milliseconds, scaled.
    #[must_use]
    pub fn scaled_ms(self, ms: i64) -> i64 {
        (ms / i64::from(self.scale)).max(Self::MS_MIN)
    }

    fn after(self, now: Timestamp, seconds: i64) -> Timestamp {
        let ms = self.scaled_ms(seconds.saturating_mul(1000));
        // Beyond the range: never, rather than at once.
        Timestamp::from_unix_ms(now.unix_ms().saturating_add(ms)).unwrap_or_else(|_| now.plus_seconds(i64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_scaled_but_never_below_a_tenth_of_a_second() {
        let now = Timestamp::now();
        for (scale, lifetime_ms, sweep_ms) in
            [(0, 259_200_000, 60_000), (1, 259_200_000, 60_000), (60, 4_320_000, 1_000), (u32::MAX, 100, 100)]
        {
            let time_scale = TimeScale::scaled(scale);
            assert_eq!(time_scale.proposal_expiry(now).unix_ms() - now.unix_ms(), lifetime_ms, "{scale}");
            assert_eq!(time_scale.sweep_interval(), Duration::from_millis(sweep_ms), "{scale}");
        }
    }
}
