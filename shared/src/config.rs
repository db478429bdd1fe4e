//! What a function is told from outside.

use std::fmt;
use std::time::Duration;

use crate::domain::time::Timestamp;
use crate::limits;

/// The origin of every link that the service gives out, such as `https://countersign.example`. Links are composed
/// when they are read and never stored, so that a service can move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl(String);

/// Why a text is no base URL.
#[derive(Debug, thiserror::Error)]
#[error("a base URL is http:// or https:// with a host and no path, such as https://countersign.example")]
pub struct InvalidBaseUrl;

impl BaseUrl {
    /// Reads an origin; a trailing slash is dropped.
    ///
    /// # Errors
    /// When it is not an absolute `http` or `https` origin.
    pub fn parse(text: &str) -> Result<Self, InvalidBaseUrl> {
        let origin = text.strip_suffix('/').unwrap_or(text);
        let uri: http::Uri = origin.parse().map_err(|_| InvalidBaseUrl)?;
        let scheme_fits = matches!(uri.scheme_str(), Some("http" | "https"));
        let is_origin = uri.path() == "/" && uri.query().is_none() && uri.host().is_some_and(|host| !host.is_empty());
        if scheme_fits && is_origin { Ok(Self(origin.to_owned())) } else { Err(InvalidBaseUrl) }
    }

    /// The link to a path of the service.
    #[must_use]
    pub fn link(&self, path: impl fmt::Display) -> String {
        format!("{}{path}", self.0)
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What the service waits for, divided by a scale so that a person can watch it on the local stack. Token and session
/// lifetimes, time-outs and leases are not waits and are never scaled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waits {
    scale: u32,
}

impl Default for Waits {
    fn default() -> Self {
        Self { scale: 1 }
    }
}

impl Waits {
    /// No scaled interval is shorter than this, in milliseconds.
    const MS_MIN: i64 = 100;

    /// Waits divided by a scale; 0 counts as 1.
    #[must_use]
    pub fn scaled(scale: u32) -> Self {
        Self { scale: scale.max(1) }
    }

    /// The moment when a proposal that is made now expires.
    #[must_use]
    pub fn proposal_expiry(self, now: Timestamp) -> Timestamp {
        self.after(now, limits::PROPOSAL_LIFETIME_S)
    }

    /// The moment when a countdown of some hours ends that begins at a moment.
    #[must_use]
    pub fn countdown_end(self, from: Timestamp, hours: u32) -> Timestamp {
        self.after(from, i64::from(hours) * 3600)
    }

    /// How often the clock looks for what is due.
    #[must_use]
    pub fn sweep_interval(self) -> Duration {
        (limits::SWEEP_INTERVAL / self.scale).max(Duration::from_millis(Self::MS_MIN.unsigned_abs()))
    }

    /// How long what was written to be passed on is left to whoever hears of it, before the clock does it.
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
        // Beyond the last moment there is: never, rather than at once.
        Timestamp::from_unix_ms(now.unix_ms().saturating_add(ms)).unwrap_or_else(|_| now.plus_seconds(i64::MAX))
    }
}

/// A setting that a function needs and does not have.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The environment variable is not set.
    #[error("the environment variable {0} is not set")]
    Missing(&'static str),
    /// The environment variable's value is unusable.
    #[error("the environment variable {name} is unusable: {why}")]
    Invalid {
        /// The variable.
        name: &'static str,
        /// What would be right.
        why: String,
    },
}

/// Reads a setting that must be there.
///
/// # Errors
/// When it is not set, or empty.
pub fn required(name: &'static str) -> Result<String, ConfigError> {
    std::env::var(name).ok().filter(|value| !value.is_empty()).ok_or(ConfigError::Missing(name))
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
            let waits = Waits::scaled(scale);
            assert_eq!(waits.proposal_expiry(now).unix_ms() - now.unix_ms(), lifetime_ms, "{scale}");
            assert_eq!(waits.sweep_interval(), Duration::from_millis(sweep_ms), "{scale}");
        }
    }

    #[test]
    fn an_origin_and_nothing_else_is_a_base_url() {
        assert_eq!(BaseUrl::parse("http://localhost:8080/").unwrap().link("/app"), "http://localhost:8080/app");
        for text in ["", "localhost", "ftp://a.example", "https://", "https://a.example/x", "https://a.example?x"] {
            assert!(BaseUrl::parse(text).is_err(), "{text}");
        }
    }
}
