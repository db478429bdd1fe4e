//! The store: one `DynamoDB` table, and the only code that knows it.
//!
//! [`keys`] has every key, `table` every call of the SDK, [`change`] and [`commit`] the one way to change an
//! organization's records, `record` what a kind of record declares, [`list`] the one way to read lists; the other files
//! turn items into domain types and back.
//!
//! Decision: responses kept for idempotency are compressed, because a large one would cost many write units, and the
//! largest would not fit into an item.
//!
//! Decision: what operators write without an audit row is on [`operator::Operator`], which takes the bare [`Store`]. A
//! caller only ever has an [`OrgStore`], so no operation can write around the audit row.
//!
//! Decision: the `objects` of an audit row are 16 bytes each in one attribute, because a default page of fifty records
//! then fits into the single write unit of its row.
//!
//! Decision: the audit row fences a call, because responses that are lost after a commit then need no other mechanism.
//! The SDK's client request token works too, but only for ten minutes.

pub mod agreements;
pub mod audit;
pub mod change;
pub mod commit;
pub mod contacts;
pub mod deliveries;
pub mod due;
pub mod endpoints;
pub mod events;
mod failure;
pub mod idempotency;
mod item;
pub mod keys;
pub mod list;
pub mod members;
pub mod operator;
pub mod organizations;
pub mod proposals;
mod record;
mod schema;
pub mod sessions;
mod table;
pub mod tokens;
mod usage;
pub mod workspaces;

pub use item::{Item, Versioned};
pub use table::Store;
pub use usage::Usage;

use crate::domain::ids::OrgId;
use crate::error::Error;
use crate::retry::{Obstacle, Transient};

/// Why the store did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A condition did not hold, or another transaction was in the way: read again, decide again.
    #[error("the records have changed meanwhile")]
    Conflict,
    /// The table is too busy, after the SDK's own retries. With the code.
    #[error("DynamoDB: throttled ({0})")]
    Throttled(String),
    /// Anything else, for the log: error codes only, no values.
    #[error("{0}")]
    Failed(String),
    /// What is there can't be read, however often it is tried.
    #[error("{0}")]
    Unreadable(String),
}

impl Transient for StoreError {
    fn obstacle(&self) -> Option<Obstacle> {
        match self {
            Self::Conflict => Some(Obstacle::Conflict),
            Self::Throttled(_) => Some(Obstacle::Throttled),
            Self::Failed(_) | Self::Unreadable(_) => None,
        }
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Conflict => Self::Conflict,
            StoreError::Throttled(_) => Self::Throttled(error.to_string()),
            StoreError::Failed(cause) | StoreError::Unreadable(cause) => Self::Internal(cause),
        }
    }
}

/// The store as one organization sees it. There is no way from it to another organization's records.
#[derive(Debug, Clone)]
pub struct OrgStore {
    store: Store,
    org: OrgId,
}

impl OrgStore {
    /// The store for an organization.
    #[must_use]
    pub(crate) fn new(store: Store, org: OrgId) -> Self {
        Self { store, org }
    }

    /// The table, for what has no organization: accounts and sessions.
    pub(crate) fn table(&self) -> &Store {
        &self.store
    }
}
