//! Exports an organization: its records as newline-delimited JSON, its files, and a manifest with the hash of each.
//!
//! Decision: an export is no snapshot. Where changes meanwhile matter, suspend the organization first.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::json;
use shared::crypto;
use shared::domain::agreement::DocumentContent;
use shared::domain::ids::OrgId;
use shared::domain::time::Timestamp;
use shared::platform::files::{FileStore, FilesError};
use shared::store::export::{LEFT_OUT, exported, files_of};
use shared::store::operator::Operator;
use shared::store::{Store, StoreError};

use crate::walk::{Walk, WalkError};

/// The file of the records, one per line.
pub const RECORDS: &str = "records.ndjson";
/// The folder of the files, named by their SHA-256.
pub const FILES: &str = "files";
/// The manifest, written last: without it, an export is incomplete.
pub const MANIFEST: &str = "manifest.json";
const POSITION: &str = "position.json";

/// Why an export failed.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The walk failed.
    #[error(transparent)]
    Walk(#[from] WalkError),
    /// The table doesn't answer.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The organization doesn't exist.
    #[error("there is no organization with this id")]
    NoSuchOrganization,
    /// The folder can't be written.
    #[error("{} can't be written: {why}", path.display())]
    Folder {
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// The folder has another organization's export.
    #[error("the folder has an export of another organization: name another folder")]
    OtherOrganization,
}

/// The result of an export.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Exported {
    /// The number of records.
    pub records: u64,
    /// The number of files.
    pub files: u64,
    /// Hashes of files that records name, but that are missing or damaged.
    pub missing: Vec<String>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Counts {
    /// Bytes written so far. The next run truncates what a crash left after them.
    bytes: u64,
    kinds: BTreeMap<String, u64>,
}

/// Exports an organization to a folder. Continues an interrupted export; remakes a complete one, keeping its files.
pub async fn export(
    store: &Store,
    files: Option<&dyn FileStore>,
    org: OrgId,
    to: &Path,
) -> Result<Exported, ExportError> {
    let organization = Operator::new(store).organization(org).await?.ok_or(ExportError::NoSuchOrganization)?;
    let at = |name: &str| to.join(name);
    fs::create_dir_all(at(FILES)).map_err(|error| folder(to, &error))?;
    check_is_of(&at(MANIFEST), org)?;
    // Until the end, there is no complete export.
    remove(&at(MANIFEST))?;
    let kinds = write_records(store, org, &at(RECORDS), &at(POSITION)).await?;
    let named = named_files(&at(RECORDS))?;
    let (copied, missing) = copy_files(files, org, &named, &at(FILES)).await?;
    let (sha256, size_bytes) = hash_of(&at(RECORDS))?;
    let records: u64 = kinds.values().sum();
    let manifest = json!({
        "organization_id": org,
        "organization_name": organization.name,
        "exported_at": Timestamp::now(),
        "records": {"path": RECORDS, "sha256": sha256, "size_bytes": size_bytes, "count": records, "kinds": kinds},
        "files": copied.iter().map(|(sha256, size_bytes)| {
            json!({"path": format!("{FILES}/{sha256}"), "sha256": sha256, "size_bytes": size_bytes})
        }).collect::<Vec<_>>(),
        "missing_files": missing,
        "left_out": LEFT_OUT,
    });
    let text = serde_json::to_string_pretty(&manifest).unwrap_or_default();
    write_whole(&at(MANIFEST), format!("{text}\n").as_bytes())?;
    Ok(Exported { records, files: u64::try_from(copied.len()).unwrap_or_default(), missing })
}

fn folder(path: &Path, why: &dyn std::fmt::Display) -> ExportError {
    ExportError::Folder { path: path.to_owned(), why: why.to_string() }
}

/// A folder with a manifest must have an export of this organization.
fn check_is_of(manifest: &Path, org: OrgId) -> Result<(), ExportError> {
    let Ok(text) = fs::read(manifest) else { return Ok(()) };
    let found: Option<serde_json::Value> = serde_json::from_slice(&text).ok();
    let is_of = found.is_some_and(|found| found["organization_id"] == json!(org));
    if is_of { Ok(()) } else { Err(ExportError::OtherOrganization) }
}

fn remove(path: &Path) -> Result<(), ExportError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(folder(path, &error)),
        _ => Ok(()),
    }
}

/// Writes to a temporary file and renames it: the file appears whole or not at all.
fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), ExportError> {
    let beside = path.with_extension("new");
    fs::write(&beside, bytes).and_then(|()| fs::rename(&beside, path)).map_err(|error| folder(path, &error))
}

async fn write_records(
    store: &Store,
    org: OrgId,
    records: &Path,
    position: &Path,
) -> Result<BTreeMap<String, u64>, ExportError> {
    let wrong = |error: std::io::Error| folder(records, &error);
    let does = format!("export of the organization {org}");
    let mut walk = Walk::<Counts>::begin(store, &does, Some(position)).await?;
    let mut file = OpenOptions::new().create(true).truncate(false).write(true).open(records).map_err(wrong)?;
    file.set_len(walk.counts().bytes).map_err(wrong)?;
    std::io::Seek::seek(&mut file, std::io::SeekFrom::End(0)).map_err(wrong)?;
    while let Some(items) = walk.next_page().await? {
        let mut lines = Vec::new();
        for (kind, line) in items.iter().filter_map(|item| exported(org, item)) {
            writeln!(lines, "{line}").map_err(wrong)?;
            *walk.counts().kinds.entry(kind.as_str().to_owned()).or_default() += 1;
        }
        file.write_all(&lines).and_then(|()| file.sync_data()).map_err(wrong)?;
        walk.counts().bytes += u64::try_from(lines.len()).unwrap_or_default();
        walk.note(u64::try_from(items.len()).unwrap_or_default())?;
    }
    Ok(walk.end().1.kinds)
}

fn named_files(records: &Path) -> Result<BTreeSet<(String, u64)>, ExportError> {
    let file = File::open(records).map_err(|error| folder(records, &error))?;
    let mut named = BTreeSet::new();
    for line in BufReader::new(file).lines() {
        let line = line.map_err(|error| folder(records, &error))?;
        let line = serde_json::from_str(&line).map_err(|error| folder(records, &error))?;
        named.extend(files_of(&line));
    }
    Ok(named)
}

type Copied = (BTreeSet<(String, u64)>, Vec<String>);

async fn copy_files(
    files: Option<&dyn FileStore>,
    org: OrgId,
    named: &BTreeSet<(String, u64)>,
    to: &Path,
) -> Result<Copied, ExportError> {
    let (mut copied, mut missing) = (BTreeSet::new(), Vec::new());
    for (sha256, size_bytes) in named {
        let (path, content) = (to.join(sha256), DocumentContent { sha256: sha256.clone(), size_bytes: *size_bytes });
        let is_there = fs::read(&path).is_ok_and(|bytes| crypto::sha256_hex(&bytes) == *sha256);
        if !is_there {
            let found = match files {
                Some(files) => files.get(org, &content).await,
                None => Err(FilesError::NotThere),
            };
            match found {
                Ok(bytes) => write_whole(&path, &bytes)?,
                Err(FilesError::NotThere | FilesError::Damaged) => {
                    missing.push(sha256.clone());
                    continue;
                }
                Err(error) => return Err(folder(&path, &error)),
            }
        }
        copied.insert((sha256.clone(), *size_bytes));
    }
    Ok((copied, missing))
}

fn hash_of(path: &Path) -> Result<(String, u64), ExportError> {
    let bytes = fs::read(path).map_err(|error| folder(path, &error))?;
    Ok((crypto::sha256_hex(&bytes), u64::try_from(bytes.len()).unwrap_or_default()))
}
