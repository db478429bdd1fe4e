//! The scope in which a use case works, and the plan that it returns.

use http::StatusCode;
use tracing::Span;
use uuid::Uuid;

use crate::domain::actor::Actor;
use crate::domain::call_context::CallContext;
use crate::domain::event::{Event, EventKind};
use crate::domain::ids::{EndpointId, OrgId, RequestId};
use crate::domain::moment::Moment;
use crate::domain::time::Timestamp;
use crate::domain::time_scale::TimeScale;
use crate::error::{Error, ErrorCode};
use crate::limits;
use crate::store::OrgStore;
use crate::store::change::Changes;
use crate::store::commit::Commit;
use crate::store::form_copies::{CopyUse, FormCopy};

/// A call's span in the log, whose fields are in each line of the call.
pub(crate) fn call_span(request_id: RequestId, operation: &'static str) -> Span {
    tracing::info_span!("call", %request_id, operation)
}

/// The scope of a use case: the call, and the store as the call's organization sees it.
#[derive(Debug, Clone)]
pub struct Scope {
    call: CallContext,
    store: OrgStore,
    time_scale: TimeScale,
}

impl Scope {
    pub(crate) fn new(call: CallContext, store: OrgStore, time_scale: TimeScale) -> Self {
        Self { call, store, time_scale }
    }

    /// The call.
    #[must_use]
    pub fn call(&self) -> &CallContext {
        &self.call
    }

    pub(crate) fn call_mut(&mut self) -> &mut CallContext {
        &mut self.call
    }

    /// The store, as the organization sees it, for use cases and test fixtures; others call use cases.
    #[must_use]
    pub fn store(&self) -> &OrgStore {
        &self.store
    }

    /// The scale of the service's waits.
    #[must_use]
    pub fn time_scale(&self) -> TimeScale {
        self.time_scale
    }

    /// The organization.
    #[must_use]
    pub fn org(&self) -> OrgId {
        self.call.org()
    }

    /// When the call began.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.call.now()
    }

    /// The moment of the call, at which its protected transitions are decided.
    #[must_use]
    pub fn moment(&self) -> Moment {
        self.call.moment()
    }

    /// The moment of an attempt that begins now, after an earlier change of the record, for `Plan::decided_at`.
    #[must_use]
    pub fn moment_after(&self, earlier: Timestamp) -> Moment {
        self.call.moment_after(earlier)
    }

    /// The caller.
    #[must_use]
    pub fn actor(&self) -> &Actor {
        self.call.actor()
    }
}

/// A caller who may write: a token with that scope, a member who submitted a form, the service itself.
pub trait Writer {
    /// The scope of the caller's use cases.
    fn scope(&self) -> &Scope;
}

/// A record that changes with another one, in the same transaction if there is room.
#[derive(Debug)]
pub(crate) struct Dependent {
    pub changes: Changes,
    pub event: Option<EventKind>,
    pub id: Option<Uuid>,
}

impl Dependent {
    fn items(&self) -> usize {
        self.changes.items() + self.event.iter().count() * limits::EVENT_ITEMS
    }
}

#[derive(Debug)]
pub(crate) struct Joining {
    /// The change of each, new people first.
    pub people: Vec<Changes>,
    pub counted: Option<Changes>,
}

/// A use case's decision: changes, checks, events, ids and output. Nothing changes before an entrance commits it.
#[derive(Debug)]
#[must_use = "nothing changes before it is committed"]
pub struct Plan<T> {
    output: T,
    now: Timestamp,
    changes: Vec<Changes>,
    afterwards: Vec<Changes>,
    checks: Vec<Changes>,
    events: Vec<EventKind>,
    test: Option<(EndpointId, Event)>,
    shown: Vec<Uuid>,
    refusal: Option<(StatusCode, &'static str)>,
}

impl<T> Plan<T> {
    pub(crate) fn new(scope: &Scope, output: T) -> Self {
        Self {
            output,
            now: scope.now(),
            changes: Vec::new(),
            afterwards: Vec::new(),
            checks: Vec::new(),
            events: Vec::new(),
            test: None,
            shown: Vec::new(),
            refusal: None,
        }
    }

    /// Sets the moment of the decision and its events, if later than the call's.
    pub(crate) fn decided_at(self, moment: Moment) -> Self {
        Self { now: moment.at(), ..self }
    }

    pub(crate) fn change(mut self, changes: impl IntoIterator<Item = Changes>) -> Self {
        self.changes.extend(changes);
        self
    }

    /// Adds version checks, the most important ones first: the transaction makes as many as fit besides the changes.
    pub(crate) fn check(mut self, checks: impl IntoIterator<Item = Changes>) -> Self {
        self.checks.extend(checks);
        self
    }

    pub(crate) fn emit(mut self, events: impl IntoIterator<Item = EventKind>) -> Self {
        self.events.extend(events);
        self
    }

    /// Adds records that change with the rest, as many as the transaction has room for. `rest` leaves the others to the
    /// clock, unless the plan already does. Comes after all other changes and unconditional events.
    pub(crate) fn change_with(mut self, dependents: Vec<Dependent>, rest: Option<Changes>) -> Self {
        let mut room = self.room();
        if dependents.iter().map(Dependent::items).sum::<usize>() > room {
            room = room.saturating_sub(rest.as_ref().map_or(0, Changes::items));
            self.changes.extend(rest);
        }
        for dependent in dependents {
            let Some(left) = room.checked_sub(dependent.items()) else { break };
            room = left;
            self.changes.push(dependent.changes);
            self.events.extend(dependent.event);
            self.shown.extend(dependent.id);
        }
        self
    }

    /// Adds people who join a workspace, as many as the transaction has room for. The others join right after it;
    /// `rest` leaves them to the clock in case of an interruption. Comes after all other changes and events.
    pub(crate) fn join(mut self, joining: Joining, rest: Option<Changes>) -> Self {
        let Joining { people, counted } = joining;
        self.changes.extend(counted);
        let mut room = self.room();
        if people.len() > room {
            room = room.saturating_sub(rest.as_ref().map_or(0, Changes::items));
            self.changes.extend(rest);
        }
        let mut people = people.into_iter();
        self.changes.extend(people.by_ref().take(room));
        self.afterwards.extend(people);
        self
    }

    fn room(&self) -> usize {
        let taken = self.changes.iter().map(Changes::items).sum::<usize>() + self.events.len() * limits::EVENT_ITEMS;
        (limits::TRANSACTION_ITEMS_MAX - limits::CALL_ITEMS_MAX).saturating_sub(taken)
    }

    /// Adds an event for one endpoint alone, whatever it subscribes to.
    pub(crate) fn emit_to(mut self, endpoint: EndpointId, event: Event) -> Self {
        self.test = Some((endpoint, event));
        self
    }

    pub(crate) fn showing(mut self, ids: impl IntoIterator<Item = Uuid>) -> Self {
        self.shown.extend(ids);
        self
    }

    /// Refuses the call although the plan has changes: they count the refusal or keep what was typed, and the audit row
    /// says that it was refused.
    pub(crate) fn refusing(mut self, status: StatusCode, code: ErrorCode) -> Self {
        self.refusal = Some((status, code.as_str()));
        self
    }

    /// Says that the changes aren't yet what the form asks for: they keep what was typed. The audit row says so, and the
    /// same copy of the form can be submitted again.
    pub fn unfinished(self) -> Self {
        self.refusing(StatusCode::UNPROCESSABLE_ENTITY, ErrorCode::InvalidRequest)
    }

    /// Whether the changes are what the form asks for, not those of a refusal.
    pub(crate) fn is_act(&self) -> bool {
        self.refusal.is_none()
    }

    /// Whether the plan has no changes and no events.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.events.is_empty() && self.test.is_none()
    }

    /// Adds a check of the person who acts, unless nothing changes.
    pub(crate) fn under(self, check: impl IntoIterator<Item = Changes>) -> Self {
        if self.is_empty() { self } else { self.change(check) }
    }

    pub(crate) fn with_output<U>(self, output: U) -> Plan<U> {
        self.map(|_| output)
    }

    pub(crate) fn map<U>(self, make: impl FnOnce(T) -> U) -> Plan<U> {
        let Self { output, now, changes, afterwards, checks, events, test, shown, refusal } = self;
        Plan { output: make(output), now, changes, afterwards, checks, events, test, shown, refusal }
    }

    pub(crate) fn into_output(self) -> T {
        self.output
    }

    /// The output.
    #[must_use]
    pub fn output(&self) -> &T {
        &self.output
    }

    /// Commits the plan with the use of a form's copy, and returns its output. An empty plan is not committed, and leaves
    /// no audit row. [`Error::Conflict`] if a record has changed since it was read: nothing took effect; decide again.
    pub(crate) async fn commit(
        self,
        scope: &Scope,
        status: StatusCode,
        copy: Option<(FormCopy, CopyUse<'_>)>,
    ) -> Result<T, Error> {
        if self.is_empty() {
            return Ok(self.output);
        }
        let (mut commit, shown, output) = self.into_commit(scope);
        if let Some((copy, by)) = copy {
            commit = commit.using(copy, by);
        }
        commit.done(status, &shown).await?;
        Ok(output)
    }

    pub(crate) fn into_commit(self, scope: &Scope) -> (Commit<'_>, Vec<Uuid>, T) {
        let Self { output, now, changes, afterwards, checks, events, test, shown, refusal } = self;
        let mut commit = Commit::new(scope.store(), scope.call()).at(now).with(changes).checking(checks).emit(events);
        commit = commit.afterwards(afterwards).refused(refusal);
        if let Some((endpoint, event)) = test {
            commit = commit.emit_to(endpoint, event);
        }
        (commit, shown, output)
    }
}

impl<T, R> Plan<Result<T, R>> {
    /// The plan if the rules allowed it, or their refusal, which changes nothing.
    pub fn accepted(self) -> Result<Plan<T>, R> {
        let Self { output, now, changes, afterwards, checks, events, test, shown, refusal } = self;
        let make = |output| Plan { output, now, changes, afterwards, checks, events, test, shown, refusal };
        output.map(make)
    }
}
