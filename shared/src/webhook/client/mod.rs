//! One attempt at a delivery: a POST to a guarded address, without redirects, proxies, cookies or connection reuse.

mod connection;
mod head;
mod request;
mod response;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use tokio::time::{Instant, timeout};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::{Error as TlsError, RootCertStore};

use self::head::Head;
pub use self::response::excerpt;
use super::guard::{EndpointUrl, Guard, Scheme, check};
use super::resolve::Resolve;
pub use crate::domain::delivery::{FailureClass, Outcome};
use crate::limits;

/// Makes attempts. Build it once per process.
#[derive(Clone)]
pub struct Client {
    guard: Arc<dyn Guard>,
    resolver: Arc<dyn Resolve>,
    tls: TlsConnector,
    deadline: Duration,
}

/// The result of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptResult {
    /// Its duration in milliseconds.
    pub duration_ms: u64,
    /// The connection's address, or the last one tried. None if the attempt ended before dialing.
    pub dialled: Option<SocketAddr>,
    /// How it ended.
    pub outcome: Outcome,
    /// The beginning of the response's body, as readable text. None for an empty body.
    pub excerpt: Option<String>,
}

/// Progress of an attempt; outlives the deadline.
#[derive(Default)]
struct Progress {
    dialled: Option<SocketAddr>,
    status: Option<StatusCode>,
    head: Head,
    body: Vec<u8>,
}

impl Client {
    /// A client that trusts the public certificate authorities.
    pub fn new(guard: Arc<dyn Guard>, resolver: Arc<dyn Resolve>) -> Result<Self, TlsError> {
        let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        Self::trusting(roots, guard, resolver)
    }

    fn trusting(roots: RootCertStore, guard: Arc<dyn Guard>, resolver: Arc<dyn Resolve>) -> Result<Self, TlsError> {
        let tls = connection::tls_connector(roots)?;
        Ok(Self { guard, resolver, tls, deadline: limits::WEBHOOK_DEADLINE })
    }

    /// Changes the deadline per attempt, for tests.
    #[must_use]
    pub fn with_deadline(self, deadline: Duration) -> Self {
        Self { deadline, ..self }
    }

    /// Posts a JSON body once. `headers` carries the signature.
    pub async fn post(&self, url: &EndpointUrl, headers: HeaderMap, body: Bytes) -> AttemptResult {
        let started = Instant::now();
        let mut progress = Progress::default();
        let attempt = self.attempt(url, headers, body, &mut progress);
        let ended = timeout(self.deadline, attempt).await.unwrap_or(Err(FailureClass::Timeout));
        AttemptResult {
            duration_ms: started.elapsed().as_millis().try_into().unwrap_or(u64::MAX),
            dialled: progress.dialled,
            outcome: response::outcome(progress.status.or_else(|| progress.head.status()), ended),
            excerpt: excerpt(&progress.body, limits::WEBHOOK_EXCERPT_CHARS_MAX),
        }
    }

    async fn attempt(
        &self,
        url: &EndpointUrl,
        headers: HeaderMap,
        body: Bytes,
        progress: &mut Progress,
    ) -> Result<(), FailureClass> {
        let request = request::build(url, headers, body).ok_or(FailureClass::ConnectError)?;
        let addresses = check(url, &*self.guard, &*self.resolver).await.map_err(|error| error.class())?;
        let stream = connection::dial(&addresses, &mut progress.dialled).await?;
        match url.scheme() {
            Scheme::Http => request::exchange(stream, request, progress).await,
            Scheme::Https => {
                let stream = connection::handshake(&self.tls, url, stream).await?;
                request::exchange(stream, request, progress).await
            }
        }
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("guard", &self.guard).field("deadline", &self.deadline).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::*;
    use crate::webhook::guard::PublicOnly;
    use crate::webhook::resolve::Resolving;
    use crate::webhook::testing::{LOCAL, Names, Receiver, TEST_DEADLINE, client, delivered, failed, post};

    #[tokio::test]
    async fn the_deadline_covers_the_whole_attempt() {
        let response = b"HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\nabcdefghijklmnopqrstuvwxyz";
        let bytes: Vec<&[u8]> = response.chunks(1).collect();
        let client = client(Names::always(&[LOCAL])).with_deadline(Duration::from_millis(300));
        for (parts, pause, status) in [
            // Byte by byte, so that no single read takes long: first in the head, then in the body.
            (&bytes[..], 30, None),
            (&[&response[..41], b"a", b"b", b"c", b"d", b"e", b"f", b"g", b"h", b"i", b"j"][..], 60, Some(200)),
            // Nothing within the deadline.
            (&[b""], 5000, None),
            (&[b"HTTP/1.1 500 No\r\ncontent-length: 9\r\n\r\n"], 5000, Some(500)),
        ] {
            let receiver = Receiver::at(LOCAL, 0, parts, Duration::from_millis(pause)).await;
            let result = post(&client, &receiver.url()).await;
            let expected = match status {
                // The status arrived in time; the body didn't.
                Some(200) => delivered(200),
                Some(other) => failed(FailureClass::HttpError, other),
                None => failed(FailureClass::Timeout, None),
            };
            assert_eq!(result.outcome, expected);
            assert_eq!(result.dialled, Some(receiver.address));
            assert!(300 <= result.duration_ms, "{} ms", result.duration_ms);
        }
    }

    #[tokio::test]
    async fn a_lookup_that_never_ends_ends_with_the_deadline() {
        #[derive(Debug)]
        struct Never;
        impl Resolve for Never {
            fn resolve<'a>(&'a self, _host: &'a str) -> Resolving<'a> {
                Box::pin(std::future::pending())
            }
        }
        let client = Client::new(Arc::new(PublicOnly), Arc::new(Never)).unwrap();
        let url = EndpointUrl::parse("https://hooks.example.com/", &PublicOnly).unwrap();
        let result = post(&client.with_deadline(Duration::from_millis(100)), &url).await;
        assert_eq!(result.outcome, failed(FailureClass::Timeout, None));
        assert_eq!(result.dialled, None);
    }

    #[tokio::test]
    #[cfg_attr(not(target_os = "linux"), ignore = "other systems have only one loopback address of IPv4")]
    async fn every_attempt_resolves_the_name_again() {
        #[derive(Debug)]
        struct Only(IpAddr);
        impl Guard for Only {
            fn allows_scheme(&self, _scheme: Scheme) -> bool {
                true
            }
            fn allows_name(&self, _: Scheme, _name: &str) -> bool {
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
        let client = Client::new(Arc::new(Only(LOCAL)), resolver).unwrap().with_deadline(TEST_DEADLINE);
        for outcome in [delivered(204), refused(), refused(), refused(), delivered(204)] {
            let result = post(&client, &outside.url()).await;
            assert_eq!(result.outcome, outcome);
            assert_eq!(result.dialled.is_some(), outcome == delivered(204));
        }
        assert_eq!((outside.accepted(), hidden.accepted()), (2, 0));
        assert_eq!(names.asked(), 5, "a name is looked up once for each attempt: what was checked is what is dialed");
    }

    fn refused() -> Outcome {
        failed(FailureClass::AddressRefused, None)
    }

    #[tokio::test]
    async fn no_socket_is_opened_to_an_internal_address() {
        let receiver = Receiver::answering(&[b"HTTP/1.1 204 No Content\r\n\r\n"]).await;
        let port = receiver.address.port();
        let public: IpAddr = "93.184.216.34".parse().unwrap();
        let names = || Arc::new(Names::in_turn(&[&[public], &[LOCAL]]));

        // The name resolved outside when the endpoint was added, and resolves inside now.
        let url = EndpointUrl::parse(&format!("https://hooks.example.com:{port}/"), &PublicOnly).unwrap();
        let names = names();
        assert!(check(&url, &PublicOnly, &*names).await.is_ok());
        let client = Client::new(Arc::new(PublicOnly), names).unwrap().with_deadline(TEST_DEADLINE);
        let result = post(&client, &url).await;
        assert_eq!((result.outcome, result.dialled), (refused(), None));

        // A version with a laxer guard stored the endpoint.
        for host in ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "localhost", "2130706433", "0x7f.1", "127.0.0.1."] {
            for scheme in ["http", "https"] {
                let url = EndpointUrl::try_from(format!("{scheme}://{host}:{port}/")).unwrap();
                let result = post(&client, &url).await;
                assert_eq!((result.outcome, result.dialled), (refused(), None), "{url}");
            }
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert_eq!(receiver.accepted(), 0);
    }
}
