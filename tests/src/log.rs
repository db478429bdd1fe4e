//! A stack's log: one JSON line per call.

use std::path::Path;

use serde_json::Value;

use crate::wait::eventually;

/// All lines of a log.
#[must_use]
pub fn lines(file: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

/// A call's line, which may be written a moment after the response.
pub async fn line(file: &Path, request_id: &str) -> Value {
    eventually(format!("a log line for {request_id}"), async || {
        // A half-written line is read again.
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let complete = text.rsplit_once('\n').map(|(complete, _)| complete).unwrap_or_default();
        let mut found: Vec<Value> = complete
            .lines()
            .filter(|line| line.contains(request_id))
            .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
            .collect();
        assert!(found.len() <= 1, "one call, several lines: {found:?}");
        found.pop()
    })
    .await
}

/// Waits for a line with all these texts.
pub async fn line_with(file: &Path, texts: &[&str]) -> Value {
    eventually(format!("a log line with {texts:?}"), async || {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let complete = text.rsplit_once('\n').map(|(complete, _)| complete).unwrap_or_default();
        let found = complete.lines().find(|line| texts.iter().all(|text| line.contains(*text)));
        found.map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
    })
    .await
}
