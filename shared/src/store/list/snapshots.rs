//! The rows of lists that a process keeps in memory, brought up to now for each list.
//!
//! A list has what was acknowledged before it began. The first one passes over all rows, or of a long list begins from a
//! [file](super::stored) with them. A later one reads the log from
//! [`LOG_WINDOW`](crate::limits::LOG_WINDOW) before `as_of`, the moment by this process's clock when the last reading began:
//! what took effect after that has a stamp of at least `as_of - LOG_WINDOW` (see the limit), so nothing is left out. What
//! was applied before comes again, and counts once, since only a later version replaces a row. Deletions stay in memory,
//! because a list that is answered side by side may still apply an older entry. The stamps of a record rise, so a
//! reading that includes an older entry also includes the deletion.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

use futures_util::future::try_join_all;
use tokio::sync::Mutex as AsyncMutex;

use super::held_rows::{Columns, HeldRows};
use super::late::FoundLate;
use super::log::{self, Written};
use super::ms;
use super::pass::Pass;
use super::row_files::RowFiles;
use super::spread::{self, List, SpreadLists};
use crate::domain::time::Timestamp;
use crate::limits;
use crate::store::item::Item;
use crate::store::keys::{self, Rows};
use crate::store::query::Query;
use crate::store::{OrgStore, StoreError};

/// The rows of one list, and up to when.
#[derive(Debug)]
pub(super) struct Snapshot {
    rows: RwLock<HeldRows>,
    readings: Mutex<Readings>,
    /// The entries of late writes that these rows have, so that an instance reads far back once for each.
    late: Mutex<HashSet<String>>,
    /// When the pass began that these rows come from.
    pub passed_at: i64,
}

impl Snapshot {
    pub(super) fn new(rows: HeldRows, readings: Readings, passed_at: i64) -> Self {
        Self { rows: RwLock::new(rows), readings: Mutex::new(readings), late: Mutex::default(), passed_at }
    }

    pub(super) fn readings(&self) -> Readings {
        *self.readings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn known_late(&self) -> HashSet<String> {
        self.late.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes what a reading of the log found.
    pub(super) fn apply(&self, Logged { written, late }: Logged, readings: Readings) {
        let mut rows = self.rows.write().unwrap_or_else(PoisonError::into_inner);
        for Written { id, version, row } in &written {
            rows.apply(*id, *version, row.as_ref());
        }
        drop(rows);
        // Entries that the next reading no longer finds need not be known.
        *self.late.lock().unwrap_or_else(PoisonError::into_inner) = late;
        *self.readings.lock().unwrap_or_else(PoisonError::into_inner) = readings;
    }

    /// None if the rows take more memory.
    pub(super) fn columns(&self, bytes_max: usize) -> Option<Columns> {
        let rows = self.rows.read().unwrap_or_else(PoisonError::into_inner);
        (rows.bytes() <= bytes_max).then(|| rows.columns())
    }
}

/// The rows that a first list begins with.
#[derive(Debug)]
pub(super) struct Found {
    pub snapshot: Snapshot,
    pub is_to_be_stored: bool,
}

/// Whether rows may be used that were passed over at a moment.
pub(super) fn is_fresh(passed_at: i64, now: i64) -> bool {
    now - passed_at < ms(limits::LISTED_ROWS_AGE_MAX)
}

/// When the rows or the log were read, by this process's clock in milliseconds since 1970.
#[derive(Debug, Clone, Copy)]
pub(super) struct Readings {
    /// When the last reading began. Everything that took effect before is applied.
    as_of: i64,
    /// When the last reading began that went as far back as writes may come late.
    pub late_writes_at: i64,
}

impl Readings {
    pub(super) fn begin(now: i64) -> Self {
        Self { as_of: now, late_writes_at: now }
    }

    fn reads_late_writes(self, now: i64) -> bool {
        now - self.late_writes_at >= ms(limits::LATE_WRITES_INTERVAL)
    }

    /// The stamp from which on a reading that begins now takes the log.
    pub(super) fn from(self, now: i64) -> i64 {
        let window = if self.reads_late_writes(now) { limits::LATE_WRITES_WINDOW } else { limits::LOG_WINDOW };
        self.as_of - ms(window)
    }

    /// The stamp from which on the log is read after a pass over the rows of a spread list. While the pass goes on, a late
    /// write may delete a row that it has yet to come to, beside an older one that it has met in the other place.
    pub(super) fn stamp_after_pass(self) -> i64 {
        self.as_of - ms(limits::LATE_WRITES_WINDOW)
    }

    /// After a reading that began at a moment.
    pub(super) fn after(self, now: i64) -> Self {
        Self { as_of: now, late_writes_at: if self.reads_late_writes(now) { now } else { self.late_writes_at } }
    }
}

/// Locked while one list passes over the rows; the others wait for it.
type Slot = Arc<AsyncMutex<Option<Arc<Snapshot>>>>;

/// The rows of lists in memory, of all handles of a table in this process.
#[derive(Debug, Clone)]
pub(in crate::store) struct Snapshots(Arc<Shared>);

impl Default for Snapshots {
    fn default() -> Self {
        Self::taking(limits::LISTED_ROWS_BYTES_MAX)
    }
}

#[derive(Debug)]
struct Shared {
    /// Memory that the rows may take, in bytes.
    bytes_max: usize,
    held: Mutex<Held>,
    files: OnceLock<RowFiles>,
    spread: SpreadLists,
}

#[derive(Debug, Default)]
struct Held {
    lists: HashMap<List, HeldList>,
    /// Rows to be stored after the answer.
    unstored: HashMap<List, Arc<Snapshot>>,
    uses: u64,
    bytes: usize,
}

impl Held {
    fn let_go(&mut self, list: List) {
        self.bytes -= self.lists.remove(&list).map_or(0, |list| list.bytes);
    }
}

#[derive(Debug, Default)]
struct HeldList {
    slot: Slot,
    last_use: u64,
    bytes: usize,
}

impl Snapshots {
    /// Those that may take so many bytes of memory.
    pub(in crate::store) fn taking(bytes_max: usize) -> Self {
        let (held, files, spread) = (Mutex::default(), OnceLock::new(), SpreadLists::default());
        Self(Arc::new(Shared { bytes_max, held, files, spread }))
    }

    pub(super) fn bytes_max(&self) -> usize {
        self.0.bytes_max
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first place counts.
    pub(super) fn store_in(&self, files: RowFiles) {
        let _ = self.0.files.set(files);
    }

    pub(super) fn files(&self) -> Option<&RowFiles> {
        self.0.files.get()
    }

    pub(in crate::store) fn spread(&self) -> &SpreadLists {
        &self.0.spread
    }

    pub(super) fn has_unstored(&self) -> bool {
        !self.held().unstored.is_empty()
    }

    pub(super) fn take_unstored(&self) -> HashMap<List, Arc<Snapshot>> {
        std::mem::take(&mut self.held().unstored)
    }

    fn slot(&self, list: List) -> Slot {
        let mut held = self.held();
        held.uses += 1;
        let now = held.uses;
        let used = held.lists.entry(list).or_default();
        used.last_use = now;
        used.slot.clone()
    }

    /// Notes the size of a list, and lets go those that were used longest ago while there is too much. One that is too
    /// large alone goes itself: it costs no other organization's list its place.
    fn keep(&self, list: List, bytes: usize) {
        let mut held = self.held();
        let Some(used) = held.lists.get_mut(&list) else { return };
        let before = std::mem::replace(&mut used.bytes, bytes);
        held.bytes = held.bytes + bytes - before;
        if bytes > self.0.bytes_max {
            held.let_go(list);
        }
        while held.bytes > self.0.bytes_max {
            let oldest = held.lists.iter().min_by_key(|(_, list)| list.last_use).map(|(list, _)| *list);
            let Some(oldest) = oldest else { return };
            held.let_go(oldest);
        }
    }
}

impl OrgStore {
    /// Calls `read` with the rows of a list, which have all that was acknowledged before this call.
    pub(super) async fn with_rows<T>(&self, kind: Rows, read: impl FnOnce(&HeldRows) -> T) -> Result<T, StoreError> {
        let (list, snapshots) = ((self.org, kind), &self.store.snapshots);
        let snapshot = self.snapshot(kind, &snapshots.slot(list)).await?;
        let rows = snapshot.rows.read().unwrap_or_else(PoisonError::into_inner);
        let (found, bytes) = (read(&rows), rows.bytes() + limits::HELD_LIST_BYTES);
        drop(rows);
        snapshots.keep(list, bytes);
        Ok(found)
    }

    async fn snapshot(&self, kind: Rows, slot: &Slot) -> Result<Arc<Snapshot>, StoreError> {
        let mut held = slot.lock().await;
        let now = Timestamp::now().unix_ms();
        if let Some(snapshot) = held.as_ref().filter(|held| is_fresh(held.passed_at, now)) {
            let snapshot = snapshot.clone();
            drop(held);
            let before = snapshot.readings();
            let logged = self.logged_since(kind, before.from(now), &snapshot.known_late()).await?;
            snapshot.apply(logged, before.after(now));
            return Ok(snapshot);
        }
        let Found { snapshot, is_to_be_stored } = Box::pin(self.first_rows(kind, now)).await?;
        let snapshot = Arc::new(snapshot);
        *held = Some(snapshot.clone());
        if is_to_be_stored {
            self.store.snapshots.held().unstored.insert((self.org, kind), snapshot.clone());
        }
        Ok(snapshot)
    }

    /// Passes over the rows, unless there is a file with them.
    async fn first_rows(&self, kind: Rows, now: i64) -> Result<Found, StoreError> {
        let bytes_max = self.store.snapshots.bytes_max().saturating_mul(limits::PASSED_ROWS_FACTOR);
        let mut pass = Pass::new(self.org, kind, bytes_max);
        let rows_min = self.store.snapshots.files().map(|files| files.rows_min);
        let first = limits::FIRST_ROWS_MAX.min(rows_min.unwrap_or(usize::MAX));
        let rest = pass.begin(&self.store, first).await?;
        if !rest.is_empty() {
            if let Some(found) = self.begin_from_file(kind, now).await {
                return Ok(found);
            }
            pass.go_on(&self.store, rest, now).await?;
        }
        let is_spread = pass.is_spread;
        let rows = pass.into_rows()?;
        let is_to_be_stored = rows_min.is_some_and(|rows_min| rows_min <= rows.count());
        let snapshot = Snapshot::new(rows, Readings::begin(now), now);
        if is_spread {
            let readings = snapshot.readings();
            snapshot.apply(self.logged_since(kind, readings.stamp_after_pass(), &HashSet::new()).await?, readings);
        }
        Ok(Found { snapshot, is_to_be_stored })
    }

    /// What the log says from a stamp on, or from an earlier one of a write that was acknowledged late, unless the reader
    /// knows of that.
    pub(super) async fn logged_since(
        &self,
        kind: Rows,
        stamp_ms: i64,
        known_late: &HashSet<String>,
    ) -> Result<Logged, StoreError> {
        let mut entries = self.entries_since(kind, stamp_ms).await?;
        let FoundLate { read_from, names } = FoundLate::of(&entries, stamp_ms, known_late);
        if let Some(earlier) = read_from {
            entries = self.entries_since(kind, earlier).await?;
        }
        let mut written = Vec::new();
        for entry in &entries {
            written.extend(log::read(entry)?);
        }
        Ok(Logged { written, late: names })
    }

    async fn entries_since(&self, kind: Rows, stamp_ms: i64) -> Result<Vec<Item>, StoreError> {
        let (list, from) = ((self.org, kind), keys::logged_from(stamp_ms));
        let entries = |partition| self.store.all(Query::of(partition).from(from.clone()));
        let of_parts = || try_join_all(spread::parts().map(|part| entries(keys::spread_log(self.org, kind, part))));
        let is_known = self.store.snapshots.spread().has(list);
        let (mut found, mut of_all_parts) = if is_known {
            futures_util::try_join!(entries(keys::log(self.org, kind)), of_parts())?
        } else {
            (entries(keys::log(self.org, kind)).await?, Vec::new())
        };
        let is_spread = spread::take_mark(&mut found, &keys::log_is_spread(self.org, kind));
        if is_spread && !is_known {
            self.store.snapshots.spread().add(list);
            of_all_parts = of_parts().await?;
        }
        found.extend(of_all_parts.into_iter().flatten());
        Ok(found)
    }
}

/// What a reading of the log found.
#[derive(Debug)]
pub(super) struct Logged {
    pub written: Vec<Written>,
    /// The entries of late writes that the rows then have.
    pub late: HashSet<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::OrgId;

    #[test]
    fn the_list_that_was_used_longest_ago_is_let_go_first() {
        let (snapshots, lists) = (Snapshots::taking(100), [1, 2, 3].map(|_| (OrgId::new(), Rows::Contacts)));
        let held = |list| snapshots.held().lists.contains_key(&list);
        let uses = |list, bytes| {
            drop(snapshots.slot(list));
            snapshots.keep(list, bytes);
        };
        for list in lists {
            uses(list, 33);
        }
        assert_eq!(lists.map(held), [true; 3]);
        uses(lists[0], 34);
        uses(lists[2], 40);
        assert_eq!((lists.map(held), snapshots.held().bytes), ([true, false, true], 74));
        uses(lists[1], 500);
        let (kept, bytes) = (lists.map(held), snapshots.held().bytes);
        assert_eq!((kept, bytes), ([true, false, true], 74), "one that is too large goes alone");
    }

    #[test]
    fn a_reading_begins_a_window_before_the_last_one_and_now_and_then_far_before() {
        let (window, far) = (ms(limits::LOG_WINDOW), ms(limits::LATE_WRITES_WINDOW));
        let interval = ms(limits::LATE_WRITES_INTERVAL);
        let first = Readings::begin(1_000_000);
        assert_eq!(first.from(1_000_007), 1_000_000 - window);
        assert_eq!(first.stamp_after_pass(), 1_000_000 - far, "the first one after a pass over a spread list");
        let second = first.after(1_000_007);
        assert_eq!(second.from(1_000_000 + interval - 1), 1_000_007 - window);
        assert_eq!(second.from(1_000_000 + interval), 1_000_007 - far);
        let third = second.after(1_000_000 + interval);
        assert_eq!(third.from(1_000_001 + interval), 1_000_000 + interval - window);
    }
}
