//! What a use case works in, and what it gives.

use uuid::Uuid;

use crate::domain::actor::Actor;
use crate::domain::call_context::CallContext;
use crate::domain::event::{Event, EventKind};
use crate::domain::ids::{EndpointId, OrgId};
use crate::domain::moment::Moment;
use crate::domain::time::Timestamp;
use crate::domain::time_scale::TimeScale;
use crate::store::OrgStore;
use crate::store::change::Changes;
use crate::store::commit::Commit;

/// What a use case works in: the call, and the store as the call's organization sees it.
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

    /// The store, as the organization sees it.
    #[must_use]
    pub fn store(&self) -> &OrgStore {
        &self.store
    }

    /// How long the service waits for what.
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

    /// The moment of an attempt that begins now: what can expire while a call is attempted again is decided by this.
    #[must_use]
    pub fn attempt_moment(&self) -> Moment {
        self.call.attempt_moment()
    }

    /// Who calls.
    #[must_use]
    pub fn actor(&self) -> &Actor {
        self.call.actor()
    }
}

/// A caller who may write: a token with that scope, a member who sent a form, the service itself.
pub trait Writer {
    /// What the caller's use cases work in.
    fn scope(&self) -> &Scope;
}

/// What a use case decided: changes and checks, events, the ids of what it shows or changes, and its output. Nothing
/// changes before an entrance commits it.
#[derive(Debug)]
#[must_use = "nothing changes before it is committed"]
pub struct Plan<T> {
    output: T,
    now: Timestamp,
    changes: Vec<Changes>,
    checks: Vec<Changes>,
    events: Vec<EventKind>,
    test: Option<(EndpointId, Event)>,
    shown: Vec<Uuid>,
}

impl<T> Plan<T> {
    /// A plan that changes nothing yet, and gives an output.
    pub(crate) fn new(scope: &Scope, output: T) -> Self {
        Self {
            output,
            now: scope.now(),
            changes: Vec::new(),
            checks: Vec::new(),
            events: Vec::new(),
            test: None,
            shown: Vec::new(),
        }
    }

    /// The moment at which it was decided, where that is not when the call began: its events happen then.
    pub(crate) fn decided_at(self, moment: Moment) -> Self {
        Self { now: moment.at(), ..self }
    }

    /// Adds changes.
    pub(crate) fn change(mut self, changes: impl IntoIterator<Item = Changes>) -> Self {
        self.changes.extend(changes);
        self
    }

    /// Adds checks of what must not have changed, the most important ones first: as many are made as fit beside the
    /// changes in a transaction.
    pub(crate) fn check(mut self, checks: impl IntoIterator<Item = Changes>) -> Self {
        self.checks.extend(checks);
        self
    }

    /// Adds events, in the order given.
    pub(crate) fn emit(mut self, events: impl IntoIterator<Item = EventKind>) -> Self {
        self.events.extend(events);
        self
    }

    /// Adds an event for one endpoint alone, whatever it subscribes to: a test.
    pub(crate) fn emit_to(mut self, endpoint: EndpointId, event: Event) -> Self {
        self.test = Some((endpoint, event));
        self
    }

    /// Adds ids of records that the call shows or changes, for the audit row.
    pub(crate) fn showing(mut self, ids: impl IntoIterator<Item = Uuid>) -> Self {
        self.shown.extend(ids);
        self
    }

    /// Whether it changes nothing, and emits nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.events.is_empty() && self.test.is_none()
    }

    /// The output of a plan that is not committed.
    pub(crate) fn into_output(self) -> T {
        self.output
    }

    /// What the use case gives.
    #[must_use]
    pub fn output(&self) -> &T {
        &self.output
    }

    /// The commit of the plan, the ids for the audit row, and the output.
    pub(crate) fn into_commit(self, scope: &Scope) -> (Commit<'_>, Vec<Uuid>, T) {
        let Self { output, now, changes, checks, events, test, shown } = self;
        let mut commit = Commit::new(scope.store(), scope.call()).at(now).with(changes).checking(checks).emit(events);
        if let Some((endpoint, event)) = test {
            commit = commit.emit_to(endpoint, event);
        }
        (commit, shown, output)
    }
}

impl<T, R> Plan<Result<T, R>> {
    /// The plan of a use case that its rules allowed, or their refusal: a refusal changes nothing.
    ///
    /// # Errors
    /// The refusal.
    pub fn accepted(self) -> Result<Plan<T>, R> {
        let Self { output, now, changes, checks, events, test, shown } = self;
        output.map(|output| Plan { output, now, changes, checks, events, test, shown })
    }
}
