//! Passwords and the attempts at them: what must be proven before a session begins.
//!
//! Failed logins count per account and per client address, whether or not the account exists, and delay further
//! attempts. A device that has signed in to the account counts separately, by a cookie valid until the person signs out
//! everywhere: otherwise an attacker could lock the owner out. The cookie grants no access.

use crate::crypto;
use crate::domain::account::Account;
use crate::domain::contact::Email;
use crate::domain::password::NewPassword;
use crate::domain::second_factor::SecondFactor;
use crate::domain::session::FailedLogins;
use crate::domain::time::Timestamp;
use crate::error::Error;
use crate::limits;
use crate::retry::{Budget, retry_on_conflict};
use crate::store::{Store, StoreError, Versioned, keys};
use crate::web::client_address::ClientAddress;
use crate::web::cookies::Cookie;
use crate::web::request::Request;
use crate::wire::text::Folded;

/// An account whose password was right, with the attempt that counts until it succeeds.
pub(super) struct Checked {
    pub(super) account: Account,
    pub(super) factor: Option<Versioned<SecondFactor>>,
    attempt: LoginAttempt,
}

impl Checked {
    /// Checks an address and a password. `None` if either is wrong or there were too many attempts.
    pub(super) async fn check(request: &Request, email: &str, password: &str) -> Result<Option<Self>, Error> {
        let found = match Email::parse(email) {
            Ok(email) => request.store().account_with_factor(&email).await?,
            Err(_) => None,
        };
        let account = found.as_ref().map(|(account, _)| account);
        let epoch = account.map_or(0, |account| account.epoch);
        let attempt = LoginAttempt::new(request, email, epoch, Guessed::Password).await?;
        // The count comes before the password check, so concurrent attempts count too.
        if !attempt.count(request.store(), request.now()).await? {
            return Ok(None);
        }
        if !check_password(account, password).await? {
            return Ok(None);
        }
        Ok(found.map(|(account, factor)| Self { account, factor, attempt }))
    }

    pub(super) async fn succeeded(&self, request: &Request) {
        self.attempt.succeeded(request.store()).await;
    }

    pub(super) fn prove(self) -> Result<Proven, Box<Self>> {
        match self {
            Self { account, factor: None, attempt } => Ok(Proven { account, used: None, attempt: Some(attempt) }),
            with_factor => Err(Box::new(with_factor)),
        }
    }
}

/// An account that may get a session: its password was right, and its code too if it has a second factor.
pub(super) struct Proven {
    pub(super) account: Account,
    pub(super) used: Option<(Versioned<SecondFactor>, SecondFactor)>,
    attempt: Option<LoginAttempt>,
}

impl Proven {
    pub(super) fn new_account(account: Account) -> Self {
        Self { account, used: None, attempt: None }
    }

    /// An account whose code was right. The caller takes back the counted attempt.
    pub(super) fn with_code(account: Account, before: Versioned<SecondFactor>, after: SecondFactor) -> Self {
        Self { account, used: Some((before, after)), attempt: None }
    }

    pub(super) async fn succeeded(&self, request: &Request) {
        if let Some(attempt) = &self.attempt {
            attempt.succeeded(request.store()).await;
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Guessed {
    /// A password, or whether an account exists.
    Password,
    /// A code, by someone who knows the password.
    Code,
}

impl Guessed {
    fn counter(self, email: &str) -> keys::Key {
        let kind = match self {
            Self::Password => "account",
            Self::Code => "code",
        };
        keys::failed_logins(kind, email)
    }

    /// The failed attempts at an account that are not delayed.
    fn free_at_account(self) -> u32 {
        match self {
            Self::Password => limits::LOGIN_ATTEMPTS_AT_ACCOUNT,
            Self::Code => limits::LOGIN_CODES_AT_ACCOUNT,
        }
    }
}

/// A login attempt, with the keys of its counters.
pub(super) enum LoginAttempt {
    /// On a device that has signed in to the account before.
    OnKnownDevice(keys::Key),
    /// On any other device: counts for the account and for the client address.
    OnUnknownDevice { account: keys::Key, free_at_account: u32, address: keys::Key },
}

impl LoginAttempt {
    pub(super) async fn new(request: &Request, email: &str, epoch: u64, guessed: Guessed) -> Result<Self, Error> {
        let folded = Folded::new(email.trim());
        let email = folded.as_str();
        if let Some(device) = request.cookie(Cookie::Device)
            && request.store().knows_device(&keys::known_device(device.hash(), email, epoch)).await?
        {
            return Ok(Self::OnKnownDevice(keys::failed_logins_on_device(device.hash(), email)));
        }
        let address = request.client_address().map_or_else(|| "unknown".to_owned(), ClientAddress::rate_limit_key);
        Ok(Self::OnUnknownDevice {
            account: guessed.counter(email),
            free_at_account: guessed.free_at_account(),
            address: keys::failed_logins("address", &address),
        })
    }

    /// Counts the attempt. False if a counter does not allow one now.
    pub(super) async fn count(&self, store: &Store, now: Timestamp) -> Result<bool, Error> {
        match self {
            Self::OnKnownDevice(key) => count_attempt(store, key, limits::LOGIN_ATTEMPTS_ON_DEVICE, now).await,
            Self::OnUnknownDevice { account, free_at_account, address } => {
                Ok(count_attempt(store, address, limits::LOGIN_ATTEMPTS_FROM_ADDRESS, now).await?
                    && count_attempt(store, account, *free_at_account, now).await?)
            }
        }
    }

    pub(super) async fn succeeded(&self, store: &Store) {
        match self {
            Self::OnKnownDevice(key) => store.delete_failed_logins(key).await,
            Self::OnUnknownDevice { account, address, .. } => {
                store.delete_failed_logins(account).await;
                store.subtract_failed_login(address).await;
            }
        }
    }
}

/// How long a counter of failed logins delays the next attempt, in milliseconds.
pub(super) async fn wait_ms(store: &Store, key: &keys::Key, free: u32, now: Timestamp) -> Result<i64, Error> {
    let stored = store.failed_logins(key).await?;
    Ok(stored.map(|stored| stored.remembered(now)).unwrap_or_default().wait_ms(free, now))
}

/// Increments a counter. False if it does not allow an attempt now: the first `free` attempts are not delayed.
pub(super) async fn count_attempt(store: &Store, key: &keys::Key, free: u32, now: Timestamp) -> Result<bool, Error> {
    let attempt = || async {
        let stored = store.failed_logins(key).await?;
        let version = stored.as_ref().map(Versioned::version);
        let failed = stored.map(|stored| stored.remembered(now)).unwrap_or_default();
        if failed.wait_ms(free, now) > 0 {
            return Ok(false);
        }
        let failed = FailedLogins { failures: failed.failures.saturating_add(1), last_at_ms: now.unix_ms() };
        if store.put_failed_logins(key, failed, version).await? { Ok(true) } else { Err(StoreError::Conflict) }
    };
    match retry_on_conflict(Budget::attempts(limits::LOGIN_COUNT_ATTEMPTS_MAX), attempt).await {
        // So many concurrent attempts are a guessing attack.
        Err(StoreError::Conflict) => Ok(false),
        counted => Ok(counted?),
    }
}

/// Checks the account's password. Takes the same time without an account.
pub(super) async fn check_password(account: Option<&Account>, password: &str) -> Result<bool, Error> {
    // No account has a longer password, and hashing one would cost more than sending it.
    let (password, fits) = match password.len() {
        ..=limits::PASSWORD_BYTES_MAX => (password.to_owned(), true),
        _ => (String::new(), false),
    };
    let hash = account.map(|account| account.password_hash.clone());
    // Hashing takes tens of milliseconds of CPU time.
    let checked = tokio::task::spawn_blocking(move || crypto::verify_password(&password, hash.as_deref())).await;
    Ok(checked.map_err(|_| Error::Internal("checking a password panicked".to_owned()))? && fits)
}

pub(super) async fn hash_password(password: &NewPassword) -> Result<String, Error> {
    let password = password.clone();
    // Hashing takes tens of milliseconds of CPU time.
    let hashed = tokio::task::spawn_blocking(move || crypto::hash_password(password.reveal())).await;
    let hashed = hashed.map_err(|_| Error::Internal("hashing a password panicked".to_owned()))?;
    hashed.map_err(|error| Error::Internal(error.to_string()))
}
