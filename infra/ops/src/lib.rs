//! What an operator does, as a library: no command and no API operation issues a token; that is a person's act in the
//! app. The local stack's seed and the tests call this.

pub mod keyring;

use std::fmt;

use shared::crypto::{self, HashingFailed, NoRandomness, TokenHash};
use shared::domain::account::{Account, Membership};
use shared::domain::contact::{DisplayName, Email};
use shared::domain::ids::{MemberId, OrgId, TokenId};
use shared::domain::member::NotRemovedByOperator;
use shared::domain::organization::{MemberRecord, Organization};
use shared::domain::time::Timestamp;
use shared::domain::time_scale::TimeScale;
use shared::limits;
use shared::domain::token::Token;
use shared::error::Error;
use shared::service::members;
use shared::service::system::SystemContext;
use shared::store::operator::Operator;
use shared::store::{Store, StoreError};

pub use shared::domain::organization::Role;
pub use shared::domain::token::Scope;

/// Why an operator's act was not done.
#[derive(Debug, thiserror::Error)]
pub enum OpsError {
    /// A name or an address is not valid.
    #[error("the {field} {why}")]
    Invalid {
        /// Which.
        field: &'static str,
        /// What would be right.
        why: String,
    },
    /// Somebody has an account with this e-mail address.
    #[error("there is an account with this e-mail address")]
    EmailTaken,
    /// Nobody has an account with this e-mail address.
    #[error("there is no account with this e-mail address")]
    NoSuchAccount,
    /// The member stays.
    #[error(transparent)]
    NotRemoved(#[from] NotRemovedByOperator),
    /// The organization has no such token.
    #[error("the organization has no such token")]
    NoSuchToken,
    /// The system gives no randomness.
    #[error(transparent)]
    NoRandomness(#[from] NoRandomness),
    /// The password could not be hashed.
    #[error(transparent)]
    Hashing(#[from] HashingFailed),
    /// The store can't be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn name(field: &'static str, text: &str) -> Result<DisplayName, OpsError> {
    DisplayName::parse(text).map_err(|(_, why)| OpsError::Invalid { field, why })
}

/// Creates an organization.
///
/// # Errors
/// When the name is not valid, or the store can't be written.
pub async fn create_organization(store: &Store, organization_name: &str) -> Result<OrgId, OpsError> {
    let name = name("organization's name", organization_name)?;
    let organization = Organization { id: OrgId::new(), name, created_at: Timestamp::now() };
    Operator::new(store).put_organization(&organization).await?;
    Ok(organization.id)
}

/// Somebody who is to become a member.
#[derive(Clone, Copy)]
pub struct NewMember<'a> {
    /// Their name.
    pub name: &'a str,
    /// The e-mail address that they sign in with.
    pub email: &'a str,
    /// The password that they sign in with; only a hash is kept.
    pub password: &'a str,
    /// What they may do.
    pub role: Role,
}

/// Creates a member with an account of their own.
///
/// # Errors
/// When a value is not valid, the address has an account, or the store can't be written.
pub async fn create_member(store: &Store, org: OrgId, new: NewMember<'_>) -> Result<MemberId, OpsError> {
    let name = name("member's name", new.name)?;
    let email = Email::parse(new.email).map_err(|(_, why)| OpsError::Invalid { field: "e-mail", why })?;
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

/// Makes somebody a member who has an account already, in another organization: they sign in as before, and switch.
///
/// # Errors
/// When a value is not valid, the address has no account, or the store can't be written.
pub async fn add_membership(
    store: &Store,
    org: OrgId,
    member_name: &str,
    email: &str,
    role: Role,
) -> Result<MemberId, OpsError> {
    let name = name("member's name", member_name)?;
    let email = Email::parse(email).map_err(|(_, why)| OpsError::Invalid { field: "e-mail", why })?;
    let member = MemberRecord { id: MemberId::new(), name, email, role, created_at: Timestamp::now() };
    let joined = Operator::new(store).join(org, &member).await?;
    if joined { Ok(member.id) } else { Err(OpsError::NoSuchAccount) }
}

/// Removes a member: their sessions in the organization end at once. Their account stays, and what they did keeps their
/// name. It is on record as the service's own act.
///
/// # Errors
/// When the organization has no such member or no other admin, or the store can't be read or written.
pub async fn remove_member(store: &Store, org: OrgId, member: MemberId) -> Result<(), OpsError> {
    let system = SystemContext::begin(store, org, "remove_member", TimeScale::default());
    match system.run(limits::REMOVAL_ATTEMPTS_MAX, || members::remove_as_operator(&system, member)).await {
        Ok(removed) => Ok(removed?),
        Err(Error::Conflict) => Err(StoreError::Conflict.into()),
        Err(error) => Err(StoreError::Failed(error.cause().unwrap_or_else(|| error.to_string())).into()),
    }
}

/// A token that is to be issued.
#[derive(Debug, Clone, Copy)]
pub struct NewToken<'a> {
    /// Its label.
    pub name: &'a str,
    /// What it may do.
    pub scope: Scope,
    /// When it is issued; it works for ninety days from then.
    pub issued_at: Timestamp,
}

/// A token that was issued. Its value is nowhere else: only a hash is kept.
pub struct IssuedToken {
    /// Its id.
    pub id: TokenId,
    /// What is sent as `Authorization: Bearer`.
    pub value: String,
}

impl fmt::Debug for IssuedToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IssuedToken").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Issues a token.
///
/// # Errors
/// When the label is not valid, the system gives no randomness, or the store can't be written.
pub async fn create_token(store: &Store, org: OrgId, new: NewToken<'_>) -> Result<IssuedToken, OpsError> {
    let label = name("token's name", new.name)?;
    let value = crypto::new_token()?;
    let hash = TokenHash::of(&value).ok_or(NoRandomness)?;
    let token = Token::issue(org, label.as_str().to_owned(), new.scope, new.issued_at);
    Operator::new(store).put_token(&token, hash).await?;
    Ok(IssuedToken { id: token.id, value })
}

/// Takes a token back, at once and for good.
///
/// # Errors
/// When the organization has no such token, or the store can't be written.
pub async fn revoke_token(store: &Store, org: OrgId, token: TokenId, at: Timestamp) -> Result<(), OpsError> {
    let revoked = Operator::new(store).revoke_token(org, token, at).await?;
    if revoked { Ok(()) } else { Err(OpsError::NoSuchToken) }
}
