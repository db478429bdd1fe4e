//! The store for documents and uploads: a local folder or a cloud bucket, both in the crate `files`.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::{BoxFuture, try_join_all};

use crate::domain::agreement::DocumentContent;
use crate::domain::ids::OrgId;
use crate::domain::time::Timestamp;
use crate::error::Error;
use crate::limits;
use crate::service::Scope;
use crate::store::due::DueEntry;
use crate::store::files::{Removal, Upload};
use crate::store::list::RowFileStore;
use crate::store::{OrgStore, Store};

/// Why a file was not written or read.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    /// The file is larger than [`limits::FILE_BYTES_MAX`].
    #[error("a file has at most {} bytes", limits::FILE_BYTES_MAX)]
    TooLarge,
    /// The organization has no file with this content.
    #[error("there is no such file")]
    NotThere,
    /// The stored file differs from the one written.
    #[error("the file is damaged")]
    Damaged,
    /// The file store failed. The cause is for the log.
    #[error("the file store: {0}")]
    Store(String),
}

impl From<FilesError> for Error {
    /// A file that a record names is there and whole: anything else is a failure of the service.
    fn from(error: FilesError) -> Self {
        match error {
            FilesError::Store(_) => Self::Unavailable(error.to_string()),
            FilesError::TooLarge | FilesError::NotThere | FilesError::Damaged => Self::Internal(error.to_string()),
        }
    }
}

/// A file store.
pub trait FileStore: Send + Sync + fmt::Debug {
    /// Writes a file whose upload is noted; [`keep`] does both. Repeating a write changes nothing.
    ///
    /// # Errors
    /// [`FilesError::TooLarge`], [`FilesError::Store`]; [`FilesError::Damaged`] if it is another file.
    fn put<'a>(&'a self, upload: &'a Upload, file: Bytes) -> BoxFuture<'a, Result<(), FilesError>>;

    /// Reads a record's file, and verifies its hash and size.
    ///
    /// # Errors
    /// [`FilesError::NotThere`], [`FilesError::Damaged`], [`FilesError::Store`].
    fn get<'a>(&'a self, org: OrgId, content: &'a DocumentContent) -> BoxFuture<'a, Result<Bytes, FilesError>>;

    /// Removes a file by its hash. A missing one is no failure.
    ///
    /// # Errors
    /// [`FilesError::Store`].
    fn remove<'a>(&'a self, org: OrgId, sha256: &'a str) -> BoxFuture<'a, Result<(), FilesError>>;

    /// Stores a file that exceeds a function's response, and returns a link to download it under a name for
    /// [`limits::EXPORT_LINK_LIFETIME`]. None where responses have no size limit.
    ///
    /// # Errors
    /// [`FilesError::Store`].
    fn hand_out<'a>(
        &'a self,
        org: OrgId,
        file: Bytes,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<String>, FilesError>>;

    /// Writes the rows of a list, under a path that ends with their hash. They are removed after
    /// [`limits::ROWS_FILE_KEPT`], at the earliest.
    ///
    /// # Errors
    /// [`FilesError::Store`].
    fn put_rows<'a>(&'a self, path: &'a str, file: Bytes) -> BoxFuture<'a, Result<(), FilesError>>;

    /// Reads the rows of a list, and verifies their hash and size.
    ///
    /// # Errors
    /// [`FilesError::NotThere`], [`FilesError::Damaged`], [`FilesError::Store`].
    fn get_rows<'a>(&'a self, path: &'a str, content: &'a DocumentContent) -> BoxFuture<'a, Result<Bytes, FilesError>>;
}

impl RowFileStore for Arc<dyn FileStore> {
    fn put<'a>(&'a self, path: &'a str, file: Bytes) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move { self.put_rows(path, file).await.map_err(|error| error.to_string()) })
    }

    fn get<'a>(&'a self, path: &'a str, content: &'a DocumentContent) -> BoxFuture<'a, Result<Bytes, String>> {
        Box::pin(async move { self.get_rows(path, content).await.map_err(|error| error.to_string()) })
    }
}

/// Stores files for a call's records before it takes effect: the call must be the one that names them. Files that
/// nothing names are removed a day later. Returns the files' contents for records, in order.
///
/// # Errors
/// [`Error::Conflict`] if a file is just being removed, and those of the store and the file store.
pub async fn keep(scope: &Scope, to: &dyn FileStore, files: Vec<Bytes>) -> Result<Vec<DocumentContent>, Error> {
    let contents: Vec<DocumentContent> = files.iter().map(|file| DocumentContent::of(file)).collect();
    let until = scope.time_scale().upload_end(scope.now());
    let uploads = scope.store().begin_uploads(scope.call(), contents, until).await?;
    let put = async |upload: Upload, file| to.put(&upload, file).await.map(|()| upload.content().clone());
    Ok(try_join_all(uploads.into_iter().zip(files).map(|(upload, file)| put(upload, file))).await?)
}

/// [`keep`] for one file.
///
/// # Errors
/// Those of [`keep`].
pub async fn keep_one(scope: &Scope, to: &dyn FileStore, file: Bytes) -> Result<DocumentContent, Error> {
    let kept = keep(scope, to, vec![file]).await?.into_iter().next();
    kept.ok_or_else(|| Error::Internal("no file was kept".to_owned()))
}

/// The result for an upload that is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Removed {
    /// How many files were removed.
    pub files: u32,
    /// Whether nothing is left to do.
    pub is_complete: bool,
}

/// Removes files that a call uploaded a day ago and that nothing names.
///
/// # Errors
/// Those of the store and the file store. The rest stays on the due index.
pub async fn remove_unnamed(from: &dyn FileStore, store: &Store, entry: &DueEntry) -> Result<Removed, Error> {
    let of_org = OrgStore::new(store.clone(), entry.org);
    let mut removed = Removed { is_complete: true, ..Removed::default() };
    for sha256 in store.uploads_of(entry).await? {
        match of_org.begin_removal(&sha256, entry.id.into(), Timestamp::now()).await? {
            Removal::Kept => {}
            Removal::Later => removed.is_complete = false,
            Removal::Begun => {
                from.remove(entry.org, &sha256).await?;
                of_org.end_removal(&sha256).await?;
                removed.files += 1;
            }
        }
    }
    Ok(removed)
}
