//! Goal R3: whatever fails or dies between an event's commit and its acknowledgement, it arrives, at most twice.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use shared::domain::delivery::{Claim, Delivery};
use shared::domain::ids::EventId;
use shared::domain::time::Timestamp;
use shared::store::deliveries::DeliveryKey;
use shared::webhook::queue::DeliveryMessage;
use tempfile::TempDir;
use tests::app::Browser;
use tests::clockwork::Clockwork;
use tests::process::{Process, Serve};
use tests::receiver::{Arrival, Reaction, Receiver};
use tests::subscriber::{DEVELOPERS, Subscriber, add};
use tests::{Fault, Faults, Needs, Org, Rule, Stack, eventually, outbox};
use uuid::Uuid;

use crate::STACK;

struct Broken {
    subscriber: Subscriber,
    org: Org,
    // Dropped before the proxy, and that before its table.
    _stack: Arc<Stack>,
    faults: Faults,
    quiet: Arc<Stack>,
}

impl Broken {
    async fn new(time_scale: u32) -> Self {
        let quiet = Stack::with(Needs::OWN.without_background());
        let faults = Faults::before(&quiet.table().endpoint);
        let stack = quiet.working_through(&faults, time_scale);
        let org = Org::on(stack.clone()).await;
        let subscriber = org.subscriber().await;
        Self { subscriber, org, _stack: stack, faults, quiet }
    }

    async fn delivery(&self, event: EventId) -> Option<Delivery> {
        let key = DeliveryKey { org: self.org.id, endpoint: self.subscriber.id, event };
        self.quiet
            .table()
            .store()
            .delivery(key)
            .await
            .expect("the table answers")
            .map(shared::store::Versioned::into_inner)
    }

    async fn delivered(&self, event: EventId, what: &str) {
        let is_delivered =
            async || self.delivery(event).await.filter(|found| found.state().as_str() == "delivered").map(|_| ());
        eventually(format!("delivered after {what}"), is_delivered).await;
    }

    fn arrivals_of(&self, event: EventId) -> usize {
        self.subscriber.receiver.arrivals().iter().filter(|arrival| arrival.event_id() == event).count()
    }
}

/// Applies every fault to a call of `target` with `needle`. Nothing is lost, and no attempt is recorded twice.
async fn survives_every_fault_of(target: &'static str, needle: &str) {
    survives_every_fault_after(&[], target, needle).await;
}

async fn survives_every_fault_after(failures: &[u16], target: &'static str, needle: &str) {
    let broken = Broken::new(60).await;
    // Others' writes never make a read fail.
    let is_read = matches!(target, "GetItem" | "Query" | "BatchGetItem");
    let can_be = |fault: &Fault| !(is_read && matches!(fault, Fault::Conflict | Fault::LateCommit));
    // A failed attempt is settled in a second transaction, after that which creates the delivery, and a due entry ends
    // for the event and for its delivery.
    let is_repeated = (target == "TransactWriteItems" && !failures.is_empty()) || target == "DeleteItem";
    let calls = if is_repeated { 2 } else { 1 };
    let faults = [Fault::Conflict, Fault::LateCommit, Fault::LostResponse, Fault::Throttling, Fault::ServerError];
    let mut wrong = Vec::new();
    for fault in faults.into_iter().filter(can_be) {
        for every in 1..=calls {
            let workspace = broken.next_workspace().await;
            let rule = Rule::on(target).containing(broken.org.id).containing(needle).every(every).times(1);
            let injected = broken.faults.inject(rule, fault);
            for status in failures {
                broken.subscriber.receiver.answer_once(Reaction::status(*status));
            }
            let event = broken.emit(workspace).await;
            let what = format!("{fault:?} of {target} {needle} {every}");
            // A delivery claimed by a call whose response was lost waits for the claim's end.
            broken.delivered(event, &what).await;
            // A second write comes a moment later.
            tokio::time::sleep(Duration::from_millis(150)).await;
            let found = broken.delivery(event).await.expect("a delivery");
            let arrivals = broken.arrivals_of(event);
            if !(1..=2).contains(&arrivals) || found.attempted as usize > arrivals {
                wrong.push(format!("{what}: {arrivals} arrivals, {} recorded", found.attempted));
            }
            injected.wait_for_hits(1).await;
            injected.end();
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[tokio::test]
async fn a_read_of_the_event_may_fail() {
    survives_every_fault_of("GetItem", "EVENT#").await;
}

#[tokio::test]
async fn the_list_of_endpoints_may_fail() {
    survives_every_fault_of("Query", "#ENDPOINTS").await;
}

#[tokio::test]
async fn the_transactions_of_a_delivery_may_fail() {
    survives_every_fault_of("TransactWriteItems", "#DELIVERIES#").await;
}

#[tokio::test]
async fn the_success_of_a_delivery_may_not_be_written() {
    survives_every_fault_of("PutItem", "#DELIVERIES#").await;
}

#[tokio::test]
async fn the_end_of_a_due_entry_may_fail() {
    survives_every_fault_of("DeleteItem", "DUE#").await;
}

#[tokio::test]
async fn the_claim_of_a_delivery_may_fail() {
    survives_every_fault_of("UpdateItem", "#DELIVERIES#").await;
}

#[tokio::test]
async fn a_read_of_the_endpoint_may_fail() {
    survives_every_fault_of("BatchGetItem", "#ENDPOINTS").await;
}

#[tokio::test]
async fn the_health_of_an_endpoint_may_not_be_written() {
    // It is written on change: a success after a success is no news.
    survives_every_fault_after(&[500], "UpdateItem", "#HEALTH").await;
}

impl Broken {
    async fn next_workspace(&self) -> Value {
        self.org.workspace("Quay").await
    }

    async fn emit(&self, workspace: Value) -> EventId {
        let path = format!("/app/workspaces/{}", workspace["id"].as_str().expect("an id"));
        let token = self.subscriber.admin.get(&path).await.hidden("form_token");
        assert_eq!(self.subscriber.admin.post(&path, &[("form_token", &token)]).await.status, 303);
        let events = tests::rows::events(self.quiet.table(), self.org.id).await;
        let told = events.iter().find(|event| event["data"]["workspace_id"] == workspace["id"]).expect("an event");
        told["id"].as_str().expect("an id").parse().expect("a uuid")
    }
}

/// A claim that ends soon: a real one would take half a minute.
async fn claimed_for_a_moment(org: &Org, wake: DeliveryMessage) {
    let store = org.stack().table().store();
    let before = store.delivery(wake.delivery).await.expect("the table answers").expect("a delivery");
    let until = Timestamp::from_unix_ms(Timestamp::now().unix_ms() + 300).expect("a moment");
    let after = before.claimed(Claim { id: Uuid::now_v7(), until });
    assert!(store.settle_delivery(org.id, &before, &after).await.expect("the table takes it"));
}

/// Leaves the table at each point where everything may stop; then a stack starts on it.
#[tokio::test]
async fn wherever_everything_stops_it_goes_on_after_the_next_start() {
    let org = Org::with(Needs::OWN.without_background()).await;
    let subscriber = org.subscriber().await;
    let clockwork = Clockwork::of(&org);
    let sender = clockwork.sender(&org);
    let next = async || {
        let event = outbox::event();
        outbox::emit(&org, std::slice::from_ref(&event)).await;
        event
    };
    let relayed = async |event: EventId| {
        clockwork.first_tick().await;
        clockwork.first_tick().await;
        let wakes = clockwork.queue.wakes();
        *wakes.iter().rfind(|wake| wake.delivery.event == event).expect("a message")
    };

    // The relay died between the deliveries and the end of the event's entry.
    let half_relayed = next().await;
    outbox::deliver(&org, subscriber.id, &half_relayed, |_| {}).await;
    assert_eq!(org.due().await.len(), 2);
    let unwoken = next().await;
    relayed(unwoken.id).await;
    let claimed = next().await;
    let wake = relayed(claimed.id).await;
    claimed_for_a_moment(&org, wake).await;
    let sent = next().await;
    let wake = relayed(sent.id).await;
    let (reaction, hold) = Reaction::held(200);
    subscriber.receiver.answer_once(reaction);
    {
        let sending = sender.handle(wake);
        let arrival = subscriber.receiver.wait_for(1);
        tokio::select! {
            ended = sending => panic!("it does not answer yet: {ended:?}"),
            arrived = arrival => assert_eq!(arrived[0].event_id(), sent.id),
        }
    }
    drop(hold);
    claimed_for_a_moment(&org, wake).await;
    let settled = next().await;
    let wake = relayed(settled.id).await;
    assert!(sender.handle(wake).await.is_ok());
    assert!(sender.handle(wake).await.is_ok());
    let committed = next().await;

    let _working = org.stack().scaled(60);
    let mut expected: BTreeMap<EventId, usize> = BTreeMap::new();
    for (event, times) in [(half_relayed, 1), (unwoken, 1), (claimed, 1), (sent, 2), (settled, 1), (committed, 1)] {
        let delivered = subscriber.wait_for(&org, event.id, "delivered").await;
        // An attempt whose process died before recording it isn't on record.
        assert_eq!(delivered.attempted, 1);
        expected.insert(event.id, times);
    }
    let mut arrived: BTreeMap<EventId, usize> = BTreeMap::new();
    for id in subscriber.receiver.arrivals().iter().map(Arrival::event_id) {
        *arrived.entry(id).or_default() += 1;
    }
    assert_eq!(arrived, expected);
    assert_eq!(org.due().await, Vec::<String>::new());
}

async fn activations(process: &Process, admin: &Browser, told: &mut Vec<String>, count: usize) {
    for _ in 0..count {
        let workspace = process.client().post("/api/v1/workspaces", &json!({"name": "Quay"})).send().await.id(201);
        let path = format!("/app/workspaces/{workspace}");
        let token = admin.get(&path).await.hidden("form_token");
        assert_eq!(admin.post(&path, &[("form_token", &token)]).await.status, 303);
        told.push(workspace);
    }
}

#[tokio::test]
async fn what_happened_before_a_kill_arrives_after_it() {
    const ROUNDS: usize = 3;
    const A_ROUND: usize = 12;
    let dir = TempDir::new().expect("a directory");
    let serve = Serve::over(STACK, dir.path().join("data")).time_scale(60);
    let receiver = Receiver::new().await;
    receiver.answer(Reaction::late(200, Duration::from_millis(150)));
    let mut told = Vec::new();
    for round in 0..=ROUNDS {
        let process = serve.start().await;
        let person = &process.ready["organizations"][0]["members"][0];
        let admin = Browser::new(process.base_url());
        let text = |name: &str| person[name].as_str().expect("a text").to_owned();
        assert_eq!(admin.sign_in(&text("email"), &text("password"), "/app").await.status, 303);
        if round == 0 {
            assert_eq!(add(&admin, &receiver.url(), &[]).await.status, 303);
        }
        if round < ROUNDS {
            activations(&process, &admin, &mut told, A_ROUND).await;
            process.kill().await;
            continue;
        }
        let by_workspace = || {
            let mut times: BTreeMap<String, BTreeMap<EventId, usize>> = BTreeMap::new();
            for arrival in receiver.arrivals() {
                let workspace = arrival.json()["data"]["workspace_id"].as_str().expect("an id").to_owned();
                *times.entry(workspace).or_default().entry(arrival.event_id()).or_default() += 1;
            }
            times
        };
        // Dead processes' claims end after half a minute.
        eventually("all arrive", async || (told.len() <= by_workspace().len()).then_some(())).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        let times = by_workspace();
        for workspace in &told {
            let events = times.get(workspace).unwrap_or_else(|| panic!("{workspace} was lost"));
            assert_eq!(events.len(), 1, "one event each");
            assert!(events.values().all(|times| *times <= 2), "{events:?}");
        }
        let twice = times.values().flat_map(BTreeMap::values).filter(|times| **times > 1).count();
        assert!(twice <= ROUNDS * 16, "only what was under way comes twice: {twice}");
        assert_eq!(times.len(), told.len());
    }
}

#[tokio::test]
async fn a_delivery_without_its_event_is_quarantined_and_replayed_once_it_is_mended() {
    let org = Org::with(Needs::OWN.time_scale(600)).await;
    let subscriber = org.subscriber().await;
    subscriber.press("pause", &[]).await;
    let events: Vec<_> = (0..5).map(|_| outbox::event()).collect();
    outbox::emit(&org, &events).await;
    for event in &events {
        subscriber.wait_for(&org, event.id, "held").await;
    }
    let broken = &events[2];
    outbox::delete_event(&org, broken).await;
    subscriber.press("resume", &[]).await;
    for event in events.iter().filter(|event| event.id != broken.id) {
        subscriber.wait_for(&org, event.id, "delivered").await;
    }
    shows_quarantined(&subscriber, 1).await;
    assert_eq!(org.due().await, Vec::<String>::new(), "it is due no more");
    assert_eq!(subscriber.receiver.arrivals().len(), 4);

    outbox::insert_relayed(&org, std::slice::from_ref(broken)).await;
    let page = subscriber.admin.get(&subscriber.delivery_path(broken.id)).await;
    assert!(page.says(">Replay<"), "{}", page.body);
    assert!(subscriber.admin.get(&subscriber.path()).await.says(&subscriber.delivery_path(broken.id)));
    assert_eq!(subscriber.replay(broken.id).await.status, 303);
    subscriber.wait_for(&org, broken.id, "delivered").await;
    assert!(!subscriber.admin.get(&subscriber.path()).await.says("could not be processed"));
}

async fn shows_quarantined(subscriber: &Subscriber, count: usize) {
    let word = if count == 1 { "delivery" } else { "deliveries" };
    let text = format!("{count} {word} could not be processed");
    eventually(&text, async || subscriber.admin.get(&subscriber.path()).await.says(&text).then_some(())).await;
}

#[tokio::test]
async fn deliveries_whose_secret_does_not_open_are_quarantined_and_replayed_together() {
    let org = Org::with(Needs::OWN.time_scale(600)).await;
    let subscriber = org.subscriber().await;
    let other = org.subscriber().await;
    set_key(&org, &subscriber, "gone").await;
    let events = [outbox::event(), outbox::event()];
    outbox::emit(&org, &events).await;
    other.receiver.wait_for(2).await;
    shows_quarantined(&subscriber, 2).await;
    assert!(subscriber.receiver.arrivals().is_empty());
    assert_eq!(subscriber.admin.get(DEVELOPERS).await.status, 200);

    subscriber.rotate("replace").await;
    let page = subscriber.admin.get(&subscriber.path()).await;
    assert!(page.says("2 events since") && page.says("Replay all undelivered since"), "{}", page.body);
    assert_eq!(subscriber.press("replay", &[("since", "2026-01-01T00:00")]).await.status, 303);
    for event in &events {
        subscriber.wait_for(&org, event.id, "delivered").await;
    }
    let page = eventually("the replay ends", async || {
        Some(subscriber.admin.get(&subscriber.path()).await).filter(|page| !page.says("A replay is under way"))
    })
    .await;
    assert!(!page.says("could not be processed") && !page.says("2 events since"), "{}", page.body);
    assert_eq!(other.receiver.arrivals().len(), 2);
    assert_eq!(subscriber.receiver.arrivals().len(), 2);
}

async fn set_key(org: &Org, subscriber: &Subscriber, key: &str) {
    use aws_sdk_dynamodb::types::AttributeValue;
    let table = org.stack().table();
    let update = table.client().update_item().table_name(&table.name);
    let update = update
        .set_key(Some(shared::store::keys::endpoint(org.id, subscriber.id).into_item()))
        .update_expression("SET #secret.#key = :key")
        .condition_expression("attribute_exists(pk)")
        .expression_attribute_names("#secret", "secret")
        .expression_attribute_names("#key", "key")
        .expression_attribute_values(":key", AttributeValue::S(key.to_owned()));
    update.send().await.expect("the endpoint is there");
}
