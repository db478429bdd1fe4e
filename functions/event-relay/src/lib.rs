//! Reads the table's stream and relays the written due entries through `shared::webhook::relay`.

use futures_util::future::join_all;
use serde::Deserialize;
use shared::error::Error;
use shared::limits;
use shared::store::due::DueEntry;
use shared::store::keys::{Due, Key};
use shared::webhook::relay::Relay;
use tokio::time::Instant;

/// A batch of stream records with only the keys of the written items (view type `KEYS_ONLY`).
#[derive(Debug, Deserialize)]
pub struct StreamEvent {
    /// The records.
    #[serde(rename = "Records", default)]
    pub records: Vec<Record>,
}

/// A record of the stream: one write.
#[derive(Debug, Deserialize)]
pub struct Record {
    /// `INSERT`, `MODIFY` or `REMOVE`.
    #[serde(rename = "eventName")]
    pub event_name: String,
    /// The written item.
    pub dynamodb: StreamRecord,
}

/// The written item of a record.
#[derive(Debug, Deserialize)]
pub struct StreamRecord {
    /// The item's key.
    #[serde(rename = "Keys")]
    pub keys: ItemKey,
}

/// The key of an item.
#[derive(Debug, Deserialize)]
pub struct ItemKey {
    /// The partition key.
    pub pk: StringAttribute,
    /// The sort key.
    pub sk: StringAttribute,
}

/// A DynamoDB attribute of type `S`.
#[derive(Debug, Deserialize)]
pub struct StringAttribute {
    /// The string.
    #[serde(rename = "S")]
    pub value: String,
}

impl StreamEvent {
    /// The inserted entries of the due index. Only the clock modifies one, when it has sent its message.
    #[must_use]
    pub fn due_entries(&self) -> Vec<DueEntry> {
        let inserted = self.records.iter().filter(|record| record.event_name == "INSERT");
        inserted
            .filter_map(|record| {
                let ItemKey { pk, sk } = &record.dynamodb.keys;
                DueEntry::of(Key::from_parts(&pk.value, &sk.value))
            })
            .collect()
    }
}

/// Relays entries. What fails, finds no time or is of an organization that the table just throttled is left to the clock,
/// so that it doesn't block the shard. Failures are logged.
pub async fn relay_entries(relay: &Relay, entries: Vec<DueEntry>) {
    let started = Instant::now();
    let deadline = started + limits::SWEEP_DEADLINE;
    let (deliveries, others): (Vec<_>, Vec<_>) = entries.into_iter().partition(|entry| entry.what == Due::Delivery);
    let (endpoints, others): (Vec<_>, Vec<_>) = others.into_iter().partition(|entry| entry.what == Due::Endpoint);
    // Messages of deliveries are sent in batches; other entries are relayed one by one.
    let enqueue = async {
        if let Some(first) = deliveries.first()
            && let Err(error) = relay.enqueue(&deliveries).await
        {
            log_failure(first, &error.into());
        }
    };
    let relay_others = async {
        for chunk in others.chunks(limits::RELAY_CONCURRENCY) {
            if deadline <= Instant::now() {
                break;
            }
            join_all(chunk.iter().map(|entry| relay_entry(relay, entry, deadline))).await;
        }
    };
    // The batch waits for all, so changed endpoints have a short time together.
    let follow_up = async {
        for chunk in endpoints.chunks(limits::FOLLOW_UP_ENDPOINTS) {
            let until = started + limits::FOLLOW_UP_IN_BATCH;
            join_all(chunk.iter().map(|entry| relay_entry(relay, entry, until))).await;
        }
    };
    futures_util::join!(enqueue, relay_others, follow_up);
}

async fn relay_entry(relay: &Relay, entry: &DueEntry, deadline: Instant) {
    let work = Box::pin(relay.process(entry.clone(), deadline));
    if let Some(Err(error)) = relay.throttled_orgs().unless_throttled(entry.org, work).await {
        log_failure(entry, &error);
    }
}

fn log_failure(entry: &DueEntry, error: &Error) {
    tracing::error!(
        operation = "relay",
        organization_id = %entry.org,
        what = entry.what.as_str(),
        id = %entry.id,
        faults = 1,
        cause = error.cause().unwrap_or_default(),
    );
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use shared::domain::ids::{EndpointId, EventId, OrgId};
    use shared::domain::time::Timestamp;

    use super::*;

    #[test]
    fn only_inserted_entries_of_the_due_index_are_relayed() {
        let (org, endpoint, event_id) = (OrgId::new(), EndpointId::new(), EventId::new());
        let at = Timestamp::now().unix_ms();
        let record = |name: &str, pk: &str, sk: &str| {
            json!({"eventID": "1", "eventName": name, "eventSource": "aws:dynamodb",
                "dynamodb": {"Keys": {"pk": {"S": pk}, "sk": {"S": sk}}, "StreamViewType": "KEYS_ONLY"}})
        };
        let event: StreamEvent = serde_json::from_value(json!({"Records": [
            record("INSERT", "DUE#3", &format!("EVENT#{at:015}#{org}#{event_id}")),
            record("INSERT", "DUE#4", &format!("DELIVERY#{at:015}#{org}#{event_id}#{endpoint}")),
            record("MODIFY", "DUE#4", &format!("DELIVERY#{at:015}#{org}#{event_id}#{endpoint}")),
            record("REMOVE", "DUE#3", &format!("EVENT#{at:015}#{org}#{event_id}")),
            record("INSERT", &format!("ORG#{org}#EVENT#{event_id}"), "."),
            record("INSERT", "DUE#1", "nonsense"),
        ]}))
        .unwrap();
        let due: Vec<_> =
            event.due_entries().into_iter().map(|entry| (entry.what, entry.org, entry.endpoint)).collect();
        assert_eq!(due, [(Due::Event, org, None), (Due::Delivery, org, Some(endpoint))]);
    }
}
