//! Waits for what the service does by itself. Its duration depends on the machine, so no test fails for it.

use std::fmt::Display;
use std::time::Duration;

/// When a test gives up waiting. It only ends waits that would never end.
pub const PATIENCE: Duration = Duration::from_mins(3);

const PAUSE: Duration = Duration::from_millis(10);

/// Looks repeatedly until there is a result.
pub async fn eventually<T>(what: impl Display, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let found = async {
        loop {
            if let Some(found) = look().await {
                return found;
            }
            tokio::time::sleep(PAUSE).await;
        }
    };
    in_time(what, found).await
}

/// The outcome of something that must end.
pub async fn in_time<T>(what: impl Display, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.unwrap_or_else(|_| panic!("not after {PATIENCE:?}: {what}"))
}
