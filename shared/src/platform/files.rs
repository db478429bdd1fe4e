//! The file store: documents and uploads. A folder on the local stack, a bucket in the cloud; the crate `files` has both.

use std::fmt;

use bytes::Bytes;
use futures_util::future::BoxFuture;

use crate::domain::agreement::DocumentContent;
use crate::domain::ids::OrgId;
use crate::error::Error;
use crate::limits;

/// Why a file could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    /// The file is larger than [`limits::FILE_BYTES_MAX`].
    #[error("a file has at most {} bytes", limits::FILE_BYTES_MAX)]
    TooLarge,
    /// The organization has no file with this content.
    #[error("there is no such file")]
    NotThere,
    /// The stored file is not the one that was written.
    #[error("the file is damaged")]
    Damaged,
    /// The file store failed. The cause is for the log.
    #[error("the file store: {0}")]
    Store(String),
}

impl From<FilesError> for Error {
    /// A file that a record names is there, whole: anything else is a failure of the service.
    fn from(error: FilesError) -> Self {
        match error {
            FilesError::Store(_) => Self::Unavailable(error.to_string()),
            FilesError::TooLarge | FilesError::NotThere | FilesError::Damaged => Self::Internal(error.to_string()),
        }
    }
}

/// A file store.
pub trait FileStore: Send + Sync + fmt::Debug {
    /// Writes a file, and returns its hash and size for the record that names it. A repeated write changes nothing.
    ///
    /// # Errors
    /// [`FilesError::TooLarge`], [`FilesError::Store`].
    fn put(&self, org: OrgId, file: Bytes) -> BoxFuture<'_, Result<DocumentContent, FilesError>>;

    /// Reads the file that a record names, and verifies its hash and size.
    ///
    /// # Errors
    /// [`FilesError::NotThere`], [`FilesError::Damaged`], [`FilesError::Store`].
    fn get<'a>(&'a self, org: OrgId, content: &'a DocumentContent) -> BoxFuture<'a, Result<Bytes, FilesError>>;

    /// Hands out a file of any size past the function, whose response can't carry it: writes it, and returns a link that
    /// downloads it under a name for [`limits::EXPORT_LINK_LIFETIME`]. None where responses can be of any size, so that no
    /// link is needed.
    ///
    /// # Errors
    /// [`FilesError::Store`].
    fn hand_out<'a>(
        &'a self,
        org: OrgId,
        file: Bytes,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<String>, FilesError>>;
}
