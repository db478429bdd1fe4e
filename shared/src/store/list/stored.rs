//! The rows of long lists in the file store, so that a process begins from one file instead of passing over all rows.
//!
//! A file has the rows of a list as one process held them, and its pointer says up to when: `as_of`, by that process's
//! clock. Another process goes on from there as if it had read the rows itself: the [window](limits::LOG_WINDOW) allows
//! for the clocks of any reader and any writer, and a reading a minute later goes back [far](limits::LATE_WRITES_WINDOW).
//! A file has no deletions, as a pass has none: the stamps of a record rise, so a reading that includes an entry which
//! is older than a deletion also includes the deletion. Entries are kept longer than any file is used.
//!
//! - Decision: rows are stored after the answer, before the function asks for its next event, when Lambda still lets it
//!   run. So they never lengthen or fail an answer. What doesn't succeed in time is left to the next pass.
//! - Decision: who finds much in the log stores what it then holds, without another pass. That is as good as one, since
//!   rows in memory are all that took effect before `as_of`; but it counts as old as the pass behind it, so that rows
//!   which were repaired without a log are read in time.
//! - Decision: a file is named by what it has, and no one writes it again or removes it: a reader who follows an older
//!   pointer finds its file. The bucket's rule removes files when no one uses them anymore.
//! - Decision: its name also has the table's identity. A restored table may have a pointer whose rows it lacks.

use std::collections::HashSet;
use std::sync::Arc;

use aws_sdk_dynamodb::types::AttributeValue;
use bytes::Bytes;

use super::held_rows::{Columns, HeldRows};
use super::row_files::{LAYOUT, RowFileStore, RowFiles};
use super::snapshots::{Found, Readings, Snapshot, is_fresh};
use crate::domain::agreement::DocumentContent;
use crate::domain::ids::OrgId;
use crate::store::change::Update;
use crate::store::item::{Item, number, text};
use crate::store::keys::{self, DROP_AT, Rows};
use crate::store::packed::{Packer, Unpacker};
use crate::store::{OrgStore, Store};
use crate::{crypto, limits};

/// The fastest: attributes and texts shrink by half, and little more with more work.
const COMPRESSION: u8 = 1;

const FILE: &str = "f";
const SIZE: &str = "n";
const AS_OF: &str = "a";
const PASSED_AT: &str = "p";

/// What the newest file of a list is, and when its rows were read.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Pointer {
    content: DocumentContent,
    as_of: i64,
    passed_at: i64,
}

impl Pointer {
    /// None if it is that of another table or layout.
    fn read(item: &Item, folder: &str) -> Option<Self> {
        let sha256 = text(item, FILE)?.strip_prefix(folder)?.strip_prefix('/')?.to_owned();
        let content = DocumentContent { sha256, size_bytes: number(item, SIZE)? };
        Some(Self { content, as_of: number(item, AS_OF)?, passed_at: number(item, PASSED_AT)? })
    }

    fn path(&self, folder: &str) -> String {
        format!("{folder}/{}", self.content.sha256)
    }

    /// Replaces an older one.
    fn update(&self, org: OrgId, kind: Rows, folder: &str) -> Update {
        let number = |number: i64| AttributeValue::N(number.to_string());
        let kept = i64::try_from(limits::ROWS_FILE_KEPT.as_secs()).unwrap_or(i64::MAX);
        Update {
            key: keys::stored_rows(org, kind),
            expression: "SET #file = :file, #size = :size, #as_of = :as_of, #passed_at = :passed_at, #drop_at = :drop_at",
            condition: "attribute_not_exists(#as_of) OR #as_of < :as_of",
            names: vec![
                ("#file", FILE),
                ("#size", SIZE),
                ("#as_of", AS_OF),
                ("#passed_at", PASSED_AT),
                ("#drop_at", DROP_AT),
            ],
            values: vec![
                (":file", AttributeValue::S(self.path(folder))),
                (":size", AttributeValue::N(self.content.size_bytes.to_string())),
                (":as_of", number(self.as_of)),
                (":passed_at", number(self.passed_at)),
                (":drop_at", number(self.passed_at / 1000 + kept)),
            ],
        }
    }
}

/// A file with rows.
pub(super) fn packed(columns: &Columns) -> Vec<u8> {
    let Columns { ids, numbers, texts, attributes } = columns;
    // Ids are random but for their time.
    let packer = Packer::of_layout(LAYOUT).sized(ids);
    let deflated = |packer: Packer, column: &Vec<u8>| {
        let size = u64::try_from(column.len()).unwrap_or(u64::MAX);
        packer.number(size).sized(&miniz_oxide::deflate::compress_to_vec(column, COMPRESSION))
    };
    [numbers, texts, attributes].into_iter().fold(packer, deflated).into_bytes()
}

/// The rows in a file. None if it is none of this layout, or has a column of more bytes.
pub(super) fn unpacked(file: &[u8], bytes_max: usize) -> Option<HeldRows> {
    let mut packed = Unpacker::of_layout(file, LAYOUT)?;
    let ids = packed.sized()?.to_vec();
    let mut inflated = || {
        let (size, deflated) = (packed.size()?, packed.sized()?);
        let mut column = vec![0; Some(size).filter(|size| *size <= bytes_max)?];
        let deflated = std::iter::once(deflated);
        let filled = miniz_oxide::inflate::decompress_slice_iter_to_slice(&mut column, deflated, false, true).ok()?;
        (filled == size).then_some(column)
    };
    let (numbers, texts, attributes) = (inflated()?, inflated()?, inflated()?);
    HeldRows::of_columns(Columns { ids, numbers, texts, attributes })
}

impl Store {
    /// Stores the rows of lists that have so many, and begins from them. The identity is the table's: a restored one has
    /// another. For all handles of the table in this process.
    #[must_use]
    pub fn with_row_files(self, files: Arc<dyn RowFileStore>, identity: &str, rows_min: usize) -> Self {
        let table = crypto::sha256_hex(identity.as_bytes())[..16].to_owned();
        self.snapshots.store_in(RowFiles { files, table, rows_min });
        self
    }

    /// Whether [`store_rows`](Self::store_rows) has anything to do.
    #[must_use]
    pub fn has_rows_to_store(&self) -> bool {
        self.snapshots.has_unstored()
    }

    /// Stores rows that should be, within [`limits::ROWS_FILE_WRITE_TIMEOUT`]: to be called after each answer.
    pub async fn store_rows(&self) {
        let Some(files) = self.snapshots.files() else { return };
        let stored = async {
            for ((org, kind), snapshot) in self.snapshots.take_unstored() {
                if let Err(why) = self.store_rows_of(files, org, kind, &snapshot).await {
                    tracing::warn!(list = kind.as_str(), why, "the rows of a list were not stored");
                }
            }
        };
        if tokio::time::timeout(limits::ROWS_FILE_WRITE_TIMEOUT, stored).await.is_err() {
            tracing::warn!("the rows of a list were not stored in time");
        }
    }

    async fn store_rows_of(&self, files: &RowFiles, org: OrgId, kind: Rows, snapshot: &Snapshot) -> Result<(), String> {
        // Before the rows, which may have more by then.
        let as_of = snapshot.readings().late_writes_at;
        let Some(columns) = snapshot.columns(self.snapshots.bytes_max()) else { return Ok(()) };
        let file = Bytes::from(packed(&columns));
        drop(columns);
        let pointer = Pointer { content: DocumentContent::of(&file), as_of, passed_at: snapshot.passed_at };
        let folder = files.folder(org, kind);
        files.files.put(&pointer.path(&folder), file).await?;
        self.update(pointer.update(org, kind, &folder)).await.map_err(|error| error.to_string())?;
        Ok(())
    }
}

impl OrgStore {
    /// The rows of a list from its newest file, with what was written since. None if there is no file that can be used.
    pub(super) async fn begin_from_file(&self, kind: Rows, now: i64) -> Option<Found> {
        let files = self.store.snapshots.files()?;
        match self.read_file(files, kind, now).await {
            Ok(found) => found,
            Err(why) => {
                tracing::warn!(list = kind.as_str(), why, "the stored rows of a list were not used");
                None
            }
        }
    }

    async fn read_file(&self, files: &RowFiles, kind: Rows, now: i64) -> Result<Option<Found>, String> {
        let folder = files.folder(self.org, kind);
        let item = self.store.get(keys::stored_rows(self.org, kind)).await.map_err(|error| error.to_string())?;
        let pointer = item.as_ref().and_then(|item| Pointer::read(item, &folder));
        let Some(pointer) = pointer.filter(|pointer| is_fresh(pointer.passed_at, now)) else { return Ok(None) };
        let (readings, path) = (Readings::begin(pointer.as_of), pointer.path(&folder));
        let file = files.files.get(&path, &pointer.content);
        let nothing_known = HashSet::new();
        let (file, logged) = tokio::join!(
            tokio::time::timeout(limits::ROWS_FILE_READ_TIMEOUT, file),
            self.logged_since(kind, readings.from(now), &nothing_known)
        );
        let file = file.map_err(|_| "the file store did not answer in time".to_owned())?;
        let rows = unpacked(&file?, self.store.snapshots.bytes_max()).ok_or("the file has no rows")?;
        let logged = logged.map_err(|error| error.to_string())?;
        let after = readings.after(now);
        // A file counts only if it is of a later moment than the pointer's.
        let is_later = after.late_writes_at > pointer.as_of;
        let is_to_be_stored = is_later && logged.written.len() > rows.count() / limits::STORED_ROWS_LOG_PART;
        let snapshot = Snapshot::new(rows, readings, pointer.passed_at);
        snapshot.apply(logged, after);
        Ok(Some(Found { snapshot, is_to_be_stored }))
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::store::list::OwnedRow;

    fn rows(count: u32) -> HeldRows {
        let mut rows = HeldRows::default();
        for n in 0..count {
            let row = OwnedRow { text: format!("contact {n}\nof ünder-{n}"), attributes: vec![1, 97, 1, 98] };
            rows.apply(Uuid::now_v7(), u64::from(n) + 1, Some(&row));
        }
        rows
    }

    #[test]
    fn a_file_is_read_as_written_and_any_other_is_none() {
        let unpacked = |file: &[u8]| unpacked(file, 1 << 20);
        for count in [0, 1, 1_000] {
            let rows = rows(count);
            let file = packed(&rows.columns());
            assert_eq!(unpacked(&file).unwrap().columns(), rows.columns());
        }
        let file = packed(&rows(100).columns());
        assert!(file.len() < 100 * 40, "{} bytes", file.len());
        for end in 0..file.len() {
            assert!(unpacked(&file[..end]).is_none(), "{end} bytes");
        }
        let other_layout = [&[LAYOUT + 1], &file[1..]].concat();
        let too_large = Packer::of_layout(LAYOUT).sized(&[]).number(u64::MAX).sized(&[1, 0]).into_bytes();
        for other in [&other_layout[..], &too_large, b"", b"else"] {
            assert!(unpacked(other).is_none());
        }
    }

    #[test]
    fn a_pointer_of_another_table_list_or_layout_is_none() {
        let (org, folder) = (OrgId::new(), |org: OrgId| format!("{org}/CONTACTS/table/1"));
        let content = DocumentContent::of(b"rows");
        let pointer = Pointer { content, as_of: 1_790_000_000_000, passed_at: 1_789_999_000_000 };
        let Update { key, names, values, .. } = pointer.update(org, Rows::Contacts, &folder(org));
        assert_eq!(key, keys::stored_rows(org, Rows::Contacts));
        let item: Item = names.iter().zip(values).map(|((_, name), (_, value))| ((*name).to_owned(), value)).collect();
        assert_eq!(Pointer::read(&item, &folder(org)), Some(pointer));
        for other in [folder(OrgId::new()), format!("{org}/CONTACTS/other/1"), format!("{org}/CONTACTS/table/2")] {
            assert_eq!(Pointer::read(&item, &other), None, "{other}");
        }
        assert_eq!(Pointer::read(&Item::new(), &folder(org)), None);
    }
}
