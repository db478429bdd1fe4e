//! Connections: dialing a checked address, and TLS.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, Error as TlsError, RootCertStore};
use url::Host;

use crate::domain::delivery::FailureClass;
use crate::limits;
use crate::webhook::guard::EndpointUrl;

/// TLS with these root certificates, for HTTP/1.1.
pub(super) fn tls_connector(roots: RootCertStore) -> Result<TlsConnector, TlsError> {
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsConnector::from(Arc::new(config)))
}

/// Connects to the first address that accepts. `dialled` gets each address tried.
pub(super) async fn dial(
    addresses: &[SocketAddr],
    dialled: &mut Option<SocketAddr>,
) -> Result<TcpStream, FailureClass> {
    for address in addresses.iter().take(limits::WEBHOOK_DIALS_MAX) {
        *dialled = Some(*address);
        if let Ok(Ok(stream)) = timeout(limits::WEBHOOK_CONNECT_TIMEOUT, TcpStream::connect(address)).await {
            return Ok(stream);
        }
    }
    Err(FailureClass::ConnectError)
}

/// The certificate must be valid for the URL's host.
pub(super) async fn handshake(
    tls: &TlsConnector,
    url: &EndpointUrl,
    stream: TcpStream,
) -> Result<UntilClosed, FailureClass> {
    let name = server_name(url).ok_or(FailureClass::TlsError)?;
    tls.connect(name, stream).await.map(UntilClosed).map_err(|_| FailureClass::TlsError)
}

/// A TLS connection that also ends when the server closes TCP without `close_notify`, as many do.
///
/// A body with a length or in chunks shows whether it is complete. A third party can only truncate a body that ends
/// with the connection, and that is only an excerpt; the status arrived encrypted before it.
#[derive(Debug)]
pub(super) struct UntilClosed(TlsStream<TcpStream>);

impl AsyncRead for UntilClosed {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.0).poll_read(cx, buffer) {
            // TLS reports a missing `close_notify` with this kind.
            Poll::Ready(Err(error)) if error.kind() == ErrorKind::UnexpectedEof => Poll::Ready(Ok(())),
            read => read,
        }
    }
}

impl AsyncWrite for UntilClosed {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

fn server_name(url: &EndpointUrl) -> Option<ServerName<'static>> {
    match url.host() {
        Host::Domain(name) => ServerName::try_from(name.to_owned()).ok(),
        Host::Ipv4(address) => Some(std::net::IpAddr::from(address).into()),
        Host::Ipv6(address) => Some(std::net::IpAddr::from(address).into()),
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
    use std::time::Duration;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;
    use tokio_rustls::TlsAcceptor;
    use tokio_rustls::rustls::ServerConfig;
    use tokio_rustls::rustls::pki_types::PrivateKeyDer;

    use super::*;
    use crate::webhook::client::{Client, Outcome};
    use crate::webhook::testing::{
        BODY, LOCAL, Names, Receiver, TEST_DEADLINE, WithLoopback, client, delivered, failed, post,
    };

    #[tokio::test]
    #[cfg_attr(not(target_os = "linux"), ignore = "other systems have only one loopback address of IPv4")]
    async fn the_next_address_is_dialed_when_one_takes_no_connection() {
        let receiver = Receiver::answering(&[b"HTTP/1.1 204 No Content\r\n\r\n"]).await;
        let dead = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));
        let result = post(&client(Names::always(&[dead, LOCAL])), &receiver.url()).await;
        assert_eq!((result.outcome, result.dialled), (delivered(204), Some(receiver.address)));

        let result = post(&client(Names::always(&[dead, dead, dead, LOCAL])), &receiver.url()).await;
        assert_eq!(result.outcome, failed(FailureClass::ConnectError, None));
        assert_eq!(result.dialled.unwrap().ip(), dead);
        assert_eq!(receiver.accepted(), 1);
    }

    #[tokio::test]
    async fn ipv6_is_dialed_too() {
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

    struct TlsReceiver {
        port: u16,
        roots: RootCertStore,
        names: Arc<std::sync::Mutex<Vec<String>>>,
    }

    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum End {
        CloseNotify,
        Abrupt,
    }

    impl TlsReceiver {
        async fn answering(response: &'static str, end: End) -> Self {
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
                    // Read the whole request: closing with unread bytes makes TCP reset the connection.
                    let mut request = Vec::new();
                    while !request.ends_with(BODY.as_bytes()) && stream.read_buf(&mut request).await.unwrap_or(0) > 0 {}
                    let _ = stream.write_all(response.as_bytes()).await;
                    let _ = stream.flush().await;
                    if end == End::CloseNotify {
                        let _ = stream.shutdown().await;
                    }
                }
            });
            let mut roots = RootCertStore::empty();
            roots.add(made.cert.der().clone()).unwrap();
            Self { port, roots, names }
        }

        fn url(&self, host: &str) -> EndpointUrl {
            EndpointUrl::try_from(format!("https://{host}:{}/", self.port)).unwrap()
        }

        fn client(&self) -> Client {
            let names = Arc::new(Names::always(&[LOCAL]));
            let client = Client::trusting(self.roots.clone(), Arc::new(WithLoopback), names);
            client.unwrap().with_deadline(TEST_DEADLINE)
        }
    }

    #[tokio::test]
    async fn tls_requires_a_certificate_for_the_host() {
        let receiver = TlsReceiver::answering("HTTP/1.1 204 No Content\r\n\r\n", End::CloseNotify).await;
        let trusting = receiver.client();
        let result = post(&trusting, &receiver.url("hooks.example.com.")).await;
        assert_eq!(result.outcome, delivered(204));
        assert_eq!(*receiver.names.lock().unwrap(), ["hooks.example.com"]);

        for host in ["other.example.com", "example.com", "127.0.0.1"] {
            let result = post(&trusting, &receiver.url(host)).await;
            assert_eq!(result.outcome, failed(FailureClass::TlsError, None), "{host}");
            assert_eq!(result.dialled.unwrap().port(), receiver.port);
        }
        // No public authority signed the certificate.
        let strict = client(Names::always(&[LOCAL]));
        let untrusted = post(&strict, &receiver.url("hooks.example.com")).await;
        assert_eq!(untrusted.outcome, failed(FailureClass::TlsError, None));
        assert_eq!(receiver.names.lock().unwrap().len(), 1);

        let plain = Receiver::answering(&[b"HTTP/1.1 200 OK\r\n\r\n"]).await;
        let url = EndpointUrl::try_from(format!("https://hooks.example.com:{}/", plain.address.port())).unwrap();
        let ended = post(&strict.with_deadline(Duration::from_millis(300)), &url).await.outcome;
        // The server waits for a request, the client for a server hello.
        assert!(matches!(ended, Outcome::Failed { class: FailureClass::TlsError | FailureClass::Timeout, .. }));
    }

    #[tokio::test]
    async fn a_status_counts_however_tls_ends() {
        let cut_off = failed(FailureClass::ConnectionClosed, None);
        for (response, outcome, excerpt) in [
            // These end with the connection.
            ("HTTP/1.1 200 OK\r\n\r\nthanks", delivered(200), Some("thanks")),
            ("HTTP/1.0 202 Accepted\r\n\r\n", delivered(202), None),
            ("HTTP/1.1 204 No Content\r\n\r\n", delivered(204), None),
            ("HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nthanks", delivered(200), Some("thanks")),
            ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", delivered(200), Some("ok")),
            ("HTTP/1.1 503 No\r\n\r\nbusy", failed(FailureClass::HttpError, 503), Some("busy")),
            ("HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\nthanks", delivered(200), Some("thanks")),
            ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n", delivered(200), Some("ok")),
            ("HTTP/1.1 200 OK\r\nserver: a", delivered(200), None),
            ("HTTP/1.1 200 O", cut_off, None),
            ("", cut_off, None),
        ] {
            for end in [End::CloseNotify, End::Abrupt] {
                let receiver = TlsReceiver::answering(response, end).await;
                let result = post(&receiver.client(), &receiver.url("hooks.example.com")).await;
                assert_eq!((result.outcome, result.excerpt.as_deref()), (outcome, excerpt), "{response:?} {end:?}");
            }
        }
    }
}
