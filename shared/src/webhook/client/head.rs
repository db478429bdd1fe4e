//! The status line of a response that can't be read as a whole.
//!
//! Decision: a complete status line decides the attempt: a head that then breaks off doesn't turn success into failure.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};

use http::StatusCode;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Room for a status line and informational responses before it, such as early hints.
const KEPT_BYTES_MAX: usize = 16 * 1024;

/// The first bytes received. Clones share them.
#[derive(Debug, Clone, Default)]
pub(super) struct Head(Arc<Mutex<Vec<u8>>>);

impl Head {
    fn keep(&self, received: &[u8]) {
        if let Ok(mut kept) = self.0.lock() {
            let room = KEPT_BYTES_MAX.saturating_sub(kept.len());
            kept.extend_from_slice(&received[..received.len().min(room)]);
        }
    }

    pub(super) fn status(&self) -> Option<StatusCode> {
        self.0.lock().ok().and_then(|kept| status(&kept))
    }
}

fn status(mut head: &[u8]) -> Option<StatusCode> {
    loop {
        let end = head.windows(2).position(|two| two == b"\r\n")?;
        let status = status_of_line(head.get(..end)?)?;
        if !status.is_informational() {
            return Some(status);
        }
        let end = head.windows(4).position(|four| four == b"\r\n\r\n")?;
        head = head.get(end + 4..)?;
    }
}

fn status_of_line(line: &[u8]) -> Option<StatusCode> {
    let rest = line.strip_prefix(b"HTTP/1.1 ").or_else(|| line.strip_prefix(b"HTTP/1.0 "))?;
    let (code, reason) = rest.split_at_checked(3)?;
    if reason.first().is_some_and(|first| *first != b' ') {
        return None;
    }
    StatusCode::from_bytes(code).ok()
}

pub(super) struct Kept<S> {
    stream: S,
    head: Head,
}

impl<S> Kept<S> {
    pub(super) fn new(stream: S, head: Head) -> Self {
        Self { stream, head }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Kept<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        self.head.keep(buf.filled().get(before..).unwrap_or_default());
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Kept<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_counts_once_its_line_is_complete() {
        for (head, expected) in [
            ("HTTP/1.1 200 OK\r\n", Some(200)),
            ("HTTP/1.0 204\r\nserver: a", Some(204)),
            ("HTTP/1.1 503 \r\n", Some(503)),
            ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n", Some(200)),
            ("HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n", None),
            ("HTTP/1.1 103 Early Hints\r\nlink: </a>", None),
            ("HTTP/1.1 200 OK", None),
            ("HTTP/1.1 20\r\n", None),
            ("HTTP/1.1 2000\r\n", None),
            ("HTTP/1.1 abc\r\n", None),
            ("HTTP/9.9 200 OK\r\n", None),
            ("200 OK\r\n", None),
            ("", None),
        ] {
            let received = Head::default();
            for byte in head.bytes() {
                received.keep(&[byte]);
            }
            assert_eq!(received.status().map(|status| status.as_u16()), expected, "{head:?}");
        }
    }

    #[test]
    fn no_more_is_kept_than_a_status_takes() {
        let received = Head::default();
        for _ in 0..3 {
            received.keep(&[b'x'; KEPT_BYTES_MAX]);
        }
        assert_eq!(received.0.lock().unwrap().len(), KEPT_BYTES_MAX);
    }
}
