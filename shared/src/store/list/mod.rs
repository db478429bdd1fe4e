//! Lists are read in one way: the rows in memory, as of now, yield matches, total and page; then the page's records.

mod held_row;
mod held_rows;
mod log;
#[cfg(test)]
mod simulation;
mod snapshots;

use std::fmt::Display;
use std::marker::PhantomData;

use uuid::Uuid;

use super::item::{Item, text};
use super::keys::{self, Key, Rows, SORT};
use super::query::Query;
use super::{OrgStore, StoreError};
use crate::wire::page::PageRequest;

pub(super) use held_row::{HeldRow, OwnedRow};
use held_rows::HeldRows;
pub(super) use log::{RowWrite, count_of_entries, logged};
pub(super) use snapshots::Snapshots;

pub(super) const ID: &str = "id";
pub(super) const TEXT: &str = "s";

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

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Slice {
    pub ids: Vec<Uuid>,
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

    fn fits(&self, row: HeldRow<'_>) -> bool {
        self.needle.is_none_or(|needle| row.searched().contains(needle)) && self.meets_conditions(row)
    }

    fn slice_of(&self, rows: &HeldRows, order: Order, page: PageRequest) -> Slice {
        let count = rows.count();
        let at = |number: usize| match order {
            Order::OldestFirst => number,
            Order::NewestFirst => count - 1 - number,
        };
        let on_page = page.positions();
        let mut slice = Slice { ids: Vec::new(), total: 0 };
        if self.needle.is_none() && self.conditions.is_empty() {
            slice.total = u64::try_from(count).unwrap_or(u64::MAX);
            let numbers = on_page.map_while(|number| usize::try_from(number).ok().filter(|number| *number < count));
            slice.ids = numbers.filter_map(|number| rows.at(at(number))).map(|row| row.id()).collect();
            return slice;
        }
        let found = self.needle.map(|needle| rows.containing(needle));
        for position in (0..count).map(at) {
            if found.as_ref().is_some_and(|found| !found[position]) {
                continue;
            }
            let Some(row) = rows.at(position).filter(|row| self.meets_conditions(*row)) else { continue };
            if on_page.contains(&slice.total) {
                slice.ids.push(row.id());
            }
            slice.total += 1;
        }
        slice
    }
}

impl OrgStore {
    /// A page of records that are their own rows: the keys that pass the filter, oldest first, and their number.
    pub(super) async fn slice_of_records(
        &self,
        partition: String,
        prefix: &str,
        filter: &RowFilter<'_>,
        page: PageRequest,
    ) -> Result<(Vec<Key>, u64), StoreError> {
        let mut attributes = vec![SORT, ID];
        attributes.extend(filter.needle.map(|_| TEXT).into_iter().chain(filter.attributes.iter().copied()));
        let (mut found, mut unreadable): (Vec<(Uuid, String)>, u64) = (Vec::new(), 0);
        self.store
            .each(Query::of(partition.clone()).beginning(prefix.to_owned()).only(&attributes), |row| {
                let id = text(&row, ID).and_then(|id| id.parse().ok());
                if !filter.fits(OwnedRow::of(&row).with_id(id.unwrap_or_default())) {
                    return;
                }
                match (id, text(&row, SORT)) {
                    (Some(id), Some(sort)) => found.push((id, sort.to_owned())),
                    _ => unreadable += 1,
                }
            })
            .await?;
        if unreadable > 0 {
            return Err(StoreError::Failed(format!("{unreadable} records without an id")));
        }
        found.sort_unstable();
        let (positions, total) = (page.positions(), u64::try_from(found.len()).unwrap_or(u64::MAX));
        let on_page = (0..).zip(found).filter(|(position, _)| positions.contains(position));
        let keys = on_page.map(|(_, (_, sort))| keys::with_sort(partition.clone(), &sort)).collect();
        Ok((keys, total))
    }

    pub(super) async fn slice(
        &self,
        kind: Rows,
        order: Order,
        filter: &RowFilter<'_>,
        page: PageRequest,
    ) -> Result<Slice, StoreError> {
        self.with_rows(kind, |rows| filter.slice_of(rows, order, page)).await
    }

    /// Calls `visit` with each row of a list, oldest first.
    pub(super) async fn each_row(&self, kind: Rows, visit: impl FnMut(HeldRow<'_>)) -> Result<(), StoreError> {
        self.with_rows(kind, |rows| (0..rows.count()).filter_map(|at| rows.at(at)).for_each(visit)).await
    }
}

/// The id of a row's record, from its sort key.
fn id_of(row: &Item) -> Option<Uuid> {
    text(row, SORT)?.parse().ok()
}
