//! Measures each function's start, size and memory, and compares with a bare function: `make bench`.
//!
//! Every round starts each function once, so that disturbances of the machine hit them all.
#![allow(clippy::expect_used, clippy::panic, reason = "a wrong answer ends the bench there and then")]

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Value, json};
use tests::app::Browser;
use tests::aws_services::{AwsServices, KEYRING};
use tests::figures::percentile;
use tests::runtime_api::{self, Function, recorded};
use tests::{Needs, Org, Stack};

/// Counted starts of each function, after some that fill the caches.
const ROUNDS: usize = 50;
const WARM_UP: usize = 3;

const BARE: &str = "hello";

const RESIDENT_MB_MAX: f64 = 12.0;

const ZIPS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/lambda-zip");
const REPORT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/bench/start.json");

struct Case {
    function: &'static str,
    event: &'static str,
    /// The response's status. None for schedules, queues and streams, which get no response.
    status: Option<u16>,
    starts: Vec<Duration>,
    resident_kib: Vec<u64>,
}

const CASES: [(&str, &str, Option<u16>); 18] = [
    (BARE, "get-identity", Some(200)),
    // Without the store: the cost of starting.
    ("read-api", "get-openapi", Some(200)),
    // With it: a connection, the token's read, the audit row.
    ("read-api", "get-identity", Some(200)),
    ("write-api", "create-contact-base64", Some(201)),
    ("proposals", "list-proposals", Some(200)),
    // Without a body: the token's read, the audit row, and no paper.
    ("documents", "/api/v1/funding-items/paper", Some(422)),
    ("mcp", "mcp-get-identity", Some(200)),
    ("member-app", "/app/account", Some(200)),
    ("agreement-app", "/app/agreements", Some(200)),
    ("money-app", "/app/money", Some(200)),
    ("funding-app", "/app/funding", Some(200)),
    ("organization-app", "/app/audit", Some(200)),
    // Without the session that participants have: nobody knows the link.
    ("participant-app", "/app/parts/{unknown}", Some(401)),
    ("pictures", "/app/pictures/{unknown}/{unknown}/1", Some(401)),
    // Reads the keyring from its secret.
    ("event-relay", "stream-batch", None),
    ("webhook-sender", "sqs-deliveries", None),
    ("clock", "schedule", None),
    // The bare function again shows how much the machine wavers.
    (BARE, "get-identity", Some(200)),
];

struct Setting {
    org: Org,
    environment: Vec<(String, String)>,
    session: String,
    _services: AwsServices,
}

impl Setting {
    async fn new() -> Self {
        let org = Org::on(Stack::with(Needs::MEASURED.without_background())).await;
        let services = AwsServices::new().await;
        services.put_secret(KEYRING, org.stack().keyring().reveal());
        let mut environment = runtime_api::environment(org.stack().table(), "https://api.countersign.example");
        environment.extend(services.environment());
        let browser = Browser::of(&org, &org.admin("Maren Holt").await).await;
        let session = browser.cookie("session").expect("a session");
        Self { org, environment, session, _services: services }
    }

    fn event(&self, name: &str) -> String {
        let nothing = [
            ("due_partition", "DUE#0"),
            ("due_sort", "."),
            ("first", "not a delivery"),
            ("second", "not a delivery"),
            ("contact_id", "none"),
            ("read_write_token", &self.org.token.value),
            ("read_only_token", &self.org.read_only_token.value),
        ];
        if !name.starts_with('/') {
            return recorded(name, &nothing);
        }
        let path = name.replace("{unknown}", &uuid::Uuid::now_v7().to_string());
        let (base, method) = if path.starts_with("/app") { ("view-sign-in", "GET") } else { ("get-identity", "POST") };
        let mut event: Value = serde_json::from_str(&recorded(base, &nothing)).expect("an event is JSON");
        event["rawPath"] = json!(path);
        event["rawQueryString"] = json!("");
        event["requestContext"]["http"]["path"] = json!(path);
        event["requestContext"]["http"]["method"] = json!(method);
        if method == "GET" {
            event["cookies"] = json!([format!("__Host-session={}", self.session)]);
        }
        event.to_string()
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let setting = Setting::new().await;
    let mut cases = CASES.map(|(function, event, status)| Case {
        function,
        event,
        status,
        starts: Vec::new(),
        resident_kib: Vec::new(),
    });
    for round in 0..WARM_UP + ROUNDS {
        for case in &mut cases {
            let program = runtime_api::program(case.function);
            let event = Some(setting.event(case.event));
            let mut function = Function::start(&program, &setting.environment, event).await.expect("a program");
            let started = match case.status {
                Some(expected) => function.first_answer().await.map(|(status, since_start)| {
                    assert_eq!(status, expected, "{} to {}", case.function, case.event);
                    since_start
                }),
                None => function.first_return().await,
            };
            let since_start = started.unwrap_or_else(|error| panic!("{}: {error}", case.function));
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
    println!("Beside a figure stands its goal; memory's is ≤ {RESIDENT_MB_MAX} MB.\n");
    println!(
        "{:<16} {:<35} {:>8} {:>8} {:>9} {:>6} {:>8} {:>6} {:>10}",
        "function", "event", "p50 ms", "p95 ms", "× hello", "goal", "zip MB", "goal", "memory MB"
    );
    for row in &rows {
        let number = |member: &str| row[member].as_f64().map_or_else(|| "-".to_owned(), |value| format!("{value:.2}"));
        println!(
            "{:<16} {:<35} {:>8} {:>8} {:>9} {:>6} {:>8} {:>6} {:>10}",
            row["function"].as_str().unwrap_or_default(),
            row["event"].as_str().unwrap_or_default(),
            number("p50_ms"),
            number("p95_ms"),
            number("ratio"),
            number("ratio_max"),
            number("zip_mb"),
            number("zip_mb_max"),
            number("resident_mb"),
        );
    }
    match write(&json!({ "rounds": ROUNDS, "functions": rows })) {
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
            "ratio_max": ratio_max(self.function),
            "zip_mb_max": zip_mb_max(self.function),
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

/// Goal P1: how much longer than the bare function's a start takes, of what answers people and their programs.
fn ratio_max(function: &str) -> Option<f64> {
    match function {
        "read-api" | "write-api" | "proposals" | "mcp" => Some(2.5),
        "pictures" => Some(3.5),
        app if app.ends_with("-app") => Some(3.5),
        _ => None,
    }
}

/// Goal P2; `documents` has fonts.
fn zip_mb_max(function: &str) -> Option<f64> {
    (function != BARE).then_some(if function == "documents" { 12.0 } else { 6.0 })
}

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
