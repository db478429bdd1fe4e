//! The calls of the SDK: strongly consistent, bounded in time, counted.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::{
    AttributeValue, KeysAndAttributes, ReturnConsumedCapacity, ReturnValue, TransactWriteItem,
};

use super::StoreError;
use super::change::{Update, owned_names};
use super::due::DueEntry;
use super::failure::{IN_PROGRESS, Transacted, decide_cancelled};
use super::item::Item;
use super::keys::{Key, PARTITION, SORT};
use super::list::Order;
use super::usage::{Meter, Usage};
use crate::limits;
use crate::retry::{Backoff, Budget, Obstacle};

/// The table, and what the calls through this handle have used of it.
#[derive(Debug, Clone)]
pub struct Store {
    pub(super) client: Client,
    pub(super) table: Arc<str>,
    meter: Meter,
    watch: Option<Watch>,
}

/// Whoever is told at once of what was written to become due.
#[derive(Clone)]
struct Watch(Arc<dyn Fn(DueEntry) + Send + Sync>);

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Watch")
    }
}

/// What is read of a partition.
#[derive(Debug, Default)]
pub(super) struct PartitionQuery<'a> {
    /// The partition.
    pub partition: &'a str,
    /// The first sort key.
    pub from: &'a str,
    /// The last sort key.
    pub to: &'a str,
    /// From the last to the first.
    pub backward: bool,
    /// What items have to fit.
    pub condition: Option<OneOf<'a>>,
    /// Which of their attributes are read; all if none is named.
    pub attributes: &'a [&'a str],
    /// Where to go on.
    pub start: Option<Item>,
    /// How many are looked at.
    pub limit: Option<i32>,
}

/// An attribute that must be one of some values.
#[derive(Debug, Clone, Copy)]
pub(super) struct OneOf<'a> {
    /// The attribute.
    pub name: &'a str,
    /// The values; at most 100.
    pub values: &'a [&'a str],
}

/// What a write of one item asks of what is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PutIf {
    /// Nothing may be there.
    Absent,
    /// Something must be there.
    Present,
    /// Anything may be.
    Any,
}

impl Store {
    /// The table with this name.
    #[must_use]
    pub fn new(client: Client, table: impl Into<String>) -> Self {
        Self { client, table: table.into().into(), meter: Meter::default(), watch: None }
    }

    /// The same table, through which whatever is written to become due is told at once to somebody in this process:
    /// what the table's stream does in the cloud, for the local stack. Best effort, as a stream record that is lost.
    #[must_use]
    pub fn watched(self, by: impl Fn(DueEntry) + Send + Sync + 'static) -> Self {
        Self { watch: Some(Watch(Arc::new(by))), ..self }
    }

    /// The same table with a count of its own, for one call.
    #[must_use]
    pub fn metered(&self) -> Self {
        Self { meter: Meter::default(), ..self.clone() }
    }

    /// What calls through this handle and its clones have used.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.meter.usage()
    }

    /// The table's name.
    #[must_use]
    pub fn table(&self) -> &str {
        &self.table
    }

    /// Reads one item.
    pub(super) async fn get(&self, key: Key) -> Result<Option<Item>, StoreError> {
        let meter = self.meter.call();
        let output = self
            .client
            .get_item()
            .table_name(&*self.table)
            .set_key(Some(key.into_item()))
            .consistent_read(true)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .customize()
            .interceptor(meter)
            .send()
            .await?;
        self.meter.read(output.consumed_capacity());
        Ok(output.item)
    }

    /// Reads items by key, in the order of the keys; what is not there is left out.
    pub(super) async fn get_all(&self, keys: &[Key]) -> Result<Vec<Item>, StoreError> {
        let mut found: HashMap<Key, Item> = HashMap::with_capacity(keys.len());
        for batch in keys.chunks(limits::BATCH_KEYS_MAX) {
            let mut asked: Vec<Item> = batch.iter().cloned().map(Key::into_item).collect();
            let mut backoff = Backoff::new(Budget::until(Instant::now() + limits::AWS_CALL_TIMEOUT));
            loop {
                let (items, unprocessed) = self.get_batch(asked).await?;
                found.extend(items.into_iter().filter_map(|item| Some((Key::of(&item)?, item))));
                if unprocessed.is_empty() {
                    break;
                }
                asked = unprocessed;
                // DynamoDB stops at 16 MB of a batch, or where it has no capacity.
                let unserved = || StoreError::Throttled("BatchGetItem: keys stay unprocessed".to_owned());
                tokio::time::sleep(backoff.next(Obstacle::Conflict).ok_or_else(unserved)?).await;
            }
        }
        Ok(keys.iter().filter_map(|key| found.remove(key)).collect())
    }

    async fn get_batch(&self, keys: Vec<Item>) -> Result<(Vec<Item>, Vec<Item>), StoreError> {
        let request = KeysAndAttributes::builder().set_keys(Some(keys)).consistent_read(true).build()?;
        let meter = self.meter.call();
        let output = self
            .client
            .batch_get_item()
            .request_items(&*self.table, request)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .customize()
            .interceptor(meter)
            .send()
            .await?;
        output.consumed_capacity().iter().for_each(|capacity| self.meter.read(Some(capacity)));
        let items = output.responses.unwrap_or_default().remove(&*self.table).unwrap_or_default();
        let unprocessed = output.unprocessed_keys.unwrap_or_default().remove(&*self.table);
        Ok((items, unprocessed.map(|keys| keys.keys).unwrap_or_default()))
    }

    /// Reads a whole partition by its sort keys, telling each item's given attributes to `visit`; all of them if none is
    /// given.
    pub(super) async fn scan_partition(
        &self,
        partition: &str,
        order: Order,
        attributes: &[&str],
        mut visit: impl FnMut(Item),
    ) -> Result<(), StoreError> {
        let mut start: Option<Item> = None;
        loop {
            let meter = self.meter.call();
            let output = self
                .client
                .query()
                .table_name(&*self.table)
                .key_condition_expression("#pk = :pk")
                .expression_attribute_names("#pk", PARTITION)
                .expression_attribute_values(":pk", AttributeValue::S(partition.to_owned()))
                .set_projection_expression(Some(attributes.join(", ")).filter(|names| !names.is_empty()))
                .scan_index_forward(order == Order::OldestFirst)
                .consistent_read(true)
                .set_exclusive_start_key(start)
                .return_consumed_capacity(ReturnConsumedCapacity::Total)
                .customize()
                .interceptor(meter)
                .send()
                .await?;
            self.meter.read(output.consumed_capacity());
            output.items.unwrap_or_default().into_iter().for_each(&mut visit);
            match output.last_evaluated_key {
                Some(key) if !key.is_empty() => start = Some(key),
                _ => return Ok(()),
            }
        }
    }

    /// Reads the first keys of a partition from one sort key to another, both included.
    pub(super) async fn keys_between(
        &self,
        partition: &str,
        from: &str,
        to: &str,
        limit: i32,
    ) -> Result<Vec<Key>, StoreError> {
        let meter = self.meter.call();
        let output = self
            .client
            .query()
            .table_name(&*self.table)
            .key_condition_expression("#pk = :pk AND #sk BETWEEN :from AND :to")
            .expression_attribute_names("#pk", PARTITION)
            .expression_attribute_names("#sk", SORT)
            .expression_attribute_values(":pk", AttributeValue::S(partition.to_owned()))
            .expression_attribute_values(":from", AttributeValue::S(from.to_owned()))
            .expression_attribute_values(":to", AttributeValue::S(to.to_owned()))
            .projection_expression("#pk, #sk")
            .limit(limit)
            .consistent_read(true)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .customize()
            .interceptor(meter)
            .send()
            .await?;
        self.meter.read(output.consumed_capacity());
        Ok(output.items.unwrap_or_default().iter().filter_map(Key::of).collect())
    }

    /// Reads items of a partition from one sort key to another, both included, as many as come with one answer; forward
    /// or backward. Those that do not fit the condition are passed over. Gives where to go on.
    pub(super) async fn items_between(
        &self,
        query: PartitionQuery<'_>,
    ) -> Result<(Vec<Item>, Option<Item>), StoreError> {
        let PartitionQuery { partition, from, to, backward, condition, attributes, start, limit } = query;
        let meter = self.meter.call();
        let mut request = self
            .client
            .query()
            .table_name(&*self.table)
            .key_condition_expression("#pk = :pk AND #sk BETWEEN :from AND :to")
            .expression_attribute_names("#pk", PARTITION)
            .expression_attribute_names("#sk", SORT)
            .expression_attribute_values(":pk", AttributeValue::S(partition.to_owned()))
            .expression_attribute_values(":from", AttributeValue::S(from.to_owned()))
            .expression_attribute_values(":to", AttributeValue::S(to.to_owned()))
            .scan_index_forward(!backward)
            .set_limit(limit)
            .consistent_read(true)
            .set_exclusive_start_key(start)
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        if let Some(OneOf { name, values }) = condition {
            let names: Vec<String> = (0..values.len()).map(|at| format!(":value{at}")).collect();
            request = request
                .filter_expression(format!("#filter IN ({})", names.join(", ")))
                .expression_attribute_names("#filter", name);
            for (name, value) in names.into_iter().zip(values) {
                request = request.expression_attribute_values(name, AttributeValue::S((*value).to_owned()));
            }
        }
        if !attributes.is_empty() {
            // Some of the names are words of the expression language.
            let names: Vec<String> = (0..attributes.len()).map(|at| format!("#attribute{at}")).collect();
            request = request.projection_expression(names.join(", "));
            for (name, attribute) in names.into_iter().zip(attributes) {
                request = request.expression_attribute_names(name, *attribute);
            }
        }
        let output = request.customize().interceptor(meter).send().await?;
        self.meter.read(output.consumed_capacity());
        Ok((output.items.unwrap_or_default(), output.last_evaluated_key.filter(|key| !key.is_empty())))
    }

    /// Changes one item in place, by itself, and gives it as it is then; nothing when its condition did not hold.
    pub(super) async fn update(&self, update: Update) -> Result<Option<Item>, StoreError> {
        let meter = self.meter.call();
        let Update { key, expression, condition, names, values } = update;
        let sent = self
            .client
            .update_item()
            .table_name(&*self.table)
            .set_key(Some(key.into_item()))
            .update_expression(expression)
            .set_condition_expression(Some(condition.to_owned()).filter(|condition| !condition.is_empty()))
            .set_expression_attribute_names(Some(owned_names(names)))
            .set_expression_attribute_values(Some(
                values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            ))
            .return_values(ReturnValue::AllNew)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .customize()
            .interceptor(meter)
            .send()
            .await;
        match sent {
            Ok(output) => {
                self.meter.written(output.consumed_capacity.as_slice());
                Ok(output.attributes)
            }
            Err(SdkError::ServiceError(error)) if error.err().is_conditional_check_failed_exception() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes an item that is no record: what follows from a record, and was left behind.
    pub(super) async fn remove(&self, key: Key) -> Result<(), StoreError> {
        let meter = self.meter.call();
        let output = self
            .client
            .delete_item()
            .table_name(&*self.table)
            .set_key(Some(key.into_item()))
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .customize()
            .interceptor(meter)
            .send()
            .await?;
        self.meter.written(output.consumed_capacity.as_slice());
        Ok(())
    }

    /// Writes one item by itself. Tells whether it was written, or its condition did not hold.
    pub(super) async fn put(&self, item: Item, condition: PutIf) -> Result<bool, StoreError> {
        let meter = self.meter.call();
        let mut request = self
            .client
            .put_item()
            .table_name(&*self.table)
            .set_item(Some(item))
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        let condition = match condition {
            PutIf::Absent => Some("attribute_not_exists(#pk)"),
            PutIf::Present => Some("attribute_exists(#pk)"),
            PutIf::Any => None,
        };
        if let Some(condition) = condition {
            request = request.condition_expression(condition).expression_attribute_names("#pk", PARTITION);
        }
        match request.customize().interceptor(meter).send().await {
            Ok(output) => {
                self.meter.written(output.consumed_capacity.as_slice());
                Ok(true)
            }
            Err(SdkError::ServiceError(error)) if error.err().is_conditional_check_failed_exception() => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Adds one to a number and returns it; 1 the first time.
    pub(super) async fn next_number(&self, key: Key) -> Result<u64, StoreError> {
        let meter = self.meter.call();
        let output = self
            .client
            .update_item()
            .table_name(&*self.table)
            .set_key(Some(key.into_item()))
            .update_expression("ADD #n :one")
            .expression_attribute_names("#n", "n")
            .expression_attribute_values(":one", AttributeValue::N("1".to_owned()))
            .return_values(ReturnValue::UpdatedNew)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .customize()
            .interceptor(meter)
            .send()
            .await?;
        self.meter.written(output.consumed_capacity.as_slice());
        output
            .attributes
            .and_then(|attributes| attributes.get("n")?.as_n().ok()?.parse().ok())
            .ok_or_else(|| StoreError::Failed("UpdateItem: no number came back".to_owned()))
    }

    /// Writes items together or not at all. Each call has a client request token of its own, which its retries repeat,
    /// so that a lost response does not become a second effect.
    pub(super) async fn transact(&self, items: Vec<TransactWriteItem>) -> Result<Transacted, StoreError> {
        let watched = self.watch.as_ref().map(|watch| {
            let puts = items.iter().filter_map(|item| item.put.as_ref());
            let due: Vec<DueEntry> = puts.filter_map(|put| DueEntry::of(Key::of(&put.item)?)).collect();
            (watch, due)
        });
        let meter = self.meter.call();
        let sent = self
            .client
            .transact_write_items()
            .set_transact_items(Some(items))
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .customize()
            .interceptor(meter)
            .send()
            .await;
        match sent {
            Ok(output) => {
                self.meter.written(output.consumed_capacity());
                if let Some((watch, due)) = watched {
                    for entry in due {
                        watch.0(entry);
                    }
                }
                Ok(Transacted::Committed)
            }
            Err(SdkError::ServiceError(error)) => match error.err() {
                TransactWriteItemsError::TransactionCanceledException(cancelled) => {
                    decide_cancelled(cancelled.cancellation_reasons())
                }
                refusal if refusal.code() == Some(IN_PROGRESS) => Err(StoreError::Conflict),
                _ => Err(SdkError::ServiceError(error).into()),
            },
            Err(error) => Err(error.into()),
        }
    }
}
