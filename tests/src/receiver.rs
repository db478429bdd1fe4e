//! A subscriber that records arrivals and answers as told.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::response::Response;
use http::{HeaderMap, StatusCode};
use serde_json::Value;
use shared::domain::ids::EventId;
use shared::domain::time::Timestamp;
use tokio::net::TcpListener;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

use crate::spec::assert_delivery;
use crate::wait::PATIENCE;

/// A subscriber with its own address.
#[derive(Debug)]
pub struct Receiver {
    address: SocketAddr,
    inner: Arc<Inner>,
    server: JoinHandle<()>,
}

/// A delivery that arrived.
#[derive(Debug, Clone)]
pub struct Arrival {
    /// The time of arrival.
    pub at: Timestamp,
    /// The request's path.
    pub path: String,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its bytes.
    pub body: Bytes,
}

impl Arrival {
    /// Its body.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("a body of JSON")
    }

    /// The type of the event.
    #[must_use]
    pub fn event_type(&self) -> String {
        self.json()["type"].as_str().unwrap_or_default().to_owned()
    }

    /// The id of the event.
    #[must_use]
    pub fn event_id(&self) -> EventId {
        self.json()["id"].as_str().expect("an id").parse().expect("a uuid")
    }

    /// A header.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).unwrap_or_else(|| panic!("no {name}")).to_str().expect("a text")
    }
}

/// The response to a delivery.
#[derive(Debug, Clone)]
pub struct Reaction {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: String,
    /// How long it takes.
    pub after: Duration,
    /// Delays it until dropped.
    pub held: Option<watch::Receiver<()>>,
}

/// Holds a reaction back until dropped.
#[derive(Debug)]
#[must_use = "dropping it lets the reaction go"]
pub struct Hold(#[expect(dead_code, reason = "the reaction waits for its end")] watch::Sender<()>);

impl Reaction {
    /// This status, at once.
    #[must_use]
    pub fn status(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: String::new(), after: Duration::ZERO, held: None }
    }

    /// This status, after a while.
    #[must_use]
    pub fn late(status: u16, after: Duration) -> Self {
        Self { after, ..Self::status(status) }
    }

    /// This status, once the hold is dropped.
    pub fn held(status: u16) -> (Self, Hold) {
        let (sender, receiver) = watch::channel(());
        (Self { held: Some(receiver), ..Self::status(status) }, Hold(sender))
    }
}

#[derive(Debug)]
struct Inner {
    arrivals: Mutex<Arrivals>,
    next: Mutex<VecDeque<Reaction>>,
    then: Mutex<Reaction>,
    more: Notify,
}

#[derive(Debug, Default)]
struct Arrivals {
    /// Shared, since a test may ask for them again while it looks at them.
    all: Arc<Vec<Arrival>>,
    /// How many of the first were checked. Each is checked once, or a long wait would check all with each arrival.
    checked: usize,
}

impl Arrivals {
    /// All of them, each checked against the events' description.
    fn checked(&mut self) -> Arc<Vec<Arrival>> {
        for arrival in &self.all[self.checked..] {
            assert_delivery(&arrival.json());
        }
        self.checked = self.all.len();
        self.all.clone()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Receiver {
    /// A subscriber that answers everything with 204.
    pub async fn new() -> Self {
        let inner = Arc::new(Inner {
            arrivals: Mutex::default(),
            next: Mutex::default(),
            then: Mutex::new(Reaction::status(204)),
            more: Notify::new(),
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let router = Router::new().fallback(receive).with_state(inner.clone());
        let server = tokio::spawn(async move {
            let _ = axum::serve(listener, router).await;
        });
        Self { address, inner, server }
    }

    /// Its endpoint's URL.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    /// Sets the response from now on.
    pub fn answer(&self, reaction: Reaction) {
        *lock(&self.inner.then) = reaction;
    }

    /// Answers the next delivery like this.
    pub fn answer_once(&self, reaction: Reaction) {
        lock(&self.inner.next).push_back(reaction);
    }

    /// All arrivals, each checked against the events' description.
    #[must_use]
    pub fn arrivals(&self) -> Vec<Arrival> {
        lock(&self.inner.arrivals).checked().to_vec()
    }

    /// The types of arrived events, in order.
    #[must_use]
    pub fn types(&self) -> Vec<String> {
        self.arrivals().iter().map(Arrival::event_type).collect()
    }

    /// Waits for this many arrivals.
    pub async fn wait_for(&self, count: usize) -> Vec<Arrival> {
        self.wait_until(|arrivals| arrivals.len() >= count).await
    }

    /// Waits until the arrivals fit.
    pub async fn wait_until(&self, fits: impl Fn(&[Arrival]) -> bool) -> Vec<Arrival> {
        let waiting = async {
            loop {
                let more = self.inner.more.notified();
                let arrivals = lock(&self.inner.arrivals).checked();
                if fits(&arrivals) {
                    return arrivals.to_vec();
                }
                more.await;
            }
        };
        tokio::time::timeout(PATIENCE, waiting).await.unwrap_or_else(|_| panic!("only {:?} arrived", self.types()))
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn receive(State(inner): State<Arc<Inner>>, request: http::Request<Body>) -> Response {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.unwrap_or_default();
    let arrival = Arrival { at: Timestamp::now(), path: parts.uri.to_string(), headers: parts.headers, body };
    Arc::make_mut(&mut lock(&inner.arrivals).all).push(arrival);
    inner.more.notify_waiters();
    let once = lock(&inner.next).pop_front();
    let reaction = once.unwrap_or_else(|| lock(&inner.then).clone());
    tokio::time::sleep(reaction.after).await;
    if let Some(mut held) = reaction.held {
        // Nothing is ever sent: the error says that the hold was dropped.
        let _ = held.changed().await;
    }
    let mut response = Response::new(Body::from(reaction.body));
    *response.status_mut() = StatusCode::from_u16(reaction.status).expect("a status");
    for (name, value) in reaction.headers {
        response.headers_mut().insert(name, value.parse().expect("a header's value"));
    }
    response
}
