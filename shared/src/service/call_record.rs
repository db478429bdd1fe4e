//! The record of a call at any entrance: request id, audit row, log line.

use std::panic::AssertUnwindSafe;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::FutureExt;
use http::StatusCode;
use tokio::time::Instant;
use tracing::{Instrument, Level, Span};
use uuid::Uuid;

use crate::domain::actor::{Actor, ActorType};
use crate::domain::audit::Via;
use crate::domain::call_context::CallContext;
use crate::domain::ids::{OrgId, RequestId};
use crate::domain::time::Timestamp;
use crate::domain::time_scale::TimeScale;
use crate::error::Error;
use crate::limits;
use crate::retry::{Budget, retry_on_conflict};
use crate::service::scope::{Plan, Scope, call_span};
use crate::store::audit::Outcome;
use crate::store::form_copies::{CopyUse, FormCopy};
use crate::store::{OrgStore, Store, StoreError, Usage};

/// A call at any entrance. It begins before it is known who calls.
#[derive(Debug)]
pub struct CallRecord {
    span: Span,
    request_id: RequestId,
    operation: &'static str,
    via: Option<Via>,
    now: Timestamp,
    started: Instant,
    /// The table; counts this call's usage.
    store: Store,
    time_scale: TimeScale,
    /// Whether a commit has written the audit row.
    is_committed: AtomicBool,
    /// Why an unknown caller has no entry in the trail, if writing it failed.
    no_trail: OnceLock<String>,
}

impl CallRecord {
    pub(crate) fn begin(store: &Store, time_scale: TimeScale, operation: &'static str) -> Self {
        let request_id = RequestId::in_any_of(store.audit_shards());
        Self {
            span: call_span(request_id, operation),
            request_id,
            operation,
            via: None,
            now: Timestamp::now(),
            started: Instant::now(),
            store: store.metered(),
            time_scale,
            is_committed: AtomicBool::new(false),
            no_trail: OnceLock::new(),
        }
    }

    /// Sets an entrance other than HTTP.
    pub(crate) fn through(self, via: Option<Via>) -> Self {
        Self { via, ..self }
    }

    pub(crate) fn rename(&mut self, operation: &'static str) {
        self.operation = operation;
        self.span.record("operation", operation);
    }

    pub(crate) fn span(&self) -> &Span {
        &self.span
    }

    pub(crate) fn request_id(&self) -> RequestId {
        self.request_id
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.now
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    pub(crate) fn reading_deadline(&self) -> Instant {
        self.started + limits::READING_DEADLINE
    }

    pub(crate) fn write_budget(&self) -> Budget {
        Budget::until(self.started + limits::WRITE_DEADLINE).of_call(self.started)
    }

    pub(crate) fn scope(&self, org: OrgId, actor: Actor, named: Vec<u8>) -> Scope {
        let call = CallContext::new(self.request_id, self.operation, self.now, actor, org, named);
        Scope::new(call.through(self.via), OrgStore::new(self.store.clone(), org), self.time_scale)
    }

    /// Commits a plan of the call's form as [`Plan::commit`] does, and returns its output.
    pub(crate) async fn commit<T>(
        &self,
        scope: &Scope,
        plan: Plan<T>,
        copy: Option<(FormCopy, CopyUse<'_>)>,
    ) -> Result<T, Error> {
        let changes = !plan.is_empty();
        let output = plan.commit(scope, StatusCode::SEE_OTHER, copy).await?;
        self.is_committed.fetch_or(changes, Ordering::Relaxed);
        Ok(output)
    }

    /// Notes that a commit of the call took effect although its response was lost.
    pub(crate) fn note_commit(&self) {
        self.is_committed.store(true, Ordering::Relaxed);
    }

    /// Whether a commit has written the audit row.
    pub(crate) fn is_committed(&self) -> bool {
        self.is_committed.load(Ordering::Relaxed)
    }

    /// Writes the audit row of a call that changed nothing: in the caller's organization, or best effort in the
    /// service's trail. If an attempt took effect after all, keeps its commit's audit row and returns its number.
    ///
    /// # Errors
    /// If the row can't be written. Then the call must fail.
    pub(crate) async fn audit(
        &self,
        caller: Option<&Scope>,
        status: StatusCode,
        code: &str,
        shown: &[u8],
    ) -> Result<Option<usize>, Error> {
        let status = status.as_u16();
        let Some(caller) = caller else {
            let outcome = Outcome { status, code, objects: &[] };
            let trail = self.store.record_unknown_caller(self.request_id, self.operation, outcome, self.now);
            // Answer an unknown caller even if this fails, and after a short wait. Operators learn of it from the log.
            let why = match tokio::time::timeout(limits::TRAIL_WAIT, trail).await {
                Ok(Ok(())) => return Ok(None),
                Ok(Err(error)) => error.to_string(),
                Err(elapsed) => elapsed.to_string(),
            };
            let _ = self.no_trail.set(format!("no trail entry: {why}"));
            return Ok(None);
        };
        let objects = caller.call().objects_with(shown);
        let outcome = Outcome { status, code, objects: &objects };
        let write = || caller.store().record_call(caller.call(), outcome);
        let now = Instant::now();
        // A call that ended late may still have a transaction running: give the row its own window.
        let is_late = limits::AWS_CALL_TIMEOUT <= self.started.elapsed();
        let budget = Budget::until(now + limits::HELD_ITEM_DEADLINE).of_call(if is_late { now } else { self.started });
        let written = tokio::time::timeout(limits::AUDIT_DEADLINE, retry_on_conflict(budget, write)).await;
        written.unwrap_or_else(|_| Err(StoreError::Failed("took too long".to_owned()))).map_err(|error| {
            let cause = format!("no audit row: {error}");
            if matches!(error, StoreError::Throttled(_)) { Error::Throttled(cause) } else { Error::Internal(cause) }
        })
    }

    pub(crate) fn log(&self, caller: Option<&Scope>, status: StatusCode, code: &str, cause: Option<String>) {
        let cause = cause.or_else(|| self.no_trail.get().cloned());
        let end = CallEnd { status, code, cause, started: self.started, usage: self.store.usage() };
        end.log(&self.span, caller.map(Scope::call));
    }
}

/// Logs a failure of the service that belongs to no call, with the organization if it is about one.
pub fn log_failure(operation: &'static str, org: Option<OrgId>, error: &Error) {
    let (status, code) = error.status();
    let (cause, started, usage) = (error.cause(), Instant::now(), Usage::default());
    let end = CallEnd { status, code: code.as_str(), cause, started, usage };
    let _in_organization = tracing::info_span!("failure", organization_id = org.map(display)).entered();
    end.log(&call_span(RequestId::new(), operation), None);
}

struct CallEnd<'a> {
    status: StatusCode,
    /// `ok`, `replayed`, or the error's code.
    code: &'a str,
    cause: Option<String>,
    started: Instant,
    usage: Usage,
}

impl CallEnd<'_> {
    /// Writes the call's line. Operators' queries and the template's filters use its field names.
    fn log(self, span: &Span, caller: Option<&CallContext>) {
        let id_of = |wanted: ActorType| -> Option<Uuid> {
            let actor = caller?.actor();
            (actor.actor_type == wanted).then_some(actor.id).flatten()
        };
        let is_fault = self.status.is_server_error();
        macro_rules! line {
            ($level:expr) => {
                tracing::event!(
                    parent: span,
                    $level,
                    organization_id = caller.map(|call| display(call.org())),
                    token_id = id_of(ActorType::Token).map(display),
                    member_id = id_of(ActorType::Member).map(display),
                    via = caller.and_then(CallContext::via).map(Via::as_str),
                    status = self.status.as_u16(),
                    code = self.code,
                    duration_ms = self.started.elapsed().as_secs_f64() * 1000.0,
                    read_units = self.usage.read_units,
                    write_units = self.usage.write_units,
                    round_trips = self.usage.round_trips,
                    waits = self.usage.waits,
                    retries = self.usage.retries,
                    faults = u8::from(is_fault),
                    cause = self.cause,
                )
            };
        }
        if is_fault { line!(Level::ERROR) } else { line!(Level::INFO) }
    }
}

/// Runs a call in its span. Panics and overruns become errors, whose audit row stops an attempt in progress.
pub async fn catch_panic_and_overrun<T>(
    span: Span,
    call: impl Future<Output = Result<T, Error>> + Send,
) -> Result<T, Error> {
    let call = AssertUnwindSafe(call.instrument(span)).catch_unwind();
    match tokio::time::timeout(limits::CALL_DEADLINE, call).await {
        Ok(Ok(ended)) => ended,
        Ok(Err(_)) => Err(Error::Internal("panicked".to_owned())),
        Err(_) => Err(Error::Internal("took too long".to_owned())),
    }
}
