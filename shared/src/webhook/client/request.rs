use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_TYPE, HOST, USER_AGENT};
use http::{HeaderMap, HeaderValue, Request};
use http_body_util::Full;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;

use super::head::Kept;
use super::{Progress, response};
use crate::domain::delivery::FailureClass;
use crate::limits;
use crate::webhook::guard::EndpointUrl;

const USER_AGENT_VALUE: &str = concat!("Countersign/", env!("CARGO_PKG_VERSION"));

/// Builds the request. `None` if a part is invalid in HTTP, which a parsed URL never causes.
pub(super) fn build(url: &EndpointUrl, headers: HeaderMap, body: Bytes) -> Option<Request<Full<Bytes>>> {
    let mut request = Request::post(url.path_and_query()).body(Full::new(body)).ok()?;
    *request.headers_mut() = headers;
    request.headers_mut().extend([
        (HOST, HeaderValue::from_str(url.authority()).ok()?),
        (CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (USER_AGENT, HeaderValue::from_static(USER_AGENT_VALUE)),
        (CONNECTION, HeaderValue::from_static("close")),
    ]);
    Some(request)
}

/// Sends the request and reads the response up to its limit. Records the status before reading the body.
pub(super) async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    request: Request<Full<Bytes>>,
    progress: &mut Progress,
) -> Result<(), FailureClass> {
    let handshake = http1::Builder::new()
        .max_buf_size(limits::WEBHOOK_HEAD_BYTES_MAX)
        .max_headers(limits::WEBHOOK_HEADERS_MAX)
        // The specification spells header names in title case; subscribers may compare them literally.
        .title_case_headers(true)
        .handshake(TokioIo::new(Kept::new(stream, progress.head.clone())));
    let (mut sender, connection) = handshake.await.map_err(|error| response::failure_class(&error))?;
    // The set aborts the connection's task whenever the attempt ends.
    let mut tasks = JoinSet::new();
    tasks.spawn(connection);
    let response = sender.send_request(request).await.map_err(|error| response::failure_class(&error))?;
    progress.status = Some(response.status());
    response::read_body(response.into_body(), &mut progress.body).await
}

#[cfg(test)]
mod tests {
    use crate::webhook::testing::{BODY, LOCAL, Names, Receiver, client, delivered, post};

    #[tokio::test]
    async fn the_request_has_the_body_and_its_headers_and_nothing_more() {
        let receiver = Receiver::answering(&[b"HTTP/1.1 204 No Content\r\nset-cookie: a=b\r\n\r\n"]).await;
        let client = client(Names::always(&[LOCAL]));
        for _ in 0..2 {
            assert_eq!(post(&client, &receiver.url()).await.outcome, delivered(204));
        }
        let port = receiver.address.port();
        let expected = format!(
            "POST /in?a=b HTTP/1.1\r\nService-Webhook-Timestamp: 1\r\nHost: hooks.example.com:{port}\r\n\
             Content-Type: application/json\r\nUser-Agent: Countersign/1.0.0\r\nConnection: close\r\n\
             Content-Length: {}\r\n\r\n{BODY}",
            BODY.len()
        );
        assert_eq!(*receiver.requests.lock().unwrap(), [expected.clone(), expected]);
        assert_eq!(receiver.accepted(), 2, "each attempt has its own connection");
    }
}
