//! Walks over the whole table, a page at a time, for operators: no caller of the service has the bare [`Store`].

use aws_sdk_dynamodb::types::ReturnConsumedCapacity;

use super::item::Item;
use super::whole_table::Position;
use super::{Store, StoreError};

impl Store {
    /// The next items of a walk, at most 1 MB, and where to continue, if anywhere. A lasting item comes exactly once.
    pub async fn scan_page(&self, behind: Option<&Position>) -> Result<(Vec<Item>, Option<Position>), StoreError> {
        let output = self
            .client
            .scan()
            .table_name(&*self.table)
            .consistent_read(true)
            .set_exclusive_start_key(behind.map(Position::to_item))
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await?;
        let next = output.last_evaluated_key.as_ref().and_then(Position::of);
        Ok((output.items.unwrap_or_default(), next))
    }

    /// About how many items the table has: `DynamoDB` counts them every few hours. None where it does not say.
    pub async fn approximate_items(&self) -> Option<u64> {
        let described = self.client.describe_table().table_name(&*self.table).send().await.ok()?;
        u64::try_from(described.table?.item_count?).ok().filter(|count| *count > 0)
    }
}
