//! A request body, as its connection receives it.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use shared::limits;
use tokio::runtime::Handle;

/// If dropped before its end, receives and discards the rest, within limits: a response may be sent before the body has
/// arrived, and closing the connection while the client still sends can lose that response.
#[derive(Debug)]
pub(super) struct RequestBody(Option<Incoming>);

impl RequestBody {
    pub(super) fn new(body: Incoming) -> Self {
        Self(Some(body))
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<hyper::Result<Frame<Bytes>>>> {
        let Some(body) = &mut self.get_mut().0 else { return Poll::Ready(None) };
        Pin::new(body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.0.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.0.as_ref().map(Body::size_hint).unwrap_or_default()
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        let body = self.0.take().filter(|body| !body.is_end_stream());
        // Without a runtime the process is about to end.
        if let (Some(body), Ok(runtime)) = (body, Handle::try_current()) {
            runtime.spawn(tokio::time::timeout(limits::DISCARD_TIMEOUT, discard(body)));
        }
    }
}

async fn discard(mut body: Incoming) {
    let mut bytes = 0;
    while let Ok(Some(Ok(frame))) = tokio::time::timeout(limits::DISCARD_STALL_TIMEOUT, body.frame()).await {
        bytes += frame.data_ref().map_or(0, Bytes::len);
        if bytes > limits::BODY_BYTES_DISCARDED_MAX {
            return;
        }
    }
}
