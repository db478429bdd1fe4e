//! What an entrance of another protocol needs of the pipeline: it calls the operations' own router for each operation, and
//! answers here what is no operation, authenticated and recorded like one.

use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use http::{HeaderMap, StatusCode};
use serde_json::Value;

use crate::api::pipeline::{Answer, Exchange, token_hash};
use crate::api::response::is_too_large;
use crate::domain::audit::Via;
use crate::error::Error;
use crate::limits;
use crate::platform::app_state::AppState;
use crate::store::idempotency::StoredResponse;
use crate::wire::body::{self, NotReceived};
use crate::wire::fields::FieldErrors;
use crate::wire::json;

/// Why a message can't be read.
#[derive(Debug)]
pub enum Unreadable {
    /// It has more than [`limits::MESSAGE_BYTES_MAX`].
    TooLong,
    /// It ended before its announced end, or stalled.
    Incomplete,
    /// It is not JSON, or has a key twice.
    Malformed(FieldErrors),
}

/// What a call that runs no operation is answered, in the words of its protocol.
#[derive(Debug)]
pub struct ProtocolAnswer {
    /// The HTTP status.
    pub status: StatusCode,
    /// Whether it is a refusal, as protocols tell them with a status of success too.
    pub is_refusal: bool,
    /// The body, JSON; empty for none.
    pub body: Vec<u8>,
}

/// Whether the headers have what could be a token. Without one there is nothing to wait for: the call is a 401.
#[must_use]
pub fn may_be_authenticated(headers: &HeaderMap) -> bool {
    token_hash(headers).is_some()
}

/// Receives a message as JSON, as strictly as the body of an operation.
///
/// # Errors
/// [`Unreadable`].
pub async fn receive(body: Body) -> Result<Value, Unreadable> {
    let received = body::receive(body, limits::MESSAGE_BYTES_MAX, limits::BODY_BYTES_DISCARDED_MAX).await;
    let bytes = received.map_err(|reason| match reason {
        NotReceived::TooLong => Unreadable::TooLong,
        NotReceived::Incomplete => Unreadable::Incomplete,
    })?;
    json::parse(&bytes).map_err(Unreadable::Malformed)
}

/// Whether a body is small enough for a response on Lambda.
#[must_use]
pub fn fits_a_response(body: &[u8]) -> bool {
    !is_too_large(body)
}

/// Answers a call that runs no operation. It is authenticated first, and leaves the one row in the audit log that every call
/// leaves, under the given id. A request from a foreign origin is refused as such whoever sent it, and is on record if its
/// token is known.
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
