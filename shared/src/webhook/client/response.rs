//! The response: how much to read, and what it means for the attempt.

use std::error::Error as StdError;
use std::io::ErrorKind;

use http::StatusCode;
use http_body_util::BodyExt;
use hyper::body::Incoming;

use crate::domain::delivery::{FailureClass, Outcome};
use crate::limits;

pub(super) async fn read_body(mut body: Incoming, into: &mut Vec<u8>) -> Result<(), FailureClass> {
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| failure_class(&error))?;
        let Some(data) = frame.data_ref() else { continue };
        let room = limits::WEBHOOK_BODY_BYTES_MAX - into.len();
        into.extend_from_slice(&data[..data.len().min(room)]);
        if into.len() == limits::WEBHOOK_BODY_BYTES_MAX {
            break;
        }
    }
    Ok(())
}

/// Tells a response that isn't HTTP from a connection that ended early.
pub(super) fn failure_class(error: &hyper::Error) -> FailureClass {
    if error.is_parse() || is_malformed_body(error) {
        FailureClass::InvalidResponse
    } else {
        FailureClass::ConnectionClosed
    }
}

/// Whether the body's framing is wrong, such as a chunk length that isn't a number.
fn is_malformed_body(error: &hyper::Error) -> bool {
    let cause = error.source().and_then(|cause| cause.downcast_ref::<std::io::Error>());
    cause.is_some_and(|cause| matches!(cause.kind(), ErrorKind::InvalidInput | ErrorKind::InvalidData))
}

/// An attempt's outcome. The status decides, whatever became of the body.
///
/// Decision: a success whose body breaks off, stalls or is malformed counts: the body is only for the excerpt.
pub(super) fn outcome(status: Option<StatusCode>, ended: Result<(), FailureClass>) -> Outcome {
    let number = status.map(|status| status.as_u16());
    match (status, ended) {
        (Some(status), _) if status.is_redirection() => {
            Outcome::Failed { class: FailureClass::Redirect, status: number }
        }
        (Some(status), _) if !status.is_success() => Outcome::Failed { class: FailureClass::HttpError, status: number },
        (Some(status), _) => Outcome::Delivered { status: status.as_u16() },
        (None, Err(class)) => Outcome::Failed { class, status: None },
        // Unreachable: a successful exchange has a status.
        (None, Ok(())) => Outcome::Failed { class: FailureClass::InvalidResponse, status: None },
    }
}

/// The beginning of a body as text, without characters that pages or terminals act on. None if nothing is left.
#[must_use]
pub fn excerpt(body: &[u8], chars_max: usize) -> Option<String> {
    let text = String::from_utf8_lossy(&body[..body.len().min(4 * chars_max)]);
    let visible = text.chars().filter(|c| *c != '\r').map(|c| match c {
        '\n' | '\t' => c,
        // Unicode has pictures of control characters.
        '\0'..='\x1f' => char::from_u32(0x2400 + u32::from(c)).unwrap_or(char::REPLACEMENT_CHARACTER),
        '\x7f' => '\u{2421}',
        // Characters that are invisible or change the text's direction.
        '\u{80}'..='\u{9f}'
        | '\u{ad}'
        | '\u{61c}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}' => char::REPLACEMENT_CHARACTER,
        _ => c,
    });
    let kept: String = visible.take(chars_max).collect();
    (!kept.is_empty()).then_some(kept)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::io::AsyncWriteExt;
    use tokio::net::TcpListener;

    use super::*;
    use crate::webhook::client::AttemptResult;
    use crate::webhook::guard::EndpointUrl;
    use crate::webhook::testing::{LOCAL, Names, Receiver, client, delivered, failed, post};

    async fn answered(parts: &[&[u8]]) -> AttemptResult {
        let receiver = Receiver::answering(parts).await;
        let result = post(&client(Names::always(&[LOCAL])), &receiver.url()).await;
        assert_eq!(result.dialled, Some(receiver.address));
        assert_eq!(receiver.accepted(), 1);
        result
    }

    #[tokio::test]
    async fn a_success_is_a_2xx_whatever_becomes_of_its_body() {
        let many = format!("HTTP/1.1 200 OK\r\n{}content-length: 0\r\n\r\n", "a: b\r\n".repeat(200));
        let large = format!("HTTP/1.1 200 OK\r\na: {}\r\ncontent-length: 0\r\n\r\n", "b".repeat(64 * 1024));
        for (parts, status, excerpt) in [
            (&[&b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"[..]][..], 200, Some("ok")),
            (&[b"HTTP/1.1 204 No Content\r\n\r\n"], 204, None),
            (&[b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n"], 202, None),
            (&[b"HTTP/1.1 299 \r\ncontent-length: 0\r\n\r\n"], 299, None),
            (&[b"HTTP/1.0 200 OK\r\n\r\nuntil the end"], 200, Some("until the end")),
            (
                &[b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\none", b"\r\n4\r\n two\r\n0\r\n\r\n"],
                200,
                Some("one two"),
            ),
            (&[b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"], 200, None),
            (&[many.as_bytes()], 200, None),
            (&[large.as_bytes()], 200, None),
            (&[b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nfour"], 200, Some("four")),
            (&[b"HTTP/1.1 201 Created\r\ncontent-length: 5\r\n\r\n"], 201, None),
            (&[b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfour"], 200, Some("four")),
            (&[b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n"], 200, None),
            (&[b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n", b"HTTP/1.1 204 No Content\r\n\r\n"], 204, None),
        ] {
            let result = answered(parts).await;
            assert_eq!(result.outcome, delivered(status), "{parts:?}");
            assert_eq!(result.excerpt.as_deref(), excerpt, "{parts:?}");
        }
    }

    #[tokio::test]
    async fn a_complete_status_line_counts_whatever_follows_it() {
        let many = format!("{}\r\n", "a: b\r\n".repeat(limits::WEBHOOK_HEADERS_MAX + 1));
        let large = format!("a: {}\r\n\r\n", "b".repeat(2 * limits::WEBHOOK_HEAD_BYTES_MAX));
        for rest in [
            "",
            "server: a",
            "no header\r\n\r\n",
            "content-length: x\r\n\r\n",
            "content-length: 1\r\ncontent-length: 2\r\n\r\na",
            &many,
            &large,
        ] {
            let begin: String = rest.chars().take(60).collect();
            for (line, outcome) in [
                ("HTTP/1.1 200 OK\r\n", delivered(200)),
                ("HTTP/1.1 500 No\r\n", failed(FailureClass::HttpError, 500)),
                ("HTTP/1.1 302 Elsewhere\r\n", failed(FailureClass::Redirect, 302)),
            ] {
                let result = answered(&[line.as_bytes(), rest.as_bytes()]).await;
                assert_eq!((result.outcome, result.excerpt), (outcome, None), "{line:?} {begin:?}");
            }
        }
    }

    #[tokio::test]
    async fn a_compressed_body_is_left_alone() {
        let gzip = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x4b\x04\x00";
        let head = format!("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n", gzip.len());
        let result = answered(&[head.as_bytes(), gzip]).await;
        assert_eq!(result.outcome, delivered(200));
        assert_eq!(result.excerpt.unwrap(), "␟\u{fffd}␈␀␀␀␀␀␀␃K␄␀");
    }

    #[tokio::test]
    async fn any_other_status_is_a_failure_whatever_its_body_does() {
        for status in [400, 401, 404, 410, 429, 500, 503, 599, 999] {
            let head = format!("HTTP/1.1 {status} No\r\ncontent-length: 6\r\n\r\n");
            for body in ["sorry!", "sorr"] {
                let result = answered(&[head.as_bytes(), body.as_bytes()]).await;
                assert_eq!(result.outcome, failed(FailureClass::HttpError, status));
                assert_eq!(result.excerpt.as_deref(), Some(body));
            }
        }
    }

    #[tokio::test]
    async fn the_target_of_a_redirect_is_never_contacted() {
        let target = Receiver::answering(&[b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"]).await;
        for status in [301, 302, 303, 307, 308, 300, 304] {
            let head = format!(
                "HTTP/1.1 {status} Elsewhere\r\nlocation: http://hooks.example.com:{}/\r\nrefresh: 0\r\ncontent-length: 0\r\n\r\n",
                target.address.port()
            );
            assert_eq!(answered(&[head.as_bytes()]).await.outcome, failed(FailureClass::Redirect, status));
        }
        assert_eq!(target.accepted(), 0);
    }

    #[tokio::test]
    async fn an_invalid_response_is_told_from_one_that_ends_early() {
        for (response, class) in [
            ("HTTP/1.1 abc\r\n\r\n", FailureClass::InvalidResponse),
            ("HTTP/1.1 20\r\n\r\n", FailureClass::InvalidResponse),
            ("HTTP/9.9 200 OK\r\n\r\n", FailureClass::InvalidResponse),
            ("200 OK\r\n\r\n", FailureClass::InvalidResponse),
            ("<html>hello</html>\r\n\r\n", FailureClass::InvalidResponse),
            ("SSH-2.0-OpenSSH_9.6\r\n", FailureClass::InvalidResponse),
            ("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", FailureClass::InvalidResponse),
            ("", FailureClass::ConnectionClosed),
            ("HTTP/1.1 200 O", FailureClass::ConnectionClosed),
        ] {
            let result = answered(&[response.as_bytes()]).await;
            let begin: String = response.chars().take(60).collect();
            assert_eq!(result.outcome, failed(class, None), "{begin:?}");
        }
    }

    #[tokio::test]
    async fn a_body_is_read_up_to_its_limit() {
        let sent = Arc::new(AtomicUsize::new(0));
        let listener = TcpListener::bind((LOCAL, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let counted = Arc::clone(&sent);
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 104857600\r\n\r\n").await.unwrap();
            while stream.write_all(&[b'x'; 8192]).await.is_ok() {
                counted.fetch_add(8192, Ordering::SeqCst);
            }
        });
        let url = EndpointUrl::try_from(format!("http://hooks.example.com:{port}/")).unwrap();
        let result = post(&client(Names::always(&[LOCAL])), &url).await;
        assert_eq!(result.outcome, delivered(200));
        assert_eq!(result.excerpt.unwrap(), "x".repeat(limits::WEBHOOK_EXCERPT_CHARS_MAX));
        // The operating system buffers more, but far from all of it.
        assert!(sent.load(Ordering::SeqCst) < 50 * 1024 * 1024);
    }

    #[test]
    fn failure_classes_serialize_as_their_text() {
        for class in FailureClass::ALL {
            assert_eq!(serde_json::to_value(class).unwrap(), class.as_str());
        }
    }

    #[test]
    fn an_excerpt_has_no_control_characters() {
        for (body, text) in [
            (&b""[..], None),
            (b"\r", None),
            (b"one\r\ntwo\tthree", Some("one\ntwo\tthree")),
            (b"\x1b[31mred\x07\x7f", Some("␛[31mred␇␡")),
            (b"a\xffb", Some("a\u{fffd}b")),
            ("a\u{202e}b\u{200b}c\u{feff}\u{85}".as_bytes(), Some("a\u{fffd}b\u{fffd}c\u{fffd}\u{fffd}")),
            ("<b>é 日本 🦀</b>".as_bytes(), Some("<b>é 日本 🦀</b>")),
        ] {
            assert_eq!(excerpt(body, 20).as_deref(), text, "{body:?}");
        }
        assert_eq!(excerpt("🦀".repeat(2000).as_bytes(), 1000).unwrap(), "🦀".repeat(1000));
    }
}
