//! Signing in, and switching organizations.
//!
//! An account with a second factor gets a session only after its code too ([`SecondStep`]); the password attempt counts
//! until then. Wrong codes have a lower limit of their own: six digits are soon guessed.

use crate::crypto::CookieSecret;
use crate::domain::account::Account;
use crate::domain::device::device_of;
use crate::domain::ids::{OrgId, SessionId};
use crate::domain::organization::{MemberRecord, Organization};
use crate::domain::second_factor::TypedCode;
use crate::domain::session::Session;
use crate::domain::time::Timestamp;
use crate::error::Error;
use crate::service::identity::call::{BrowserCall, Decided};
use crate::service::identity::credentials::{Checked, CodeRefused, Proven, SecondStep};
use crate::service::identity::sessions::{self as sessions_of_requests, SignedIn};
use crate::service::scope::{Plan, Scope};
use crate::store::sessions::Person;
use crate::store::{keys, members, second_factors, sessions};
use crate::wire::text::Folded;

/// A session that a person has just begun by signing in.
#[derive(Debug)]
pub struct NewLogin {
    pub(crate) signed_in: SignedIn,
    /// The secret of the browser in which they signed in.
    pub(crate) device: CookieSecret,
}

/// The outcome of a sign-in.
#[derive(Debug)]
pub enum SignIn {
    /// The person is signed in.
    Done(Box<NewLogin>),
    /// Address and password are right, and a code is next.
    CodeIsNext(SecondStep),
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
pub async fn sign_in(call: &BrowserCall<'_>, email: &str, password: &str) -> Result<SignIn, Error> {
    let Some(checked) = Checked::check(call, email, password).await? else { return Ok(SignIn::Refused) };
    let proven = match checked.prove() {
        Ok(proven) => proven,
        Err(step) => return Ok(SignIn::CodeIsNext(step)),
    };
    let secrets = Secrets::new(call)?;
    let signed_in = call.run(|| begin_first_session(call, &proven, &secrets)).await?;
    proven.succeeded(call).await;
    Ok(match signed_in {
        Ok(signed_in) => SignIn::Done(secrets.login(signed_in)),
        Err(nowhere) => SignIn::Nowhere(nowhere),
    })
}

/// The outcome of the second step of a sign-in.
#[derive(Debug)]
pub enum SignInWithCode {
    /// The person is signed in.
    Done(Box<NewLogin>),
    /// The code is wrong or used, or there were too many attempts. The response must not tell which.
    Refused,
    /// The password is needed again: the account has changed since.
    PasswordIsNext,
    /// The code is right, but there is no organization to enter.
    Nowhere(Nowhere),
}

/// Signs a person in with a code, after the password was right in this browser.
pub async fn sign_in_with_code(
    call: &BrowserCall<'_>,
    step: &SecondStep,
    code: &TypedCode,
) -> Result<SignInWithCode, Error> {
    let Some(attempt) = step.attempt(call, code).await? else { return Ok(SignInWithCode::Refused) };
    let secrets = Secrets::new(call)?;
    let begin = || async {
        match attempt.prove(call, step.email()).await? {
            Ok(proven) => Ok(begin_first_session(call, &proven, &secrets).await?.map(Ok)),
            Err(refused) => Ok(Decided::Nothing(secrets.find_session(call).await?.map(Ok).ok_or(refused))),
        }
    };
    let signed_in = match call.run(begin).await? {
        Ok(signed_in) => signed_in,
        Err(CodeRefused::Wrong) => return Ok(SignInWithCode::Refused),
        Err(CodeRefused::PasswordIsNext) => return Ok(SignInWithCode::PasswordIsNext),
    };
    attempt.succeeded(call).await;
    Ok(match signed_in {
        Ok(signed_in) => SignInWithCode::Done(secrets.login(signed_in)),
        Err(nowhere) => SignInWithCode::Nowhere(nowhere),
    })
}

/// Begins a session in the account's first organization that is not suspended.
async fn begin_first_session(
    call: &BrowserCall<'_>,
    proven: &Proven,
    secrets: &Secrets,
) -> Result<Decided<Result<SignedIn, Nowhere>>, Error> {
    let memberships = call.store().memberships(&proven.account).await?;
    let Some((organization, member)) = memberships.into_iter().next() else {
        let is_suspended = call.store().is_suspended(&proven.account).await?;
        return Ok(Decided::Nothing(Err(if is_suspended { Nowhere::Suspended } else { Nowhere::NoOrganization })));
    };
    Ok(begin_session_of_member(call, proven, secrets, organization, member)?.map(Ok))
}

/// The secrets of a session about to begin. All attempts use the same: one whose response was lost may have begun it.
pub(super) struct Secrets {
    session: CookieSecret,
    device: CookieSecret,
}

impl Secrets {
    pub(super) fn new(call: &BrowserCall<'_>) -> Result<Self, Error> {
        let new = || CookieSecret::new().map_err(Error::from);
        Ok(Self { session: new()?, device: call.device.clone().map_or_else(new, Ok)? })
    }

    /// The session, if an earlier attempt began it although its response was lost. The code of that attempt is used.
    pub(super) async fn find_session(&self, call: &BrowserCall<'_>) -> Result<Option<SignedIn>, Error> {
        let secret = Some(self.session.clone());
        let found = sessions_of_requests::find(call.record, secret, None, call.named.clone()).await?;
        if found.is_some() {
            call.note_commit();
        }
        Ok(found)
    }

    pub(super) fn login(self, signed_in: SignedIn) -> Box<NewLogin> {
        Box::new(NewLogin { signed_in, device: self.device })
    }
}

/// Replaces the browser's session, and remembers the device. The commit also uses the code, so that it begins one
/// session. The caller adds what holds only while the person is a member, or makes them one.
pub(super) fn begin_session(
    call: &BrowserCall<'_>,
    proven: &Proven,
    secrets: &Secrets,
    organization: Organization,
    member: MemberRecord,
) -> Result<(Scope, Plan<SignedIn>), Error> {
    let account = &proven.account;
    let person = Person { account: account.clone(), organization, member };
    let (scope, plan) = replace_session(call, person, &secrets.session, call.session.as_ref(), call.now())?;
    let replace = |(before, after): &(_, _)| second_factors::replace(scope.call(), &account.email, before, after);
    let used = proven.used.as_ref().map(replace).transpose()?;
    // Signing out of all sessions increments the epoch, so devices become unknown too.
    let device = sessions::remember_device(scope.call(), device_key(account, &secrets.device, account.epoch));
    Ok((scope, plan.change(used).change([device])))
}

/// Begins a session of someone who is a member already.
pub(super) fn begin_session_of_member(
    call: &BrowserCall<'_>,
    proven: &Proven,
    secrets: &Secrets,
    organization: Organization,
    member: MemberRecord,
) -> Result<Decided<SignedIn>, Error> {
    let (scope, plan) = begin_session(call, proven, secrets, organization, member)?;
    Ok(while_member(scope, plan))
}

fn while_member(scope: Scope, plan: Plan<SignedIn>) -> Decided<SignedIn> {
    let check = members::check_member(scope.call(), plan.output().member().id());
    Decided::Act(scope, plan.change([check]))
}

pub(super) fn device_key(account: &Account, device: &CookieSecret, epoch: u64) -> keys::Key {
    keys::known_device(device.hash(), Folded::new(account.email.as_str()).as_str(), epoch)
}

fn replace_session(
    call: &BrowserCall<'_>,
    person: Person,
    secret: &CookieSecret,
    previous: Option<&CookieSecret>,
    created_at: Timestamp,
) -> Result<(Scope, Plan<SignedIn>), Error> {
    let session = Session {
        id: SessionId::new(),
        organization_id: person.organization.id,
        member_id: person.member.id,
        email: person.account.email.clone(),
        epoch: person.account.epoch,
        created_at,
        seen_at: call.now(),
        device: call.user_agent.and_then(device_of),
    };
    let signed_in = SignedIn::new(call.record, person, secret.clone(), session, call.named.clone());
    let scope = signed_in.scope().clone();
    let begun = sessions::create(scope.call(), secret.hash(), signed_in.session())?;
    let ended = previous.map(|previous| sessions::remove(scope.call(), previous.hash()));
    let plan = Plan::new(&scope, signed_in).change([begun]).change(ended);
    Ok((scope, plan))
}

/// Switches to another organization of the account, with a new session. [`Error::NotFound`] without a membership in it.
pub async fn switch_organization(call: &BrowserCall<'_>, current: &SignedIn, to: OrgId) -> Result<SignedIn, Error> {
    let secret = CookieSecret::new()?;
    let begin = || async {
        let memberships = call.store().memberships(current.account()).await?;
        let membership = memberships.into_iter().find(|(organization, _)| organization.id == to);
        let (organization, member) = membership.ok_or_else(Error::not_found)?;
        let person = Person { account: current.account().clone(), organization, member };
        // The new session keeps the twelve hours of the previous one.
        let created_at = current.session().created_at;
        let (scope, plan) = replace_session(call, person, &secret, Some(current.secret()), created_at)?;
        Ok(while_member(scope, plan))
    };
    call.run(begin).await
}
