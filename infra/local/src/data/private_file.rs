//! Files only their owner can read, replaced atomically: they hold secrets, or must be whole or absent.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// Replaces the file atomically, with mode 0600 from the start: even a crash leaves the old file or the new one.
pub(crate) fn write(path: &Path, contents: &[u8]) -> io::Result<()> {
    let folder = folder_of(path);
    // `tempfile` creates with O_EXCL and mode 0600.
    let mut file = tempfile::Builder::new().prefix(".countersign-").tempfile_in(folder)?;
    file.write_all(contents)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    sync_folder(folder)
}

/// Removes the file durably. A missing file is no error.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Ok(()) => sync_folder(folder_of(path)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// The path's folder: the current one for a bare file name.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

fn sync_folder(folder: &Path) -> io::Result<()> {
    // Only Unix opens a folder as a file.
    if cfg!(unix) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_replaces_the_file_and_leaves_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret.json");
        write(&path, b"a long first version").unwrap();
        write(&path, b"second").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"second");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_can_read_a_file_that_replaces_a_public_one() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret.json");
        std::fs::write(&path, "old").unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o666)).unwrap();
        write(&path, b"new").unwrap();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_failed_write_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let taken = folder.path().join("taken");
        std::fs::create_dir(&taken).unwrap();
        std::fs::write(taken.join("inside"), "kept").unwrap();
        write(&taken, b"new").unwrap_err();
        assert_eq!(std::fs::read(taken.join("inside")).unwrap(), b"kept");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn removing_a_missing_file_is_no_error() {
        let folder = tempfile::tempdir().unwrap();
        remove(&folder.path().join("nothing")).unwrap();
    }
}
