//! The files that records name, to be checked beside the table.

use super::{Finding, Problem, organization_of};
use crate::domain::agreement::DocumentContent;
use crate::domain::ids::OrgId;
use crate::store::export::{exported, files_of};
use crate::store::item::Item;
use crate::store::keys::Key;
use crate::store::record_kind::{Place, RecordKind};

/// A file that a record names.
#[derive(Debug, Clone)]
pub struct NamedFile {
    /// The organization that has it.
    pub org: OrgId,
    /// Its hash and size.
    pub content: DocumentContent,
    key: Key,
    kind: RecordKind,
}

impl NamedFile {
    /// The files that an item names, of all organizations or of one.
    #[must_use]
    pub fn of(item: &Item, only: Option<OrgId>) -> Vec<Self> {
        let Some(key) = Key::of(item) else { return Vec::new() };
        let place = Place::of(&key);
        let org = place.as_ref().and_then(|place| place.org.or_else(|| organization_of(item, Some(place))));
        let Some(org) = org.filter(|org| only.is_none_or(|only| only == *org)) else { return Vec::new() };
        let Some((kind, record)) = exported(org, item) else { return Vec::new() };
        let named = files_of(&record).into_iter();
        let named = named.map(|(sha256, size_bytes)| DocumentContent { sha256, size_bytes });
        named.map(|content| Self { org, content, key: key.clone(), kind }).collect()
    }

    /// Reports that the file is missing or damaged.
    #[must_use]
    pub fn finding(self, is_damaged: bool) -> Finding {
        let (problem, what) = if is_damaged {
            (Problem::DamagedFile, "is not as it was written")
        } else {
            (Problem::NoFile, "is not there")
        };
        let says = format!("names a file that {what}: {}", self.content.sha256);
        Finding { problem, key: self.key, kind: Some(self.kind), says, repair: None }
    }
}
