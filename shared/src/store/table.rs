//! The calls of the SDK: strongly consistent, bounded in time, counted.

use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;
use std::sync::Arc;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::{
    AttributeValue, KeysAndAttributes, ReturnConsumedCapacity, ReturnValue, TransactWriteItem,
};
use futures_util::future::try_join_all;
use tokio::time::Instant;

use super::StoreError;
use super::change::{Change, Update, owned_names, owned_values};
use super::due::DueEntry;
use super::failure::{TransactionOutcome, is_throttled, outcome_of_canceled};
use super::item::{Item, VERSION, number};
use super::keys::{Key, PARTITION};
use super::list::{List, Snapshots, logged};
use super::usage::{Usage, UsageMeter};
use crate::domain::shards::{AuditShards, DueShards};
use crate::domain::time::Timestamp;
use crate::limits;
use crate::retry::{Backoff, Budget, Obstacle};

const NUMBER: &str = "n";

/// A handle of the table, with the usage of the calls through it.
#[derive(Debug, Clone)]
pub struct Store {
    pub(super) client: Client,
    pub(super) table: Arc<str>,
    pub(super) meter: UsageMeter,
    pub(super) snapshots: Snapshots,
    pub(super) due_shards: DueShards,
    pub(super) audit_shards: AuditShards,
    due_listener: Option<DueListener>,
}

#[derive(Clone)]
struct DueListener(Arc<dyn Fn(DueEntry) + Send + Sync>);

impl std::fmt::Debug for DueListener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("DueListener")
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PutIf {
    /// The key must be free.
    Absent,
    Present,
    /// The item must have this version.
    Version(u64),
    Any,
}

impl Store {
    /// The table with this name.
    #[must_use]
    pub fn new(client: Client, table: impl Into<String>) -> Self {
        let (meter, snapshots) = (UsageMeter::default(), Snapshots::default());
        let (due_shards, audit_shards) = (DueShards::FEWEST, AuditShards::FEWEST);
        Self { client, table: table.into().into(), meter, snapshots, due_shards, audit_shards, due_listener: None }
    }

    /// Spreads new events over so many shards of the due index and new audit rows of an organization over so many of its
    /// own, and reads as many.
    #[must_use]
    pub fn with_shards(self, due_shards: DueShards, audit_shards: AuditShards) -> Self {
        Self { due_shards, audit_shards, ..self }
    }

    /// Keeps so many bytes of lists' rows in memory.
    #[must_use]
    pub fn with_rows_memory(self, bytes: usize) -> Self {
        Self { snapshots: Snapshots::taking(bytes), ..self }
    }

    /// The shards that new audit rows of an organization spread over.
    pub(crate) fn audit_shards(&self) -> AuditShards {
        self.audit_shards
    }

    /// Adds a listener for due entries as they are written, instead of the table's stream. It may miss one, too.
    #[must_use]
    pub fn with_due_listener(self, listener: impl Fn(DueEntry) + Send + Sync + 'static) -> Self {
        Self { due_listener: Some(DueListener(Arc::new(listener))), ..self }
    }

    /// The same table with a meter of its own, for one call.
    #[must_use]
    pub fn metered(&self) -> Self {
        Self { meter: UsageMeter::default(), ..self.clone() }
    }

    /// The usage of this handle and its clones.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.meter.usage()
    }

    /// The table's name.
    #[must_use]
    pub fn table(&self) -> &str {
        &self.table
    }

    pub(super) async fn get(&self, key: Key) -> Result<Option<Item>, StoreError> {
        let meter = self.meter.count_call();
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
        self.meter.add_read(output.consumed_capacity());
        Ok(output.item)
    }

    /// Keeps the order of the keys and skips missing ones. A repeated key counts once: `DynamoDB` refuses duplicates.
    pub(super) async fn get_all(&self, keys: &[Key]) -> Result<Vec<Item>, StoreError> {
        let mut named = HashSet::with_capacity(keys.len());
        let keys: Vec<Key> = keys.iter().filter(|key| named.insert(*key)).cloned().collect();
        let mut items = Vec::with_capacity(keys.len());
        let until = Instant::now() + limits::AWS_CALL_TIMEOUT;
        // Several batches run together: reading a few takes one round trip.
        for some in keys.chunks(limits::BATCH_KEYS_MAX * limits::BATCHES_AT_ONCE) {
            if until <= Instant::now() {
                return Err(unserved());
            }
            let batches: Vec<_> =
                some.chunks(limits::BATCH_KEYS_MAX).map(|keys| self.get_all_of_batch(keys, until)).collect();
            items.extend(try_join_all(batches).await?.into_iter().flatten());
        }
        let mut found: HashMap<Key, Item> =
            items.into_iter().filter_map(|item| Some((Key::of(&item)?, item))).collect();
        Ok(keys.iter().filter_map(|key| found.remove(key)).collect())
    }

    /// Reads all items of one batch of keys, in as many calls as it takes.
    async fn get_all_of_batch(&self, keys: &[Key], until: Instant) -> Result<Vec<Item>, StoreError> {
        let mut found = Vec::with_capacity(keys.len());
        let mut pending: Vec<Item> = keys.iter().cloned().map(Key::into_item).collect();
        let mut backoff = Backoff::new(Budget::until(until));
        loop {
            let (items, unprocessed) = self.get_batch(pending).await?;
            found.extend(items);
            if unprocessed.is_empty() {
                return Ok(found);
            }
            pending = unprocessed;
            // A batch that stops at 16 MB or without capacity has processed some keys, so the pauses are short.
            tokio::time::sleep(backoff.next(Obstacle::Conflict).ok_or_else(unserved)?).await;
        }
    }

    async fn get_batch(&self, keys: Vec<Item>) -> Result<(Vec<Item>, Vec<Item>), StoreError> {
        let request = KeysAndAttributes::builder().set_keys(Some(keys)).consistent_read(true).build()?;
        let meter = self.meter.count_call();
        let output = self
            .client
            .batch_get_item()
            .request_items(&*self.table, request)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .customize()
            .interceptor(meter)
            .send()
            .await?;
        output.consumed_capacity().iter().for_each(|capacity| self.meter.add_read(Some(capacity)));
        let items = output.responses.unwrap_or_default().remove(&*self.table).unwrap_or_default();
        let unprocessed = output.unprocessed_keys.unwrap_or_default().remove(&*self.table);
        Ok((items, unprocessed.map(|keys| keys.keys).unwrap_or_default()))
    }

    /// Changes one item, outside of a transaction, and returns it. None if its condition did not hold.
    pub(super) async fn update(&self, update: Update) -> Result<Option<Item>, StoreError> {
        let Update { key, expression, condition, names, values } = update;
        let request = self
            .client
            .update_item()
            .table_name(&*self.table)
            .set_key(Some(key.into_item()))
            .update_expression(expression)
            .set_condition_expression(Some(condition.to_owned()).filter(|condition| !condition.is_empty()))
            .set_expression_attribute_names(Some(owned_names(names)))
            .set_expression_attribute_values(Some(owned_values(values)))
            .return_values(ReturnValue::AllNew)
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        let sent = until_released(|| {
            let attempt = request.clone().customize().interceptor(self.meter.count_call());
            async move {
                match attempt.send().await {
                    Ok(output) => Ok(Some(output)),
                    Err(SdkError::ServiceError(error)) if error.err().is_conditional_check_failed_exception() => {
                        Ok(None)
                    }
                    Err(error) => Err(error.into()),
                }
            }
        });
        let Some(output) = sent.await? else { return Ok(None) };
        self.meter.add_written(output.consumed_capacity.as_slice());
        Ok(output.attributes)
    }

    /// Deletes a derived item that was left behind, outside of a transaction.
    pub(super) async fn delete(&self, key: Key) -> Result<(), StoreError> {
        let request = self
            .client
            .delete_item()
            .table_name(&*self.table)
            .set_key(Some(key.into_item()))
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        let sent = until_released(|| {
            let attempt = request.clone().customize().interceptor(self.meter.count_call());
            async move { Ok(attempt.send().await?) }
        });
        self.meter.add_written(sent.await?.consumed_capacity.as_slice());
        Ok(())
    }

    /// Puts one item outside of a transaction. False if its condition did not hold.
    pub(super) async fn put(&self, item: Item, condition: PutIf) -> Result<bool, StoreError> {
        let mut request = self
            .client
            .put_item()
            .table_name(&*self.table)
            .set_item(Some(item))
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        let condition = match condition {
            PutIf::Absent => Some(("attribute_not_exists(#of)", PARTITION)),
            PutIf::Present => Some(("attribute_exists(#of)", PARTITION)),
            PutIf::Version(version) => {
                request = request.expression_attribute_values(":version", AttributeValue::N(version.to_string()));
                Some(("#of = :version", VERSION))
            }
            PutIf::Any => None,
        };
        if let Some((condition, of)) = condition {
            request = request.condition_expression(condition).expression_attribute_names("#of", of);
        }
        let sent = until_released(|| {
            let attempt = request.clone().customize().interceptor(self.meter.count_call());
            async move {
                match attempt.send().await {
                    Ok(output) => Ok(Some(output)),
                    Err(SdkError::ServiceError(error)) if error.err().is_conditional_check_failed_exception() => {
                        Ok(None)
                    }
                    Err(error) => Err(error.into()),
                }
            }
        });
        let Some(output) = sent.await? else { return Ok(false) };
        self.meter.add_written(output.consumed_capacity.as_slice());
        Ok(true)
    }

    pub(super) async fn next_number(&self, key: Key) -> Result<u64, StoreError> {
        let mut numbers = self.next_numbers(key, 1).await?;
        numbers.next().ok_or_else(|| StoreError::Failed("UpdateItem: no number came back".to_owned()))
    }

    /// Reserves numbers of a counter, beginning with 1.
    pub(super) async fn next_numbers(&self, key: Key, count: usize) -> Result<RangeInclusive<u64>, StoreError> {
        let counted = Update {
            key,
            expression: "ADD #n :count",
            condition: "",
            names: vec![("#n", NUMBER)],
            values: vec![(":count", AttributeValue::N(count.to_string()))],
        };
        let last: Option<u64> = self.update(counted).await?.and_then(|item| number(&item, NUMBER));
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        let first = last.and_then(|last| last.checked_sub(count)).map(|before| before + 1);
        let range = first.zip(last).map(|(first, last)| first..=last);
        range.ok_or_else(|| StoreError::Failed("UpdateItem: no number came back".to_owned()))
    }

    /// Makes all changes or none, and logs the rows that they write. The SDK's retries repeat the call's request token: a
    /// lost response has one effect.
    pub(super) async fn transact(&self, changes: Vec<Change>) -> Result<TransactionOutcome, StoreError> {
        let changes = logged(changes, Timestamp::now(), |list| self.snapshots.spread().has(list));
        let lists: Vec<Option<List>> = changes.iter().map(Change::list).collect();
        let items: Vec<TransactWriteItem> =
            changes.into_iter().map(|change| change.into_write(&self.table)).collect::<Result<_, _>>()?;
        let due = self.due_listener.as_ref().map(|listener| (listener, due_entries(&items)));
        let meter = self.meter.count_call();
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
                self.meter.add_written(output.consumed_capacity());
                if let Some((listener, due)) = due {
                    for entry in due {
                        (listener.0)(entry);
                    }
                }
                Ok(TransactionOutcome::Committed)
            }
            Err(SdkError::ServiceError(error)) => match error.err() {
                TransactWriteItemsError::TransactionCanceledException(canceled) => {
                    let reasons = canceled.cancellation_reasons();
                    let throttled = reasons.iter().zip(lists).filter(|(reason, _)| is_throttled(reason));
                    // None if anything else is throttled as well.
                    let throttled: Option<HashSet<List>> = throttled.map(|(_, list)| list).collect();
                    self.spread(throttled.unwrap_or_default()).await;
                    outcome_of_canceled(reasons)
                }
                _ => Err(SdkError::ServiceError(error).into()),
            },
            Err(error) => Err(error.into()),
        }
    }
}

/// The error of a read of many items that ran out of time.
fn unserved() -> StoreError {
    StoreError::Throttled("BatchGetItem: keys stay unprocessed".to_owned())
}

/// Retries a write of one item while a transaction holds it. When that ends, the write's own condition decides.
async fn until_released<T, F>(mut attempt: impl FnMut() -> F) -> Result<T, StoreError>
where
    F: Future<Output = Result<T, StoreError>>,
{
    let mut backoff = Backoff::new(Budget::until(Instant::now() + limits::HELD_ITEM_DEADLINE));
    loop {
        match attempt().await {
            Err(StoreError::Conflict) => {
                let pause = backoff.next(Obstacle::Conflict).ok_or(StoreError::Conflict)?;
                tokio::time::sleep(pause).await;
            }
            ended => return ended,
        }
    }
}

fn due_entries(items: &[TransactWriteItem]) -> Vec<DueEntry> {
    let puts = items.iter().filter_map(|item| item.put.as_ref());
    puts.filter_map(|put| DueEntry::of(Key::of(&put.item)?)).collect()
}
