//! Lists are read in one way: the rows in memory, as of now, yield matches, total and page; then the page's records.

mod held_row;
mod held_rows;
mod log;
#[cfg(test)]
mod simulation;
mod snapshots;

use std::fmt::Display;
use std::marker::PhantomData;

use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::item::{Versioned, from_versioned_item};
use super::keys::{self, Key, Rows};
use super::{OrgStore, StoreError};
use crate::wire::page::{Page, PageRequest};

pub(super) use held_row::{HeldRow, OwnedRow};
use held_rows::HeldRows;
pub(super) use log::{RowWrite, count_of_entries, logged};
pub(super) use snapshots::Snapshots;

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

/// Where a list begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// With the oldest record, as clients get all lists.
    #[default]
    OldestFirst,
    /// With the newest record, as some pages show them.
    NewestFirst,
}

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
    /// The attributes that conditions compare.
    attributes: Vec<&'static str>,
    conditions: Vec<Condition<'a>>,
}

impl<'a> RowFilter<'a> {
    /// Rows whose folded text contains the folded needle, if any.
    pub(super) fn containing(needle: Option<&'a str>) -> Self {
        Self { needle, ..Self::default() }
    }

    /// Keeps rows whose attribute equals the value; all rows without a value.
    pub(super) fn equal<T: Display>(mut self, attribute: &Attribute<T>, wanted: Option<T>) -> Self {
        let Some(wanted) = wanted.map(|wanted| wanted.to_string()) else { return self };
        let name = attribute.name;
        self.attributes.push(name);
        self.matching(move |row| row.text(name) == Some(wanted.as_str()))
    }

    pub(super) fn matching(mut self, condition: impl Fn(HeldRow<'_>) -> bool + Send + Sync + 'a) -> Self {
        self.conditions.push(Box::new(condition));
        self
    }

    fn meets_conditions(&self, row: HeldRow<'_>) -> bool {
        self.conditions.iter().all(|condition| condition(row))
    }

    fn slice_of<T>(
        &self,
        rows: &HeldRows,
        order: Order,
        page: PageRequest,
        take: impl Fn(HeldRow<'_>) -> T,
    ) -> Slice<T> {
        let count = rows.count();
        let at = |number: usize| match order {
            Order::OldestFirst => number,
            Order::NewestFirst => count - 1 - number,
        };
        let on_page = page.positions();
        let mut slice = Slice { found: Vec::new(), total: 0 };
        if self.needle.is_none() && self.conditions.is_empty() {
            slice.total = u64::try_from(count).unwrap_or(u64::MAX);
            let numbers = on_page.map_while(|number| usize::try_from(number).ok().filter(|number| *number < count));
            slice.found = numbers.filter_map(|number| rows.at(at(number))).map(take).collect();
            return slice;
        }
        let found = self.needle.map(|needle| rows.containing(needle));
        for position in (0..count).map(at) {
            if found.as_ref().is_some_and(|found| !found[position]) {
                continue;
            }
            let Some(row) = rows.at(position).filter(|row| self.meets_conditions(*row)) else { continue };
            if on_page.contains(&slice.total) {
                slice.found.push(take(row));
            }
            slice.total += 1;
        }
        slice
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

    /// A page of records that are their own rows, oldest first.
    pub(super) async fn list_of_own_rows<T: DeserializeOwned>(
        &self,
        kind: Rows,
        filter: &RowFilter<'_>,
        page: PageRequest,
    ) -> Result<Page<T>, StoreError> {
        let sort_key = |row: HeldRow<'_>| row.text(AT).unwrap_or_default().to_owned();
        let slice = self.slice_of(kind, Order::OldestFirst, filter, page, sort_key).await?;
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
