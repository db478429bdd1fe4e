//! The log: one JSON line per call, with ids, codes and figures, and no user's text. Lines are events of `tracing` with
//! the fields of their spans: request id and operation, and on Lambda `requestId` (the invocation's) and `xrayTraceId`.
//!
//! No line declares metrics (CloudWatch's embedded format): some 900, at a low load more expensive than everything
//! else. The template derives what alarms need from the lines; queries answer the rest (handbook, `Logs`).

use std::fs::OpenOptions;
use std::path::Path;
use std::{env, io};

use json_subscriber::JsonLayer;
use tracing::{Dispatch, Level, Metadata, dispatcher};
use tracing_subscriber::filter::{FilterExt, Targets, filter_fn};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::time::SystemTime;
use tracing_subscriber::layer::{Layer, SubscriberExt};

/// The crates whose events are logged. Those of libraries could quote what users wrote.
pub const LOGGED: [&str; 5] = ["clock", "event_relay", "local", "shared", "webhook_sender"];

/// Variables with the log's level, or levels per module; the first that is set counts. Lambda sets the first.
const LEVELS: [&str; 2] = ["AWS_LAMBDA_LOG_LEVEL", "RUST_LOG"];

/// Logs to the standard output, which Lambda collects, for the rest of the process.
pub fn log_to_stdout() {
    // Fails only if the process has a log.
    let _ = dispatcher::set_global_default(log(io::stdout, levels()));
}

/// A log that appends to a file.
///
/// # Errors
/// If the file can't be opened.
pub fn log_to_file(path: &Path) -> io::Result<Dispatch> {
    Ok(log(OpenOptions::new().create(true).append(true).open(path)?, levels()))
}

fn levels() -> Option<String> {
    LEVELS.iter().find_map(|name| env::var(name).ok())
}

/// Drops lines that can't be written: that must not fail a call.
fn log(writer: impl for<'w> MakeWriter<'w> + Send + Sync + 'static, levels: Option<String>) -> Dispatch {
    let mut lines = JsonLayer::new(writer);
    lines.with_timer("timestamp", SystemTime).with_level("level");
    lines.with_top_level_flattened_span_list().with_flattened_event();
    let levels: Targets =
        levels.and_then(|text| text.to_lowercase().replace("fatal", "error").parse().ok()).unwrap_or_default();
    let levels = if levels.default_level().is_some() { levels } else { levels.with_default(Level::INFO) };
    // Whatever the level, a line keeps the fields of its spans.
    let logged = filter_fn(is_logged_span).or(filter_fn(is_logged).and(levels));
    Dispatch::new(tracing_subscriber::registry().with(lines.with_filter(logged)))
}

fn is_logged(metadata: &Metadata<'_>) -> bool {
    LOGGED.contains(&crate_of(metadata))
}

fn is_logged_span(metadata: &Metadata<'_>) -> bool {
    metadata.is_span() && (is_logged(metadata) || crate_of(metadata) == "lambda_runtime")
}

fn crate_of<'a>(metadata: &Metadata<'a>) -> &'a str {
    metadata.target().split("::").next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::Value;
    use tracing::dispatcher::with_default;

    use super::*;

    fn lines(levels: Option<&str>, write: impl FnOnce()) -> Vec<Value> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        with_default(&log(fs::File::create(&path).unwrap(), levels.map(str::to_owned)), write);
        fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn a_line_has_the_fields_of_its_call_and_of_its_invocation() {
        let lines = lines(None, || {
            let invocation =
                tracing::info_span!(target: "lambda_runtime::layers::trace", "invoke", xrayTraceId = "Root=1");
            let call = tracing::info_span!(parent: &invocation, "call", request_id = "r", operation = "none");
            call.record("operation", "get_me");
            tracing::error!(parent: &call, faults = 1, cause = "why");
        });
        let [line] = lines.as_slice() else { panic!("{lines:?}") };
        for (field, value) in [
            ("xrayTraceId", "Root=1"),
            ("request_id", "r"),
            ("operation", "get_me"),
            ("cause", "why"),
            ("level", "ERROR"),
        ] {
            assert_eq!(line[field], value, "{line}");
        }
        assert_eq!(line["faults"], 1);
        let written: Result<jiff::Timestamp, _> = line["timestamp"].as_str().unwrap().parse();
        assert!(written.is_ok(), "{line}");
    }

    #[test]
    fn no_line_of_a_library_is_logged() {
        let lines = lines(Some("trace"), || {
            tracing::error!(target: "aws_smithy_runtime::client", "the body that a user wrote");
            tracing::error!(target: "lambda_runtime::runtime", "the body that a user wrote");
            tracing::trace!("ours");
        });
        assert_eq!(lines.len(), 1, "{lines:?}");
    }

    #[test]
    fn the_level_keeps_lines_out_and_not_their_fields() {
        let write = || {
            let call = tracing::info_span!("call", request_id = "r");
            tracing::info!(parent: &call, "well");
            tracing::error!(parent: &call, "badly");
        };
        for (levels, written) in [
            (None, 2),
            (Some("INFO"), 2),
            (Some("WARN"), 1),
            (Some("FATAL"), 1),
            (Some("off,shared::platform=error"), 1),
            (Some("?"), 2),
        ] {
            let lines = lines(levels, write);
            assert_eq!(lines.len(), written, "{levels:?}: {lines:?}");
            assert!(lines.iter().all(|line| line["request_id"] == "r"), "{lines:?}");
        }
    }
}
