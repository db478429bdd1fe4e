//! Signing in, switching organizations, signing out.
//!
//! Guessing passwords is slowed down per account and per address, alike whether there is such an account or not. An
//! attacker who guesses wrong on purpose must not keep the account's owner out, so a browser that has signed in to an
//! account has a device cookie, and attempts in it are counted apart: they wait for no attempts but their own, and only
//! their own count there. The cookie is no way in: it only says where attempts count, until the person signs out
//! everywhere.

use http::StatusCode;

use crate::crypto::{self, CookieSecret};
use crate::domain::account::Account;
use crate::domain::contact::Email;
use crate::domain::ids::OrgId;
use crate::domain::organization::{MemberRecord, Organization};
use crate::domain::session::{FailedLogins, Session};
use crate::domain::time::Timestamp;
use crate::error::Error;
use crate::limits;
use crate::retry::{Budget, retry_on_conflict};
use crate::service::scope::Plan;
use crate::store::commit::Commit;
use crate::store::{Store, StoreError, keys, members, sessions};
use crate::web::client_address::ClientAddress;
use crate::web::cookies::Cookie;
use crate::web::request::Request;
use crate::web::session::SignedIn;
use crate::web::submitted_form::SubmittedForm;
use crate::wire::text::Folded;

/// The cookies of a person who has just signed in.
#[derive(Debug)]
pub struct LoginCookies {
    /// The session's secret.
    pub session: CookieSecret,
    /// The device's.
    pub device: CookieSecret,
}

/// Signs a person in, if the password is the account's. Nothing when something is not right or there were too many
/// attempts: the answer does not tell which.
pub async fn sign_in(request: &mut Request, email: &str, password: &str) -> Result<Option<LoginCookies>, Error> {
    let account = match Email::parse(email) {
        Ok(email) => request.store().account(&email).await?,
        Err(_) => None,
    };
    let typed = Folded::new(email.trim());
    // A person who signs out everywhere, having lost a device, makes devices unknown too.
    let epoch = account.as_ref().map_or(0, |account| account.epoch);
    let known = |device: &CookieSecret| keys::known_device(device.hash(), typed.as_str(), epoch);
    let attempt = LoginAttempt::of(request, typed.as_str(), known).await?;
    // Counted before the password is looked at, so that attempts at the same time count too.
    if !attempt.count(request.store(), request.now()).await? {
        return Ok(None);
    }
    if !is_password_of(account.as_ref(), password).await? {
        return Ok(None);
    }
    let Some(account) = account else { return Ok(None) };
    let fresh = || CookieSecret::new().map_err(Error::from);
    let device = request.cookie(Cookie::Device).map_or_else(fresh, Ok)?;
    // One for all attempts: one whose answer was lost may have begun the session.
    let secret = fresh()?;
    let begin = || async {
        let Some(first) = request.store().memberships(&account).await?.into_iter().next() else { return Ok(None) };
        let old = request.cookie(Cookie::Session);
        let entry = Entry { account: &account, secret: &secret, old: old.as_ref(), created_at: request.now() };
        entry.begin(request, first, Some(known(&device))).await.map(Some)
    };
    let began = retry_on_conflict(Budget::until(request.write_deadline()), begin).await?;
    let Some(signed_in) = began else { return Ok(None) };
    attempt.succeeded(request.store()).await;
    request.sign_in(signed_in);
    Ok(Some(LoginCookies { session: secret, device }))
}

/// Where an attempt to sign in counts.
enum LoginAttempt {
    /// On a device that has signed in to the account before.
    OnDevice(keys::Key),
    /// Elsewhere: at the account, and with all others from the same address.
    Elsewhere { at_account: keys::Key, from_address: keys::Key },
}

impl LoginAttempt {
    async fn of(request: &Request, email: &str, known: impl Fn(&CookieSecret) -> keys::Key) -> Result<Self, Error> {
        if let Some(device) = request.cookie(Cookie::Device)
            && request.store().knows_device(&known(&device)).await?
        {
            return Ok(Self::OnDevice(keys::failed_logins_on_device(device.hash(), email)));
        }
        let address = request.client_address().map_or_else(|| "unknown".to_owned(), ClientAddress::counted);
        let from_address = keys::failed_logins("address", &address);
        Ok(Self::Elsewhere { at_account: keys::failed_logins("account", email), from_address })
    }

    /// Counts it, if it may be made now.
    async fn count(&self, store: &Store, now: Timestamp) -> Result<bool, Error> {
        match self {
            Self::OnDevice(at) => count_attempt(store, at, limits::LOGIN_ATTEMPTS_ON_DEVICE, now).await,
            Self::Elsewhere { at_account, from_address } => {
                Ok(count_attempt(store, from_address, limits::LOGIN_ATTEMPTS_FROM_ADDRESS, now).await?
                    && count_attempt(store, at_account, limits::LOGIN_ATTEMPTS_AT_ACCOUNT, now).await?)
            }
        }
    }

    /// Takes the count back: the password was right.
    async fn succeeded(&self, store: &Store) {
        match self {
            Self::OnDevice(at) => store.delete_failed_logins(at).await,
            Self::Elsewhere { at_account, from_address } => {
                store.delete_failed_logins(at_account).await;
                store.subtract_failed_login(from_address).await;
            }
        }
    }
}

/// Counts an attempt, if one is free now.
async fn count_attempt(store: &Store, at: &keys::Key, free: u32, now: Timestamp) -> Result<bool, Error> {
    let attempt = || async {
        let counted = store.failed_logins(at).await?;
        let version = counted.as_ref().map(|counted| counted.version());
        let failed = counted.map(|counted| counted.remembered(now)).unwrap_or_default();
        if failed.wait_ms(free, now) > 0 {
            return Ok(false);
        }
        let failed = FailedLogins { failures: failed.failures.saturating_add(1), last_at_ms: now.unix_ms() };
        if store.put_failed_logins(at, failed, version).await? { Ok(true) } else { Err(StoreError::Conflict) }
    };
    match retry_on_conflict(Budget::attempts(limits::LOGIN_COUNT_ATTEMPTS_MAX), attempt).await {
        // So many at once that counting does not end: that is guessing.
        Err(StoreError::Conflict) => Ok(false),
        counted => Ok(counted?),
    }
}

/// Whether a password is the account's; takes as long where there is no account.
pub(super) async fn is_password_of(account: Option<&Account>, password: &str) -> Result<bool, Error> {
    // What is too long is no account's; hashing it would cost us more than whoever sends it.
    let (password, fits) = match password.len() {
        ..=limits::PASSWORD_BYTES_MAX => (password.to_owned(), true),
        _ => (String::new(), false),
    };
    let hash = account.map(|account| account.password_hash.clone());
    // It takes tens of milliseconds of a core.
    let checked = tokio::task::spawn_blocking(move || crypto::verify_password(&password, hash.as_deref())).await;
    Ok(checked.map_err(|_| Error::Internal("checking a password panicked".to_owned()))? && fits)
}

/// A session that is about to begin, in the place of the one that the browser had.
struct Entry<'a> {
    account: &'a Account,
    secret: &'a CookieSecret,
    old: Option<&'a CookieSecret>,
    created_at: Timestamp,
}

impl Entry<'_> {
    /// Begins the session; and remembers the device, where its key is given. It takes effect only while the person is a
    /// member there.
    async fn begin(
        &self,
        request: &Request,
        (organization, member): (Organization, MemberRecord),
        device: Option<keys::Key>,
    ) -> Result<SignedIn, Error> {
        let session = Session {
            organization_id: organization.id,
            member_id: member.id,
            email: self.account.email.clone(),
            epoch: self.account.epoch,
            created_at: self.created_at,
            seen_at: request.now(),
        };
        let person = (self.account.clone(), organization, &member);
        let entrance = (request.app(), request.record());
        let signed_in = SignedIn::new(entrance, person, self.secret.clone(), session, request.named());
        let (store, call) = (signed_in.scope().store(), signed_in.scope().call());
        let mut changes = vec![
            sessions::create(call, self.secret.hash(), signed_in.session())?,
            members::check_member(call, member.id),
        ];
        changes.extend(self.old.map(|old| sessions::remove(call, old.hash())));
        changes.extend(device.map(|device| sessions::remember_device(call, device)));
        Commit::new(store, call).with(changes).done(StatusCode::SEE_OTHER, &[]).await?;
        request.is_recorded.store(true, std::sync::atomic::Ordering::Relaxed);
        Ok(signed_in)
    }
}

/// Goes on in another organization of the same account, with a new session.
///
/// # Errors
/// [`Error::NotFound`] if the person does not belong to it.
pub async fn switch(request: &mut Request, to: OrgId) -> Result<CookieSecret, Error> {
    let from = request.submitted()?.signed_in();
    let secret = CookieSecret::new()?;
    let begin = || async {
        let memberships = request.store().memberships(from.account()).await?;
        let into = memberships.into_iter().find(|(organization, _)| organization.id == to);
        // The twelve hours go on.
        let created_at = from.session().created_at;
        let entry = Entry { account: from.account(), secret: &secret, old: Some(from.secret()), created_at };
        entry.begin(request, into.ok_or_else(Error::not_found)?, None).await
    };
    let signed_in = retry_on_conflict(Budget::until(request.write_deadline()), begin).await?;
    request.sign_in(signed_in);
    Ok(secret)
}

/// Ends the session.
pub async fn sign_out(submitted: &SubmittedForm<'_>) -> Result<(), Error> {
    let (scope, signed_in) = (submitted.scope(), submitted.signed_in());
    let end = sessions::remove(scope.call(), signed_in.secret().hash());
    submitted.run(|| std::future::ready(Ok(Plan::new(scope, ()).change([end.clone()])))).await
}

/// Ends all sessions of the account, in every organization.
pub async fn sign_out_everywhere(submitted: &SubmittedForm<'_>) -> Result<(), Error> {
    let (scope, signed_in) = (submitted.scope(), submitted.signed_in());
    let end_all = sessions::end_all(scope.call(), &signed_in.account().email);
    let end = sessions::remove(scope.call(), signed_in.secret().hash());
    let changes = [end_all, end];
    submitted.run(|| std::future::ready(Ok(Plan::new(scope, ()).change(changes.clone())))).await
}
