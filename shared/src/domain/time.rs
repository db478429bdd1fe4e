//! Timestamps in the service's format: RFC 3339, UTC, `Z`, milliseconds.

use std::fmt;
use std::sync::OnceLock;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A moment, to the millisecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, utoipa::ToSchema)]
#[schema(value_type = String, format = DateTime, example = "2026-03-14T09:26:53.589Z")]
pub struct Timestamp(jiff::Timestamp);

/// The time is outside the years −9999 to 9999.
#[derive(Debug, thiserror::Error)]
#[error("out of the range of timestamps")]
pub struct OutOfRange;

static SIMULATED: OnceLock<fn(Timestamp) -> Timestamp> = OnceLock::new();

impl Timestamp {
    pub(super) const LAST: Self = Self(jiff::Timestamp::MAX);

    /// The machine's current time, or a [simulation](Self::simulate)'s.
    #[must_use]
    pub fn now() -> Self {
        let now = jiff::Timestamp::now();
        // Cut to milliseconds, so that a timestamp equals itself after a round trip.
        let now = Self(jiff::Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now));
        SIMULATED.get().map_or(now, |clock| clock(now))
    }

    /// From here on, [`now`](Self::now) is what `clock` makes of the machine's time: for simulations, which advance the
    /// time that `tokio` waits by. The first clock of a process stays.
    pub fn simulate(clock: fn(Self) -> Self) {
        SIMULATED.get_or_init(|| clock);
    }

    /// The time from milliseconds since 1970.
    pub fn from_unix_ms(ms: i64) -> Result<Self, OutOfRange> {
        jiff::Timestamp::from_millisecond(ms).map(Self).map_err(|_| OutOfRange)
    }

    /// Milliseconds since 1970.
    #[must_use]
    pub fn unix_ms(self) -> i64 {
        self.0.as_millisecond()
    }

    /// Whole seconds since 1970.
    #[must_use]
    pub fn unix_s(self) -> i64 {
        self.0.as_second()
    }

    pub(super) fn of_zoned(zoned: &jiff::Zoned) -> Self {
        let at = zoned.timestamp();
        Self(jiff::Timestamp::from_millisecond(at.as_millisecond()).unwrap_or(at))
    }

    pub(super) fn zoned(self, zone: jiff::tz::TimeZone) -> jiff::Zoned {
        self.0.to_zoned(zone)
    }

    /// The time `seconds` later (earlier if negative), at most the last in range.
    #[must_use]
    pub fn plus_seconds(self, seconds: i64) -> Self {
        Self(self.0.saturating_add(jiff::SignedDuration::from_secs(seconds)).unwrap_or(jiff::Timestamp::MAX))
    }

    pub(super) fn next(self) -> Self {
        Self::from_unix_ms(self.unix_ms().saturating_add(1)).unwrap_or(self)
    }

    pub(super) fn last_before(self) -> Self {
        Self::from_unix_ms(self.unix_ms().saturating_sub(1)).unwrap_or(self)
    }

    /// The beginning of its hour.
    #[must_use]
    pub fn start_of_hour(self) -> Self {
        const HOUR_S: i64 = 3600;
        let past_the_hour = self.0.as_millisecond().rem_euclid(HOUR_S * 1000);
        Self::from_unix_ms(self.unix_ms() - past_the_hour).unwrap_or(self)
    }

    /// The day in UTC, such as `2026-03-14`.
    #[must_use]
    pub fn day(self) -> String {
        self.0.strftime("%Y-%m-%d").to_string()
    }

    /// The time for display, to the minute, such as `14 Mar 2026, 09:26 UTC`.
    #[must_use]
    pub fn for_people(self) -> String {
        self.0.strftime("%-d %b %Y, %H:%M UTC").to_string()
    }

    /// The time for display, to the second, such as `14 Mar 2026, 09:26:53 UTC`.
    #[must_use]
    pub fn for_people_to_the_second(self) -> String {
        self.0.strftime("%-d %b %Y, %H:%M:%S UTC").to_string()
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}", self.0)
    }
}

impl std::str::FromStr for Timestamp {
    type Err = jiff::Error;

    fn from_str(text: &str) -> Result<Self, jiff::Error> {
        // Cut to milliseconds: finer digits would distinguish timestamps that are written the same.
        let moment: jiff::Timestamp = text.parse()?;
        Ok(Self(jiff::Timestamp::from_millisecond(moment.as_millisecond()).unwrap_or(moment)))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_written_with_three_digits_and_read_back() {
        let moment = Timestamp::from_unix_ms(1_773_480_413_500).unwrap();
        assert_eq!(moment.to_string(), "2026-03-14T09:26:53.500Z");
        assert_eq!(moment.to_string().parse::<Timestamp>().unwrap(), moment);
        assert_eq!(moment.day(), "2026-03-14");
        assert_eq!(moment.for_people(), "14 Mar 2026, 09:26 UTC");
        assert_eq!(moment.for_people_to_the_second(), "14 Mar 2026, 09:26:53 UTC");
        assert_eq!(moment.start_of_hour().to_string(), "2026-03-14T09:00:00.000Z");
        assert_eq!("2026-03-14T09:26:53.500999Z".parse::<Timestamp>().unwrap(), moment);
        assert_eq!(Timestamp::from_unix_ms(0).unwrap().to_string(), "1970-01-01T00:00:00.000Z");
    }

    #[test]
    fn the_clock_gives_what_is_written() {
        let now = Timestamp::now();
        assert_eq!(now.to_string().parse::<Timestamp>().unwrap(), now);
    }
}
