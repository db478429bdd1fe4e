//! DynamoDB inside this process: dynoxide on a file of `SQLite`, behind a port on 127.0.0.1 that only the real AWS client
//! in this process uses.
//!
//! A write is acknowledged after `SQLite` has committed it to the write-ahead log, with its default `synchronous=FULL`:
//! it survives a `kill -9` and a power failure. Nothing here may turn bulk loading on, which lowers that for good.
//! Streams stay off: with them, each write scans every stream record ever written.

use std::path::Path;
use std::thread::JoinHandle;
use std::time::Duration;

use dynoxide::Database;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::error::{StartError, in_one_line};

/// The name of the table. There is one.
pub(crate) const TABLE: &str = "countersign";

/// Items whose time has come are removed at start and then so often; AWS promises no more than "within days".
/// Readers never depend on it.
const SWEEP_EVERY: Duration = Duration::from_hours(1);

/// A running sweep ends with its page, so this is only for a machine that is very busy.
const SWEEP_GRACE: Duration = Duration::from_secs(2);

/// A running store. Dropping it closes the file.
#[derive(Debug)]
pub(crate) struct Embedded {
    url: String,
    stop: Option<oneshot::Sender<()>>,
    /// A thread of its own, because dynoxide works on the thread that a request came in on.
    thread: Option<JoinHandle<()>>,
}

impl Embedded {
    /// Opens or makes the file and serves it. Blocks for as long as `SQLite` recovers.
    pub(crate) fn start(file: &Path) -> Result<Self, StartError> {
        let cannot = |error: &dyn std::error::Error| StartError::Store(in_one_line(error));
        // SQLite would read a path that begins with `file:` as a URI; an absolute one does not.
        let file = std::path::absolute(file).map_err(|error| cannot(&error))?;
        let path = file.to_str().ok_or_else(|| StartError::NotUnicode(file.clone()))?;
        let database = Database::new(path).map_err(|error| cannot(&error))?;

        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).map_err(|error| cannot(&error))?;
        listener.set_nonblocking(true).map_err(|error| cannot(&error))?;
        let address = listener.local_addr().map_err(|error| cannot(&error))?;
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| cannot(&error))?;
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new()
            .name("store".to_owned())
            .spawn(move || {
                runtime.block_on(serve(listener, database, stopped));
                runtime.shutdown_timeout(SWEEP_GRACE);
            })
            .map_err(|error| cannot(&error))?;
        Ok(Self { url: format!("http://{address}"), stop: Some(stop), thread: Some(thread) })
    }

    /// Where it answers.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // It has panicked at worst, and said so.
            let _ = thread.join();
        }
    }
}

async fn serve(listener: std::net::TcpListener, database: Database, stopped: oneshot::Receiver<()>) {
    let listener = match TcpListener::from_std(listener) {
        Ok(listener) => listener,
        Err(error) => return eprintln!("error: the store does not start: {error}"),
    };
    // A transaction never spans an await, so leaving here cuts none in two.
    tokio::select! {
        result = dynoxide::server::serve_with_shutdown(listener, database.clone(), std::future::pending()) => {
            if let Err(error) = result {
                eprintln!("error: the store has stopped: {error}");
            }
        }
        () = sweep(database) => {}
        _ = stopped => {}
    }
}

async fn sweep(database: Database) {
    loop {
        let database = database.clone();
        if let Ok(Err(error)) = tokio::task::spawn_blocking(move || database.sweep_ttl()).await {
            eprintln!("warning: what has expired could not be removed: {}", in_one_line(&error));
        }
        tokio::time::sleep(SWEEP_EVERY).await;
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
    async fn the_next_start_removes_what_has_expired_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("store.sqlite");
        let embedded = Embedded::start(&file).unwrap();
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

        let embedded = Embedded::start(&file).unwrap();
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
