//! `local listen`: a subscriber that prints each delivery and whether it verifies, and answers as its options say.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{Method, Request, StatusCode};
use serde_json::Value;
use shared::crypto::signing_secret::SigningSecret;
use shared::domain::time::Timestamp;
use shared::webhook::client::excerpt;
use shared::webhook::signature::{TIMESTAMP, verify};

use crate::console;
use crate::error::StartError;
use crate::server;

const BODY_BYTES_MAX: usize = 1024 * 1024;
const BODY_CHARS_MAX: usize = 20_000;
const FIELD_CHARS_MAX: usize = 100;

#[derive(Debug)]
pub(crate) struct ListenOptions {
    /// On 127.0.0.1; 0 takes a free one.
    pub(crate) port: u16,
    pub(crate) secret: SigningSecret,
    /// Answers every delivery, verified or not.
    pub(crate) fixed_status: Option<StatusCode>,
    pub(crate) delay: Duration,
    /// Answers so many attempts at each event with 500.
    pub(crate) fail_first: u32,
}

/// Listens until the future is dropped.
pub(crate) async fn run(options: ListenOptions) -> Result<(), StartError> {
    let port = options.port;
    let failed = |error| StartError::Port { port, error };
    let listener = server::bind(port).await?;
    console::listening(listener.local_addr().map_err(failed)?);
    let subscriber = Subscriber { options, attempts: Mutex::default() };
    axum::serve(listener, Router::new().fallback(receive).with_state(Arc::new(subscriber))).await.map_err(failed)
}

struct Subscriber {
    options: ListenOptions,
    /// Verified attempts by event id.
    attempts: Mutex<HashMap<String, u32>>,
}

async fn receive(State(subscriber): State<Arc<Subscriber>>, request: Request<Body>) -> Response {
    let (head, body) = request.into_parts();
    if head.method != Method::POST {
        return (StatusCode::METHOD_NOT_ALLOWED, "Webhooks are sent with POST.\n").into_response();
    }
    let Ok(body) = to_bytes(body, BODY_BYTES_MAX).await else { return StatusCode::PAYLOAD_TOO_LARGE.into_response() };
    let ListenOptions { secret, fixed_status, delay, fail_first, .. } = &subscriber.options;

    let now = Timestamp::now();
    let verified = verify(secret, &head.headers, &body, now.unix_s());
    let event: Value = serde_json::from_slice(&body).unwrap_or_default();
    let field = |name: &str| event[name].as_str().map_or_else(|| "-".to_owned(), in_one_line);
    let mut summary = format!("{now}  {}  {}", field("type"), field("id"));
    let status = match verified {
        Ok(()) => {
            let attempt = subscriber.count_attempt(&field("id"));
            let signed_at = head.headers.get(TIMESTAMP).and_then(|value| value.to_str().ok()?.parse::<i64>().ok());
            let _ = write!(summary, "  verified, signed {} s ago", signed_at.map_or(0, |at| now.unix_s() - at));
            if attempt > 1 {
                let _ = write!(summary, ", a repeat (number {attempt})");
            }
            if attempt <= *fail_first { StatusCode::INTERNAL_SERVER_ERROR } else { StatusCode::NO_CONTENT }
        }
        Err(reason) => {
            let _ = write!(summary, "  NOT VERIFIED: {reason}");
            StatusCode::UNAUTHORIZED
        }
    };
    let status = fixed_status.unwrap_or(status);
    let _ = write!(summary, "  → {}", status.as_u16());
    if !delay.is_zero() {
        let _ = write!(summary, " in {} s", delay.as_secs());
    }
    console::delivery(verified.is_ok(), &summary, &body_text(&event, &body));
    tokio::time::sleep(*delay).await;
    status.into_response()
}

impl Subscriber {
    fn count_attempt(&self, event: &str) -> u32 {
        let mut attempts = self.attempts.lock().unwrap_or_else(PoisonError::into_inner);
        let count = attempts.entry(event.to_owned()).or_default();
        *count += 1;
        *count
    }
}

fn body_text(event: &Value, body: &[u8]) -> String {
    let indented = if event.is_null() { None } else { serde_json::to_string_pretty(event).ok() };
    excerpt(indented.as_deref().map_or(body, str::as_bytes), BODY_CHARS_MAX).unwrap_or_default()
}

/// Puts outside text on one line, without control characters, which could act on a terminal.
fn in_one_line(text: &str) -> String {
    excerpt(text.as_bytes(), FIELD_CHARS_MAX).unwrap_or_default().replace(['\n', '\t'], " ")
}
