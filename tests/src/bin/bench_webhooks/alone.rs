//! The sender alone: a process with the local queue, the real client and deliveries in memory.

use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use local::{DeliveryWorker, LocalQueue, PublicOrLoopback};
use serde_json::{Value, json};
use shared::crypto::keyring::Keyring;
use shared::crypto::keys::FixedKeys;
use shared::domain::time::Timestamp;
use shared::domain::time_scale::TimeScale;
use shared::platform::telemetry::log_to_file;
use shared::webhook::client::Client;
use shared::webhook::queue::{DeliveryMessage, Queue};
use shared::webhook::resolve::SystemResolver;
use tests::memory::Memory;
use tokio::process::Command;
use webhook_sender::Sender;

use crate::receiver::Receiver;
use crate::rounded;

pub const WORD: &str = "sender";

const DELIVERIES: usize = 20_000;
const ENDPOINTS: usize = 20;
const BODY: &str = r#"{"id":"01980a3e-5f10-7c44-9a6b-2f1d8e0c7b35","type":"proposal.created","created_at":"2026-03-14T09:26:53.589Z","data":{"proposal_id":"01980a3e-5f10-7c44-9a6b-2f1d8e0c7b36","agreement_id":"01980a3e-5f10-7c44-9a6b-2f1d8e0c7b37","action":"publish_agreement"}}"#;

pub async fn measure() -> Value {
    let receiver = Receiver::start().await;
    let program = std::env::current_exe().expect("this program");
    let sender = Command::new(program).args([WORD, &receiver.url()]).stdout(Stdio::piped()).kill_on_drop(true).output();
    let output = sender.await.expect("the sender runs");
    assert!(output.status.success(), "the sender ended with {}", output.status);
    let mut figures: Value = serde_json::from_slice(&output.stdout).expect("its figures");
    let (arrived, doubled) = receiver.count();
    let lost = DELIVERIES - arrived;
    assert_eq!(lost, 0, "lost");
    figures["lost"] = json!(lost);
    figures["doubled"] = json!(doubled);
    figures
}

pub async fn send(url: &str) -> Value {
    let folder = tempfile::tempdir().expect("a folder");
    let log = log_to_file(&folder.path().join("log")).expect("a log");
    let keyring = Keyring::new("a").expect("randomness");
    let memory = Memory::default();
    let endpoints: Vec<_> = (0..ENDPOINTS).map(|n| memory.add_endpoint(&format!("{url}/{n}"), &keyring)).collect();
    let wakes: Vec<DeliveryMessage> = (0..DELIVERIES)
        .map(|n| {
            let due_at = Timestamp::now();
            DeliveryMessage { delivery: memory.add_delivery(endpoints[n % ENDPOINTS], BODY.to_owned(), due_at), due_at }
        })
        .collect();
    drop(memory.take_due_messages());
    let client = Client::new(Arc::new(PublicOrLoopback), Arc::new(SystemResolver::new())).expect("a client");
    let queue = Arc::new(LocalQueue::default());
    let sender = Sender::new(memory.clone(), queue.clone(), FixedKeys::new(keyring), client, TimeScale::default());
    let before = resident_mib("VmRSS:");
    let began = Instant::now();
    queue.send(&wakes).await.expect("room");
    let worker = tracing::dispatcher::with_default(&log, || DeliveryWorker::start(queue, sender));
    while memory.next_due().is_some() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let took = began.elapsed();
    drop(worker);
    json!({
        "deliveries": DELIVERIES,
        "endpoints": ENDPOINTS,
        "seconds": rounded(took.as_secs_f64()),
        "deliveries_per_s": (DELIVERIES as f64 / took.as_secs_f64()).round(),
        "resident_mib_before": before,
        "resident_mib_max": resident_mib("VmHWM:"),
    })
}

fn resident_mib(name: &str) -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: f64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(rounded(kib / 1024.0))
}
