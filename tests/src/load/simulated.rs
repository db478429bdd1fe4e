//! The load in simulated time, on a table whose partitions are bounded as `DynamoDB`'s are.
//!
//! The functions, the relay, the sender and the clock run as in the local stack, on one thread whose clock is paused:
//! `tokio` advances it once all of them wait. A call of the store takes what [`Contention`] makes it take, and what this
//! machine needs to compute takes no time at all. So figures say how long calls wait for the store, for each other and
//! between retries, and ten minutes of a table's full throughput need no machine that makes them in ten minutes.
//!
//! Nothing here uses the network, on whose answers a paused clock would not wait: calls go to the router, and webhooks
//! arrive in memory. Threads of their own, such as the store's, have real time.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::{BoxFuture, join_all};
use http::HeaderMap;
use local::{Contention, Options, Partitions, Seed, Subscribers};
use serde_json::Value;
use shared::domain::delivery::{FailureClass, Outcome};
use shared::domain::ids::OrgId;
use shared::domain::shards::DueShards;
use shared::domain::time::Timestamp;
use shared::limits;
use shared::webhook::client::AttemptResult;
use shared::webhook::guard::EndpointUrl;
use tempfile::TempDir;
use tokio::time::Instant;

use super::Caller;
use super::phase::{Phase, Throttled};
use crate::app::Browser;
use crate::figures::resident_mib;
use crate::org::Org;
use crate::stack::Stack;
use crate::{calls, subscriber};

/// From a caller to the service.
const WAY: Duration = Duration::from_millis(1);
/// From a caller without pause to a service that limits calls: sixteen try some 150 a second, three times what they get
/// of one instance.
const LONG_WAY: Duration = Duration::from_millis(100);
/// From the sender to a subscriber that answers, and back.
const ANSWERS_AFTER: Duration = Duration::from_millis(5);
/// Calls of the store at once: each has a thread of blocking work that keeps the time.
const STORE_CALLS_MAX: usize = 4096;
/// How long lost deliveries are waited for.
const LOST_AFTER: Duration = Duration::from_mins(10);
/// The last part of the address of endpoints that never answer.
const HANGS: &str = "hangs";

/// What is simulated.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// Organizations, with those that trouble the others.
    pub organizations: usize,
    /// How long they call.
    pub lasts: Duration,
    /// Write units that each partition takes a second.
    pub partition_units: u32,
    /// Calls that each organization has per second and instance; 0 is no limit.
    pub calls_per_second: u32,
    /// Instances that answer calls, at least one. They are one process here, which has the budgets of all of them.
    pub instances: u32,
    /// The shards of the due index, to which all organizations' events and deliveries write.
    pub due_shards: DueShards,
    /// Endpoints of the organization that writes all it may: each of its events is written to for each of them.
    pub busy_endpoints: usize,
    /// Whether one organization floods, one has endpoints that never answer, and one writes all it may.
    pub has_trouble: bool,
}

/// Runs a plan, in this thread.
#[must_use]
pub fn run(plan: Plan) -> Phase {
    let dir = TempDir::with_prefix("countersign-test-").expect("a temporary directory");
    let real = tokio::runtime::Runtime::new().expect("a runtime");
    let organizations = real.block_on(set_up(plan, dir.path()));
    drop(real);
    Timestamp::simulate(|now| {
        // Behind or ahead: computing takes none of the simulated time, and waiting no real time.
        let (simulated, real) = (Instant::now().into_std(), std::time::Instant::now());
        let ahead_ms = match simulated.checked_duration_since(real) {
            Some(ahead) => i64::try_from(ahead.as_millis()),
            None => i64::try_from((real - simulated).as_millis()).map(|behind| -behind),
        };
        ahead_ms.ok().and_then(|ahead| Timestamp::from_unix_ms(now.unix_ms() + ahead).ok()).unwrap_or(now)
    });
    let simulated = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(STORE_CALLS_MAX)
        .build()
        .expect("a runtime");
    simulated.block_on(simulate(plan, organizations, dir.path()))
}

/// An organization with its endpoints, as the table has it.
struct Organization {
    id: OrgId,
    caller: Caller,
    part: Part,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Calm,
    Floods,
    HasDeadEndpoints,
    WritesAllItMay,
}

/// Sets up the organizations as usual, over HTTP and in real time.
async fn set_up(plan: Plan, data: &Path) -> Vec<Organization> {
    let stack = Stack::on_data_of(data);
    let trouble =
        if plan.has_trouble { &[Part::Floods, Part::HasDeadEndpoints, Part::WritesAllItMay][..] } else { &[] };
    let calm = std::iter::repeat_n(Part::Calm, plan.organizations - trouble.len());
    let mut organizations = Vec::new();
    for (number, part) in calm.chain(trouble.iter().copied()).enumerate() {
        let org = Org::on(stack.clone()).await;
        let (endpoints, ending) = match part {
            Part::Calm => (1, "answers"),
            Part::Floods => (0, ""),
            Part::HasDeadEndpoints => (limits::ENDPOINTS_MAX, HANGS),
            Part::WritesAllItMay => (plan.busy_endpoints, "answers"),
        };
        let admin = Browser::of(&org, &org.admin("Ines Duarte").await).await;
        for endpoint in 0..endpoints {
            let url = format!("http://127.0.0.1/{number}/{endpoint}/{ending}");
            assert_eq!(subscriber::add(&admin, &url, &[]).await.status, 303);
        }
        organizations.push(Organization { id: org.id, caller: Caller::of(&org).await, part });
    }
    organizations
}

async fn simulate(plan: Plan, organizations: Vec<Organization>, data: &Path) -> Phase {
    let arrivals = Arc::new(Arrivals::default());
    let partitions = Arc::new(Partitions::taking(plan.partition_units));
    let options = Options {
        port: 0,
        data_dir: data.to_owned(),
        seed: Seed::Empty,
        calls_per_second: plan.calls_per_second * plan.instances,
        due_shards: plan.due_shards,
        calls: Some(calls::heard()),
        subscribers: Some(arrivals.clone()),
        contention: Some(Contention::on(partitions.clone()).in_simulated_time()),
        ..Options::default()
    };
    let stack = local::Stack::start(options).await.expect("the local stack starts");
    tokio::time::pause();
    let until = Instant::now() + plan.lasts;
    let all_seen = join_all(organizations.iter().map(|Organization { caller, part, .. }| {
        let is_limited = plan.calls_per_second > 0 && matches!(part, Part::Floods | Part::WritesAllItMay);
        let takes = if is_limited { LONG_WAY / plan.instances } else { WAY };
        let caller = caller.in_process(stack.router().clone(), takes);
        async move {
            match part {
                Part::Calm => caller.calm(until).await,
                Part::Floods => caller.flood(until).await,
                Part::HasDeadEndpoints => caller.steady(until).await,
                Part::WritesAllItMay => caller.busy(until).await,
            }
        }
    }))
    .await;
    let resident_mib = resident_mib();
    let (mut calm_ones, mut delays, mut flood) = (Vec::new(), Vec::new(), None);
    for (number, (organization, seen)) in organizations.iter().zip(all_seen).enumerate() {
        match organization.part {
            Part::Calm => {
                delays.extend(arrivals.wait_for(number, seen.events).await);
                calm_ones.push(seen);
            }
            Part::Floods => flood = Some(seen),
            Part::HasDeadEndpoints | Part::WritesAllItMay => {}
        }
    }
    tokio::time::resume();
    stack.stop().await;
    Phase::of(plan.lasts, calm_ones, delays, resident_mib)
        .with_flood(flood)
        .with_throttled(throttled(&partitions, &organizations))
}

fn throttled(partitions: &Partitions, organizations: &[Organization]) -> Throttled {
    let calm_ones = organizations.iter().filter(|organization| organization.part == Part::Calm);
    let calm_ones: Vec<String> = calm_ones.map(|organization| format!("ORG#{}", organization.id)).collect();
    let mut throttled = Throttled::default();
    for (partition, writes) in partitions.refused() {
        let is_calm = calm_ones.iter().any(|calm| partition.starts_with(calm));
        let of = if is_calm {
            &mut throttled.calm_ones
        } else if partition.starts_with("ORG#") {
            &mut throttled.troubling_ones
        } else {
            &mut throttled.shared
        };
        *of += writes;
    }
    throttled
}

/// A delivery that arrived.
#[derive(Debug, Clone)]
struct Arrival {
    /// The organization's number, from its endpoint's address.
    organization: usize,
    event: String,
    /// After its event.
    delay: Duration,
}

/// All subscribers.
#[derive(Debug, Default)]
struct Arrivals(Mutex<Vec<Arrival>>);

impl Arrivals {
    /// The delays of an organization's deliveries, once so many of its events have arrived.
    async fn wait_for(&self, organization: usize, events: usize) -> Vec<Duration> {
        let until = Instant::now() + LOST_AFTER;
        loop {
            let arrived: Vec<Arrival> = {
                let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                all.iter().filter(|arrival| arrival.organization == organization).cloned().collect()
            };
            if arrived.iter().map(|arrival| &arrival.event).collect::<BTreeSet<_>>().len() >= events {
                return arrived.iter().map(|arrival| arrival.delay).collect();
            }
            assert!(Instant::now() < until, "organization {organization} lacks deliveries of its {events} events");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

impl Subscribers for Arrivals {
    fn post<'a>(&'a self, url: &'a EndpointUrl, _: HeaderMap, body: Bytes) -> BoxFuture<'a, AttemptResult> {
        Box::pin(async move {
            let (url, began) = (url.to_string(), Instant::now());
            let outcome = if url.ends_with(HANGS) {
                tokio::time::sleep(limits::WEBHOOK_DEADLINE).await;
                Outcome::Failed { class: FailureClass::Timeout, status: None }
            } else {
                tokio::time::sleep(ANSWERS_AFTER).await;
                let arrival = Arrival::of(&url, &body);
                self.0.lock().unwrap_or_else(PoisonError::into_inner).push(arrival);
                Outcome::Delivered { status: 200 }
            };
            let duration_ms = began.elapsed().as_millis().try_into().unwrap_or(u64::MAX);
            AttemptResult { duration_ms, dialled: None, outcome, excerpt: None }
        })
    }
}

impl Arrival {
    fn of(url: &str, body: &[u8]) -> Self {
        let organization = url.split('/').nth(3).and_then(|number| number.parse().ok()).expect("an address as set up");
        let event: Value = serde_json::from_slice(body).expect("a body of JSON");
        let text = |name: &str| event[name].as_str().expect("a text").to_owned();
        let happened: Timestamp = text("created_at").parse().expect("a moment");
        let delay_ms = Timestamp::now().unix_ms() - happened.unix_ms();
        Self { organization, event: text("id"), delay: Duration::from_millis(delay_ms.try_into().unwrap_or_default()) }
    }
}
