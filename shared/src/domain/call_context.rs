//! One call as plain data: the content of its audit row and the context of its changes.

use std::collections::HashSet;

use uuid::Uuid;

use crate::domain::actor::Actor;
use crate::domain::audit::Via;
use crate::domain::ids::{OrgId, RequestId};
use crate::domain::moment::Moment;
use crate::domain::time::Timestamp;

/// One call in an organization, made by a token, a member or the clock.
///
/// Only the entrances make one, so a change can't be recorded under another organization or caller:
///
/// ```compile_fail
/// use shared::domain::call_context::CallContext;
/// use shared::domain::ids::OrgId;
///
/// fn elsewhere(call: &CallContext, org: OrgId) -> CallContext {
///     CallContext { org, ..call.clone() }
/// }
/// ```
#[derive(Debug, Clone)]
pub struct CallContext {
    request_id: RequestId,
    operation: &'static str,
    now: Timestamp,
    actor: Actor,
    org: OrgId,
    /// The ids in the path and body, 16 bytes each, for the audit row.
    named: Vec<u8>,
    via: Option<Via>,
}

impl CallContext {
    /// Creates a call. Only the entrances use this, after authenticating the caller.
    pub(crate) fn new(
        request_id: RequestId,
        operation: &'static str,
        now: Timestamp,
        actor: Actor,
        org: OrgId,
        named: Vec<u8>,
    ) -> Self {
        Self { request_id, operation, now, actor, org, named, via: None }
    }

    pub(crate) fn through(self, via: Option<Via>) -> Self {
        Self { via, ..self }
    }

    /// The entrance other than HTTP, if any.
    #[must_use]
    pub fn via(&self) -> Option<Via> {
        self.via
    }

    /// The id in the response and in the log.
    #[must_use]
    pub fn request_id(&self) -> RequestId {
        self.request_id
    }

    /// The operation's id, for audit rows and logs.
    #[must_use]
    pub fn operation(&self) -> &'static str {
        self.operation
    }

    /// The organization.
    #[must_use]
    pub fn org(&self) -> OrgId {
        self.org
    }

    /// When the call began, which is the time of everything it does.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// The moment of the call.
    #[must_use]
    pub fn moment(&self) -> Moment {
        Moment::of_call(self.request_id, self.now)
    }

    /// The moment of an attempt that begins now.
    #[must_use]
    pub fn attempt_moment(&self) -> Moment {
        Moment::of_call(self.request_id, Timestamp::now().max(self.now))
    }

    /// The moment of an attempt that begins now, after an earlier change of the same record.
    ///
    /// Decision: acts are ordered by when they took effect: a call's time always follows the previous act's.
    #[must_use]
    pub fn moment_after(&self, earlier: Timestamp) -> Moment {
        Moment::of_call(self.request_id, self.attempt_moment().at().max(earlier.next()))
    }

    /// The caller.
    #[must_use]
    pub fn actor(&self) -> &Actor {
        &self.actor
    }

    pub(crate) fn rename(&mut self, operation: &'static str) {
        self.operation = operation;
    }

    pub(crate) fn name(&mut self, ids: &[Uuid]) {
        self.named.extend(ids.iter().flat_map(Uuid::as_bytes));
    }

    /// The ids that the call names, shows or changes, without duplicates, 16 bytes each, for the audit row.
    pub(crate) fn objects_with(&self, shown: &[u8]) -> Vec<u8> {
        const ID_BYTES: usize = 16;
        let mut seen = HashSet::new();
        let ids = self.named.chunks(ID_BYTES).chain(shown.chunks(ID_BYTES));
        ids.filter(|id| seen.insert(*id)).flatten().copied().collect()
    }
}
