use std::fmt;

use aws_sdk_dynamodb::types::AttributeValue;

use super::{ALONE, Item, PARTITION, SORT, is_alone};
use crate::domain::ids::OrgId;

/// The key of an item. Its text is for operators.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    pub(super) partition: String,
    pub(super) sort: String,
}

impl Key {
    pub(super) fn new(partition: String, sort: impl fmt::Display) -> Self {
        Self { partition, sort: sort.to_string() }
    }

    pub(super) fn alone(partition: String) -> Self {
        Self::new(partition, ALONE)
    }

    /// The key as the attributes of an item.
    #[must_use]
    pub fn into_item(self) -> Item {
        let mut item = Item::new();
        self.insert_into(&mut item);
        item
    }

    /// Adds the key's attributes.
    pub fn insert_into(self, item: &mut Item) {
        item.insert(PARTITION.to_owned(), AttributeValue::S(self.partition));
        item.insert(SORT.to_owned(), AttributeValue::S(self.sort));
    }

    /// The sort key.
    #[must_use]
    pub fn sort(&self) -> &str {
        &self.sort
    }

    /// The partition key.
    #[must_use]
    pub fn partition(&self) -> &str {
        &self.partition
    }

    pub(in crate::store) fn is_alone(&self) -> bool {
        is_alone(&self.sort)
    }

    /// The key with these parts, as a record of the table's stream has them.
    #[must_use]
    pub fn from_parts(partition: &str, sort: &str) -> Self {
        Self { partition: partition.to_owned(), sort: sort.to_owned() }
    }

    #[must_use]
    pub(in crate::store) fn is_due(&self) -> bool {
        self.partition.starts_with("DUE#")
    }

    /// The key of an item. None if its attributes are missing.
    #[must_use]
    pub fn of(item: &Item) -> Option<Self> {
        let text = |name| item.get(name)?.as_s().ok().cloned();
        Some(Self { partition: text(PARTITION)?, sort: text(SORT)? })
    }
}

/// The parts of the key of an organization's record that is alone with its id, such as an agreement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store) struct RecordKey<'a> {
    pub org: OrgId,
    pub what: &'a str,
}

impl<'a> RecordKey<'a> {
    pub(in crate::store) fn of(key: &'a Key) -> Option<Self> {
        let mut parts = key.partition.strip_prefix("ORG#")?.split('#');
        let (org, what, id) = (parts.next()?.parse().ok()?, parts.next()?, parts.next()?);
        let is_record = key.sort == ALONE && parts.next().is_none() && uuid::Uuid::try_parse(id).is_ok();
        is_record.then_some(Self { org, what })
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.partition, self.sort)
    }
}
