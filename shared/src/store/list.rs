//! Lists are read in one way: a pass over compact rows yields matches, total and page; then the page's records.

use std::fmt::Display;
use std::marker::PhantomData;

use uuid::Uuid;

use super::item::{Item, text};
use super::keys::{self, Key, Rows, SORT};
use super::query::Query;
use super::{OrgStore, StoreError};
use crate::wire::page::PageRequest;

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

type Condition<'a> = Box<dyn Fn(&Item) -> bool + Send + Sync + 'a>;

#[derive(Default)]
pub(super) struct RowFilter<'a> {
    needle: Option<&'a str>,
    attributes: Vec<&'static str>,
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
        self.matching(&[name], move |row| text(row, name) == Some(wanted.as_str()))
    }

    pub(super) fn matching(
        mut self,
        attributes: &[&'static str],
        condition: impl Fn(&Item) -> bool + Send + Sync + 'a,
    ) -> Self {
        self.attributes.extend(attributes);
        self.conditions.push(Box::new(condition));
        self
    }

    fn attributes(&self) -> Vec<&'static str> {
        let text = self.needle.map(|_| TEXT);
        let mut names: Vec<&str> = [SORT].into_iter().chain(text).chain(self.attributes.iter().copied()).collect();
        // Two conditions may use one attribute, which a query may name once.
        names.sort_unstable();
        names.dedup();
        names
    }

    fn fits(&self, row: &Item) -> bool {
        let contains = self.needle.is_none_or(|needle| text(row, TEXT).is_some_and(|text| text.contains(needle)));
        contains && self.conditions.iter().all(|condition| condition(row))
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
        let mut attributes = filter.attributes();
        attributes.push(ID);
        let (mut found, mut unreadable): (Vec<(Uuid, String)>, u64) = (Vec::new(), 0);
        self.store
            .each(Query::of(partition.clone()).beginning(prefix.to_owned()).only(&attributes), |row| {
                if !filter.fits(&row) {
                    return;
                }
                match (text(&row, ID).and_then(|id| id.parse().ok()), text(&row, SORT)) {
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
        let positions = page.positions();
        let mut slice = Slice { ids: Vec::new(), total: 0 };
        let mut unreadable = 0_u64;
        let attributes = filter.attributes();
        let query = Query::of(keys::rows(self.org, kind)).only(&attributes);
        let query = if order == Order::OldestFirst { query } else { query.backward() };
        self.store
            .each(query, |row| {
                if !filter.fits(&row) {
                    return;
                }
                if positions.contains(&slice.total) {
                    match text(&row, SORT).and_then(|id| id.parse().ok()) {
                        Some(id) => slice.ids.push(id),
                        None => unreadable += 1,
                    }
                }
                slice.total += 1;
            })
            .await?;
        if unreadable > 0 {
            return Err(StoreError::Failed(format!("{unreadable} rows without an id")));
        }
        Ok(slice)
    }
}
