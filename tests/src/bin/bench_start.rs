//! How fast a function starts, how large it is and how much memory it takes, beside one that does nothing but answer:
//! `make bench`.
//!
//! Every round starts each function anew, one after the other, so that what disturbs the machine disturbs them all.
#![allow(clippy::expect_used, clippy::panic, reason = "a wrong answer ends the bench there and then")]

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Value, json};
use tests::figures::percentile;
use tests::runtime_api::{self, Function};
use tests::{Needs, Org, Stack};

/// Starts of each function that count, and before them some that fill the caches.
const ROUNDS: usize = 50;
const WARM_UP: usize = 3;

/// What the starts are compared with: a bare function.
const BARE: &str = "hello";

/// The goals.
const RATIO_MAX: f64 = 2.5;
const ZIP_MB_MAX: f64 = 3.0;
const RESIDENT_MB_MAX: f64 = 12.0;

/// The functions that are not started here, of which only the size is told.
const UNSTARTED: [&str; 13] = [
    "proposals",
    "paper-api",
    "member-app",
    "money-app",
    "funding-app",
    "agreement-app",
    "organization-app",
    "participant-app",
    "picture-app",
    "evidence-app",
    "event-relay",
    "webhook-sender",
    "clock",
];
/// The goal for the app's functions.
const APP_ZIP_MB_MAX: f64 = 4.0;

const ZIPS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/lambda-zip");
const REPORT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/bench/start.json");

/// A function and the event that it is started for.
struct Case {
    function: &'static str,
    event: &'static str,
    status: u16,
    starts: Vec<Duration>,
    resident_kib: Vec<u64>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let stack = Stack::with(Needs::SHARED);
    let org = Org::on(stack).await;
    let environment = runtime_api::environment(org.stack().table(), "https://api.countersign.example");
    let case = |function, event, status| Case { function, event, status, starts: Vec::new(), resident_kib: Vec::new() };
    let mut cases = [
        case(BARE, "get-identity", 200),
        // Without the store: what starting costs.
        case("read-api", "get-openapi", 200),
        // With it: a connection, the token's read, the audit row.
        case("read-api", "get-identity", 200),
        case("write-api", "create-contact-base64", 201),
    ];
    for round in 0..WARM_UP + ROUNDS {
        for case in &mut cases {
            let event = runtime_api::event(case.event, &org, "");
            let program = runtime_api::program(case.function);
            let mut function = Function::start(&program, &environment, Some(event)).await.expect("a program");
            let (status, since_start) = function.first_answer().await.unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(status, case.status, "{} to {}", case.function, case.event);
            if round >= WARM_UP {
                case.starts.push(since_start);
                case.resident_kib.extend(function.resident_kib());
            }
        }
    }

    let bare_ms = cases[0].median_ms();
    let rows: Vec<Value> = cases.iter().map(|case| case.figures(bare_ms)).collect();
    println!(
        "Start of a function: from the start of its process to its first response, {ROUNDS} starts each, in turn."
    );
    println!("Goals: ≤ {RATIO_MAX} × {BARE}, ≤ {ZIP_MB_MAX} MB zipped, ≤ {RESIDENT_MB_MAX} MB resident.\n");
    println!(
        "{:<10} {:<22} {:>8} {:>8} {:>9} {:>8} {:>10}",
        "function", "event", "p50 ms", "p95 ms", "× hello", "zip MB", "memory MB"
    );
    for row in &rows {
        let number = |member: &str| row[member].as_f64().map_or_else(|| "-".to_owned(), |value| format!("{value:.2}"));
        println!(
            "{:<10} {:<22} {:>8} {:>8} {:>9} {:>8} {:>10}",
            row["function"].as_str().unwrap_or_default(),
            row["event"].as_str().unwrap_or_default(),
            number("p50_ms"),
            number("p95_ms"),
            number("ratio"),
            number("zip_mb"),
            number("resident_mb"),
        );
    }
    println!("\nThe other functions, zipped (goal for the app's: < {APP_ZIP_MB_MAX} MB):");
    let mut unstarted = Vec::new();
    for function in UNSTARTED {
        let zip_mb = zip_bytes(function).map(|bytes| bytes / 1e6);
        println!("{function:<18}{:>6}", zip_mb.map_or_else(|| "-".to_owned(), |size| format!("{size:.2}")));
        unstarted.push(json!({ "function": function, "zip_mb": zip_mb }));
    }
    match write(&json!({ "rounds": ROUNDS, "functions": rows, "unstarted": unstarted })) {
        Ok(()) => {
            println!("\nThe same as JSON: target/bench/start.json");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("bench: {REPORT}: {error}");
            ExitCode::FAILURE
        }
    }
}

impl Case {
    fn figures(&self, bare_ms: f64) -> Value {
        let mut resident_kib = self.resident_kib.clone();
        resident_kib.sort_unstable();
        json!({
            "function": self.function,
            "event": self.event,
            "p50_ms": self.median_ms(),
            "p95_ms": self.percentile_ms(95),
            "ratio": self.median_ms() / bare_ms,
            "zip_mb": zip_bytes(self.function).map(|bytes| bytes / 1e6),
            // The kernel counts in KiB, people and bills in MB.
            "resident_mb": resident_kib.get(resident_kib.len() / 2).and_then(|kib| u32::try_from(*kib).ok())
                .map(|kib| f64::from(kib) * 1024.0 / 1e6),
        })
    }

    fn median_ms(&self) -> f64 {
        self.percentile_ms(50)
    }

    fn percentile_ms(&self, percent: usize) -> f64 {
        let mut starts = self.starts.clone();
        starts.sort_unstable();
        percentile(&starts, percent)
    }
}

/// The size of what is uploaded to Lambda, where it was built.
fn zip_bytes(function: &str) -> Option<f64> {
    let file = Path::new(ZIPS).join(function).join("bootstrap.zip");
    u32::try_from(file.metadata().ok()?.len()).ok().map(f64::from)
}

fn write(report: &Value) -> std::io::Result<()> {
    if let Some(folder) = Path::new(REPORT).parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(REPORT, format!("{report:#}\n"))
}
