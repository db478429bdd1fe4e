//! DynamoDB in this process: dynoxide on an `SQLite` file, also behind a port on 127.0.0.1.
//!
//! `SQLite` commits each write to its write-ahead log before acknowledging it, so that it survives a `kill -9`. It waits
//! for the disk only at its checkpoints (`synchronous=NORMAL`): a power failure may take the last seconds of a local
//! stack, but leaves its file whole. Streams must stay off: with them, each write scans every stream record ever written.

use std::net::SocketAddr;
use std::path::Path;
use std::thread::JoinHandle;
use std::time::Duration;

use aws_smithy_runtime_api::client::http::SharedHttpClient;
use axum::serve::ListenerExt;
use dynoxide::Database;
use http::Uri;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::contention::{self, Contention};
use super::in_process::Answers;
use crate::error::{StartError, in_one_line};

pub(crate) const TABLE: &str = "countersign";

/// How often expired items are removed. AWS promises only "within days", so no reader depends on it.
const SWEEP_INTERVAL: Duration = Duration::from_hours(1);

/// How long a stop waits for a running sweep. Sweeps end with their page: only a very busy machine needs this long.
const SWEEP_GRACE: Duration = Duration::from_secs(2);

/// Dropping it closes the file, which blocks while `SQLite` checkpoints its log.
#[derive(Debug)]
pub(crate) struct Embedded {
    url: String,
    answers: Answers,
    shutdown: Option<oneshot::Sender<()>>,
    /// On its own thread, because dynoxide blocks the thread that receives a request.
    thread: Option<JoinHandle<()>>,
}

impl Embedded {
    /// Opens or creates the file and serves it, maybe with [contention]. Blocks while `SQLite` recovers.
    pub(crate) fn start(file: &Path, contention: Option<Contention>) -> Result<Self, StartError> {
        let failed = |error: &dyn std::error::Error| StartError::Store(in_one_line(error));
        // SQLite reads a path that begins with `file:` as a URI; an absolute path never does.
        let file = std::path::absolute(file).map_err(|error| failed(&error))?;
        let path = file.to_str().ok_or_else(|| StartError::NotUnicode(file.clone()))?;
        let database = Database::new(path).map_err(|error| failed(&error))?;
        // Sets `synchronous=NORMAL`; there is no bulk loading that it would end.
        database.disable_bulk_loading().map_err(|error| failed(&error))?;

        let listener = Listener::bind().map_err(|error| failed(&error))?;
        let bound = |contention| Listener::bind().map(|listener| (listener, contention));
        let before = contention.map(bound).transpose().map_err(|error| failed(&error))?;
        let url = format!("http://{}", before.as_ref().map_or(&listener, |(before, _)| before).address);
        let contention = before.as_ref().map(|(_, contention)| contention.clone());
        let answers = Answers::start(database.clone(), contention).map_err(|error| failed(&error))?;
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| failed(&error))?;
        let (shutdown, shutdown_requested) = oneshot::channel();
        let thread = std::thread::Builder::new()
            .name("store port".to_owned())
            .spawn(move || {
                runtime.block_on(serve(listener, before, database, shutdown_requested));
                runtime.shutdown_timeout(SWEEP_GRACE);
            })
            .map_err(|error| failed(&error))?;
        Ok(Self { url, answers, shutdown: Some(shutdown), thread: Some(thread) })
    }

    /// A client for this process, which needs no port for most calls.
    pub(crate) fn client(&self, port: SharedHttpClient) -> SharedHttpClient {
        self.answers.client(port)
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        drop(self.shutdown.take());
        if let Some(thread) = self.thread.take() {
            // Err means a panic, which has printed its message.
            let _ = thread.join();
        }
    }
}

/// A bound local port that nothing serves yet.
struct Listener {
    listener: std::net::TcpListener,
    address: SocketAddr,
}

impl Listener {
    fn bind() -> std::io::Result<Self> {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    fn into_tokio(self) -> Result<TcpListener, String> {
        TcpListener::from_std(self.listener).map_err(|error| error.to_string())
    }
}

async fn serve(
    listener: Listener,
    before: Option<(Listener, Contention)>,
    database: Database,
    shutdown: oneshot::Receiver<()>,
) {
    let address = listener.address;
    let served = async {
        dynoxide::server::serve_with_shutdown(listener.into_tokio()?, database.clone(), std::future::pending()).await
    };
    let conflicts = async {
        match before {
            Some((before, contention)) => serve_conflicts(before, contention, address).await,
            None => std::future::pending().await,
        }
    };
    // No transaction spans an await, so leaving here interrupts none.
    let ended = tokio::select! {
        ended = served => ended,
        ended = conflicts => ended,
        () = sweep_forever(database.clone()) => Ok(()),
        _ = shutdown => Ok(()),
    };
    if let Err(error) = ended {
        eprintln!("error: the store has stopped: {error}");
    }
}

async fn serve_conflicts(listener: Listener, contention: Contention, store: SocketAddr) -> Result<(), String> {
    let store = Uri::builder().scheme("http").authority(store.to_string()).path_and_query("/").build();
    let router = contention::before(store.map_err(|error| error.to_string())?, contention);
    // A response in several parts would wait for the acknowledgment of its first one, which takes 40 ms.
    let listener = listener.into_tokio()?.tap_io(|socket| {
        let _ = socket.set_nodelay(true);
    });
    axum::serve(listener, router).await.map_err(|error| error.to_string())
}

async fn sweep_forever(database: Database) {
    loop {
        let database = database.clone();
        if let Ok(Err(error)) = tokio::task::spawn_blocking(move || database.sweep_ttl()).await {
            eprintln!("warning: expired items could not be removed: {}", in_one_line(&error));
        }
        tokio::time::sleep(SWEEP_INTERVAL).await;
    }
}

#[cfg(test)]
mod tests {
    use aws_sdk_dynamodb::types::AttributeValue;
    use shared::domain::time::Timestamp;
    use shared::platform::aws::{self, AwsSettings};
    use shared::store::Store;
    use shared::store::keys::{DROP_AT, PARTITION, SORT};

    use super::*;

    #[tokio::test]
    async fn a_start_removes_expired_items_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("store.sqlite");
        let embedded = Embedded::start(&file, None).unwrap();
        let client = aws::dynamodb(&AwsSettings::emulator(embedded.url()));
        Store::new(client.clone(), TABLE).create_table().await.unwrap();
        let now = Timestamp::now();
        for (name, drop_at) in [("expired", Some(-60)), ("still_valid", Some(3600)), ("for_good", None)] {
            let mut item = std::collections::HashMap::from([
                (PARTITION.to_owned(), AttributeValue::S("p".into())),
                (SORT.to_owned(), AttributeValue::S(name.into())),
            ]);
            if let Some(seconds) = drop_at {
                let expiry = now.plus_seconds(seconds).unix_s().to_string();
                item.insert(DROP_AT.to_owned(), AttributeValue::N(expiry));
            }
            client.put_item().table_name(TABLE).set_item(Some(item)).send().await.unwrap();
        }
        drop(embedded);

        let embedded = Embedded::start(&file, None).unwrap();
        let client = aws::dynamodb(&AwsSettings::emulator(embedded.url()));
        let names = async || {
            let scan = client.scan().table_name(TABLE).consistent_read(true).send().await.unwrap();
            let mut names: Vec<_> = scan.items().iter().map(|item| item[SORT].as_s().unwrap().clone()).collect();
            names.sort();
            names
        };
        tokio::time::timeout(Duration::from_secs(30), async {
            while names().await.len() > 2 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        })
        .await
        .expect("the expired item is removed");
        assert_eq!(names().await, ["for_good", "still_valid"]);
    }
}
