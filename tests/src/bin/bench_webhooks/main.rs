//! Measures deliveries (`make bench`): the sender alone, then the stack, also with an endpoint that never answers.
//!
//! Times are reported, never judged. A lost delivery ends the bench.
#![allow(clippy::expect_used, clippy::panic, reason = "a wrong answer ends the bench there and then")]
#![allow(clippy::cast_precision_loss, reason = "figures are rounded anyway")]

mod alone;
mod processor_time;
mod receiver;
mod stack;

use std::io;
use std::path::Path;
use std::process::ExitCode;

use mimalloc::MiMalloc;
use serde_json::{Value, json};

/// That of the local stack, which is measured here. The sender alone has it too, while on Lambda it has that of glibc.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

const REPORT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/bench/webhooks.json");

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [word, url] = arguments.as_slice()
        && word == alone::WORD
    {
        println!("{}", alone::send(url).await);
        return ExitCode::SUCCESS;
    }
    let alone = alone::measure().await;
    println!("\nDeliveries, {} build, {} cores; subscriber and sender share them\n", build(), cores());
    println!("The sender alone, {} deliveries to {} endpoints:", alone["deliveries"], alone["endpoints"]);
    println!("  {:>8} deliveries/s (goal 3000)", alone["deliveries_per_s"]);
    println!(
        "  {:>8} MiB resident at most (goal 64), of which {} MiB before the first, with all that is in memory",
        alone["resident_mib_max"], alone["resident_mib_before"]
    );
    println!("  {:>8} lost, {} doubled", alone["lost"], alone["doubled"]);
    let stack = stack::measure().await;
    println!("\nThe whole local stack, an act over the API to its subscriber:");
    for (name, case) in [("one endpoint", "one"), ("a dead endpoint beside it", "beside_dead")] {
        let row = &stack[case];
        println!(
            "  {name:<26} p50 {:>7} ms, p95 {:>7} ms (goal p50 50 ms); at full speed {:>6} events/s",
            row["p50_ms"], row["p95_ms"], row["events_per_s"]
        );
    }
    println!("  ratio with the dead one: p50 {}, events/s {}", stack["ratio_p50"], stack["ratio_events_per_s"]);
    let spread = &stack["spread"];
    println!(
        "  {} deliveries to {} endpoints: {} deliveries/s (goal 1500), {} µs each; {} µs of the cores, of which {} µs of the store's thread",
        spread["deliveries"],
        shared::limits::ENDPOINTS_MAX,
        spread["per_s"],
        spread["us_each"],
        spread["processor_us_each"],
        spread["store_us_each"]
    );
    let backlog = stack::backlog().await;
    println!(
        "\nA backlog of {} held deliveries of one endpoint, from Resume to the last arrival, at its own pace:",
        backlog["deliveries"]
    );
    println!("  {:>8} deliveries/s: 100,000 in {} minutes (goal 15)", backlog["per_s"], backlog["minutes_for_100000"]);
    let report = json!({
        "build": build(),
        "cores": cores(),
        "sender_alone": alone,
        "local_stack": stack,
        "backlog": backlog,
    });
    match write(&report) {
        Ok(()) => {
            println!("\nThe same as JSON: target/bench/webhooks.json");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{REPORT}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write(report: &Value) -> io::Result<()> {
    let file = Path::new(REPORT);
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(file, format!("{report:#}\n"))
}

fn build() -> &'static str {
    if cfg!(debug_assertions) { "debug" } else { "release" }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn rounded(figure: f64) -> f64 {
    (figure * 10.0).round() / 10.0
}
