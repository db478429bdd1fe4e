//! Lists that so many write to that their rows and their log are spread over partitions.
//!
//! A list has one partition of rows and one of its log, each of which takes about 500 transactions a second. When the
//! table throttles one of the two, the writer that it throttles marks the list. From then on a transaction puts its entry
//! into any of [`LIST_PARTS`](limits::LIST_PARTS) parts of the log, and its rows into the parts that their ids say.
//! Readers read the undivided partitions and, if the list is marked, all parts.
//!
//! The marks are there before the first write to a part. They are items of the undivided partitions, which every reader
//! reads, strongly consistent: a reading that begins after a write to a part was acknowledged finds the mark. So no
//! instance has to be told, and a list that isn't spread costs nothing more.
//!
//! - Decision: writers go by what they know. One that has not met the throttling yet writes undivided, which is as good:
//!   a row may then be in both places, and the one with the later version counts, as in the log. So every deletion
//!   deletes both. And a pass over the rows of a spread list is followed by a reading of its log, as far back as writes may
//!   come late: while the later row is deleted, the pass may find the older one alone.
//! - Decision: a writer whose other items are throttled too, such as its audit row, marks nothing. Then the whole table
//!   or another partition is what takes no more, and spreading lists would not help.
//! - Decision: a mark stays. A list that was once so busy may be again, and costs its readers eight read units.
//! - Decision: records that are their own rows aren't spread, since a workspace's funding is read as one range; only the
//!   log of their list is.

use std::collections::HashSet;
use std::sync::{PoisonError, RwLock};

use uuid::Uuid;

use crate::domain::ids::OrgId;
use crate::limits;
use crate::store::Store;
use crate::store::change::Change;
use crate::store::item::Item;
use crate::store::keys::{self, Key, Rows};

/// A list of an organization.
pub(in crate::store) type List = (OrgId, Rows);

/// The lists that this process knows to be spread.
#[derive(Debug, Default)]
pub(in crate::store) struct SpreadLists(RwLock<HashSet<List>>);

impl SpreadLists {
    pub(in crate::store) fn has(&self, list: List) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).contains(&list)
    }

    pub(super) fn add(&self, list: List) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(list);
    }
}

pub(super) fn parts() -> std::ops::Range<u8> {
    0..limits::LIST_PARTS
}

/// The part in which a row is. Ids end at random.
pub(super) fn part_of(id: Uuid) -> u8 {
    id.as_bytes()[15] % limits::LIST_PARTS
}

/// Where a row is if its list is spread and its writer knew that.
pub(in crate::store) fn spread_row((org, rows): List, id: Uuid) -> Key {
    keys::with_sort(keys::spread_rows(org, rows, part_of(id)), &id.to_string())
}

/// The items that say of a list that it is spread. Rows that are records themselves have none: they stay where they are.
pub(super) fn marks((org, rows): List) -> impl Iterator<Item = Key> {
    let of_rows = rows.own().is_none().then(|| keys::rows_are_spread(org, rows));
    of_rows.into_iter().chain([keys::log_is_spread(org, rows)])
}

/// Whether the mark is among the items of the undivided partitions. Takes it out.
pub(super) fn take_mark(items: &mut Vec<Item>, mark: &Key) -> bool {
    let before = items.len();
    items.retain(|item| !mark.is_of(item));
    items.len() < before
}

impl Store {
    /// Spreads lists whose partitions were throttled. If a mark can't be written, the next throttling tries again.
    pub(in crate::store) async fn spread(&self, throttled: HashSet<List>) {
        for list in throttled.into_iter().filter(|list| !self.snapshots.spread().has(*list)) {
            let marked = marks(list).map(|mark| Change::Put(mark.into_item())).collect();
            // It has no rows, so this does not come back here.
            match Box::pin(self.transact(marked)).await {
                Ok(_) => {
                    self.snapshots.spread().add(list);
                    tracing::info!(list = list.1.as_str(), "a list is spread over partitions");
                }
                Err(why) => tracing::warn!(list = list.1.as_str(), %why, "a list was not spread over partitions"),
            }
        }
    }
}
