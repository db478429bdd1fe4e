//! An organization that writes more than its partitions of the table take waits alone.

use std::time::Duration;

use event_relay::relay_entries;
use shared::domain::ids::EventId;
use shared::limits;
use shared::store::deliveries::DeliveryKey;
use shared::store::due::DueEntry;
use shared::store::events::StoredEvent;
use shared::store::keys::{Due, Key};
use tests::clockwork::Clockwork;
use tests::faults::Injection;
use tests::subscriber::Subscriber;
use tests::{Fault, Faults, Needs, Org, Rule, Stack, outbox, rows};

/// More entries than are relayed side by side: what comes after them waits for a place.
const FLOOD: usize = 2 * limits::RELAY_CONCURRENCY + 10;

struct Pair {
    /// Whose deliveries the table throttles.
    throttled: Org,
    calm: Org,
    subscriber: Subscriber,
    /// What works on the table for both.
    clockwork: Clockwork,
    /// Counts the entries of the throttled one that are tried: each begins with a look at its endpoints.
    tried: Injection,
    // Dropped before the proxy, and that before its table.
    _stack: std::sync::Arc<Stack>,
    _faults: Faults,
}

impl Pair {
    async fn new() -> Self {
        let quiet = Stack::with(Needs::OWN.without_background());
        let (throttled, calm) = (Org::on(quiet.clone()).await, Org::on(quiet.clone()).await);
        throttled.subscriber().await;
        let subscriber = calm.subscriber().await;
        let faults = Faults::before(&quiet.table().endpoint);
        let stack = quiet.through(&faults);
        let writes = Rule::on("TransactWriteItems").containing(throttled.id).containing("#DELIVERIES#");
        faults.inject(writes, Fault::ThroughputExceeded);
        let looks = Rule::on("Query").containing(throttled.id).containing("#ENDPOINTS");
        let tried = faults.inject(looks, Fault::Delay(Duration::ZERO));
        let clockwork = Clockwork::on(&stack);
        Self { throttled, calm, subscriber, clockwork, tried, _stack: stack, _faults: faults }
    }

    /// The events of both, the calm one's last.
    async fn emit(&self) -> EventId {
        let flood: Vec<StoredEvent> = (0..FLOOD).map(|_| outbox::event()).collect();
        outbox::emit(&self.throttled, &flood).await;
        let last = outbox::event();
        outbox::emit(&self.calm, std::slice::from_ref(&last)).await;
        last.id
    }

    async fn entries(&self) -> Vec<DueEntry> {
        let mut entries = Vec::new();
        for org in [&self.throttled, &self.calm] {
            let found = rows::due_items(org.stack().table(), org.id, Due::Event).await;
            entries.extend(found.iter().filter_map(|item| DueEntry::of(Key::of(item)?)));
        }
        entries
    }

    async fn is_relayed(&self, event: EventId) -> bool {
        let key = DeliveryKey { org: self.calm.id, endpoint: self.subscriber.id, event };
        self.calm.store().delivery(key).await.expect("the table answers").is_some()
    }
}

#[tokio::test]
async fn a_batch_of_the_stream_leaves_the_rest_of_a_throttled_organization_to_the_clock() {
    let pair = Pair::new().await;
    let event = pair.emit().await;
    let entries = pair.entries().await;
    assert_eq!(entries.len(), FLOOD + 1);
    relay_entries(pair.clockwork.relay(), entries).await;
    assert!(pair.is_relayed(event).await, "the calm one's comes after all of the others");
    let tried = pair.tried.count();
    assert!((1..=limits::RELAY_CONCURRENCY).contains(&tried), "{tried} of {FLOOD} entries were tried");

    let event = pair.emit().await;
    relay_entries(pair.clockwork.relay(), pair.entries().await).await;
    assert!(pair.is_relayed(event).await);
    assert_eq!(pair.tried.count(), tried, "the next batch tries none");
    assert_eq!(rows::due_items(pair.throttled.stack().table(), pair.throttled.id, Due::Event).await.len(), 2 * FLOOD);
}

#[tokio::test]
async fn a_tick_of_the_clock_tries_a_throttled_organization_once_in_each_shard() {
    let pair = Pair::new().await;
    let event = pair.emit().await;
    let report = pair.clockwork.first_tick().await;
    assert!(pair.is_relayed(event).await, "the calm one's is the last one due");
    assert_eq!((report.relayed, u32::try_from(pair.tried.count()).ok()), (1, Some(report.failed)));
    assert!((1..=8).contains(&report.failed), "{report:?}");
}
