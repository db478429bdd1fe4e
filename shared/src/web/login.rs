//! Signing in, switching organizations, signing out.
//!
//! An account with a second factor gets a session only after its code too (`SecondStep`); the password attempt counts
//! until then. Wrong codes have a lower limit of their own: six digits are soon guessed.

use std::sync::atomic::Ordering;

use http::{HeaderValue, StatusCode, header};

use crate::crypto::CookieSecret;
use crate::domain::account::Account;
use crate::domain::call_context::CallContext;
use crate::domain::device::device_of;
use crate::domain::ids::{OrgId, SessionId};
use crate::domain::organization::{MemberRecord, Organization};
use crate::domain::second_factor::TypedCode;
use crate::domain::session::Session;
use crate::domain::time::Timestamp;
use crate::error::Error;
use crate::retry::retry_on_conflict;
use crate::service::scope::Plan;
use crate::store::change::Changes;
use crate::store::commit::Commit;
use crate::store::sessions::Person;
use crate::store::{keys, members, second_factors, sessions};
use crate::web::cookies::Cookie;
use crate::web::credentials::{Checked, Proven};
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
    /// Address and password are right, and a code is next. The cookie says so for five minutes.
    CodeIsNext(Option<HeaderValue>),
    /// The address or the password is wrong, or there were too many attempts. The response must not tell which.
    Refused,
    /// Address and password are right, but there is no organization to enter.
    Nowhere(Nowhere),
}

/// Why a person who proved their identity gets no session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nowhere {
    /// The member was removed: the account belongs to no organization.
    NoOrganization,
    /// The organization is suspended.
    Suspended,
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
    let signed_in = retry_on_conflict(request.write_budget(), begin).await?;
    proven.succeeded(request).await;
    let signed_in = match signed_in {
        Ok(signed_in) => signed_in,
        Err(nowhere) => return Ok(SignIn::Nowhere(nowhere)),
    };
    request.sign_in(signed_in);
    Ok(SignIn::Done(secrets.into()))
}

/// The outcome of the second step of a sign-in.
#[derive(Debug)]
pub enum SignInWithCode {
    /// The person is signed in.
    Done(LoginCookies),
    /// The code is wrong or used, or there were too many attempts. The response must not tell which.
    Refused,
    /// The password is needed again: it was given too long ago or in another browser, or the account has changed since.
    PasswordIsNext,
    /// The code is right, but there is no organization to enter.
    Nowhere(Nowhere),
}

/// Signs a person in with a code, after the password was right in this browser.
pub async fn sign_in_with_code(request: &mut Request, code: &TypedCode) -> Result<SignInWithCode, Error> {
    let Some(step) = SecondStep::of(request).await? else { return Ok(SignInWithCode::PasswordIsNext) };
    let Some(attempt) = step.attempt(request, code).await? else { return Ok(SignInWithCode::Refused) };
    let secrets = Secrets::new(request)?;
    let begin = || async {
        match attempt.prove(request, &step.email).await? {
            Ok(proven) => begin_first_session(request, &proven, &secrets).await.map(Ok),
            Err(refused) => Ok::<_, Error>(secrets.find_session(request).await?.map(Ok).ok_or(refused)),
        }
    };
    let signed_in = match retry_on_conflict(request.write_budget(), begin).await? {
        Ok(signed_in) => signed_in,
        Err(CodeRefused::Wrong) => return Ok(SignInWithCode::Refused),
        Err(CodeRefused::PasswordIsNext) => return Ok(SignInWithCode::PasswordIsNext),
    };
    attempt.succeeded(request).await;
    let signed_in = match signed_in {
        Ok(signed_in) => signed_in,
        Err(nowhere) => return Ok(SignInWithCode::Nowhere(nowhere)),
    };
    request.sign_in(signed_in);
    Ok(SignInWithCode::Done(secrets.into()))
}

/// Begins a session in the account's first organization that is not suspended.
async fn begin_first_session(
    request: &Request,
    proven: &Proven,
    secrets: &Secrets,
) -> Result<Result<SignedIn, Nowhere>, Error> {
    let memberships = request.store().memberships(&proven.account).await?;
    let Some((organization, member)) = memberships.into_iter().next() else {
        let is_suspended = request.store().is_suspended(&proven.account).await?;
        return Ok(Err(if is_suspended { Nowhere::Suspended } else { Nowhere::NoOrganization }));
    };
    let is_member = |call: &CallContext, member: &MemberRecord| Ok(vec![members::check_member(call, member.id)]);
    begin_session(request, proven, secrets, organization, member, is_member).await.map(Ok)
}

/// The secrets of a session about to begin. All attempts use the same: one whose response was lost may have begun it.
pub(super) struct Secrets {
    session: CookieSecret,
    device: CookieSecret,
}

impl Secrets {
    pub(super) fn new(request: &Request) -> Result<Self, Error> {
        let new = || CookieSecret::new().map_err(Error::from);
        Ok(Self { session: new()?, device: request.cookie(Cookie::Device).map_or_else(new, Ok)? })
    }

    /// The session, if an earlier attempt began it although its response was lost. The code of that attempt is used.
    pub(super) async fn find_session(&self, request: &Request) -> Result<Option<SignedIn>, Error> {
        let (app, record) = (request.app(), request.record());
        let found = session::find(app, record, self.session.clone(), None, request.path_record_ids()).await?;
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

/// Replaces the browser's session, and remembers the device. The commit also uses the code, so that it begins one
/// session, and makes `changes`, which must hold only while the person is a member, or make them one.
pub(super) async fn begin_session(
    request: &Request,
    proven: &Proven,
    secrets: &Secrets,
    organization: Organization,
    member: MemberRecord,
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
    session.begin(request, organization, member, Some(device), changes).await
}

pub(super) fn device_key(account: &Account, device: &CookieSecret, epoch: u64) -> keys::Key {
    keys::known_device(device.hash(), Folded::new(account.email.as_str()).as_str(), epoch)
}

struct NewSession<'a> {
    account: &'a Account,
    secret: &'a CookieSecret,
    previous: Option<&'a CookieSecret>,
    created_at: Timestamp,
}

impl NewSession<'_> {
    async fn begin(
        &self,
        request: &Request,
        organization: Organization,
        member: MemberRecord,
        device: Option<keys::Key>,
        more: impl FnOnce(&CallContext, &MemberRecord) -> Result<Vec<Changes>, Error>,
    ) -> Result<SignedIn, Error> {
        let user_agent = request.headers().get(header::USER_AGENT).and_then(|value| value.to_str().ok());
        let session = Session {
            id: SessionId::new(),
            organization_id: organization.id,
            member_id: member.id,
            email: self.account.email.clone(),
            epoch: self.account.epoch,
            created_at: self.created_at,
            seen_at: request.now(),
            device: user_agent.and_then(device_of),
        };
        let owner = Person { account: self.account.clone(), organization, member: member.clone() };
        let (secret, ids) = (self.secret.clone(), request.path_record_ids());
        let signed_in = SignedIn::new(request.app(), request.record(), owner, secret, session, ids);
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

/// Switches to another organization of the account, with a new session. [`Error::NotFound`] without a membership in it.
pub async fn switch_organization(request: &mut Request, to: OrgId) -> Result<CookieSecret, Error> {
    let current = request.submitted_form()?.signed_in()?;
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
        let (organization, member) = membership.ok_or_else(Error::not_found)?;
        session.begin(request, organization, member, None, is_member).await
    };
    let signed_in = retry_on_conflict(request.write_budget(), begin).await?;
    request.sign_in(signed_in);
    Ok(secret)
}

/// Ends the session.
pub async fn sign_out(submitted: &SubmittedForm<'_>) -> Result<(), Error> {
    let (scope, signed_in) = (submitted.scope(), submitted.signed_in()?);
    let end = sessions::remove(scope.call(), signed_in.secret().hash());
    submitted.run(|| std::future::ready(Ok(Plan::new(scope, ()).change([end.clone()])))).await
}

/// Ends all sessions of the account, in every organization.
pub async fn sign_out_everywhere(submitted: &SubmittedForm<'_>) -> Result<(), Error> {
    let (scope, signed_in) = (submitted.scope(), submitted.signed_in()?);
    let end_all = sessions::end_all(scope.call(), &signed_in.account().email);
    let end = sessions::remove(scope.call(), signed_in.secret().hash());
    let changes = [end_all, end];
    submitted.run(|| std::future::ready(Ok(Plan::new(scope, ()).change(changes.clone())))).await
}
