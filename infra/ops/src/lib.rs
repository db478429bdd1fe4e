//! Operators' actions as a library, for `ops`, the seed and tests. Only admins issue tokens in production, in the app.

#[cfg(feature = "aws")]
pub mod aws;
pub mod bundles;
mod cli;
pub mod command;
pub mod export;
pub mod keyring;
pub mod migration;
pub mod organizations;
mod progress;
pub mod reencrypt;
pub mod verify;
pub mod walk;

use std::fmt;

use shared::crypto::{self, HashingFailed, LinkSecret, NoRandomness, TokenHash};
use shared::domain::account::{Account, Membership};
use shared::domain::contact::{DisplayName, Email};
use shared::domain::ids::{MemberId, OrgId, TokenId};
use shared::domain::invitation::{Invitation, NewInvitation};
use shared::domain::member::NotRemovedByOperator;
use shared::domain::organization::{MemberRecord, Organization};
use shared::domain::time::Timestamp;
use shared::domain::time_scale::TimeScale;
use shared::domain::token::Token;
use shared::error::Error;
use shared::limits;
use shared::service::identity::{password_links, second_factors};
use shared::service::members;
use shared::service::system::SystemContext;
use shared::store::operator::Operator;
use shared::store::{Store, StoreError};

pub use shared::domain::organization::Role;
pub use shared::domain::token::Scope;

/// Why an operator's action failed.
#[derive(Debug, thiserror::Error)]
pub enum OpsError {
    /// A name or address is invalid.
    #[error("the {field} {why}")]
    Invalid {
        /// The field.
        field: &'static str,
        /// What a valid value is.
        why: String,
    },
    /// An account with this email address exists.
    #[error("there is an account with this email address")]
    EmailTaken,
    /// No account has this email address.
    #[error("there is no account with this email address")]
    NoSuchAccount,
    /// The account has no second factor.
    #[error("this account has no second factor")]
    NoSecondFactor,
    /// The member can't be removed.
    #[error(transparent)]
    NotRemoved(#[from] NotRemovedByOperator),
    /// There is no such organization.
    #[error("there is no organization with this id")]
    NoSuchOrganization,
    /// The organization has no such token.
    #[error("the organization has no such token")]
    NoSuchToken,
    /// The system provides no randomness.
    #[error(transparent)]
    NoRandomness(#[from] NoRandomness),
    /// The password couldn't be hashed.
    #[error(transparent)]
    Hashing(#[from] HashingFailed),
    /// The store can't be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl OpsError {
    fn of_store(error: Error) -> Self {
        match error {
            Error::Conflict => StoreError::Conflict.into(),
            error => StoreError::Failed(error.cause().unwrap_or_else(|| error.to_string())).into(),
        }
    }
}

fn name(field: &'static str, text: &str) -> Result<DisplayName, OpsError> {
    DisplayName::parse(text).map_err(|(_, why)| OpsError::Invalid { field, why })
}

/// Creates an organization.
pub async fn create_organization(store: &Store, organization_name: &str) -> Result<OrgId, OpsError> {
    let name = name("organization's name", organization_name)?;
    let organization = Organization::create(name, Timestamp::now());
    Operator::new(store).put_organization(&organization).await?;
    Ok(organization.id)
}

/// An organization whose first admin is invited.
pub struct InvitedOrganization {
    /// The organization.
    pub id: OrgId,
    /// Path of the invitation's page, with the secret. Not recoverable: the store keeps only its hash.
    pub invitation_path: String,
}

impl fmt::Debug for InvitedOrganization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InvitedOrganization").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Creates an organization without members and invites its first admin, atomically.
pub async fn create_organization_with_invitation(
    store: &Store,
    organization_name: &str,
    admin_email: &str,
) -> Result<InvitedOrganization, OpsError> {
    let name = name("organization's name", organization_name)?;
    let email = Email::parse(admin_email).map_err(|(_, why)| OpsError::Invalid { field: "email address", why })?;
    let organization = Organization::create(name, Timestamp::now());
    let new = NewInvitation { email, role: Role::Admin };
    let invitation = Invitation::issue(organization.id, new, organization.created_at);
    let secret = LinkSecret::new()?;
    Operator::new(store).create_organization(&organization, &invitation, &secret).await?;
    let invitation_path = format!("/app/invitations/{}", secret.reveal());
    Ok(InvitedOrganization { id: organization.id, invitation_path })
}

/// A member to create.
#[derive(Clone, Copy)]
pub struct NewMember<'a> {
    /// Display name.
    pub name: &'a str,
    /// For signing in.
    pub email: &'a str,
    /// For signing in. The store keeps only its hash.
    pub password: &'a str,
    /// What the member may do.
    pub role: Role,
}

/// Creates a member with a new account.
pub async fn create_member(store: &Store, org: OrgId, new: NewMember<'_>) -> Result<MemberId, OpsError> {
    let name = name("member's name", new.name)?;
    let email = Email::parse(new.email).map_err(|(_, why)| OpsError::Invalid { field: "email address", why })?;
    let created_at = Timestamp::now();
    let member = MemberRecord { id: MemberId::new(), name, email: email.clone(), role: new.role, created_at };
    let account = Account {
        email,
        password_hash: crypto::hash_password(new.password)?,
        memberships: vec![Membership { organization_id: org, member_id: member.id }],
        created_at,
        epoch: 0,
    };
    let created = Operator::new(store).create_member(org, &member, &account).await?;
    if created { Ok(member.id) } else { Err(OpsError::EmailTaken) }
}

/// Adds a member who has an account in another organization. They sign in as before, and switch between the two.
pub async fn add_membership(
    store: &Store,
    org: OrgId,
    member_name: &str,
    email: &str,
    role: Role,
) -> Result<MemberId, OpsError> {
    let name = name("member's name", member_name)?;
    let email = Email::parse(email).map_err(|(_, why)| OpsError::Invalid { field: "email address", why })?;
    let member = MemberRecord { id: MemberId::new(), name, email, role, created_at: Timestamp::now() };
    let joined = Operator::new(store).join(org, &member).await?;
    if joined { Ok(member.id) } else { Err(OpsError::NoSuchAccount) }
}

/// Removes a member, unless they are the only admin: their sessions end, their account and their name in records stay.
pub async fn remove_member(store: &Store, org: OrgId, member: MemberId) -> Result<(), OpsError> {
    let system = SystemContext::begin(store, org, "remove_member", TimeScale::default());
    let removed = system.run(limits::OPERATOR_ATTEMPTS_MAX, || members::remove_as_operator(&system, member)).await;
    Ok(removed.map_err(OpsError::of_store)??)
}

/// Resets a second factor that no admin can: all sessions of the person end, and the password alone signs them in.
pub async fn reset_second_factor(store: &Store, email: &str) -> Result<(), OpsError> {
    let (system, email) = begin_for(store, email, "reset_second_factor").await?;
    let reset = || second_factors::reset_as_operator(&system, &email);
    let was_on = system.run(limits::OPERATOR_ATTEMPTS_MAX, reset).await.map_err(OpsError::of_store)?;
    if was_on { Ok(()) } else { Err(OpsError::NoSecondFactor) }
}

/// Returns the path of a link for setting a new password: once, within 24 hours, until the password changes.
pub async fn create_password_link(store: &Store, email: &str) -> Result<String, OpsError> {
    let (system, email) = begin_for(store, email, "create_password_link").await?;
    let secret = LinkSecret::new()?;
    let create = || password_links::create_as_operator(&system, &email, &secret);
    let is_made = system.run(limits::OPERATOR_ATTEMPTS_MAX, create).await.map_err(OpsError::of_store)?;
    if is_made { Ok(format!("/app/password-links/{}", secret.reveal())) } else { Err(OpsError::NoSuchAccount) }
}

async fn begin_for(store: &Store, email: &str, act: &'static str) -> Result<(SystemContext, Email), OpsError> {
    let email = Email::parse(email).map_err(|(_, why)| OpsError::Invalid { field: "email address", why })?;
    let organizations = Operator::new(store).organizations_of(&email).await?;
    let org = organizations.and_then(|organizations| organizations.first().copied()).ok_or(OpsError::NoSuchAccount)?;
    Ok((SystemContext::begin(store, org, act, TimeScale::default()), email))
}

/// A token to issue.
#[derive(Debug, Clone, Copy)]
pub struct NewToken<'a> {
    /// The token's label.
    pub name: &'a str,
    /// What the token may do.
    pub scope: Scope,
    /// It expires ninety days later.
    pub issued_at: Timestamp,
}

/// An issued token. Not recoverable: the store keeps only its hash.
pub struct IssuedToken {
    /// The token's id.
    pub id: TokenId,
    /// The secret that callers send as `Authorization: Bearer`.
    pub value: String,
}

impl fmt::Debug for IssuedToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IssuedToken").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Issues a token.
pub async fn create_token(store: &Store, org: OrgId, new: NewToken<'_>) -> Result<IssuedToken, OpsError> {
    let label = name("token's name", new.name)?;
    let value = crypto::new_token()?;
    let hash = TokenHash::of(&value).ok_or(NoRandomness)?;
    let token = Token::issue(org, label.as_str().to_owned(), new.scope, new.issued_at);
    Operator::new(store).put_token(&token, hash).await?;
    Ok(IssuedToken { id: token.id, value })
}

/// Revokes a token permanently.
pub async fn revoke_token(store: &Store, org: OrgId, token: TokenId, at: Timestamp) -> Result<(), OpsError> {
    let revoked = Operator::new(store).revoke_token(org, token, at).await?;
    if revoked { Ok(()) } else { Err(OpsError::NoSuchToken) }
}
