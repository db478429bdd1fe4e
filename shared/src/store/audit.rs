//! Audit rows: one for every call, kept for good; ids, codes and times only, never what a user wrote.
//!
//! An organization's row is written in the transaction of the change that it records, or before the response of a
//! read or a refusal leaves. It can be written once per call, which makes it a fence too: a call that was answered as
//! failed can't take effect later, since its transaction would find the row.

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use http::StatusCode;

use super::keys::{self, DROP_AT, Key};
use super::table::PutIf;
use super::{Item, Store, StoreError};
use crate::api::caller::CallContext;
use crate::domain::actor::ActorType;
use crate::domain::ids::RequestId;
use crate::domain::time::Timestamp;
use crate::limits;

/// The attribute that holds which attempt of a write took effect, counted from 0.
const ATTEMPT: &str = "attempt";

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome<'a> {
    /// The HTTP status.
    pub status: u16,
    /// `ok`, `replayed`, or the error's code.
    pub code: &'a str,
    /// The ids of the objects that were shown, changed or asked for, 16 bytes each.
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

fn of_act(act: &CallContext, outcome: Outcome<'_>) -> Item {
    let key = keys::audit(act.store.org, act.now, act.request_id);
    let mut item = row(key, act.operation, outcome, act.now);
    // Who, by id only: names are what people wrote.
    let attribute = match act.actor.actor_type {
        ActorType::Token => "token_id",
        ActorType::Member => "member_id",
        ActorType::Participant => "participant_id",
        ActorType::System => return item,
    };
    if let Some(id) = act.actor.id {
        item.insert(attribute.to_owned(), AttributeValue::S(id.to_string()));
    }
    item
}

/// The row of an act that takes effect, for its transaction, with the number of the attempt that it belongs to.
pub(super) fn of_success(act: &CallContext, status: StatusCode, answered: &[u8], attempt: usize) -> Item {
    let objects = act.objects_with(answered);
    let mut item = of_act(act, Outcome { status: status.as_u16(), code: "ok", objects: &objects });
    item.insert(ATTEMPT.to_owned(), AttributeValue::N(attempt.to_string()));
    item
}

/// Which attempt of an act took effect.
pub(super) async fn attempt(act: &CallContext) -> Result<Option<usize>, StoreError> {
    let row = act.store.store.get(keys::audit(act.store.org, act.now, act.request_id)).await?;
    Ok(row.and_then(|row| row.get(ATTEMPT)?.as_n().ok()?.parse().ok()))
}

/// Writes the row of a call that changed nothing, or failed. If one is there, an attempt of the call took effect after
/// all: that row stays, and tells which.
///
/// # Errors
/// When it can't be written: then the call must fail.
pub(crate) async fn write(act: &CallContext, outcome: Outcome<'_>) -> Result<Option<usize>, StoreError> {
    if act.store.store.put(of_act(act, outcome), PutIf::Absent).await? {
        return Ok(None);
    }
    attempt(act).await
}

/// Writes an entry of the service-level trail: a call whose token is missing, malformed or unknown.
///
/// # Errors
/// When it can't be written, which does not matter to the caller: this trail is best effort.
pub(crate) async fn write_trail(
    store: &Store,
    request_id: RequestId,
    operation: &str,
    outcome: Outcome<'_>,
    now: Timestamp,
) -> Result<(), StoreError> {
    let key = keys::trail(now, fastrand::u8(..limits::TRAIL_SHARDS), request_id);
    let mut item = row(key, operation, outcome, now);
    let drop_at = now.plus_seconds(limits::TRAIL_LIFETIME_S).unix_s();
    item.insert(DROP_AT.to_owned(), AttributeValue::N(drop_at.to_string()));
    store.put(item, PutIf::Any).await.map(|_| ())
}
