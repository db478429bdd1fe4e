//! Checks the table's integrity: walks over it and passes each item to the store's inspector.

use std::collections::HashSet;
use std::path::Path;

use serde::{Deserialize, Serialize};
use shared::domain::ids::OrgId;
use shared::platform::files::{FileStore, FilesError};
use shared::store::Store;
use shared::store::inspect::{Finding, Inspector, NamedFile, Repair};

use crate::walk::{Walk, WalkError};

/// What to verify, and whether to repair it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Verification<'a> {
    /// Limits the check to this organization's items.
    pub organization: Option<OrgId>,
    /// Whether to repair data derived from records.
    pub repairs: bool,
    /// The file store, to check files too.
    pub files: Option<&'a dyn FileStore>,
    /// The file with an interrupted walk's position.
    pub resume: Option<&'a Path>,
}

/// Counts of findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Verified {
    /// All findings.
    pub found: u64,
    /// Findings that were repaired.
    pub repaired: u64,
    /// Repairable findings that were not repaired.
    pub repairable: u64,
}

impl Verified {
    /// Whether nothing is wrong, or all of it was repaired.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.found == self.repaired
    }
}

/// Checks the table; reports findings and their repairs to `on`, and returns counts. Writes only with `repairs`.
pub async fn verify(
    store: &Store,
    how: Verification<'_>,
    mut on: impl FnMut(&Finding, Option<Repair>, &dyn Fn(&str)),
) -> Result<(u64, Verified), WalkError> {
    let repairs = if how.repairs { " --repair" } else { "" };
    let files = if how.files.is_some() { " with files" } else { "" };
    let only = how.organization.map_or_else(String::new, |org| format!(" --organization {org}"));
    let does = format!("verify{repairs}{only}{files}");
    let mut walk = Walk::<Verified>::begin(store, &does, how.resume).await?;
    let mut inspector = Inspector::new(store, how.organization).await?;
    // Reads each file once, however many records name it.
    let mut seen = HashSet::new();
    while let Some(items) = walk.next_page().await? {
        for finding in inspector.inspect(&items).await? {
            let repair = if how.repairs { Some(inspector.repair(&finding).await?) } else { None };
            let counts = walk.counts();
            counts.found += 1;
            match repair {
                Some(Repair::Done) => counts.repaired += 1,
                Some(Repair::Changed | Repair::Impossible) | None => {
                    counts.repairable += u64::from(finding.is_repairable());
                }
            }
            on(&finding, repair, &|line| walk.say(line));
        }
        if let Some(files) = how.files {
            let named = items.iter().flat_map(|item| NamedFile::of(item, how.organization));
            for file in named.filter(|file| seen.insert((file.org, file.content.sha256.clone()))) {
                let is_damaged = match files.get(file.org, &file.content).await {
                    Ok(_) => continue,
                    Err(FilesError::NotThere | FilesError::TooLarge) => false,
                    Err(FilesError::Damaged) => true,
                    Err(error @ FilesError::Store(_)) => return Err(error.into()),
                };
                walk.counts().found += 1;
                on(&file.finding(is_damaged), None, &|line| walk.say(line));
            }
        }
        walk.note(u64::try_from(items.len()).unwrap_or_default())?;
    }
    Ok(walk.end())
}
