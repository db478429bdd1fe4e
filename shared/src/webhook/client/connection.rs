//! Connections: dialing an address that was checked, and TLS.

use std::net::SocketAddr;
use std::sync::Arc;

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

/// TLS with these roots, for HTTP/1.1.
pub(super) fn tls_connector(roots: RootCertStore) -> Result<TlsConnector, TlsError> {
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsConnector::from(Arc::new(config)))
}

/// Connects to the first address that accepts a connection. `dialled` gets each address that is tried.
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

/// Does the TLS handshake. The certificate must be valid for the URL's host.
pub(super) async fn handshake(
    tls: &TlsConnector,
    url: &EndpointUrl,
    stream: TcpStream,
) -> Result<TlsStream<TcpStream>, FailureClass> {
    let name = server_name(url).ok_or(FailureClass::TlsError)?;
    tls.connect(name, stream).await.map_err(|_| FailureClass::TlsError)
}

/// The name or address that the certificate must be valid for.
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
        LOCAL, Names, Receiver, TEST_DEADLINE, WithLoopback, client, delivered, failed, post,
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

    /// A server that answers 204 with a certificate for `hooks.example.com`, and records the server names of its clients.
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
    async fn tls_requires_a_certificate_for_the_host() {
        let (port, roots, names) = tls_receiver().await;
        let url = |host: &str| EndpointUrl::try_from(format!("https://{host}:{port}/")).unwrap();
        let resolver = || Arc::new(Names::always(&[LOCAL]));
        let trusting =
            Client::trusting(roots, Arc::new(WithLoopback), resolver()).unwrap().with_deadline(TEST_DEADLINE);

        let result = post(&trusting, &url("hooks.example.com.")).await;
        assert_eq!(result.outcome, delivered(204));
        assert_eq!(*names.lock().unwrap(), ["hooks.example.com"]);

        for host in ["other.example.com", "example.com", "127.0.0.1"] {
            let result = post(&trusting, &url(host)).await;
            assert_eq!(result.outcome, failed(FailureClass::TlsError, None), "{host}");
            assert_eq!(result.dialled.unwrap().port(), port);
        }
        // No public authority signed the certificate.
        let strict = client(Names::always(&[LOCAL]));
        assert_eq!(post(&strict, &url("hooks.example.com")).await.outcome, failed(FailureClass::TlsError, None));
        assert_eq!(names.lock().unwrap().len(), 1);

        let plain = Receiver::answering(&[b"HTTP/1.1 200 OK\r\n\r\n"]).await;
        let url = EndpointUrl::try_from(format!("https://hooks.example.com:{}/", plain.address.port())).unwrap();
        let ended = post(&strict.with_deadline(Duration::from_millis(300)), &url).await.outcome;
        // The server waits for a request, and the client for a server hello.
        assert!(matches!(ended, Outcome::Failed { class: FailureClass::TlsError | FailureClass::Timeout, .. }));
    }
}
