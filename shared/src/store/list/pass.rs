//! Passes over all rows of a list, in ranges side by side.
//!
//! Rows sort by ids, which begin with their time. Nothing says how many rows a time has, so ranges are found on the way:
//! while there is room for another, the last one is split where a few more responses as wide as the one before should
//! end. What remains of a range that was too long is split again, so ranges end up balanced, whether records came
//! evenly, in an import, or both. Each part of a list that is [spread](super::spread) is one more range at first.

use futures_util::stream::{FuturesUnordered, StreamExt};
use uuid::Uuid;

use super::ID;
use super::held_rows::HeldRows;
use super::log::Written;
use super::spread::{self, List};
use crate::domain::ids::OrgId;
use crate::limits;
use crate::store::item::{Item, VERSION, text};
use crate::store::keys::{self, Key, PARTITION, Rows, SORT};
use crate::store::query::Query;
use crate::store::record_kind::OwnRows;
use crate::store::{Store, StoreError};

/// A pass over the rows of a list.
#[derive(Debug)]
pub(super) struct Pass {
    list: List,
    own: Option<OwnRows>,
    attributes: Vec<&'static str>,
    /// Whether the list has parts.
    pub is_spread: bool,
    /// Of each response.
    read: Vec<HeldRows>,
    /// Memory of what was read, and how much there may be, in bytes.
    bytes: usize,
    bytes_max: usize,
    unreadable: u64,
}

/// Rows behind a key, up to an id.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Range {
    after: Item,
    to: Option<u128>,
    /// How far apart the ids of the response before were.
    width: u128,
}

impl Range {
    /// A part that a few responses should suffice for, or half of it, and the rest. No rest if there is no id between.
    fn split(self, newest: u128) -> (Self, Option<Self>) {
        let (Some(begin), Some(key)) = (id_at(&self.after), Key::of(&self.after)) else { return (self, None) };
        let half = self.to.unwrap_or(newest).saturating_sub(begin) / 2;
        let step = self.width.saturating_mul(limits::ROW_RANGE_RESPONSES.into()).min(half);
        if step == 0 {
            return (self, None);
        }
        let middle = begin + step;
        let after = keys::with_sort(key.partition().to_owned(), &Uuid::from_u128(middle).to_string()).into_item();
        (Self { to: Some(middle), ..self.clone() }, Some(Self { after, ..self }))
    }

    /// All rows of a partition.
    fn all(partition: String) -> Self {
        Self { after: keys::with_sort(partition, &Uuid::nil().to_string()).into_item(), to: None, width: 0 }
    }

    fn query<'a>(&self, attributes: &'a [&'a str]) -> Query<'a> {
        let [partition, from] = [PARTITION, SORT].map(|name| text(&self.after, name).unwrap_or_default());
        let all = Query::of(partition.to_owned()).only(attributes);
        match self.to {
            Some(to) => all.between(from, Uuid::from_u128(to)),
            None => all.from(from.to_owned()),
        }
    }
}

/// The id that a sort key begins with.
fn id_at(key: &Item) -> Option<u128> {
    let id = text(key, SORT)?.split('#').next()?;
    id.parse::<Uuid>().ok().map(|id| id.as_u128())
}

/// The largest id of a moment, in milliseconds since 1970.
fn newest_at(now: i64) -> u128 {
    (u128::try_from(now).unwrap_or_default() + 1) << 80
}

fn width_of(items: &[Item]) -> u128 {
    let ends = items.first().and_then(id_at).zip(items.last().and_then(id_at));
    ends.map_or(0, |(first, last)| last.saturating_sub(first))
}

impl Pass {
    pub(super) fn new(org: OrgId, kind: Rows, bytes_max: usize) -> Self {
        let own = kind.own();
        let attributes = own.iter().flat_map(|own| [SORT, ID, VERSION].iter().chain(own.attributes)).copied().collect();
        let (is_spread, read, bytes, unreadable) = (false, Vec::new(), 0, 0);
        Self { list: (org, kind), own, attributes, is_spread, read, bytes, bytes_max, unreadable }
    }

    /// Reads the first rows. Returns what there may be besides.
    pub(super) async fn begin(&mut self, store: &Store, rows_max: usize) -> Result<Vec<Range>, StoreError> {
        let (org, kind) = self.list;
        let limit = i32::try_from(rows_max).unwrap_or(i32::MAX);
        let first = Query::of(keys::rows(org, kind)).only(&self.attributes).limit(limit);
        let mut page = store.page_of(&first, None).await?;
        self.is_spread = spread::take_mark(&mut page.items, &keys::rows_are_spread(org, kind));
        let width = width_of(&page.items);
        self.take(page.items)?;
        let parts =
            spread::parts().filter(|_| self.is_spread).map(|part| Range::all(keys::spread_rows(org, kind, part)));
        Ok(page.next.map(|after| Range { after, to: None, width }).into_iter().chain(parts).collect())
    }

    pub(super) async fn go_on(&mut self, store: &Store, rest: Vec<Range>, now: i64) -> Result<(), StoreError> {
        let (mut waiting, newest) = (rest, newest_at(now));
        let attributes = self.attributes.clone();
        let mut under_way = FuturesUnordered::new();
        loop {
            while under_way.len() + waiting.len() < limits::ROW_RANGES_AT_ONCE
                && let Some(last) = waiting.pop()
            {
                let (range, rest) = last.split(newest);
                let is_whole = rest.is_none();
                waiting.push(range);
                waiting.extend(rest);
                if is_whole {
                    break;
                }
            }
            under_way.extend(waiting.drain(..).map(|range| read_range(store, &attributes, range)));
            let Some(answer) = under_way.next().await else { return Ok(()) };
            let (items, rest) = answer?;
            waiting.extend(rest);
            self.take(items)?;
        }
    }

    fn take(&mut self, items: Vec<Item>) -> Result<(), StoreError> {
        let mut rows = HeldRows::default();
        for item in items {
            match self.own.map_or_else(|| Written::of_row(&item), |own| Written::of_own_row(&item, own)) {
                Some(Written { id, version, row }) => rows.apply(id, version, row.as_ref()),
                None => self.unreadable += 1,
            }
        }
        self.bytes += rows.bytes();
        self.read.push(rows);
        if self.bytes <= self.bytes_max {
            return Ok(());
        }
        let (kind, max) = (self.list.1.as_str(), self.bytes_max >> 20);
        Err(StoreError::Failed(format!("the rows of {kind} take more than {max} MiB: functions need more memory")))
    }

    pub(super) fn into_rows(self) -> Result<HeldRows, StoreError> {
        let Self { mut read, unreadable, .. } = self;
        if unreadable > 0 {
            return Err(StoreError::Unreadable(format!("{unreadable} rows without an id or a version")));
        }
        if read.len() <= 1 {
            return Ok(read.pop().unwrap_or_default());
        }
        // Side by side ranges come in any order, and those of own rows and of parts have ids of all times.
        let of_response =
            |(at, rows): (usize, &HeldRows)| rows.ids().map(move |(id, slot)| (id, at, slot)).collect::<Vec<_>>();
        let mut all: Vec<(Uuid, usize, usize)> = read.iter().enumerate().flat_map(of_response).collect();
        all.sort_unstable();
        let mut left: Vec<usize> = read.iter().map(|rows| rows.ids().count()).collect();
        let mut rows = HeldRows::default();
        for (_, at, slot) in all {
            rows.take(&read[at], slot);
            left[at] -= 1;
            // What is taken whole is not kept twice: a list may fill much of the memory.
            if left[at] == 0 {
                read[at] = HeldRows::default();
            }
        }
        Ok(rows)
    }
}

async fn read_range(
    store: &Store,
    attributes: &[&'static str],
    range: Range,
) -> Result<(Vec<Item>, Option<Range>), StoreError> {
    let page = store.page_of(&range.query(attributes), Some(range.after.clone())).await?;
    let width = width_of(&page.items);
    Ok((page.items, page.next.map(|after| Range { after, width, ..range })))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const NOW: i64 = 1_790_000_000_000;
    const PAGE: usize = 10;

    fn key(id: u128) -> Item {
        Key::from_parts("rows", &Uuid::from_u128(id).to_string()).into_item()
    }

    /// The ids that a pass reads, and how many rounds of side by side responses it takes.
    fn passed_over(ids: &BTreeSet<u128>) -> (Vec<u128>, usize) {
        let page = |range: &Range| {
            let after = id_at(&range.after).unwrap();
            let mut behind = ids.range(after + 1..).copied().take_while(|id| range.to.is_none_or(|to| *id <= to));
            let items: Vec<Item> = behind.by_ref().take(PAGE).map(key).collect();
            let width = width_of(&items);
            let rest = behind.next().and(items.last().cloned()).map(|after| Range { after, width, ..range.clone() });
            (items, rest)
        };
        let first = Range { after: key(0), to: None, width: 0 };
        let (mut read, rest) = page(&first);
        let (mut waiting, mut rounds): (Vec<Range>, usize) = (rest.into_iter().collect(), 1);
        while !waiting.is_empty() {
            rounds += 1;
            while waiting.len() < limits::ROW_RANGES_AT_ONCE {
                let Some(last) = waiting.pop() else { break };
                let (range, rest) = last.split(newest_at(NOW));
                let is_whole = rest.is_none();
                waiting.extend([range].into_iter().chain(rest));
                if is_whole {
                    break;
                }
            }
            for range in std::mem::take(&mut waiting) {
                let (items, rest) = page(&range);
                read.extend(items);
                waiting.extend(rest);
            }
        }
        (read.iter().filter_map(id_at).collect(), rounds)
    }

    #[test]
    fn ranges_have_every_row_once_and_are_balanced_however_records_came() {
        let at = |ms: u128, n: u128| (ms << 80) + (n << 40) + 7;
        let (now, year) = (u128::try_from(NOW).unwrap(), 31_536_000_000_u128);
        let evenly: BTreeSet<u128> = (0..800).map(|n| at(now - year + n * year / 800, n)).collect();
        let imported: BTreeSet<u128> = (0..800).map(|n| at(now - year + n * 5, n)).collect();
        let at_once: BTreeSet<u128> = (0..800).map(|n| at(now, n)).collect();
        let both: BTreeSet<u128> = evenly.iter().chain(&imported).copied().collect();
        let ahead: BTreeSet<u128> = (0..200).map(|n| at(now + 3_000, n)).collect();
        for (came, ids, rounds_max) in [
            ("evenly", evenly, 30),
            ("imported", imported, 30),
            ("at once", at_once, 30),
            ("both", both, 60),
            ("by a clock that is ahead", ahead, 20),
            ("not", BTreeSet::new(), 1),
        ] {
            let (mut read, rounds) = passed_over(&ids);
            read.sort_unstable();
            assert_eq!(read, ids.iter().copied().collect::<Vec<_>>(), "{came}");
            assert!(rounds <= rounds_max, "{came}: {rounds} rounds for {} responses", ids.len() / PAGE);
        }
    }

    #[test]
    fn a_key_that_begins_with_no_id_is_not_split() {
        let after = Key::from_parts("rows", "else").into_item();
        let range = Range { after, to: None, width: 1 << 90 };
        assert_eq!(range.clone().split(newest_at(NOW)), (range, None));
    }
}
