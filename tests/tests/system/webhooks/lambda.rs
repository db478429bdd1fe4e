//! Functions without an HTTP entrance, as Lambda runs them: from stream, queues and schedule, with stand-ins for AWS.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};
use shared::crypto::keyring::Keyring;
use shared::domain::delivery::{Claim, Delivery, DeliveryState, FailureClass, Outcome};
use shared::domain::ids::{EndpointId, EventId};
use shared::domain::shards::DueShards;
use shared::domain::time::Timestamp;
use shared::limits;
use shared::store::Item;
use shared::store::deliveries::DeliveryKey;
use shared::store::keys::{self, Due, Key};
use shared::webhook::queue::DeliveryMessage;
use tests::app::Browser;
use tests::aws_services::{AwsServices, KEYRING, Sent};
use tests::clockwork::Clockwork;
use tests::receiver::Receiver;
use tests::runtime_api::{self, Function, recorded};
use tests::subscriber::Subscriber;
use tests::{Needs, Org, Stack, drafts, rows};

pub const RECORDED: [&str; 3] = ["schedule", "sqs-deliveries", "stream-batch"];

const BASE_URL: &str = "https://api.countersign.example";

pub(crate) struct Cloud {
    pub(crate) org: Org,
    services: AwsServices,
}

impl Cloud {
    pub(crate) async fn new() -> Self {
        Self::on(Stack::with(Needs::OWN.without_background().on_configured_store())).await
    }

    async fn on(stack: Arc<Stack>) -> Self {
        let org = Org::on(stack).await;
        let services = AwsServices::new().await;
        services.put_secret(KEYRING, org.stack().keyring().reveal());
        Self { org, services }
    }

    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        let mut environment = runtime_api::environment(self.org.stack().table(), BASE_URL);
        environment.extend(self.services.environment());
        environment
    }

    async fn start(&self, function: &str) -> Function {
        start(function, &self.environment()).await
    }

    /// A local endpoint, which the local stack's app allows.
    pub(crate) async fn subscriber(&self, types: &[&str]) -> Subscriber {
        self.org.subscriber_of(types).await
    }

    pub(crate) async fn happens(&self) -> EventId {
        let draft = drafts::written(&self.org, "Seed round").await;
        self.org.post("/api/v1/proposals", &draft.publication()).send().await.ok(201);
        let events = self.org.events().await;
        events.last().expect("an event")["id"].as_str().expect("an id").parse().expect("a uuid")
    }

    async fn due(&self, what: Due) -> Vec<(String, String)> {
        let mut keys = rows::due_keys(self.org.stack().table(), self.org.id).await;
        keys.retain(|(_, sort)| sort.starts_with(&keys::due_of_kind(what)));
        keys
    }

    pub(crate) async fn relayed(&self) -> Vec<DeliveryMessage> {
        let clockwork = Clockwork::of(&self.org);
        // Deliveries come first in a tick: the next one wakes those that this one creates.
        clockwork.first_tick().await;
        clockwork.first_tick().await;
        clockwork.queue.wakes()
    }

    pub(crate) async fn delivery(&self, wake: DeliveryMessage) -> Delivery {
        let found = self.org.stack().table().store().delivery(wake.delivery).await.expect("the store answers");
        found.expect("the delivery is there").into_inner()
    }

    async fn put(&self, item: Item) {
        let table = self.org.stack().table();
        table.client().put_item().table_name(&table.name).set_item(Some(item)).send().await.expect("the table writes");
    }

    fn key(&self, endpoint: EndpointId) -> DeliveryKey {
        DeliveryKey { org: self.org.id, endpoint, event: EventId::in_any_of(DueShards::FEWEST) }
    }
}

pub(crate) async fn start(function: &str, environment: &[(String, String)]) -> Function {
    Function::start(&runtime_api::program(function), environment, None).await.expect("the function's program")
}

pub(crate) async fn call(function: &mut Function, event: &str) -> Value {
    function.call(event.to_owned()).await.unwrap_or_else(|error| panic!("{error}"))
}

/// The recorded stream batch, with a record for each key instead of its placeholder.
fn stream_batch(keys: &[(String, String)]) -> String {
    let mut batch: Value = Value::Null;
    for (partition, sort) in keys {
        let texts = [("due_partition", partition.as_str()), ("due_sort", sort.as_str())];
        let one: Value = serde_json::from_str(&recorded("stream-batch", &texts)).expect("an event is JSON");
        match batch["Records"].as_array_mut() {
            Some(records) => records.insert(1, one["Records"][1].clone()),
            None => batch = one,
        }
    }
    batch.to_string()
}

fn due_delivery(delivery: DeliveryKey, at: Timestamp) -> (String, String) {
    parts(keys::due_delivery(at, delivery.org, delivery.endpoint, delivery.event))
}

fn parts(key: Key) -> (String, String) {
    let item = key.into_item();
    let text = |name: &str| item[name].as_s().expect("a text").clone();
    (text(keys::PARTITION), text(keys::SORT))
}

/// The recorded queue batch, with a message for each text, and the messages' ids.
pub(crate) fn sqs_batch(bodies: &[String]) -> (String, Vec<String>) {
    let texts = [("first", ""), ("second", "")];
    let mut batch: Value = serde_json::from_str(&recorded("sqs-deliveries", &texts)).expect("an event is JSON");
    let message = batch["Records"][0].clone();
    let ids: Vec<String> = bodies.iter().map(|_| uuid::Uuid::new_v4().to_string()).collect();
    let messages = bodies.iter().zip(&ids).map(|(body, id)| {
        let mut message = message.clone();
        (message["body"], message["messageId"]) = (json!(body), json!(id));
        message
    });
    batch["Records"] = messages.collect();
    (batch.to_string(), ids)
}

pub(crate) fn body(wake: DeliveryMessage) -> String {
    serde_json::to_string(&wake).expect("a message")
}

pub(crate) fn failures(answer: &Value) -> Vec<&str> {
    let failures = answer["batchItemFailures"].as_array().unwrap_or_else(|| panic!("no batchItemFailures: {answer}"));
    failures.iter().map(|failure| failure["itemIdentifier"].as_str().expect("an id")).collect()
}

pub(crate) fn in_s(seconds: i64) -> Timestamp {
    Timestamp::now().plus_seconds(seconds)
}

#[tokio::test]
async fn the_relay_makes_the_deliveries_of_an_event_and_then_their_messages() {
    let cloud = Cloud::new().await;
    let wanting = cloud.subscriber(&[]).await;
    let other = cloud.subscriber(&["proposal.expired"]).await;
    let event = cloud.happens().await;
    let due = cloud.due(Due::Event).await;
    assert_eq!(due.len(), 1);

    let mut relay = cloud.start("event-relay").await;
    let batch = stream_batch(&due);
    for _ in 0..2 {
        assert_eq!(call(&mut relay, &batch).await, Value::Null);
        assert_eq!(cloud.due(Due::Event).await, [], "the event's entry is gone");
        assert_eq!(cloud.due(Due::Delivery).await.len(), 1);
    }
    assert_eq!(cloud.services.sent(), [], "a delivery's own entry makes the message");
    let delivery = wanting.delivery(&cloud.org, event).await.expect("a delivery").into_inner();
    assert_eq!((delivery.state(), delivery.attempted), (DeliveryState::Queued, 0));
    assert!(other.delivery(&cloud.org, event).await.is_none());

    call(&mut relay, &stream_batch(&cloud.due(Due::Delivery).await)).await;
    let sent = cloud.services.sent();
    let [message] = &sent[..] else { panic!("one message: {sent:?}") };
    let key = DeliveryKey { org: cloud.org.id, endpoint: wanting.id, event };
    assert_eq!((message.queue.as_str(), message.delay_s), ("deliveries", 0));
    assert_eq!(message.group, cloud.org.id.to_string());
    assert_eq!(message.wake(), DeliveryMessage { delivery: key, due_at: delivery.due_at().expect("it is due") });
    assert_eq!(cloud.due(Due::Delivery).await.len(), 1, "its entry stays until it has been delivered");
    assert_eq!(relay.log(), Vec::<String>::new());
}

#[tokio::test]
async fn messages_wait_in_the_retry_queue_and_go_ten_at_a_time() {
    let cloud = Cloud::new().await;
    let mut relay = cloud.start("event-relay").await;
    let (slow, quick) = (EndpointId::new(), EndpointId::new());
    let group = cloud.org.id.to_string();
    let started = Instant::now();
    let now: Vec<_> = (0..23).map(|_| cloud.key(quick)).collect();
    let later = [(60, 60), (3600, 900), (7200, 900)].map(|(in_s, delay_s)| (cloud.key(slow), in_s, delay_s));
    let mut keys: Vec<_> = now.iter().map(|key| due_delivery(*key, in_s(-1))).collect();
    keys.extend(later.iter().map(|(key, seconds, _)| due_delivery(*key, in_s(*seconds))));
    call(&mut relay, &stream_batch(&keys)).await;

    let (at_once, waiting): (Vec<_>, Vec<_>) =
        cloud.services.sent().into_iter().partition(|sent| sent.queue == "deliveries");
    assert!(at_once.iter().all(|sent| (sent.delay_s, &sent.group) == (0, &group)), "{at_once:?}");
    assert_eq!(woken(&at_once), now.into_iter().collect());
    assert!(waiting.iter().all(|sent| (sent.queue.as_str(), &sent.group) == ("retries", &group)));
    for (key, in_s, delay_s) in later {
        let sent = waiting.iter().find(|sent| sent.wake().delivery == key).expect("a message");
        // Less the time since the key was made, which doesn't show if the wait exceeds the queue's longest.
        let passed = i64::try_from(started.elapsed().as_secs()).expect("seconds") + 1;
        assert!((delay_s - passed..=delay_s).contains(&sent.delay_s), "{in_s} s: {sent:?}");
    }
    assert_eq!(cloud.services.sends(), 4, "three batches at once, and one of what waits");
}

fn woken(sent: &[Sent]) -> std::collections::HashSet<DeliveryKey> {
    sent.iter().map(|sent| sent.wake().delivery).collect()
}

#[tokio::test]
async fn a_message_that_the_queue_does_not_take_is_told_and_left_to_the_clock() {
    let cloud = Cloud::new().await;
    let subscriber = cloud.subscriber(&[]).await;
    cloud.happens().await;
    let mut relay = cloud.start("event-relay").await;
    call(&mut relay, &stream_batch(&cloud.due(Due::Event).await)).await;
    let due = cloud.due(Due::Delivery).await;

    cloud.services.refuse_about(subscriber.id);
    let mut with_others = due.clone();
    let other = cloud.key(EndpointId::new());
    with_others.push(due_delivery(other, in_s(-1)));
    // A failing batch would block the stream: the function never fails.
    assert_eq!(call(&mut relay, &stream_batch(&with_others)).await, Value::Null);
    assert_eq!(woken(&cloud.services.sent()), [other].into());
    assert_eq!(cloud.due(Due::Delivery).await, due, "it is due as before");
    let log = relay.log();
    let [line] = &log[..] else { panic!("one line: {log:?}") };
    let line: Value = serde_json::from_str(line).expect("a line is JSON");
    assert_eq!((&line["operation"], &line["faults"]), (&json!("relay"), &json!(1)));
    assert!(line["cause"].as_str().is_some_and(|cause| cause.contains("InternalError")), "{line}");

    // The clock fails, which raises an alarm, and keeps trying with what was not taken.
    let taken = cloud.key(EndpointId::new());
    let (partition, sort) = due_delivery(taken, in_s(-1));
    cloud.put(Key::from_parts(&partition, &sort).into_item()).await;
    let mut clock = cloud.start("clock").await;
    for _ in 0..2 {
        let failed = clock.call(recorded("schedule", &[])).await.expect_err("its queue takes one of two");
        assert!(failed.to_string().contains("1 acts failed"), "{failed}");
        assert_eq!(woken(&cloud.services.sent()), [other, taken].into());
        assert_eq!(cloud.services.sent().len(), 2, "what was taken is on its way");
    }
    cloud.services.refuse_about("nothing");
    clock.call(recorded("schedule", &[])).await.expect("its queue takes it");
    assert_eq!(cloud.services.sent().len(), 3);
}

#[tokio::test]
async fn no_function_delivers_to_this_machine() {
    let cloud = Cloud::new().await;
    let plain = cloud.subscriber(&[]).await;
    let encrypted = Receiver::new().await;
    let admin = Browser::of(&cloud.org, &cloud.org.admin("Noor Haddad").await).await;
    let added = tests::subscriber::add(&admin, &encrypted.url().replace("http:", "https:"), &[]).await;
    assert_eq!(added.status, 303, "{}", added.body);
    cloud.happens().await;
    let wakes = cloud.relayed().await;
    assert_eq!(wakes.len(), 2);

    let started = Instant::now();
    let mut sender = cloud.start("webhook-sender").await;
    let event = recorded("sqs-deliveries", &[("first", &body(wakes[0])), ("second", &body(wakes[1]))]);
    let answer = call(&mut sender, &event).await;
    let poison = serde_json::from_str::<Value>(&event).expect("JSON")["Records"][1]["messageId"].clone();
    assert_eq!(answer, json!({"batchItemFailures": [{"itemIdentifier": poison}]}));
    for wake in &wakes {
        let delivery = cloud.delivery(*wake).await;
        assert_eq!((delivery.state(), delivery.failures), (DeliveryState::Waiting, 1), "{delivery:?}");
        let [attempt] = &delivery.attempts[..] else { panic!("one attempt: {delivery:?}") };
        let refused = Outcome::Failed { class: FailureClass::AddressRefused, status: None };
        assert_eq!((attempt.outcome, attempt.dialled), (refused, None));
    }
    assert!(plain.receiver.arrivals().is_empty() && encrypted.arrivals().is_empty());
    // The stream's record of the failure brings the next attempt's message.
    let mut relay = cloud.start("event-relay").await;
    call(&mut relay, &stream_batch(&cloud.due(Due::Delivery).await)).await;
    let sent = cloud.services.sent();
    // A minute and up to a tenth, less the time since the attempt.
    let passed = i64::try_from(started.elapsed().as_secs()).expect("seconds") + 1;
    let is_in_a_minute = |sent: &Sent| ((60 - passed).max(0)..=67).contains(&sent.delay_s);
    assert!(sent.iter().all(|sent| sent.queue == "retries" && is_in_a_minute(sent)), "{sent:?}");
    assert_eq!(woken(&sent), wakes.iter().map(|wake| wake.delivery).collect());
}

#[tokio::test]
async fn of_a_batch_only_what_failed_comes_again() {
    let cloud = Cloud::new().await;
    let subscriber = cloud.subscriber(&[]).await;
    let other = cloud.subscriber(&[]).await;
    cloud.happens().await;
    let wakes = cloud.relayed().await;
    let of = |endpoint| *wakes.iter().find(|wake| wake.delivery.endpoint == endpoint).expect("a message");
    let (good, unreadable) = (of(subscriber.id), of(other.id));
    // An unreadable record poisons a batch.
    let key = keys::delivery(cloud.org.id, other.id, unreadable.delivery.event);
    let table = cloud.org.stack().table();
    let update = table.client().update_item().table_name(&table.name).set_key(Some(key.into_item()));
    let update = update.update_expression("SET attempted = pk");
    update.send().await.expect("the table writes");
    let gone = DeliveryMessage { delivery: cloud.key(subscriber.id), due_at: in_s(-1) };
    let early = DeliveryMessage { due_at: in_s(1000), ..good };

    let mut sender = cloud.start("webhook-sender").await;
    let bodies = [body(unreadable), body(good), String::new(), body(gone), body(early)];
    let (batch, ids) = sqs_batch(&bodies);
    let answer = call(&mut sender, &batch).await;
    let failed: BTreeSet<&str> = failures(&answer).into_iter().collect();
    assert_eq!(failed, [ids[0].as_str(), &ids[2]].into(), "{answer}");
    assert_eq!(cloud.delivery(good).await.attempted, 1, "the others are handled");
    let sent = cloud.services.sent();
    let [message] = &sent[..] else { panic!("what came early goes on: {sent:?}") };
    assert_eq!((message.queue.as_str(), message.delay_s, message.wake()), ("retries", 900, early));
    let due = cloud.due(Due::Delivery).await;
    assert!(due.iter().all(|(_, sort)| !sort.ends_with(&other.id.to_string())), "{due:?}");
    let again = call(&mut sender, &batch).await;
    assert_eq!(failures(&again).into_iter().collect::<BTreeSet<_>>(), failed);
    assert_eq!(cloud.delivery(good).await.attempted, 1);
    assert_eq!(call(&mut sender, &sqs_batch(&[]).0).await, json!({"batchItemFailures": []}));
}

#[tokio::test]
async fn without_its_keys_the_sender_fails_for_now_and_with_others_for_good() {
    let cloud = Cloud::new().await;
    cloud.subscriber(&[]).await;
    cloud.subscriber(&[]).await;
    cloud.happens().await;
    let wakes = cloud.relayed().await;
    cloud.services.put_secret(KEYRING, "no keyring".to_owned());
    let (batch, ids) = sqs_batch(&[body(wakes[0])]);
    let mut sender = cloud.start("webhook-sender").await;
    assert_eq!(failures(&call(&mut sender, &batch).await), Vec::<&str>::new());
    let sent = cloud.services.sent();
    let [message] = &sent[..] else { panic!("it is put back: {sent:?}") };
    assert_eq!((message.queue.as_str(), message.delay_s, message.wake()), ("retries", limits::PUT_BACK_S, wakes[0]));
    assert_eq!(cloud.delivery(wakes[0]).await.attempted, 0, "nothing is sent without a signature");
    // Only if the queue does not take it back, the one that it has shows again.
    cloud.services.refuse_about(wakes[0].delivery.event);
    assert_eq!(failures(&call(&mut sender, &batch).await), [ids[0].as_str()]);
    let told = sender.log().join("\n");
    assert!(told.contains("no keys") && !told.contains("no keyring"), "{told}");
    assert_eq!(cloud.due(Due::Delivery).await.len(), 2, "it is due as before");

    // No later attempt could succeed: it is quarantined, where the organization sees it.
    cloud.services.put_secret(KEYRING, Keyring::new("another").expect("a keyring").reveal());
    let (batch, ids) = sqs_batch(&[body(wakes[1])]);
    assert_eq!(failures(&call(&mut sender, &batch).await), [ids[0].as_str()]);
    let endpoints = cloud.org.stack().table().store().endpoints(cloud.org.id).await.expect("the store answers");
    let quarantined: Vec<_> =
        endpoints.iter().flat_map(|state| state.quarantined.iter().map(|_| state.endpoint.id())).collect();
    assert_eq!(quarantined, [wakes[1].delivery.endpoint]);
    assert_eq!(cloud.due(Due::Delivery).await.len(), 1);
}

#[tokio::test]
async fn what_can_be_processed_after_all_is_no_longer_quarantined() {
    let cloud = Cloud::new().await;
    cloud.subscriber(&[]).await;
    cloud.happens().await;
    let wake = cloud.relayed().await[0];
    let store = cloud.org.stack().table().store();
    let quarantined = async || {
        let endpoints = store.endpoints(cloud.org.id).await.expect("the store answers");
        endpoints.iter().map(|state| state.quarantined.len()).sum::<usize>()
    };
    let mut now = Timestamp::now();
    // A second one ends because its endpoint is paused, and is no longer due.
    for (is_paused, due) in [(false, 1), (true, 0)] {
        let claim = Claim::begin(now);
        store.claim_delivery(wake.delivery, claim, now).await.expect("the store answers").expect("it is due");
        store.quarantine_delivery(wake.delivery, wake.due_at, now).await.expect("the store answers");
        assert_eq!((quarantined().await, cloud.due(Due::Delivery).await.len()), (1, 0));

        now = now.plus_seconds(limits::CLAIM_S + 1);
        let claim = Claim::begin(now);
        let again = store.claim_delivery(wake.delivery, claim, now).await.expect("the store answers");
        let again = again.expect("it is due, and the first claim is over");
        assert!(again.is_quarantined);
        let after = if is_paused { again.held(now) } else { again.released() };
        assert!(store.settle_delivery(cloud.org.id, &again, &after).await.expect("the store answers"));
        assert_eq!((quarantined().await, cloud.due(Due::Delivery).await.len()), (0, 1));
        if is_paused {
            store.delete_due_delivery(wake.delivery, wake.due_at).await.expect("the store answers");
        }
        assert_eq!(cloud.due(Due::Delivery).await.len(), due);
        assert!(!cloud.delivery(wake).await.is_quarantined);
    }
    // A message that failed late says nothing about the delivery's current state: it is held, and stays so.
    store.quarantine_delivery(wake.delivery, wake.due_at, now).await.expect("the store answers");
    let delivery = cloud.delivery(wake).await;
    assert_eq!((quarantined().await, delivery.state(), delivery.is_quarantined), (0, DeliveryState::Held, false));
    let held = store.delivery(wake.delivery).await.expect("the store answers").expect("it is there");
    let replayed = held.replayed(now.plus_seconds(1));
    assert!(store.settle_delivery(cloud.org.id, &held, &replayed).await.expect("the store answers"));
    store.quarantine_delivery(wake.delivery, wake.due_at, now).await.expect("the store answers");
    assert_eq!((quarantined().await, cloud.due(Due::Delivery).await.len()), (0, 1));
}

/// A function caches keys for minutes; a secret sealed meanwhile with a newer key doesn't wait for that.
#[tokio::test]
async fn a_sender_looks_for_a_key_that_it_does_not_know_yet() {
    let cloud = Cloud::new().await;
    cloud.subscriber(&[]).await;
    cloud.happens().await;
    let mut sender = cloud.start("webhook-sender").await;
    for wake in cloud.relayed().await {
        assert_eq!(failures(&call(&mut sender, &sqs_batch(&[body(wake)]).0).await), Vec::<&str>::new());
    }

    let stack = cloud.org.stack();
    let rotated = ops::keyring::rotate(&stack.keyring().reveal(), Timestamp::now()).expect("a keyring");
    cloud.services.put_secret(KEYRING, rotated.reveal());
    tokio::time::sleep(shared::limits::KEYS_LOOKED_UP_EVERY).await;
    let after = Cloud::on(stack.with_keyring(rotated, false)).await;
    after.subscriber(&[]).await;
    after.happens().await;
    let wakes = after.relayed().await;
    let mine: Vec<DeliveryMessage> = wakes.into_iter().filter(|wake| wake.org() == after.org.id).collect();
    let [wake] = mine[..] else { panic!("one message: {mine:?}") };
    assert_eq!(failures(&call(&mut sender, &sqs_batch(&[body(wake)]).0).await), Vec::<&str>::new());
    assert_eq!(after.delivery(wake).await.attempted, 1);
}

#[tokio::test]
async fn the_clock_wakes_what_is_due_and_passes_on_what_nobody_heard_of() {
    let cloud = Cloud::new().await;
    cloud.subscriber(&[]).await;
    let event = cloud.happens().await;
    // As if written two minutes ago.
    let [(partition, sort)] = &cloud.due(Due::Event).await[..] else { panic!("one event is due") };
    let table = cloud.org.stack().table();
    let delete = table.client().delete_item().table_name(&table.name);
    delete.set_key(Some(Key::from_parts(partition, sort).into_item())).send().await.expect("the table writes");
    cloud.put(keys::due(in_s(-120), Due::Event, cloud.org.id, event.uuid()).into_item()).await;

    let mut clock = cloud.start("clock").await;
    let schedule = recorded("schedule", &[]);
    assert_eq!(call(&mut clock, &schedule).await, Value::Null);
    assert_eq!(cloud.due(Due::Event).await, []);
    assert_eq!(cloud.services.sent(), [], "the stream's part");
    call(&mut clock, &schedule).await;
    let sent = cloud.services.sent();
    let [message] = &sent[..] else { panic!("one message: {sent:?}") };
    assert_eq!((message.queue.as_str(), message.delay_s), ("deliveries", 0));
    assert_eq!(message.wake().delivery.event, event);
    let ticks: Vec<Value> =
        clock.log().iter().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect();
    let woken: Vec<_> = ticks.iter().map(|tick| (&tick["passed_on"], &tick["woken"], &tick["failed"])).collect();
    assert_eq!(woken, [(&json!(1), &json!(0), &json!(0)), (&json!(0), &json!(1), &json!(0))]);
}

#[tokio::test]
async fn a_function_without_its_settings_says_which_one_it_lacks() {
    const QUEUES: [&str; 5] = ["TABLE_NAME", "BASE_URL", "AWS_REGION", "DELIVERY_QUEUE_URL", "RETRY_QUEUE_URL"];
    let cloud = Arc::new(Cloud::new().await);
    let cases = [
        ("event-relay", &QUEUES[..], &[][..]),
        ("clock", &QUEUES, &[]),
        ("webhook-sender", &QUEUES, &["KEYRING_SECRET"]),
        ("read-api", &QUEUES[..3], &["FILES_BUCKET", "TABLE_ID"]),
        ("member-app", &QUEUES[..3], &["KEYRING_SECRET", "FILES_BUCKET", "TABLE_ID"]),
        ("organization-app", &QUEUES[..3], &["KEYRING_SECRET"]),
        ("agreement-app", &QUEUES[..3], &["KEYRING_SECRET", "FILES_BUCKET"]),
        ("money-app", &QUEUES[..3], &["KEYRING_SECRET", "FILES_BUCKET"]),
        ("funding-app", &QUEUES[..3], &["KEYRING_SECRET", "FILES_BUCKET"]),
        ("participant-app", &QUEUES[..3], &["KEYRING_SECRET", "FILES_BUCKET"]),
        ("pictures", &QUEUES[..3], &["FILES_BUCKET"]),
        ("documents", &QUEUES[..3], &["KEYRING_SECRET", "FILES_BUCKET"]),
    ];
    for (function, some, more) in cases {
        for missing in some.iter().chain(more) {
            let mut environment = cloud.environment();
            environment.retain(|(name, _)| name != missing);
            let mut process = start(function, &environment).await;
            let (failed, told) = process.refusal().await.unwrap_or_else(|error| panic!("{error}"));
            assert!(failed && told.contains(missing), "{function} without {missing}: {told}");
        }
    }
}
