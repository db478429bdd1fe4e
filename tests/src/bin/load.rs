//! `make load`: fifty organizations at once on one local stack, first all of them calm, then with two that are not: one
//! floods the API, and one has twenty endpoints that never answer. At last one writes more than its partitions of the
//! table take. Everything is on this machine, and calls are made for `SECONDS` (300), a third of them each.
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
use serde_json::{Value, json};
use shared::limits;
use tests::app::Browser;
use tests::client::{Client, Request};
use tests::figures::percentile;
use tests::receiver::{Arrival, Receiver};
use tests::subscriber::{self, Subscriber};
use tests::{Needs, Org, Stack};
use tokio::net::TcpListener;

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

struct Phase {
    /// Of all calm organizations together.
    times: Vec<Duration>,
    errors: usize,
    worst_organization: usize,
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

async fn phase(lasts: Duration, trouble: Trouble) -> Phase {
    let units = std::env::var("PARTITION_UNITS").ok().and_then(|units| units.parse().ok()).unwrap_or(PARTITION_UNITS);
    let partitions = (trouble == Trouble::SpentPartitions).then(|| Arc::new(Partitions::taking(units)));
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
    let (seen, flood) = futures_util::join!(calm_calls, trouble);
    let resident_mib = resident_mib();
    let mut delays = Vec::new();
    for (Calm { subscriber, .. }, seen) in calm_ones.iter().zip(&seen) {
        let events = |arrivals: &[Arrival]| arrivals.iter().map(Arrival::event_id).collect::<BTreeSet<_>>().len();
        let arrivals = subscriber.receiver.wait_until(|arrivals| events(arrivals) >= seen.events).await;
        delays.extend(arrivals.iter().map(delay));
    }
    delays.sort_unstable();
    let mut times: Vec<Duration> = seen.iter().flat_map(|seen| seen.times.iter().copied()).collect();
    times.sort_unstable();
    Phase {
        times,
        errors: seen.iter().map(Seen::errors).sum(),
        worst_organization: seen.iter().map(Seen::errors).max().unwrap_or_default(),
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

/// Of this process: the stack, and what calls it.
fn resident_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or_default() / 1024
}

impl Phase {
    fn print(&self, title: &str, lasts: Duration) {
        println!("\n{title}");
        let calls = self.times.len() as f64 / lasts.as_secs_f64();
        println!(
            "  {:>8.0} calls/s of the calm ones: p50 {:.1} ms, p99 {:.1} ms",
            calls,
            percentile(&self.times, 50),
            percentile(&self.times, 99)
        );
        println!("  {:>8} errors, at most {} of one organization", self.errors, self.worst_organization);
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
                count as f64 / lasts.as_secs_f64()
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
    let lasts = Duration::from_secs(seconds) / 3;
    println!("{ORGANIZATIONS} organizations, {} s each; the stack and its callers share the cores", lasts.as_secs());
    let calm = phase(lasts, Trouble::Calm).await;
    calm.print("All of them calm:", lasts);
    let p99 = |phase: &Phase| percentile(&phase.times, 99);
    let mut errors = calm.errors;
    for (trouble, title) in [
        (Trouble::FloodAndDeadEndpoints, "With one that floods, and one with 20 endpoints that never answer:"),
        (Trouble::SpentPartitions, "With one that writes more than its partitions take, on a table that throttles:"),
    ] {
        let troubled = phase(lasts, trouble).await;
        troubled.print(title, lasts);
        println!("  {:>8.1} times the p99 of calls of the calm ones (goal at most 2)", p99(&troubled) / p99(&calm));
        errors += troubled.errors;
    }
    if errors > 0 {
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
