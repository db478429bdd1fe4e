//! Rewriting records of older schema versions (`ops migrate`).

use shared::store::migrate::{Migrated, Migration};
use shared::store::operator::Operator;
use shared::store::whole_table::Position;
use shared::store::{Store, StoreError};

/// Why a migration ended before the end of the table, and where another one goes on.
#[derive(Debug, thiserror::Error)]
#[error("{cause}")]
pub struct Interrupted {
    /// Why.
    pub cause: StoreError,
    /// What was done before.
    pub done: Migrated,
    /// Where another one goes on. None if it should begin anew.
    pub position: Option<Position>,
}

/// Migrates a whole table.
///
/// # Errors
/// [`StoreError`] of the first page that can't be done. What was done before stays, and the next run goes on from there.
pub async fn migrate(store: &Store) -> Result<Migrated, StoreError> {
    run(Operator::new(store).migration(None, false), |_| {}).await.map_err(|interrupted| interrupted.cause)
}

/// Runs a migration to its end. `progress` gets what was done so far, after each page.
///
/// # Errors
/// [`Interrupted`], with where another migration goes on.
pub async fn run(
    mut migration: Migration<'_>,
    mut progress: impl FnMut(&Migration<'_>),
) -> Result<Migrated, Interrupted> {
    loop {
        let step = migration.step().await;
        match step {
            Ok(true) => progress(&migration),
            Ok(false) => return Ok(migration.done),
            Err(cause) => {
                let position = migration.position().cloned();
                return Err(Interrupted { cause, done: migration.done, position });
            }
        }
    }
}
