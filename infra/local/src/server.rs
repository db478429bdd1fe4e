//! HTTP on a port of this machine: what the gateway does in the cloud.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::serve::ListenerExt;
use http::Request;
use shared::web::client_address::ClientAddress;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::error::StartError;

/// Binds a port on 127.0.0.1; 0 takes a free one.
pub(crate) async fn bind(port: u16) -> Result<TcpListener, StartError> {
    TcpListener::bind(("127.0.0.1", port)).await.map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => StartError::PortTaken(port),
        _ => StartError::Port { port, error },
    })
}

/// A running server. Dropping it ends it at once, in the middle of requests.
#[derive(Debug)]
pub(crate) struct Server {
    shutdown: Option<oneshot::Sender<()>>,
    task: JoinHandle<io::Result<()>>,
}

impl Server {
    /// Serves a router on a listener.
    pub(crate) fn start(listener: TcpListener, router: Router) -> Self {
        let (shutdown, shutdown_requested) = oneshot::channel::<()>();
        // Nagle's algorithm would delay small responses. If it can't be turned off, they are only slower.
        let listener = listener.tap_io(|connection| {
            let _ = connection.set_nodelay(true);
        });
        let router = router.layer(axum::middleware::map_request(insert_client_address));
        let service = router.into_make_service_with_connect_info::<SocketAddr>();
        let serve = axum::serve(listener, service).with_graceful_shutdown(async {
            let _ = shutdown_requested.await;
        });
        Self { shutdown: Some(shutdown), task: tokio::spawn(serve.into_future()) }
    }

    /// Stops accepting requests, and waits up to `drain_timeout` for those in flight.
    pub(crate) async fn stop(mut self, drain_timeout: Duration) {
        drop(self.shutdown.take());
        let _ = tokio::time::timeout(drain_timeout, &mut self.task).await;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Adds the address of the connection to a request: the app limits failed logins per address.
async fn insert_client_address(mut request: Request<Body>) -> Request<Body> {
    if let Some(ConnectInfo(address)) = request.extensions().get::<ConnectInfo<SocketAddr>>().copied() {
        request.extensions_mut().insert(ClientAddress(address.ip()));
    }
    request
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::net::TcpStream;
    use tokio::sync::Notify;

    use super::*;

    const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);

    /// A server with one route, whose request begins and ends when the test says so.
    struct SlowServer {
        server: Server,
        address: SocketAddr,
        begun: Arc<Notify>,
        end: Arc<Notify>,
    }

    impl SlowServer {
        async fn start() -> Self {
            let (begun, end) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
            let (begins, ends) = (begun.clone(), end.clone());
            let slow = axum::routing::get(async move || {
                begins.notify_one();
                ends.notified().await;
                "done"
            });
            let listener = bind(0).await.unwrap();
            let address = listener.local_addr().unwrap();
            Self { server: Server::start(listener, Router::new().route("/", slow)), address, begun, end }
        }
    }

    #[tokio::test]
    async fn a_stop_finishes_the_request_in_flight() {
        let SlowServer { server, address, begun, end } = SlowServer::start().await;
        let request = tokio::spawn(reqwest::get(format!("http://{address}/")));
        begun.notified().await;
        let stopping = tokio::spawn(server.stop(DRAIN_TIMEOUT));
        // A refused connection shows that the stop has begun.
        while TcpStream::connect(address).await.is_ok() {
            tokio::task::yield_now().await;
        }
        assert!(!stopping.is_finished());
        end.notify_one();
        assert_eq!(request.await.unwrap().unwrap().text().await.unwrap(), "done");
        stopping.await.unwrap();
    }

    #[tokio::test]
    async fn a_request_that_never_ends_does_not_block_a_stop() {
        let SlowServer { server, address, begun, .. } = SlowServer::start().await;
        let request = tokio::spawn(reqwest::get(format!("http://{address}/")));
        begun.notified().await;
        tokio::time::timeout(DRAIN_TIMEOUT, server.stop(Duration::from_millis(50))).await.expect("a timeout ends it");
        request.abort();
    }
}
