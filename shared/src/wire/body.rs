//! Receiving a body: bounded in bytes and in time, so that an incomplete request gets an answer of its own.

use std::time::Instant;

use axum::body::{Body, BodyDataStream, Bytes};
use futures_util::StreamExt;

use crate::limits;

/// Why a body was not received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotReceived {
    /// It has more bytes than allowed.
    TooLong,
    /// It ended before its announced end, or stalled.
    Incomplete,
}

/// Receives a body of up to `bytes_max` bytes. Of a longer one, bytes up to `discarded_max` are received and discarded, so
/// that the client gets the refusal.
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
