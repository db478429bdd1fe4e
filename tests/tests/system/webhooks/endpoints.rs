//! Endpoints in the hands of admins: what may be entered, and what each button does to deliveries that wait or are under
//! way.

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::Value;
use shared::domain::delivery::{Delivery, Progress};
use shared::domain::ids::EventId;
use shared::domain::time::Timestamp;
use shared::webhook::signature;
use tests::app::{Browser, Page};
use tests::clockwork::Clockwork;
use tests::receiver::{Arrival, Hold, Reaction, Receiver};
use tests::subscriber::{DEVELOPERS, Subscriber, add};
use tests::wait::in_time;
use tests::{Fault, Needs, Org, Rule, Shaky, eventually, outbox, rows};

/// Ways into a network, and what is no endpoint for another reason.
const REFUSED: [&str; 26] = [
    "",
    "hooks.example.com/countersign",
    "ftp://hooks.example.com/",
    "http://8.8.8.8/hook",
    "https://10.0.0.7/",
    "https://172.16.0.1/",
    "https://192.168.1.1./",
    "https://169.254.169.254/latest/meta-data/",
    "https://100.64.0.1/",
    "https://0.0.0.0/",
    "https://0x0a000001/",
    "https://167772161/",
    "https://012.0.0.1/",
    "https://[fd00::1]/",
    "https://[fe80::1]/",
    "https://[::ffff:10.0.0.1]/",
    "https://[64:ff9b::a00:1]/",
    "https://[2002:a00:1::]/",
    "https://user:pass@8.8.8.8/",
    "https://8.8.8.8/#part",
    "https://8.8.8.8:0/",
    "https://8.8.8.8:99999/",
    "https://hooks.internal/",
    "https://printer.local/",
    "https://intranet/",
    "https://127.0.0.1\\@8.8.8.8/",
];

fn said(page: &Page, url: &str) {
    assert_eq!(page.status, 422, "{url}");
    assert!(page.says("class=\"field-error\">The URL can’t be used: it must "), "{url}: {}", page.body);
    assert!(page.says(&format!("value=\"{url}\"")), "{url} is kept: {}", page.body);
}

/// Goal S2, at the app.
#[tokio::test]
async fn an_address_that_is_not_public_is_refused_and_what_was_typed_is_kept() {
    let org = Org::with(Needs::SHARED.with_stream()).await;
    let subscriber = org.subscriber().await;
    let before = org.state().await;
    let long = format!("https://8.8.8.8/{}", "x".repeat(2000));
    for url in REFUSED.into_iter().chain([long.as_str()]) {
        for page in [
            add(&subscriber.admin, url, &["proposal.created"]).await,
            subscriber.edit(url, &["proposal.created"]).await,
        ] {
            said(&page, url);
            assert!(page.says("name=\"event:proposal.created\" value=\"on\" checked"), "{}", page.body);
            assert!(!page.says("name=\"event:proposal.declined\" value=\"on\" checked"), "{}", page.body);
        }
    }
    assert_eq!(org.state().await, before);
    // What is no type is no choice.
    let known = add(&subscriber.admin, &subscriber.receiver.url(), &["movement.dreamt_of"]).await;
    assert_eq!(known.status, 303);
    assert!(subscriber.admin.get(known.location()).await.says("All events"));
}

/// An endpoint whose address was fine once: its name leads elsewhere now, or the guard has become stricter.
#[tokio::test]
async fn an_address_is_judged_again_by_a_test_and_by_every_attempt() {
    let org = Org::with(Needs::OWN.time_scale(600)).await;
    let subscriber = org.subscriber().await;
    set_url(&org, &subscriber, "https://10.0.0.7/hook").await;
    let before = org.events().await.len();
    let page = subscriber.press("test", &[]).await;
    assert_eq!(page.status, 422);
    assert!(page.says("No test was sent") && page.says("must lead to a public host"), "{}", page.body);
    assert_eq!(org.events().await.len(), before);

    let events = [outbox::event()];
    outbox::tell(&org, &events).await;
    let waiting = subscriber.wait_until(&org, events[0].id, "attempted", |delivery| delivery.attempted > 0).await;
    let attempt = serde_json::to_value(&waiting.attempts[0]).unwrap();
    assert_eq!((&attempt["result"], &attempt["class"]), (&"failed".into(), &"address_refused".into()));
    assert!(attempt.get("dialled").is_none(), "{attempt}");
    assert!(subscriber.admin.get(&subscriber.delivery_path(events[0].id)).await.says("address_refused"));
}

async fn set_url(org: &Org, subscriber: &Subscriber, url: &str) {
    use aws_sdk_dynamodb::types::AttributeValue;
    let table = org.stack().table();
    let update = table.client().update_item().table_name(&table.name);
    let update = update
        .set_key(Some(shared::store::keys::endpoint(org.id, subscriber.id).into_item()))
        .update_expression("SET #url = :url")
        .condition_expression("attribute_exists(pk)")
        .expression_attribute_names("#url", "url")
        .expression_attribute_values(":url", AttributeValue::S(url.to_owned()));
    update.send().await.expect("the endpoint is there");
}

#[tokio::test]
async fn there_is_room_for_twenty() {
    let org = Org::with(Needs::SHARED.with_stream()).await;
    let admin = Browser::of(&org, &org.admin("Ines Duarte").await).await;
    let receiver = Receiver::new().await;
    for _ in 0..20 {
        assert_eq!(add(&admin, &receiver.url(), &[]).await.status, 303);
    }
    let page = admin.get(DEVELOPERS).await;
    assert!(page.says("There is no room for another one") && !page.says("Add endpoint"), "{}", page.body);
    let path = page
        .body
        .split("href=\"")
        .find_map(|rest| rest.split('"').next().filter(|path| path.starts_with("/app/developers/endpoints/")));
    let path = path.expect("an endpoint's link").to_owned();
    let token = admin.get(&path).await.hidden("form_token");
    let full = admin.post(DEVELOPERS, &[("form_token", &token), ("url", &receiver.url())]).await;
    assert_eq!(full.status, 422);
    assert!(full.says("There is no room for another endpoint"), "{}", full.body);
    assert_eq!(admin.post(&path, &[("form_token", &token), ("act", "delete")]).await.status, 303);
    assert_eq!(add(&admin, &receiver.url(), &[]).await.status, 303);
}

/// Whoever is overtaken can still see what they typed, to put it where there is room.
#[tokio::test]
async fn what_was_typed_stays_when_somebody_else_takes_the_last_place() {
    let org = Org::with(Needs::SHARED.with_stream()).await;
    let admin = Browser::of(&org, &org.admin("Ines Duarte").await).await;
    let receiver = Receiver::new().await;
    for _ in 0..19 {
        assert_eq!(add(&admin, &receiver.url(), &[]).await.status, 303);
    }
    let token = admin.get(DEVELOPERS).await.hidden("form_token");
    assert_eq!(add(&admin, &receiver.url(), &[]).await.status, 303);
    let empty = admin.get(DEVELOPERS).await;
    assert!(!empty.says("Add endpoint") && empty.says("There is no room for another one"), "{}", empty.body);
    for (url, why) in [
        ("https://8.8.8.8/hooks?tenant=7", "There is no room for another endpoint"),
        ("https://10.20.30.40/hooks", "The URL can’t be used"),
    ] {
        let typed = [("form_token", token.as_str()), ("url", url), ("event:proposal.created", "on")];
        let full = admin.post(DEVELOPERS, &typed).await;
        assert_eq!(full.status, 422, "{}", full.body);
        let chosen = "name=\"event:proposal.created\" value=\"on\" checked";
        let shown = [why, &format!("value=\"{url}\""), chosen, "Add endpoint", "There is no room for another one"];
        for text in shown {
            assert!(full.says(text), "{text}: {}", full.body);
        }
        assert!(!full.says("name=\"event:proposal.expired\" value=\"on\" checked"), "{}", full.body);
    }
}

/// However many admins find room at the same moment.
#[tokio::test]
async fn there_is_room_for_twenty_also_when_more_are_added_at_once() {
    const ADMINS: usize = 3;
    const EACH: usize = 9;
    let org = Org::with(Needs::SHARED.with_stream()).await;
    let receiver = Receiver::new().await;
    let mut admins = Vec::new();
    for n in 0..ADMINS {
        let admin = Browser::of(&org, &org.admin(&format!("Admin {n}")).await).await;
        let token = admin.get(DEVELOPERS).await.hidden("form_token");
        admins.push((admin, token));
    }
    let url = receiver.url();
    let add_one = async |n: usize| {
        let (admin, token) = &admins[n % ADMINS];
        admin.post(DEVELOPERS, &[("form_token", token), ("url", &url)]).await
    };
    let is_refused = |page: &Page| page.status == 422 && page.says("There is no room for another endpoint");
    let ended = join_all((0..ADMINS * EACH).map(add_one)).await;
    let (added, rest): (Vec<&Page>, Vec<&Page>) = ended.iter().partition(|page| page.status == 303);
    assert_eq!(added.len(), 20);
    for page in rest {
        assert!(is_refused(page), "{}", page.body);
    }
    // Those that go at once leave as much room as they took.
    let gone = join_all(added.iter().take(3).map(async |page| {
        let (admin, token) = &admins[0];
        admin.post(page.location(), &[("form_token", token), ("act", "delete")]).await
    }))
    .await;
    assert!(gone.iter().all(|page| page.status == 303));
    let ended = join_all((0..6).map(add_one)).await;
    assert_eq!(ended.iter().filter(|page| page.status == 303).count(), 3);
    assert_eq!(ended.iter().filter(|page| is_refused(page)).count(), 3);
}

/// The twentieth is added, though the store seems to refuse it: it does not stand in its own way.
#[tokio::test]
async fn the_last_endpoint_there_is_room_for_is_added_also_when_the_answer_is_lost() {
    let org = Org::with(Needs::SHARED.with_stream()).await;
    let person = org.admin("Ines Duarte").await;
    let shaky = Shaky::beside(&org);
    let admin = shaky.browser_of(&person).await;
    let receiver = Receiver::new().await;
    for _ in 0..19 {
        assert_eq!(add(&admin, &receiver.url(), &[]).await.status, 303);
    }
    shaky.faults.inject(Rule::on("TransactWriteItems").containing("#ENDPOINTS").times(1), Fault::LateCommit);
    let added = add(&admin, &receiver.url(), &[]).await;
    assert_eq!(added.status, 303, "{}", added.body);
    assert!(tests::subscriber::secret_on(&admin.get(added.location()).await).is_some(), "the secret is shown");
    assert_eq!(add(&admin, &receiver.url(), &[]).await.status, 422);
}

#[tokio::test]
async fn while_it_is_paused_deliveries_are_held_and_then_go_out_in_the_order_of_time() {
    const COUNT: usize = 30;
    let org = Org::with(Needs::OWN.time_scale(600)).await;
    let subscriber = org.subscriber().await;
    assert_eq!(subscriber.press("pause", &[]).await.status, 303);
    // Written in another order than that of their time.
    let later: Vec<_> = (0..COUNT).map(|_| outbox::event()).collect();
    let mut shuffled = later.clone();
    shuffled.reverse();
    outbox::tell(&org, &shuffled).await;
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
    // Attempts are made side by side, and a busy machine lets some pass others: not the last third the first one, though.
    let at = |place: usize| places.iter().position(|found| *found == place).expect("it arrived");
    let (first, last) = ((0..COUNT / 3).map(at).max(), (COUNT - COUNT / 3..COUNT).map(at).min());
    assert!(first < last, "{places:?}");
    assert!(!subscriber.admin.get(&subscriber.path()).await.says("Deliveries are held"));
}

/// A subscriber with an attempt at a test under way, which is answered when the hold is dropped.
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
    // One of each kind besides the one under way.
    subscriber.receiver.answer(Reaction::status(503));
    let waiting = subscriber.test().await;
    subscriber.wait_until(&org, waiting, "attempted", |delivery| delivery.attempted > 0).await;
    subscriber.press("pause", &[]).await;
    let held = outbox::event();
    outbox::tell(&org, std::slice::from_ref(&held)).await;
    subscriber.wait_for(&org, held.id, "held").await;
    let (event, hold) = begin(&subscriber, 200).await;

    let gone = subscriber.press("delete", &[]).await;
    assert_eq!((gone.status, gone.location()), (303, DEVELOPERS));
    for path in [subscriber.path(), format!("{}/edit", subscriber.path()), subscriber.delivery_path(event)] {
        assert_eq!(subscriber.admin.get(&path).await.status, 404, "{path}");
    }
    assert!(!subscriber.admin.get(DEVELOPERS).await.says(&subscriber.receiver.url()));
    let before = subscriber.receiver.arrivals().len();
    other.test().await;
    other.receiver.wait_for(2).await;
    // Also after the attempt that was under way has ended.
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

/// An endpoint with deliveries in all states, one a minute, the oldest first.
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
        outbox::keep(&org, &events).await;
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

    /// The deliveries on a page, in its order.
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

    /// All pages of a filter.
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
    assert!(counted.says(&format!("value=\"{since_text}\"")), "{}", counted.body);
    let wrong = subscriber.press("replay", &[("since", "yesterday")]).await;
    assert!(wrong.status == 422 && wrong.says("Nothing was replayed"), "{}", wrong.body);
    let asked = subscriber.admin.get(&format!("{}?since=yesterday", subscriber.path())).await;
    for page in [wrong, asked] {
        for text in [
            "value=\"yesterday\" aria-describedby=\"since-hint since-error\" aria-invalid=\"true\"",
            "<p id=\"since-error\" class=\"field-error\">Since must be a date with a time",
            "20 events since",
        ] {
            assert!(page.says(text), "{text}: {}", page.body);
        }
    }

    assert_eq!(subscriber.press("replay", &[("since", &since_text)]).await.status, 303);
    assert!(subscriber.admin.get(&subscriber.path()).await.says("A replay is under way"));
    // One that is delivered meanwhile stays so.
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
    // The due index agrees: each is woken when its time has come, and arrives once.
    let sender = clockwork.sender(org);
    let arriving = async {
        while subscriber.receiver.arrivals().len() < replayed.len() {
            clockwork.first_tick().await;
            for wake in clockwork.queue.wakes() {
                sender.handle(wake).await.expect("it is handled");
            }
        }
    };
    in_time("all arrive", arriving).await;
    let arrived: Vec<EventId> = subscriber.receiver.arrivals().iter().map(Arrival::event_id).collect();
    assert_eq!(arrived.len(), replayed.len());
    assert_eq!(arrived.into_iter().collect::<BTreeSet<_>>(), replayed);
}

#[tokio::test]
async fn only_admins_of_the_organization_come_near() {
    let (org, other) = (Org::with(Needs::SHARED.with_stream()).await, Org::with(Needs::SHARED.with_stream()).await);
    let subscriber = org.subscriber().await;
    let event = subscriber.test().await;
    subscriber.wait_for(&org, event, "delivered").await;
    let edit = format!("{}/edit", subscriber.path());
    let delivery = subscriber.delivery_path(event);
    let posts = |token: &str| {
        let field = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let with = |fields: &[(&str, &str)]| {
            let fields = fields.iter().map(|(name, value)| field(name, value));
            std::iter::once(field("form_token", token)).chain(fields).collect::<Vec<_>>()
        };
        let mut posts = vec![(edit.clone(), with(&[("url", "https://8.8.8.8/")])), (delivery.clone(), with(&[]))];
        for act in ["test", "pause", "resume", "rotate", "delete", "replay"] {
            posts.push((subscriber.path(), with(&[("act", act), ("since", "2026-01-01T00:00")])));
        }
        posts
    };
    let send = async |browser: &Browser, (path, fields): &(String, Vec<(String, String)>), headers: &[(&str, &str)]| {
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        browser.post_with(path, &fields, headers).await
    };
    // How the attempt went is noted a moment after it.
    let noted = async || subscriber.admin.get(&subscriber.path()).await.says(">Working</span>").then_some(());
    eventually("the success is noted", noted).await;
    let before = org.state().await;

    let member = Browser::of(&org, &org.member("Maren Holt").await).await;
    let token = member.get("/app").await.hidden("form_token");
    for path in [DEVELOPERS, &subscriber.path(), &edit, &delivery] {
        assert_eq!(member.get(path).await.status, 403, "{path}");
    }
    let add = (
        DEVELOPERS.to_owned(),
        vec![("form_token".to_owned(), token.clone()), ("url".to_owned(), subscriber.receiver.url())],
    );
    for post in posts(&token).iter().chain([&add]) {
        assert_eq!(send(&member, post, &[]).await.status, 403, "{post:?}");
    }

    let stranger = Browser::of(&other, &other.admin("Noor Haddad").await).await;
    let token = stranger.get("/app").await.hidden("form_token");
    for path in [&subscriber.path(), &edit, &delivery] {
        assert_eq!(stranger.get(path).await.status, 404, "{path}");
    }
    for post in &posts(&token) {
        assert_eq!(send(&stranger, post, &[]).await.status, 404, "{post:?}");
    }
    assert!(!stranger.get(DEVELOPERS).await.says(&subscriber.receiver.url()));

    let own = subscriber.admin.get(&subscriber.path()).await.hidden("form_token");
    for post in &posts(&token) {
        assert_eq!(send(&subscriber.admin, post, &[]).await.status, 403, "a token of another session: {post:?}");
    }
    for post in &posts(&own) {
        let cross = [("sec-fetch-site", "cross-site"), ("origin", "https://evil.example")];
        assert_eq!(send(&subscriber.admin, post, &cross).await.status, 403, "from elsewhere: {post:?}");
    }

    let anybody = Browser::new(org.base_url());
    for post in &posts(&own) {
        let answer = send(&anybody, post, &[]).await;
        assert!(answer.status == 303 && answer.location().starts_with("/app/sign-in"), "{post:?}: {answer:?}");
    }
    let after: Vec<Value> = org.state().await;
    let without_members = |rows: Vec<Value>| {
        rows.into_iter().filter(|row| !row["pk"].as_str().unwrap().ends_with("#MEMBERS")).collect::<Vec<_>>()
    };
    assert_eq!(without_members(after), without_members(before));

    let person = org.admin("Ines Duarte").await;
    for path in [DEVELOPERS.to_owned(), subscriber.path(), edit, delivery] {
        let browser = Browser::new(org.base_url());
        let away = browser.get(&path).await;
        assert_eq!(away.status, 303);
        let next = away.location().strip_prefix("/app/sign-in?next=").expect("the form").to_owned();
        let back = browser.sign_in(&person.email, &person.password, &next).await;
        assert_eq!((back.status, back.location()), (303, path.as_str()));
        assert_eq!(browser.get(&path).await.status, 200);
    }
}

#[tokio::test]
async fn each_act_is_on_record_once_with_what_it_was_about() {
    let org = Org::with(Needs::SHARED.with_stream()).await;
    let admin = Browser::of(&org, &org.admin("Ines Duarte").await).await;
    let receiver = Receiver::new().await;
    let added = add(&admin, &receiver.url(), &[]).await;
    let id = added.location().rsplit('/').next().unwrap().to_owned();
    let secret = tests::subscriber::secret_on(&admin.get(added.location()).await).expect("the secret");
    let subscriber = Subscriber { admin, id: id.parse().unwrap(), secret, receiver };
    let tested = subscriber.press("test", &[]).await;
    let event = tested.location().rsplit('/').next().unwrap().to_owned();
    subscriber.receiver.wait_for(1).await;
    subscriber.wait_for(&org, event.parse().unwrap(), "delivered").await;
    let acts = [
        ("add_endpoint", added, vec![&id]),
        ("send_test_event", tested, vec![&id, &event]),
        ("edit_endpoint", subscriber.edit(&subscriber.receiver.url(), &["proposal.created"]).await, vec![&id]),
        ("replay_delivery", subscriber.replay(&event).await, vec![&id, &event]),
        ("pause_endpoint", subscriber.press("pause", &[]).await, vec![&id]),
        ("resume_endpoint", subscriber.press("resume", &[]).await, vec![&id]),
        ("rotate_secret", subscriber.press("rotate", &[("old", "keep")]).await, vec![&id]),
        ("replay_undelivered", subscriber.press("replay", &[("since", "2026-01-01T00:00")]).await, vec![&id]),
        ("delete_endpoint", subscriber.press("delete", &[]).await, vec![&id]),
    ];
    let audit = rows::audit(org.stack().table(), org.id).await;
    for (operation, page, objects) in acts {
        assert_eq!(page.status, 303, "{operation}: {}", page.body);
        let call = page.headers["x-request-id"].to_str().unwrap();
        let rows: Vec<&Value> = audit.iter().filter(|row| row["sk"] == call).collect();
        assert_eq!(rows.len(), 1, "{operation}");
        assert_eq!((&rows[0]["operation"], &rows[0]["code"]), (&operation.into(), &"ok".into()));
        let named: BTreeSet<String> = rows::objects(rows[0]).into_iter().collect();
        assert_eq!(named, objects.into_iter().cloned().collect(), "{operation}");
        assert_eq!(audit.iter().filter(|row| row["operation"] == operation).count(), 1, "{operation}");
    }
}
