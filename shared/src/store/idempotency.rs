//! Idempotency keys: the first response to each, kept for seven days and given again to every repeat.

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::{AttributeValue, Put, TransactWriteItem};
use http::StatusCode;

use super::item::{bytes, compressed, decompressed, number, text};
use super::keys::{self, DROP_AT, PARTITION};
use super::{Item, OrgStore, StoreError};
use crate::domain::call_context::CallContext;
use crate::domain::time::Timestamp;
use crate::limits;

const FINGERPRINT: &str = "fingerprint";
const STATUS: &str = "status";
const BODY: &str = "body";
const ETAG: &str = "etag";
const OBJECTS: &str = "objects";

/// An idempotency key, with what it was sent for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IdempotencyKey {
    /// The key, without quotes.
    pub key: String,
    /// SHA-256 of method, path and body.
    pub fingerprint: [u8; 32],
}

/// A successful response, ready to be sent, stored and repeated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredResponse {
    pub(crate) status: StatusCode,
    pub(crate) body: Vec<u8>,
    pub(crate) etag: Option<String>,
    /// The ids of the records that it shows, 16 bytes each.
    pub(crate) objects: Vec<u8>,
}

/// The first response to a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FirstResponse {
    /// What the request was: method, path and body.
    pub fingerprint: [u8; 32],
    /// What was answered.
    pub response: StoredResponse,
}

impl OrgStore {
    /// The first response to a key, unless that was too long ago.
    pub(crate) async fn first_response(&self, key: &str, now: Timestamp) -> Result<Option<FirstResponse>, StoreError> {
        let Some(item) = self.store.get(keys::idempotency(self.org, key)).await? else { return Ok(None) };
        let first = read(&item).ok_or_else(|| StoreError::Unreadable("decoding an idempotency record".to_owned()))?;
        let (first, drop_at) = first;
        // DynamoDB drops what is too old some time later, so the age is checked here.
        Ok((now.unix_s() < drop_at).then_some(first))
    }
}

fn read(item: &Item) -> Option<(FirstResponse, i64)> {
    let response = StoredResponse {
        status: StatusCode::from_u16(number(item, STATUS)?).ok()?,
        body: decompressed(item, BODY, limits::RESPONSE_BYTES_MAX)?,
        etag: text(item, ETAG).map(str::to_owned),
        objects: bytes(item, OBJECTS).unwrap_or_default().to_vec(),
    };
    let first = FirstResponse { fingerprint: bytes(item, FINGERPRINT)?.try_into().ok()?, response };
    Some((first, number(item, DROP_AT)?))
}

/// The record of a response, for its transaction. It takes the place of none, or of one that is too old.
pub(super) fn record(
    table: &str,
    call: &CallContext,
    key: &IdempotencyKey,
    response: &StoredResponse,
) -> Result<TransactWriteItem, StoreError> {
    let mut item = keys::idempotency(call.org(), &key.key).into_item();
    item.insert(FINGERPRINT.to_owned(), AttributeValue::B(Blob::new(key.fingerprint)));
    item.insert(STATUS.to_owned(), AttributeValue::N(response.status.as_u16().to_string()));
    item.insert(BODY.to_owned(), compressed(&response.body));
    if let Some(etag) = &response.etag {
        item.insert(ETAG.to_owned(), AttributeValue::S(etag.clone()));
    }
    if !response.objects.is_empty() {
        item.insert(OBJECTS.to_owned(), AttributeValue::B(Blob::new(response.objects.clone())));
    }
    let now = call.now().unix_s();
    item.insert(DROP_AT.to_owned(), AttributeValue::N((now + limits::IDEMPOTENCY_KEY_LIFETIME_S).to_string()));
    let put = Put::builder()
        .table_name(table)
        .set_item(Some(item))
        .condition_expression("attribute_not_exists(#pk) OR #drop_at <= :now")
        .expression_attribute_names("#pk", PARTITION)
        .expression_attribute_names("#drop_at", DROP_AT)
        .expression_attribute_values(":now", AttributeValue::N(now.to_string()))
        .build()
        .map_err(|error| StoreError::Failed(format!("TransactWriteItems: {error}")))?;
    Ok(TransactWriteItem::builder().put(put).build())
}
