//! `make load`: fifty organizations at once on one local stack, first all of them calm, then with two that are not: one
//! floods the API, and one has twenty endpoints that never answer. Then on a table whose partitions are bounded, again
//! first calm, and then with one that writes more than its partitions take. Everything is on this machine. Calls are made
//! for `SECONDS` (300) beside the flood, and for a third of that in each of the other phases.
//!
//! The embedded store has no partitions, so there they are simulated, with conflicts for shared items. DynamoDB's take
//! 1,000 write units a second, which this machine can't make for one: so they take `PARTITION_UNITS` (100), and the load is
//! less in the same proportion. It is in real time, since retries, deadlines and connections go by the machine's clock.
//!
//! Times are reported, never judged. A lost delivery, or an error of a calm organization, ends it with a failure.
#![allow(clippy::expect_used, clippy::panic, reason = "a wrong answer ends the run there and then")]
#![allow(clippy::cast_precision_loss, reason = "figures are rounded anyway")]

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use local::Partitions;
use mimalloc::MiMalloc;
use serde_json::{Value, json};
use shared::limits;
use tests::app::Browser;
use tests::client::{Client, Request};
use tests::figures::{percentile, resident_mib};
use tests::receiver::{Arrival, Receiver};
use tests::subscriber::{self, Subscriber};
use tests::{Needs, Org, Stack};
use tokio::net::TcpListener;

/// That of the local stack, which is measured here.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

const ORGANIZATIONS: usize = 50;
/// Between the answer to a call of a calm organization and its next call: some 200 calls a second of all.
const THINKS: Duration = Duration::from_millis(240);
/// Calls that the flooding organization has under way, without a pause.
const FLOOD: usize = 16;
/// An organization's calls per second, as a deployment has them by default.
const CALLS_PER_SECOND: u32 = 50;
/// A delivery that arrives later after its event than this counts as late.
const LATE: Duration = Duration::from_secs(1);
/// Endpoints of the organization whose partitions are spent: each of its events is written to for each of them.
const BUSY_ENDPOINTS: usize = 10;
const PARTITION_UNITS: u32 = 100;
const PROPOSALS: &str = "/api/v1/proposals";

/// What one organization saw.
#[derive(Debug, Default)]
struct Seen {
    times: Vec<Duration>,
    statuses: BTreeMap<u16, usize>,
    events: usize,
}

impl Seen {
    async fn call(&mut self, request: Request) -> Value {
        let began = Instant::now();
        let answer = request.send().await;
        self.times.push(began.elapsed());
        *self.statuses.entry(answer.status).or_default() += 1;
        if answer.status < 300 { answer.json() } else { Value::Null }
    }

    /// All of several callers.
    fn of_all(callers: Vec<Self>) -> Self {
        callers.into_iter().fold(Self::default(), |mut all, seen| {
            all.times.extend(seen.times);
            for (status, count) in seen.statuses {
                *all.statuses.entry(status).or_default() += count;
            }
            all.events += seen.events;
            all
        })
    }

    fn errors(&self) -> usize {
        self.statuses.iter().filter(|(status, _)| **status >= 400).map(|(_, count)| count).sum()
    }

    /// Proposes to cancel a new draft, which is an event.
    async fn propose(&mut self, client: &Client, workspace: &Value, n: usize) {
        let draft = json!({"workspace_id": workspace["id"], "name": format!("Lease {n}")});
        let draft = self.call(client.post("/api/v1/agreements", &draft)).await;
        let proposal = json!({"action": "cancel_agreement", "agreement_id": draft["id"]});
        if !self.call(client.post(PROPOSALS, &proposal)).await.is_null() {
            self.events += 1;
        }
    }
}

/// A mixture of calls, one after another, as an integration makes them.
async fn calm(org: &Org, until: Instant) -> Seen {
    let client = org.at(org.stack());
    let (contact, workspace) = (org.contact("Ada Okafor").await, org.workspace("Quayside").await);
    let contact = format!("/api/v1/contacts/{}", contact["id"].as_str().expect("an id"));
    let mut seen = Seen::default();
    for n in 0.. {
        if until <= Instant::now() {
            break;
        }
        match n % 10 {
            0..4 => drop(seen.call(client.get(&contact)).await),
            4..6 => drop(seen.call(client.get("/api/v1/contacts").query("limit", 50)).await),
            6 => drop(seen.call(client.get("/api/v1/contacts").query("search", "person 1")).await),
            7..9 => {
                let body = json!({"display_name": format!("Person {n}"), "kind": "person"});
                seen.call(client.post("/api/v1/contacts", &body)).await;
            }
            _ => seen.propose(&client, &workspace, n).await,
        }
        tokio::time::sleep(THINKS).await;
    }
    seen
}

async fn flood(org: &Org, until: Instant) -> Seen {
    let client = org.at(org.stack());
    let flooding = (0..FLOOD).map(|_| async {
        let mut seen = Seen::default();
        while Instant::now() < until {
            seen.call(client.get("/api/v1/contacts").query("limit", 50)).await;
        }
        seen
    });
    Seen::of_all(join_all(flooding).await)
}

/// As many events as it is allowed, each for all of its endpoints.
async fn busy(org: &Org, until: Instant) -> Seen {
    let admin = Browser::of(org, &org.admin("Ines Duarte").await).await;
    let receiver = Receiver::new().await;
    for _ in 0..BUSY_ENDPOINTS {
        assert_eq!(subscriber::add(&admin, &receiver.url(), &[]).await.status, 303);
    }
    let (client, workspace) = (org.at(org.stack()), org.workspace("Quayside").await);
    let (client, workspace) = (&client, &workspace);
    let flooding = (0..FLOOD).map(|caller| async move {
        let mut seen = Seen::default();
        for n in 0.. {
            if until <= Instant::now() {
                break;
            }
            seen.propose(client, workspace, caller * 1_000_000 + n).await;
        }
        seen
    });
    Seen::of_all(join_all(flooding).await)
}

/// An event a second, each of which hangs at all endpoints.
async fn dead(org: &Org, until: Instant) -> Seen {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}/hook", listener.local_addr().expect("an address"));
    let admin = Browser::of(org, &org.admin("Ines Duarte").await).await;
    for _ in 0..limits::ENDPOINTS_MAX {
        assert_eq!(subscriber::add(&admin, &url, &[]).await.status, 303);
    }
    let (client, workspace) = (org.at(org.stack()), org.workspace("Quayside").await);
    let mut seen = Seen::default();
    for n in 0.. {
        if until <= Instant::now() {
            break;
        }
        seen.propose(&client, &workspace, n).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    seen
}

/// A calm organization, with its endpoint.
struct Calm {
    org: Org,
    subscriber: Subscriber,
}

/// What some organizations do to the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trouble {
    Calm,
    /// One floods, and one has endpoints that never answer.
    FloodAndDeadEndpoints,
    /// One writes more than its partitions take.
    SpentPartitions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum On {
    PlainTable,
    BoundedPartitions,
}

struct Phase {
    lasted: Duration,
    /// What each calm organization saw, its times sorted.
    calm_ones: Vec<Seen>,
    /// Of all calm organizations together, sorted.
    times: Vec<Duration>,
    delays: Vec<Duration>,
    flood: Option<Seen>,
    /// Writes that were throttled, by whose partition it was.
    throttled: Option<Throttled>,
    resident_mib: u64,
}

#[derive(Debug, Default)]
struct Throttled {
    busy_one: u64,
    calm_ones: u64,
    /// Of partitions that all organizations share.
    shared: u64,
}

impl Throttled {
    fn of(partitions: &Partitions, busy: &Org) -> Self {
        let mut throttled = Self::default();
        for (partition, writes) in partitions.refused() {
            let busy = format!("ORG#{}", busy.id);
            *match partition {
                own if own.starts_with(&busy) => &mut throttled.busy_one,
                other if other.starts_with("ORG#") => &mut throttled.calm_ones,
                _ => &mut throttled.shared,
            } += writes;
        }
        throttled
    }
}

async fn phase(lasts: Duration, on: On, trouble: Trouble) -> Phase {
    let units = std::env::var("PARTITION_UNITS").ok().and_then(|units| units.parse().ok()).unwrap_or(PARTITION_UNITS);
    let partitions = (on == On::BoundedPartitions).then(|| Arc::new(Partitions::taking(units)));
    let stack = match &partitions {
        Some(partitions) => Stack::on_partitions(partitions.clone(), CALLS_PER_SECOND),
        None => Stack::with(Needs::MEASURED.own().calls_per_second(CALLS_PER_SECOND)),
    };
    let count = if trouble == Trouble::Calm { ORGANIZATIONS } else { ORGANIZATIONS - 2 };
    let mut calm_ones = Vec::new();
    for _ in 0..count {
        let org = Org::on(stack.clone()).await;
        let admin = Browser::of(&org, &org.admin("Ines Duarte").await).await;
        let subscriber = Subscriber::add(admin, Receiver::new().await, &[]).await;
        calm_ones.push(Calm { org, subscriber });
    }
    let (flooding, hanging) = (Org::on(stack.clone()).await, Org::on(stack.clone()).await);
    let until = Instant::now() + lasts;
    let trouble = async {
        match trouble {
            Trouble::Calm => None,
            Trouble::FloodAndDeadEndpoints => {
                let (flood, _) = futures_util::join!(flood(&flooding, until), dead(&hanging, until));
                Some(flood)
            }
            Trouble::SpentPartitions => Some(busy(&flooding, until).await),
        }
    };
    let calm_calls = join_all(calm_ones.iter().map(|one| calm(&one.org, until)));
    let (mut seen, flood) = futures_util::join!(calm_calls, trouble);
    let resident_mib = resident_mib();
    let mut delays = Vec::new();
    for (Calm { subscriber, .. }, seen) in calm_ones.iter().zip(&seen) {
        let events = |arrivals: &[Arrival]| arrivals.iter().map(Arrival::event_id).collect::<BTreeSet<_>>().len();
        let arrivals = subscriber.receiver.wait_until(|arrivals| events(arrivals) >= seen.events).await;
        delays.extend(arrivals.iter().map(delay));
    }
    delays.sort_unstable();
    for seen in &mut seen {
        seen.times.sort_unstable();
    }
    let mut times: Vec<Duration> = seen.iter().flat_map(|seen| seen.times.iter().copied()).collect();
    times.sort_unstable();
    Phase {
        lasted: lasts,
        calm_ones: seen,
        times,
        delays,
        flood,
        throttled: partitions.map(|partitions| Throttled::of(&partitions, &flooding)),
        resident_mib,
    }
}

/// From the event, whose id has its time, to its arrival.
fn delay(arrival: &Arrival) -> Duration {
    let (seconds, nanos) = arrival.event_id().uuid().get_timestamp().expect("a moment").to_unix();
    let happened_ms = i64::try_from(seconds).expect("a time") * 1000 + i64::from(nanos / 1_000_000);
    Duration::from_millis(u64::try_from(arrival.at.unix_ms() - happened_ms).unwrap_or_default())
}

impl Phase {
    /// Organizations that had errors, by number.
    fn errors(&self) -> impl Iterator<Item = (usize, &Seen)> {
        (1..).zip(&self.calm_ones).filter(|(_, seen)| seen.errors() > 0)
    }

    /// The least and the most of any calm organization.
    fn by_organization(&self, percent: usize) -> String {
        let of_each = || self.calm_ones.iter().map(|seen| percentile(&seen.times, percent));
        format!("{:.1} to {:.1} ms", of_each().fold(f64::INFINITY, f64::min), of_each().fold(0.0, f64::max))
    }

    fn print(&self, title: &str) {
        println!("\n{title}, {} s:", self.lasted.as_secs());
        println!(
            "  {:>8.0} calls/s of the calm ones: p50 {:.1} ms, p99 {:.1} ms",
            self.times.len() as f64 / self.lasted.as_secs_f64(),
            percentile(&self.times, 50),
            percentile(&self.times, 99)
        );
        println!("           by organization: p50 {}, p99 {}", self.by_organization(50), self.by_organization(99));
        println!("  {:>8} errors", self.errors().map(|(_, seen)| seen.errors()).sum::<usize>());
        for (number, seen) in self.errors() {
            println!(
                "           organization {number}: {} of {} calls, answers by status {:?}",
                seen.errors(),
                seen.times.len(),
                seen.statuses
            );
        }
        let late = self.delays.iter().filter(|delay| LATE < **delay).count();
        println!(
            "  {:>8} deliveries: p50 {:.0} ms, p99 {:.0} ms after their events, {late} later than {} s",
            self.delays.len(),
            percentile(&self.delays, 50),
            percentile(&self.delays, 99),
            LATE.as_secs()
        );
        if let Some(flood) = &self.flood {
            let rate = |fits: fn(u16) -> bool| {
                let count: usize =
                    flood.statuses.iter().filter(|(status, _)| fits(**status)).map(|(_, count)| count).sum();
                count as f64 / self.lasted.as_secs_f64()
            };
            println!(
                "  {:>8.0} calls/s of the flood answered, {:.0} refused with 429, {:.0} failed",
                rate(|status| status < 300),
                rate(|status| status == 429),
                rate(|status| status >= 500)
            );
        }
        if let Some(Throttled { busy_one, calm_ones, shared }) = self.throttled {
            println!(
                "  {busy_one:>8} writes throttled of its partitions, {calm_ones} of the calm ones', {shared} of shared ones"
            );
        }
        println!("  {:>8} MiB resident, with the callers and subscribers", self.resident_mib);
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let seconds = std::env::var("SECONDS").ok().and_then(|seconds| seconds.parse().ok()).unwrap_or(300);
    let flooded = Duration::from_secs(seconds);
    let others = flooded / 3;
    println!(
        "{ORGANIZATIONS} organizations, {} s beside a flood and {} s in each of three other phases; \
         the stack and its callers share the cores",
        flooded.as_secs(),
        others.as_secs()
    );
    let p99 = |phase: &Phase| percentile(&phase.times, 99);
    let mut failed = false;
    for (on, calm_title, lasts, trouble, title) in [
        (
            On::PlainTable,
            "All of them calm",
            flooded,
            Trouble::FloodAndDeadEndpoints,
            "With one that floods, and one with 20 endpoints that never answer",
        ),
        (
            On::BoundedPartitions,
            "All of them calm, on a table whose partitions are bounded",
            others,
            Trouble::SpentPartitions,
            "With one that writes more than its partitions take, on such a table",
        ),
    ] {
        let calm = phase(others, on, Trouble::Calm).await;
        calm.print(calm_title);
        let troubled = phase(lasts, on, trouble).await;
        troubled.print(title);
        println!("  {:>8.1} times the p99 of calls when all were calm (goal at most 2)", p99(&troubled) / p99(&calm));
        failed |= [calm, troubled].iter().any(|phase| phase.errors().next().is_some());
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
