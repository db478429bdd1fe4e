//! The whole local stack, from an act over the API to the subscriber.

use std::sync::Arc;

use futures_util::future::join_all;
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use shared::domain::delivery::{Delivery, Progress};
use shared::domain::ids::EventId;
use shared::limits;
use tests::app::Browser;
use tests::{Needs, Org, Stack, outbox, subscriber};
use tokio::net::TcpListener;

use crate::processor_time::{taken_by_s, taken_s};
use crate::receiver::Receiver;
use crate::rounded;

const PROPOSALS: &str = "/api/v1/proposals";
const APART: usize = 200;
const TOGETHER: usize = 600;
const AT_A_TIME: usize = 16;
const BACKLOG: usize = 3000;
const SPREAD: usize = 200;
/// The thread of the embedded store, which answers one call after the other.
const STORE: &str = "store";

pub async fn measure() -> Value {
    let stack = Stack::with(Needs::MEASURED);
    eprintln!("Measuring the local stack");
    let one = case(&stack, false).await;
    eprintln!("Measuring the local stack with a dead endpoint");
    let beside_dead = case(&stack, true).await;
    let spread = spread(&stack).await;
    let ratio = |name: &str| {
        let figure = |row: &Value| row[name].as_f64().unwrap_or(f64::NAN);
        (figure(&beside_dead) / figure(&one) * 100.0).round() / 100.0
    };
    json!({
        "ratio_p50": ratio("p50_ms"),
        "ratio_events_per_s": ratio("events_per_s"),
        "one": one,
        "beside_dead": beside_dead,
        "spread": spread,
    })
}

/// Few acts whose events all endpoints of an organization want: what deliveries take by themselves.
async fn spread(stack: &Arc<Stack>) -> Value {
    eprintln!("Measuring the local stack with {} endpoints", limits::ENDPOINTS_MAX);
    let org = Org::on(stack.clone()).await;
    let admin = Browser::of(&org, &org.admin("Ines Duarte").await).await;
    let mut receivers = Vec::new();
    for _ in 0..limits::ENDPOINTS_MAX {
        let receiver = Receiver::start().await;
        assert_eq!(subscriber::add(&admin, &receiver.url(), &[]).await.status, 303);
        receivers.push(receiver);
    }
    let drafts = drafts(&org, SPREAD).await;
    let taken = || Some([taken_s()?, taken_by_s(STORE)?]);
    let (began, before) = (std::time::Instant::now(), taken());
    propose_all(&org, &drafts).await;
    join_all(receivers.iter().map(|receiver| receiver.wait_for(SPREAD))).await;
    let (took, after) = (began.elapsed(), taken());
    let deliveries = SPREAD * receivers.len();
    let us_each = |seconds: f64| rounded(seconds * 1e6 / deliveries as f64);
    let taken = after.zip(before).map(|(after, before)| [0, 1].map(|at| after[at] - before[at]));
    json!({
        "deliveries": deliveries,
        "per_s": rounded(deliveries as f64 / took.as_secs_f64()),
        "us_each": us_each(took.as_secs_f64()),
        "processor_us_each": taken.map(|[all, _]| us_each(all)),
        "store_us_each": taken.map(|[_, store]| us_each(store)),
    })
}

/// From `Resume` to the last arrival of what was held. The clock's own waits, a minute each, are a sixtieth.
pub async fn backlog() -> Value {
    eprintln!("Measuring a backlog");
    let org = Org::on(Stack::with(Needs::MEASURED.own().time_scale(60))).await;
    let subscriber = org.subscriber().await;
    assert_eq!(subscriber.press("pause", &[]).await.status, 303);
    let events: Vec<_> = (0..BACKLOG).map(|_| outbox::event()).collect();
    outbox::insert_relayed(&org, &events).await;
    for some in events.chunks(AT_A_TIME) {
        let hold = |delivery: &mut Delivery| delivery.progress = Progress::Held { at: delivery.created_at };
        join_all(some.iter().map(|event| outbox::deliver(&org, subscriber.id, event, hold))).await;
    }
    assert_eq!(subscriber.press("resume", &[]).await.status, 303);
    let began = std::time::Instant::now();
    subscriber.receiver.wait_for(BACKLOG).await;
    let per_s = BACKLOG as f64 / began.elapsed().as_secs_f64();
    json!({
        "deliveries": BACKLOG,
        "per_s": rounded(per_s),
        "minutes_for_100000": rounded(100_000.0 / per_s / 60.0),
    })
}

async fn case(stack: &Arc<Stack>, has_dead: bool) -> Value {
    let org = Org::on(stack.clone()).await;
    let admin = Browser::of(&org, &org.admin("Ines Duarte").await).await;
    let receiver = Receiver::start().await;
    // Accepts connections and never answers.
    let dead = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    if has_dead {
        let url = format!("http://{}/hook", dead.local_addr().expect("an address"));
        assert_eq!(subscriber::add(&admin, &url, &[]).await.status, 303);
    }
    assert_eq!(subscriber::add(&admin, &receiver.url(), &[]).await.status, 303);

    let drafts = drafts(&org, APART + TOGETHER).await;
    for (n, draft) in drafts[..APART].iter().enumerate() {
        propose(&org, draft).await;
        receiver.wait_for(n + 1).await;
    }
    // The event's id has its time in milliseconds, shortly before its commit.
    let happened_at = |event: &str| {
        let id: EventId = event.parse().expect("an event's id");
        let (seconds, nanos) = id.uuid().get_timestamp().expect("a moment").to_unix();
        f64::from(nanos) / 1e6 + seconds as f64 * 1e3
    };
    let mut times: Vec<f64> = receiver
        .events()
        .iter()
        .map(|event| receiver.arrived_at(event).expect("it has arrived").unix_ms() as f64 - happened_at(event))
        .collect();
    times.sort_by(f64::total_cmp);

    let began = std::time::Instant::now();
    propose_all(&org, &drafts[APART..]).await;
    let acts_took = began.elapsed();
    receiver.wait_for(APART + TOGETHER).await;
    let took = began.elapsed();
    json!({
        "events": APART + TOGETHER,
        "p50_ms": rounded(times[times.len() / 2]),
        "p95_ms": rounded(times[times.len() * 95 / 100]),
        "acts_per_s": rounded(TOGETHER as f64 / acts_took.as_secs_f64()),
        "events_per_s": rounded(TOGETHER as f64 / took.as_secs_f64()),
        "doubled": receiver.count().1,
    })
}

async fn drafts(org: &Org, count: usize) -> Vec<Value> {
    let workspace = org.workspace("Quayside").await;
    let mut drafts = Vec::new();
    for n in 0..count {
        drafts.push(org.empty_draft(&workspace, &format!("Lease {n}")).await["id"].clone());
    }
    drafts
}

/// An act that writes an event.
async fn propose(org: &Org, draft: &Value) {
    let body = json!({"action": "cancel_agreement", "agreement_id": draft});
    org.post(PROPOSALS, &body).send().await.ok(201);
}

async fn propose_all(org: &Org, drafts: &[Value]) {
    stream::iter(drafts).map(|draft| propose(org, draft)).buffer_unordered(AT_A_TIME).collect::<Vec<()>>().await;
}
