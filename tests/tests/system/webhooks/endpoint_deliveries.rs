//! What an endpoint's buttons do to its waiting and running deliveries, and how its deliveries are listed.

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::future::join_all;
use shared::domain::delivery::{Attempt, Claim, Delivery, DeliveryState, FailureClass, Outcome, Progress, Schedule};
use shared::domain::ids::EventId;
use shared::domain::time::Timestamp;
use shared::domain::time_scale::TimeScale;
use shared::domain::time_zone::TimeZone;
use shared::limits;
use shared::store::deliveries::DeliveryKey;
use shared::store::due::DueEntry;
use shared::store::keys::{Due, Key};
use shared::webhook::relay::RelayOutcome;
use shared::webhook::signature;
use tests::app::Page;
use tests::clockwork::Clockwork;
use tests::receiver::{Arrival, Hold, Reaction, Receiver};
use tests::subscriber::{DEVELOPERS, Subscriber};
use tests::wait::in_time;
use tests::{Needs, Org, eventually, outbox, rows};

#[tokio::test]
async fn while_it_is_paused_deliveries_are_held_and_then_go_out_in_the_order_of_time() {
    const COUNT: usize = 30;
    let org = Org::with(Needs::OWN.time_scale(600)).await;
    let subscriber = org.subscriber().await;
    assert_eq!(subscriber.press("pause", &[]).await.status, 303);
    let later: Vec<_> = (0..COUNT).map(|_| outbox::event()).collect();
    let mut shuffled = later.clone();
    shuffled.reverse();
    outbox::emit(&org, &shuffled).await;
    for event in &later {
        subscriber.wait_for(&org, event.id, "held").await;
    }
    let page = subscriber.admin.get(&subscriber.path()).await;
    assert!(page.says("Paused") && page.says("Deliveries are held") && page.says(">Resume<"), "{}", page.body);
    let test = subscriber.test().await;
    let arrived = subscriber.receiver.wait_for(1).await;
    assert_eq!(arrived[0].event_id(), test, "a test goes out even so");
    subscriber.wait_for(&org, test, "delivered").await;
    assert!(org.due().await.iter().all(|key| !key.starts_with("DELIVERY#")), "what is held is not due");

    assert_eq!(subscriber.press("resume", &[]).await.status, 303);
    let arrived = subscriber.receiver.wait_for(1 + COUNT).await;
    for event in &later {
        assert_eq!(subscriber.wait_for(&org, event.id, "delivered").await.attempted, 1);
    }
    let order: Vec<EventId> = arrived[1..].iter().map(Arrival::event_id).collect();
    let places: Vec<usize> =
        order.iter().map(|id| later.iter().position(|event| event.id == *id).expect("one of them")).collect();
    assert_eq!(places.iter().collect::<BTreeSet<_>>().len(), COUNT, "{places:?}");
    // Attempts run in parallel, and a busy machine lets some overtake others, but not the last third the first one.
    let at = |place: usize| places.iter().position(|found| *found == place).expect("it arrived");
    let (first, last) = ((0..COUNT / 3).map(at).max(), (COUNT - COUNT / 3..COUNT).map(at).min());
    assert!(first < last, "{places:?}");
    assert!(!subscriber.admin.get(&subscriber.path()).await.says("Deliveries are held"));
}

async fn under_way(org: &Org, status: u16) -> (Subscriber, EventId, Hold) {
    let subscriber = org.subscriber().await;
    let (event, hold) = begin(&subscriber, status).await;
    (subscriber, event, hold)
}

async fn begin(subscriber: &Subscriber, status: u16) -> (EventId, Hold) {
    let before = subscriber.receiver.arrivals().len();
    let (reaction, hold) = Reaction::held(status);
    subscriber.receiver.answer_once(reaction);
    let event = subscriber.test().await;
    subscriber.receiver.wait_for(before + 1).await;
    (event, hold)
}

#[tokio::test]
async fn an_attempt_that_is_under_way_when_the_endpoint_is_paused_is_recorded() {
    let org = Org::with(Needs::SHARED.with_stream()).await;
    let (subscriber, event, hold) = under_way(&org, 200).await;
    assert_eq!(subscriber.press("pause", &[]).await.status, 303);
    drop(hold);
    let delivered = subscriber.wait_for(&org, event, "delivered").await;
    assert_eq!(delivered.attempted, 1);
}

#[tokio::test]
async fn an_endpoint_that_is_deleted_is_gone_with_all_that_was_its_own() {
    let org = Org::with(Needs::OWN.time_scale(600)).await;
    let (subscriber, other) = (org.subscriber().await, org.subscriber().await);
    subscriber.receiver.answer(Reaction::status(503));
    let waiting = subscriber.test().await;
    subscriber.wait_until(&org, waiting, "attempted", |delivery| delivery.attempted > 0).await;
    subscriber.press("pause", &[]).await;
    let paused = outbox::event();
    outbox::emit(&org, std::slice::from_ref(&paused)).await;
    subscriber.wait_for(&org, paused.id, "held").await;
    let (event, hold) = begin(&subscriber, 200).await;

    let gone = subscriber.press("delete", &[]).await;
    assert_eq!((gone.status, gone.location()), (303, DEVELOPERS));
    for path in [subscriber.path(), format!("{}/edit", subscriber.path()), subscriber.delivery_path(event)] {
        assert_eq!(subscriber.admin.get(&path).await.status, 404, "{path}");
    }
    let developers = subscriber.admin.get(DEVELOPERS).await;
    assert!(developers.says("Endpoint deleted") && !developers.says(&subscriber.path()), "{}", developers.body);
    assert!(!subscriber.admin.get(DEVELOPERS).await.says(&subscriber.receiver.url()));
    let before = subscriber.receiver.arrivals().len();
    other.test().await;
    other.receiver.wait_for(2).await;
    drop(hold);
    tokio::time::sleep(Duration::from_millis(500)).await;
    eventually("nothing is left", async || subscriber.rows(&org).await.is_empty().then_some(())).await;
    assert_eq!(subscriber.receiver.arrivals().len(), before, "nothing more is sent");
}

#[tokio::test]
async fn the_next_attempt_goes_to_the_new_address_and_is_signed_with_the_new_secret() {
    let org = Org::with(Needs::OWN.time_scale(60)).await;
    let (subscriber, event, hold) = under_way(&org, 500).await;
    let elsewhere = Receiver::new().await;
    assert_eq!(subscriber.edit(&elsewhere.url(), &[]).await.status, 303);
    let new = subscriber.rotate("replace").await;
    drop(hold);
    let arrival = elsewhere.wait_for(1).await.remove(0);
    assert_eq!(arrival.event_id(), event);
    let now = Timestamp::now().unix_s();
    signature::verify(&new, &arrival.headers, &arrival.body, now).expect("signed with the new one");
    let delivered = subscriber.wait_for(&org, event, "delivered").await;
    assert_eq!(delivered.attempts.len(), 2);
    assert_eq!(subscriber.receiver.arrivals().len(), 1);
}

#[tokio::test]
async fn a_replay_while_an_attempt_is_under_way_makes_one_more() {
    let org = Org::with(Needs::SHARED.with_stream()).await;
    let (subscriber, event, hold) = under_way(&org, 500).await;
    assert_eq!(subscriber.replay(event).await.status, 303);
    let arrivals = subscriber.receiver.wait_for(2).await;
    drop(hold);
    assert_eq!(arrivals[1].event_id(), event);
    let both = subscriber.wait_until(&org, event, "attempted twice", |delivery| delivery.attempted == 2).await;
    assert_eq!(both.state().as_str(), "delivered", "the failure of the one that was overtaken changes nothing");
}

#[tokio::test]
async fn a_test_waits_for_its_outcome_for_a_moment() {
    let org = Org::with(Needs::SHARED.with_stream()).await;
    let subscriber = org.subscriber().await;
    let outcome = async || {
        let sent = subscriber.press("test", &[]).await;
        assert_eq!(sent.status, 303, "{}", sent.body);
        subscriber.admin.get(sent.location()).await
    };
    let good = outcome().await;
    assert!(good.says("Test event delivered") && good.says("Your server answered 204 in "), "{}", good.body);
    subscriber.receiver.answer(Reaction::status(503));
    let bad = outcome().await;
    assert!(bad.says("Test event failed") && bad.says("The server answered 503 ("), "{}", bad.body);
    assert!(bad.says("class=\"notice bad\""), "{}", bad.body);
    let (reaction, hold) = Reaction::held(200);
    subscriber.receiver.answer_once(reaction);
    let late = outcome().await;
    assert!(late.says("Test event sent, waiting for the outcome"), "{}", late.body);
    drop(hold);
    let page = subscriber.admin.get(&subscriber.path()).await;
    for text in ["<td data-label=\"Response\"><span>204", "<td data-label=\"Response\"><span>503", "<time datetime=\""]
    {
        assert!(page.says(text), "{text}: {}", page.body);
    }
}

#[tokio::test]
async fn the_list_of_deliveries_names_what_each_is_about() {
    let org = Org::with(Needs::SHARED.with_stream()).await;
    let subscriber = org.subscriber().await;
    let draft = org.ready_draft("Lease of the <old> mill", |_| {}).await;
    let proposal = org.propose("publish_agreement", &draft).await;
    let review = format!("/app/proposals/{}", proposal["id"].as_str().expect("an id"));
    assert_eq!(subscriber.admin.decide(&review, "confirm", "").await.status, 303);
    subscriber.receiver.wait_for(4).await;
    let page = subscriber.admin.get(&subscriber.path()).await;
    for (event, subject) in [
        ("workspace.activated", "Harbor Street"),
        ("proposal.created", "Lease of the &#60;old&#62; mill"),
        ("proposal.confirmed", "Lease of the &#60;old&#62; mill"),
        ("agreement.published", "Lease of the &#60;old&#62; mill"),
    ] {
        assert!(page.says(&format!("aria-label=\"{event}, {subject}, ")), "{event}: {}", page.body);
    }
}

/// A replay gets five attempts, however many there were before; only the latest response is expanded.
#[tokio::test]
async fn attempts_are_grouped_by_replay() {
    let org = Org::with(Needs::OWN.without_background()).await;
    let subscriber = org.subscriber().await;
    let event = outbox::event();
    outbox::insert_relayed(&org, std::slice::from_ref(&event)).await;
    let now = Timestamp::now();
    let failed = |number: u32| Attempt {
        number,
        replays: 0,
        at: now,
        duration_ms: 12,
        outcome: Outcome::Failed { class: FailureClass::HttpError, status: Some(503) },
        dialled: None,
        excerpt: Some(format!("busy {number}")),
    };
    outbox::deliver(&org, subscriber.id, &event, |delivery| {
        let schedule = Schedule { time_scale: TimeScale::default(), jitter: 0.0 };
        for attempted in 1..=11 {
            if matches!(attempted, 6 | 7) {
                *delivery = delivery.replayed(now);
            }
            let claim = Claim::begin(now);
            *delivery = delivery.claimed(claim).after_attempt(claim, failed(attempted), now, schedule);
        }
    })
    .await;
    let page = subscriber.admin.get(&subscriber.delivery_path(event.id)).await;
    let places: Vec<_> = [
        "After replay 2",
        "Attempt 11:",
        "Attempt 7:",
        "After replay 1",
        "Attempt 6:",
        "First schedule",
        "Attempt 5:",
        "Attempt 1:",
    ]
    .map(|text| page.body.find(text).unwrap_or_else(|| panic!("{text}: {}", page.body)))
    .into();
    assert!(places.is_sorted(), "{places:?}");
    assert!(page.says("All 5 attempts since the last replay failed"), "{}", page.body);
    let open = page.body.split("<details class=\"response\"").skip(1).map(|rest| rest.starts_with(" open>"));
    assert_eq!(open.collect::<Vec<_>>(), [&[true][..], &[false; 10]].concat());
}

#[tokio::test]
async fn a_rotation_keeps_the_old_secret_for_a_day_unless_told_otherwise() {
    let org = Org::with(Needs::SHARED.with_stream()).await;
    let subscriber = org.subscriber().await;
    let page = subscriber.admin.get(&subscriber.path()).await;
    assert!(page.says("value=\"keep\" aria-describedby=\"old-keep-about\" checked"), "{}", page.body);
    let rotated = subscriber.press("rotate", &[]).await;
    assert_eq!(rotated.status, 303, "{}", rotated.body);
    let page = subscriber.admin.get(rotated.location()).await;
    assert!(page.says("Previous secret valid until"), "{}", page.body);
    for text in ["data-copy=\"secret\" hidden>Copy<", "def verify(secret, headers, body", "id=\"verify-ts\""] {
        assert!(page.says(text), "{text}: {}", page.body);
    }
}

struct History {
    org: Org,
    subscriber: Subscriber,
    deliveries: Vec<Delivery>,
}

const STATES: [&str; 3] = ["delivered", "exhausted", "waiting"];

impl History {
    async fn of(count: usize) -> Self {
        let org = Org::with(Needs::OWN.without_background()).await;
        let subscriber = org.subscriber().await;
        let now = Timestamp::now();
        let events: Vec<_> = (0..count)
            .map(|n| {
                outbox::event_at(now.plus_seconds(60 * (i64::try_from(n).unwrap() - i64::try_from(count).unwrap())))
            })
            .collect();
        outbox::insert_relayed(&org, &events).await;
        let write = |(n, event)| {
            outbox::deliver(&org, subscriber.id, event, move |delivery| {
                delivery.progress = match STATES[n % STATES.len()] {
                    "delivered" => Progress::Delivered { at: now },
                    "exhausted" => Progress::Exhausted { at: now },
                    _ => Progress::Waiting { due_at: now.plus_seconds(7200), claim: None },
                };
            })
        };
        let deliveries = join_all(events.iter().enumerate().map(write)).await;
        Self { org, subscriber, deliveries }
    }

    fn in_state(&self, state: &str) -> Vec<&Delivery> {
        self.deliveries.iter().filter(|delivery| delivery.state().as_str() == state).collect()
    }

    fn on(&self, page: &Page) -> Vec<EventId> {
        let start = format!("href=\"{}/deliveries/", self.subscriber.path());
        let mut found = Vec::new();
        let mut rest = page.body.as_str();
        while let Some((_, after)) = rest.split_once(&start) {
            found.push(after[..36].parse().expect("an id"));
            rest = after;
        }
        found
    }

    async fn pages(&self, query: &str) -> Vec<Vec<EventId>> {
        let mut pages = Vec::new();
        let mut path = format!("{}?{query}", self.subscriber.path());
        loop {
            let page = self.subscriber.admin.get(&path).await;
            pages.push(self.on(&page));
            let older = page
                .body
                .split("href=\"")
                .find(|rest| rest.split_once("</a>").is_some_and(|(link, _)| link.ends_with(">Older")));
            let Some(older) = older.and_then(|rest| rest.split('"').next()) else { return pages };
            let older = older.replace("&#38;", "&").replace("&amp;", "&");
            path = String::from(older.split('#').next().unwrap_or_default());
        }
    }
}

#[tokio::test]
async fn deliveries_are_listed_newest_first_by_state_and_type_page_by_page() {
    let history = History::of(60).await;
    let newest_first = |mut deliveries: Vec<&Delivery>| {
        deliveries.reverse();
        deliveries.into_iter().map(|delivery| delivery.event_id).collect::<Vec<_>>()
    };
    let pages = history.pages("").await;
    assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), [25, 25, 10]);
    assert_eq!(pages.concat(), newest_first(history.deliveries.iter().collect()));
    for state in STATES {
        let pages = history.pages(&format!("state={state}")).await;
        assert_eq!(pages.concat(), newest_first(history.in_state(state)), "{state}");
    }
    let pages = history.pages("type=workspace.activated&state=").await;
    assert_eq!(pages.concat().len(), 60);
    for query in ["type=proposal.created", "state=held", "state=queued&type=webhook.test"] {
        assert!(history.pages(query).await.concat().is_empty(), "{query}");
        let page = history.subscriber.admin.get(&format!("{}?{query}", history.subscriber.path())).await;
        assert!(page.says("No such delivery") && page.says("Show all deliveries"), "{}", page.body);
    }
}

#[tokio::test]
async fn what_was_not_delivered_since_a_moment_is_counted_and_replayed() {
    let history = History::of(30).await;
    let (org, subscriber) = (&history.org, &history.subscriber);
    let page = subscriber.admin.get(&subscriber.path()).await;
    assert!(page.says("20 events since"), "{}", page.body);
    let since = history.deliveries[15].created_at;
    let since_text: String = since.to_string().chars().take(19).collect();
    let newer: Vec<&Delivery> = history.deliveries.iter().filter(|delivery| since <= delivery.created_at).collect();
    let replayed: BTreeSet<EventId> =
        newer.iter().filter(|delivery| delivery.state().is_undelivered()).map(|delivery| delivery.event_id).collect();
    let count = subscriber.press("count", &[("since", &since_text)]).await;
    assert_eq!(count.status, 303, "{}", count.body);
    assert!(!count.location().contains("form_token"), "{}", count.location());
    let counted = subscriber.admin.get(count.location()).await;
    assert!(counted.says(&format!("{} events since", replayed.len())), "{}", counted.body);
    let shown = TimeZone::default().write_local_second(since);
    assert!(counted.says(&format!("value=\"{shown}\"")), "{}", counted.body);
    let wrong = subscriber.press("replay", &[("since", "yesterday")]).await;
    assert!(wrong.status == 422 && wrong.says("Nothing was replayed"), "{}", wrong.body);
    let asked = subscriber.admin.get(&format!("{}?since=yesterday", subscriber.path())).await;
    for page in [wrong, asked] {
        for text in [
            "value=\"yesterday\" aria-describedby=\"since-hint since-error\" aria-invalid=\"true\"",
            "<p id=\"since-error\" class=\"field-error\">Since must be a date, with a time of day if it matters, such as 26 Nov 2026 17:00",
            "20 events since",
        ] {
            assert!(page.says(text), "{text}: {}", page.body);
        }
    }

    // The field is in the organization's time zone, here five hours behind.
    let token = subscriber.admin.get("/app").await.hidden("form_token");
    let zone = [("form_token", token.as_str()), ("name", "Harbor"), ("time_zone", "America/Panama")];
    assert_eq!(subscriber.admin.post("/app/organization", &zone).await.status, 303);
    let behind: String = since.plus_seconds(-5 * 3600).to_string().chars().take(19).collect();
    let count = subscriber.press("count", &[("since", &behind)]).await;
    let counted = subscriber.admin.get(count.location()).await;
    for text in [
        &format!("{} events since", replayed.len()),
        &format!("value=\"{}\"", TimeZone::parse("America/Panama").expect("a zone").write_local_second(since)),
        "in the time zone EST.",
    ] {
        assert!(counted.says(text), "{text}: {}", counted.body);
    }
    assert_eq!(subscriber.press("replay", &[("since", &behind)]).await.status, 303);
    assert!(subscriber.admin.get(&subscriber.path()).await.says("A replay is under way"));
    let clockwork = Clockwork::of(org);
    clockwork.first_tick().await;
    let mut due = Vec::new();
    for before in &history.deliveries {
        let after = subscriber.delivery(org, before.event_id).await.expect("a delivery").into_inner();
        if replayed.contains(&before.event_id) {
            assert_eq!((after.state().as_str(), after.failures), ("queued", 0));
            due.push(after.due_at().expect("it is due"));
        } else {
            assert_eq!(after, *before);
        }
    }
    assert!(due.is_sorted(), "in the order of time");
    assert!(!subscriber.admin.get(&subscriber.path()).await.says("A replay is under way"));
    // The due index agrees: each is woken when due, and arrives once.
    let sender = clockwork.sender(org);
    let arriving = async {
        while subscriber.receiver.arrivals().len() < replayed.len() {
            clockwork.first_tick().await;
            for wake in clockwork.queue.wakes() {
                sender.handle(wake).await.expect("it is handled");
            }
        }
    };
    Box::pin(in_time("all arrive", arriving)).await;
    let arrived: Vec<EventId> = subscriber.receiver.arrivals().iter().map(Arrival::event_id).collect();
    assert_eq!(arrived.len(), replayed.len());
    assert_eq!(arrived.into_iter().collect::<BTreeSet<_>>(), replayed);
}

#[tokio::test]
async fn a_backlog_goes_out_in_the_order_of_time_and_its_page_says_how_far_it_is() {
    // More than a page of them.
    const COUNT: usize = 120;
    let org = Org::with(Needs::OWN.without_background()).await;
    let (subscriber, other) = (org.subscriber().await, org.subscriber().await);
    let clockwork = Clockwork::of(&org);
    let begun = Timestamp::now().plus_seconds(-10_000);
    let events: Vec<_> = (0..).take(COUNT).map(|n| outbox::event_at(begun.plus_seconds(n))).collect();
    outbox::insert_relayed(&org, &events).await;
    let hold = |endpoint, event| {
        outbox::deliver(&org, endpoint, event, |delivery| {
            delivery.progress = Progress::Held { at: delivery.created_at }
        })
    };
    for some in events.chunks(20) {
        join_all(some.iter().map(|event| hold(subscriber.id, event))).await;
    }
    hold(other.id, &events[0]).await;
    for endpoint in [&subscriber, &other] {
        assert_eq!(endpoint.press("pause", &[]).await.status, 303);
        assert!(!endpoint.admin.get(&endpoint.path()).await.says("to be sent"), "it is paused");
        assert_eq!(endpoint.press("resume", &[]).await.status, 303);
        endpoint.admin.get(&endpoint.path()).await;
    }
    // Its latest entry stands for all of them.
    assert_eq!(subscriber.press("pause", &[]).await.status, 303);
    assert_eq!(subscriber.press("resume", &[]).await.status, 303);
    subscriber.admin.get(&subscriber.path()).await;
    let left = async |endpoint: &Subscriber, says: &str| endpoint.admin.get(&endpoint.path()).await.says(says);
    assert!(left(&subscriber, "120 held events still wait to be sent").await);
    assert!(left(&other, "1 held event still waits to be sent").await);

    // Without time, nothing changes, and the work stays due.
    let entries = rows::due_items(org.stack().table(), org.id, Due::Endpoint).await;
    let entries: Vec<DueEntry> = entries.iter().filter_map(|item| DueEntry::of(Key::of(item)?)).collect();
    assert_eq!(entries.len(), 3);
    for entry in entries {
        let ended = clockwork.relay().process(entry, tokio::time::Instant::now()).await;
        assert_eq!(ended.expect("the table answers"), RelayOutcome::OutOfTime);
    }
    assert!(left(&subscriber, "120 held events still wait to be sent").await);

    let tick = clockwork.first_tick().await;
    assert_eq!((tick.relayed, tick.failed), (2, 0), "{tick:?}");
    assert!(rows::due_items(org.stack().table(), org.id, Due::Endpoint).await.is_empty());
    for endpoint in [&subscriber, &other] {
        assert!(!left(endpoint, "to be sent").await);
    }
    let mut due = Vec::new();
    for event in &events {
        let delivery = subscriber.delivery(&org, event.id).await.expect("it is there");
        assert_eq!(delivery.state(), DeliveryState::Queued);
        due.push(delivery.due_at().expect("it is due").unix_ms());
    }
    let spacings: Vec<i64> = due.windows(2).map(|two| two[1] - two[0]).collect();
    assert!(spacings.iter().all(|ms| *ms >= limits::RESUME_SPACING_MS), "{spacings:?}");
}

/// From the event on while the relay has yet to create it; afterwards only if it was created.
#[tokio::test]
async fn the_page_of_a_delivery_that_is_not_made_is_there_only_while_the_relay_is_due() {
    let org = Org::with(Needs::OWN.without_background()).await;
    let subscriber = org.subscriber().await;
    let event = outbox::event();
    outbox::emit(&org, std::slice::from_ref(&event)).await;
    let path = subscriber.delivery_path(event.id);
    assert_eq!(subscriber.admin.get(&path).await.status, 200, "it is about to be made");

    Clockwork::of(&org).first_tick().await;
    assert!(subscriber.delivery(&org, event.id).await.is_some());
    assert_eq!(subscriber.admin.get(&path).await.status, 200);

    let key = DeliveryKey { org: org.id, endpoint: subscriber.id, event: event.id };
    assert!(org.stack().table().store().delete_delivery(key, None).await.expect("the table answers"));
    assert_eq!(subscriber.admin.get(&path).await.status, 404, "nobody will make it again");
}

#[tokio::test]
async fn a_replay_of_all_waits_for_an_attempt_that_began_before_it() {
    let org = Org::with(Needs::OWN.without_background()).await;
    let subscriber = org.subscriber().await;
    // Long enough ago for the whole schedule.
    let event = outbox::event_at(Timestamp::now().plus_seconds(-10_000));
    outbox::insert_relayed(&org, std::slice::from_ref(&event)).await;
    let clockwork = Clockwork::of(&org);
    let key = DeliveryKey { org: org.id, endpoint: subscriber.id, event: event.id };
    let store = org.stack().table().store();
    let mut due_at = event.created_at;
    let queued = Delivery::new(subscriber.id, event.id, event.event_type, due_at, due_at);
    store.create_delivery(key, &queued, due_at).await.expect("the table answers");
    // Its last attempt fails: no other would follow by itself.
    let schedule = Schedule { time_scale: TimeScale::default(), jitter: 0.0 };
    let failed_at = |at| Attempt {
        number: 0,
        replays: 0,
        at,
        duration_ms: 1,
        outcome: Outcome::Failed { class: FailureClass::HttpError, status: Some(503) },
        dialled: None,
        excerpt: None,
    };
    let fail = async |claim: Claim, begun_at: Timestamp| {
        let before = store.delivery(key).await.expect("the table answers").expect("a delivery");
        let after = before.after_attempt(claim, failed_at(begun_at), begun_at, schedule);
        assert!(store.settle_delivery(org.id, &before, &after).await.expect("the table answers"));
    };
    for last in [false, false, false, false, true] {
        let claim = Claim::begin(if last { Timestamp::now() } else { due_at });
        store.claim_delivery(key, claim, due_at).await.expect("the table answers").expect("it is due");
        if !last {
            fail(claim, due_at).await;
            due_at = subscriber.delivery(&org, event.id).await.and_then(|waits| waits.due_at()).expect("it waits");
            continue;
        }
        let begun_at = Timestamp::now();
        let since: String = event.created_at.plus_seconds(-60).to_string().chars().take(19).collect();
        assert_eq!(subscriber.press("replay", &[("since", &since)]).await.status, 303);
        clockwork.first_tick().await;
        assert!(subscriber.admin.get(&subscriber.path()).await.says("A replay is under way"));
        fail(claim, begun_at).await;
        let state = subscriber.delivery(&org, event.id).await.map(|delivery| delivery.state());
        assert_eq!(state, Some(DeliveryState::Exhausted));
    }
    clockwork.first_tick().await;
    let replayed = subscriber.delivery(&org, event.id).await.expect("a delivery");
    assert_eq!((replayed.state(), replayed.replays), (DeliveryState::Queued, 1));
    assert!(!subscriber.admin.get(&subscriber.path()).await.says("A replay is under way"));
}
