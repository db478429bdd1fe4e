//! The key of an item.

use std::collections::HashMap;
use std::fmt;

use aws_sdk_dynamodb::types::AttributeValue;

/// An item as the SDK has it.
pub type Item = HashMap<String, AttributeValue>;

/// The attribute of the partition key.
pub const PARTITION: &str = "pk";
/// The attribute of the sort key.
pub const SORT: &str = "sk";

/// The key of an item. Its text is for operators.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    partition: String,
    sort: String,
}

impl Key {
    pub(super) fn new(partition: String, sort: impl fmt::Display) -> Self {
        Self { partition, sort: sort.to_string() }
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

    /// The key with these parts, as a record of the table's stream has them.
    #[must_use]
    pub fn from_parts(partition: &str, sort: &str) -> Self {
        Self { partition: partition.to_owned(), sort: sort.to_owned() }
    }

    /// Whether an item has this key.
    pub(super) fn is_of(&self, item: &Item) -> bool {
        let is =
            |name, part: &str| item.get(name).and_then(|found| found.as_s().ok()).is_some_and(|found| found == part);
        is(SORT, &self.sort) && is(PARTITION, &self.partition)
    }

    /// The key of an item. None if its attributes are missing.
    #[must_use]
    pub fn of(item: &Item) -> Option<Self> {
        let text = |name| item.get(name)?.as_s().ok().cloned();
        Some(Self { partition: text(PARTITION)?, sort: text(SORT)? })
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.partition, self.sort)
    }
}
