//! The store: one `DynamoDB` table. No other code knows it.
//!
//! [`keys`] has every key, `table` every call of the SDK, `record` the declaration of a kind of record, and [`list`]
//! the way to read lists; [`change`] and `commit` alone change an organization's records. [`versions`] has the schema
//! versions, `migrate` rewrites older records, and the other files convert items.
//!
//! - Decision: stored responses are compressed: a large one would cost many units, and the largest would not fit.
//! - Decision: operators' writes, which have no audit row, are on [`operator::Operator`], which takes the bare
//!   [`Store`]. A caller only ever has an [`OrgStore`], so no operation can bypass the audit row.
//! - Decision: an audit row's `objects` take 16 bytes each: those of a page of fifty fit into its single write unit.
//! - Decision: the audit row fences a call. The SDK's client request token would too, but only for ten minutes.

pub(crate) mod acts;
pub mod agreements;
mod arrivals;
pub(crate) mod audit;
pub mod change;
pub(crate) mod commit;
pub mod contacts;
pub mod deliveries;
pub mod due;
pub mod endpoints;
pub mod events;
pub mod export;
mod failure;
pub(crate) mod file_reviews;
pub mod files;
pub(crate) mod form_copies;
pub mod funding_items;
mod funding_review;
pub(crate) mod funding_to_review;
pub(crate) mod idempotency;
pub(crate) mod information;
pub mod inspect;
pub(crate) mod invitations;
mod item;
mod key;
pub mod keys;
pub mod ledger;
pub(crate) mod link_codes;
pub mod list;
pub(crate) mod member_ties;
pub(crate) mod members;
pub mod migrate;
mod movement_row;
pub mod movements;
mod obligation_row;
pub mod obligations;
pub mod operator;
pub(crate) mod organizations;
pub(crate) mod own_templates;
mod packed;
pub(crate) mod paper_signatures;
pub(crate) mod participants;
pub(crate) mod password_links;
pub mod payments_of;
pub mod proposals;
mod query;
mod record;
pub mod record_kind;
pub mod resealing;
mod scan;
mod schema;
pub(crate) mod second_factors;
pub(crate) mod sessions;
pub(crate) mod statements;
mod table;
pub mod throttled_orgs;
pub(crate) mod tokens;
pub mod trusts;
mod usage;
pub(crate) mod verifications;
pub mod versions;
pub mod whole_table;
pub mod workspaces;

pub use item::{Item, Versioned};
pub use table::Store;
pub use usage::Usage;
pub use whole_table::Position;

use crate::domain::ids::OrgId;
use crate::domain::shards::DueShards;
use crate::error::Error;
use crate::retry::{Obstacle, Transient};

/// The failure of a call of the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A condition did not hold, or another transaction held the item: read again, decide again.
    #[error("the records have changed meanwhile")]
    Conflict,
    /// DynamoDB throttled the call even after the SDK's retries; this is the code.
    #[error("DynamoDB: throttled ({0})")]
    Throttled(String),
    /// Any other failure. The text is for the log, and quotes no values.
    #[error("{0}")]
    Failed(String),
    /// An item can't be decoded. A retry fails as well.
    #[error("{0}")]
    Unreadable(String),
    /// A newer release wrote the item. A retry fails until that release is deployed again.
    #[error("{0}")]
    Newer(String),
}

impl Transient for StoreError {
    fn obstacle(&self) -> Option<Obstacle> {
        match self {
            Self::Conflict => Some(Obstacle::Conflict),
            Self::Throttled(_) => Some(Obstacle::Throttled),
            Self::Failed(_) | Self::Unreadable(_) | Self::Newer(_) => None,
        }
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Conflict => Self::Conflict,
            StoreError::Throttled(_) => Self::Throttled(error.to_string()),
            StoreError::Failed(cause) | StoreError::Unreadable(cause) | StoreError::Newer(cause) => {
                Self::Internal(cause)
            }
        }
    }
}

/// The store as one organization sees it. It gives no access to another organization's records.
#[derive(Debug, Clone)]
pub struct OrgStore {
    store: Store,
    org: OrgId,
}

impl OrgStore {
    #[must_use]
    pub(crate) fn new(store: Store, org: OrgId) -> Self {
        Self { store, org }
    }

    /// The shards of the due index that new events spread over.
    pub(crate) fn due_shards(&self) -> DueShards {
        self.store.due_shards
    }

    /// The table, for accounts and sessions, which have no organization.
    pub(crate) fn table(&self) -> &Store {
        &self.store
    }
}
