//! A minimal subscriber that notes what arrives, and when.

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::{BodyExt, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use shared::domain::time::Timestamp;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

const PATIENCE: Duration = Duration::from_mins(2);

pub struct Receiver {
    pub address: SocketAddr,
    arrivals: Arc<Mutex<Arrivals>>,
    server: JoinHandle<()>,
}

#[derive(Default)]
struct Arrivals {
    first: HashMap<String, Timestamp>,
    doubled: usize,
}

impl Receiver {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let arrivals = Arc::new(Mutex::new(Arrivals::default()));
        let server = tokio::spawn(serve(listener, arrivals.clone()));
        Self { address, arrivals, server }
    }

    pub fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    pub fn count(&self) -> (usize, usize) {
        let arrivals = self.arrivals.lock().unwrap_or_else(PoisonError::into_inner);
        (arrivals.first.len(), arrivals.doubled)
    }

    pub async fn wait_for(&self, count: usize) {
        let waiting = async {
            while self.count().0 < count {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        let ended = tokio::time::timeout(PATIENCE, waiting).await;
        assert!(ended.is_ok(), "only {} of {count} have arrived", self.count().0);
    }

    pub fn arrived_at(&self, event: &str) -> Option<Timestamp> {
        self.arrivals.lock().unwrap_or_else(PoisonError::into_inner).first.get(event).copied()
    }

    pub fn events(&self) -> Vec<String> {
        self.arrivals.lock().unwrap_or_else(PoisonError::into_inner).first.keys().cloned().collect()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn serve(listener: TcpListener, arrivals: Arc<Mutex<Arrivals>>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let arrivals = arrivals.clone();
        tokio::spawn(async move {
            let answer = service_fn(|request: Request<Incoming>| {
                let arrivals = arrivals.clone();
                async move {
                    let (parts, body) = request.into_parts();
                    if body.collect().await.is_ok() {
                        note(&arrivals, &parts.headers);
                    }
                    let mut response = Response::new(Empty::<Bytes>::new());
                    *response.status_mut() = StatusCode::NO_CONTENT;
                    Ok::<_, Infallible>(response)
                }
            });
            // The sender notices a broken connection.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await;
        });
    }
}

fn note(arrivals: &Mutex<Arrivals>, headers: &HeaderMap) {
    let now = Timestamp::now();
    let Some(event) = headers.get("webhook-id").and_then(|id| id.to_str().ok()) else { return };
    let mut arrivals = arrivals.lock().unwrap_or_else(PoisonError::into_inner);
    if arrivals.first.contains_key(event) {
        arrivals.doubled += 1;
    } else {
        arrivals.first.insert(event.to_owned(), now);
    }
}
