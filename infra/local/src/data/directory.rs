//! The data directory: its lock, its format version, and whether its initial data are complete.
//!
//! Decision: data of an earlier build are refused: they are for trying things out. `ops migrate` is for the cloud.
//!
//! | File | |
//! |---|---|
//! | `lock` | locked while a process uses the directory; contains the process id |
//! | `format` | the version of this layout and of the records in it |
//! | `beginning` | present until the initial data are complete; a start that finds it discards what else is there |
//! | `store.sqlite` (`-wal`, `-shm`) | the records |
//! | `files` | documents and uploads |
//! | `keyring.json` | the keys that seal secrets in the store |
//! | `credentials.json` | tokens and passwords in clear: the store keeps only their hashes |
//! | `dynamodb-url` | where the running stack's store answers, for `ops`; absent while none runs |
//! | `ready.json` | where the running stack answers; absent while none runs |
//! | `log.jsonl`, `log.1.jsonl` | the log, and the one before it |

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use shared::crypto::keyring::Keyring;
use shared::store::versions;

use crate::data::private_file;
use crate::data::ready_file::ReadyFile;
use crate::error::StartError;

/// The version of the layout that this program reads and writes. It changes with the schema versions of records.
const FORMAT: u32 = 6 + versions::NEWEST;

/// The next start rotates a log of more bytes.
const LOG_BYTES_MAX: u64 = 50 * 1024 * 1024;

/// A data directory, locked for this process while the value lives.
#[derive(Debug)]
pub(crate) struct DataDir {
    path: PathBuf,
    /// The operating system releases the lock when the process ends, even by a crash.
    _lock: File,
}

impl DataDir {
    /// Creates the directory if missing, and locks it.
    pub(crate) fn open(path: &Path) -> Result<Self, StartError> {
        if path.exists() && !path.is_dir() {
            return Err(StartError::NotADirectory(path.to_owned()));
        }
        create(path).map_err(cannot_write(path))?;
        let data_dir = Self { path: path.to_owned(), _lock: lock(path)? };
        data_dir.check_format()?;
        Ok(data_dir)
    }

    /// Refuses a directory of another version before anything changes, and writes the version into a new one.
    fn check_format(&self) -> Result<(), StartError> {
        let format = self.file("format");
        let text = match std::fs::read_to_string(&format) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if self.store_file().exists() && !self.file("beginning").exists() {
                    return Err(StartError::Older(self.path.clone()));
                }
                // Mark first: after a crash in between, a version without the mark would pass for complete data.
                self.mark_incomplete()?;
                return self.write("format", format!("{FORMAT}\n").as_bytes());
            }
            Err(error) if error.kind() == io::ErrorKind::InvalidData => String::new(),
            Err(error) => return Err(cannot_write(&self.path)(error)),
        };
        match text.trim().parse::<u32>() {
            Ok(FORMAT) => Ok(()),
            Ok(newer) if newer > FORMAT => Err(StartError::Newer(self.path.clone())),
            _ => Err(StartError::Older(self.path.clone())),
        }
    }

    /// Returns whether the initial data are complete. If not, removes the rest of an interrupted attempt.
    pub(crate) fn has_data(&self) -> Result<bool, StartError> {
        if !self.file("beginning").exists() {
            return Ok(true);
        }
        for name in ["credentials.json", "store.sqlite", "store.sqlite-wal", "store.sqlite-shm"] {
            private_file::remove(&self.file(name)).map_err(cannot_write(&self.path))?;
        }
        match std::fs::remove_dir_all(self.files_folder()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(cannot_write(&self.path)(error)),
            _ => Ok(false),
        }
    }

    fn mark_incomplete(&self) -> Result<(), StartError> {
        private_file::write(&self.file("beginning"), b"").map_err(cannot_write(&self.path))
    }

    /// The next start keeps the initial data.
    pub(crate) fn mark_complete(&self) -> Result<(), StartError> {
        private_file::remove(&self.file("beginning")).map_err(cannot_write(&self.path))
    }

    pub(crate) fn store_file(&self) -> PathBuf {
        self.file("store.sqlite")
    }

    pub(crate) fn files_folder(&self) -> PathBuf {
        self.file("files")
    }

    pub(crate) fn write_store_url(&self, url: &str) -> Result<(), StartError> {
        private_file::write(&self.file("dynamodb-url"), url.as_bytes()).map_err(cannot_write(&self.path))
    }

    pub(crate) fn remove_store_url(&self) {
        let _ = private_file::remove(&self.file("dynamodb-url"));
    }

    pub(crate) fn ready_file(&self) -> PathBuf {
        ready_file(&self.path)
    }

    /// The path of the log; rotates a large log first.
    pub(crate) fn log_file(&self) -> Result<PathBuf, StartError> {
        self.log_file_within(LOG_BYTES_MAX)
    }

    fn log_file_within(&self, bytes_max: u64) -> Result<PathBuf, StartError> {
        let log = self.file("log.jsonl");
        if std::fs::metadata(&log).is_ok_and(|log| log.len() > bytes_max) {
            std::fs::rename(&log, self.file("log.1.jsonl")).map_err(cannot_write(&self.path))?;
        }
        Ok(log)
    }

    /// Reads a file that complete data must have.
    pub(crate) fn read(&self, name: &str) -> Result<Vec<u8>, StartError> {
        std::fs::read(self.file(name))
            .map_err(|error| self.damaged(&format!("the file {name} cannot be read: {error}")))
    }

    /// The keys that seal secrets in the store, created with the initial data.
    pub(crate) fn keyring(&self, has_data: bool) -> Result<Keyring, StartError> {
        const FILE: &str = "keyring.json";
        match std::fs::read_to_string(self.file(FILE)) {
            Ok(text) => Keyring::parse(&text).map_err(|_| self.damaged(&format!("the file {FILE} holds no keys"))),
            Err(error) if error.kind() == io::ErrorKind::NotFound && !has_data => {
                let keyring = Keyring::new("local").map_err(|error| StartError::Seed(error.to_string()))?;
                self.write(FILE, keyring.reveal().as_bytes())?;
                Ok(keyring)
            }
            Err(error) => Err(self.damaged(&format!("the file {FILE} cannot be read: {error}"))),
        }
    }

    /// Replaces a file atomically; only its owner can read it.
    pub(crate) fn write(&self, name: &str, contents: &[u8]) -> Result<(), StartError> {
        private_file::write(&self.file(name), contents).map_err(cannot_write(&self.path))
    }

    /// The error for a directory that isn't as the last process left it.
    pub(crate) fn damaged(&self, what: &str) -> StartError {
        StartError::Damaged { path: self.path.clone(), what: what.to_owned() }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

/// Replaces a store error with "cannot be written" if a trial write shows a full disk: the store doesn't say why.
pub(crate) fn check_disk_full(data_dir: &Path, error: StartError) -> StartError {
    /// Exceeds what a full file system may have left in a partly used block.
    const PROBE_BYTES: usize = 256 * 1024;
    if !matches!(error, StartError::Store(_) | StartError::Seed(_) | StartError::Renewal(_)) {
        return error;
    }
    let probe = tempfile::tempfile_in(data_dir).and_then(|mut file| {
        file.write_all(&vec![0; PROBE_BYTES])?;
        file.sync_all()
    });
    match probe {
        Ok(()) => error,
        Err(full) => cannot_write(data_dir)(full),
    }
}

fn ready_file(data_dir: &Path) -> PathBuf {
    data_dir.join("ready.json")
}

fn create(path: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

fn cannot_write(path: &Path) -> impl Fn(io::Error) -> StartError {
    move |error| StartError::DataDir { path: path.to_owned(), error }
}

fn lock(data_dir: &Path) -> Result<File, StartError> {
    let mut file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(data_dir.join("lock"))
        .map_err(cannot_write(data_dir))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            return Err(StartError::InUse { path: data_dir.to_owned(), by: lock_holder(data_dir, file) });
        }
        Err(TryLockError::Error(error)) => return Err(cannot_write(data_dir)(error)),
    }
    file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id())).map_err(cannot_write(data_dir))?;
    Ok(file)
}

/// In brackets, the process that holds the lock and its address, as far as known.
fn lock_holder(data_dir: &Path, mut lock: File) -> String {
    let mut process = String::new();
    let process = lock
        .read_to_string(&mut process)
        .ok()
        .and_then(|_| process.trim().parse::<u32>().ok())
        .map(|id| format!("process {id}"));
    let address = ReadyFile::read(&ready_file(data_dir)).map(|ready| ready.base_url);
    let known: Vec<_> = [process, address].into_iter().flatten().collect();
    if known.is_empty() { String::new() } else { format!(" ({})", known.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_process_is_refused_and_learns_the_id_of_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let first = DataDir::open(folder.path()).unwrap();
        let refusal = DataDir::open(folder.path()).unwrap_err();
        assert!(matches!(refusal, StartError::InUse { .. }), "{refusal}");
        assert!(refusal.to_string().contains(&format!("process {}", std::process::id())), "{refusal}");
        drop(first);
        DataDir::open(folder.path()).unwrap();
    }

    #[test]
    fn a_new_directory_is_created_with_its_parents_and_has_no_data() {
        let folder = tempfile::tempdir().unwrap();
        let data_dir = DataDir::open(&folder.path().join("a/b")).unwrap();
        assert!(!data_dir.has_data().unwrap());
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_can_open_a_new_directory() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new");
        DataDir::open(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_directory_of_another_build_is_refused_and_left_untouched() {
        let newer = Some(format!("{}\n", FORMAT + 1).into_bytes());
        let earlier = (1..FORMAT).map(|format| Some(format!("{format}\n").into_bytes()));
        let unreadable = [&b""[..], b"0", b"one", b"1.5", b"\xff"].map(|text| Some(text.to_vec()));
        for format in earlier.chain(unreadable).chain([None, newer.clone()]) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("format");
            if let Some(format) = &format {
                std::fs::write(&path, format).unwrap();
            }
            std::fs::write(folder.path().join("store.sqlite"), "theirs").unwrap();
            let refusal = DataDir::open(folder.path()).unwrap_err();
            let is_newer = format == newer;
            assert_eq!(matches!(refusal, StartError::Newer(_)), is_newer, "{format:?}: {refusal}");
            assert_eq!(matches!(refusal, StartError::Older(_)), !is_newer, "{format:?}: {refusal}");
            assert!(refusal.to_string().contains(folder.path().to_str().unwrap()), "{refusal}");
            assert_eq!(std::fs::read(folder.path().join("store.sqlite")).unwrap(), b"theirs");
            assert_eq!(std::fs::read(&path).ok(), format);
        }
    }

    #[test]
    fn an_interrupted_first_start_is_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        drop(DataDir::open(folder.path()).unwrap());
        for name in ["store.sqlite", "store.sqlite-wal", "credentials.json", "notes.txt"] {
            std::fs::write(folder.path().join(name), "half").unwrap();
        }
        let data_dir = DataDir::open(folder.path()).unwrap();
        assert!(!data_dir.has_data().unwrap());
        for name in ["store.sqlite", "store.sqlite-wal", "credentials.json"] {
            assert!(!folder.path().join(name).exists(), "{name}");
        }
        assert!(folder.path().join("notes.txt").exists());
    }

    #[test]
    fn complete_data_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let data_dir = DataDir::open(folder.path()).unwrap();
        std::fs::write(data_dir.store_file(), "records").unwrap();
        data_dir.mark_complete().unwrap();
        drop(data_dir);
        let data_dir = DataDir::open(folder.path()).unwrap();
        assert!(data_dir.has_data().unwrap());
        assert_eq!(std::fs::read(data_dir.store_file()).unwrap(), b"records");
    }

    #[test]
    fn keys_are_made_for_new_data_only() {
        let folder = tempfile::tempdir().unwrap();
        let data_dir = DataDir::open(folder.path()).unwrap();
        assert!(matches!(data_dir.keyring(true).unwrap_err(), StartError::Damaged { .. }));
        let made = data_dir.keyring(false).unwrap();
        for has_data in [false, true] {
            assert_eq!(data_dir.keyring(has_data).unwrap().reveal(), made.reveal());
        }
    }

    #[test]
    fn a_path_that_is_no_directory_or_cannot_be_created_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert!(matches!(DataDir::open(&file).unwrap_err(), StartError::NotADirectory(_)));
        assert!(matches!(DataDir::open(&file.join("below")).unwrap_err(), StartError::DataDir { .. }));
    }

    #[test]
    fn a_large_log_is_rotated_and_a_small_one_kept() {
        let folder = tempfile::tempdir().unwrap();
        let data_dir = DataDir::open(folder.path()).unwrap();
        let log = data_dir.log_file_within(4).unwrap();
        std::fs::write(&log, "1234").unwrap();
        data_dir.log_file_within(4).unwrap();
        assert!(log.exists());
        std::fs::write(&log, "12345").unwrap();
        data_dir.log_file_within(4).unwrap();
        assert!(!log.exists());
        assert_eq!(std::fs::read(folder.path().join("log.1.jsonl")).unwrap(), b"12345");
    }
}
