//! Authenticated tokens, with the scope as a type: write operations take a [`WriteCaller`], for tokens that may write.

use std::ops::Deref;
use std::sync::Arc;

use uuid::Uuid;

use crate::api::response::{Committed, Output, Response};
use crate::domain::token::{Scope as TokenScope, Token};
use crate::error::Error;
use crate::platform::app_state::AppState;
use crate::platform::config::BaseUrl;
use crate::platform::files::FileStore;
use crate::service::precondition::ExpectedVersion;
use crate::service::scope::{Plan, Scope, Writer};
use crate::store::commit::Attempts;
use crate::store::idempotency::IdempotencyKey;

/// The caller of an API call.
#[derive(Debug, Clone)]
pub struct Caller {
    scope: Scope,
    token: Token,
    base_url: BaseUrl,
    files: Option<Arc<dyn FileStore>>,
}

impl Deref for Caller {
    type Target = Scope;

    fn deref(&self) -> &Scope {
        &self.scope
    }
}

impl Caller {
    pub(super) fn new(scope: Scope, token: Token, app: &AppState) -> Self {
        Self { scope, token, base_url: app.base_url.clone(), files: app.files.clone() }
    }

    /// The token that was sent.
    #[must_use]
    pub fn token(&self) -> &Token {
        &self.token
    }

    /// The origin of links.
    #[must_use]
    pub fn base_url(&self) -> &BaseUrl {
        &self.base_url
    }

    /// The file store. Fails in a function that isn't set up for files.
    pub fn files(&self) -> Result<&dyn FileStore, Error> {
        self.files.as_deref().ok_or_else(|| Error::Internal("this function is not set up for files".to_owned()))
    }

    pub(super) fn name(&mut self, ids: &[Uuid]) {
        self.scope.call_mut().name(ids);
    }
}

/// A caller who may read.
#[derive(Debug)]
pub struct ReadCaller(Caller);

impl ReadCaller {
    pub(super) fn new(caller: Caller) -> Self {
        Self(caller)
    }
}

impl Deref for ReadCaller {
    type Target = Caller;

    fn deref(&self) -> &Caller {
        &self.0
    }
}

/// A caller who may write.
#[derive(Debug)]
pub struct WriteCaller {
    caller: Caller,
    key: Option<IdempotencyKey>,
    expected: ExpectedVersion,
    attempts: Attempts,
}

impl Deref for WriteCaller {
    type Target = Caller;

    fn deref(&self) -> &Caller {
        &self.caller
    }
}

impl Writer for WriteCaller {
    fn scope(&self) -> &Scope {
        &self.caller.scope
    }
}

impl WriteCaller {
    pub(super) fn new(caller: Caller, attempts: Attempts) -> Result<Self, Error> {
        match caller.token.scope {
            TokenScope::ReadWrite => Ok(Self { caller, key: None, expected: ExpectedVersion::Any, attempts }),
            TokenScope::Read => Err(Error::ReadOnlyToken),
        }
    }

    pub(super) fn with_input(mut self, key: Option<IdempotencyKey>, expected: ExpectedVersion, named: &[Uuid]) -> Self {
        self.caller.name(named);
        Self { key, expected, ..self }
    }

    pub(super) fn key(&self) -> Option<&IdempotencyKey> {
        self.key.as_ref()
    }

    /// The versions in `If-Match`.
    #[must_use]
    pub fn expected_version(&self) -> &ExpectedVersion {
        &self.expected
    }

    /// Commits a plan; `answer` makes the response. On [`Error::Conflict`] nothing took effect; the pipeline retries.
    pub async fn respond<T, O: Output>(
        &self,
        plan: Plan<T>,
        answer: impl FnOnce(&T) -> Response<O>,
    ) -> Result<Committed<O>, Error> {
        let response = answer(plan.output()).encode()?;
        let (commit, ..) = plan.into_commit(&self.caller.scope);
        let committed = commit.respond(response, self.key.as_ref(), &self.attempts).await?;
        Ok(Committed::new(committed))
    }
}
