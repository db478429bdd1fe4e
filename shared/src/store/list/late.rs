//! Writes that only a repeat of their call acknowledges, perhaps long after they were stamped.
//!
//! A request may hang in the network and take effect after its call was answered as failed. A repeat with the same
//! idempotency key or form copy finds that write and acknowledges it. A list that was read before the write took effect
//! goes back only [`LOG_WINDOW`](limits::LOG_WINDOW) in the log the next time, and the stamp of the write may be older.
//! So the item that answers repeats names the logs that its transaction wrote to, and the stamp. A late repeat first
//! puts an entry without rows into each of these logs; a list that finds the entry reads the log from that stamp on.
//!
//! Some acts find their effect there without such an item, for example the later parts of a form that is sent again.
//! Lists show what those wrote within a minute, like any write that nobody acknowledged
//! ([`LATE_WRITES_INTERVAL`](limits::LATE_WRITES_INTERVAL)).
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
use crate::store::item::{Item, STAMP, number, text};
use crate::store::keys::{self, Key, SORT};
use crate::store::table::PutIf;
use crate::store::{Store, StoreError};

/// Of an entry: the stamp from which on the log is to be read.
const READ_FROM: &str = "r";

/// The entries to be written before a repeat is answered: none if the write is so young that every list reads its stamp
/// anyway, or so old that every list has read it since.
pub(super) fn entries(answered: &Item, now: i64) -> Vec<Item> {
    let Some(stamp) = number::<i64>(answered, STAMP) else { return Vec::new() };
    // By two clocks, each of which may be wrong; `now` is when the call began.
    let is_late = now - stamp > ms(limits::COMMIT_MAX) - 2 * ms(limits::CLOCK_SKEW_MAX);
    if !is_late || now - stamp > ms(limits::LATE_WRITES_WINDOW) {
        return Vec::new();
    }
    let logs = answered.get(log::LOGS).and_then(|logs| logs.as_l().ok()).into_iter().flatten();
    let entry = |log: &String| {
        let at: Key = keys::with_sort(log.clone(), &keys::log_entry(now, Uuid::now_v7()));
        let mut entry = log::entry(at, now, &[]);
        entry.insert(READ_FROM.to_owned(), AttributeValue::N(stamp.to_string()));
        entry
    };
    logs.filter_map(|log| log.as_s().ok()).map(entry).collect()
}

/// How far back the log is to be read, by what a reading found.
pub(super) fn read_from<'a>(entries: impl IntoIterator<Item = &'a Item>) -> Option<i64> {
    entries.into_iter().filter_map(|entry| number(entry, READ_FROM)).min()
}

/// What names the entry of a late write. None for any other.
pub(super) fn name(entry: &Item) -> Option<&str> {
    number::<i64>(entry, READ_FROM).and_then(|_| text(entry, SORT))
}

pub(super) fn entries_in(entries: &[Item]) -> HashSet<String> {
    entries.iter().filter_map(name).map(ToOwned::to_owned).collect()
}

impl Store {
    /// Makes lists find what a call wrote, before the item that answers its repeats does so.
    pub(in crate::store) async fn acknowledge_late(&self, answered: &Item, now: Timestamp) -> Result<(), StoreError> {
        let entries = entries(answered, now.unix_ms()).into_iter().map(|entry| self.put(entry, PutIf::Any));
        try_join_all(entries).await.map(drop)
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
        for (age, is_late) in [(0, false), (8_000, false), (8_001, true), (600_000, true), (600_001, false)] {
            let entries = entries(answered, stamp + age);
            assert_eq!(entries.len(), if is_late { 2 } else { 0 }, "{age} ms");
            assert_eq!(read_from(&entries), is_late.then_some(stamp), "{age} ms");
            for (entry, (org, rows)) in entries.iter().zip(lists) {
                assert_eq!(Key::of(entry).unwrap().partition(), keys::log(org, rows));
                assert!(log::read(entry).unwrap().is_empty());
            }
        }
    }
}
