//! Lists are read in one way: the rows in memory, as of now, yield matches, total and page; then the page's records.

mod held_row;
mod held_rows;
mod late;
mod log;
mod pass;
mod row_files;
#[cfg(test)]
mod simulation;
mod snapshots;
mod spread;
mod stored;

use std::fmt::Display;
use std::marker::PhantomData;
use std::time::Duration;

use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::item::{Versioned, from_versioned_item};
use super::keys::{self, Key, Rows};
use super::{OrgStore, StoreError};
use crate::wire::page::{Order, Page, PageRequest, Shelf};

pub(super) use held_row::{HeldRow, OwnedRow};
use held_rows::HeldRows;
pub(super) use log::{RowWrite, count_of_added, logged};
pub use row_files::RowFileStore;
pub(super) use snapshots::Snapshots;
pub(super) use spread::{List, spread_row};

fn ms(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

pub(super) const ID: &str = "id";
pub(super) const TEXT: &str = "s";
/// The sort key of a record that is its own row.
pub(super) const AT: &str = "at";

/// A row attribute that a filter compares, with the type of its value: rows write what filters ask for.
#[derive(Debug)]
pub(super) struct Attribute<T> {
    /// Short, since every row has it.
    pub name: &'static str,
    value: PhantomData<fn(&T)>,
}

impl<T> Attribute<T> {
    pub(super) const fn named(name: &'static str) -> Self {
        Self { name, value: PhantomData }
    }
}

/// Where a record is that is not current. The rows of current ones don't have it.
pub(super) const SHELF: Attribute<Shelf> = Attribute::named("h");

/// A page of what a list found, and how many there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Slice<T> {
    pub found: Vec<T>,
    pub total: u64,
}

type Condition<'a> = Box<dyn Fn(HeldRow<'_>) -> bool + Send + Sync + 'a>;

#[derive(Default)]
pub(super) struct RowFilter<'a> {
    needle: Option<&'a str>,
    conditions: Vec<Condition<'a>>,
}

impl<'a> RowFilter<'a> {
    /// Rows whose folded text contains the folded needle, if any.
    pub(super) fn containing(needle: Option<&'a str>) -> Self {
        Self { needle, ..Self::default() }
    }

    /// Keeps rows whose attribute equals the value; all rows without a value.
    pub(super) fn equal<T: Display>(self, attribute: &Attribute<T>, wanted: Option<T>) -> Self {
        let Some(wanted) = wanted.map(|wanted| wanted.to_string()) else { return self };
        let name = attribute.name;
        self.matching(move |row| row.text(name) == Some(wanted.as_str()))
    }

    /// Keeps the rows of records that are there.
    pub(super) fn on(self, wanted: Shelf) -> Self {
        match wanted {
            Shelf::All => self,
            Shelf::Current => self.matching(|row| row.bytes(SHELF.name).is_none()),
            Shelf::Archived | Shelf::Merged => self.equal(&SHELF, Some(wanted)),
        }
    }

    pub(super) fn matching(mut self, condition: impl Fn(HeldRow<'_>) -> bool + Send + Sync + 'a) -> Self {
        self.conditions.push(Box::new(condition));
        self
    }

    /// The positions of rows that pass the filter, oldest first.
    fn matches(&self, rows: &HeldRows) -> Vec<usize> {
        let found = self.needle.map(|needle| rows.containing(needle));
        let passes = |position: &usize| {
            found.as_ref().is_none_or(|found| found[*position])
                && (self.conditions.is_empty()
                    || rows.at(*position).is_some_and(|row| self.conditions.iter().all(|condition| condition(row))))
        };
        (0..rows.count()).filter(passes).collect()
    }

    fn slice_of<T>(
        &self,
        rows: &HeldRows,
        order: Order,
        page: PageRequest,
        take: impl Fn(HeldRow<'_>) -> T,
    ) -> Slice<T> {
        let mut matches = self.matches(rows);
        match order {
            Order::OldestFirst => {}
            Order::NewestFirst | Order::ByDue | Order::ByAmount => matches.reverse(),
            Order::ByName => matches.sort_by_key(|position| rows.at(*position).map(|row| row.searched())),
        }
        let on_page = page.positions().map_while(|number| matches.get(usize::try_from(number).ok()?));
        let found = on_page.filter_map(|position| rows.at(*position)).map(take).collect();
        Slice { found, total: u64::try_from(matches.len()).unwrap_or(u64::MAX) }
    }
}

impl OrgStore {
    /// The ids of a page, and how many records pass the filter.
    pub(super) async fn slice(
        &self,
        kind: Rows,
        order: Order,
        filter: &RowFilter<'_>,
        page: PageRequest,
    ) -> Result<Slice<Uuid>, StoreError> {
        self.slice_of(kind, order, filter, page, |row| row.id()).await
    }

    /// What `take` makes of the rows of a page, and how many rows pass the filter.
    pub(super) async fn slice_of<T>(
        &self,
        kind: Rows,
        order: Order,
        filter: &RowFilter<'_>,
        page: PageRequest,
        take: impl Fn(HeldRow<'_>) -> T,
    ) -> Result<Slice<T>, StoreError> {
        self.with_rows(kind, |rows| filter.slice_of(rows, order, page, take)).await
    }

    /// A page of records that are their own rows.
    pub(super) async fn list_of_own_rows<T: DeserializeOwned>(
        &self,
        kind: Rows,
        order: Order,
        filter: &RowFilter<'_>,
        page: PageRequest,
    ) -> Result<Page<T>, StoreError> {
        let sort_key = |row: HeldRow<'_>| row.text(AT).unwrap_or_default().to_owned();
        let slice = self.slice_of(kind, order, filter, page, sort_key).await?;
        let partition = keys::rows(self.org, kind);
        let wanted: Vec<Key> = slice.found.iter().map(|sort| keys::with_sort(partition.clone(), sort)).collect();
        let found = self.store.get_all(&wanted).await?.into_iter().map(from_versioned_item);
        let records = found.map(|record| record.map(Versioned::into_inner)).collect::<Result<_, _>>()?;
        Ok(Page::new(records, slice.total, page))
    }

    /// Calls `visit` with each row of a list, oldest first.
    pub(super) async fn each_row(&self, kind: Rows, visit: impl FnMut(HeldRow<'_>)) -> Result<(), StoreError> {
        self.with_rows(kind, |rows| (0..rows.count()).filter_map(|at| rows.at(at)).for_each(visit)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_a_part_of_what_passes_in_the_order_asked_for() {
        let (mut rows, texts) = (HeldRows::default(), ["mira", "zoe", "ada", "ann"]);
        for text in texts {
            let row = OwnedRow { text: text.to_owned(), attributes: Vec::new() };
            rows.apply(Uuid::now_v7(), 1, Some(&row));
        }
        let slice = |order, needle, limit, offset| {
            let page = PageRequest::new(limit, offset);
            let slice = RowFilter::containing(needle).slice_of(&rows, order, page, |row| row.searched().to_owned());
            (slice.found.join(" "), slice.total)
        };
        assert_eq!(slice(Order::OldestFirst, None, 3, 0), ("mira zoe ada".to_owned(), 4));
        assert_eq!(slice(Order::OldestFirst, None, 3, 3), ("ann".to_owned(), 4));
        assert_eq!(slice(Order::NewestFirst, None, 2, 1), ("ada zoe".to_owned(), 4));
        assert_eq!(slice(Order::ByName, None, 9, 0), ("ada ann mira zoe".to_owned(), 4));
        assert_eq!(slice(Order::ByName, Some("a"), 2, 1), ("ann mira".to_owned(), 3));
        assert_eq!(slice(Order::NewestFirst, Some("none"), 9, 0), (String::new(), 0));
        assert_eq!(slice(Order::NewestFirst, Some("a"), 9, 7), (String::new(), 3));
    }
}
