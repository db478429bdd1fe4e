//! Passes on what the table's stream tells of: what was written to become due. The work is `shared::webhook::relay`'s;
//! here is how the stream tells it.

use std::time::Instant;

use futures_util::future::join_all;
use serde::{Deserialize, Serialize};
use shared::domain::ids::OrgId;
use shared::error::Error;
use shared::limits;
use shared::platform::telemetry::{Log, Metric, metrics};
use shared::store::due::DueEntry;
use shared::store::keys::{Due, Key};
use shared::webhook::relay::{Relay, RelayOutcome};

/// A batch of the stream, as far as it matters: the keys of what was written. The stream has nothing else.
#[derive(Debug, Deserialize)]
pub struct Batch {
    /// The records.
    #[serde(rename = "Records", default)]
    pub records: Vec<Record>,
}

/// A write.
#[derive(Debug, Deserialize)]
pub struct Record {
    /// `INSERT`, `MODIFY` or `REMOVE`.
    #[serde(rename = "eventName")]
    pub event_name: String,
    /// Of what.
    pub dynamodb: Written,
}

/// What was written.
#[derive(Debug, Deserialize)]
pub struct Written {
    /// Where.
    #[serde(rename = "Keys")]
    pub keys: Keys,
}

/// The key of an item.
#[derive(Debug, Deserialize)]
pub struct Keys {
    /// Its partition.
    pub pk: Text,
    /// Its place there.
    pub sk: Text,
}

/// A text, as the table has it.
#[derive(Debug, Deserialize)]
pub struct Text {
    /// The text.
    #[serde(rename = "S")]
    pub text: String,
}

impl Batch {
    /// What was written to become due.
    #[must_use]
    pub fn due(&self) -> Vec<DueEntry> {
        let written = self.records.iter().filter(|record| record.event_name != "REMOVE");
        written
            .filter_map(|Record { dynamodb: Written { keys }, .. }| {
                DueEntry::of(Key::from_parts(&keys.pk.text, &keys.sk.text))
            })
            .collect()
    }
}

/// How many entries are passed on at a time.
const AT_A_TIME: usize = 32;

/// Passes entries on. One that fails is told to the log and left to the clock: it must not hold up the stream.
pub async fn pass_on(relay: &Relay, log: &Log, entries: Vec<DueEntry>) {
    let until = Instant::now() + limits::SWEEP_DEADLINE;
    // Messages go in batches; everything else is done one by one, side by side.
    let (deliveries, others): (Vec<_>, Vec<_>) = entries.into_iter().partition(|entry| entry.what == Due::Delivery);
    let wake = async {
        if !deliveries.is_empty() {
            log_outcome(log, deliveries.first(), &relay.enqueue(&deliveries).await);
        }
    };
    let pass = async {
        for some in others.chunks(AT_A_TIME) {
            join_all(some.iter().map(|entry| pass_one(relay, log, entry, until))).await;
        }
    };
    futures_util::join!(wake, pass);
}

async fn pass_one(relay: &Relay, log: &Log, entry: &DueEntry, until: Instant) {
    log_outcome(log, Some(entry), &relay.process(entry.clone(), until).await);
}

fn log_outcome(log: &Log, entry: Option<&DueEntry>, passed: &Result<RelayOutcome, Error>) {
    if let (Err(error), Some(entry)) = (passed, entry) {
        log.line(&FailureLine {
            metrics: metrics(&[Metric::count("faults")]),
            operation: "relay",
            organization_id: entry.org,
            what: entry.what.as_str(),
            id: entry.id,
            faults: 1,
            cause: error.cause().unwrap_or_default(),
        });
    }
}

/// What could not be passed on, as the log tells it.
#[derive(Debug, Serialize)]
struct FailureLine {
    #[serde(rename = "_aws")]
    metrics: serde_json::Value,
    operation: &'static str,
    organization_id: OrgId,
    what: &'static str,
    id: uuid::Uuid,
    faults: u8,
    cause: String,
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use shared::domain::ids::{EndpointId, EventId};
    use shared::domain::time::Timestamp;

    use super::*;

    #[test]
    fn of_what_is_written_only_what_becomes_due_matters() {
        let (org, endpoint, event) = (OrgId::new(), EndpointId::new(), EventId::new());
        let at = Timestamp::now().unix_ms();
        let record = |name: &str, pk: &str, sk: &str| {
            json!({"eventID": "1", "eventName": name, "eventSource": "aws:dynamodb",
                "dynamodb": {"Keys": {"pk": {"S": pk}, "sk": {"S": sk}}, "StreamViewType": "KEYS_ONLY"}})
        };
        let batch: Batch = serde_json::from_value(json!({"Records": [
            record("INSERT", "DUE#3", &format!("EVENT#{at:015}#{org}#{event}")),
            record("MODIFY", "DUE#4", &format!("DELIVERY#{at:015}#{org}#{event}#{endpoint}")),
            record("REMOVE", "DUE#3", &format!("EVENT#{at:015}#{org}#{event}")),
            record("INSERT", &format!("ORG#{org}#EVENT#{event}"), "."),
            record("INSERT", "DUE#1", "nonsense"),
        ]}))
        .unwrap();
        let due: Vec<_> = batch.due().into_iter().map(|entry| (entry.what, entry.org, entry.endpoint)).collect();
        assert_eq!(due, [(Due::Event, org, None), (Due::Delivery, org, Some(endpoint))]);
    }
}
