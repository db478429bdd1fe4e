//! Measures calls at the client, and reads their usage from the service's log.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;
use tests::client::{Answer, Request};
use tests::figures::percentile;
use tests::log;

/// Uncounted calls before the first counted one, and their time limit.
const WARM_UP: usize = 20;
const WARM_UP_BUDGET: Duration = Duration::from_millis(300);
/// Counted calls; after the budget, no more begin once there are enough for a median.
const SAMPLES: usize = 300;
const SAMPLES_MIN: usize = 15;
const BUDGET: Duration = Duration::from_millis(1500);

pub struct Calls {
    operation: &'static str,
    times: Vec<Duration>,
    request_ids: Vec<String>,
}

/// Sends calls one after another on one connection. `check` panics at a wrong response; its time doesn't count.
pub async fn measure(
    operation: &'static str,
    calls: impl IntoIterator<Item = Request>,
    mut check: impl FnMut(usize, &Answer),
) -> Calls {
    let mut calls = calls.into_iter().enumerate();
    let started = Instant::now();
    for (n, call) in calls.by_ref().take(WARM_UP) {
        check(n, &call.send().await);
        if started.elapsed() >= WARM_UP_BUDGET {
            break;
        }
    }
    let mut measured = Calls { operation, times: Vec::new(), request_ids: Vec::new() };
    let started = Instant::now();
    for (n, call) in calls.take(SAMPLES) {
        let sent = Instant::now();
        let answer = call.send().await;
        measured.times.push(sent.elapsed());
        measured.request_ids.push(answer.request_id());
        check(n, &answer);
        if measured.times.len() >= SAMPLES_MIN && started.elapsed() >= BUDGET {
            break;
        }
    }
    measured
}

/// Sends one call to each of some instances that were just started.
pub async fn measure_first(
    operation: &'static str,
    instances: impl IntoIterator<Item = (Request, Request)>,
    mut check: impl FnMut(&Answer),
) -> Calls {
    let mut measured = Calls { operation, times: Vec::new(), request_ids: Vec::new() };
    for (warm_up, call) in instances {
        warm_up.send().await;
        let sent = Instant::now();
        let answer = call.send().await;
        measured.times.push(sent.elapsed());
        measured.request_ids.push(answer.request_id());
        check(&answer);
    }
    measured
}

pub struct Figures {
    pub calls: usize,
    pub p50_ms: f64,
    pub p95_ms: f64,
    pub read_units: f64,
    pub write_units: f64,
    pub round_trips: f64,
    /// Round trips that are under way together count once.
    pub waits: f64,
}

pub struct ServiceLog(HashMap<String, Value>);

impl ServiceLog {
    /// The log of several instances, of which each answered one of the calls.
    pub async fn of_instances(files: impl IntoIterator<Item = &Path>, calls: &Calls) -> Self {
        let mut lines = HashMap::new();
        for (file, id) in files.into_iter().zip(&calls.request_ids) {
            lines.insert(id.clone(), log::line(file, id).await);
        }
        Self(lines)
    }

    pub async fn read(file: &Path, last: Option<&Calls>) -> Self {
        if let Some(request_id) = last.and_then(|calls| calls.request_ids.last()) {
            log::line(file, request_id).await;
        }
        let by_id = |line: Value| Some((line["request_id"].as_str()?.to_owned(), line));
        Self(log::lines(file).into_iter().filter_map(by_id).collect())
    }
}

impl Calls {
    pub fn figures(mut self, log: &ServiceLog) -> Figures {
        self.times.sort_unstable();
        let mut figures = Figures {
            calls: self.times.len(),
            p50_ms: percentile(&self.times, 50),
            p95_ms: percentile(&self.times, 95),
            read_units: 0.0,
            write_units: 0.0,
            round_trips: 0.0,
            waits: 0.0,
        };
        for request_id in &self.request_ids {
            let line = log.0.get(request_id).unwrap_or_else(|| panic!("no log line for {request_id}"));
            assert_eq!(line["operation"], self.operation, "the operation in {line}");
            let figure = |name: &str| line[name].as_f64().unwrap_or_else(|| panic!("no {name}: {line}"));
            figures.read_units = figures.read_units.max(figure("read_units"));
            figures.write_units = figures.write_units.max(figure("write_units"));
            figures.round_trips = figures.round_trips.max(figure("round_trips"));
            figures.waits = figures.waits.max(figure("waits"));
        }
        figures
    }
}
