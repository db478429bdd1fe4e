//! Items as they are stored, for copies of a whole table (`ops backup`, `ops restore`).

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_dynamo::AttributeValue;

use super::StoreError;
use super::item::Item;
use super::keys::Key;
use super::operator::Operator;
use super::table::PutIf;
use super::whole_table::{PageOfTable, Position};
use crate::limits;
use crate::retry::{Budget, retry_on_conflict};

/// An item of the table, whatever it is. It is serialized as `DynamoDB` writes items in JSON. It has hashes of secrets, and
/// secrets that are sealed.
#[derive(Clone)]
pub struct StoredItem(Item);

impl std::fmt::Debug for StoredItem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoredItem").finish_non_exhaustive()
    }
}

impl Serialize for StoredItem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        comparable(self.0.clone()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for StoredItem {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let item = serde_dynamo::Item::deserialize(deserializer)?;
        Ok(Self(item.into()))
    }
}

/// An item with its sets in order: stores give them in any.
fn comparable(item: Item) -> BTreeMap<String, AttributeValue> {
    let mut item: BTreeMap<_, _> = serde_dynamo::Item::from(item).into_inner().into_iter().collect();
    for value in item.values_mut() {
        match value {
            AttributeValue::Ss(texts) | AttributeValue::Ns(texts) => texts.sort_unstable(),
            AttributeValue::Bs(bytes) => bytes.sort_unstable(),
            _ => {}
        }
    }
    item
}

/// What became of an item that was to be put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PutBack {
    /// It was written.
    Written,
    /// The table had it already.
    Same,
    /// The table has another item with its key, which stays.
    Different,
}

impl Operator<'_> {
    /// The next items of the table, behind a position, as each is when it is read; and the next position, if there are more.
    ///
    /// # Errors
    /// [`StoreError`]
    pub async fn copy_page(
        self,
        from: Option<&Position>,
        items_max: i32,
    ) -> Result<(Vec<StoredItem>, Option<Position>), StoreError> {
        let read = || self.store().page_of_table(from, items_max, None);
        let PageOfTable { items, next, .. } =
            retry_on_conflict(Budget::attempts(limits::OPERATOR_ATTEMPTS_MAX), read).await?;
        Ok((items.into_iter().map(StoredItem).collect(), next))
    }

    /// Puts an item that was copied, unless the table has one with its key.
    ///
    /// # Errors
    /// [`StoreError`]
    pub async fn put_back(self, item: &StoredItem) -> Result<PutBack, StoreError> {
        let no_key = || StoreError::Unreadable("an item of a copy has no key".to_owned());
        let key = Key::of(&item.0).ok_or_else(no_key)?;
        let put = || self.store().put(item.0.clone(), PutIf::Absent);
        if retry_on_conflict(Budget::attempts(limits::OPERATOR_ATTEMPTS_MAX), put).await? {
            return Ok(PutBack::Written);
        }
        let there = self.store().get(key).await?.map(comparable);
        let is_same = there.is_some_and(|there| there == comparable(item.0.clone()));
        Ok(if is_same { PutBack::Same } else { PutBack::Different })
    }
}

#[cfg(test)]
mod tests {
    use aws_sdk_dynamodb::primitives::Blob;
    use aws_sdk_dynamodb::types::AttributeValue::{B, Bool, Bs, L, M, N, Null, S, Ss};

    use super::*;

    #[test]
    fn every_kind_of_value_survives_a_copy() {
        let values = [
            ("pk", S("ORG#1#X".to_owned())),
            ("sk", S(".".to_owned())),
            ("number", N("1773480000000".to_owned())),
            ("bytes", B(Blob::new([0, 255, 7]))),
            ("flag", Bool(true)),
            ("nothing", Null(true)),
            ("list", L(vec![N("1".to_owned()), S("ü — \u{1f600}".to_owned())])),
            ("map", M(std::collections::HashMap::from([("inner".to_owned(), L(Vec::new()))]))),
            ("texts", Ss(vec!["a".to_owned(), "b".to_owned()])),
            ("ids", Bs(vec![Blob::new([1]), Blob::new([2])])),
        ];
        let item: Item = values.map(|(name, value)| (name.to_owned(), value)).into_iter().collect();
        let line = serde_json::to_string(&StoredItem(item.clone())).unwrap();
        assert!(!line.contains('\n'));
        assert_eq!(serde_json::from_str::<StoredItem>(&line).unwrap().0, item);
    }

    #[test]
    fn sets_in_another_order_are_the_same() {
        let item =
            |ids: [&str; 2]| Item::from([("people".to_owned(), Ss(ids.into_iter().map(ToOwned::to_owned).collect()))]);
        assert_eq!(comparable(item(["a", "b"])), comparable(item(["b", "a"])));
        assert_ne!(comparable(item(["a", "b"])), comparable(item(["a", "c"])));
    }
}
