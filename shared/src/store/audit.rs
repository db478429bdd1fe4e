//! Audit rows: one per call, kept for good. They hold ids, codes and times, and no text of a user.
//!
//! An organization's row is written in the transaction of the change that it records, or, for a read or a refusal, before
//! the response is sent. It can be written once per call, which makes it a fence: a call that was answered as failed can't
//! take effect later, because its transaction would find the row.

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use http::StatusCode;

use super::item::number;
use super::keys::{self, DROP_AT, Key};
use super::table::PutIf;
use super::{Item, OrgStore, Store, StoreError};
use crate::domain::actor::ActorType;
use crate::domain::call_context::CallContext;
use crate::domain::ids::RequestId;
use crate::domain::time::Timestamp;
use crate::limits;

/// The attribute that holds the number of the attempt that took effect, counted from 0.
const ATTEMPT: &str = "attempt";

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome<'a> {
    /// The HTTP status.
    pub status: u16,
    /// `ok`, `replayed`, or the error's code.
    pub code: &'a str,
    /// The ids of the objects that the call named, showed or changed, 16 bytes each.
    pub objects: &'a [u8],
}

fn row(key: Key, operation: &str, outcome: Outcome<'_>, at: Timestamp) -> Item {
    let mut item = key.into_item();
    item.insert("operation".to_owned(), AttributeValue::S(operation.to_owned()));
    item.insert("status".to_owned(), AttributeValue::N(outcome.status.to_string()));
    item.insert("code".to_owned(), AttributeValue::S(outcome.code.to_owned()));
    item.insert("at".to_owned(), AttributeValue::S(at.to_string()));
    if !outcome.objects.is_empty() {
        item.insert("objects".to_owned(), AttributeValue::B(Blob::new(outcome.objects)));
    }
    item
}

fn of_call(call: &CallContext, outcome: Outcome<'_>) -> Item {
    let mut item = row(key(call), call.operation(), outcome, call.now());
    // The actor by id only, because people chose the names.
    let attribute = match call.actor().actor_type {
        ActorType::Token => "token_id",
        ActorType::Member => "member_id",
        ActorType::Participant => "participant_id",
        ActorType::System => return item,
    };
    if let Some(id) = call.actor().id {
        item.insert(attribute.to_owned(), AttributeValue::S(id.to_string()));
    }
    item
}

fn key(call: &CallContext) -> Key {
    keys::audit(call.org(), call.now(), call.request_id())
}

/// The row of a call that takes effect, for its transaction, with the number of the attempt that it belongs to.
pub(super) fn of_success(call: &CallContext, status: StatusCode, shown: &[u8], attempt: usize) -> Item {
    let objects = call.objects_with(shown);
    let mut item = of_call(call, Outcome { status: status.as_u16(), code: "ok", objects: &objects });
    item.insert(ATTEMPT.to_owned(), AttributeValue::N(attempt.to_string()));
    item
}

impl OrgStore {
    /// The number of the attempt of a call that took effect.
    pub(super) async fn attempt_of(&self, call: &CallContext) -> Result<Option<usize>, StoreError> {
        let row = self.store.get(key(call)).await?;
        Ok(row.as_ref().and_then(|row| number(row, ATTEMPT)))
    }

    /// Writes the row of a call that changed nothing, or failed. If the row exists, an attempt of the call took effect after
    /// all: the row stays, and the attempt's number is returned.
    ///
    /// # Errors
    /// When the row can't be written. The call must fail then.
    pub(crate) async fn record_call(
        &self,
        call: &CallContext,
        outcome: Outcome<'_>,
    ) -> Result<Option<usize>, StoreError> {
        if self.store.put(of_call(call, outcome), PutIf::Absent).await? {
            return Ok(None);
        }
        self.attempt_of(call).await
    }
}

impl Store {
    /// Writes an entry of the service-level trail, for a call whose token is missing, malformed or unknown. The trail is best
    /// effort: the caller is answered even if the entry can't be written.
    pub(crate) async fn record_unknown_caller(
        &self,
        request_id: RequestId,
        operation: &str,
        outcome: Outcome<'_>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let key = keys::trail(now, fastrand::u8(..limits::TRAIL_SHARDS), request_id);
        let mut item = row(key, operation, outcome, now);
        let drop_at = now.plus_seconds(limits::TRAIL_LIFETIME_S).unix_s();
        item.insert(DROP_AT.to_owned(), AttributeValue::N(drop_at.to_string()));
        self.put(item, PutIf::Any).await.map(|_| ())
    }
}
