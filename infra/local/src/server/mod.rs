//! HTTP on a local port: the gateway's part in the cloud.

mod body;
mod connection;
mod refusal;

use std::io;
use std::time::Duration;

use axum::Router;
use shared::limits;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tracing::instrument::WithSubscriber;

use crate::error::StartError;

/// Pause after a failed accept, such as when the process is out of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Binds a port on 127.0.0.1; 0 takes a free one.
pub(crate) async fn bind(port: u16) -> Result<TcpListener, StartError> {
    TcpListener::bind(("127.0.0.1", port)).await.map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => StartError::PortTaken(port),
        _ => StartError::Port { port, error },
    })
}

/// Dropping it aborts requests in flight.
#[derive(Debug)]
pub(crate) struct Server {
    shutdown: Option<watch::Sender<()>>,
    task: JoinHandle<()>,
}

impl Server {
    pub(crate) fn start(listener: TcpListener, router: Router) -> Self {
        Self::start_with(listener, router, limits::REQUEST_HEAD_TIMEOUT)
    }

    fn start_with(listener: TcpListener, router: Router, head_timeout: Duration) -> Self {
        let (shutdown, shutdown_requested) = watch::channel(());
        let task = tokio::spawn(serve(listener, router, head_timeout, shutdown_requested).with_current_subscriber());
        Self { shutdown: Some(shutdown), task }
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

/// Accepts and serves connections until the sender of `shutdown` is dropped, then finishes the requests in flight.
async fn serve(listener: TcpListener, router: Router, head_timeout: Duration, mut shutdown: watch::Receiver<()>) {
    // Dropping the set ends the connections.
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Some(_) = connections.join_next() => continue,
            _ = shutdown.changed() => break,
        };
        match accepted {
            Ok((socket, address)) => {
                let (router, shutdown) = (router.clone(), shutdown.clone());
                let serving = connection::serve(socket, address, router, head_timeout, shutdown);
                connections.spawn(serving.with_current_subscriber());
            }
            Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;
    use std::sync::Arc;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
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

    #[tokio::test]
    async fn a_connection_that_brings_no_request_is_closed() {
        const HEAD_TIMEOUT: Duration = Duration::from_millis(200);
        let listener = bind(0).await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().route("/", axum::routing::get(async || "done"));
        let _server = Server::start_with(listener, router, HEAD_TIMEOUT);
        for sent in [&b""[..], b"GET / HT", b"GET / HTTP/1.1\r\nhost: a\r\n", b"GET / HTTP/1.1\r\nhost: a\r\n\r\n"] {
            let mut socket = TcpStream::connect(address).await.unwrap();
            socket.write_all(sent).await.unwrap();
            let mut response = Vec::new();
            let closed = tokio::time::timeout(DRAIN_TIMEOUT, socket.read_to_end(&mut response)).await;
            closed.expect("the server closes the connection").unwrap();
            assert_eq!(response.ends_with(b"done"), sent.ends_with(b"\r\n\r\n"), "{}", String::from_utf8_lossy(sent));
        }
    }
}
