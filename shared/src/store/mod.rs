//! The store: one `DynamoDB` table, and the only code that knows it.
//!
//! [`keys`] has every key, [`table`] every call of the SDK, [`commit`] the one way to change an organization's
//! records, [`list`] the one way to read lists; the other files turn items into domain types and back.
//!
//! Decision: responses kept for idempotency are compressed, because a large one would cost many write units, and the
//! largest would not fit into an item.
//!
//! Decision: what operators write without an audit row is on [`operator::Operator`], which takes the bare [`Store`]. A
//! caller only ever has an [`OrgStore`], so no operation can write around the audit row.
//!
//! Decision: the `objects` of an audit row are 16 bytes each in one attribute, because a default page of fifty records
//! then fits into the single write unit of its row.
//!
//! Decision: the audit row fences a call, because responses that are lost after a commit then need no other mechanism.
//! The SDK's client request token works too, but only for ten minutes.

pub mod agreements;
pub mod audit;
pub mod commit;
pub mod contacts;
pub mod deliveries;
pub mod due;
pub mod endpoints;
pub mod events;
pub mod idempotency;
pub mod keys;
pub mod list;
pub mod members;
pub mod operator;
pub mod organizations;
pub mod proposals;
pub mod sessions;
pub mod table;
pub mod tokens;
pub mod workspaces;

use std::collections::HashMap;

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use table::{Store, Usage};

use crate::domain::ids::OrgId;
use crate::error::Error;
use keys::Key;

/// An item as the SDK has it.
pub type Item = HashMap<String, AttributeValue>;

/// Why the store did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A condition did not hold, a transaction met another one, or the table was busy: read again, decide again.
    #[error("the records have changed meanwhile")]
    Conflict,
    /// Anything else, for the log: error codes only, no values.
    #[error("{0}")]
    Failed(String),
    /// What is there can't be read, however often it is tried.
    #[error("{0}")]
    Unreadable(String),
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Conflict => Self::Conflict,
            StoreError::Failed(cause) | StoreError::Unreadable(cause) => Self::Internal(cause),
        }
    }
}

/// The store as one organization sees it. There is no way from it to another organization's records.
#[derive(Debug, Clone)]
pub struct OrgStore {
    pub(crate) store: Store,
    pub(crate) org: OrgId,
}

impl OrgStore {
    /// The store for an organization.
    #[must_use]
    pub(crate) fn new(store: Store, org: OrgId) -> Self {
        Self { store, org }
    }
}

/// A record with the version that its next change must name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Versioned<T> {
    /// The record.
    pub value: T,
    /// 1 when it was created, one more with each change.
    pub version: u64,
}

/// The attribute that holds a record's version.
const VERSION: &str = "v";

/// A record as an item.
fn to_item<T: Serialize>(key: Key, record: &T) -> Result<Item, StoreError> {
    let mut item: Item =
        serde_dynamo::to_item(record).map_err(|error| StoreError::Failed(format!("encoding an item: {error}")))?;
    key.insert_into(&mut item);
    Ok(item)
}

/// A versioned record as an item.
fn to_versioned_item<T: Serialize>(key: Key, record: &T, version: u64) -> Result<Item, StoreError> {
    let mut item = to_item(key, record)?;
    item.insert(VERSION.to_owned(), AttributeValue::N(version.to_string()));
    Ok(item)
}

/// How hard large bytes are compressed, of 10: what is small stays quick.
const COMPRESSION: u8 = 6;

/// Large bytes as an attribute, compressed: they would cost many units, and the largest would not fit into an item.
fn compressed(bytes: &[u8]) -> AttributeValue {
    AttributeValue::B(Blob::new(miniz_oxide::deflate::compress_to_vec(bytes, COMPRESSION)))
}

/// The bytes of such an attribute, unless there are more than there can be.
fn decompressed(item: &Item, name: &str, bytes_max: usize) -> Option<Vec<u8>> {
    let compressed = item.get(name)?.as_b().ok()?;
    miniz_oxide::inflate::decompress_to_vec_with_limit(compressed.as_ref(), bytes_max).ok()
}

/// An item as a record; what the record does not know is ignored.
fn from_item<T: DeserializeOwned>(item: Item) -> Result<T, StoreError> {
    // serde's own text can quote a value.
    serde_dynamo::from_item(item)
        .map_err(|_| StoreError::Unreadable(format!("decoding a {}", std::any::type_name::<T>())))
}

/// An item as a versioned record.
fn from_versioned_item<T: DeserializeOwned>(item: Item) -> Result<Versioned<T>, StoreError> {
    let version = item
        .get(VERSION)
        .and_then(|value| value.as_n().ok())
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| StoreError::Unreadable("decoding an item: no version".to_owned()))?;
    Ok(Versioned { value: from_item(item)?, version })
}
