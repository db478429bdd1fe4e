//! The stream of a table that has one, read as Lambda reads it for `event-relay`: the real way of the cloud, for tables
//! elsewhere. The embedded store has no stream; there the process itself tells what it writes.
//!
//! What is missed here, as in the cloud, the clock brings.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use aws_sdk_dynamodbstreams::Client;
use aws_sdk_dynamodbstreams::error::DisplayErrorContext;
use aws_sdk_dynamodbstreams::types::{AttributeValue, Record, ShardIteratorType};
use event_relay::{Batch, Keys, Text, Written};
use shared::platform::aws::{self, AwsSettings};
use shared::platform::telemetry::Log;
use shared::store::due::DueEntry;
use shared::store::keys::{PARTITION, SORT};
use tokio::sync::mpsc::UnboundedSender;

/// How often each shard is read, as Lambda does: AWS lets a shard be read five times a second.
const EVERY: Duration = Duration::from_millis(250);
/// How often new shards are looked for while none has ended.
const SHARDS_EVERY: u32 = 40;
/// How long it waits after an error.
const AFTER_ERROR: Duration = Duration::from_secs(1);

/// A stream, from its beginning: of a new table that is all, and otherwise too much, which does no harm.
#[derive(Debug)]
pub(crate) struct Stream {
    client: Client,
    arn: String,
    known: HashSet<String>,
    open: HashMap<String, String>,
}

impl Stream {
    /// The stream of a table.
    pub(crate) async fn open(settings: &AwsSettings, arn: String) -> Result<Self, String> {
        let client = Client::new(&aws::config(settings));
        let mut stream = Self { client, arn, known: HashSet::new(), open: HashMap::new() };
        stream.find_shards().await?;
        Ok(stream)
    }

    /// Reads until it is dropped, and tells what was written to become due.
    pub(crate) async fn read(mut self, told: UnboundedSender<DueEntry>, log: Log) {
        let mut rounds = 0;
        let mut schedule = tokio::time::interval(EVERY);
        schedule.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            schedule.tick().await;
            rounds += 1;
            if let Err(cause) = self.round(&told, rounds % SHARDS_EVERY == 0).await {
                log.line(&serde_json::json!({"operation": "read_stream", "faults": 1, "cause": cause}));
                tokio::time::sleep(AFTER_ERROR).await;
                // An iterator may have been lost: once more from the beginning.
                self.known.clear();
                self.open.clear();
            }
        }
    }

    async fn round(&mut self, told: &UnboundedSender<DueEntry>, is_time_for_shards: bool) -> Result<(), String> {
        let mut has_ended = self.open.is_empty();
        for (shard, iterator) in std::mem::take(&mut self.open) {
            let output = self.client.get_records().shard_iterator(iterator).send().await.map_err(in_words)?;
            let records = output.records.unwrap_or_default();
            let batch = Batch { records: records.iter().filter_map(as_lambda_tells).collect() };
            for entry in batch.due() {
                // Nobody listens any more when the stack ends.
                let _ = told.send(entry);
            }
            match output.next_shard_iterator {
                Some(next) => drop(self.open.insert(shard, next)),
                None => has_ended = true,
            }
        }
        if has_ended || is_time_for_shards {
            self.find_shards().await?;
        }
        Ok(())
    }

    /// Opens the shards that are new.
    async fn find_shards(&mut self) -> Result<(), String> {
        let mut start = None;
        loop {
            let describe = self.client.describe_stream().stream_arn(&self.arn).set_exclusive_start_shard_id(start);
            let stream = describe.send().await.map_err(in_words)?.stream_description;
            let Some(stream) = stream else { return Ok(()) };
            for shard in stream.shards().iter().filter_map(|shard| shard.shard_id()) {
                if self.known.contains(shard) {
                    continue;
                }
                let iterator = self.client.get_shard_iterator().stream_arn(&self.arn).shard_id(shard);
                let iterator =
                    iterator.shard_iterator_type(ShardIteratorType::TrimHorizon).send().await.map_err(in_words)?;
                self.known.insert(shard.to_owned());
                if let Some(iterator) = iterator.shard_iterator {
                    self.open.insert(shard.to_owned(), iterator);
                }
            }
            start = stream.last_evaluated_shard_id;
            if start.is_none() {
                return Ok(());
            }
        }
    }
}

/// A record as `event-relay` gets it on Lambda.
fn as_lambda_tells(record: &Record) -> Option<event_relay::Record> {
    let keys = record.dynamodb()?.keys()?;
    let text = |name| match keys.get(name) {
        Some(AttributeValue::S(text)) => Some(Text { text: text.clone() }),
        _ => None,
    };
    let keys = Keys { pk: text(PARTITION)?, sk: text(SORT)? };
    Some(event_relay::Record { event_name: record.event_name()?.as_str().to_owned(), dynamodb: Written { keys } })
}

fn in_words(error: impl std::error::Error) -> String {
    DisplayErrorContext(&error).to_string()
}
