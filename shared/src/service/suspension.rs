//! Suspending an organization, and resuming it: acts of the service, which operators ask for.
//!
//! While an organization is suspended, its tokens are refused, its sessions and links don't count, and its deliveries
//! are held. Resuming continues unended sessions and sends held deliveries. What expires meanwhile has expired.
//!
//! Decision: suspending first refuses people, then tokens, then holds deliveries; resuming is in the reverse order. An
//! interrupted call is repeated. Calls under way end within [`limits::CALL_DEADLINE`].

use crate::crypto::TokenHash;
use crate::domain::endpoint::Endpoint;
use crate::domain::organization::Organization;
use crate::domain::time::Timestamp;
use crate::error::Error;
use crate::limits;
use crate::service::scope::{Plan, Writer};
use crate::service::system::SystemContext;
use crate::store::change::Changes;
use crate::store::{Versioned, endpoints, organizations, tokens};

/// What is left to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Nothing: the organization is as requested.
    Done,
    /// A step was taken, and there may be more.
    Taken,
}

/// Takes the next step to suspend the organization.
pub async fn suspend(system: &SystemContext) -> Result<Plan<Step>, Error> {
    let scope = system.scope();
    let organization = scope.store().organization().await?;
    let Some(at) = organization.suspended_at else {
        let first = organizations::suspend(scope.call(), Some(scope.now()));
        return Ok(Plan::new(scope, Step::Taken).change([first]).showing([organization.id.uuid()]));
    };
    copy(system, &organization, Some(at)).await
}

/// Takes the next step to resume the organization.
pub async fn resume(system: &SystemContext) -> Result<Plan<Step>, Error> {
    let scope = system.scope();
    let organization = scope.store().organization().await?;
    let copied = copy(system, &organization, None).await?;
    if !copied.is_empty() || organization.suspended_at.is_none() {
        return Ok(copied);
    }
    let last = organizations::suspend(scope.call(), None);
    Ok(Plan::new(scope, Step::Taken).change([last]).showing([organization.id.uuid()]))
}

/// Copies the organization's suspension to tokens and endpoints that differ, as many as fit into a transaction.
async fn copy(system: &SystemContext, organization: &Organization, at: Option<Timestamp>) -> Result<Plan<Step>, Error> {
    let scope = system.scope();
    let mut changes: Vec<Changes> = Vec::new();
    for hash in tokens_that_differ(system, at).await? {
        changes.push(tokens::suspend(scope.call(), hash, at));
    }
    for state in scope.store().endpoints().await? {
        let before: Versioned<Endpoint> = state.endpoint;
        if let Some(after) = before.with_suspension(at) {
            changes.push(endpoints::suspend(scope.call(), &before, &after)?);
        }
    }
    changes.truncate(limits::SUSPENDED_AT_ONCE);
    let step = if changes.is_empty() { Step::Done } else { Step::Taken };
    Ok(Plan::new(scope, step).change(changes).showing([organization.id.uuid()]))
}

/// The tokens that would work, or don't because of a suspension, and differ from the organization.
async fn tokens_that_differ(system: &SystemContext, at: Option<Timestamp>) -> Result<Vec<TokenHash>, Error> {
    let (scope, now) = (system.scope(), system.scope().now());
    let since = now.plus_seconds(-limits::TOKEN_LIFETIME_S);
    let mut found = Vec::new();
    for token in scope.store().tokens_since(since).await? {
        if token.is_valid_at(now) && token.suspended_at != at {
            found.extend(scope.store().token_hash(token.id).await?);
        }
    }
    Ok(found)
}
