//! The log that a stack writes: one line of JSON for each call.

use std::path::Path;

use serde_json::Value;

use crate::wait::eventually;

/// All lines of a log.
#[must_use]
pub fn lines(file: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

/// The line of a call, which may be written a moment after the answer was sent.
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

/// The first line with all these texts, as soon as it is written.
pub async fn line_with(file: &Path, texts: &[&str]) -> Value {
    eventually(format!("a log line with {texts:?}"), async || {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let complete = text.rsplit_once('\n').map(|(complete, _)| complete).unwrap_or_default();
        let found = complete.lines().find(|line| texts.iter().all(|text| line.contains(*text)));
        found.map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
    })
    .await
}
