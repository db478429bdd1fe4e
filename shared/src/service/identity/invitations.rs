//! Invitations: admins make and revoke them, and the holders of their links accept them. No audit row or log has the
//! link's secret.
//!
//! Decision: an invitation never sets the password of an existing account. Accepting it takes that password, and a code
//! if it has a second factor. Attempts count like those of the sign-in form, and only once all else is valid.

use std::fmt;

use tokio::sync::OnceCell;

use crate::crypto::LinkSecret;
use crate::domain::account::{Account, Membership};
use crate::domain::actor::Actor;
use crate::domain::call_context::CallContext;
use crate::domain::contact::{DisplayName, Email};
use crate::domain::ids::{InvitationId, MemberId};
use crate::domain::invitation::{Invitation, NewInvitation};
use crate::domain::member::Admin;
use crate::domain::member::second::{Tie, TieKind};
use crate::domain::organization::{MemberRecord, Organization, Role};
use crate::domain::password::{NewPassword, WeakPassword};
use crate::domain::second_factor::TypedCode;
use crate::error::Error;
use crate::limits;
use crate::service::identity::call::{BrowserCall, Decided};
use crate::service::identity::credentials::{Checked, CodeAttempt, CodeRefused, Proven, SecondStep, hash_password};
use crate::service::identity::sessions::SignedIn;
use crate::service::identity::sign_in::{NewLogin, Secrets, begin_session, begin_session_of_member};
use crate::service::scope::{Plan, Scope};
use crate::store::change::Changes;
use crate::store::invitations::{self as stored, InvitedAddress, StoredInvitation};
use crate::store::{StoreError, Versioned, member_ties, members};
use crate::wire::text::Folded;

/// The organization's pending invitations, oldest first.
pub async fn pending(scope: &Scope) -> Result<Vec<Invitation>, Error> {
    let all = scope.store().invitations().await?.into_iter().map(|stored| stored.into_inner().invitation);
    let mut pending: Vec<_> = all.filter(|invitation| invitation.is_valid_at(scope.now())).collect();
    pending.sort_by_key(|invitation| invitation.id);
    Ok(pending)
}

/// A new invitation with its secret, generated once for all attempts to commit it, so the page shows the right link.
pub struct GeneratedInvitation {
    invitation: Invitation,
    secret: LinkSecret,
}

impl fmt::Debug for GeneratedInvitation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GeneratedInvitation").field("invitation", &self.invitation).finish_non_exhaustive()
    }
}

impl GeneratedInvitation {
    /// Generates the secret.
    pub fn generate(scope: &Scope, admin: Admin<'_>, new: NewInvitation) -> Result<Self, Error> {
        Ok(Self { invitation: Invitation::create(admin, new, scope.now()), secret: LinkSecret::new()? })
    }

    /// The invitation's id.
    #[must_use]
    pub fn id(&self) -> InvitationId {
        self.invitation.id
    }

    /// The secret, shown once.
    #[must_use]
    pub fn secret(&self) -> &LinkSecret {
        &self.secret
    }
}

/// Why nobody was invited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotInvited {
    /// The address is a member's.
    Member,
    /// The organization has [`limits::PENDING_INVITATIONS_MAX`] pending invitations.
    NoRoom,
}

/// Invites an address. Ends an earlier invitation of the address, and returns it if it worked until now.
pub async fn invite(
    scope: &Scope,
    admin: Admin<'_>,
    new: &GeneratedInvitation,
) -> Result<Plan<Result<Option<Invitation>, NotInvited>>, Error> {
    let address = Folded::new(new.invitation.email.as_str());
    let is_same = |email: &str| Folded::new(email).as_str() == address.as_str();
    if scope.store().members().await?.iter().any(|member| is_same(member.email.as_str())) {
        return Ok(Plan::new(scope, Err(NotInvited::Member)));
    }
    let all = scope.store().invitations().await?;
    let earlier = all.iter().find(|stored| is_same(stored.invitation.email.as_str()));
    let others = all.iter().filter(|stored| stored.invitation.is_valid_at(scope.now()) && Some(*stored) != earlier);
    // Two admins at the same moment may exceed the limit by one: it only keeps the list readable.
    if others.count() >= limits::PENDING_INVITATIONS_MAX {
        return Ok(Plan::new(scope, Err(NotInvited::NoRoom)));
    }
    let changes = stored::put(scope.call(), admin, &new.invitation, new.secret.hash(), earlier)?;
    // A second attempt finds what the first may have made.
    let replaced = earlier.map(|stored| stored.invitation.clone());
    let replaced = replaced.filter(|earlier| earlier.is_valid_at(scope.now()) && earlier.id != new.id());
    Ok(Plan::new(scope, Ok(replaced)).change([changes]).showing([new.id().uuid()]))
}

/// Revokes an invitation, unless it was accepted: its link stops working.
pub async fn revoke(scope: &Scope, admin: Admin<'_>, id: InvitationId) -> Result<Plan<()>, Error> {
    let all = scope.store().invitations().await?;
    let found = all.iter().find(|stored| stored.invitation.id == id).ok_or_else(Error::not_found)?;
    Ok(Plan::new(scope, ()).change([stored::revoke(scope.call(), admin, found)]).showing([id.uuid()]))
}

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
pub async fn open(call: &BrowserCall<'_>, secret: &LinkSecret) -> Result<Option<OpenInvitation>, Error> {
    let Some(found) = Found::find(call, secret).await? else { return Ok(None) };
    let Some(invitation) = found.pending(call) else { return Ok(None) };
    let (email, role) = (invitation.invitation.email.clone(), invitation.invitation.role);
    let needs = match (&found.account, found.memberships.is_empty()) {
        (None, _) => Needs::NewAccount,
        (Some(_), true) => Needs::NameAndPassword,
        (Some(_), false) => Needs::Password,
    };
    Ok(Some(OpenInvitation { organization: found.organization, email, role, needs }))
}

struct Found {
    address: InvitedAddress,
    organization: Organization,
    invitation: Option<Versioned<StoredInvitation>>,
    account: Option<Account>,
    memberships: Vec<(Organization, MemberRecord)>,
}

impl Found {
    async fn find(call: &BrowserCall<'_>, secret: &LinkSecret) -> Result<Option<Self>, Error> {
        let store = call.store();
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

    fn pending(&self, call: &BrowserCall<'_>) -> Option<&Versioned<StoredInvitation>> {
        let is_valid = |stored: &&Versioned<StoredInvitation>| stored.invitation.is_valid_at(call.now());
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
    /// A code of the account's second factor, and the step that begins with the right password, if this browser has.
    Code(&'a TypedCode, Option<&'a SecondStep>),
}

/// The outcome of accepting an invitation.
#[derive(Debug)]
pub enum Accepted {
    /// The person is a member and signed in. A repeated form ends here too, after the right password.
    SignedIn(Box<NewLogin>),
    /// The link no longer works, or never did.
    Gone,
    /// The name is invalid; this says why.
    Name(String),
    /// The account's password is wrong, or there were too many attempts.
    WrongPassword,
    /// The password is right, and a code is next.
    CodeIsNext(SecondStep),
    /// The code is wrong or used, or there were too many attempts.
    WrongCode,
    /// The password is needed again: it was given too long ago, or the account has changed since.
    PasswordIsNext,
    /// The new password is not accepted.
    Weak(WeakPassword),
}

/// Someone who accepts an invitation, with the session that begins and what proved that they may.
struct Joined {
    signed_in: SignedIn,
    /// `None` if an earlier attempt took effect.
    proven: Option<Proven>,
}

/// Accepts an invitation: the person becomes a member, with a new account or theirs, and is signed in.
pub async fn accept(
    call: &BrowserCall<'_>,
    secret: &LinkSecret,
    acceptance: &Acceptance<'_>,
) -> Result<Accepted, Error> {
    let secrets = Secrets::new(call)?;
    let new_hash = OnceCell::new();
    let given = match acceptance.proof {
        Proof::Password(password) => Given::Password(password),
        Proof::Code(_, None) => return Ok(Accepted::PasswordIsNext),
        Proof::Code(code, Some(step)) => Given::Code(Box::new(GivenCode { code, step, attempt: OnceCell::new() })),
    };
    let accept = || async {
        let refused = |refused| Ok(Decided::Nothing(Err(refused)));
        let Some(found) = Found::find(call, secret).await? else { return refused(Accepted::Gone) };
        if found.pending(call).is_none() && found.membership().is_none() {
            return refused(Accepted::Gone);
        }
        let Some(known) = &found.account else {
            let Given::Password(password) = &given else { return refused(Accepted::Gone) };
            return accept_with_new_account(call, &secrets, &found, acceptance.name, password, &new_hash).await;
        };
        // A missing name must not cost an attempt.
        let name = match found.memberships.first() {
            Some((_, member)) => member.name.clone(),
            None => match DisplayName::parse(acceptance.name) {
                Ok(name) => name,
                Err((_, message)) => return refused(Accepted::Name(message)),
            },
        };
        match given.prove(call, &known.email).await? {
            Ok(proven) => accept_with_account(call, &secrets, &found, name, proven),
            Err(refused) => {
                let begun = secrets.find_session(call).await?;
                Ok(Decided::Nothing(begun.map(|signed_in| Joined { signed_in, proven: None }).ok_or(refused)))
            }
        }
    };
    let Joined { signed_in, proven } = match Box::pin(call.run(accept)).await? {
        Ok(joined) => joined,
        Err(refused) => return Ok(refused),
    };
    if let Some(proven) = proven {
        proven.succeeded(call).await;
    }
    if let Given::Code(code) = &given
        && let Some(Some(attempt)) = code.attempt.get()
    {
        attempt.succeeded(call).await;
    }
    Ok(Accepted::SignedIn(secrets.login(signed_in)))
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
    async fn prove(&self, call: &BrowserCall<'_>, email: &Email) -> Result<Result<Proven, Accepted>, Error> {
        let attempt = self.attempt.get_or_try_init(|| self.step.attempt(call, self.code)).await?;
        let Some(attempt) = attempt else { return Ok(Err(Accepted::WrongCode)) };
        Ok(attempt.prove(call, email).await?.map_err(|refused| match refused {
            CodeRefused::Wrong => Accepted::WrongCode,
            CodeRefused::PasswordIsNext => Accepted::PasswordIsNext,
        }))
    }
}

impl Given<'_> {
    async fn prove(&self, call: &BrowserCall<'_>, email: &Email) -> Result<Result<Proven, Accepted>, Error> {
        let password = match self {
            Self::Password(password) => password,
            Self::Code(code) => return code.prove(call, email).await,
        };
        let checked = Checked::check(call, email.as_str(), password).await?;
        Ok(checked.ok_or(Accepted::WrongPassword).and_then(|checked| checked.prove().map_err(Accepted::CodeIsNext)))
    }
}

fn accept_with_account(
    call: &BrowserCall<'_>,
    secrets: &Secrets,
    found: &Found,
    name: DisplayName,
    proven: Proven,
) -> Result<Decided<Result<Joined, Accepted>>, Error> {
    let begun = match (found.membership(), found.pending(call)) {
        (Some((organization, member)), _) => {
            begin_session_of_member(call, &proven, secrets, organization.clone(), member.clone())?
        }
        (None, Some(invitation)) => {
            join(call, secrets, found, invitation, &member_of(invitation, name, call), &proven)?
        }
        (None, None) => return Ok(Decided::Nothing(Err(Accepted::Gone))),
    };
    Ok(begun.map(|signed_in| Ok(Joined { signed_in, proven: Some(proven) })))
}

async fn accept_with_new_account(
    call: &BrowserCall<'_>,
    secrets: &Secrets,
    found: &Found,
    name: &str,
    password: &str,
    new_hash: &OnceCell<String>,
) -> Result<Decided<Result<Joined, Accepted>>, Error> {
    let refused = |refused| Ok(Decided::Nothing(Err(refused)));
    let Some(invitation) = found.pending(call) else { return refused(Accepted::Gone) };
    let name = match DisplayName::parse(name) {
        Ok(name) => name,
        Err((_, message)) => return refused(Accepted::Name(message)),
    };
    let email = &found.address.email;
    let password = match NewPassword::check(password, email.as_str(), found.organization.name.as_str()) {
        Ok(password) => password,
        Err(weak) => return refused(Accepted::Weak(weak)),
    };
    let password_hash = new_hash.get_or_try_init(|| hash_password(&password)).await?.clone();
    let member = member_of(invitation, name, call);
    let proven = Proven::new_account(Account {
        email: email.clone(),
        password_hash,
        memberships: vec![Membership { organization_id: found.organization.id, member_id: member.id }],
        created_at: call.now(),
        epoch: 0,
    });
    let begun = join(call, secrets, found, invitation, &member, &proven)?;
    Ok(begun.map(|signed_in| Ok(Joined { signed_in, proven: Some(proven) })))
}

/// Begins the session of a person who becomes a member by an invitation.
fn join(
    call: &BrowserCall<'_>,
    secrets: &Secrets,
    found: &Found,
    invitation: &Versioned<StoredInvitation>,
    member: &MemberRecord,
    proven: &Proven,
) -> Result<Decided<SignedIn>, Error> {
    let (scope, plan) = begin_session(call, proven, secrets, found.organization.clone(), member.clone())?;
    let created = match &found.account {
        Some(_) => members::create_for_account(scope.call(), member, &proven.account)?,
        None => members::create_with_account(scope.call(), member, &proven.account)?,
    };
    let tie = tie_to_inviter(scope.call(), member, invitation)?;
    let plan = plan.change([created, stored::accept(scope.call(), invitation)]).change(tie);
    Ok(Decided::Act(scope, plan))
}

fn member_of(invitation: &Versioned<StoredInvitation>, name: DisplayName, call: &BrowserCall<'_>) -> MemberRecord {
    let (email, role) = (invitation.invitation.email.clone(), invitation.invitation.role);
    MemberRecord { id: MemberId::new(), name, email, role, created_at: call.now() }
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
