use std::ops::Deref;

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

pub use super::keys::Item;
use super::keys::Key;
use super::{StoreError, versions};
use crate::domain::delivery::Delivery;
use crate::domain::endpoint::Endpoint;

pub(super) const VERSION: &str = "v";
/// When the last write of a listed record was sent, in milliseconds since 1970 (see `list::log`).
pub(super) const STAMP: &str = "stamp";

/// A record as read, with the version that its next change must name. Only the store makes one of a protected record.
///
/// ```compile_fail,E0451
/// use shared::domain::agreement::Agreement;
/// use shared::store::Versioned;
///
/// fn forged(agreement: Agreement) -> Versioned<Agreement> {
///     Versioned { value: agreement, version: 7 }
/// }
/// ```
///
/// ```compile_fail,E0277
/// use shared::domain::agreement::Agreement;
/// use shared::store::Versioned;
///
/// fn forged(agreement: Agreement) -> Versioned<Agreement> {
///     Versioned::new(agreement, 7)
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Versioned<T> {
    value: T,
    version: u64,
    /// Of listed records.
    stamp: Option<i64>,
}

impl<T> Versioned<T> {
    /// The version: 1 when the record was created, one more with each change.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The record alone.
    #[must_use]
    pub fn into_inner(self) -> T {
        self.value
    }

    pub(super) fn read(value: T, version: u64, stamp: Option<i64>) -> Self {
        Self { value, version, stamp }
    }

    pub(super) fn stamp(&self) -> Option<i64> {
        self.stamp
    }
}

impl<T> Deref for Versioned<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// Records without protected transitions. A test double of the store can make versions of them.
pub trait Unprotected {}

impl Unprotected for Delivery {}
impl Unprotected for Endpoint {}

impl<T: Unprotected> Versioned<T> {
    /// A record at a version, for test doubles of the store.
    #[must_use]
    pub fn new(value: T, version: u64) -> Self {
        Self { value, version, stamp: None }
    }
}

pub(super) fn to_item<T: Serialize>(key: Key, record: &T) -> Result<Item, StoreError> {
    let mut item: Item =
        serde_dynamo::to_item(record).map_err(|error| StoreError::Failed(format!("encoding an item: {error}")))?;
    versions::stamp(&mut item, &key);
    key.insert_into(&mut item);
    Ok(item)
}

pub(super) fn to_attribute<T: Serialize>(value: &T) -> Result<AttributeValue, StoreError> {
    serde_dynamo::to_attribute_value(value)
        .map_err(|error| StoreError::Failed(format!("encoding an attribute: {error}")))
}

pub(super) fn to_versioned_item<T: Serialize>(key: Key, record: &T, version: u64) -> Result<Item, StoreError> {
    let mut item = to_item(key, record)?;
    item.insert(VERSION.to_owned(), AttributeValue::N(version.to_string()));
    Ok(item)
}

/// Reads a record of any schema version up to this release's. Ignores unknown attributes.
pub(super) fn from_item<T: DeserializeOwned>(item: Item) -> Result<T, StoreError> {
    // serde's message can quote a value.
    serde_dynamo::from_item(versions::upgraded(item)?)
        .map_err(|_| StoreError::Unreadable(format!("decoding a {}", std::any::type_name::<T>())))
}

/// Adds the stamp of a record's last write to its next version, which gets one above it.
pub(super) fn keep_stamp<T>(item: &mut Item, before: &Versioned<T>) {
    item.extend(before.stamp().map(|stamp| (STAMP.to_owned(), AttributeValue::N(stamp.to_string()))));
}

pub(super) fn from_versioned_item<T: DeserializeOwned>(item: Item) -> Result<Versioned<T>, StoreError> {
    let version =
        number(&item, VERSION).ok_or_else(|| StoreError::Unreadable("decoding an item: no version".to_owned()))?;
    let stamp = number(&item, STAMP);
    Ok(Versioned { value: from_item(item)?, version, stamp })
}

pub(super) fn text<'a>(item: &'a Item, name: &str) -> Option<&'a str> {
    item.get(name)?.as_s().ok().map(String::as_str)
}

pub(super) fn number<N: std::str::FromStr>(item: &Item, name: &str) -> Option<N> {
    item.get(name)?.as_n().ok()?.parse().ok()
}

pub(super) fn bytes<'a>(item: &'a Item, name: &str) -> Option<&'a [u8]> {
    Some(item.get(name)?.as_b().ok()?.as_ref())
}

/// The ids in an attribute of 16 bytes each. None without the attribute.
pub(super) fn ids(item: &Item, name: &str) -> Option<Vec<Uuid>> {
    let bytes = bytes(item, name)?.chunks_exact(size_of::<Uuid>());
    Some(bytes.filter_map(|id| Uuid::from_slice(id).ok()).collect())
}

const COMPRESSION: u8 = 6;

/// Compresses large values, which would cost many units or exceed an item's size.
pub(super) fn compressed(bytes: &[u8]) -> AttributeValue {
    AttributeValue::B(Blob::new(miniz_oxide::deflate::compress_to_vec(bytes, COMPRESSION)))
}

/// None if the value decompresses to more than `bytes_max`.
pub(super) fn decompressed(item: &Item, name: &str, bytes_max: usize) -> Option<Vec<u8>> {
    miniz_oxide::inflate::decompress_to_vec_with_limit(bytes(item, name)?, bytes_max).ok()
}
