//! Access tokens, which admins create and revoke in the app. No API operation can.

use std::fmt;

use crate::crypto::{NoRandomness, TokenHash, new_token};
use crate::domain::ids::TokenId;
use crate::domain::member::Admin;
use crate::domain::token::{NewToken, Token};
use crate::error::Error;
use crate::limits;
use crate::service::scope::{Plan, Scope};
use crate::store::tokens as stored;

/// The organization's tokens, without values, newest first: all that can be valid, and the latest of the others.
pub async fn list(scope: &Scope) -> Result<Vec<Token>, Error> {
    // An hour more, since the ids of tokens and the times of calls come from different clocks.
    const LEEWAY_S: i64 = 3600;
    let oldest_valid = scope.now().plus_seconds(-limits::TOKEN_LIFETIME_S - LEEWAY_S);
    Ok(scope.store().tokens_since(oldest_valid).await?)
}

/// A new token with its value.
pub struct GeneratedToken {
    token: Token,
    value: String,
    hash: TokenHash,
}

impl fmt::Debug for GeneratedToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GeneratedToken").field("token", &self.token).finish_non_exhaustive()
    }
}

impl GeneratedToken {
    /// A token with a random value.
    pub fn generate(scope: &Scope, admin: Admin<'_>, new: &NewToken) -> Result<Self, Error> {
        let value = new_token()?;
        let hash = TokenHash::of(&value).ok_or(NoRandomness)?;
        Ok(Self { token: Token::create(admin, new, scope.now()), value, hash })
    }

    /// The token's id.
    #[must_use]
    pub fn id(&self) -> TokenId {
        self.token.id
    }

    /// The secret value, shown once.
    #[must_use]
    pub fn value(&self) -> &str {
        &self.value
    }
}

/// No token was created: the organization has [`limits::VALID_TOKENS_MAX`] valid ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoRoom;

/// Creates a token.
pub async fn create(scope: &Scope, admin: Admin<'_>, new: &GeneratedToken) -> Result<Plan<Result<(), NoRoom>>, Error> {
    let all = list(scope).await?;
    // Two admins at the same moment may exceed the limit by one: it only keeps the list readable.
    if all.iter().filter(|token| token.is_valid_at(scope.now())).count() >= limits::VALID_TOKENS_MAX {
        return Ok(Plan::new(scope, Err(NoRoom)));
    }
    let changes = stored::create(scope.call(), admin, &new.token, new.hash)?;
    Ok(Plan::new(scope, Ok(())).change([changes]).showing([new.id().uuid()]))
}

/// Revokes a token, at once and permanently. Nothing changes if it is already revoked.
pub async fn revoke(scope: &Scope, admin: Admin<'_>, id: TokenId) -> Result<Plan<()>, Error> {
    let hash = scope.store().token_hash(id).await?.ok_or_else(Error::not_found)?;
    let token = scope.store().token_with_hash(hash).await?.ok_or_else(Error::not_found)?;
    let change = token.revoked_at.is_none().then(|| stored::revoke(scope.call(), admin, hash, scope.now()));
    Ok(Plan::new(scope, ()).change(change).showing([id.uuid()]))
}
