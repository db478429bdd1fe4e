//! `make load`: fifty organizations at once on one local stack, first all of them calm, then with two that are not: one
//! floods the API, and one has twenty endpoints that never answer. Everything is on this machine. Calls are made for
//! `SECONDS` (300) beside the flood, and for a third of that in the calm part before.
//!
//! Then the same in simulated time, for twice `SECONDS`, with a third that writes all it may: on a table whose partitions
//! take 1,000 write units a second, as DynamoDB's do, with conflicts for shared items. Limited calls spend no partition.
//! So it goes on for a tenth of `SECONDS` without that limit, and writes are throttled.
//!
//! Times are reported, never judged. A lost delivery, or an error of a calm organization, ends it with a failure.
#![allow(clippy::expect_used, reason = "a wrong answer ends the run there and then")]

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use mimalloc::MiMalloc;
use shared::domain::shards::DueShards;
use shared::domain::time::Timestamp;
use shared::limits;
use tests::app::Browser;
use tests::figures::resident_mib;
use tests::load::phase::Phase;
use tests::load::simulated::{self, Plan};
use tests::load::{BUSY_ENDPOINTS, CALLS_PER_SECOND, Caller, ORGANIZATIONS};
use tests::receiver::{Arrival, Receiver};
use tests::subscriber::{self, Subscriber};
use tests::{Needs, Org, Stack};
use tokio::net::TcpListener;
use tokio::time::Instant;

/// That of the local stack, which is measured here.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

const PARTITION_UNITS: u32 = 1000;

/// A calm organization, with its endpoint.
struct Calm {
    caller: Caller,
    subscriber: Subscriber,
}

/// An organization with as many endpoints as it may have, none of which ever answers.
async fn with_dead_endpoints(stack: Arc<Stack>) -> (Caller, TcpListener) {
    let org = Org::on(stack).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}/hook", listener.local_addr().expect("an address"));
    let admin = Browser::of(&org, &org.admin("Ines Duarte").await).await;
    for _ in 0..limits::ENDPOINTS_MAX {
        assert_eq!(subscriber::add(&admin, &url, &[]).await.status, 303);
    }
    (Caller::of(&org).await, listener)
}

async fn phase(lasts: Duration, has_trouble: bool) -> Phase {
    let stack = Stack::with(Needs::MEASURED.own().calls_per_second(CALLS_PER_SECOND));
    let count = if has_trouble { ORGANIZATIONS - 2 } else { ORGANIZATIONS };
    let mut calm_ones = Vec::new();
    for _ in 0..count {
        let org = Org::on(stack.clone()).await;
        let admin = Browser::of(&org, &org.admin("Ines Duarte").await).await;
        let subscriber = Subscriber::add(admin, Receiver::new().await, &[]).await;
        calm_ones.push(Calm { caller: Caller::of(&org).await, subscriber });
    }
    let flooding = Caller::of(&Org::on(stack.clone()).await).await;
    let (hanging, _listener) = with_dead_endpoints(stack.clone()).await;
    let until = Instant::now() + lasts;
    let trouble = async {
        if !has_trouble {
            return None;
        }
        let (flood, _) = futures_util::join!(flooding.flood(until), hanging.steady(until));
        Some(flood)
    };
    let calm_calls = join_all(calm_ones.iter().map(|one| one.caller.calm(until)));
    let (seen, flood) = futures_util::join!(calm_calls, trouble);
    let resident_mib = resident_mib();
    let mut delays = Vec::new();
    for (Calm { subscriber, .. }, seen) in calm_ones.iter().zip(&seen) {
        let events = |arrivals: &[Arrival]| arrivals.iter().map(Arrival::event_id).collect::<BTreeSet<_>>().len();
        let arrivals = subscriber.receiver.wait_until(|arrivals| events(arrivals) >= seen.events).await;
        delays.extend(arrivals.iter().map(delay));
    }
    Phase::of(lasts, seen, delays, resident_mib).with_flood(flood)
}

/// From the event to its arrival.
fn delay(arrival: &Arrival) -> Duration {
    let event = arrival.json();
    let happened: Timestamp = event["created_at"].as_str().and_then(|at| at.parse().ok()).expect("a moment");
    Duration::from_millis(u64::try_from(arrival.at.unix_ms() - happened.unix_ms()).unwrap_or_default())
}

/// Prints a part, beside the one where all were calm. Whether a calm organization had errors in it.
fn print(title: &str, phase: &Phase, calm: &Phase) -> bool {
    println!("\n{title}, {} s:\n{phase}", phase.lasted().as_secs());
    if !std::ptr::eq(phase, calm) {
        println!(
            "  {:>8.1} times the p99 of calls when all were calm (goal at most 2)",
            phase.p99_ms() / calm.p99_ms()
        );
    }
    phase.errors() > 0
}

fn main() -> ExitCode {
    let seconds = std::env::var("SECONDS").ok().and_then(|seconds| seconds.parse().ok()).unwrap_or(300);
    let flooded = Duration::from_secs(seconds);
    println!("{ORGANIZATIONS} organizations; the stack and its callers share the cores");

    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let calm = runtime.block_on(phase(flooded / 3, false));
    let mut has_failed = print("All of them calm", &calm, &calm);
    let troubled = runtime.block_on(phase(flooded, true));
    has_failed |= print("With one that floods, and one with 20 endpoints that never answer", &troubled, &calm);
    drop(runtime);

    let plan = Plan {
        organizations: ORGANIZATIONS,
        lasts: flooded * 2,
        partition_units: PARTITION_UNITS,
        calls_per_second: CALLS_PER_SECOND,
        instances: 1,
        due_shards: DueShards::FEWEST,
        busy_endpoints: BUSY_ENDPOINTS,
        has_trouble: false,
    };
    let calm = simulated::run(plan);
    has_failed |=
        print("In simulated time, on partitions that take 1,000 write units a second, all calm", &calm, &calm);
    let troubled = simulated::run(Plan { has_trouble: true, ..plan });
    let title = "There with one that floods, one with 20 endpoints that never answer, and one that writes all it may";
    has_failed |= print(title, &troubled, &calm);
    let unlimited = Plan { calls_per_second: 0, lasts: flooded / 10, has_trouble: true, ..plan };
    has_failed |= print("The same without a limit on calls", &simulated::run(unlimited), &calm);
    if has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
