//! Writes that only a repeat of their call acknowledges, perhaps long after they were stamped.
//!
//! A request may hang in the network and take effect after its call was answered as failed. A repeat with the same
//! idempotency key or form copy finds that write and acknowledges it. A list that was read before the write took effect
//! goes back only [`LOG_WINDOW`](limits::LOG_WINDOW) in the log the next time, and the stamp of the write may be older.
//! So the item that answers repeats names the logs that its transaction wrote to, and the stamp. A late repeat first
//! puts an entry without rows into each of these logs; a list that finds the entry reads the log from that stamp on.
//!
//! A create that finds the contact, funding item or trust with its reference acknowledges that record's last write in the
//! same way.
//!
//! Some acts find their effect there without such an item, for example the later parts of a form that is sent again.
//! Lists show what those wrote within a minute, like any write that nobody acknowledged
//! ([`LATE_WRITES_INTERVAL`](limits::LATE_WRITES_INTERVAL)). A call that finds its own write after all, when it puts the
//! audit row of its failure, needs no entry: [`COMMIT_MAX`](limits::COMMIT_MAX) covers that time.
//!
//! Decision: the rows themselves aren't logged again. An old row with a new stamp could bring a deleted record back in
//! the memory of an instance that passed over the rows after the deletion.

use std::collections::HashSet;

use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::future::try_join_all;
use uuid::Uuid;

use super::log;
use super::ms;
use crate::domain::time::Timestamp;
use crate::limits;
use crate::store::item::{Item, STAMP, Versioned, number, text};
use crate::store::keys::{self, Key, Rows, SORT};
use crate::store::table::PutIf;
use crate::store::{OrgStore, Store, StoreError};

/// Of an entry: the stamp from which on the log is to be read.
const READ_FROM: &str = "r";

/// The entries to be written before a repeat is answered.
pub(super) fn entries(answered: &Item, now: i64) -> Vec<Item> {
    let logs = answered.get(log::LOGS).and_then(|logs| logs.as_l().ok()).into_iter().flatten();
    let logs = logs.filter_map(|log| log.as_s().ok().cloned());
    number(answered, STAMP).map_or_else(Vec::new, |stamp| entries_in_logs(logs, stamp, now))
}

/// An entry for each log that a write with this stamp went to: none if the write is so young that every list reads its
/// stamp anyway, or so old that every list has read it since.
fn entries_in_logs(logs: impl Iterator<Item = String>, stamp: i64, now: i64) -> Vec<Item> {
    // By two clocks, each of which may be wrong.
    let is_late = now - stamp > ms(limits::COMMIT_MAX) - 2 * ms(limits::CLOCK_SKEW_MAX);
    if !is_late || now - stamp > ms(limits::LATE_WRITES_WINDOW) {
        return Vec::new();
    }
    let entry = |log: String| {
        let at: Key = keys::with_sort(log, &keys::log_entry(now, Uuid::now_v7()));
        let mut entry = log::entry(at, now, &[]);
        entry.insert(READ_FROM.to_owned(), AttributeValue::N(stamp.to_string()));
        entry
    };
    logs.map(entry).collect()
}

/// How far back the log is to be read, by what a reading found.
pub(super) fn read_from<'a>(entries: impl IntoIterator<Item = &'a Item>) -> Option<i64> {
    entries.into_iter().filter_map(|entry| number(entry, READ_FROM)).min()
}

/// What names the entry of a late write. None for any other.
pub(super) fn name(entry: &Item) -> Option<&str> {
    number::<i64>(entry, READ_FROM).and_then(|_| text(entry, SORT))
}

/// What a reading of the log found of late writes.
#[derive(Debug)]
pub(super) struct FoundLate {
    /// The stamp from which on the log is to be read once more, if this reading began at a later one.
    pub read_from: Option<i64>,
    /// The entries that the reader has once it applied what it read.
    pub names: HashSet<String>,
}

impl FoundLate {
    /// Of a reading from a stamp on, by a reader that has some of these entries.
    pub(super) fn of(entries: &[Item], stamp_ms: i64, known: &HashSet<String>) -> Self {
        let unknown = entries.iter().filter(|entry| name(entry).is_some_and(|name| !known.contains(name)));
        let read_from = read_from(unknown).filter(|stamp| *stamp < stamp_ms);
        let mut names: HashSet<String> = entries.iter().filter_map(name).map(ToOwned::to_owned).collect();
        if read_from.is_none() {
            // An entry that came during this reading may be of a write that came when its stamp had been read. A later
            // reading has the write if it reads that stamp anyway, or else reads from there once.
            names.retain(|name| known.contains(name));
        }
        Self { read_from, names }
    }
}

impl Store {
    /// Makes lists find what a call wrote, before the item that answers its repeats does so.
    pub(in crate::store) async fn acknowledge_late(&self, answered: &Item) -> Result<(), StoreError> {
        self.put_entries(entries(answered, Timestamp::now().unix_ms())).await
    }

    async fn put_entries(&self, entries: Vec<Item>) -> Result<(), StoreError> {
        try_join_all(entries.into_iter().map(|entry| self.put(entry, PutIf::Any))).await.map(drop)
    }
}

impl OrgStore {
    /// Makes lists that begin from now on have a record that a create found by its reference, however late it was written.
    pub(crate) async fn acknowledge_found<T>(&self, rows: Rows, found: &Versioned<T>) -> Result<(), StoreError> {
        let Some(stamp) = found.stamp() else { return Ok(()) };
        let log = std::iter::once(keys::log(self.org, rows));
        self.store.put_entries(entries_in_logs(log, stamp, Timestamp::now().unix_ms())).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::OrgId;
    use crate::store::change::{Change, Expiry};
    use crate::store::keys::{DROP_AT, Rows};

    #[test]
    fn only_a_late_repeat_makes_lists_read_from_the_stamp_of_its_write() {
        let (org, stamp) = (OrgId::new(), 1_790_000_000_000);
        let expiring = |attribute| {
            let item = keys::idempotency(org, "key").into_item();
            Change::PutIfExpired(item, Expiry { attribute, now: stamp / 1000 })
        };
        let mut changes = [expiring(DROP_AT), expiring("claimed_until")];
        let lists = [(org, Rows::Contacts), (org, Rows::Workspaces)];
        log::note(&mut changes, stamp, lists.iter());
        let [Change::PutIfExpired(answered, _), Change::PutIfExpired(claim, _)] = &changes else { unreachable!() };
        assert!(entries(claim, stamp + 60_000).is_empty());
        for (age, is_late) in [(0, false), (18_000, false), (18_001, true), (600_000, true), (600_001, false)] {
            let entries = entries(answered, stamp + age);
            assert_eq!(entries.len(), if is_late { 2 } else { 0 }, "{age} ms");
            assert_eq!(read_from(&entries), is_late.then_some(stamp), "{age} ms");
            for (entry, (org, rows)) in entries.iter().zip(lists) {
                assert_eq!(Key::of(entry).unwrap().partition(), keys::log(org, rows));
                assert!(log::read(entry).unwrap().is_empty());
            }
        }
    }

    #[test]
    fn a_reader_has_a_late_write_once_it_reads_the_log_from_its_stamp_after_it_found_the_entry() {
        let (org, stamp) = (OrgId::new(), 1_790_000_000_000);
        let mut changes = [Change::PutIfExpired(
            keys::idempotency(org, "key").into_item(),
            Expiry { attribute: DROP_AT, now: stamp / 1000 },
        )];
        log::note(&mut changes, stamp, [(org, Rows::Contacts)].iter());
        let [Change::PutIfExpired(answered, _)] = &changes else { unreachable!() };
        let (entries, nothing) = (entries(answered, stamp + 60_000), HashSet::new());

        let within = FoundLate::of(&entries, stamp, &nothing);
        assert_eq!((within.read_from, within.names.len()), (None, 0), "it may have come after its stamp was read");
        let beyond = FoundLate::of(&entries, stamp + 1, &nothing);
        assert_eq!((beyond.read_from, beyond.names.len()), (Some(stamp), 1));
        let again = FoundLate::of(&entries, stamp + 1, &beyond.names);
        assert_eq!((again.read_from, again.names), (None, beyond.names), "the reader has it");
    }
}
