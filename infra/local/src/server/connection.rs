//! One HTTP/1 connection, with a time limit for request heads.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use http::{Request, StatusCode, Version, header};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use shared::web::client_address::ClientAddress;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tower::ServiceExt;

use super::body::RequestBody;
use super::refusal::{self, WithRefusals};

/// Serves until the connection ends or `shutdown`'s sender drops, then only finishes the request in flight.
pub(super) async fn serve(
    socket: TcpStream,
    address: SocketAddr,
    router: Router,
    head_timeout: Duration,
    mut shutdown: watch::Receiver<()>,
) {
    // Nagle's algorithm would delay small responses. If it can't be turned off, they are only slower.
    let _ = socket.set_nodelay(true);
    let service = service_fn(move |request| answer(router.clone(), address, request));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(head_timeout);
    let mut connection = pin!(http.serve_connection(TokioIo::new(WithRefusals::new(socket)), service));
    // A failed connection has told its client all it could.
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = shutdown.changed() => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}

async fn answer(router: Router, address: SocketAddr, request: Request<Incoming>) -> Result<Response, Infallible> {
    if !has_valid_host(&request) {
        return Ok(refusal::response(StatusCode::BAD_REQUEST));
    }
    let mut request = request.map(|body| Body::new(RequestBody::new(body)));
    // The app limits failed logins per address.
    request.extensions_mut().insert(ClientAddress(address.ip()));
    router.oneshot(request).await
}

/// HTTP/1.1 requires exactly one `Host` (RFC 9112, section 3.2).
fn has_valid_host(request: &Request<Incoming>) -> bool {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    match (hosts.next(), hosts.next()) {
        (None, _) => request.version() < Version::HTTP_11,
        (Some(_), second) => second.is_none(),
    }
}
