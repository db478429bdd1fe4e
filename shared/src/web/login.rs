//! Signing in, switching organizations, signing out.
//!
//! Failed logins count per account and per client address, whether or not the account exists, and each count delays
//! further attempts. So that an attacker cannot lock out an account's owner, a device that has signed in to the account
//! has a device cookie, and its attempts count separately. The cookie grants no access: it only selects the counter, and
//! it is valid until the person signs out of all sessions.
//!
//! Where an account has a second factor, a session begins only after its code too (`SecondStep`). The password attempt
//! stays counted until then, and wrong codes count like wrong passwords, but against a limit of their own that is lower:
//! only whoever knows the password guesses codes, and six digits are soon guessed.

use std::sync::atomic::Ordering;

use http::{HeaderValue, StatusCode, header};

use crate::crypto::{self, CookieSecret};
use crate::domain::account::Account;
use crate::domain::call_context::CallContext;
use crate::domain::contact::Email;
use crate::domain::device::device_of;
use crate::domain::ids::{OrgId, SessionId};
use crate::domain::organization::{MemberRecord, Organization};
use crate::domain::password::NewPassword;
use crate::domain::second_factor::{SecondFactor, TypedCode};
use crate::domain::session::{FailedLogins, Session};
use crate::domain::time::Timestamp;
use crate::error::Error;
use crate::limits;
use crate::retry::{Budget, retry_on_conflict};
use crate::service::scope::Plan;
use crate::store::change::Changes;
use crate::store::commit::Commit;
use crate::store::{Store, StoreError, Versioned, keys, members, second_factors, sessions};
use crate::web::client_address::ClientAddress;
use crate::web::cookies::Cookie;
use crate::web::request::Request;
use crate::web::second_step::{CodeRefused, SecondStep};
use crate::web::session::{self, SignedIn};
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
    /// The address and the password are right, and the account has a second factor: its code is next. The cookie says so for
    /// five minutes.
    CodeIsNext(Option<HeaderValue>),
    /// The address or the password is wrong, or there were too many attempts. The response must not tell which.
    Refused,
    /// Address and password are right, but the account belongs to no organization: the member was removed.
    NoOrganization,
}

/// Signs a person in with their password, if the account has no second factor.
pub async fn sign_in(request: &mut Request, email: &str, password: &str) -> Result<SignIn, Error> {
    let Some(checked) = Checked::check(request, email, password).await? else { return Ok(SignIn::Refused) };
    let proven = match checked.prove() {
        Ok(proven) => proven,
        Err(checked) => return Ok(SignIn::CodeIsNext(SecondStep::begin(request, &checked).await?)),
    };
    let secrets = Secrets::new(request)?;
    let begin = || begin_first_session(request, &proven, &secrets);
    let signed_in = retry_on_conflict(Budget::until(request.write_deadline()), begin).await?;
    proven.succeeded(request).await;
    let Some(signed_in) = signed_in else { return Ok(SignIn::NoOrganization) };
    request.sign_in(signed_in);
    Ok(SignIn::Done(secrets.into()))
}

/// The outcome of the second step of a sign-in.
#[derive(Debug)]
pub enum SignInWithCode {
    /// The person is signed in.
    Done(LoginCookies),
    /// The code is wrong or was used before, or there were too many attempts. The response must not tell which.
    Refused,
    /// The password is needed again: it was given too long ago or in another browser, or the account has changed since.
    PasswordIsNext,
    /// The code is right, but the account belongs to no organization: the member was removed.
    NoOrganization,
}

/// Signs a person in with a code, after the password was right in this browser.
pub async fn sign_in_with_code(request: &mut Request, code: &TypedCode) -> Result<SignInWithCode, Error> {
    let Some(step) = SecondStep::of(request).await? else { return Ok(SignInWithCode::PasswordIsNext) };
    let Some(attempt) = step.attempt(request, code).await? else { return Ok(SignInWithCode::Refused) };
    let secrets = Secrets::new(request)?;
    let begin = || async {
        match attempt.prove(request, &step.email).await? {
            Ok(proven) => begin_first_session(request, &proven, &secrets).await.map(Ok),
            Err(refused) => Ok::<_, Error>(secrets.find_session(request).await?.map(Some).ok_or(refused)),
        }
    };
    let signed_in = match retry_on_conflict(Budget::until(request.write_deadline()), begin).await? {
        Ok(signed_in) => signed_in,
        Err(CodeRefused::Wrong) => return Ok(SignInWithCode::Refused),
        Err(CodeRefused::PasswordIsNext) => return Ok(SignInWithCode::PasswordIsNext),
    };
    attempt.succeeded(request).await;
    let Some(signed_in) = signed_in else { return Ok(SignInWithCode::NoOrganization) };
    request.sign_in(signed_in);
    Ok(SignInWithCode::Done(secrets.into()))
}

/// Begins a session in the account's first organization. `None`, if the account belongs to none.
async fn begin_first_session(request: &Request, proven: &Proven, secrets: &Secrets) -> Result<Option<SignedIn>, Error> {
    let memberships = request.store().memberships(&proven.account).await?;
    let Some(first) = memberships.into_iter().next() else { return Ok(None) };
    let is_member = |call: &CallContext, member: &MemberRecord| Ok(vec![members::check_member(call, member.id)]);
    begin_session(request, proven, secrets, first, is_member).await.map(Some)
}

/// An account whose password was right, and the attempt that is counted until it succeeds.
pub(super) struct Checked {
    pub(super) account: Account,
    pub(super) factor: Option<Versioned<SecondFactor>>,
    attempt: LoginAttempt,
}

impl Checked {
    /// Checks an address and a password. `None`, if one of them is wrong or there were too many attempts.
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

    /// Takes the count back.
    pub(super) async fn succeeded(&self, request: &Request) {
        self.attempt.succeeded(request.store()).await;
    }

    /// The account, if the password is enough for a session.
    ///
    /// # Errors
    /// The same, if the account has a second factor.
    pub(super) fn prove(self) -> Result<Proven, Box<Self>> {
        match self {
            Self { account, factor: None, attempt } => Ok(Proven { account, used: None, attempt: Some(attempt) }),
            with_factor => Err(Box::new(with_factor)),
        }
    }
}

/// An account that may get a session: its password was right, and so was a code if it has a second factor.
pub(super) struct Proven {
    pub(super) account: Account,
    /// The second factor before and after the code was used.
    used: Option<(Versioned<SecondFactor>, SecondFactor)>,
    attempt: Option<LoginAttempt>,
}

impl Proven {
    /// A new account, whose person has just chosen the password.
    pub(super) fn new_account(account: Account) -> Self {
        Self { account, used: None, attempt: None }
    }

    /// An account whose code was right. Whoever counted the attempt takes it back.
    pub(super) fn with_code(account: Account, before: Versioned<SecondFactor>, after: SecondFactor) -> Self {
        Self { account, used: Some((before, after)), attempt: None }
    }

    /// Takes the count back.
    pub(super) async fn succeeded(&self, request: &Request) {
        if let Some(attempt) = &self.attempt {
            attempt.succeeded(request.store()).await;
        }
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

    /// The session, if an attempt before has begun it although its response was lost. The code of that attempt is used.
    pub(super) async fn find_session(&self, request: &Request) -> Result<Option<SignedIn>, Error> {
        let (app, record) = (request.app(), request.record());
        let found = session::find(app, record, (self.session.clone(), None), request.path_record_ids()).await?;
        if found.is_some() {
            request.is_audited.store(true, Ordering::Relaxed);
        }
        Ok(found)
    }
}

impl From<Secrets> for LoginCookies {
    fn from(Secrets { session, device }: Secrets) -> Self {
        Self { session, device }
    }
}

/// Begins a session in an organization, in the place of the browser's previous one, and remembers the device. The commit
/// uses the code, so that it begins one session, and makes `changes` too, which must hold only while the person is a member,
/// or make them one.
pub(super) async fn begin_session(
    request: &Request,
    proven: &Proven,
    secrets: &Secrets,
    (organization, member): (Organization, MemberRecord),
    changes: impl FnOnce(&CallContext, &MemberRecord) -> Result<Vec<Changes>, Error>,
) -> Result<SignedIn, Error> {
    let account = &proven.account;
    let changes = |call: &CallContext, member: &MemberRecord| {
        let mut all = changes(call, member)?;
        if let Some((before, after)) = &proven.used {
            all.push(second_factors::replace(call, &account.email, before, after)?);
        }
        Ok(all)
    };
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

/// What is guessed in an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Guessed {
    /// A password, or whether there is an account.
    Password,
    /// A code, by someone who knows the password.
    Code,
}

impl Guessed {
    /// The key of the counter of an account.
    fn counter(self, email: &str) -> keys::Key {
        let kind = match self {
            Self::Password => "account",
            Self::Code => "code",
        };
        keys::failed_logins(kind, email)
    }

    /// The failed attempts at an account until the next one must wait.
    fn free_at_account(self) -> u32 {
        match self {
            Self::Password => limits::LOGIN_ATTEMPTS_AT_ACCOUNT,
            Self::Code => limits::LOGIN_CODES_AT_ACCOUNT,
        }
    }
}

/// A login attempt, with the keys of the counters that it increments.
pub(super) enum LoginAttempt {
    /// An attempt on a device that has signed in to the account before.
    OnKnownDevice(keys::Key),
    /// An attempt on any other device counts for the account and for the client address.
    OnUnknownDevice { account: keys::Key, free_at_account: u32, address: keys::Key },
}

impl LoginAttempt {
    /// An attempt at the account with an address, if there is one, in its epoch.
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

    /// Counts the attempt. False, if a counter does not allow one now.
    pub(super) async fn count(&self, store: &Store, now: Timestamp) -> Result<bool, Error> {
        match self {
            Self::OnKnownDevice(key) => count_attempt(store, key, limits::LOGIN_ATTEMPTS_ON_DEVICE, now).await,
            Self::OnUnknownDevice { account, free_at_account, address } => {
                Ok(count_attempt(store, address, limits::LOGIN_ATTEMPTS_FROM_ADDRESS, now).await?
                    && count_attempt(store, account, *free_at_account, now).await?)
            }
        }
    }

    /// Takes the count back after a successful sign-in.
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
