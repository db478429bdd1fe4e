//! Declares a kind of record once: key, version, and list row. Reading, creating, replacing and listing follow.

use std::collections::HashMap;
use std::fmt::Display;

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use uuid::Uuid;

use super::change::Change;
use super::item::{Item, STAMP, VERSION, Versioned, number};
use super::keys::{self, Key, Rows};
use super::list::{Attribute, HeldRow, RowFilter, RowWrite, SHELF, TEXT};
use super::packed::Packer;
use super::record_kind::RecordKind;
use super::{OrgStore, StoreError, versions};
use crate::domain::ids::OrgId;
use crate::wire::page::{Order, Page, PageRequest, Shelf};
use crate::wire::text::Folded;

/// A kind of record with a key of its own, a version, and a row in a list.
pub(super) trait Record: Sized {
    type Id: Copy + Display + From<Uuid> + Into<Uuid>;
    /// What a page of a list shows of it.
    type Listed: From<Self>;
    const KIND: RecordKind;
    #[allow(clippy::panic, reason = "while compiling: the kind of a record is declared with its list")]
    const ROWS: Rows = match Self::KIND.declared().rows {
        Some(rows) => rows,
        None => panic!("not in a list"),
    };

    fn key(org: OrgId, id: Self::Id) -> Key {
        Self::KIND.key(&[&org, &id])
    }

    fn record_id(&self) -> Self::Id;
    fn row(&self) -> Row;
    /// What a page shows, if the row says all of it. Pages read the records of the others.
    fn of_row(_row: HeldRow<'_>) -> Option<Self::Listed> {
        None
    }
    /// Its attributes without key and version.
    fn encode(&self) -> Result<Item, StoreError>;
    fn decode(item: Item) -> Result<Self, StoreError>;
}

/// What a list knows of a record: the searched text, and what filters compare.
pub(super) struct Row {
    text: Folded,
    attributes: Vec<(&'static str, AttributeValue)>,
}

impl Row {
    pub(super) fn searched_by(text: Folded) -> Self {
        Self { text, attributes: Vec::new() }
    }

    pub(super) fn with<T: Display>(mut self, attribute: &Attribute<T>, value: &T) -> Self {
        self.attributes.push((attribute.name, AttributeValue::S(value.to_string())));
        self
    }

    /// Says where the record is, unless it is current.
    pub(super) fn on(self, wanted: Shelf) -> Self {
        if wanted == Shelf::Current { self } else { self.with(&SHELF, &wanted) }
    }

    /// Adds a set of ids for filters, 16 bytes each.
    pub(super) fn with_ids(mut self, name: &'static str, ids: impl IntoIterator<Item = Uuid>) -> Self {
        let bytes: Vec<u8> = ids.into_iter().flat_map(Uuid::into_bytes).collect();
        self.attributes.push((name, AttributeValue::B(Blob::new(bytes))));
        self
    }

    pub(super) fn with_packed(mut self, packer: Packer) -> Self {
        self.attributes.push(packer.into_attribute());
        self
    }

    pub(super) fn with_number(mut self, name: &'static str, value: Option<i64>) -> Self {
        self.attributes.extend(value.map(|value| (name, AttributeValue::N(value.to_string()))));
        self
    }
}

impl OrgStore {
    pub(super) async fn find<R: Record>(&self, id: R::Id) -> Result<Option<Versioned<R>>, StoreError> {
        self.store.get(R::key(self.org, id)).await?.map(decode).transpose()
    }

    /// The records with these ids, in order. Skips missing ones.
    pub(super) async fn find_all<R: Record>(
        &self,
        ids: impl IntoIterator<Item = R::Id>,
    ) -> Result<Vec<Versioned<R>>, StoreError> {
        let keys: Vec<Key> = ids.into_iter().map(|id| R::key(self.org, id)).collect();
        self.store.get_all(&keys).await?.into_iter().map(decode).collect()
    }

    pub(super) async fn list<R: Record>(
        &self,
        order: Order,
        filter: &RowFilter<'_>,
        page: PageRequest,
    ) -> Result<Page<R::Listed>, StoreError> {
        let of_row = |row: HeldRow<'_>| R::of_row(row).ok_or_else(|| row.id::<Uuid>());
        let slice = self.slice_of(R::ROWS, order, filter, page, of_row).await?;
        let left = slice.found.iter().filter_map(|found| found.as_ref().err().copied());
        let records = self.find_all::<R>(left.map(R::Id::from)).await?;
        let mut records: HashMap<Uuid, R> =
            records.into_iter().map(|record| (record.record_id().into(), record.into_inner())).collect();
        let shown = slice.found.into_iter();
        let shown =
            shown.filter_map(|found| found.or_else(|id| records.remove(&id).map(R::Listed::from).ok_or(())).ok());
        Ok(Page::new(shown.collect(), slice.total, page))
    }
}

pub(super) fn decode<R: Record>(item: Item) -> Result<Versioned<R>, StoreError> {
    let version =
        number(&item, VERSION).ok_or_else(|| StoreError::Unreadable("decoding an item: no version".to_owned()))?;
    let stamp = number(&item, STAMP);
    Ok(Versioned::read(R::decode(item)?, version, stamp))
}

fn item_of<R: Record>(org: OrgId, record: &R, version: u64) -> Result<Item, StoreError> {
    let (mut item, key) = (record.encode()?, R::key(org, record.record_id()));
    versions::stamp(&mut item, &key);
    key.insert_into(&mut item);
    item.insert(VERSION.to_owned(), AttributeValue::N(version.to_string()));
    Ok(item)
}

pub(super) fn create<R: Record>(org: OrgId, record: &R) -> Result<Vec<Change>, StoreError> {
    Ok(vec![Change::Create(item_of(org, record, 1)?), row_of(org, record, 1, None)])
}

pub(super) fn replace<R: Record>(org: OrgId, before: &Versioned<R>, after: &R) -> Result<Vec<Change>, StoreError> {
    if before.record_id().into() != after.record_id().into() {
        return Err(StoreError::Failed("a record in the place of another one".to_owned()));
    }
    let version = before.version() + 1;
    let item = item_of(org, after, version)?;
    Ok(vec![Change::Replace(item, before.version()), row_of(org, after, version, before.stamp())])
}

pub(super) fn delete<R: Record>(org: OrgId, read: &Versioned<R>) -> [Change; 2] {
    let (id, version) = (read.record_id(), read.version());
    let row = RowWrite {
        org,
        rows: R::ROWS,
        id: id.into(),
        record: R::key(org, id),
        version: version + 1,
        stamp_before: read.stamp(),
        row: None,
    };
    [Change::DeleteVersion(R::key(org, id), version), Change::Row(row)]
}

pub(super) fn check<R: Record>(org: OrgId, read: &Versioned<R>) -> Change {
    Change::CheckVersion(R::key(org, read.record_id()), read.version())
}

pub(super) fn row_item(key: Key, text: &str, version: u64) -> Item {
    let mut item = key.into_item();
    item.insert(VERSION.to_owned(), AttributeValue::N(version.to_string()));
    item.insert(TEXT.to_owned(), AttributeValue::S(text.to_owned()));
    item
}

/// Writes a record's row with its version. `stamp_before` is that of the record's last write.
pub(super) fn row_of<R: Record>(org: OrgId, record: &R, version: u64, stamp_before: Option<i64>) -> Change {
    let id = record.record_id();
    Change::Row(RowWrite {
        org,
        rows: R::ROWS,
        id: id.into(),
        record: R::key(org, id),
        version,
        stamp_before,
        row: Some(list_row(org, record, version)),
    })
}

pub(super) fn list_row<R: Record>(org: OrgId, record: &R, version: u64) -> Item {
    let Row { text, attributes } = record.row();
    let mut item = row_item(keys::row(org, R::ROWS, record.record_id().into()), text.as_str(), version);
    item.extend(attributes.into_iter().map(|(name, value)| (name.to_owned(), value)));
    item
}

pub(super) fn encoded<R: serde::Serialize>(record: &R) -> Result<Item, StoreError> {
    serde_dynamo::to_item(record).map_err(|error| StoreError::Failed(format!("encoding an item: {error}")))
}
