//! Measures each page of the app: `make bench`. Times are reported, never judged; an error page ends the bench.
#![allow(clippy::expect_used, reason = "a wrong answer ends the bench there and then")]

use std::time::{Duration, Instant};

use mimalloc::MiMalloc;
use tests::app::Browser;
use tests::figures::percentile;
use tests::pages::{self, BYTES_MAX, Furnished, Visit, WAITS_MAX};
use tests::{Needs, Org, Stack};

/// That of the local stack, which is measured here.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

const ROUNDS: usize = 40;
const P50_MS_MAX: f64 = 20.0;

fn main() {
    local::read_pdf_if_asked();
    bench();
}

#[tokio::main(flavor = "current_thread")]
async fn bench() {
    let org = Org::on(Stack::with(Needs::MEASURED)).await;
    let Furnished { subscriber, document } = pages::furnish(&org).await;
    let admin = &subscriber.admin;
    let mut visits = pages::crawl(&org, admin).await;
    visits.push(pages::visit(&org, admin, &format!("{document}/view"), &document).await.1);
    visits.push(pages::visit(&org, admin, "/app/search?q=e", "the form on every page").await.1);
    visits.sort_by(|one, other| {
        one.operation.cmp(&other.operation).then(other.waits.cmp(&one.waits)).then(other.bytes.cmp(&one.bytes))
    });
    visits.dedup_by(|other, first| other.operation == first.operation);

    let build = if cfg!(debug_assertions) { "debug" } else { "release" };
    println!(
        "Pages of the app, {build} build, each opened {ROUNDS} times on one connection by an admin who is signed in."
    );
    println!("Waits: round trips to the store that are under way together are one. Session and audit row are counted.");
    println!("Goals: ≤ {WAITS_MAX} waits, ≤ {} KB, ≤ {P50_MS_MAX} ms.\n", BYTES_MAX / 1024);
    println!(
        "{:<24}{:>8}{:>8}{:>7}{:>7}{:>7}{:>7}{:>8}",
        "page", "p50 ms", "p95 ms", "waits", "trips", "read", "write", "KB"
    );
    let mut missed = Vec::new();
    for visit in &visits {
        let times = times(admin, &visit.path).await;
        let (p50, p95) = (percentile(&times, 50), percentile(&times, 95));
        let Visit { operation, waits, round_trips, read_units, write_units, bytes, .. } = visit;
        let kilobytes = f64::from(u32::try_from(*bytes).unwrap_or(u32::MAX)) / 1024.0;
        println!(
            "{operation:<24}{p50:>8.1}{p95:>8.1}{waits:>7}{round_trips:>7}{read_units:>7}{write_units:>7}{kilobytes:>8.1}"
        );
        if *waits > WAITS_MAX || *bytes > BYTES_MAX || p50 > P50_MS_MAX {
            missed.push(operation.as_str());
        }
    }
    println!("\nPages that miss a goal: {}.", if missed.is_empty() { "none".to_owned() } else { missed.join(", ") });
}

/// The sorted times of a page, from the request to its last byte.
async fn times(browser: &Browser, path: &str) -> Vec<Duration> {
    let mut times = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let sent = Instant::now();
        let page = browser.get(path).await;
        times.push(sent.elapsed());
        assert!(page.status < 400, "{path}: {}", page.status);
    }
    times.sort_unstable();
    times
}
