//! When deliveries go out: the schedule, what wakes them, and who waits for whom.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use shared::domain::delivery::Attempt;
use shared::domain::ids::EventId;
use shared::domain::time::Timestamp;
use shared::limits;
use shared::store::deliveries::DeliveryKey;
use shared::store::due::DueEntry;
use shared::store::events::StoredEvent;
use shared::store::keys::Key;
use shared::webhook::queue::DeliveryMessage;
use tests::app::Browser;
use tests::clockwork::Clockwork;
use tests::receiver::{Arrival, Reaction, Receiver};
use tests::subscriber::{DEVELOPERS, Subscriber};
use tests::{Fault, Faults, Needs, Org, Rule, Stack, eventually, outbox, rows};
use tokio::task::JoinSet;
use uuid::Uuid;
use webhook_sender::Handled;

/// Goal R4, 600 times faster: 100 ms, 500 ms, 3 s, 12 s.
#[tokio::test]
async fn five_attempts_on_the_schedule_and_then_by_hand() {
    const WAITS_MS: [i64; 4] = [100, 500, 3000, 12_000];
    let org = Org::with(Needs::OWN.time_scale(600)).await;
    let subscriber = org.subscriber().await;
    subscriber.receiver.answer(Reaction { body: "<b>busy</b>".to_owned(), ..Reaction::status(503) });
    let event = subscriber.test().await;

    subscriber.receiver.wait_for(4).await;
    let ended_ms = |attempt: &Attempt| attempt.at.unix_ms() + i64::try_from(attempt.duration_ms).unwrap();
    let waiting = subscriber
        .wait_until(&org, event, "waiting for its last attempt", |delivery| {
            delivery.state().as_str() == "waiting" && delivery.attempts.len() == 4
        })
        .await;
    let (due_at, wait) = (waiting.due_at().expect("it is due"), WAITS_MS[3]);
    let waits = due_at.unix_ms() - ended_ms(&waiting.attempts[3]);
    assert!((wait - 1..=wait + wait / 10 + 1).contains(&waits), "{waits} ms instead of {wait}");
    let page = subscriber.admin.get(&subscriber.delivery_path(event)).await;
    for text in [
        "Retrying",
        "We’ll retry automatically.",
        "the server answered 503",
        "http_error",
        "of 5 attempts failed",
        "Next attempt",
        "&#60;b&#62;busy&#60;/b&#62;",
    ] {
        assert!(page.says(text), "{text}: {}", page.body);
    }
    let page = subscriber.admin.get(&subscriber.path()).await;
    assert!(page.says("Failing") && page.says("Retrying"), "{}", page.body);

    let exhausted = subscriber.wait_for(&org, event, "exhausted").await;
    assert_eq!((exhausted.attempted, exhausted.failures, exhausted.due_at()), (5, 5, None));
    let numbers: Vec<u32> = exhausted.attempts.iter().map(|attempt| attempt.number).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5]);
    for (pair, wait) in exhausted.attempts.windows(2).zip(WAITS_MS) {
        // Lateness depends on the machine; the simulation proves its limit.
        let waited = pair[1].at.unix_ms() - ended_ms(&pair[0]);
        assert!(wait <= waited + 1, "{waited} ms instead of {wait}");
    }
    let page = subscriber.admin.get(&subscriber.delivery_path(event)).await;
    assert!(page.says("All 5 attempts failed") && page.says(">Replay<"), "{}", page.body);
    subscriber.wait_until_page_says("<dt>Failures in a row</dt><dd>5</dd>").await;
    assert!(subscriber.admin.get(DEVELOPERS).await.says("5 failures in a row"));
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(subscriber.receiver.arrivals().len(), 5, "it waits for somebody");

    subscriber.receiver.answer(Reaction::status(200));
    assert_eq!(subscriber.replay(event).await.status, 303);
    let delivered = subscriber.wait_for(&org, event, "delivered").await;
    assert_eq!((delivered.attempted, delivered.failures), (6, 0));
    let page = subscriber.wait_until_page_says("<dt>Failures in a row</dt><dd>0</dd>").await;
    assert!(page.says("Working"), "{}", page.body);
    let arrivals = subscriber.receiver.arrivals();
    assert_eq!(arrivals.len(), 6);
    assert!(arrivals.iter().all(|arrival| arrival.body == arrivals[0].body));
}

async fn due(org: &Org, subscriber: &Subscriber) -> (Clockwork, DeliveryMessage) {
    let event = outbox::event();
    outbox::emit(org, std::slice::from_ref(&event)).await;
    let clockwork = Clockwork::of(org);
    clockwork.first_tick().await;
    assert_eq!(subscriber.delivery(org, event.id).await.expect("a delivery").state().as_str(), "queued");
    clockwork.first_tick().await;
    let wake = *clockwork.queue.wakes().last().expect("a message");
    assert_eq!(wake.delivery, DeliveryKey { org: org.id, endpoint: subscriber.id, event: event.id });
    (clockwork, wake)
}

#[tokio::test]
async fn copies_of_a_message_make_one_attempt() {
    let org = Org::with(Needs::OWN.without_background()).await;
    let subscriber = org.subscriber().await;
    // So late that the machine comes to all copies meanwhile.
    subscriber.receiver.answer(Reaction::late(200, Duration::from_secs(2)));
    let (clockwork, wake) = due(&org, &subscriber).await;
    let senders = [clockwork.sender(&org), clockwork.sender(&org)];
    let handled = join_all((0..20).map(|n| senders[n % 2].handle(wake))).await;
    let attempts = handled.iter().filter(|handled| matches!(handled, Ok(Handled::Attempted(_)))).count();
    // They come again when the claim ends: if its sender had died, its message would be hidden for longer.
    let claimed = subscriber.delivery(&org, wake.delivery.event).await.expect("a delivery");
    assert_eq!(claimed.attempted, 1);
    let passed =
        handled.iter().filter(|handled| matches!(handled, Ok(Handled::PutBack(at)) if wake.due_at < *at)).count();
    assert_eq!((attempts, passed), (1, 19), "{handled:?}");
    assert_eq!(senders[0].handle(wake).await.ok(), Some(Handled::Skipped));
    assert_eq!(subscriber.receiver.arrivals().len(), 1);
    let delivered = subscriber.delivery(&org, wake.delivery.event).await.expect("a delivery").into_inner();
    assert_eq!((delivered.attempted, delivered.state().as_str()), (1, "delivered"));
    assert_eq!(org.due().await, Vec::<String>::new());
}

/// A queue that is slow would otherwise get a copy of each message every minute.
#[tokio::test]
async fn what_a_queue_took_is_not_sent_again_before_it_may_show_again() {
    let org = Org::with(Needs::OWN.without_background()).await;
    let subscriber = org.subscriber().await;
    let (clockwork, wake) = due(&org, &subscriber).await;
    tokio::time::sleep(Duration::from_millis(5)).await;
    for _ in 0..3 {
        let report = clockwork.tick().await;
        assert_eq!((report.enqueued, report.failed), (0, 0));
        assert!(report.oldest_due_ms > 0, "it is due all the while");
    }
    assert_eq!(clockwork.queue.wakes(), [wake]);

    let [(partition, sort)] = &rows::due_keys(org.stack().table(), org.id).await[..] else { panic!("one entry") };
    let entry = DueEntry::of(Key::from_parts(partition, sort)).expect("an entry");
    org.stack().table().store().set_resend_at(&entry, Timestamp::now()).await.expect("the table takes it");
    assert_eq!(clockwork.tick().await.enqueued, 1, "as long as a message may be hidden has passed");
    assert_eq!(clockwork.tick().await.enqueued, 0);
    assert_eq!(clockwork.first_tick().await.enqueued, 1, "a queue in memory lost it with its process");
    assert_eq!(clockwork.queue.wakes(), [wake; 3]);

    assert!(matches!(clockwork.sender(&org).handle(wake).await, Ok(Handled::Attempted(_))));
    assert_eq!(org.due().await, Vec::<String>::new());
    org.stack().table().store().set_resend_at(&entry, Timestamp::now()).await.expect("the table answers");
    assert_eq!(org.due().await, Vec::<String>::new(), "a note comes too late for an entry that is gone");
}

/// A clock that ends in between sends a copy, and never loses a message.
#[tokio::test]
async fn a_message_is_sent_before_that_is_noted() {
    let org = Org::with(Needs::OWN.without_background()).await;
    let subscriber = org.subscriber().await;
    let event = outbox::event();
    outbox::emit(&org, std::slice::from_ref(&event)).await;
    let clockwork = Clockwork::of(&org);
    clockwork.first_tick().await;
    let faults = Faults::before(&org.stack().table().endpoint);
    let dying = Clockwork::on(&org.stack().through(&faults));
    let injected = faults.inject(Rule::on("UpdateItem").containing("resend_at").times(1), Fault::ServerError);
    let report = dying.tick().await;
    injected.wait_for_hits(1).await;
    assert_eq!((report.enqueued, dying.queue.wakes().len()), (1, 1));
    injected.end();
    assert!(subscriber.delivery(&org, event.id).await.is_some());
}

/// While a deployment's parameter grows, some functions know the larger number before others.
#[tokio::test]
async fn the_due_index_gets_more_shards_while_deliveries_wait() {
    const EVENTS: usize = 40;
    let org = Org::with(Needs::OWN.time_scale(600)).await;
    let subscriber = org.subscriber().await;
    subscriber.receiver.answer(Reaction::status(503));
    let waiting = subscriber.test().await;
    subscriber.wait_for(&org, waiting, "waiting").await;
    // In the last shard, which only the grown stack reads.
    let far = outbox::event();
    let far = StoredEvent { id: Uuid::from_u128(far.id.uuid().as_u128() | 0xff).into(), ..far };
    outbox::emit(&org, std::slice::from_ref(&far)).await;

    let grown = org.stack().on_most_shards(60);
    subscriber.receiver.answer(Reaction::status(200));
    let (workspace, client) = (org.workspace("Quayside").await, org.at(&grown));
    for n in 0..EVENTS {
        let draft = org.empty_draft(&workspace, &format!("Lease {n}")).await;
        let body = serde_json::json!({"action": "cancel_agreement", "agreement_id": draft["id"]});
        client.post("/api/v1/proposals", &body).send().await.ok(201);
    }
    for event in [waiting, far.id] {
        subscriber.wait_for(&org, event, "delivered").await;
    }
    let arrived = async || {
        let ids: BTreeSet<EventId> = subscriber.receiver.arrivals().iter().map(Arrival::event_id).collect();
        (ids.len() == EVENTS + 2).then_some(ids)
    };
    let ids = eventually("all arrive", arrived).await;
    let shards: BTreeSet<u8> = ids.iter().map(|id| id.due_shard()).collect();
    assert!(shards.len() > 8, "{shards:?}");
    let of_events =
        async || org.due().await.iter().any(|key| ["EVENT#", "DELIVERY#"].iter().any(|of| key.starts_with(of)));
    eventually("nothing of it is due", async || (!of_events().await).then_some(())).await;
}

#[tokio::test]
async fn a_message_that_comes_too_early_is_sent_on_and_one_of_nothing_passes() {
    let org = Org::with(Needs::OWN.without_background()).await;
    let subscriber = org.subscriber().await;
    let (clockwork, wake) = due(&org, &subscriber).await;
    let sender = clockwork.sender(&org);
    let early = DeliveryMessage { due_at: Timestamp::now().plus_seconds(60), ..wake };
    let before = clockwork.queue.wakes().len();
    assert_eq!(sender.handle(early).await.ok(), Some(Handled::PutBack(early.due_at)));
    assert_eq!(clockwork.queue.wakes()[before..], [early]);
    let unknown = DeliveryMessage { delivery: DeliveryKey { event: EventId::new(), ..wake.delivery }, ..wake };
    assert_eq!(sender.handle(unknown).await.ok(), Some(Handled::Skipped));
    assert!(!sender.handle_message("{\"no\": \"delivery\"}").await && !sender.handle_message("").await);
    assert!(subscriber.receiver.arrivals().is_empty());
    // A reordering queue shows it early: the record decides what is due, not the message.
    subscriber.receiver.answer(Reaction::status(500));
    assert!(matches!(sender.handle(wake).await, Ok(Handled::Attempted(_))));
    for _ in 0..3 {
        assert_eq!(sender.handle(wake).await.ok(), Some(Handled::Skipped), "the next attempt is not due yet");
    }
    assert_eq!(subscriber.receiver.arrivals().len(), 1);
}

/// Messages of all endpoints of an organization share one group, so one that hangs must not take whole batches.
#[tokio::test]
async fn an_endpoint_that_hangs_has_five_attempts_under_way_and_the_rest_is_put_back() {
    const EVENTS: usize = 9;
    let org = Org::with(Needs::OWN.without_background()).await;
    let (hanging, other) = (org.subscriber().await, org.subscriber().await);
    hanging.receiver.answer(Reaction::late(200, NEVER));
    other.receiver.answer(Reaction::late(200, Duration::from_millis(50)));
    let events: Vec<_> = (0..EVENTS).map(|_| outbox::event()).collect();
    outbox::emit(&org, &events).await;
    let clockwork = Clockwork::of(&org);
    clockwork.first_tick().await;
    clockwork.first_tick().await;
    let wakes: BTreeMap<_, _> =
        clockwork.queue.wakes().into_iter().map(|wake| (wake.delivery.endpoint, wake)).collect();
    assert_eq!(wakes.len(), 2);
    let wakes: Vec<_> = events
        .iter()
        .flat_map(|event| wakes.values().map(|wake| DeliveryKey { event: event.id, ..wake.delivery }))
        .map(|delivery| *clockwork.queue.wakes().iter().find(|wake| wake.delivery == delivery).expect("a message"))
        .collect();

    let sender = Arc::new(clockwork.sender(&org));
    let mut tasks = JoinSet::new();
    for wake in wakes {
        let sender = sender.clone();
        tasks.spawn(async move { (wake.delivery, sender.handle(wake).await) });
    }
    let now = Timestamp::now();
    let mut put_back = Vec::new();
    for _ in 0..2 * EVENTS - limits::ENDPOINT_ATTEMPTS_MAX {
        let (delivery, handled) = tasks.join_next().await.expect("a task").expect("no panic");
        match handled {
            Ok(Handled::Attempted(_)) => assert_eq!(delivery.endpoint, other.id),
            Ok(Handled::PutBack(at)) => {
                assert!(now.plus_seconds(15) <= at, "{at}");
                put_back.push(delivery);
            }
            handled => panic!("{handled:?}"),
        }
    }
    assert_eq!(other.receiver.arrivals().len(), EVENTS, "an endpoint that answers has no message put back");
    assert_eq!(hanging.receiver.arrivals().len(), limits::ENDPOINT_ATTEMPTS_MAX);
    assert_eq!(put_back.len(), EVENTS - limits::ENDPOINT_ATTEMPTS_MAX);
    for delivery in put_back {
        assert_eq!(delivery.endpoint, hanging.id);
        let record = hanging.delivery(&org, delivery.event).await.expect("a delivery");
        assert_eq!((record.state().as_str(), record.attempted, record.claimed_until()), ("queued", 0, None));
    }
    // Attempts that end, however they do, make room.
    tasks.shutdown().await;
    hanging.receiver.answer(Reaction::status(200));
    let event = hanging.test().await;
    clockwork.first_tick().await;
    clockwork.first_tick().await;
    let wake = *clockwork.queue.wakes().iter().find(|wake| wake.delivery.event == event).expect("a message");
    assert!(matches!(sender.handle(wake).await, Ok(Handled::Attempted(_))));
}

const NEVER: Duration = Duration::from_hours(1);

fn distinct(receiver: &Receiver) -> usize {
    receiver.arrivals().iter().map(Arrival::event_id).collect::<BTreeSet<_>>().len()
}

#[tokio::test]
async fn an_endpoint_that_never_answers_does_not_slow_others() {
    const BACKLOG: usize = 200;
    let stack = Stack::with(Needs::OWN.time_scale(60));
    let (org, other) = (Org::on(stack.clone()).await, Org::on(stack).await);
    let dead = org.subscriber().await;
    dead.receiver.answer(Reaction::late(200, NEVER));
    let events: Vec<_> = (0..BACKLOG).map(|_| outbox::event()).collect();
    outbox::emit(&org, &events).await;
    dead.receiver.wait_for(limits::ENDPOINT_ATTEMPTS_MAX).await;
    let neighbour = org.subscriber().await;
    let stranger = other.subscriber().await;
    for _ in 0..3 {
        for subscriber in [&neighbour, &stranger] {
            let event = subscriber.test().await;
            subscriber.receiver.wait_until(|arrivals| arrivals.iter().any(|a| a.event_id() == event)).await;
        }
    }
    // A delivery that waited behind the backlog would arrive after all of it.
    let begun = distinct(&dead.receiver);
    assert!(begun < BACKLOG, "the others arrived after {begun} of {BACKLOG}");
}

#[tokio::test]
async fn all_endpoints_of_one_organization_being_dead_does_not_slow_another() {
    const ENDPOINTS: usize = 20;
    const EVENTS: usize = 40;
    let stack = Stack::with(Needs::OWN.time_scale(60));
    let (org, other) = (Org::on(stack.clone()).await, Org::on(stack).await);
    let dead = Receiver::new().await;
    dead.answer(Reaction::late(200, NEVER));
    let admin = Browser::of(&org, &org.admin("Ines Duarte").await).await;
    for _ in 0..ENDPOINTS {
        assert_eq!(tests::subscriber::add(&admin, &dead.url(), &[]).await.status, 303);
    }
    let events: Vec<_> = (0..EVENTS).map(|_| outbox::event()).collect();
    outbox::emit(&org, &events).await;
    dead.wait_for(64).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let stranger = other.subscriber().await;
    stranger.test().await;
    stranger.receiver.wait_for(1).await;
    // A delivery that waited behind the backlog would arrive after all of it.
    let begun = dead.arrivals().len();
    assert!(begun < ENDPOINTS * EVENTS, "the other one arrived after {begun} attempts");
}

/// The goal is 10,000; a test build on a shared machine does a part.
#[tokio::test]
async fn thousands_that_become_due_at_once_arrive_once_each() {
    const COUNT: usize = 1000;
    let org = Org::with(Needs::OWN.without_background()).await;
    let subscriber = org.subscriber().await;
    let events: Vec<_> = (0..COUNT).map(|_| outbox::event()).collect();
    outbox::insert_relayed(&org, &events).await;
    for some in events.chunks(32) {
        join_all(some.iter().map(|event| outbox::deliver(&org, subscriber.id, event, |_| {}))).await;
    }
    let started = Instant::now();
    let _working = org.stack().scaled(60);
    subscriber.receiver.wait_for(COUNT).await;
    let took = started.elapsed();
    for event in events.iter().rev().take(20) {
        subscriber.wait_for(&org, event.id, "delivered").await;
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    let mut arrived: BTreeMap<EventId, usize> = BTreeMap::new();
    for id in subscriber.receiver.arrivals().iter().map(Arrival::event_id) {
        *arrived.entry(id).or_default() += 1;
    }
    assert!(arrived.values().all(|times| *times == 1), "one came twice");
    let expected: BTreeSet<EventId> = events.iter().map(|event| event.id).collect();
    assert_eq!(arrived.into_keys().collect::<BTreeSet<_>>(), expected, "after {took:?}");
    println!("{COUNT} in {took:?}");
}

/// Ten thousand due at one moment: omits the store's time for so many; queue, sender and connections are real.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_that_wait_for_one_moment_arrive_once_each() {
    use std::collections::HashMap;
    use std::sync::Mutex;

    use local::{DeliveryWorker, LocalQueue, PublicOrLoopback};
    use shared::webhook::queue::Queue;

    const COUNT: usize = 10_000;
    let arrived: Arc<Mutex<HashMap<String, u32>>> = Arc::default();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    let counting = arrived.clone();
    let count = move |headers: http::HeaderMap| {
        let id = headers["webhook-id"].to_str().expect("an id").to_owned();
        *counting.lock().expect("a count").entry(id).or_default() += 1;
        std::future::ready(http::StatusCode::NO_CONTENT)
    };
    let server = tokio::spawn(async move {
        let _ = axum::serve(listener, axum::Router::new().fallback(count)).await;
    });

    let keyring = shared::crypto::keyring::Keyring::new("a").expect("randomness");
    let memory = tests::memory::Memory::default();
    let endpoint = memory.add_endpoint(&url, &keyring);
    let due_at = Timestamp::from_unix_ms(Timestamp::now().unix_ms() + 1000).expect("a moment");
    let wakes: Vec<DeliveryMessage> = (0..COUNT)
        .map(|n| DeliveryMessage { delivery: memory.add_delivery(endpoint, format!("{{\"n\":{n}}}"), due_at), due_at })
        .collect();
    let queue = Arc::new(LocalQueue::default());
    let resolver = Arc::new(shared::webhook::resolve::SystemResolver::new());
    let client = shared::webhook::client::Client::new(Arc::new(PublicOrLoopback), resolver).expect("TLS");
    let keys = shared::crypto::keys::FixedKeys::new(keyring);
    let time_scale = shared::domain::time_scale::TimeScale::default();
    let sender = webhook_sender::Sender::new(memory.clone(), queue.clone(), keys, client, time_scale);
    let worker = DeliveryWorker::start(queue.clone(), sender);
    // Twice, as when the clock sends them too.
    queue.send(&wakes).await.expect("the queue takes them");
    queue.send(&wakes).await.expect("the queue takes them");

    let is_delivered = |wake: &DeliveryMessage| {
        memory.delivery(wake.delivery).is_some_and(|delivery| delivery.state().as_str() == "delivered")
    };
    eventually("all arrive", async || wakes.iter().all(is_delivered).then_some(())).await;
    let arrived = arrived.lock().expect("a count");
    assert_eq!((arrived.len(), arrived.values().sum::<u32>()), (COUNT, u32::try_from(COUNT).expect("a number")));
    drop((worker, server));
}
