//! Commits the changes to an organization's records. One transaction holds the changes, their events, the call's audit
//! row, and the response to its idempotency key, so an acknowledged change exists, took effect once, and is on record.
//!
//! The audit row is the call's fence: a call answered as failed can't take effect later, since its transaction would
//! find the row. If an attempt's response was lost, the next finds the row and answers with that response.

use std::sync::{Arc, Mutex, PoisonError};

use http::StatusCode;
use uuid::Uuid;

use super::change::{Change, Changes, Moving};
use super::failure::TransactionOutcome;
use super::form_copies::{self, CopyUse, FormCopy};
use super::idempotency::{self, IdempotencyKey, StoredResponse};
use super::{Item, OrgStore, StoreError, acts, audit, events, list};
use crate::domain::call_context::CallContext;
use crate::domain::event::{Event, EventKind};
use crate::domain::ids::EndpointId;
use crate::domain::time::Timestamp;
use crate::error::Error;
use crate::limits;

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
    afterwards: Vec<Changes>,
    refusal: Option<(StatusCode, &'static str)>,
    copy: Option<Change>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Attempts(Arc<Mutex<Vec<StoredResponse>>>);

impl Attempts {
    /// Keeps the response, and returns the attempt's number.
    fn remember(&self, response: &StoredResponse) -> usize {
        let mut attempts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        attempts.push(response.clone());
        attempts.len() - 1
    }

    pub(crate) fn recall(&self, attempt: usize) -> Option<StoredResponse> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(attempt).cloned()
    }
}

enum AttemptOutcome {
    Committed,
    /// An earlier attempt of the call took effect, and its response was lost or late.
    CommittedBefore,
}

impl<'a> Commit<'a> {
    pub(crate) fn new(store: &'a OrgStore, call: &'a CallContext) -> Self {
        Self {
            store,
            call,
            now: call.now(),
            changes: Vec::new(),
            events: Vec::new(),
            test: None,
            checks: Vec::new(),
            afterwards: Vec::new(),
            refusal: None,
            copy: None,
        }
    }

    /// Sets a later moment for events. The audit row keeps the call's own, under which every attempt finds it.
    pub(crate) fn at(mut self, now: Timestamp) -> Self {
        self.now = now;
        self
    }

    pub(crate) fn with(mut self, changes: impl IntoIterator<Item = Changes>) -> Self {
        self.changes.extend(changes);
        self
    }

    /// Adds version checks, most important first: the transaction makes as many as fit beside the rest.
    pub(crate) fn checking(mut self, checks: impl IntoIterator<Item = Changes>) -> Self {
        self.checks.extend(checks);
        self
    }

    /// Adds changes to make right after the transaction. Failures aren't reported: something else must repeat them.
    pub(crate) fn afterwards(mut self, changes: impl IntoIterator<Item = Changes>) -> Self {
        self.afterwards.extend(changes);
        self
    }

    pub(crate) fn emit(mut self, events: impl IntoIterator<Item = EventKind>) -> Self {
        let (now, shards) = (self.now, self.store.due_shards());
        self.events.extend(events.into_iter().map(|kind| Event::new(kind, now, shards)));
        self
    }

    /// Emits a test event to one endpoint, whatever it subscribes to.
    pub(crate) fn emit_to(mut self, endpoint: EndpointId, event: Event) -> Self {
        self.test = Some((endpoint, event));
        self
    }

    /// Commits a refused call, with the status and code of its audit row: its changes count the refusal, or keep what was
    /// typed.
    pub(crate) fn refused(mut self, refusal: Option<(StatusCode, &'static str)>) -> Self {
        self.refusal = refusal;
        self
    }

    /// Records that a form copy is used. Fails if something else has used the copy.
    pub(crate) fn using(mut self, copy: FormCopy, by: CopyUse<'_>) -> Self {
        self.copy = Some(form_copies::record(self.call, copy, by));
        self
    }

    /// Commits a call of the API and returns the response: this attempt's, or that of an earlier attempt that took
    /// effect although its response was lost. On [`Error::Conflict`] nothing took effect; decide again.
    pub(crate) async fn respond(
        self,
        response: StoredResponse,
        key: Option<&IdempotencyKey>,
        attempts: &Attempts,
    ) -> Result<StoredResponse, Error> {
        let (store, call) = (self.store, self.call);
        let attempt = attempts.remember(&response);
        let row = audit::of_commit(call, response.status, audit::OK, &response.objects, attempt);
        let record = key.map(|key| idempotency::record(call, key, &response));
        match self.transact(row, record).await? {
            AttemptOutcome::Committed => Ok(response),
            AttemptOutcome::CommittedBefore => {
                let earlier = store.attempt_of(call).await?.and_then(|attempt| attempts.recall(attempt));
                earlier.ok_or_else(|| Error::Internal("an audit row of no attempt".to_owned()))
            }
        }
    }

    /// Commits a call without a stored response. On [`Error::Conflict`] nothing took effect; decide again.
    pub(crate) async fn done(mut self, status: StatusCode, objects: &[Uuid]) -> Result<(), Error> {
        let objects: Vec<u8> = objects.iter().flat_map(Uuid::as_bytes).copied().collect();
        let (status, code) = self.refusal.unwrap_or((status, audit::OK));
        let row = audit::of_commit(self.call, status, code, &objects, 0);
        let copy = self.copy.take();
        self.transact(row, copy).await.map(|_| ())
    }

    async fn transact(mut self, row: Item, record: Option<Change>) -> Result<AttemptOutcome, Error> {
        let (store, now) = (self.store, self.call.now());
        let afterwards = std::mem::take(&mut self.afterwards);
        let movings: Vec<Moving> = self.changes.iter().chain(&afterwards).filter_map(Changes::moving).collect();
        let mut joining = Vec::new();
        for changes in afterwards {
            joining.extend(changes.for_call(self.call)?);
        }
        match store.store.transact(self.into_transaction(row, record)?).await? {
            TransactionOutcome::Committed => {
                store.finish_joining(joining, &movings, now).await;
                Ok(AttemptOutcome::Committed)
            }
            // The audit row exists only if an attempt of this call took effect.
            TransactionOutcome::ConditionsFailed(at) if at.contains(&AUDIT_ROW_AT) => {
                Ok(AttemptOutcome::CommittedBefore)
            }
            TransactionOutcome::ConditionsFailed(_) => Err(StoreError::Conflict.into()),
        }
    }

    /// Orders the transaction: the audit row first, and last as many version checks as fit.
    fn into_transaction(self, row: Item, record: Option<Change>) -> Result<Vec<Change>, Error> {
        let call = self.call;
        let mut transaction = vec![Change::Create(row)];
        let subjects = self.changes.iter().filter_map(Changes::subject);
        transaction.extend(acts::of_call(call, self.now, subjects, &self.events)?);
        for changes in self.changes {
            transaction.extend(changes.for_call(call)?);
        }
        // DynamoDB allows one change per item: a member's change of their own record already checks it.
        let is_made_by_change = |check: &Change| transaction.iter().any(|change| change.makes_check(check));
        let repeated: Vec<bool> = transaction.iter().map(is_made_by_change).collect();
        let mut repeated = repeated.into_iter();
        transaction.retain(|_| !repeated.next().unwrap_or_default());
        for event in &self.events {
            transaction.extend(events::emit(call.org(), event, None)?);
        }
        if let Some((endpoint, event)) = &self.test {
            transaction.extend(events::emit(call.org(), event, Some(*endpoint))?);
        }
        transaction.extend(record);
        let mut checks = Vec::new();
        for check in self.checks {
            checks.extend(check.for_call(call)?);
        }
        let items = transaction.len() + list::count_of_added(&transaction);
        if items > limits::TRANSACTION_ITEMS_MAX {
            return Err(Error::Internal(format!("a commit of {items} items")));
        }
        transaction.extend(checks.into_iter().take(limits::TRANSACTION_ITEMS_MAX - items));
        Ok(transaction)
    }
}

const AUDIT_ROW_AT: usize = 0;

#[cfg(test)]
mod tests {
    use aws_sdk_dynamodb::config::BehaviorVersion;
    use aws_sdk_dynamodb::{Client, Config};
    use http::HeaderMap;

    use super::*;
    use crate::domain::actor::Actor;
    use crate::domain::event::TestData;
    use crate::domain::ids::{MemberId, OrgId, RequestId};
    use crate::store::{Store, members};

    fn parts() -> (OrgStore, CallContext) {
        let client = Client::from_conf(Config::builder().behavior_version(BehaviorVersion::latest()).build());
        let org = OrgId::new();
        let call = CallContext::new(RequestId::new(), "test", Timestamp::now(), Actor::system(), org, Vec::new());
        (OrgStore::new(Store::new(client, "table"), org), call)
    }

    fn checks(call: &CallContext, count: usize) -> impl Iterator<Item = Changes> {
        std::iter::repeat_with(|| members::check_member(call, MemberId::new())).take(count)
    }

    #[test]
    fn a_transaction_has_the_audit_row_first_and_as_many_checks_as_fit() {
        let (store, call) = parts();
        let row = || audit::of_commit(&call, StatusCode::OK, audit::OK, &[], 0);
        let key = IdempotencyKey { key: "key".to_owned(), fingerprint: [0; 32] };
        let response =
            StoredResponse { status: StatusCode::OK, body: Vec::new(), headers: HeaderMap::new(), objects: Vec::new() };
        let record = idempotency::record(&call, &key, &response);

        let event = || EventKind::WebhookTest(TestData::NOTHING_HAPPENED);
        let with_checks = |count| Commit::new(&store, &call).emit([event()]).checking(checks(&call, count));
        let transaction = with_checks(200).into_transaction(row(), Some(record.clone())).unwrap();
        assert_eq!(transaction.len(), limits::TRANSACTION_ITEMS_MAX);
        assert_eq!(transaction[AUDIT_ROW_AT], Change::Create(row()));
        assert!(transaction.contains(&record));
        assert_eq!(with_checks(7).into_transaction(row(), None).unwrap().len(), 3 + 7);
        assert_eq!(with_checks(97).into_transaction(row(), None).unwrap().len(), 3 + 97);

        let too_many = Commit::new(&store, &call).with(checks(&call, 100)).into_transaction(row(), None);
        assert!(matches!(too_many, Err(Error::Internal(cause)) if cause == "a commit of 101 items"));
    }

    #[test]
    fn a_commit_refuses_changes_and_checks_of_another_call() {
        let (store, call) = parts();
        let (_, other) = parts();
        let row = || audit::of_commit(&call, StatusCode::OK, audit::OK, &[], 0);
        let commits = [
            Commit::new(&store, &call).with(checks(&other, 1)),
            Commit::new(&store, &call).checking(checks(&other, 1)),
            Commit::new(&store, &call).with(checks(&call, 99)).checking(checks(&other, 1)),
        ];
        for commit in commits {
            assert!(matches!(commit.into_transaction(row(), None), Err(Error::Internal(_))));
        }
    }
}
