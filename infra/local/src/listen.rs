//! `local listen`: a subscriber on this machine. Prints what arrives and whether it verifies, and answers as it is told.

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

use crate::error::StartError;
use crate::{banner, stack};

/// What is taken of one body, in bytes. Events are far smaller.
const BODY_BYTES_MAX: usize = 1024 * 1024;
/// What is printed of one body, in characters.
const BODY_CHARS_MAX: usize = 20_000;
/// What is printed of an id or a type, in characters.
const FIELD_CHARS_MAX: usize = 100;

/// How to listen.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) port: u16,
    pub(crate) secret: SigningSecret,
    /// What is answered, whether it verifies or not.
    pub(crate) answer: Option<StatusCode>,
    /// How long an answer waits.
    pub(crate) delay: Duration,
    /// How many attempts at each event are answered 500.
    pub(crate) fail_first: u32,
}

/// Listens until the process ends.
///
/// # Errors
/// When the port can't be listened on.
pub(crate) async fn run(settings: Settings) -> Result<(), StartError> {
    let port = settings.port;
    let as_port = |error| StartError::Port { port, error };
    let listener = stack::listen(port).await?;
    banner::listening(listener.local_addr().map_err(as_port)?);
    let subscriber = Subscriber { settings, seen: Mutex::default() };
    axum::serve(listener, Router::new().fallback(receive).with_state(Arc::new(subscriber))).await.map_err(as_port)
}

struct Subscriber {
    settings: Settings,
    /// How often each event has come.
    seen: Mutex<HashMap<String, u32>>,
}

async fn receive(State(subscriber): State<Arc<Subscriber>>, request: Request<Body>) -> Response {
    let (head, body) = request.into_parts();
    if head.method != Method::POST {
        return (StatusCode::METHOD_NOT_ALLOWED, "Webhooks are sent with POST.\n").into_response();
    }
    // Nothing that this service sends is as large.
    let Ok(body) = to_bytes(body, BODY_BYTES_MAX).await else { return StatusCode::PAYLOAD_TOO_LARGE.into_response() };
    let Settings { secret, answer, delay, fail_first, .. } = &subscriber.settings;

    let now = Timestamp::now();
    let verified = verify(secret, &head.headers, &body, now.unix_s());
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    let field = |name: &str| message[name].as_str().map_or_else(|| "-".to_owned(), in_one_line);
    let mut line = format!("{now}  {}  {}", field("type"), field("id"));
    let status = match verified {
        Ok(()) => {
            let times = subscriber.count(&field("id"));
            let signed_at = head.headers.get(TIMESTAMP).and_then(|value| value.to_str().ok()?.parse::<i64>().ok());
            let _ = write!(line, "  verified, signed {} s ago", signed_at.map_or(0, |at| now.unix_s() - at));
            if times > 1 {
                let _ = write!(line, ", a repeat (number {times})");
            }
            if times <= *fail_first { StatusCode::INTERNAL_SERVER_ERROR } else { StatusCode::NO_CONTENT }
        }
        Err(why) => {
            let _ = write!(line, "  NOT VERIFIED: {why}");
            StatusCode::UNAUTHORIZED
        }
    };
    let status = answer.unwrap_or(status);
    let _ = write!(line, "  → {}", status.as_u16());
    if !delay.is_zero() {
        let _ = write!(line, " in {} s", delay.as_secs());
    }
    banner::arrived(verified.is_ok(), &line, &body_text(&message, &body));
    tokio::time::sleep(*delay).await;
    status.into_response()
}

impl Subscriber {
    /// How often an event has come, with this time.
    fn count(&self, id: &str) -> u32 {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let times = seen.entry(id.to_owned()).or_default();
        *times += 1;
        *times
    }
}

/// A body as a person reads it, JSON or not.
fn body_text(message: &Value, body: &[u8]) -> String {
    let pretty = if message.is_null() { None } else { serde_json::to_string_pretty(message).ok() };
    excerpt(pretty.as_deref().map_or(body, str::as_bytes), BODY_CHARS_MAX).unwrap_or_default()
}

/// A stranger's text in one line that does nothing to a terminal.
fn in_one_line(text: &str) -> String {
    excerpt(text.as_bytes(), FIELD_CHARS_MAX).unwrap_or_default().replace(['\n', '\t'], " ")
}
