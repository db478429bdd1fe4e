//! Whether the files that records name are there, and whole.

use std::collections::HashSet;

use super::{Finding, Problem, organization_of};
use crate::domain::agreement::DocumentContent;
use crate::domain::ids::OrgId;
use crate::platform::files::{FileStore, FilesError};
use crate::store::export::{exported, files_of};
use crate::store::item::Item;
use crate::store::keys::Key;
use crate::store::record_kind::Place;

/// Looks at files. It reads each once, however many records name it.
#[derive(Debug)]
pub struct FileInspector<'a> {
    files: &'a dyn FileStore,
    only: Option<OrgId>,
    seen: HashSet<(OrgId, String)>,
}

impl<'a> FileInspector<'a> {
    /// An inspector of the files of all organizations, or of one.
    #[must_use]
    pub fn new(files: &'a dyn FileStore, only: Option<OrgId>) -> Self {
        Self { files, only, seen: HashSet::new() }
    }

    /// What is wrong with the files that some items name.
    ///
    /// # Errors
    /// [`FilesError::Store`], when the file store does not answer.
    pub async fn inspect(&mut self, items: &[Item]) -> Result<Vec<Finding>, FilesError> {
        let mut findings = Vec::new();
        for item in items {
            let Some(key) = Key::of(item) else { continue };
            let place = Place::of(&key);
            let org = place.as_ref().and_then(|place| place.org.or_else(|| organization_of(item, Some(place))));
            let Some(org) = org.filter(|org| self.only.is_none_or(|only| only == *org)) else { continue };
            let Some((kind, record)) = exported(org, item) else { continue };
            for (sha256, size_bytes) in files_of(&record) {
                if !self.seen.insert((org, sha256.clone())) {
                    continue;
                }
                let content = DocumentContent { sha256, size_bytes };
                let (problem, what) = match self.files.get(org, &content).await {
                    Ok(_) => continue,
                    Err(FilesError::NotThere | FilesError::TooLarge) => (Problem::NoFile, "is not there"),
                    Err(FilesError::Damaged) => (Problem::DamagedFile, "is not as it was written"),
                    Err(error @ FilesError::Store(_)) => return Err(error),
                };
                let says = format!("names a file that {what}: {}", content.sha256);
                findings.push(Finding { problem, key: key.clone(), kind: Some(kind), says, repair: None });
            }
        }
        Ok(findings)
    }
}
