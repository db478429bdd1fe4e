//! A walk over the whole table, a page at a time, for operators: no caller of the service has the bare [`Store`].

use aws_sdk_dynamodb::types::ReturnConsumedCapacity;
use serde::{Deserialize, Serialize};

use super::item::Item;
use super::keys::{Key, PARTITION, SORT};
use super::list::Order;
use super::{Store, StoreError};

/// Where a walk has got to: it goes on behind this key. A walk that is interrupted is taken up again here, also by another
/// process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    partition: String,
    sort: String,
}

impl Store {
    /// The next items of a walk, at most 1 MB, and where to go on; none at the end. Each item that is there all the time
    /// comes once. Items that are written meanwhile come or do not.
    ///
    /// # Errors
    /// When the table does not answer.
    pub async fn scan_page(&self, behind: Option<&Position>) -> Result<(Vec<Item>, Option<Position>), StoreError> {
        let key = |position: &Position| Key::from_parts(&position.partition, &position.sort).into_item();
        let output = self
            .client
            .scan()
            .table_name(&*self.table)
            .consistent_read(true)
            .set_exclusive_start_key(behind.map(key))
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await?;
        let text = |key: &Item, name: &str| key.get(name).and_then(|value| value.as_s().ok()).cloned();
        let position = |key: Item| Some(Position { partition: text(&key, PARTITION)?, sort: text(&key, SORT)? });
        Ok((output.items.unwrap_or_default(), output.last_evaluated_key.and_then(position)))
    }

    /// About how many items the table has: `DynamoDB` counts them every few hours. None where it does not say.
    pub async fn approximate_items(&self) -> Option<u64> {
        let described = self.client.describe_table().table_name(&*self.table).send().await.ok()?;
        u64::try_from(described.table?.item_count?).ok().filter(|count| *count > 0)
    }

    /// The items of a partition, in the order of their sort keys.
    pub(super) async fn partition_items(&self, partition: &str) -> Result<Vec<Item>, StoreError> {
        let mut items = Vec::new();
        self.scan_partition(partition, Order::OldestFirst, &[], |item| items.push(item)).await?;
        Ok(items)
    }
}
