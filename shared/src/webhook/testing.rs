use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::client::{AttemptResult, Client, FailureClass, Outcome};
use super::guard::{EndpointUrl, Guard, PublicOnly, Scheme};
use super::resolve::{Resolve, Resolving};
use super::signature::TIMESTAMP;

pub(super) const LOCAL: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
pub(super) const BODY: &str = r#"{"id":"1","note":"é"}"#;
/// Exceeds any attempt that should end by itself, even on a busy machine.
pub(super) const TEST_DEADLINE: Duration = Duration::from_secs(10);

/// A resolver that returns its answers in turn for any name, then repeats the last.
#[derive(Debug)]
pub(super) struct Names {
    answers: Vec<Vec<IpAddr>>,
    asked: AtomicUsize,
}

impl Names {
    pub(super) fn always(answer: &[IpAddr]) -> Self {
        Self::in_turn(&[answer])
    }

    pub(super) fn in_turn(answers: &[&[IpAddr]]) -> Self {
        Self { answers: answers.iter().map(|answer| answer.to_vec()).collect(), asked: AtomicUsize::new(0) }
    }

    pub(super) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl Resolve for Names {
    fn resolve<'a>(&'a self, _host: &'a str) -> Resolving<'a> {
        let turn = self.asked.fetch_add(1, Ordering::SeqCst);
        let answer = self.answers[turn.min(self.answers.len() - 1)].clone();
        Box::pin(async move { Ok(answer) })
    }
}

#[derive(Debug)]
pub(super) struct WithLoopback;

impl Guard for WithLoopback {
    fn allows_scheme(&self, _scheme: Scheme) -> bool {
        true
    }

    fn allows_name(&self, scheme: Scheme, name: &str) -> bool {
        PublicOnly.allows_name(scheme, name)
    }

    fn allows_address(&self, scheme: Scheme, address: IpAddr) -> bool {
        address.is_loopback() || PublicOnly.allows_address(scheme, address)
    }
}

pub(super) struct Receiver {
    pub(super) address: SocketAddr,
    accepted: Arc<AtomicUsize>,
    pub(super) requests: Arc<Mutex<Vec<String>>>,
    _tasks: JoinSet<()>,
}

impl Receiver {
    pub(super) async fn answering(parts: &[&[u8]]) -> Self {
        Self::at(LOCAL, 0, parts, Duration::ZERO).await
    }

    pub(super) async fn at(ip: IpAddr, port: u16, parts: &[&[u8]], pause: Duration) -> Self {
        let listener = TcpListener::bind((ip, port)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let parts: Vec<Vec<u8>> = parts.iter().map(|part| part.to_vec()).collect();
        let (accepted, requests) = (Arc::new(AtomicUsize::new(0)), Arc::default());
        let mut tasks = JoinSet::new();
        tasks.spawn(serve(listener, Arc::clone(&accepted), Arc::clone(&requests), parts, pause));
        Self { address, accepted, requests, _tasks: tasks }
    }

    pub(super) fn url(&self) -> EndpointUrl {
        EndpointUrl::try_from(format!("http://hooks.example.com:{}/in?a=b", self.address.port())).unwrap()
    }

    pub(super) fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }
}

async fn serve(
    listener: TcpListener,
    accepted: Arc<AtomicUsize>,
    requests: Arc<Mutex<Vec<String>>>,
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
                // The client may have closed the connection.
                if stream.write_all(&part).await.is_err() {
                    return;
                }
                tokio::time::sleep(pause).await;
            }
        });
    }
}

pub(super) fn client(names: Names) -> Client {
    Client::new(Arc::new(WithLoopback), Arc::new(names)).unwrap().with_deadline(TEST_DEADLINE)
}

pub(super) async fn post(to: &Client, url: &EndpointUrl) -> AttemptResult {
    let headers = HeaderMap::from_iter([(TIMESTAMP, HeaderValue::from_static("1"))]);
    to.post(url, headers, Bytes::from_static(BODY.as_bytes())).await
}

pub(super) fn delivered(status: u16) -> Outcome {
    Outcome::Delivered { status }
}

pub(super) fn failed(class: FailureClass, status: impl Into<Option<u16>>) -> Outcome {
    Outcome::Failed { class, status: status.into() }
}
