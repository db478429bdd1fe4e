//! Reads the stream of a table elsewhere as Lambda does for `event-relay`; the embedded store has no stream.
//!
//! The clock finds entries missed here, as in the cloud.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use aws_sdk_dynamodbstreams::Client;
use aws_sdk_dynamodbstreams::error::DisplayErrorContext;
use aws_sdk_dynamodbstreams::types::{AttributeValue, Record, ShardIteratorType, StreamStatus};
use event_relay::{ItemKey, StreamEvent, StreamRecord, StringAttribute};
use shared::limits;
use shared::platform::aws::{self, AwsSettings};
use shared::store::due::DueEntry;
use shared::store::keys::{PARTITION, SORT};
use tokio::sync::mpsc::UnboundedSender;

/// How often each shard is read, as by Lambda. AWS allows five reads a second.
const POLL_INTERVAL: Duration = Duration::from_millis(250);
/// Polls between searches for new shards, while no shard has ended.
const POLLS_PER_SHARD_SEARCH: u32 = 40;
const ERROR_PAUSE: Duration = Duration::from_secs(1);

/// Reads a stream from its beginning. Entries of earlier runs come again, which does no harm.
#[derive(Debug)]
pub(crate) struct StreamReader {
    client: Client,
    arn: String,
    due_sender: UnboundedSender<DueEntry>,
    /// Ids of all shards ever opened.
    known_shards: HashSet<String>,
    /// Each open shard's next iterator.
    iterators: HashMap<String, String>,
}

impl StreamReader {
    pub(crate) async fn open(
        settings: &AwsSettings,
        arn: String,
        due_sender: UnboundedSender<DueEntry>,
    ) -> Result<Self, String> {
        let client = Client::new(&aws::config(settings));
        let (known_shards, iterators) = (HashSet::new(), HashMap::new());
        let mut reader = Self { client, arn, due_sender, known_shards, iterators };
        reader.wait_until_enabled().await?;
        reader.open_new_shards().await?;
        Ok(reader)
    }

    /// Sends due entries until the future is dropped.
    pub(crate) async fn run(mut self) {
        let mut polls = 0;
        let mut interval = tokio::time::interval(POLL_INTERVAL);
        interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            interval.tick().await;
            polls += 1;
            if let Err(cause) = self.poll(polls % POLLS_PER_SHARD_SEARCH == 0).await {
                tracing::error!(operation = "read_stream", faults = 1, cause);
                tokio::time::sleep(ERROR_PAUSE).await;
                // The failed poll may have lost an iterator: start again from the beginning.
                self.known_shards.clear();
                self.iterators.clear();
            }
        }
    }

    async fn poll(&mut self, search_shards: bool) -> Result<(), String> {
        let mut has_ended = self.iterators.is_empty();
        for (shard, iterator) in std::mem::take(&mut self.iterators) {
            let output = self.client.get_records().shard_iterator(iterator).send().await.map_err(describe)?;
            let records = output.records.unwrap_or_default();
            let event = StreamEvent { records: records.iter().filter_map(to_lambda_record).collect() };
            for entry in event.due_entries() {
                // A stopping stack has no receiver.
                let _ = self.due_sender.send(entry);
            }
            match output.next_shard_iterator {
                Some(next) => drop(self.iterators.insert(shard, next)),
                None => has_ended = true,
            }
        }
        if has_ended || search_shards {
            self.open_new_shards().await?;
        }
        Ok(())
    }

    /// Waits until a new stream can be read: in its first seconds AWS answers `ENABLING`, without shards.
    async fn wait_until_enabled(&self) -> Result<(), String> {
        let deadline = Instant::now() + limits::TABLE_CREATION_WAIT;
        loop {
            let stream = self.client.describe_stream().stream_arn(&self.arn).send().await.map_err(describe)?;
            let status = stream.stream_description.and_then(|stream| stream.stream_status);
            if status == Some(StreamStatus::Enabled) {
                return Ok(());
            }
            if Instant::now() >= deadline {
                return Err("the table's stream is not enabled in time".to_owned());
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    async fn open_new_shards(&mut self) -> Result<(), String> {
        let mut start = None;
        loop {
            let request = self.client.describe_stream().stream_arn(&self.arn).set_exclusive_start_shard_id(start);
            let stream = request.send().await.map_err(describe)?.stream_description;
            let Some(stream) = stream else { return Ok(()) };
            for shard in stream.shards().iter().filter_map(|shard| shard.shard_id()) {
                if self.known_shards.contains(shard) {
                    continue;
                }
                let request = self.client.get_shard_iterator().stream_arn(&self.arn).shard_id(shard);
                let output =
                    request.shard_iterator_type(ShardIteratorType::TrimHorizon).send().await.map_err(describe)?;
                self.known_shards.insert(shard.to_owned());
                if let Some(iterator) = output.shard_iterator {
                    self.iterators.insert(shard.to_owned(), iterator);
                }
            }
            start = stream.last_evaluated_shard_id;
            if start.is_none() {
                return Ok(());
            }
        }
    }
}

/// Converts a record to the form that Lambda passes to `event-relay`.
fn to_lambda_record(record: &Record) -> Option<event_relay::Record> {
    let keys = record.dynamodb()?.keys()?;
    let string = |name| match keys.get(name) {
        Some(AttributeValue::S(value)) => Some(StringAttribute { value: value.clone() }),
        _ => None,
    };
    let keys = ItemKey { pk: string(PARTITION)?, sk: string(SORT)? };
    Some(event_relay::Record { event_name: record.event_name()?.as_str().to_owned(), dynamodb: StreamRecord { keys } })
}

fn describe(error: impl std::error::Error) -> String {
    DisplayErrorContext(&error).to_string()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use axum::Router;
    use axum::extract::State;
    use http::HeaderMap;
    use serde_json::json;
    use tokio::net::TcpListener;

    use super::*;

    /// How many times a new stream is described as not yet enabled.
    const ENABLING: usize = 2;

    async fn answer(State(described): State<Arc<AtomicUsize>>, headers: HeaderMap) -> String {
        let target = headers["x-amz-target"].to_str().unwrap_or_default();
        let body = match target.rsplit('.').next() {
            Some("DescribeStream") if described.fetch_add(1, Ordering::Relaxed) < ENABLING => {
                json!({"StreamDescription": {"StreamArn": "arn", "StreamStatus": "ENABLING", "Shards": []}})
            }
            Some("DescribeStream") => {
                let shards = [json!({"ShardId": "shardId-00000001"})];
                json!({"StreamDescription": {"StreamArn": "arn", "StreamStatus": "ENABLED", "Shards": shards}})
            }
            _ => json!({"ShardIterator": "iterator"}),
        };
        body.to_string()
    }

    #[tokio::test]
    async fn a_new_stream_is_waited_for() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().fallback(answer).with_state(Arc::default());
        let server = tokio::spawn(async move { axum::serve(listener, router).await });
        let (sender, _receiver) = tokio::sync::mpsc::unbounded_channel();
        let reader = StreamReader::open(&AwsSettings::emulator(url), "arn".to_owned(), sender).await.unwrap();
        assert_eq!(reader.iterators.len(), 1, "{:?}", reader.known_shards);
        server.abort();
    }
}
