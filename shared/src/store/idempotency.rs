//! Idempotency keys: the first response to each, kept for seven days and given again to every repeat.

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::{AttributeValue, Put, TransactWriteItem};
use http::StatusCode;

use super::keys::{self, DROP_AT, PARTITION};
use super::{Item, OrgStore, StoreError, compressed, decompressed};
use crate::api::caller::{IdempotencyKey, WriteCaller};
use crate::api::operation::StoredResponse;
use crate::domain::time::Timestamp;
use crate::limits;

const FINGERPRINT: &str = "fingerprint";
const STATUS: &str = "status";
const BODY: &str = "body";
const ETAG: &str = "etag";
const OBJECTS: &str = "objects";

/// The first response to a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// What the request was: method, path and body.
    pub fingerprint: [u8; 32],
    /// What was answered.
    pub reply: StoredResponse,
}

impl OrgStore {
    /// What was answered to a key, unless that was too long ago.
    pub(crate) async fn recorded(&self, key: &str, now: Timestamp) -> Result<Option<Recorded>, StoreError> {
        let Some(item) = self.store.get(keys::idempotency(self.org, key)).await? else { return Ok(None) };
        let recorded = read(&item).ok_or_else(|| StoreError::Failed("decoding an idempotency record".to_owned()))?;
        let (recorded, drop_at) = recorded;
        // DynamoDB drops what is too old some time later, so the age is checked here.
        Ok((now.unix_s() < drop_at).then_some(recorded))
    }
}

fn read(item: &Item) -> Option<(Recorded, i64)> {
    let number = |name| item.get(name)?.as_n().ok();
    let blob = |name| Some(item.get(name)?.as_b().ok()?.as_ref());
    let reply = StoredResponse {
        status: StatusCode::from_u16(number(STATUS)?.parse().ok()?).ok()?,
        body: decompressed(item, BODY, limits::RESPONSE_BYTES_MAX)?,
        etag: item.get(ETAG).and_then(|value| value.as_s().ok()).cloned(),
        objects: item
            .get(OBJECTS)
            .and_then(|value| value.as_b().ok())
            .map(|ids| ids.as_ref().to_vec())
            .unwrap_or_default(),
    };
    let recorded = Recorded { fingerprint: blob(FINGERPRINT)?.try_into().ok()?, reply };
    Some((recorded, number(DROP_AT)?.parse().ok()?))
}

/// The record of a response, for its transaction. It takes the place of none, or of one that is too old.
pub(super) fn record(
    caller: &WriteCaller,
    key: &IdempotencyKey,
    reply: &StoredResponse,
) -> Result<TransactWriteItem, StoreError> {
    let mut item = keys::idempotency(caller.store.org, &key.key).into_item();
    item.insert(FINGERPRINT.to_owned(), AttributeValue::B(Blob::new(key.fingerprint)));
    item.insert(STATUS.to_owned(), AttributeValue::N(reply.status.as_u16().to_string()));
    item.insert(BODY.to_owned(), compressed(&reply.body));
    if let Some(etag) = &reply.etag {
        item.insert(ETAG.to_owned(), AttributeValue::S(etag.clone()));
    }
    if !reply.objects.is_empty() {
        item.insert(OBJECTS.to_owned(), AttributeValue::B(Blob::new(reply.objects.clone())));
    }
    let now = caller.now.unix_s();
    item.insert(DROP_AT.to_owned(), AttributeValue::N((now + limits::IDEMPOTENCY_KEY_LIFETIME_S).to_string()));
    let put = Put::builder()
        .table_name(caller.store.store.table())
        .set_item(Some(item))
        .condition_expression("attribute_not_exists(#pk) OR #drop_at <= :now")
        .expression_attribute_names("#pk", PARTITION)
        .expression_attribute_names("#drop_at", DROP_AT)
        .expression_attribute_values(":now", AttributeValue::N(now.to_string()))
        .build()
        .map_err(|error| StoreError::Failed(format!("TransactWriteItems: {error}")))?;
    Ok(TransactWriteItem::builder().put(put).build())
}
