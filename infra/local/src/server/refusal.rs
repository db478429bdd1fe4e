//! Refuses requests that reach no function: hyper answers them without an envelope, which is added at the socket.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::Body;
use axum::response::Response;
use http::{HeaderValue, StatusCode, header};
use shared::api::response::REQUEST_ID;
use shared::domain::ids::RequestId;
use shared::error::{Envelope, ErrorBody, ErrorCode};
use shared::limits;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Sleep;

pub(super) fn response(status: StatusCode) -> Response {
    let (id, body) = envelope(status);
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    if let Ok(id) = HeaderValue::try_from(id.to_string()) {
        headers.insert(REQUEST_ID, id);
    }
    response
}

fn envelope(status: StatusCode) -> (RequestId, Vec<u8>) {
    let message = match status {
        StatusCode::URI_TOO_LONG => "The address of the request is too long.",
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => "The headers of the request are too many or too long.",
        _ => "This is not a valid HTTP/1.1 request with one Host header.",
    };
    let request_id = RequestId::new();
    let code = ErrorCode::InvalidRequest;
    let error = ErrorBody { code, message, status: status.as_u16(), request_id, errors: Vec::new() };
    (request_id, serde_json::to_vec(&Envelope { error }).unwrap_or_default())
}

/// Statuses that only hyper answers, never a function.
const REFUSED: [StatusCode; 3] =
    [StatusCode::BAD_REQUEST, StatusCode::URI_TOO_LONG, StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE];

/// Bytes to write instead of hyper's own response: a whole head that announces no body.
fn replacement(written: &[u8]) -> Option<Vec<u8>> {
    let head = std::str::from_utf8(written).ok()?.strip_prefix("HTTP/1.1 ")?.strip_suffix("\r\n\r\n")?;
    let status = StatusCode::from_bytes(head.get(..3)?.as_bytes()).ok().filter(|status| REFUSED.contains(status))?;
    head.lines().any(|line| line.eq_ignore_ascii_case("content-length: 0")).then_some(())?;
    let (id, body) = envelope(status);
    let reason = status.canonical_reason().unwrap_or_default();
    let head = format!(
        "HTTP/1.1 {} {reason}\r\ncontent-type: application/json\r\n{REQUEST_ID}: {id}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        status.as_u16(),
        body.len()
    );
    Some([head.into_bytes(), body].concat())
}

/// A socket that adds an envelope to hyper's own refusals.
#[derive(Debug)]
pub(super) struct WithRefusals {
    socket: TcpStream,
    refusal: Option<Refusal>,
}

/// Written instead of hyper's refusal.
#[derive(Debug)]
struct Refusal {
    bytes: Vec<u8>,
    written: usize,
    /// Bytes that hyper counts as written.
    replaces: usize,
    /// Time limit for discarding the rest of the request.
    patience: Pin<Box<Sleep>>,
    discarded: usize,
    is_shut_down: bool,
}

impl WithRefusals {
    pub(super) fn new(socket: TcpStream) -> Self {
        Self { socket, refusal: None }
    }
}

impl AsyncRead for WithRefusals {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().socket).poll_read(cx, buffer)
    }
}

impl AsyncWrite for WithRefusals {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let Self { socket, refusal } = self.get_mut();
        if refusal.is_none() {
            *refusal = replacement(bytes).map(|own| Refusal {
                bytes: own,
                written: 0,
                replaces: bytes.len(),
                patience: Box::pin(tokio::time::sleep(limits::DISCARD_TIMEOUT)),
                discarded: 0,
                is_shut_down: false,
            });
        }
        let Some(refusal) = refusal else { return Pin::new(socket).poll_write(cx, bytes) };
        while refusal.written < refusal.bytes.len() {
            refusal.written += ready!(Pin::new(&mut *socket).poll_write(cx, &refusal.bytes[refusal.written..]))?;
        }
        Poll::Ready(Ok(refusal.replaces.min(bytes.len())))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().socket).poll_flush(cx)
    }

    /// Closes the connection. After a refusal, first discards what the client sends: a reset would lose the refusal.
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self { socket, refusal } = self.get_mut();
        let Some(refusal) = refusal else { return Pin::new(socket).poll_shutdown(cx) };
        if !refusal.is_shut_down {
            ready!(Pin::new(&mut *socket).poll_shutdown(cx))?;
            refusal.is_shut_down = true;
        }
        let mut discarded = [0; 16 * 1024];
        while refusal.discarded < limits::BODY_BYTES_DISCARDED_MAX && refusal.patience.as_mut().poll(cx).is_pending() {
            let mut buffer = ReadBuf::new(&mut discarded);
            ready!(Pin::new(&mut *socket).poll_read(cx, &mut buffer))?;
            if buffer.filled().is_empty() {
                break;
            }
            refusal.discarded += buffer.filled().len();
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_bare_refusal_is_replaced() {
        let bare = |status: &str| format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        for status in ["400 Bad Request", "414 URI Too Long", "431 Request Header Fields Too Large"] {
            let replaced = String::from_utf8(replacement(bare(status).as_bytes()).unwrap()).unwrap();
            assert!(replaced.starts_with(&format!("HTTP/1.1 {status}\r\n")), "{replaced}");
            let (head, body) = replaced.split_once("\r\n\r\n").unwrap();
            let body: serde_json::Value = serde_json::from_str(body).unwrap();
            let id = body["error"]["request_id"].as_str().unwrap();
            assert!(head.contains(&format!("x-request-id: {id}")), "{replaced}");
        }
        for written in [
            bare("404 Not Found"),
            bare("200 OK"),
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 2\r\n\r\n".to_owned(),
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n{}".to_owned(),
            "{\"a\": 1}".to_owned(),
        ] {
            assert_eq!(replacement(written.as_bytes()), None, "{written}");
        }
    }
}
