//! The one way to change an organization's records: a transaction of the changes, their events, the call's audit row,
//! and the response to its idempotency key. What was acknowledged is there, once, and on record.
//!
//! The audit row is the fence of its call. It can be written once, so a call that was answered as failed can't take
//! effect later (its transaction would find the row), and an attempt whose response was lost is found by the next one, in
//! the row's number of the attempt, and answered as what happened.

use std::sync::{Arc, Mutex, PoisonError};

use aws_sdk_dynamodb::types::TransactWriteItem;
use http::StatusCode;
use uuid::Uuid;

use super::change::{Change, Changes};
use super::failure::Transacted;
use super::idempotency::{self, IdempotencyKey, StoredResponse};
use super::{Item, OrgStore, StoreError, audit, events};
use crate::domain::call_context::CallContext;
use crate::domain::event::{Event, EventKind};
use crate::domain::ids::EndpointId;
use crate::domain::time::Timestamp;
use crate::error::Error;
use crate::limits;

/// What a call changes, all of it or nothing. It always has an audit row.
#[derive(Debug)]
#[must_use = "nothing changes before it is committed"]
pub struct Commit<'a> {
    store: &'a OrgStore,
    call: &'a CallContext,
    now: Timestamp,
    changes: Vec<Changes>,
    events: Vec<Event>,
    test: Option<(EndpointId, Event)>,
    checks: Vec<Changes>,
}

/// The responses of a call's attempts to commit, in their order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Attempts(Arc<Mutex<Vec<StoredResponse>>>);

impl Attempts {
    /// Keeps the response of an attempt, and tells the attempt's number.
    fn remember(&self, response: &StoredResponse) -> usize {
        let mut attempts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        attempts.push(response.clone());
        attempts.len() - 1
    }

    /// The response of an attempt.
    pub(crate) fn recall(&self, attempt: usize) -> Option<StoredResponse> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(attempt).cloned()
    }
}

/// What an attempt to commit found.
enum Landed {
    /// It took effect.
    Now,
    /// An attempt of the same call took effect before, and its response was lost or late.
    Before,
}

impl<'a> Commit<'a> {
    /// A commit of a call, with nothing in it yet.
    pub(crate) fn new(store: &'a OrgStore, call: &'a CallContext) -> Self {
        Self { store, call, now: call.now(), changes: Vec::new(), events: Vec::new(), test: None, checks: Vec::new() }
    }

    /// The moment of the attempt that this commits, where it was decided later than the call began: events added from
    /// here on happen then. The audit row keeps the call's own time, under which every attempt finds it.
    pub(crate) fn at(mut self, now: Timestamp) -> Self {
        self.now = now;
        self
    }

    /// Adds changes.
    pub(crate) fn with(mut self, changes: impl IntoIterator<Item = Changes>) -> Self {
        self.changes.extend(changes);
        self
    }

    /// Adds version checks, as many as still fit in the transaction: name the most important ones first.
    pub(crate) fn checking(mut self, checks: impl IntoIterator<Item = Changes>) -> Self {
        self.checks.extend(checks);
        self
    }

    /// Emits events, in the order given.
    pub(crate) fn emit(mut self, events: impl IntoIterator<Item = EventKind>) -> Self {
        let now = self.now;
        self.events.extend(events.into_iter().map(|kind| Event::new(kind, now)));
        self
    }

    /// Emits an event to one endpoint alone, whatever it subscribes to: a test.
    pub(crate) fn emit_to(mut self, endpoint: EndpointId, event: Event) -> Self {
        self.test = Some((endpoint, event));
        self
    }

    /// Commits a call of the API, and gives the response to answer with: this attempt's, or that of an earlier attempt of
    /// the same call that took effect although its response was lost.
    ///
    /// # Errors
    /// [`Error::Conflict`] if something has changed since it was read: nothing is done; decide anew.
    pub(crate) async fn respond(
        self,
        response: StoredResponse,
        key: Option<&IdempotencyKey>,
        attempts: &Attempts,
    ) -> Result<StoredResponse, Error> {
        let (store, call) = (self.store, self.call);
        let attempt = attempts.remember(&response);
        let row = audit::of_success(call, response.status, &response.objects, attempt);
        let record = key.map(|key| idempotency::record(store.store.table(), call, key, &response)).transpose()?;
        match self.transact(row, record).await? {
            Landed::Now => Ok(response),
            Landed::Before => {
                let landed = store.attempt_of(call).await?.and_then(|attempt| attempts.recall(attempt));
                landed.ok_or_else(|| Error::Internal("an audit row of no attempt".to_owned()))
            }
        }
    }

    /// Commits a call that has no response of its own, with its status and the ids of what it changed.
    ///
    /// # Errors
    /// [`Error::Conflict`] if something has changed since it was read: nothing is done; decide anew.
    pub(crate) async fn done(self, status: StatusCode, objects: &[Uuid]) -> Result<(), Error> {
        let objects: Vec<u8> = objects.iter().flat_map(Uuid::as_bytes).copied().collect();
        let row = audit::of_success(self.call, status, &objects, 0);
        self.transact(row, None).await.map(|_| ())
    }

    async fn transact(self, row: Item, record: Option<TransactWriteItem>) -> Result<Landed, Error> {
        let (store, call) = (&self.store.store, self.call);
        // The audit row first, so that its place in the transaction is known.
        let mut changes = vec![Change::Create(row)];
        for added in self.changes {
            changes.extend(added.for_call(call)?);
        }
        for event in &self.events {
            changes.extend(events::emit(call.org(), event, None)?);
        }
        if let Some((endpoint, event)) = &self.test {
            changes.extend(events::emit(call.org(), event, Some(*endpoint))?);
        }
        let room = limits::TRANSACTION_ITEMS_MAX.saturating_sub(changes.len() + usize::from(record.is_some()));
        for check in self.checks.into_iter().take(room) {
            changes.extend(check.for_call(call)?);
        }
        let mut items: Vec<TransactWriteItem> =
            changes.into_iter().map(|change| change.into_write(store.table())).collect::<Result<_, _>>()?;
        items.extend(record);
        if items.len() > limits::TRANSACTION_ITEMS_MAX {
            return Err(Error::Internal(format!("a commit of {} items", items.len())));
        }
        match store.transact(items).await? {
            Transacted::Committed => Ok(Landed::Now),
            // An audit row of this call can only be there if an attempt of it took effect.
            Transacted::Refused(refused) if refused.contains(&0) => Ok(Landed::Before),
            Transacted::Refused(_) => Err(StoreError::Conflict.into()),
        }
    }
}
