//! Entrances of other protocols: they call the operations' own router, with the same authentication and audit.

use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use http::{HeaderMap, StatusCode};
use serde_json::Value;

use crate::api::caller::WriteCaller;
pub use crate::api::incoming::Misread;
use crate::api::pipeline::{Answer, Exchange, token_hash};
use crate::api::response::is_too_large;
use crate::domain::audit::Via;
use crate::error::Error;
use crate::limits;
use crate::platform::app_state::AppState;
use crate::store::commit::Attempts;
use crate::store::idempotency::StoredResponse;
use crate::wire::body::{self, NotReceived};
use crate::wire::fields::FieldErrors;
use crate::wire::json;

/// A message of another protocol.
#[derive(Debug)]
pub struct Message {
    /// The parsed JSON.
    pub value: Value,
    /// The raw bytes.
    pub bytes: Vec<u8>,
}

/// Why a message can't be read.
#[derive(Debug)]
pub enum Unreadable {
    /// It has a `Content-Encoding`; encoded messages are refused.
    Encoded,
    /// It has more than [`limits::MESSAGE_BYTES_MAX`].
    TooLong,
    /// It ended before its announced end, or stalled.
    Incomplete,
    /// It is not JSON, or has a key twice.
    Malformed(FieldErrors),
}

/// The answer to a call that runs no operation, in its protocol's terms.
#[derive(Debug)]
pub struct ProtocolAnswer {
    /// The HTTP status.
    pub status: StatusCode,
    /// Whether it is a refusal: some protocols refuse with a success status.
    pub is_refusal: bool,
    /// The JSON body, or empty.
    pub body: Vec<u8>,
}

/// Whether the headers may have a token. Without one, the call is a 401 at once.
#[must_use]
pub fn may_be_authenticated(headers: &HeaderMap) -> bool {
    token_hash(headers).is_some()
}

/// Receives a JSON message as strictly as an operation's body.
pub async fn receive(headers: &HeaderMap, body: Body) -> Result<Message, Unreadable> {
    if body::is_encoded(headers) {
        return Err(Unreadable::Encoded);
    }
    let received = body::receive(body, limits::MESSAGE_BYTES_MAX, limits::BODY_BYTES_DISCARDED_MAX).await;
    let bytes = received.map_err(|reason| match reason {
        NotReceived::TooLong => Unreadable::TooLong,
        NotReceived::Incomplete => Unreadable::Incomplete,
    })?;
    let value = json::parse(&bytes).map_err(Unreadable::Malformed)?;
    Ok(Message { value, bytes })
}

/// Whether a body fits a response on Lambda.
#[must_use]
pub fn fits_a_response(body: &[u8]) -> bool {
    !is_too_large(body)
}

/// Answers and audits a call that runs no operation. Refuses a foreign origin; audits that too if the token is known.
pub async fn answer(
    app: Arc<AppState>,
    operation: &'static str,
    headers: &HeaderMap,
    answer: Result<ProtocolAnswer, Error>,
) -> Response {
    let mut exchange = Exchange::begin(app, operation, Some(Via::Mcp));
    let authenticated = exchange.authenticate(headers, Vec::new()).await;
    let ended = match (authenticated, answer) {
        (_, Err(foreign @ Error::ForeignOrigin)) => Err(foreign),
        (Err(error), _) | (Ok(_), Err(error)) => Err(error),
        (Ok(_), Ok(ProtocolAnswer { status, is_refusal, body })) => {
            let stored = StoredResponse { status, body, headers: HeaderMap::new(), objects: Vec::new() };
            Ok(if is_refusal { Answer::Refused(stored) } else { Answer::Read(stored) })
        }
    };
    exchange.finish(ended).await
}

/// Refuses a write before it is handed on, with the operation's own checks in the same order.
pub async fn refuse_write(
    app: Arc<AppState>,
    operation: &'static str,
    headers: &HeaderMap,
    errors: FieldErrors,
) -> Response {
    let mut exchange = Exchange::begin(app, operation, Some(Via::Mcp));
    let caller = exchange.authenticate(headers, Vec::new()).await;
    let writer = caller.and_then(|caller| WriteCaller::new(caller, Attempts::default()));
    exchange.finish(Err(writer.map_or_else(|error| error, |_| Error::Invalid(errors)))).await
}
