//! Attempts at passwords, codes and links. Wrong ones delay further attempts.
//!
//! Failed logins count per account and per client address, whether or not the account exists. A device that has signed
//! in to the account counts separately, by a cookie valid until the person signs out everywhere: otherwise an attacker
//! could lock the owner out. The cookie grants no access.

use crate::domain::session::FailedLogins;
use crate::error::Error;
use crate::limits;
use crate::retry::{Budget, retry_on_conflict};
use crate::service::identity::call::BrowserCall;
use crate::store::{StoreError, Versioned, keys};
use crate::wire::text::Folded;

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
#[derive(Debug)]
pub(super) enum LoginAttempt {
    /// On a device that has signed in to the account before.
    OnKnownDevice(keys::Key),
    /// On any other device: counts for the account and for the client address.
    OnUnknownDevice { account: keys::Key, free_at_account: u32, address: keys::Key },
}

impl LoginAttempt {
    pub(super) async fn new(call: &BrowserCall<'_>, email: &str, epoch: u64, guessed: Guessed) -> Result<Self, Error> {
        let folded = Folded::new(email.trim());
        let email = folded.as_str();
        if let Some(device) = &call.device
            && call.store().knows_device(&keys::known_device(device.hash(), email, epoch)).await?
        {
            return Ok(Self::OnKnownDevice(keys::failed_logins_on_device(device.hash(), email)));
        }
        Ok(Self::OnUnknownDevice {
            account: guessed.counter(email),
            free_at_account: guessed.free_at_account(),
            address: keys::failed_logins("address", &call.network),
        })
    }

    /// Counts the attempt. False if a counter does not allow one now.
    pub(super) async fn count(&self, call: &BrowserCall<'_>) -> Result<bool, Error> {
        match self {
            Self::OnKnownDevice(key) => count_attempt(call, key, limits::LOGIN_ATTEMPTS_ON_DEVICE).await,
            Self::OnUnknownDevice { account, free_at_account, address } => {
                Ok(count_attempt(call, address, limits::LOGIN_ATTEMPTS_FROM_ADDRESS).await?
                    && count_attempt(call, account, *free_at_account).await?)
            }
        }
    }

    pub(super) async fn succeeded(&self, call: &BrowserCall<'_>) {
        let store = call.store();
        match self {
            Self::OnKnownDevice(key) => store.delete_failed_logins(key).await,
            Self::OnUnknownDevice { account, address, .. } => {
                store.delete_failed_logins(account).await;
                store.subtract_failed_login(address).await;
            }
        }
    }
}

/// How long a counter delays the next attempt, in milliseconds.
pub(super) async fn wait_ms(call: &BrowserCall<'_>, key: &keys::Key, free: u32) -> Result<i64, Error> {
    let stored = call.store().failed_logins(key).await?;
    Ok(stored.map(|stored| stored.remembered(call.now())).unwrap_or_default().wait_ms(free, call.now()))
}

/// Increments a counter. False if it does not allow an attempt now: the first `free` attempts are not delayed.
pub(super) async fn count_attempt(call: &BrowserCall<'_>, key: &keys::Key, free: u32) -> Result<bool, Error> {
    let (store, now) = (call.store(), call.now());
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
