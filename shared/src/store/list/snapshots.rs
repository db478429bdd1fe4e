//! The rows of lists that a process keeps in memory, brought up to now for each list.
//!
//! A list has what was acknowledged before it began. The first one passes over all rows. A later one reads the log from
//! [`LOG_WINDOW`](crate::limits::LOG_WINDOW) before `as_of`, the moment by this process's clock when the last reading began:
//! what took effect after that has a stamp of at least `as_of - LOG_WINDOW` (see the limit), so nothing is left out. What
//! was applied before comes again, and counts once, since only a later version replaces a row. Deletions stay in memory,
//! because a list that is answered side by side may still apply an older entry. The stamps of a record rise, so a
//! reading that includes an older entry also includes the deletion.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use tokio::sync::Mutex as AsyncMutex;

use super::ID;
use super::held_rows::HeldRows;
use super::log::{self, Written};
use crate::domain::ids::OrgId;
use crate::domain::time::Timestamp;
use crate::limits;
use crate::store::item::VERSION;
use crate::store::keys::{self, Rows, SORT};
use crate::store::query::Query;
use crate::store::{OrgStore, StoreError};

/// The rows of one list, and up to when.
#[derive(Debug)]
struct Snapshot {
    rows: RwLock<HeldRows>,
    readings: Mutex<Readings>,
    passed_at: i64,
}

/// When the rows or the log were read, by this process's clock in milliseconds since 1970.
#[derive(Debug, Clone, Copy)]
pub(super) struct Readings {
    /// When the last reading began. Everything that took effect before is applied.
    as_of: i64,
    /// When the last reading began that went as far back as writes may come late.
    late_writes_at: i64,
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

    /// After a reading that began at a moment.
    pub(super) fn after(self, now: i64) -> Self {
        Self { as_of: now, late_writes_at: if self.reads_late_writes(now) { now } else { self.late_writes_at } }
    }
}

/// Locked while one list passes over the rows; the others wait for it.
type Slot = Arc<AsyncMutex<Option<Arc<Snapshot>>>>;

/// The rows of lists in memory, of all handles of a table in this process.
#[derive(Debug, Clone, Default)]
pub(in crate::store) struct Snapshots(Arc<Mutex<Held>>);

#[derive(Debug, Default)]
struct Held {
    lists: HashMap<(OrgId, Rows), HeldList>,
    uses: u64,
    bytes: usize,
}

#[derive(Debug, Default)]
struct HeldList {
    slot: Slot,
    last_use: u64,
    bytes: usize,
}

impl Snapshots {
    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn slot(&self, list: (OrgId, Rows)) -> Slot {
        let mut held = self.held();
        held.uses += 1;
        let now = held.uses;
        let used = held.lists.entry(list).or_default();
        used.last_use = now;
        used.slot.clone()
    }

    /// Notes the size of a list, and lets go those that were used longest ago while there is too much.
    fn keep(&self, list: (OrgId, Rows), bytes: usize, bytes_max: usize) {
        let mut held = self.held();
        let Some(used) = held.lists.get_mut(&list) else { return };
        let before = std::mem::replace(&mut used.bytes, bytes);
        held.bytes = held.bytes + bytes - before;
        while held.bytes > bytes_max {
            let oldest = held.lists.iter().min_by_key(|(_, list)| list.last_use).map(|(list, _)| *list);
            let Some(let_go) = oldest.and_then(|oldest| held.lists.remove(&oldest)) else { return };
            held.bytes -= let_go.bytes;
        }
    }
}

impl OrgStore {
    /// Calls `read` with the rows of a list, which have all that was acknowledged before this call.
    pub(super) async fn with_rows<T>(&self, kind: Rows, read: impl FnOnce(&HeldRows) -> T) -> Result<T, StoreError> {
        let (list, snapshots) = ((self.org, kind), &self.store.snapshots);
        let snapshot = self.snapshot(kind, &snapshots.slot(list)).await?;
        let rows = snapshot.rows.read().unwrap_or_else(PoisonError::into_inner);
        let (found, bytes) = (read(&rows), rows.bytes());
        drop(rows);
        snapshots.keep(list, bytes, limits::LISTED_ROWS_BYTES_MAX);
        Ok(found)
    }

    async fn snapshot(&self, kind: Rows, slot: &Slot) -> Result<Arc<Snapshot>, StoreError> {
        let mut held = slot.lock().await;
        let now = Timestamp::now().unix_ms();
        if let Some(snapshot) = held.as_ref().filter(|held| now - held.passed_at < ms(limits::LISTED_ROWS_AGE_MAX)) {
            let snapshot = snapshot.clone();
            drop(held);
            self.read_log(kind, &snapshot, now).await?;
            return Ok(snapshot);
        }
        let snapshot = Arc::new(self.pass_over(kind, now).await?);
        *held = Some(snapshot.clone());
        Ok(snapshot)
    }

    async fn pass_over(&self, kind: Rows, now: i64) -> Result<Snapshot, StoreError> {
        let (mut rows, mut unreadable) = (HeldRows::default(), 0_u64);
        let own = kind.own();
        let attributes: Vec<&str> =
            own.iter().flat_map(|own| [SORT, ID, VERSION].iter().chain(own.attributes)).copied().collect();
        self.store
            .each(Query::of(keys::rows(self.org, kind)).only(&attributes), |row| {
                match own.map_or_else(|| Written::of_row(&row), |own| Written::of_own_row(&row, own)) {
                    Some(Written { id, version, row }) => rows.apply(id, version, row.as_ref()),
                    None => unreadable += 1,
                }
            })
            .await?;
        if unreadable > 0 {
            return Err(StoreError::Unreadable(format!("{unreadable} rows without an id or a version")));
        }
        Ok(Snapshot { rows: RwLock::new(rows), readings: Mutex::new(Readings::begin(now)), passed_at: now })
    }

    async fn read_log(&self, kind: Rows, snapshot: &Snapshot, now: i64) -> Result<(), StoreError> {
        let readings = || snapshot.readings.lock().unwrap_or_else(PoisonError::into_inner);
        let before = *readings();
        let from = keys::logged_from(before.from(now));
        let entries = self.store.all(Query::of(keys::log(self.org, kind)).from(from)).await?;
        let written = entries.iter().map(log::read).collect::<Result<Vec<_>, _>>()?;
        let mut rows = snapshot.rows.write().unwrap_or_else(PoisonError::into_inner);
        for written in written.iter().flatten() {
            rows.apply(written.id, written.version, written.row.as_ref());
        }
        drop(rows);
        *readings() = before.after(now);
        Ok(())
    }
}

pub(super) fn ms(duration: std::time::Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_that_was_used_longest_ago_is_let_go_first() {
        let (snapshots, lists) = (Snapshots::default(), [1, 2, 3].map(|_| (OrgId::new(), Rows::Contacts)));
        let held = |list| snapshots.held().lists.contains_key(&list);
        let uses = |list, bytes| {
            drop(snapshots.slot(list));
            snapshots.keep(list, bytes, 100);
        };
        for list in lists {
            uses(list, 33);
        }
        assert_eq!(lists.map(held), [true; 3]);
        uses(lists[0], 34);
        uses(lists[2], 40);
        assert_eq!((lists.map(held), snapshots.held().bytes), ([true, false, true], 74));
        uses(lists[1], 500);
        assert_eq!(
            (lists.map(held), snapshots.held().bytes),
            ([false; 3], 0),
            "one that is too large is not kept either"
        );
    }

    #[test]
    fn a_reading_begins_a_window_before_the_last_one_and_now_and_then_far_before() {
        let (window, far) = (ms(limits::LOG_WINDOW), ms(limits::LATE_WRITES_WINDOW));
        let interval = ms(limits::LATE_WRITES_INTERVAL);
        let first = Readings::begin(1_000_000);
        assert_eq!(first.from(1_000_007), 1_000_000 - window);
        let second = first.after(1_000_007);
        assert_eq!(second.from(1_000_000 + interval - 1), 1_000_007 - window);
        assert_eq!(second.from(1_000_000 + interval), 1_000_007 - far);
        let third = second.after(1_000_000 + interval);
        assert_eq!(third.from(1_000_001 + interval), 1_000_000 + interval - window);
    }
}
