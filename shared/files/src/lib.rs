//! The file store: documents and uploads, per organization, under the SHA-256 of their content.
//!
//! A file is written before the record that names it, so every record has its file. After a crash or refusal in
//! between, a retry writes it again, or the clock removes it a day later (`shared::store::files`). No file is public.
//!
//! - Decision: a file too large for a function's response, such as a bundle of many documents, is written below
//!   `exports/` and downloaded by a signed link that expires after a minute. No record names such a file, so a rule of
//!   the bucket removes everything below `exports/` after a day. No other file gets a link.
//! - Decision: rows of long lists are below `lists/`, so that roles of functions without other files reach only those,
//!   and a rule removes them.
//! - Decision: files are separate per organization, named by SHA-256, and verified by hash and size when read.
//! - Decision: only `object_store`, for the local folder, may bring chrono; `cargo deny` refuses it elsewhere.

#[cfg(feature = "s3")]
mod bucket;
#[cfg(feature = "folder")]
mod folder;

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;
#[cfg(feature = "s3")]
use shared::AppState;
use shared::domain::agreement::DocumentContent;
use shared::domain::ids::OrgId;
use shared::limits;
#[cfg(feature = "s3")]
use shared::platform::aws::{AwsSettings, Service};
#[cfg(feature = "s3")]
use shared::platform::config::{self, ConfigError};
use shared::platform::files::{FileStore, FilesError};
use shared::store::files::Upload;

trait Place: fmt::Debug + Send + Sync {
    /// Writes a file atomically, even over an existing one.
    fn put<'a>(&'a self, path: &'a str, file: Bytes) -> BoxFuture<'a, Result<(), FilesError>>;

    fn get<'a>(&'a self, path: &'a str, size: u64) -> BoxFuture<'a, Result<Bytes, FilesError>>;

    fn remove<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<(), FilesError>>;

    /// Removes the files below a path that are older than [`limits::ROWS_FILE_KEPT`], unless the place has a rule for that.
    fn remove_old<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<(), FilesError>>;

    /// Writes a file, and returns a link to it with a `Content-Disposition`. None if a response can carry the file.
    fn hand_out(
        &self,
        path: String,
        file: Bytes,
        disposition: String,
    ) -> BoxFuture<'_, Result<Option<String>, FilesError>>;
}

/// A file store, in a folder or a bucket.
#[derive(Debug, Clone)]
pub struct Files {
    place: Arc<dyn Place>,
}

impl Files {
    #[cfg(any(feature = "folder", feature = "s3"))]
    fn at(place: impl Place + 'static) -> Self {
        Self { place: Arc::new(place) }
    }

    /// Writes a file once, and returns its hash and size. For operators and tests: functions note each upload first.
    pub async fn put(&self, org: OrgId, file: impl Into<Bytes> + Send) -> Result<DocumentContent, FilesError> {
        let file: Bytes = file.into();
        if file.len() > limits::FILE_BYTES_MAX {
            return Err(FilesError::TooLarge);
        }
        let content = DocumentContent::of(&file);
        let path = path_of(org, &content.sha256).ok_or(FilesError::Damaged)?;
        self.place.put(&path, file).await?;
        Ok(content)
    }

    /// Reads a record's file, and verifies its hash and size.
    pub async fn get(&self, org: OrgId, content: &DocumentContent) -> Result<Bytes, FilesError> {
        let path = path_of(org, &content.sha256).ok_or(FilesError::NotThere)?;
        if !fits(content.size_bytes) {
            return Err(FilesError::Damaged);
        }
        let file = self.place.get(&path, content.size_bytes).await?;
        if DocumentContent::of(&file) == *content { Ok(file) } else { Err(FilesError::Damaged) }
    }

    /// Writes a file of any size and returns a link to it, if responses are limited.
    pub async fn hand_out(&self, org: OrgId, file: Bytes, name: &str) -> Result<Option<String>, FilesError> {
        let path = path_of(org, &DocumentContent::of(&file).sha256).ok_or(FilesError::Damaged)?;
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || " -_.()".contains(letter);
        let plain: String = name.chars().map(|letter| if is_plain(letter) { letter } else { '_' }).collect();
        let disposition = format!("attachment; filename=\"{plain}\"");
        self.place.hand_out(format!("exports/{path}"), file, disposition).await
    }
}

impl FileStore for Files {
    fn put<'a>(&'a self, upload: &'a Upload, file: Bytes) -> BoxFuture<'a, Result<(), FilesError>> {
        Box::pin(async move {
            let content = Self::put(self, upload.org(), file).await?;
            if content == *upload.content() { Ok(()) } else { Err(FilesError::Damaged) }
        })
    }

    fn get<'a>(&'a self, org: OrgId, content: &'a DocumentContent) -> BoxFuture<'a, Result<Bytes, FilesError>> {
        Box::pin(Self::get(self, org, content))
    }

    fn remove<'a>(&'a self, org: OrgId, sha256: &'a str) -> BoxFuture<'a, Result<(), FilesError>> {
        Box::pin(async move {
            let Some(path) = path_of(org, sha256) else { return Ok(()) };
            self.place.remove(&path).await
        })
    }

    fn hand_out<'a>(
        &'a self,
        org: OrgId,
        file: Bytes,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<String>, FilesError>> {
        Box::pin(Self::hand_out(self, org, file, name))
    }

    fn put_rows<'a>(&'a self, path: &'a str, file: Bytes) -> BoxFuture<'a, Result<(), FilesError>> {
        Box::pin(async move {
            let path = format!("{LISTS}{path}");
            self.place.put(&path, file).await?;
            self.place.remove_old(path.rsplit_once('/').map_or("", |(folder, _)| folder)).await
        })
    }

    fn get_rows<'a>(&'a self, path: &'a str, content: &'a DocumentContent) -> BoxFuture<'a, Result<Bytes, FilesError>> {
        Box::pin(async move {
            let file = self.place.get(&format!("{LISTS}{path}"), content.size_bytes).await?;
            if DocumentContent::of(&file) == *content { Ok(file) } else { Err(FilesError::Damaged) }
        })
    }
}

/// What the paths of rows of lists begin with.
const LISTS: &str = "lists/";

/// The state of a function that reads and writes files, in the bucket that `FILES_BUCKET` names. It keeps the rows of
/// long lists there, for the table that `TABLE_ID` identifies.
///
/// # Errors
/// If a setting is missing or unusable.
#[cfg(feature = "s3")]
pub fn of_function(app: AppState) -> Result<AppState, ConfigError> {
    let bucket = config::required("FILES_BUCKET")?;
    let files: Arc<dyn FileStore> = Arc::new(Files::in_bucket(&bucket, AwsSettings::from_env(Service::S3)?));
    let store = app.store.clone();
    let store = store.with_row_files(Arc::new(files.clone()), &config::required("TABLE_ID")?, limits::STORED_ROWS_MIN);
    Ok(AppState { store, ..app.with_files(files) })
}

fn fits(bytes: u64) -> bool {
    usize::try_from(bytes).is_ok_and(|bytes| bytes <= limits::FILE_BYTES_MAX)
}

fn path_of(org: OrgId, sha256: &str) -> Option<String> {
    const SHA256_DIGITS: usize = 64;
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let is_hash = sha256.len() == SHA256_DIGITS && sha256.bytes().all(is_digit);
    is_hash.then(|| format!("{org}/{sha256}"))
}

#[cfg(feature = "folder")]
#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use tempfile::TempDir;

    use super::*;

    struct Place {
        dir: TempDir,
        files: Files,
        org: OrgId,
    }

    impl Place {
        fn new() -> Self {
            let dir = TempDir::new().unwrap();
            let files = Files::in_folder(&dir.path().join("files")).unwrap();
            Self { dir, files, org: OrgId::new() }
        }

        fn all(&self) -> Vec<PathBuf> {
            let mut folders = vec![self.dir.path().to_owned()];
            let mut files = Vec::new();
            while let Some(folder) = folders.pop() {
                for entry in std::fs::read_dir(folder).unwrap() {
                    let path = entry.unwrap().path();
                    if path.is_dir() { folders.push(path) } else { files.push(path) }
                }
            }
            files.sort();
            files
        }
    }

    #[tokio::test]
    async fn a_file_is_read_as_written_and_stored_once() {
        let place = Place::new();
        let content = place.files.put(place.org, "A deed\n").await.unwrap();
        assert_eq!(content.size_bytes, 7);
        assert_eq!(content.sha256, shared::crypto::sha256_hex(b"A deed\n"));
        assert_eq!(place.files.put(place.org, "A deed\n").await.unwrap(), content);
        assert_eq!(place.all().len(), 1);
        assert_eq!(place.files.get(place.org, &content).await.unwrap(), "A deed\n");
        let empty = place.files.put(place.org, "").await.unwrap();
        assert_eq!(place.files.get(place.org, &empty).await.unwrap(), "");
        // A second store on the same folder reads it too.
        let again = Files::in_folder(&place.dir.path().join("files")).unwrap();
        assert_eq!(again.get(place.org, &content).await.unwrap(), "A deed\n");
    }

    #[tokio::test]
    async fn a_file_is_removed_once_and_alone() {
        let place = Place::new();
        let deed = place.files.put(place.org, "A deed\n").await.unwrap();
        let will = place.files.put(place.org, "A will\n").await.unwrap();
        let files: &dyn FileStore = &place.files;
        files.remove(OrgId::new(), &deed.sha256).await.unwrap();
        assert_eq!(place.all().len(), 2, "another organization's");
        for sha256 in [&*deed.sha256, &*deed.sha256, "", "..", "../x"] {
            files.remove(place.org, sha256).await.unwrap();
        }
        assert!(matches!(place.files.get(place.org, &deed).await, Err(FilesError::NotThere)));
        assert_eq!(place.files.get(place.org, &will).await.unwrap(), "A will\n");
    }

    #[tokio::test]
    async fn concurrent_writes_of_a_file_store_it_whole() {
        let place = Place::new();
        let file = Bytes::from(vec![7; 1024 * 1024]);
        let puts: Vec<_> = (0..8)
            .map(|_| {
                let (files, org, file) = (place.files.clone(), place.org, file.clone());
                tokio::spawn(async move { files.put(org, file).await.unwrap() })
            })
            .collect();
        for put in puts {
            let content = put.await.unwrap();
            assert_eq!(place.files.get(place.org, &content).await.unwrap(), file);
        }
        assert_eq!(place.all().len(), 1, "no partial file is left");
    }

    #[tokio::test]
    async fn a_file_that_is_too_large_is_not_written() {
        let place = Place::new();
        let largest = vec![1; limits::FILE_BYTES_MAX];
        let content = place.files.put(place.org, largest.clone()).await.unwrap();
        assert_eq!(place.files.get(place.org, &content).await.unwrap().len(), limits::FILE_BYTES_MAX);
        let refused = place.files.put(place.org, vec![1; limits::FILE_BYTES_MAX + 1]).await;
        assert!(matches!(refused, Err(FilesError::TooLarge)));
        assert_eq!(place.all().len(), 1);
    }

    #[tokio::test]
    async fn a_damaged_file_is_reported_and_a_new_write_repairs_it() {
        let place = Place::new();
        let content = place.files.put(place.org, "A deed\n").await.unwrap();
        let file = place.all().remove(0);
        for wrong in ["A deed", "A deeds", "", "A deed\n\n"] {
            std::fs::write(&file, wrong).unwrap();
            assert!(matches!(place.files.get(place.org, &content).await, Err(FilesError::Damaged)), "{wrong}");
        }
        place.files.put(place.org, "A deed\n").await.unwrap();
        assert_eq!(place.files.get(place.org, &content).await.unwrap(), "A deed\n");
        let wrong_size = DocumentContent { size_bytes: 8, ..content.clone() };
        assert!(matches!(place.files.get(place.org, &wrong_size).await, Err(FilesError::Damaged)));
        std::fs::remove_file(&file).unwrap();
        assert!(matches!(place.files.get(place.org, &content).await, Err(FilesError::NotThere)));
    }

    #[tokio::test]
    async fn a_file_of_another_organization_is_not_found() {
        let place = Place::new();
        let content = place.files.put(place.org, "A deed\n").await.unwrap();
        assert!(matches!(place.files.get(OrgId::new(), &content).await, Err(FilesError::NotThere)));
        for sha256 in ["", "..", "../x", &content.sha256.to_uppercase(), &format!("{}/", &content.sha256[1..])] {
            let named = DocumentContent { sha256: sha256.to_owned(), size_bytes: 7 };
            assert!(matches!(place.files.get(place.org, &named).await, Err(FilesError::NotThere)), "{sha256}");
        }
    }

    #[tokio::test]
    async fn a_retry_after_a_crash_writes_the_same_file() {
        let place = Place::new();
        let orphan = place.files.put(place.org, "A deed\n").await.unwrap();
        // An interrupted write leaves a partial file under another name.
        let half = place.all()[0].with_extension("half");
        std::fs::write(&half, "A de").unwrap();
        let again = place.files.put(place.org, "A deed\n").await.unwrap();
        assert_eq!(again, orphan);
        assert_eq!(place.files.get(place.org, &again).await.unwrap(), "A deed\n");
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn only_the_owner_can_open_the_folder() {
        use std::os::unix::fs::PermissionsExt;
        let place = Place::new();
        let mode = std::fs::metadata(place.dir.path().join("files")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }
}
