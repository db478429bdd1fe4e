//! Stores files in a folder, for the local stack.

use std::io;
use std::path::Path as FilePath;

use bytes::Bytes;
use futures_util::TryStreamExt;
use futures_util::future::BoxFuture;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload};
use shared::domain::time::Timestamp;
use shared::limits;
use shared::platform::files::FilesError;

use crate::{Files, Place};

impl Files {
    /// Opens the store in a folder, creating a missing one for its owner only. Writes survive a crash.
    pub fn in_folder(folder: &FilePath) -> Result<Self, FilesError> {
        create(folder).map_err(|error| FilesError::Store(error.to_string()))?;
        let store = LocalFileSystem::new_with_prefix(folder).map_err(failed)?.with_fsync(true);
        Ok(Self::at(Folder(store)))
    }
}

/// The crate writes each file atomically, even over an existing one.
#[derive(Debug)]
struct Folder(LocalFileSystem);

impl Place for Folder {
    fn put<'a>(&'a self, path: &'a str, file: Bytes) -> BoxFuture<'a, Result<(), FilesError>> {
        Box::pin(async move {
            self.0.put(&Path::from(path), PutPayload::from_bytes(file)).await.map_err(failed)?;
            Ok(())
        })
    }

    fn get<'a>(&'a self, path: &'a str, size: u64) -> BoxFuture<'a, Result<Bytes, FilesError>> {
        Box::pin(async move {
            let found = ObjectStore::get_opts(&self.0, &Path::from(path), object_store::GetOptions::default()).await;
            let found = found.map_err(failed)?;
            // Check the size before reading the content, so that no file can exhaust memory.
            if found.meta.size != size {
                return Err(FilesError::Damaged);
            }
            found.bytes().await.map_err(failed)
        })
    }

    fn remove<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<(), FilesError>> {
        Box::pin(async move {
            match self.0.delete(&Path::from(path)).await.map_err(failed) {
                Ok(()) | Err(FilesError::NotThere) => Ok(()),
                Err(error) => Err(error),
            }
        })
    }

    fn remove_old<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<(), FilesError>> {
        Box::pin(async move {
            let kept = i64::try_from(limits::ROWS_FILE_KEPT.as_secs()).unwrap_or(i64::MAX);
            let from = Timestamp::now().unix_ms() / 1000 - kept;
            let files: Vec<_> = self.0.list(Some(&Path::from(path))).try_collect().await.map_err(failed)?;
            for file in files.iter().filter(|file| file.last_modified.timestamp() < from) {
                self.remove(file.location.as_ref()).await?;
            }
            Ok(())
        })
    }

    /// The local stack's responses have no size limit.
    fn hand_out(&self, _: String, _: Bytes, _: String) -> BoxFuture<'_, Result<Option<String>, FilesError>> {
        Box::pin(std::future::ready(Ok(None)))
    }
}

fn create(folder: &FilePath) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

fn failed(error: object_store::Error) -> FilesError {
    match error {
        object_store::Error::NotFound { .. } => FilesError::NotThere,
        other => FilesError::Store(other.to_string()),
    }
}
