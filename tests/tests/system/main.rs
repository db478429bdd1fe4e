//! The system tests: the product over HTTP. One folder per part of the product, one file per subject.
//!
//! Each test has its own organization and runs beside the others, on the store `COUNTERSIGN_TEST_DYNAMODB` if set.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::too_many_lines,
    clippy::unwrap_used,
    reason = "a test that meets what it did not expect should fail there and then, and a table of cases may be long"
)]

mod api;
mod app;
mod infra;
mod mcp;
mod store;
mod webhooks;

/// As in the local stack: a test's own stack runs in its process.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const STACK: &str = env!("CARGO_BIN_EXE_stack");

fn unknown_id() -> String {
    uuid::Uuid::now_v7().to_string()
}

fn in_list(record: &serde_json::Value) -> serde_json::Value {
    let mut record = record.clone();
    if let Some(people) = record["people"].as_array() {
        assert_eq!(record["people_count"], people.len(), "{record}");
        record["people"] = serde_json::Value::Null;
    }
    record
}

fn members(value: &serde_json::Value) -> Vec<&str> {
    let mut names: Vec<&str> = value.as_object().expect("an object").keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

/// Asserts the API's form of a moment: RFC 3339, UTC, `Z`, milliseconds.
#[track_caller]
fn assert_moment(value: &serde_json::Value) {
    let text = value.as_str().unwrap_or_default();
    let shape: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    assert_eq!(shape, "0000-00-00T00:00:00.000Z", "{value}");
}
