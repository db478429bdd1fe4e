//! Idempotency keys: each key's first response is kept for seven days and answers every repeat.

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};

use super::change::{Change, Expiry};
use super::item::{bytes, compressed, decompressed, number, text};
use super::keys::{self, DROP_AT};
use super::{Item, OrgStore, StoreError};
use crate::domain::call_context::CallContext;
use crate::domain::time::Timestamp;
use crate::limits;

const FINGERPRINT: &str = "fingerprint";
const STATUS: &str = "status";
const BODY: &str = "body";
const OBJECTS: &str = "objects";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IdempotencyKey {
    pub key: String,
    /// SHA-256 of method, path and body.
    pub fingerprint: [u8; 32],
}

pub(crate) const IGNORED_FIELDS: HeaderName = HeaderName::from_static("ignored-fields");

const KEPT_HEADERS: [HeaderName; 3] = [header::ETAG, header::LOCATION, IGNORED_FIELDS];

/// A successful response, ready to be sent, stored and repeated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredResponse {
    pub(crate) status: StatusCode,
    pub(crate) body: Vec<u8>,
    pub(crate) headers: HeaderMap,
    /// The ids of the records that it shows, 16 bytes each.
    pub(crate) objects: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FirstResponse {
    pub fingerprint: [u8; 32],
    pub response: StoredResponse,
}

impl OrgStore {
    /// The response that answers a repeat. Lists that begin from now on have what its call wrote, however late that was.
    pub(crate) async fn first_response(&self, key: &str, now: Timestamp) -> Result<Option<FirstResponse>, StoreError> {
        let Some(item) = self.store.get(keys::idempotency(self.org, key)).await? else { return Ok(None) };
        let first = read(&item).ok_or_else(|| StoreError::Unreadable("decoding an idempotency record".to_owned()))?;
        let (first, drop_at) = first;
        // DynamoDB deletes expired items with a delay, so the age is checked here.
        if now.unix_s() >= drop_at {
            return Ok(None);
        }
        self.store.acknowledge_late(&item).await?;
        Ok(Some(first))
    }
}

fn read(item: &Item) -> Option<(FirstResponse, i64)> {
    let response = StoredResponse {
        status: StatusCode::from_u16(number(item, STATUS)?).ok()?,
        body: decompressed(item, BODY, limits::RESPONSE_BYTES_MAX)?,
        headers: KEPT_HEADERS.into_iter().filter_map(|name| Some((name.clone(), kept_header(item, &name)?))).collect(),
        objects: bytes(item, OBJECTS).unwrap_or_default().to_vec(),
    };
    let first = FirstResponse { fingerprint: bytes(item, FINGERPRINT)?.try_into().ok()?, response };
    Some((first, number(item, DROP_AT)?))
}

fn kept_header(item: &Item, name: &HeaderName) -> Option<HeaderValue> {
    HeaderValue::from_str(text(item, name.as_str())?).ok()
}

/// Records a response under its key if the key is free or its record has expired.
pub(super) fn record(call: &CallContext, key: &IdempotencyKey, response: &StoredResponse) -> Change {
    let mut item = keys::idempotency(call.org(), &key.key).into_item();
    item.insert(FINGERPRINT.to_owned(), AttributeValue::B(Blob::new(key.fingerprint)));
    item.insert(STATUS.to_owned(), AttributeValue::N(response.status.as_u16().to_string()));
    item.insert(BODY.to_owned(), compressed(&response.body));
    for name in KEPT_HEADERS {
        if let Some(value) = response.headers.get(&name).and_then(|value| value.to_str().ok()) {
            item.insert(name.to_string(), AttributeValue::S(value.to_owned()));
        }
    }
    if !response.objects.is_empty() {
        item.insert(OBJECTS.to_owned(), AttributeValue::B(Blob::new(response.objects.clone())));
    }
    let now = call.now().unix_s();
    item.insert(DROP_AT.to_owned(), AttributeValue::N((now + limits::IDEMPOTENCY_KEY_LIFETIME_S).to_string()));
    Change::PutIfExpired(item, Expiry { attribute: DROP_AT, now })
}
