//! The service itself as the caller: for the clock, for operators, and for the setup of the local demo.

use std::ops::Deref;

use http::StatusCode;
use tracing::Instrument;

use crate::domain::actor::Actor;
use crate::domain::ids::OrgId;
use crate::domain::time_scale::TimeScale;
use crate::error::Error;
use crate::retry::{Budget, retry_on_conflict};
use crate::service::call_record::CallRecord;
use crate::service::scope::{Plan, Scope, Writer};
use crate::store::{Store, Usage};

/// A call of the service itself in an organization. Beginning one takes the [`Store`], which no one else has.
#[derive(Debug)]
pub struct SystemContext {
    scope: Scope,
    record: CallRecord,
}

impl SystemContext {
    /// A call that begins now, with its own count of usage.
    #[must_use]
    pub fn begin(store: &Store, org: OrgId, operation: &'static str, time_scale: TimeScale) -> Self {
        let record = CallRecord::begin(store, time_scale, operation);
        Self { scope: record.scope(org, Actor::system(), Vec::new()), record }
    }

    /// Commits a plan and returns its output. An empty plan is not committed, and leaves no audit row.
    /// [`Error::Conflict`] if a record has changed since it was read: nothing took effect; decide again.
    pub async fn commit<T>(&self, plan: Plan<T>) -> Result<T, Error> {
        plan.commit(&self.scope, StatusCode::OK, None).await
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
        .instrument(self.record.span().clone())
        .await
    }

    /// Logs the end of the call.
    pub fn log(&self, ended: Result<(), &Error>) {
        let (status, code) = match ended {
            Ok(()) => (StatusCode::OK, "ok"),
            Err(error) => (error.status().0, error.status().1.as_str()),
        };
        self.record.log(Some(&self.scope), status, code, ended.err().and_then(Error::cause));
    }

    /// The usage of the table by the call so far.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.record.store().usage()
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
