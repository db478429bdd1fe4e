//! The holders of links: for an invitation or a new password. No audit row or log has the link's secret.
//!
//! - Decision: an invitation never sets the password of an existing account. Accepting it takes that password, and a
//!   code if it has a second factor. Attempts count like those of the sign-in form, and only once all else is valid.
//! - Decision: setting a new password does not sign in. The sign-in form follows: a second factor stays on.

use std::sync::OnceLock;
use std::sync::atomic::Ordering;

use http::{HeaderValue, StatusCode};
use tokio::sync::OnceCell;

use crate::crypto::LinkSecret;
use crate::domain::account::{Account, Membership};
use crate::domain::actor::{Actor, ActorType};
use crate::domain::call_context::CallContext;
use crate::domain::contact::{DisplayName, Email};
use crate::domain::ids::MemberId;
use crate::domain::member::second::{Tie, TieKind};
use crate::domain::organization::{MemberRecord, Organization, Role};
use crate::domain::password::{NewPassword, WeakPassword};
use crate::domain::password_link::PasswordLink;
use crate::domain::second_factor::TypedCode;
use crate::error::Error;
use crate::retry::retry_on_conflict;
use crate::store::change::Changes;
use crate::store::commit::Commit;
use crate::store::invitations::{self, InvitedAddress, StoredInvitation};
use crate::store::{StoreError, Versioned, member_ties, members, password_links};
use crate::web::credentials::{Checked, Proven, hash_password};
use crate::web::login::{LoginCookies, Secrets, begin_session};
use crate::web::request::Request;
use crate::web::second_step::{CodeAttempt, CodeRefused, SecondStep};
use crate::web::session::SignedIn;

/// An invitation that can be accepted.
#[derive(Debug)]
pub struct OpenInvitation {
    /// The organization that the person joins.
    pub organization: Organization,
    /// The person's e-mail address.
    pub email: Email,
    /// The role that the person gets.
    pub role: Role,
    /// What the person must give to accept it.
    pub needs: Needs,
    /// Whether the password was right in this browser and a code is next.
    pub is_code_next: bool,
}

/// What a person must give to accept an invitation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// A name, and the password of a new account.
    NewAccount,
    /// The password of their account.
    Password,
    /// The password of their account, and a name: no organization of theirs knows one.
    NameAndPassword,
}

/// The invitation of a link, if it can be accepted.
pub async fn open_invitation(request: &Request, secret: &LinkSecret) -> Result<Option<OpenInvitation>, Error> {
    let Some(found) = Found::find(request, secret).await? else { return Ok(None) };
    let Some(invitation) = found.pending(request) else { return Ok(None) };
    let (email, role) = (invitation.invitation.email.clone(), invitation.invitation.role);
    let needs = match (&found.account, found.memberships.is_empty()) {
        (None, _) => Needs::NewAccount,
        (Some(_), true) => Needs::NameAndPassword,
        (Some(_), false) => Needs::Password,
    };
    let is_code_next = SecondStep::of(request).await?.is_some_and(|step| step.email == email);
    Ok(Some(OpenInvitation { organization: found.organization, email, role, needs, is_code_next }))
}

struct Found {
    address: InvitedAddress,
    organization: Organization,
    invitation: Option<Versioned<StoredInvitation>>,
    account: Option<Account>,
    memberships: Vec<(Organization, MemberRecord)>,
}

impl Found {
    async fn find(request: &Request, secret: &LinkSecret) -> Result<Option<Self>, Error> {
        let store = request.store();
        let Some(address) = store.invited_address(secret.hash()).await? else { return Ok(None) };
        let organization = store.organization(address.organization_id).await?;
        let organization = organization.filter(|organization| organization.suspended_at.is_none());
        let Some(organization) = organization else { return Ok(None) };
        let invitation = store.invitation(&address, secret.hash()).await?;
        let account = store.account(&address.email).await?;
        let memberships = match &account {
            Some(account) => store.memberships(account).await?,
            None => Vec::new(),
        };
        Ok(Some(Self { address, organization, invitation, account, memberships }))
    }

    fn membership(&self) -> Option<&(Organization, MemberRecord)> {
        self.memberships.iter().find(|(organization, _)| organization.id == self.organization.id)
    }

    fn pending(&self, request: &Request) -> Option<&Versioned<StoredInvitation>> {
        let is_valid = |stored: &&Versioned<StoredInvitation>| stored.invitation.is_valid_at(request.now());
        self.invitation.as_ref().filter(is_valid).filter(|_| self.membership().is_none())
    }
}

/// What a person gives to accept an invitation.
#[derive(Debug)]
pub struct Acceptance<'a> {
    /// As typed.
    pub name: &'a str,
    /// What proves that the person may accept.
    pub proof: Proof<'a>,
}

/// How a person proves that they may accept an invitation.
#[derive(Debug, Clone, Copy)]
pub enum Proof<'a> {
    /// The typed password: the account's, or a new one.
    Password(&'a str),
    /// A code of the account's second factor, after the password was right in this browser.
    Code(&'a TypedCode),
}

/// The outcome of accepting an invitation.
#[derive(Debug)]
pub enum Accepted {
    /// The person is a member and signed in. A repeated form ends here too, after the right password.
    SignedIn(LoginCookies),
    /// The link no longer works, or never did.
    Gone,
    /// The name is invalid; this says why.
    Name(String),
    /// The account's password is wrong, or there were too many attempts.
    WrongPassword,
    /// The password is right, and a code is next. The cookie says so for five minutes.
    CodeIsNext(Option<HeaderValue>),
    /// The code is wrong or used, or there were too many attempts.
    WrongCode,
    /// The password is needed again: it was given too long ago, or the account has changed since.
    PasswordIsNext,
    /// The new password is not accepted.
    Weak(WeakPassword),
}

/// Accepts an invitation: the person becomes a member, with a new account or theirs, and is signed in.
pub async fn accept(
    request: &mut Request,
    secret: &LinkSecret,
    acceptance: &Acceptance<'_>,
) -> Result<Accepted, Error> {
    let secrets = Secrets::new(request)?;
    let new_hash = OnceCell::new();
    let step = SecondStep::of(request).await?;
    let given = match (acceptance.proof, &step) {
        (Proof::Password(password), _) => Given::Password(password),
        (Proof::Code(_), None) => return Ok(Accepted::PasswordIsNext),
        (Proof::Code(code), Some(step)) => Given::Code(Box::new(GivenCode { code, step, attempt: OnceCell::new() })),
    };
    let attempt = || async {
        let Some(found) = Found::find(request, secret).await? else { return Ok(Err(Accepted::Gone)) };
        if found.pending(request).is_none() && found.membership().is_none() {
            return Ok(Err(Accepted::Gone));
        }
        let Some(known) = &found.account else {
            let Given::Password(password) = &given else { return Ok(Err(Accepted::Gone)) };
            return accept_with_new_account(request, &secrets, &found, acceptance.name, password, &new_hash).await;
        };
        // A missing name must not cost an attempt.
        let name = match found.memberships.first() {
            Some((_, member)) => member.name.clone(),
            None => match DisplayName::parse(acceptance.name) {
                Ok(name) => name,
                Err((_, message)) => return Ok(Err(Accepted::Name(message))),
            },
        };
        match given.prove(request, &known.email).await? {
            Ok(proven) => accept_with_account(request, &secrets, &found, name, &proven).await,
            Err(refused) => Ok(secrets.find_session(request).await?.ok_or(refused)),
        }
    };
    match retry_on_conflict(request.write_budget(), attempt).await? {
        Ok(signed_in) => {
            if let Given::Code(code) = &given
                && let Some(Some(attempt)) = code.attempt.get()
            {
                attempt.succeeded(request).await;
            }
            request.sign_in(signed_in);
            Ok(Accepted::SignedIn(secrets.into()))
        }
        Err(refused) => Ok(refused),
    }
}

enum Given<'a> {
    Password(&'a str),
    Code(Box<GivenCode<'a>>),
}

/// A code counts as an attempt once all else has been checked, and only once however often the commit is tried.
struct GivenCode<'a> {
    code: &'a TypedCode,
    step: &'a SecondStep,
    attempt: OnceCell<Option<CodeAttempt<'a>>>,
}

impl GivenCode<'_> {
    async fn prove(&self, request: &Request, email: &Email) -> Result<Result<Proven, Accepted>, Error> {
        let attempt = self.attempt.get_or_try_init(|| self.step.attempt(request, self.code)).await?;
        let Some(attempt) = attempt else { return Ok(Err(Accepted::WrongCode)) };
        Ok(attempt.prove(request, email).await?.map_err(|refused| match refused {
            CodeRefused::Wrong => Accepted::WrongCode,
            CodeRefused::PasswordIsNext => Accepted::PasswordIsNext,
        }))
    }
}

impl Given<'_> {
    async fn prove(&self, request: &Request, email: &Email) -> Result<Result<Proven, Accepted>, Error> {
        let password = match self {
            Self::Password(password) => password,
            Self::Code(code) => return code.prove(request, email).await,
        };
        let Some(checked) = Checked::check(request, email.as_str(), password).await? else {
            return Ok(Err(Accepted::WrongPassword));
        };
        Ok(match checked.prove() {
            Ok(proven) => Ok(proven),
            Err(checked) => Err(Accepted::CodeIsNext(SecondStep::begin(request, &checked).await?)),
        })
    }
}

async fn accept_with_account(
    request: &Request,
    secrets: &Secrets,
    found: &Found,
    name: DisplayName,
    proven: &Proven,
) -> Result<Result<SignedIn, Accepted>, Error> {
    let begun = match (found.membership(), found.pending(request)) {
        (Some((organization, member)), _) => {
            let is_member =
                |call: &CallContext, member: &MemberRecord| Ok(vec![members::check_member(call, member.id)]);
            begin_session(request, proven, secrets, organization.clone(), member.clone(), is_member).await?
        }
        (None, Some(invitation)) => {
            let member = member_of(invitation, name, request);
            begin_session(request, proven, secrets, found.organization.clone(), member, |call, member| {
                let joined = members::create_for_account(call, member, &proven.account)?;
                let mut changes = vec![joined, invitations::accept(call, invitation)];
                changes.extend(tie_to_inviter(call, member, invitation)?);
                Ok(changes)
            })
            .await?
        }
        (None, None) => return Ok(Err(Accepted::Gone)),
    };
    proven.succeeded(request).await;
    Ok(Ok(begun))
}

async fn accept_with_new_account(
    request: &Request,
    secrets: &Secrets,
    found: &Found,
    name: &str,
    password: &str,
    new_hash: &OnceCell<String>,
) -> Result<Result<SignedIn, Accepted>, Error> {
    let Some(invitation) = found.pending(request) else { return Ok(Err(Accepted::Gone)) };
    let name = match DisplayName::parse(name) {
        Ok(name) => name,
        Err((_, message)) => return Ok(Err(Accepted::Name(message))),
    };
    let email = &found.address.email;
    let password = NewPassword::check(password, email.as_str(), found.organization.name.as_str());
    let password = match password {
        Ok(password) => password,
        Err(weak) => return Ok(Err(Accepted::Weak(weak))),
    };
    let password_hash = new_hash.get_or_try_init(|| hash_password(&password)).await?.clone();
    let member = member_of(invitation, name, request);
    let account = Account {
        email: email.clone(),
        password_hash,
        memberships: vec![Membership { organization_id: found.organization.id, member_id: member.id }],
        created_at: request.now(),
        epoch: 0,
    };
    let proven = Proven::new_account(account);
    let begun = begin_session(request, &proven, secrets, found.organization.clone(), member, |call, member| {
        let created = members::create_with_account(call, member, &proven.account)?;
        let mut changes = vec![created, invitations::accept(call, invitation)];
        changes.extend(tie_to_inviter(call, member, invitation)?);
        Ok(changes)
    });
    Ok(Ok(begun.await?))
}

fn member_of(invitation: &Versioned<StoredInvitation>, name: DisplayName, request: &Request) -> MemberRecord {
    let (email, role) = (invitation.invitation.email.clone(), invitation.invitation.role);
    MemberRecord { id: MemberId::new(), name, email, role, created_at: request.now() }
}

/// Ties a new member to the admin who invited them. None if an operator did.
fn tie_to_inviter(
    call: &CallContext,
    member: &MemberRecord,
    invitation: &StoredInvitation,
) -> Result<Option<Changes>, StoreError> {
    let by = invitation.invitation.created_by.as_ref().and_then(Actor::member);
    by.map(|by| member_ties::tie(call, &Tie { member_id: member.id, by, kind: TieKind::Invited, at: call.now() }))
        .transpose()
}

/// A link to set a new password that can be used.
#[derive(Debug)]
pub struct OpenPasswordLink {
    /// The organization.
    pub organization: Organization,
    /// The address of the account.
    pub email: Email,
}

struct FoundLink {
    link: PasswordLink,
    organization: Organization,
    account: Account,
    member: MemberRecord,
}

impl FoundLink {
    async fn find(request: &Request, secret: &LinkSecret) -> Result<Option<Self>, Error> {
        let store = request.store();
        let Some(link) = store.password_link(secret.hash()).await? else { return Ok(None) };
        let org = link.organization_id;
        let (organization, account) = (store.organization(org).await?, store.account(&link.email).await?);
        let (Some(organization), Some(account)) = (organization, account) else { return Ok(None) };
        let ids: Vec<_> = [link.member_id].into_iter().chain(link.created_by).collect();
        let members = store.members_by_id(org, &ids).await?;
        let admin = members.iter().find(|member| Some(member.id) == link.created_by);
        let is_valid = link.is_valid_at(request.now(), &account, admin);
        let Some(member) = members.into_iter().find(|member| member.id == link.member_id) else { return Ok(None) };
        Ok(is_valid.then_some(Self { link, organization, account, member }))
    }
}

/// The link, if it can be used.
pub async fn open_password_link(request: &Request, secret: &LinkSecret) -> Result<Option<OpenPasswordLink>, Error> {
    let found = FoundLink::find(request, secret).await?;
    Ok(found.map(|found| OpenPasswordLink { organization: found.organization, email: found.account.email }))
}

/// The outcome of setting a new password.
#[derive(Debug)]
pub enum PasswordSet {
    /// The account has the password, and all its sessions have ended.
    Done,
    /// The link no longer works, or never did.
    Gone,
    /// The password is not accepted.
    Weak(WeakPassword),
}

/// Sets a new password with a link, which then stops working. The audit log shows it as the member's act.
pub async fn set_password(request: &Request, secret: &LinkSecret, password: &str) -> Result<PasswordSet, Error> {
    let new_hash = OnceCell::<String>::new();
    let tried = OnceLock::new();
    let attempt = || async {
        let Some(FoundLink { link, organization, account, member }) = FoundLink::find(request, secret).await? else {
            // An earlier attempt may have taken effect although its response was lost.
            let Some(email) = tried.get() else { return Ok(PasswordSet::Gone) };
            let account = request.store().account(email).await?;
            let is_set = account.is_some_and(|account| Some(&account.password_hash) == new_hash.get());
            return Ok(if is_set { PasswordSet::Done } else { PasswordSet::Gone });
        };
        let password = match NewPassword::check(password, account.email.as_str(), organization.name.as_str()) {
            Ok(password) => password,
            Err(weak) => return Ok(PasswordSet::Weak(weak)),
        };
        let password_hash = new_hash.get_or_try_init(|| hash_password(&password)).await?;
        let actor = Actor {
            actor_type: ActorType::Member,
            id: Some(member.id.uuid()),
            display_name: member.name.as_str().to_owned(),
        };
        let scope = request.record().scope(request.app(), link.organization_id, actor, Vec::new());
        let call = scope.call();
        let tie = |by| Tie { member_id: member.id, by, kind: TieKind::PasswordReset, at: call.now() };
        let to_admin = link.created_by.map(|by| member_ties::tie(call, &tie(by))).transpose()?;
        let set = password_links::set_password(call, secret.hash(), &account, password_hash)?;
        let changes = [set, members::check_member(call, member.id)].into_iter().chain(to_admin);
        // A link's address does not change.
        let _ = tried.set(account.email.clone());
        Commit::new(scope.store(), call).with(changes).done(StatusCode::SEE_OTHER, &[member.id.uuid()]).await?;
        request.is_audited.store(true, Ordering::Relaxed);
        Ok(PasswordSet::Done)
    };
    retry_on_conflict(request.write_budget(), attempt).await
}
