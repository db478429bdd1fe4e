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
            excerpt: excerpt(&seen.body),
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
    let handshake = http1::Builder::new().max_buf_size(limits::WEBHOOK_HEAD_BYTES_MAX).handshake(TokioIo::new(stream));
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

/// The beginning of a body for people: as text whatever it is, without what a page or a terminal would act on.
fn excerpt(body: &[u8]) -> Option<String> {
    /// As many bytes as there could be in the characters that are kept.
    const BYTES: usize = 4 * limits::WEBHOOK_EXCERPT_CHARS_MAX;
    let text = String::from_utf8_lossy(&body[..body.len().min(BYTES)]);
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
    let kept: String = visible.take(limits::WEBHOOK_EXCERPT_CHARS_MAX).collect();
    (!kept.is_empty()).then_some(kept)
}
