//! The file store: documents and uploads. A folder on the local stack, a bucket in the cloud; the crate `files` has both.

use std::fmt;

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
use crate::store::{OrgStore, Store};

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
    /// Writes a file whose upload is noted: [`keep`] does both. A repeated write changes nothing.
    ///
    /// # Errors
    /// [`FilesError::TooLarge`], [`FilesError::Store`]; [`FilesError::Damaged`] if it is another file.
    fn put<'a>(&'a self, upload: &'a Upload, file: Bytes) -> BoxFuture<'a, Result<(), FilesError>>;

    /// Reads the file that a record names, and verifies its hash and size.
    ///
    /// # Errors
    /// [`FilesError::NotThere`], [`FilesError::Damaged`], [`FilesError::Store`].
    fn get<'a>(&'a self, org: OrgId, content: &'a DocumentContent) -> BoxFuture<'a, Result<Bytes, FilesError>>;

    /// Removes the file with this hash. One that is not there is no failure.
    ///
    /// # Errors
    /// [`FilesError::Store`].
    fn remove<'a>(&'a self, org: OrgId, sha256: &'a str) -> BoxFuture<'a, Result<(), FilesError>>;

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

/// Stores files for the records of a call, which takes effect after that, or not: it has to be the one that names them. What
/// nothing names is removed a day later. Returns what names them, in their order.
///
/// # Errors
/// [`Error::Conflict`] when one of them is just being removed, and those of the store and the file store.
pub async fn keep(scope: &Scope, to: &dyn FileStore, files: Vec<Bytes>) -> Result<Vec<DocumentContent>, Error> {
    let contents: Vec<DocumentContent> = files.iter().map(|file| DocumentContent::of(file)).collect();
    let until = scope.time_scale().upload_end(scope.now());
    let uploads = scope.store().begin_uploads(scope.call(), contents, until).await?;
    let put = async |upload: Upload, file| to.put(&upload, file).await.map(|()| upload.content().clone());
    Ok(try_join_all(uploads.into_iter().zip(files).map(|(upload, file)| put(upload, file))).await?)
}

/// The same for one file.
///
/// # Errors
/// Those of [`keep`].
pub async fn keep_one(scope: &Scope, to: &dyn FileStore, file: Bytes) -> Result<DocumentContent, Error> {
    let kept = keep(scope, to, vec![file]).await?.into_iter().next();
    kept.ok_or_else(|| Error::Internal("no file was kept".to_owned()))
}

/// What became of the files of an upload that is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Removed {
    /// How many were removed.
    pub files: u32,
    /// Whether nothing is left to do.
    pub is_complete: bool,
}

/// Removes the files that a call uploaded a day ago and that nothing names.
///
/// # Errors
/// Those of the store and the file store. What is left then stays on the due index.
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
