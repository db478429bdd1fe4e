//! What an event and each of its deliveries cost in capacity units and round trips: golden in
//! `tests/golden/deliveries.json`, with arithmetic, as operations are in `capacity.json`.

use serde_json::{Map, Value, json};
use shared::store::due::DueEntry;
use shared::store::events::StoredEvent;
use shared::store::keys::{Due, Key};
use shared::webhook::queue::DeliveryMessage;
use shared::webhook::relay::RelayOutcome;
use tests::clockwork::Clockwork;
use tests::receiver::Reaction;
use tests::subscriber::Subscriber;
use tests::{Needs, Org, outbox, rows};
use webhook_sender::Sender;

use crate::store::capacity::{FIGURES, compare};

struct Meter<'a> {
    org: &'a Org,
    clockwork: Clockwork,
    sender: Sender<shared::store::Store>,
    figures: Map<String, Value>,
}

impl Meter<'_> {
    async fn measure<T>(&mut self, case: &str, act: impl AsyncFnOnce(&Self) -> T) -> T {
        let store = self.clockwork.app().store.clone();
        let before = store.usage();
        let done = act(self).await;
        let after = store.usage();
        let figures = json!({
            "read_units": after.read_units - before.read_units,
            "write_units": after.write_units - before.write_units,
            "round_trips": after.round_trips - before.round_trips,
        });
        assert!(self.figures.insert(case.to_owned(), figures).is_none(), "{case} twice");
        done
    }

    async fn due(&self, what: Due) -> Vec<DueEntry> {
        let items = rows::due_items(self.org.stack().table(), self.org.id, what).await;
        items.iter().filter_map(|item| DueEntry::of(Key::of(item)?)).collect()
    }

    async fn happens(&self) -> StoredEvent {
        let event = outbox::event();
        outbox::emit(self.org, std::slice::from_ref(&event)).await;
        event
    }

    async fn relay(&self, what: Due) {
        for entry in self.due(what).await {
            let until = tokio::time::Instant::now() + shared::limits::SWEEP_DEADLINE;
            assert_eq!(self.clockwork.relay().process(entry, until).await.expect("it is done"), RelayOutcome::Done);
        }
    }

    async fn relayed(&mut self, case: &str) {
        self.happens().await;
        self.measure(case, async |meter| meter.relay(Due::Event).await).await;
    }

    async fn attempt(&mut self, case: &str) {
        let due = self.due(Due::Delivery).await;
        let [entry] = &due[..] else { panic!("{case}: one is due: {due:?}") };
        let wake = DeliveryMessage::of(entry).expect("a delivery");
        self.measure(case, async |meter| meter.sender.handle(wake).await.expect("it is handled")).await;
    }

    /// A success, after which the next one in 5 s leaves the endpoint's health alone.
    async fn succeed(&self) {
        let event = self.on_its_way().await;
        for entry in self.due(Due::Delivery).await.iter().filter(|entry| entry.id == event.id.uuid()) {
            self.sender.handle(DeliveryMessage::of(entry).expect("a delivery")).await.expect("it is handled");
        }
    }

    /// An event on its way to one endpoint.
    async fn on_its_way(&self) -> StoredEvent {
        let event = self.happens().await;
        self.relay(Due::Event).await;
        event
    }
}

async fn quarantine_many(meter: &Meter<'_>, subscriber: &Subscriber) {
    const COUNT: usize = 60;
    let store = meter.org.store();
    for _ in 0..COUNT {
        let event = outbox::event();
        let delivery = outbox::deliver(meter.org, subscriber.id, &event, |_| ()).await;
        let key =
            shared::store::deliveries::DeliveryKey { org: meter.org.id, endpoint: subscriber.id, event: event.id };
        let due_at = delivery.due_at().expect("it is due");
        store.quarantine_delivery(key, due_at, due_at).await.expect("the table takes it");
    }
}

#[tokio::test]
async fn an_event_and_its_deliveries_cost_what_they_should() {
    let org = Org::with(Needs::OWN.without_background()).await;
    let clockwork = Clockwork::of(&org);
    let sender = clockwork.sender(&org);
    let mut meter = Meter { org: &org, sender, clockwork, figures: Map::new() };
    meter.measure("tick: nothing is due", async |meter| meter.clockwork.tick().await).await;
    meter.relayed("relay: no endpoint").await;
    let subscriber = org.subscriber().await;

    meter.relayed("relay: one endpoint").await;
    meter.measure("tick: sends a message again", async |meter| meter.clockwork.tick().await).await;
    meter.measure("tick: the message is on its way", async |meter| meter.clockwork.tick().await).await;
    meter.attempt("attempt: the first success in 5 s").await;
    meter.succeed().await;
    meter.on_its_way().await;
    meter.attempt("attempt: a success").await;
    let event = meter.on_its_way().await;
    subscriber.receiver.answer(Reaction::status(503));
    meter.attempt("attempt: a failure").await;

    let since: String = event.created_at.plus_seconds(-60).to_string().chars().take(19).collect();
    assert_eq!(subscriber.press("replay", &[("since", &since)]).await.status, 303);
    meter.measure("replay all: one delivery", async |meter| meter.relay(Due::Endpoint).await).await;
    subscriber.receiver.answer(Reaction::status(200));
    meter.attempt("attempt: a success of a replay").await;

    meter.on_its_way().await;
    assert_eq!(subscriber.press("pause", &[]).await.status, 303);
    meter.attempt("attempt: held").await;
    assert_eq!(subscriber.press("resume", &[]).await.status, 303);
    meter.measure("resume: one delivery", async |meter| meter.relay(Due::Endpoint).await).await;
    meter.succeed().await;
    meter.attempt("attempt: a success after a resume").await;
    assert_eq!(subscriber.press("pause", &[]).await.status, 303);
    assert_eq!(subscriber.press("resume", &[]).await.status, 303);
    meter.measure("resume: nothing is held", async |meter| meter.relay(Due::Endpoint).await).await;

    quarantine_many(&meter, &subscriber).await;
    meter.relayed("relay: one endpoint, of which 60 deliveries are quarantined").await;
    let (_second, _third) = (org.subscriber().await, org.subscriber().await);
    meter.relayed("relay: three endpoints").await;
    compare("deliveries.json", &meter.figures, &FIGURES);
}
