//! Where the rows of long lists are stored.

use std::fmt::Debug;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;

use crate::domain::agreement::DocumentContent;
use crate::domain::ids::OrgId;
use crate::store::keys::Rows;

/// A place for files with rows, under paths that end with their hashes. Errors are for the log: nothing depends on them.
pub trait RowFileStore: Debug + Send + Sync {
    /// Writes a file, which is kept for [`ROWS_FILE_KEPT`](crate::limits::ROWS_FILE_KEPT) at least.
    ///
    /// # Errors
    /// Why the file was not written.
    fn put<'a>(&'a self, path: &'a str, file: Bytes) -> BoxFuture<'a, Result<(), String>>;

    /// Reads a file, and verifies its hash and size.
    ///
    /// # Errors
    /// Why there is no such file.
    fn get<'a>(&'a self, path: &'a str, content: &'a DocumentContent) -> BoxFuture<'a, Result<Bytes, String>>;
}

/// What is in a file, and how. It is part of the name.
pub(super) const LAYOUT: u8 = 1;

/// Where the rows of a table's long lists are stored.
#[derive(Debug, Clone)]
pub(super) struct RowFiles {
    pub files: Arc<dyn RowFileStore>,
    /// Of the table's identity.
    pub table: String,
    pub rows_min: usize,
}

impl RowFiles {
    pub(super) fn folder(&self, org: OrgId, kind: Rows) -> String {
        format!("{org}/{kind}/{}/{LAYOUT}", self.table)
    }
}
