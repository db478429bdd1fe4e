//! Sessions, and the record of failed logins that slows down password guessing.

use serde::{Deserialize, Serialize};

use crate::domain::contact::Email;
use crate::domain::ids::{MemberId, OrgId, SessionId};
use crate::domain::time::Timestamp;
use crate::limits;

/// A session as stored, under the hash of its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// Its id for its account. Unlike the secret and its hash, pages show it.
    pub id: SessionId,
    /// The organization.
    pub organization_id: OrgId,
    /// The person's member id there.
    pub member_id: MemberId,
    /// The person's account.
    pub email: Email,
    /// The account's epoch when the session began.
    pub epoch: u64,
    /// When it began.
    pub created_at: Timestamp,
    /// When it was last used, to the minute.
    pub seen_at: Timestamp,
    /// The browser and system, in words of [`domain::device`](super::device).
    pub device: Option<String>,
}

/// The owner of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionOwner {
    /// The organization.
    pub organization_id: OrgId,
    /// The person's member id there.
    pub member_id: MemberId,
    /// The person's account.
    pub email: Email,
}

impl Session {
    /// Its owner.
    #[must_use]
    pub fn owner(&self) -> SessionOwner {
        SessionOwner { organization_id: self.organization_id, member_id: self.member_id, email: self.email.clone() }
    }

    /// Whether it is still valid.
    #[must_use]
    pub fn is_alive(&self, now: Timestamp) -> bool {
        now < self.ends_at() && now < self.seen_at.plus_seconds(limits::SESSION_IDLE_S)
    }

    /// When it ends at the latest.
    #[must_use]
    pub fn ends_at(&self) -> Timestamp {
        self.created_at.plus_seconds(limits::SESSION_LIFETIME_S)
    }

    /// Whether its last use is due to be recorded again.
    #[must_use]
    pub fn is_to_be_refreshed(&self, now: Timestamp) -> bool {
        self.seen_at.plus_seconds(limits::SESSION_REFRESH_S) <= now
    }
}

/// Failed logins to one account or from one address.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedLogins {
    /// The number of failed logins in a row.
    pub failures: u32,
    /// The time of the last one, in milliseconds since 1970.
    pub last_at_ms: i64,
}

impl FailedLogins {
    /// How long the next login must wait, in milliseconds. The first `free` failures cost nothing.
    #[must_use]
    pub fn wait_ms(self, free: u32, now: Timestamp) -> i64 {
        if self.failures < free {
            return 0;
        }
        let doublings = (self.failures - free).min(30);
        let wait_s = (1_i64 << doublings).min(limits::LOGIN_WAIT_MAX_S);
        (self.last_at_ms.saturating_add(wait_s * 1000) - now.unix_ms()).max(0)
    }

    /// The failures that still count.
    #[must_use]
    pub fn remembered(self, now: Timestamp) -> Self {
        let forgotten_at = self.last_at_ms.saturating_add(limits::FAILED_LOGINS_FORGOTTEN_S * 1000);
        if forgotten_at <= now.unix_ms() { Self::default() } else { self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(created_at: Timestamp, seen_at: Timestamp) -> Session {
        Session {
            id: SessionId::new(),
            organization_id: OrgId::new(),
            member_id: MemberId::new(),
            email: Email::parse("ada@okafor.example").unwrap(),
            epoch: 0,
            created_at,
            seen_at,
            device: None,
        }
    }

    #[test]
    fn a_session_ends_after_twelve_hours_or_two_without_a_request() {
        let begun = Timestamp::from_unix_ms(1_800_000_000_000).unwrap();
        let hours = |hours: i64, ms: i64| Timestamp::from_unix_ms(begun.unix_ms() + hours * 3_600_000 + ms).unwrap();
        for (seen, now, alive) in [
            (hours(0, 0), hours(0, 0), true),
            (hours(0, 0), hours(2, -1), true),
            (hours(0, 0), hours(2, 0), false),
            (hours(11, 0), hours(12, -1), true),
            (hours(11, 0), hours(12, 0), false),
        ] {
            assert_eq!(session(begun, seen).is_alive(now), alive, "{seen} {now}");
        }
        assert!(!session(begun, begun).is_to_be_refreshed(hours(0, 59_999)));
        assert!(session(begun, begun).is_to_be_refreshed(hours(0, 60_000)));
    }

    #[test]
    fn each_wrong_guess_beyond_the_free_ones_waits_twice_as_long() {
        let now = Timestamp::from_unix_ms(1_800_000_000_000).unwrap();
        let wait = |failures| FailedLogins { failures, last_at_ms: now.unix_ms() }.wait_ms(5, now);
        assert_eq!([0, 4, 5, 6, 8].map(wait), [0, 0, 1000, 2000, 8000]);
        assert_eq!(wait(u32::MAX), limits::LOGIN_WAIT_MAX_S * 1000);
        let failed_logins = FailedLogins { failures: 6, last_at_ms: now.unix_ms() };
        assert_eq!(failed_logins.wait_ms(5, now.plus_seconds(2)), 0);
        assert_eq!(failed_logins.remembered(now.plus_seconds(3599)), failed_logins);
        assert_eq!(failed_logins.remembered(now.plus_seconds(3600)), FailedLogins::default());
    }
}
