//! The rows of funding items with proof that waits for a decision: one for each such item, and none for any other. They are
//! written and removed with the item, so that Home finds what waits in one read, however many items there are.

use aws_sdk_dynamodb::types::AttributeValue;

use super::change::Change;
use super::item::{Item, from_versioned_item, number, text};
use super::keys::{self, Key, SORT};
use super::list::Order;
use super::{OrgStore, StoreError, Versioned};
use crate::domain::funding::FundingItem;
use crate::domain::funding::proof::Proof;
use crate::domain::ids::{AgreementId, FundingItemId, OrgId, WorkspaceId};

/// The attribute with the sort key of the item.
pub(super) const AT: &str = "at";
/// The attribute with the agreement.
const AGREEMENT: &str = "a";
/// The attribute with the time since when the oldest proof waits.
const SINCE: &str = "n";

/// A funding item with proof that waits for a decision, as its row says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ItemToReview {
    /// The item.
    pub id: FundingItemId,
    /// Its workspace.
    pub workspace: WorkspaceId,
    /// The agreement that papers it.
    pub agreement: AgreementId,
    /// Since when the oldest such proof waits, in milliseconds since 1970.
    pub since_ms: i64,
    sort: String,
}

/// The row of an item, if proof of it waits for a decision.
pub(super) fn row(org: OrgId, item: &FundingItem) -> Option<Item> {
    let waits = item.proofs().iter().filter(|proof| proof.is_undecided() && !item.is_closed());
    let since = waits.map(Proof::filed_at).min()?;
    let mut row = keys::funding_item_to_review(org, item.id()).into_item();
    let sort = keys::funding_item(org, item.workspace_id(), item.place()).sort().to_owned();
    row.insert(AT.to_owned(), AttributeValue::S(sort));
    row.insert(AGREEMENT.to_owned(), AttributeValue::S(item.agreement_id()?.to_string()));
    row.insert(SINCE.to_owned(), AttributeValue::N(since.unix_ms().to_string()));
    Some(row)
}

/// The change of an item's row, if there is one.
pub(super) fn change(org: OrgId, before: &FundingItem, after: &FundingItem) -> Option<Change> {
    match (row(org, before), row(org, after)) {
        (before, Some(after)) => (before.as_ref() != Some(&after)).then_some(Change::Put(after)),
        (Some(_), None) => Some(Change::Delete(keys::funding_item_to_review(org, after.id()))),
        (None, None) => None,
    }
}

fn read(row: &Item) -> Option<ItemToReview> {
    let sort = text(row, AT)?.to_owned();
    Some(ItemToReview {
        id: text(row, SORT)?.parse().ok()?,
        workspace: sort.split('#').next()?.parse().ok()?,
        agreement: text(row, AGREEMENT)?.parse().ok()?,
        since_ms: number(row, SINCE)?,
        sort,
    })
}

impl OrgStore {
    /// The funding items with proof that waits for a decision, those that wait longest first.
    pub(crate) async fn funding_to_review(&self) -> Result<Vec<ItemToReview>, StoreError> {
        let partition = keys::funding_to_review(self.org);
        let mut found = Vec::new();
        let visit = |row: Item| found.extend(read(&row));
        self.store.scan_partition(&partition, Order::OldestFirst, &[], visit).await?;
        found.sort_by_key(|row| (row.since_ms, row.id));
        Ok(found)
    }

    /// The funding items of some rows, in one read. Missing ones are left out.
    pub(crate) async fn reviewed_funding_items(
        &self,
        rows: &[ItemToReview],
    ) -> Result<Vec<Versioned<FundingItem>>, StoreError> {
        let partition = keys::funding_items(self.org);
        let wanted: Vec<Key> = rows.iter().map(|row| keys::with_sort(partition.clone(), &row.sort)).collect();
        self.store.get_all(&wanted).await?.into_iter().map(from_versioned_item).collect()
    }
}
