//! Files in a folder, for the local stack.

use std::io;
use std::path::Path;
use std::sync::Arc;

use object_store::local::LocalFileSystem;
use shared::platform::files::FilesError;

use crate::{Files, failed};

impl Files {
    /// Opens the store in a folder, which is created if it is missing, for its owner only. Writes survive a crash.
    ///
    /// # Errors
    /// [`FilesError::Store`] if the folder can't be created.
    pub fn in_folder(folder: &Path) -> Result<Self, FilesError> {
        create(folder).map_err(|error| FilesError::Store(error.to_string()))?;
        let store = LocalFileSystem::new_with_prefix(folder).map_err(failed)?.with_fsync(true);
        Ok(Self { store: Arc::new(store) })
    }
}

fn create(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
