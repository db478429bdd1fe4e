//! Signing in, switching organizations, signing out.
//!
//! Failed logins count per account and per client address, whether or not the account exists, and each count delays
//! further attempts. So that an attacker cannot lock out an account's owner, a device that has signed in to the account
//! has a device cookie, and its attempts count separately. The cookie grants no access: it only selects the counter, and
//! it is valid until the person signs out of all sessions.

use std::sync::atomic::Ordering;

use http::{StatusCode, header};

use crate::crypto::{self, CookieSecret};
use crate::domain::account::Account;
use crate::domain::call_context::CallContext;
use crate::domain::contact::Email;
use crate::domain::device::device_of;
use crate::domain::ids::{OrgId, SessionId};
use crate::domain::organization::{MemberRecord, Organization};
use crate::domain::password::NewPassword;
use crate::domain::session::{FailedLogins, Session};
use crate::domain::time::Timestamp;
use crate::error::Error;
use crate::limits;
use crate::retry::{Budget, retry_on_conflict};
use crate::service::scope::Plan;
use crate::store::change::Changes;
use crate::store::commit::Commit;
use crate::store::{Store, StoreError, Versioned, keys, members, sessions};
use crate::web::client_address::ClientAddress;
use crate::web::cookies::Cookie;
use crate::web::request::Request;
use crate::web::session::SignedIn;
use crate::web::submitted_form::SubmittedForm;
use crate::wire::text::Folded;

/// The cookies of a person who has just signed in.
#[derive(Debug)]
pub struct LoginCookies {
    /// The secret of the session cookie.
    pub session: CookieSecret,
    /// The secret of the device cookie.
    pub device: CookieSecret,
}

/// The outcome of a sign-in.
#[derive(Debug)]
pub enum SignIn {
    /// The person is signed in.
    Done(LoginCookies),
    /// The address or the password is wrong, or there were too many attempts. The response must not tell which.
    Refused,
    /// Address and password are right, but the account belongs to no organization: the member was removed.
    NoOrganization,
}

/// Signs a person in.
pub async fn sign_in(request: &mut Request, email: &str, password: &str) -> Result<SignIn, Error> {
    let Some(checked) = Checked::check(request, email, password).await? else { return Ok(SignIn::Refused) };
    let secrets = Secrets::new(request)?;
    let begin = || async {
        let memberships = request.store().memberships(&checked.account).await?;
        let Some(first) = memberships.into_iter().next() else { return Ok(None) };
        begin_session(request, &checked.account, &secrets, first, |call, member| {
            Ok(vec![members::check_member(call, member.id)])
        })
        .await
        .map(Some)
    };
    let signed_in = retry_on_conflict(Budget::until(request.write_deadline()), begin).await?;
    checked.attempt.succeeded(request.store()).await;
    let Some(signed_in) = signed_in else { return Ok(SignIn::NoOrganization) };
    request.sign_in(signed_in);
    Ok(SignIn::Done(secrets.into()))
}

/// An account whose password was right, and the attempt that is counted until it succeeds.
pub(super) struct Checked {
    pub(super) account: Account,
    attempt: LoginAttempt,
}

impl Checked {
    /// Checks an address and a password. `None`, if one of them is wrong or there were too many attempts.
    pub(super) async fn check(request: &Request, email: &str, password: &str) -> Result<Option<Self>, Error> {
        let account = match Email::parse(email) {
            Ok(email) => request.store().account(&email).await?,
            Err(_) => None,
        };
        let folded_email = Folded::new(email.trim());
        let epoch = account.as_ref().map_or(0, |account| account.epoch);
        let device = |device: &CookieSecret| keys::known_device(device.hash(), folded_email.as_str(), epoch);
        let attempt = LoginAttempt::new(request, folded_email.as_str(), device).await?;
        // The count comes before the password check, so concurrent attempts count too.
        if !attempt.count(request.store(), request.now()).await? {
            return Ok(None);
        }
        if !check_password(account.as_ref(), password).await? {
            return Ok(None);
        }
        Ok(account.map(|account| Self { account, attempt }))
    }

    /// Takes the count back.
    pub(super) async fn succeeded(&self, request: &Request) {
        self.attempt.succeeded(request.store()).await;
    }
}

/// The secrets of a session that is about to begin. All attempts to begin it use the same: one whose response was lost may
/// have begun it.
pub(super) struct Secrets {
    session: CookieSecret,
    device: CookieSecret,
}

impl Secrets {
    pub(super) fn new(request: &Request) -> Result<Self, Error> {
        let new = || CookieSecret::new().map_err(Error::from);
        Ok(Self { session: new()?, device: request.cookie(Cookie::Device).map_or_else(new, Ok)? })
    }
}

impl From<Secrets> for LoginCookies {
    fn from(Secrets { session, device }: Secrets) -> Self {
        Self { session, device }
    }
}

/// Begins a session in an organization, in the place of the browser's previous one, and remembers the device. The commit
/// makes `changes` too, which must hold only while the person is a member, or make them one.
pub(super) async fn begin_session(
    request: &Request,
    account: &Account,
    secrets: &Secrets,
    (organization, member): (Organization, MemberRecord),
    changes: impl FnOnce(&CallContext, &MemberRecord) -> Result<Vec<Changes>, Error>,
) -> Result<SignedIn, Error> {
    let previous = request.cookie(Cookie::Session);
    let session =
        NewSession { account, secret: &secrets.session, previous: previous.as_ref(), created_at: request.now() };
    // Signing out of all sessions increments the epoch, so devices become unknown too.
    let device = device_key(account, &secrets.device, account.epoch);
    session.begin(request, (organization, member), Some(device), changes).await
}

/// The key of a device that has signed in to an account, for an epoch of the account.
pub(super) fn device_key(account: &Account, device: &CookieSecret, epoch: u64) -> keys::Key {
    keys::known_device(device.hash(), Folded::new(account.email.as_str()).as_str(), epoch)
}

/// A login attempt, with the keys of the counters that it increments.
enum LoginAttempt {
    /// An attempt on a device that has signed in to the account before.
    OnKnownDevice(keys::Key),
    /// An attempt on any other device counts for the account and for the client address.
    OnUnknownDevice { account: keys::Key, address: keys::Key },
}

impl LoginAttempt {
    async fn new(
        request: &Request,
        email: &str,
        device_key: impl Fn(&CookieSecret) -> keys::Key,
    ) -> Result<Self, Error> {
        if let Some(device) = request.cookie(Cookie::Device)
            && request.store().knows_device(&device_key(&device)).await?
        {
            return Ok(Self::OnKnownDevice(keys::failed_logins_on_device(device.hash(), email)));
        }
        let address = request.client_address().map_or_else(|| "unknown".to_owned(), ClientAddress::rate_limit_key);
        let address = keys::failed_logins("address", &address);
        Ok(Self::OnUnknownDevice { account: keys::failed_logins("account", email), address })
    }

    /// Counts the attempt. False, if a counter does not allow one now.
    async fn count(&self, store: &Store, now: Timestamp) -> Result<bool, Error> {
        match self {
            Self::OnKnownDevice(key) => count_attempt(store, key, limits::LOGIN_ATTEMPTS_ON_DEVICE, now).await,
            Self::OnUnknownDevice { account, address } => {
                Ok(count_attempt(store, address, limits::LOGIN_ATTEMPTS_FROM_ADDRESS, now).await?
                    && count_attempt(store, account, limits::LOGIN_ATTEMPTS_AT_ACCOUNT, now).await?)
            }
        }
    }

    /// Takes the count back after a successful sign-in.
    async fn succeeded(&self, store: &Store) {
        match self {
            Self::OnKnownDevice(key) => store.delete_failed_logins(key).await,
            Self::OnUnknownDevice { account, address } => {
                store.delete_failed_logins(account).await;
                store.subtract_failed_login(address).await;
            }
        }
    }
}

/// Increments a counter of failed logins. False, if it does not allow an attempt now: the first `free` attempts are not
/// delayed.
async fn count_attempt(store: &Store, key: &keys::Key, free: u32, now: Timestamp) -> Result<bool, Error> {
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

/// Whether the password is the account's. Takes the same time if there is no account.
pub(super) async fn check_password(account: Option<&Account>, password: &str) -> Result<bool, Error> {
    // No account has a longer password, and hashing one would cost more than sending it.
    let (password, fits) = match password.len() {
        ..=limits::PASSWORD_BYTES_MAX => (password.to_owned(), true),
        _ => (String::new(), false),
    };
    let hash = account.map(|account| account.password_hash.clone());
    // The hash takes tens of milliseconds of CPU time.
    let checked = tokio::task::spawn_blocking(move || crypto::verify_password(&password, hash.as_deref())).await;
    Ok(checked.map_err(|_| Error::Internal("checking a password panicked".to_owned()))? && fits)
}

/// The hash of a new password.
pub(super) async fn hash_password(password: &NewPassword) -> Result<String, Error> {
    let password = password.clone();
    // The hash takes tens of milliseconds of CPU time.
    let hashed = tokio::task::spawn_blocking(move || crypto::hash_password(password.reveal())).await;
    let hashed = hashed.map_err(|_| Error::Internal("hashing a password panicked".to_owned()))?;
    hashed.map_err(|error| Error::Internal(error.to_string()))
}

/// A session that is about to begin. It replaces the browser's previous one.
struct NewSession<'a> {
    account: &'a Account,
    secret: &'a CookieSecret,
    previous: Option<&'a CookieSecret>,
    created_at: Timestamp,
}

impl NewSession<'_> {
    /// Begins the session, and remembers the device if its key is given.
    async fn begin(
        &self,
        request: &Request,
        (organization, member): (Organization, MemberRecord),
        device: Option<keys::Key>,
        more: impl FnOnce(&CallContext, &MemberRecord) -> Result<Vec<Changes>, Error>,
    ) -> Result<SignedIn, Error> {
        let user_agent = request.headers().get(header::USER_AGENT).and_then(|value| value.to_str().ok());
        let session = Session {
            id: Some(SessionId::new()),
            organization_id: organization.id,
            member_id: member.id,
            email: self.account.email.clone(),
            epoch: self.account.epoch,
            created_at: self.created_at,
            seen_at: request.now(),
            device: user_agent.and_then(device_of),
        };
        let owner = (self.account.clone(), organization, &member);
        let call = (request.app(), request.record());
        let signed_in = SignedIn::new(call, owner, self.secret.clone(), session, request.path_record_ids());
        let (store, call) = (signed_in.scope().store(), signed_in.scope().call());
        let mut changes = vec![sessions::create(call, self.secret.hash(), signed_in.session())?];
        changes.extend(more(call, &member)?);
        changes.extend(self.previous.map(|previous| sessions::remove(call, previous.hash())));
        changes.extend(device.map(|device| sessions::remember_device(call, device)));
        Commit::new(store, call).with(changes).done(StatusCode::SEE_OTHER, &[]).await?;
        request.is_audited.store(true, Ordering::Relaxed);
        Ok(signed_in)
    }
}

/// Switches to another organization of the same account, with a new session.
///
/// # Errors
/// [`Error::NotFound`] when the account has no membership in it.
pub async fn switch_organization(request: &mut Request, to: OrgId) -> Result<CookieSecret, Error> {
    let current = request.submitted_form()?.signed_in();
    let secret = CookieSecret::new()?;
    let begin = || async {
        let memberships = request.store().memberships(current.account()).await?;
        let membership = memberships.into_iter().find(|(organization, _)| organization.id == to);
        // The new session keeps the twelve hours of the previous one.
        let session = NewSession {
            account: current.account(),
            secret: &secret,
            previous: Some(current.secret()),
            created_at: current.session().created_at,
        };
        let is_member = |call: &CallContext, member: &MemberRecord| Ok(vec![members::check_member(call, member.id)]);
        session.begin(request, membership.ok_or_else(Error::not_found)?, None, is_member).await
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
