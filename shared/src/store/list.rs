//! The one way to read lists: a strongly consistent pass over an organization's compact rows, which yields match,
//! exact total and page together; then the page's records.

use aws_sdk_dynamodb::types::AttributeValue;
use uuid::Uuid;

use super::keys::{self, Rows, SORT};
use super::{Item, OrgStore, StoreError};
use crate::wire::page::PageRequest;

/// The attribute of a row that holds the folded text.
pub(super) const TEXT: &str = "s";

/// Where a list begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// With the oldest, as clients get all lists.
    OldestFirst,
    /// With the newest, as some pages show them.
    NewestFirst,
}

/// Which records are on a page, and how many match in all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slice {
    /// The ids of the page, in the order that was asked for.
    pub ids: Vec<Uuid>,
    /// How many rows match.
    pub total: u64,
}

impl OrgStore {
    /// Finds a page of the rows that contain the needle and fit; `fits` sees the attributes named in `filters`.
    pub(super) async fn list(
        &self,
        kind: Rows,
        order: Order,
        needle: Option<&str>,
        filters: &[&str],
        fits: impl Fn(&Item) -> bool,
        page: PageRequest,
    ) -> Result<Slice, StoreError> {
        let positions = page.positions();
        let mut slice = Slice { ids: Vec::new(), total: 0 };
        let mut unreadable = 0_u64;
        let mut attributes = vec![SORT];
        attributes.extend(needle.map(|_| TEXT));
        attributes.extend(filters);
        self.store
            .scan_partition(&keys::rows(self.org, kind), order, &attributes, |row| {
                let contains = needle.is_none_or(|needle| text_of(&row).is_some_and(|text| text.contains(needle)));
                if !contains || !fits(&row) {
                    return;
                }
                if positions.contains(&slice.total) {
                    match id_of(&row) {
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

/// Whether a row's attribute has a value; any does when none is asked for.
pub(super) fn has(row: &Item, name: &str, wanted: Option<&str>) -> bool {
    wanted.is_none_or(|wanted| row.get(name).and_then(|value| value.as_s().ok()).is_some_and(|value| value == wanted))
}

fn text_of(row: &Item) -> Option<&String> {
    row.get(TEXT).map(AttributeValue::as_s)?.ok()
}

fn id_of(row: &Item) -> Option<Uuid> {
    row.get(SORT)?.as_s().ok()?.parse().ok()
}
