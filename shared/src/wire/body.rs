//! Receives request bodies, bounded in size and time.

use axum::body::{Body, BodyDataStream, Bytes};
use futures_util::StreamExt;
use http::HeaderMap;
use http::header::CONTENT_ENCODING;
use tokio::time::Instant;

use crate::limits;
use crate::wire::fields::{BODY, FieldCode, FieldErrors};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotReceived {
    TooLong,
    /// It ended before its announced end, or stalled.
    Incomplete,
}

/// Whether `Content-Encoding` names anything but `identity`.
///
/// Decision: encoded bodies are refused: they could unpack to any size, and their bytes are no JSON and no form.
pub(crate) fn is_encoded(headers: &HeaderMap) -> bool {
    let is_plain = |coding: &str| coding.is_empty() || coding.eq_ignore_ascii_case("identity");
    let values = headers.get_all(CONTENT_ENCODING).iter();
    !values
        .map(|value| value.to_str().unwrap_or("?"))
        .flat_map(|value| value.split(','))
        .all(|one| is_plain(one.trim()))
}

pub(crate) fn check_encoding(headers: &HeaderMap) -> Result<(), FieldErrors> {
    if !is_encoded(headers) {
        return Ok(());
    }
    let message = "must not be compressed or encoded: send it without Content-Encoding";
    Err(FieldErrors::one(BODY, FieldCode::InvalidFormat, message))
}

/// Receives up to `bytes_max` bytes; discards more up to `discarded_max`, so that the client sees the refusal.
pub(crate) async fn receive(body: Body, bytes_max: usize, discarded_max: usize) -> Result<Vec<u8>, NotReceived> {
    let deadline = Instant::now() + limits::BODY_DEADLINE;
    let mut chunks = body.into_data_stream();
    let mut received = Vec::new();
    let mut bytes = 0;
    while let Some(chunk) = next_chunk(&mut chunks, deadline).await? {
        bytes += chunk.len();
        if bytes <= bytes_max {
            received.extend_from_slice(&chunk);
        } else if bytes > discarded_max {
            break;
        }
    }
    if bytes <= bytes_max { Ok(received) } else { Err(NotReceived::TooLong) }
}

async fn next_chunk(chunks: &mut BodyDataStream, deadline: Instant) -> Result<Option<Bytes>, NotReceived> {
    let left = deadline.saturating_duration_since(Instant::now());
    let chunk = tokio::time::timeout(left.min(limits::BODY_STALL_TIMEOUT), chunks.next()).await;
    chunk.map_err(|_| NotReceived::Incomplete)?.transpose().map_err(|_| NotReceived::Incomplete)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn every_coding_but_identity_is_one() {
        let is_encoded = |values: &'static [&'static str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(CONTENT_ENCODING, HeaderValue::from_static(value));
            }
            super::is_encoded(&headers)
        };
        for plain in [&[][..], &[""], &["identity"], &["Identity, identity"], &["identity", ""]] {
            assert!(!is_encoded(plain), "{plain:?}");
        }
        for encoded in [&["gzip"][..], &["identity, gzip"], &["identity", "br"], &["aws-chunked"], &["x;q=1"]] {
            assert!(is_encoded(encoded), "{encoded:?}");
        }
    }
}
