//! Audit rows: one for every call, kept for good; ids, codes and times only, never what a user wrote.
//!
//! An organization's row is written in the transaction of the change that it records, or before the response of a
//! read or a refusal leaves. It can be written once per call, which makes it a fence too: a call that was answered as
//! failed can't take effect later, since its transaction would find the row.

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;

use super::keys::{self, DROP_AT, Key};
use super::table::PutIf;
use super::{Item, Store, StoreError};
use crate::caller::{Caller, WriteCaller};
use crate::domain::ids::RequestId;
use crate::domain::time::Timestamp;
use crate::limits;
use crate::operation::Reply;

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

fn of_caller(caller: &Caller, outcome: Outcome<'_>) -> Item {
    let key = keys::audit(caller.store.org, caller.now, caller.request_id);
    let mut item = row(key, caller.operation, outcome, caller.now);
    item.insert("token_id".to_owned(), AttributeValue::S(caller.token.id.to_string()));
    item
}

/// The row of a write that succeeds, for its transaction, with the number of the attempt that it belongs to.
pub(super) fn of_success(caller: &WriteCaller, reply: &Reply, attempt: usize) -> Item {
    let objects = caller.objects_with(&reply.objects);
    let mut item = of_caller(caller, Outcome { status: reply.status.as_u16(), code: "ok", objects: &objects });
    item.insert(ATTEMPT.to_owned(), AttributeValue::N(attempt.to_string()));
    item
}

/// Which attempt of this call took effect.
pub(super) async fn attempt(caller: &Caller) -> Result<Option<usize>, StoreError> {
    let row = caller.store.store.get(keys::audit(caller.store.org, caller.now, caller.request_id)).await?;
    Ok(row.and_then(|row| row.get(ATTEMPT)?.as_n().ok()?.parse().ok()))
}

/// Writes the row of a call that changed nothing, or failed. If one is there, an attempt of the call took effect after
/// all: that row stays, and tells which.
///
/// # Errors
/// When it can't be written: then the call must fail.
pub(crate) async fn write(caller: &Caller, outcome: Outcome<'_>) -> Result<Option<usize>, StoreError> {
    if caller.store.store.put(of_caller(caller, outcome), PutIf::Absent).await? {
        return Ok(None);
    }
    attempt(caller).await
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
