//! The same lists in `PostgreSQL`, on the same machine in the same run: `scripts/postgresql`.

use std::collections::HashMap;
use std::process::{Command, Stdio};

use serde_json::Value;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts/postgresql");
/// What the script ends with where `PostgreSQL` is not installed.
const NOT_INSTALLED: i32 = 69;

pub struct PostgreSql {
    /// By the name of a list's case.
    pub p50_ms: HashMap<String, f64>,
    pub calls_per_s_of_eight: f64,
}

/// None where `PostgreSQL` is not installed.
pub fn measure(contacts: usize) -> Option<PostgreSql> {
    eprintln!("Measuring lists of {contacts} contacts in PostgreSQL");
    let done = Command::new(SCRIPT).arg(contacts.to_string()).stderr(Stdio::inherit()).output().expect(SCRIPT);
    if done.status.code() == Some(NOT_INSTALLED) {
        return None;
    }
    assert!(done.status.success(), "{SCRIPT}: {}", done.status);
    let figures: Value = serde_json::from_slice(&done.stdout).expect("the script's figures");
    let p50_ms = serde_json::from_value(figures["p50_ms"].clone()).expect("medians by case");
    let calls_per_s_of_eight = figures["calls_per_s_of_eight"].as_f64().expect("calls per second");
    Some(PostgreSql { p50_ms, calls_per_s_of_eight })
}
