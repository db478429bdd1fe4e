//! The service itself as the caller: for the clock, for operators, and for the setup of the local demo.

use std::ops::Deref;
use std::time::Instant;

use http::StatusCode;
use tracing::{Instrument, Span};

use crate::domain::actor::Actor;
use crate::domain::call_context::CallContext;
use crate::domain::ids::{OrgId, RequestId};
use crate::domain::time::Timestamp;
use crate::domain::time_scale::TimeScale;
use crate::error::Error;
use crate::retry::{Budget, retry_on_conflict};
use crate::service::scope::{Plan, Scope, Writer, call_span};
use crate::store::{OrgStore, Store, Usage};

/// A call of the service itself in an organization. Beginning one takes the [`Store`], which no one else has.
#[derive(Debug)]
pub struct SystemContext {
    scope: Scope,
    span: Span,
    started: Instant,
}

impl SystemContext {
    /// A call that begins now, with its own count of usage.
    #[must_use]
    pub fn begin(store: &Store, org: OrgId, operation: &'static str, time_scale: TimeScale) -> Self {
        let request_id = RequestId::new();
        let call = CallContext::new(request_id, operation, Timestamp::now(), Actor::system(), org, Vec::new());
        let scope = Scope::new(call, OrgStore::new(store.metered(), org), time_scale);
        Self { scope, span: call_span(request_id, operation), started: Instant::now() }
    }

    /// Commits a plan and returns its output. An empty plan is not committed, and leaves no audit row.
    /// [`Error::Conflict`] if a record has changed since it was read: nothing took effect; decide again.
    pub async fn commit<T>(&self, plan: Plan<T>) -> Result<T, Error> {
        if plan.is_empty() {
            return Ok(plan.into_output());
        }
        let (commit, shown, output) = plan.into_commit(&self.scope);
        commit.done(StatusCode::OK, &shown).await?;
        Ok(output)
    }

    /// Decides and commits, with retries on conflicts, up to this number of attempts.
    pub async fn run<T, F>(&self, attempts_max: u32, mut decide: impl FnMut() -> F) -> Result<T, Error>
    where
        F: Future<Output = Result<Plan<T>, Error>>,
    {
        retry_on_conflict(Budget::attempts(attempts_max), || {
            let decided = decide();
            async { self.commit(decided.await?).await }
        })
        .instrument(self.span.clone())
        .await
    }

    pub(crate) fn span(&self) -> &Span {
        &self.span
    }

    pub(crate) fn started(&self) -> Instant {
        self.started
    }

    /// The usage of the table by the call so far.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.scope.store().table().usage()
    }
}

impl Deref for SystemContext {
    type Target = Scope;

    fn deref(&self) -> &Scope {
        &self.scope
    }
}

impl Writer for SystemContext {
    fn scope(&self) -> &Scope {
        &self.scope
    }
}
