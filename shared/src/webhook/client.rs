//! One attempt at a delivery: a POST to an address that the guard has seen, on a connection of its own.
//!
//! What a library for browsers would do is what must not happen here: no redirect is followed, no proxy of the
//! environment is used, nothing is decompressed, no cookie is kept, no connection is used twice.

use std::error::Error as StdError;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_TYPE, HOST, USER_AGENT};
use http::{HeaderMap, HeaderValue, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use url::Host;

use super::guard::{EndpointUrl, Guard, Scheme, check};
use super::resolve::Resolve;
pub use crate::domain::delivery::{FailureClass, Outcome};
use crate::limits;

/// Who asks.
const AGENT: &str = concat!("Countersign/", env!("CARGO_PKG_VERSION"));

/// Makes attempts. Build it once per process.
#[derive(Clone)]
pub struct Client {
    guard: Arc<dyn Guard>,
    resolver: Arc<dyn Resolve>,
    tls: TlsConnector,
    deadline: Duration,
}

/// What became of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempted {
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// The address that was connected to, or the last that was tried. None if it did not come to that.
    pub dialled: Option<SocketAddr>,
    /// How it ended.
    pub outcome: Outcome,
    /// The beginning of the response's body, as text for people. None if there was none.
    pub excerpt: Option<String>,
}

/// What is known of an attempt so far, also when its time is up.
#[derive(Default)]
struct Seen {
    dialled: Option<SocketAddr>,
    status: Option<StatusCode>,
    body: Vec<u8>,
}

impl Client {
    /// A client that trusts the certificate authorities of the web.
    ///
    /// # Errors
    /// When TLS can't be set up, which no input leads to.
    pub fn new(guard: Arc<dyn Guard>, resolver: Arc<dyn Resolve>) -> Result<Self, tokio_rustls::rustls::Error> {
        let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        Self::trusting(roots, guard, resolver)
    }

    fn trusting(
        roots: RootCertStore,
        guard: Arc<dyn Guard>,
        resolver: Arc<dyn Resolve>,
    ) -> Result<Self, tokio_rustls::rustls::Error> {
        let mut tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        tls.alpn_protocols = vec![b"http/1.1".to_vec()];
        let tls = TlsConnector::from(Arc::new(tls));
        Ok(Self { guard, resolver, tls, deadline: limits::WEBHOOK_DEADLINE })
    }

    /// The same with another deadline for each attempt. Tests have less time.
    #[must_use]
    pub fn with_deadline(self, deadline: Duration) -> Self {
        Self { deadline, ..self }
    }

    /// Posts a JSON body, once. The signature's headers come with it.
    pub async fn post(&self, url: &EndpointUrl, headers: HeaderMap, body: Bytes) -> Attempted {
        let begun = Instant::now();
        let mut seen = Seen::default();
        let attempt = self.attempt(url, headers, body, &mut seen);
        let ended = timeout(self.deadline, attempt).await.unwrap_or(Err(FailureClass::Timeout));
        Attempted {
            duration_ms: begun.elapsed().as_millis().try_into().unwrap_or(u64::MAX),
            dialled: seen.dialled,
            outcome: outcome(seen.status, ended),
            excerpt: excerpt(&seen.body, limits::WEBHOOK_EXCERPT_CHARS_MAX),
        }
    }

    async fn attempt(
        &self,
        url: &EndpointUrl,
        headers: HeaderMap,
        body: Bytes,
        seen: &mut Seen,
    ) -> Result<(), FailureClass> {
        let request = request(url, headers, body).ok_or(FailureClass::ConnectError)?;
        let addresses = check(url, &*self.guard, &*self.resolver).await.map_err(|error| error.class())?;
        let stream = connect(&addresses, seen).await?;
        match url.scheme() {
            Scheme::Http => exchange(stream, request, seen).await,
            Scheme::Https => {
                let name = server_name(url).ok_or(FailureClass::TlsError)?;
                let stream = self.tls.connect(name, stream).await.map_err(|_| FailureClass::TlsError)?;
                exchange(stream, request, seen).await
            }
        }
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("guard", &self.guard).field("deadline", &self.deadline).finish_non_exhaustive()
    }
}

/// The request, or nothing if its parts make none, which no URL that was read leads to.
fn request(url: &EndpointUrl, headers: HeaderMap, body: Bytes) -> Option<Request<Full<Bytes>>> {
    let mut request = Request::post(url.path_and_query()).body(Full::new(body)).ok()?;
    *request.headers_mut() = headers;
    request.headers_mut().extend([
        (HOST, HeaderValue::from_str(url.authority()).ok()?),
        (CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (USER_AGENT, HeaderValue::from_static(AGENT)),
        (CONNECTION, HeaderValue::from_static("close")),
    ]);
    Some(request)
}

/// Whom the certificate must be for.
fn server_name(url: &EndpointUrl) -> Option<ServerName<'static>> {
    match url.host() {
        Host::Domain(name) => ServerName::try_from(name.to_owned()).ok(),
        Host::Ipv4(address) => Some(std::net::IpAddr::from(address).into()),
        Host::Ipv6(address) => Some(std::net::IpAddr::from(address).into()),
    }
}

/// Connects to the first of the addresses that takes a connection.
async fn connect(addresses: &[SocketAddr], seen: &mut Seen) -> Result<TcpStream, FailureClass> {
    for address in addresses.iter().take(limits::WEBHOOK_DIALS_MAX) {
        seen.dialled = Some(*address);
        if let Ok(Ok(stream)) = timeout(limits::WEBHOOK_CONNECT_TIMEOUT, TcpStream::connect(address)).await {
            return Ok(stream);
        }
    }
    Err(FailureClass::ConnectError)
}

/// Sends the request and reads the response, as much of it as is wanted.
async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    request: Request<Full<Bytes>>,
    seen: &mut Seen,
) -> Result<(), FailureClass> {
    let handshake = http1::Builder::new()
        .max_buf_size(limits::WEBHOOK_HEAD_BYTES_MAX)
        // Names of headers as the specification spells them, for subscribers who take that to the letter.
        .title_case_headers(true)
        .handshake(TokioIo::new(stream));
    let (mut sender, connection) = handshake.await.map_err(|error| class(&error))?;
    // Ends with the attempt, however that ends.
    let mut tasks = JoinSet::new();
    tasks.spawn(connection);
    let response = sender.send_request(request).await.map_err(|error| class(&error))?;
    seen.status = Some(response.status());
    read(response.into_body(), &mut seen.body).await
}

async fn read(mut body: Incoming, into: &mut Vec<u8>) -> Result<(), FailureClass> {
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| class(&error))?;
        let Some(data) = frame.data_ref() else { continue };
        let room = limits::WEBHOOK_BODY_BYTES_MAX - into.len();
        into.extend_from_slice(&data[..data.len().min(room)]);
        if into.len() == limits::WEBHOOK_BODY_BYTES_MAX {
            break;
        }
    }
    Ok(())
}

fn class(error: &hyper::Error) -> FailureClass {
    if error.is_parse() || is_malformed_body(error) {
        FailureClass::InvalidResponse
    } else {
        FailureClass::ConnectionClosed
    }
}

/// Whether the body's own framing is wrong: lengths of chunks that are no numbers, and the like.
fn is_malformed_body(error: &hyper::Error) -> bool {
    let cause = error.source().and_then(|cause| cause.downcast_ref::<std::io::Error>());
    cause
        .is_some_and(|cause| matches!(cause.kind(), std::io::ErrorKind::InvalidInput | std::io::ErrorKind::InvalidData))
}

/// A status that is no success says why, whatever became of the body that came with it.
fn outcome(status: Option<StatusCode>, ended: Result<(), FailureClass>) -> Outcome {
    let number = status.map(|status| status.as_u16());
    match (status, ended) {
        (Some(status), _) if status.is_redirection() => {
            Outcome::Failed { class: FailureClass::Redirect, status: number }
        }
        (Some(status), _) if !status.is_success() => Outcome::Failed { class: FailureClass::HttpError, status: number },
        (Some(status), Ok(())) => Outcome::Delivered { status: status.as_u16() },
        (_, Err(class)) => Outcome::Failed { class, status: number },
        // Not reached: an exchange that ends well has a status.
        (None, Ok(())) => Outcome::Failed { class: FailureClass::InvalidResponse, status: None },
    }
}

/// The beginning of a body for people: as text whatever it is, without what a page or a terminal would act on. None if
/// there is nothing to see.
#[must_use]
pub fn excerpt(body: &[u8], chars_max: usize) -> Option<String> {
    // A character has four bytes at most.
    let text = String::from_utf8_lossy(&body[..body.len().min(4 * chars_max)]);
    let visible = text.chars().filter(|c| *c != '\r').map(|c| match c {
        '\n' | '\t' => c,
        // Unicode has a picture of each.
        '\0'..='\x1f' => char::from_u32(0x2400 + u32::from(c)).unwrap_or(char::REPLACEMENT_CHARACTER),
        '\x7f' => '\u{2421}',
        // What turns text around, or is not seen.
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
    use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;
    use tokio_rustls::TlsAcceptor;
    use tokio_rustls::rustls::ServerConfig;
    use tokio_rustls::rustls::pki_types::PrivateKeyDer;

    use super::*;
    use crate::webhook::guard::PublicOnly;
    use crate::webhook::resolve::Resolving;
    use crate::webhook::signature::TIMESTAMP;
    use crate::webhook::testing::{Names, WithLoopback};

    const LOCAL: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
    const BODY: &str = r#"{"id":"1","note":"é"}"#;
    /// Long, for what does not wait for its end: the machine may have much else to do.
    const PATIENCE: Duration = Duration::from_secs(10);

    /// Somebody who listens, and answers every request with the same parts, with pauses between them.
    struct Receiver {
        address: SocketAddr,
        accepted: Arc<AtomicUsize>,
        requests: Arc<std::sync::Mutex<Vec<String>>>,
        _tasks: JoinSet<()>,
    }

    impl Receiver {
        async fn answering(parts: &[&[u8]]) -> Self {
            Self::at(LOCAL, 0, parts, Duration::ZERO).await
        }

        async fn at(ip: IpAddr, port: u16, parts: &[&[u8]], pause: Duration) -> Self {
            let listener = TcpListener::bind((ip, port)).await.unwrap();
            let address = listener.local_addr().unwrap();
            let parts: Vec<Vec<u8>> = parts.iter().map(|part| part.to_vec()).collect();
            let (accepted, requests) = (Arc::new(AtomicUsize::new(0)), Arc::default());
            let mut tasks = JoinSet::new();
            tasks.spawn(serve(listener, Arc::clone(&accepted), Arc::clone(&requests), parts, pause));
            Self { address, accepted, requests, _tasks: tasks }
        }

        fn url(&self) -> EndpointUrl {
            EndpointUrl::try_from(format!("http://hooks.example.com:{}/in?a=b", self.address.port())).unwrap()
        }

        fn accepted(&self) -> usize {
            self.accepted.load(Ordering::SeqCst)
        }
    }

    async fn serve(
        listener: TcpListener,
        accepted: Arc<AtomicUsize>,
        requests: Arc<std::sync::Mutex<Vec<String>>>,
        parts: Vec<Vec<u8>>,
        pause: Duration,
    ) {
        let mut connections = JoinSet::new();
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            accepted.fetch_add(1, Ordering::SeqCst);
            let (parts, requests) = (parts.clone(), Arc::clone(&requests));
            connections.spawn(async move {
                let mut request = Vec::new();
                while !request.ends_with(BODY.as_bytes()) {
                    if stream.read_buf(&mut request).await.unwrap_or(0) == 0 {
                        return;
                    }
                }
                requests.lock().unwrap().push(String::from_utf8(request).unwrap());
                for part in parts {
                    // Whoever asked may have had enough.
                    if stream.write_all(&part).await.is_err() {
                        return;
                    }
                    tokio::time::sleep(pause).await;
                }
            });
        }
    }

    fn client(names: Names) -> Client {
        Client::new(Arc::new(WithLoopback), Arc::new(names)).unwrap().with_deadline(PATIENCE)
    }

    async fn post(to: &Client, url: &EndpointUrl) -> Attempted {
        let headers = HeaderMap::from_iter([(TIMESTAMP, HeaderValue::from_static("1"))]);
        to.post(url, headers, Bytes::from_static(BODY.as_bytes())).await
    }

    async fn answered(parts: &[&[u8]]) -> Attempted {
        let receiver = Receiver::answering(parts).await;
        let attempted = post(&client(Names::always(&[LOCAL])), &receiver.url()).await;
        assert_eq!(attempted.dialled, Some(receiver.address));
        assert_eq!(receiver.accepted(), 1);
        attempted
    }

    fn delivered(status: u16) -> Outcome {
        Outcome::Delivered { status }
    }

    fn failed(class: FailureClass, status: impl Into<Option<u16>>) -> Outcome {
        Outcome::Failed { class, status: status.into() }
    }

    #[tokio::test]
    async fn the_request_is_the_body_with_its_headers_and_nothing_more() {
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

    #[tokio::test]
    async fn a_success_is_a_2xx_that_arrived_whole() {
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
            (&[b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n", b"HTTP/1.1 204 No Content\r\n\r\n"], 204, None),
        ] {
            let attempted = answered(parts).await;
            assert_eq!(attempted.outcome, delivered(status), "{parts:?}");
            assert_eq!(attempted.excerpt.as_deref(), excerpt, "{parts:?}");
        }
    }

    #[tokio::test]
    async fn a_compressed_body_is_left_alone() {
        let gzip = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x4b\x04\x00";
        let head = format!("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n", gzip.len());
        let attempted = answered(&[head.as_bytes(), gzip]).await;
        assert_eq!(attempted.outcome, delivered(200));
        assert_eq!(attempted.excerpt.unwrap(), "␟\u{fffd}␈␀␀␀␀␀␀␃K␄␀");
    }

    #[tokio::test]
    async fn any_other_status_is_a_failure_whatever_its_body_does() {
        for status in [400, 401, 404, 410, 429, 500, 503, 599, 999] {
            let head = format!("HTTP/1.1 {status} No\r\ncontent-length: 6\r\n\r\n");
            for body in ["sorry!", "sorr"] {
                let attempted = answered(&[head.as_bytes(), body.as_bytes()]).await;
                assert_eq!(attempted.outcome, failed(FailureClass::HttpError, status));
                assert_eq!(attempted.excerpt.as_deref(), Some(body));
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
    async fn what_is_no_response_is_told_from_one_that_ends_early() {
        let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "a: b\r\n".repeat(200));
        let large = format!("HTTP/1.1 200 OK\r\na: {}\r\n\r\n", "b".repeat(2 * limits::WEBHOOK_HEAD_BYTES_MAX));
        for (response, class, status) in [
            ("HTTP/1.1 abc\r\n\r\n", FailureClass::InvalidResponse, None),
            ("HTTP/1.1 20\r\n\r\n", FailureClass::InvalidResponse, None),
            ("HTTP/9.9 200 OK\r\n\r\n", FailureClass::InvalidResponse, None),
            ("200 OK\r\n\r\n", FailureClass::InvalidResponse, None),
            ("<html>hello</html>\r\n\r\n", FailureClass::InvalidResponse, None),
            ("SSH-2.0-OpenSSH_9.6\r\n", FailureClass::InvalidResponse, None),
            ("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", FailureClass::InvalidResponse, None),
            ("HTTP/1.1 200 OK\r\nno header\r\n\r\n", FailureClass::InvalidResponse, None),
            ("HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n", FailureClass::InvalidResponse, None),
            ("HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\na", FailureClass::InvalidResponse, None),
            (&many, FailureClass::InvalidResponse, None),
            (&large, FailureClass::InvalidResponse, None),
            ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n", FailureClass::InvalidResponse, Some(200)),
            ("", FailureClass::ConnectionClosed, None),
            ("HTTP/1.1 200 O", FailureClass::ConnectionClosed, None),
            ("HTTP/1.1 200 OK\r\nserver: a", FailureClass::ConnectionClosed, None),
            ("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nfour", FailureClass::ConnectionClosed, Some(200)),
            (
                "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfour",
                FailureClass::ConnectionClosed,
                Some(200),
            ),
        ] {
            let attempted = answered(&[response.as_bytes()]).await;
            let begin: String = response.chars().take(60).collect();
            assert_eq!(attempted.outcome, failed(class, status), "{begin:?}");
        }
    }

    #[tokio::test]
    async fn no_more_is_read_than_there_is_room_for() {
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
        let attempted = post(&client(Names::always(&[LOCAL])), &url).await;
        assert_eq!(attempted.outcome, delivered(200));
        assert_eq!(attempted.excerpt.unwrap(), "x".repeat(limits::WEBHOOK_EXCERPT_CHARS_MAX));
        // What the system takes in beyond that is its own affair, and far from all.
        assert!(sent.load(Ordering::SeqCst) < 50 * 1024 * 1024);
    }

    #[tokio::test]
    async fn the_deadline_is_for_everything_together() {
        let response = b"HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\nabcdefghijklmnopqrstuvwxyz";
        let bytes: Vec<&[u8]> = response.chunks(1).collect();
        let client = client(Names::always(&[LOCAL])).with_deadline(Duration::from_millis(300));
        for (parts, pause, status) in [
            // Byte by byte, so that no single read takes long: in the headers, and in the body.
            (&bytes[..], 30, None),
            (&[&response[..41], b"a", b"b", b"c", b"d", b"e", b"f", b"g", b"h", b"i", b"j"][..], 60, Some(200)),
            // Never.
            (&[b""], 5000, None),
            (&[b"HTTP/1.1 500 No\r\ncontent-length: 9\r\n\r\n"], 5000, Some(500)),
        ] {
            let receiver = Receiver::at(LOCAL, 0, parts, Duration::from_millis(pause)).await;
            let attempted = post(&client, &receiver.url()).await;
            let class = if status == Some(500) { FailureClass::HttpError } else { FailureClass::Timeout };
            assert_eq!(attempted.outcome, failed(class, status));
            assert_eq!(attempted.dialled, Some(receiver.address));
            assert!((300..4000).contains(&attempted.duration_ms), "{} ms", attempted.duration_ms);
        }
    }

    #[tokio::test]
    async fn names_that_never_come_end_with_the_deadline() {
        #[derive(Debug)]
        struct Never;
        impl Resolve for Never {
            fn resolve<'a>(&'a self, _host: &'a str) -> Resolving<'a> {
                Box::pin(std::future::pending())
            }
        }
        let client = Client::new(Arc::new(PublicOnly), Arc::new(Never)).unwrap();
        let url = EndpointUrl::parse("https://hooks.example.com/", &PublicOnly).unwrap();
        let attempted = post(&client.with_deadline(Duration::from_millis(100)), &url).await;
        assert_eq!(attempted.outcome, failed(FailureClass::Timeout, None));
        assert_eq!(attempted.dialled, None);
    }

    #[tokio::test]
    #[cfg_attr(not(target_os = "linux"), ignore = "other systems have only one loopback address of IPv4")]
    async fn the_next_address_is_dialled_when_one_takes_no_connection() {
        let receiver = Receiver::answering(&[b"HTTP/1.1 204 No Content\r\n\r\n"]).await;
        let dead = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));
        let attempted = post(&client(Names::always(&[dead, LOCAL])), &receiver.url()).await;
        assert_eq!((attempted.outcome, attempted.dialled), (delivered(204), Some(receiver.address)));

        let attempted = post(&client(Names::always(&[dead, dead, dead, LOCAL])), &receiver.url()).await;
        assert_eq!(attempted.outcome, failed(FailureClass::ConnectError, None));
        assert_eq!(attempted.dialled.unwrap().ip(), dead);
        assert_eq!(receiver.accepted(), 1);
    }

    #[tokio::test]
    async fn ipv6_is_dialled_too() {
        let ip = IpAddr::V6(Ipv6Addr::LOCALHOST);
        if TcpListener::bind((ip, 0)).await.is_err() {
            eprintln!("skipped: this machine has no IPv6");
            return;
        }
        let receiver = Receiver::at(ip, 0, &[b"HTTP/1.1 204 No Content\r\n\r\n"], Duration::ZERO).await;
        let port = receiver.address.port();
        for url in [format!("http://[::1]:{port}/"), format!("http://hooks.example.com:{port}/")] {
            let url = EndpointUrl::try_from(url).unwrap();
            assert_eq!(post(&client(Names::always(&[ip])), &url).await.outcome, delivered(204), "{url}");
        }
        assert!(receiver.requests.lock().unwrap()[0].contains(&format!("\r\nHost: [::1]:{port}\r\n")));
    }

    #[tokio::test]
    #[cfg_attr(not(target_os = "linux"), ignore = "other systems have only one loopback address of IPv4")]
    async fn every_attempt_looks_again_where_the_name_leads() {
        /// The one address that is as good as public here.
        #[derive(Debug)]
        struct Only(IpAddr);
        impl Guard for Only {
            fn allows_scheme(&self, _scheme: Scheme) -> bool {
                true
            }
            fn allows_name(&self, _name: &str) -> bool {
                true
            }
            fn allows_address(&self, _scheme: Scheme, address: IpAddr) -> bool {
                address == self.0
            }
        }
        let inside = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));
        let outside = Receiver::answering(&[b"HTTP/1.1 204 No Content\r\n\r\n"]).await;
        let port = outside.address.port();
        let hidden = Receiver::at(inside, port, &[b"HTTP/1.1 204 No Content\r\n\r\n"], Duration::ZERO).await;
        let names = Arc::new(Names::in_turn(&[&[LOCAL], &[inside], &[LOCAL, inside], &[inside, LOCAL], &[LOCAL]]));
        let resolver: Arc<dyn Resolve> = names.clone();
        let client = Client::new(Arc::new(Only(LOCAL)), resolver).unwrap().with_deadline(PATIENCE);
        for outcome in [delivered(204), refused(), refused(), refused(), delivered(204)] {
            let attempted = post(&client, &outside.url()).await;
            assert_eq!(attempted.outcome, outcome);
            assert_eq!(attempted.dialled.is_some(), outcome == delivered(204));
        }
        assert_eq!((outside.accepted(), hidden.accepted()), (2, 0));
        assert_eq!(names.asked(), 5, "a name is looked up once for each attempt: what was checked is what is dialled");
    }

    fn refused() -> Outcome {
        failed(FailureClass::AddressRefused, None)
    }

    #[tokio::test]
    async fn no_socket_is_opened_to_what_is_inside() {
        let receiver = Receiver::answering(&[b"HTTP/1.1 204 No Content\r\n\r\n"]).await;
        let port = receiver.address.port();
        let public: IpAddr = "93.184.216.34".parse().unwrap();
        let names = || Arc::new(Names::in_turn(&[&[public], &[LOCAL]]));

        // As an endpoint that was checked when it was added, and leads elsewhere now.
        let url = EndpointUrl::parse(&format!("https://hooks.example.com:{port}/"), &PublicOnly).unwrap();
        let names = names();
        assert!(check(&url, &PublicOnly, &*names).await.is_ok());
        let client = Client::new(Arc::new(PublicOnly), names).unwrap().with_deadline(PATIENCE);
        let attempted = post(&client, &url).await;
        assert_eq!((attempted.outcome, attempted.dialled), (refused(), None));

        // As kept by a service that was laxer.
        for host in ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "localhost", "2130706433", "0x7f.1", "127.0.0.1."] {
            for scheme in ["http", "https"] {
                let url = EndpointUrl::try_from(format!("{scheme}://{host}:{port}/")).unwrap();
                let attempted = post(&client, &url).await;
                assert_eq!((attempted.outcome, attempted.dialled), (refused(), None), "{url}");
            }
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert_eq!(receiver.accepted(), 0);
    }

    /// Answers 204 with a certificate for `hooks.example.com`, and keeps the names that were asked for.
    async fn tls_receiver() -> (u16, RootCertStore, Arc<std::sync::Mutex<Vec<String>>>) {
        let made = rcgen::generate_simple_self_signed(["hooks.example.com".to_owned()]).unwrap();
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind((LOCAL, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let names: Arc<std::sync::Mutex<Vec<String>>> = Arc::default();
        let kept = Arc::clone(&names);
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let Ok(mut stream) = acceptor.accept(stream).await else { continue };
                kept.lock().unwrap().push(stream.get_ref().1.server_name().unwrap_or("-").to_owned());
                let mut request = [0; 4096];
                let _ = stream.read(&mut request).await;
                let _ = stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await;
                let _ = stream.shutdown().await;
            }
        });
        let mut roots = RootCertStore::empty();
        roots.add(made.cert.der().clone()).unwrap();
        (port, roots, names)
    }

    #[tokio::test]
    async fn over_tls_the_host_must_show_a_certificate_for_its_name() {
        let (port, roots, names) = tls_receiver().await;
        let url = |host: &str| EndpointUrl::try_from(format!("https://{host}:{port}/")).unwrap();
        let resolver = || Arc::new(Names::always(&[LOCAL]));
        let trusting = Client::trusting(roots, Arc::new(WithLoopback), resolver()).unwrap().with_deadline(PATIENCE);

        let attempted = post(&trusting, &url("hooks.example.com.")).await;
        assert_eq!(attempted.outcome, delivered(204));
        assert_eq!(*names.lock().unwrap(), ["hooks.example.com"]);

        for host in ["other.example.com", "example.com", "127.0.0.1"] {
            let attempted = post(&trusting, &url(host)).await;
            assert_eq!(attempted.outcome, failed(FailureClass::TlsError, None), "{host}");
            assert_eq!(attempted.dialled.unwrap().port(), port);
        }
        // The web's authorities did not sign it.
        let strict = client(Names::always(&[LOCAL]));
        assert_eq!(post(&strict, &url("hooks.example.com")).await.outcome, failed(FailureClass::TlsError, None));
        assert_eq!(names.lock().unwrap().len(), 1);

        let plain = Receiver::answering(&[b"HTTP/1.1 200 OK\r\n\r\n"]).await;
        let url = EndpointUrl::try_from(format!("https://hooks.example.com:{}/", plain.address.port())).unwrap();
        let ended = post(&strict.with_deadline(Duration::from_millis(300)), &url).await.outcome;
        // It waits for a request that it can read, and we for a greeting.
        assert!(matches!(ended, Outcome::Failed { class: FailureClass::TlsError | FailureClass::Timeout, .. }));
    }

    #[test]
    fn every_class_is_written_as_it_is_kept() {
        for class in FailureClass::ALL {
            assert_eq!(serde_json::to_value(class).unwrap(), class.as_str());
        }
    }

    #[test]
    fn an_excerpt_is_text_that_nothing_acts_on() {
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
