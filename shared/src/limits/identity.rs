//! Identity: tokens, accounts, sessions, passwords, second factors, links and cookies.

use std::time::Duration;

/// Participant sessions of one browser. Their cookies must fit in headers, which API Gateway limits to 10 KB.
pub const PARTICIPANT_COOKIES_MAX: usize = 12;
/// Token lifetime, in seconds: ninety days (specification, "Limits").
pub const TOKEN_LIFETIME_S: i64 = 90 * 24 * 3600;
/// When a token ends soon, in seconds before its end: enough to roll out another one.
pub const TOKEN_ENDS_SOON_S: i64 = 14 * 24 * 3600;
/// Valid tokens of an organization, so that an admin sees all of them on one page.
pub const VALID_TOKENS_MAX: usize = 100;
/// Tokens that are read at once for their page: one query, and one batch of keys.
pub const TOKENS_READ_AT_ONCE: i32 = 100;
/// The longest wait of a response for recording its token's use, which is best effort.
pub const TOKEN_USE_WAIT: Duration = Duration::from_millis(500);
/// Expired and revoked tokens that the app shows, newest first. The audit log has them all.
pub const ENDED_TOKENS_SHOWN_MAX: usize = 20;
/// The lifetime of an entry in the trail of unknown tokens, in seconds (contract, section 1).
pub const TRAIL_LIFETIME_S: i64 = 30 * 24 * 3600;
/// Partitions of a day's trail of unknown tokens, so that a flood of them makes no partition hot.
pub const TRAIL_SHARDS: u8 = 16;
/// The longest wait of a response to an unknown token for its trail entry, which is best effort.
pub const TRAIL_WAIT: Duration = Duration::from_millis(500);
/// The lifetime of a session, in seconds: 12 hours (a working day).
pub const SESSION_LIFETIME_S: i64 = 12 * 3600;
/// The idle timeout of a session, in seconds: 2 hours.
pub const SESSION_IDLE_S: i64 = 2 * 3600;
/// The precision of a session's last request, in seconds: not every page view is worth a write.
pub const SESSION_REFRESH_S: i64 = 60;
/// Sessions of an account read for the page that lists them: the latest, in one batch of keys with the second factor.
pub const SESSIONS_READ_MAX: i32 = 99;
/// A password, in bytes. A longer one is not hashed.
pub const PASSWORD_BYTES_MAX: usize = 1024;
/// Characters of a new password: long enough to withstand guessing, without rules on what it contains.
pub const PASSWORD_CHARS_MIN: usize = 12;
/// Different characters of a new password: fewer are a key held down.
pub const PASSWORD_DIFFERENT_CHARS_MIN: usize = 5;
/// The lifetime of an invitation, in seconds: 7 days, to survive a weekend or a short vacation.
pub const INVITATION_LIFETIME_S: i64 = 7 * 24 * 3600;
/// Pending invitations of one organization, so that an admin sees all of them on one page.
pub const PENDING_INVITATIONS_MAX: usize = 50;
/// The lifetime of a password link, in seconds: 24 hours, less than an invitation's, since it opens an account.
pub const PASSWORD_LINK_LIFETIME_S: i64 = 24 * 3600;
/// The lifetime of a code that a member reads out to a participant, in seconds: 15 minutes, enough for a call.
pub const LINK_CODE_LIFETIME_S: i64 = 15 * 60;
/// Tries at such a code. It has six digits, and only the link's holder can guess.
pub const LINK_CODE_TRIES_MAX: u32 = 5;
/// Names that an organization had before its current one. Certificates of completed agreements need them.
pub const EARLIER_NAMES_MAX: usize = 50;
/// Characters of the path to return to after signing in: a search of 200 characters takes up to 2,400 in an address.
pub const NEXT_PATH_CHARS_MAX: usize = 3000;
/// Failed logins to an account from unknown devices before a wait (NIST SP 800-63B, 5.2.2): above one address's limit.
pub const LOGIN_ATTEMPTS_AT_ACCOUNT: u32 = 100;
/// Failed logins from one address before the next must wait: an office has many people behind one address.
pub const LOGIN_ATTEMPTS_FROM_ADDRESS: u32 = 50;
/// Failed logins to one account on a device that has signed in to it before the next must wait.
pub const LOGIN_ATTEMPTS_ON_DEVICE: u32 = 10;
/// Wrong codes for one account from unknown devices before the next must wait: few, because a code has six digits.
pub const LOGIN_CODES_AT_ACCOUNT: u32 = 10;
/// How long each code of an authenticator app is shown, in seconds (RFC 6238; every app knows this value).
pub const TOTP_STEP_S: i64 = 30;
/// Steps around the current one whose codes are accepted, for clocks that differ and for slow typing.
pub const TOTP_STEPS_AROUND: u64 = 1;
/// Recovery codes of a second factor.
pub const RECOVERY_CODES: usize = 10;
/// The number of recovery codes left at which the account's page asks for new ones.
pub const RECOVERY_CODES_FEW: usize = 3;
/// The time between password and code of a sign-in, in seconds ("5 minutes" in texts).
pub const SECOND_STEP_LIFETIME_S: i64 = 300;
/// The time for scanning a new second factor and typing its first code, in seconds: enough to install an app.
pub const SECOND_FACTOR_SET_UP_S: i64 = 900;
/// The lifetime of a device cookie, in seconds: half a year.
pub const DEVICE_COOKIE_LIFETIME_S: i64 = 180 * 24 * 3600;
/// Attempts at counting a login while others are counted at the same moment. More are guesses, and are refused.
pub const LOGIN_COUNT_ATTEMPTS_MAX: u32 = 12;
/// The longest wait after a failed login, in seconds: the first is one, and each doubles. It delays owners too.
pub const LOGIN_WAIT_MAX_S: i64 = 300;
/// The lifetime of a count of failed logins, in seconds.
pub const FAILED_LOGINS_FORGOTTEN_S: i64 = 3600;
/// The lifetime of a flash cookie, in seconds: enough to copy a new signing secret ("two minutes" in pages' text).
pub const FLASH_LIFETIME_S: i64 = 120;
/// How long a text typed in a form whose session had ended is kept, in seconds: enough to sign in again.
pub const KEPT_TEXT_LIFETIME_S: i64 = 1800;
/// The longest `Set-Cookie` header that every browser takes, in bytes.
pub const COOKIE_BYTES_MAX: usize = 4096;
