//! Reads the whole table, page by page, for operators: no request of a caller ever does.

use std::fmt;
use std::str::FromStr;

use aws_sdk_dynamodb::types::{AttributeValue, ReturnConsumedCapacity};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use super::item::Item;
use super::keys::{ALONE, Key, PARTITION, SORT};
use super::versions::SCHEMA;
use super::{Store, StoreError};

/// Separates a position's two keys. No key contains it.
const BETWEEN: char = '\0';

/// The last item seen by a walk, which resumes after it. As text it has only letters, digits, `-` and `_`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Position(Key);

impl Position {
    pub(super) fn of(key: &Item) -> Option<Self> {
        Key::of(key).map(Self)
    }

    pub(super) fn to_item(&self) -> Item {
        self.0.clone().into_item()
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys = format!("{}{BETWEEN}{}", self.0.partition(), self.0.sort());
        f.write_str(&URL_SAFE_NO_PAD.encode(keys))
    }
}

impl From<Position> for String {
    fn from(position: Position) -> Self {
        position.to_string()
    }
}

impl TryFrom<String> for Position {
    type Error = InvalidPosition;

    fn try_from(text: String) -> Result<Self, InvalidPosition> {
        text.parse()
    }
}

/// A text that is no position.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is no position that an earlier run has printed")]
pub struct InvalidPosition;

impl FromStr for Position {
    type Err = InvalidPosition;

    fn from_str(text: &str) -> Result<Self, InvalidPosition> {
        let keys = URL_SAFE_NO_PAD.decode(text).ok().and_then(|keys| String::from_utf8(keys).ok());
        let keys = keys.ok_or(InvalidPosition)?;
        let (partition, sort) = keys.split_once(BETWEEN).ok_or(InvalidPosition)?;
        Ok(Self(Key::from_parts(partition, sort)))
    }
}

#[derive(Debug)]
pub(super) struct PageOfTable {
    pub items: Vec<Item>,
    /// How many items were inspected.
    pub looked_at: u64,
    /// Where to continue. None at the end of the table.
    pub next: Option<Position>,
}

impl Store {
    /// The next items: all, or only keys and versions of records alone in their partitions and not of a schema version.
    pub(super) async fn page_of_table(
        &self,
        from: Option<&Position>,
        items_max: i32,
        not_of_version: Option<u32>,
    ) -> Result<PageOfTable, StoreError> {
        let mut request = self
            .client
            .scan()
            .table_name(&*self.table)
            .consistent_read(true)
            .limit(items_max)
            .set_exclusive_start_key(from.map(Position::to_item))
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        if let Some(version) = not_of_version {
            request = request
                .filter_expression("#sk = :alone AND (attribute_not_exists(#sv) OR #sv <> :version)")
                .projection_expression("#pk, #sk, #sv")
                .expression_attribute_names("#pk", PARTITION)
                .expression_attribute_names("#sk", SORT)
                .expression_attribute_names("#sv", SCHEMA)
                .expression_attribute_values(":alone", AttributeValue::S(ALONE.to_owned()))
                .expression_attribute_values(":version", AttributeValue::N(version.to_string()));
        }
        let output = request.send().await?;
        Ok(PageOfTable {
            looked_at: u64::try_from(output.scanned_count).unwrap_or_default(),
            items: output.items.unwrap_or_default(),
            next: output.last_evaluated_key.as_ref().and_then(Position::of),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_survives_a_command_line() {
        for (partition, sort) in [("ORG#1#CONTACTREF#it's \"7\" — ü", "."), ("DUE#3", "EVENT#001#x")] {
            let position = Position(Key::from_parts(partition, sort));
            let text = position.to_string();
            assert!(text.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c)), "{text}");
            assert_eq!(text.parse(), Ok(position));
        }
        for text in ["", "x", "%", "QQ"] {
            assert_eq!(text.parse::<Position>(), Err(InvalidPosition), "{text}");
        }
    }
}
