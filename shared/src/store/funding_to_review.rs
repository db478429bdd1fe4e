//! Rows of funding items with proof that waits for a decision, so Home finds it in one read, whatever the number.
//!
//! Decision: an agreement's end has no room to remove 25 rows; they go later, and until then Home skips them.

use std::collections::{HashMap, HashSet};

use aws_sdk_dynamodb::types::AttributeValue;

use super::change::{Change, Changes};
use super::item::{Item, from_versioned_item, number, text};
use super::keys::{self, Key, SORT};
use super::query::Query;
use super::{OrgStore, StoreError, Versioned};
use crate::domain::call_context::CallContext;
use crate::domain::funding::FundingItem;
use crate::domain::funding::proof::Proof;
use crate::domain::ids::{AgreementId, FundingItemId, OrgId, WorkspaceId};

pub(super) const AT: &str = "at";
const AGREEMENT: &str = "a";
const SINCE: &str = "n";

/// A row: a funding item with proof that waits for a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ItemToReview {
    pub id: FundingItemId,
    pub workspace: WorkspaceId,
    pub agreement: AgreementId,
    pub since_ms: i64,
    sort: String,
}

/// None unless proof of the item waits for a decision.
pub(super) fn row(org: OrgId, item: &FundingItem) -> Option<Item> {
    let waits = item.proofs().iter().filter(|proof| proof.is_undecided());
    let since = waits.map(Proof::filed_at).min().filter(|_| item.has_proof_to_review())?;
    let mut row = keys::funding_item_to_review(org, item.id()).into_item();
    let sort = keys::funding_item(org, item.workspace_id(), item.place()).sort().to_owned();
    row.insert(AT.to_owned(), AttributeValue::S(sort));
    row.insert(AGREEMENT.to_owned(), AttributeValue::S(item.agreement_id()?.to_string()));
    row.insert(SINCE.to_owned(), AttributeValue::N(since.unix_ms().to_string()));
    Some(row)
}

pub(super) fn change(org: OrgId, before: &FundingItem, after: &FundingItem) -> Option<Change> {
    match (row(org, before), row(org, after)) {
        (before, Some(after)) => (before.as_ref() != Some(&after)).then_some(Change::Put(after)),
        (Some(_), None) => Some(Change::Delete(keys::funding_item_to_review(org, after.id()))),
        (None, None) => None,
    }
}

/// Removes the row that an item left behind when its agreement ended, if the item is as it was read.
pub(crate) fn forget(call: &CallContext, item: &Versioned<FundingItem>) -> Changes {
    let (org, id) = (call.org(), item.id());
    let record = keys::funding_item(org, item.workspace_id(), item.place());
    let row = Change::Delete(keys::funding_item_to_review(org, id));
    Changes::of(call, [Change::CheckVersion(record, item.version()), row])
}

pub(super) fn agreement_of(row: &Item) -> Option<AgreementId> {
    text(row, AGREEMENT)?.parse().ok()
}

fn read(row: &Item) -> Option<ItemToReview> {
    let sort = text(row, AT)?.to_owned();
    Some(ItemToReview {
        id: text(row, SORT)?.parse().ok()?,
        workspace: sort.split('#').next()?.parse().ok()?,
        agreement: agreement_of(row)?,
        since_ms: number(row, SINCE)?,
        sort,
    })
}

impl OrgStore {
    /// Those that have waited longest come first.
    pub(crate) async fn funding_to_review(&self) -> Result<Vec<ItemToReview>, StoreError> {
        let mut found = Vec::new();
        let query = Query::of(keys::funding_to_review(self.org));
        self.store.each(query, |row| found.extend(read(&row))).await?;
        found.sort_by_key(|row| (row.since_ms, row.id));
        Ok(found)
    }

    /// Which items have a row although none of their proof waits.
    pub(crate) async fn left_to_review<'a>(
        &self,
        items: impl IntoIterator<Item = &'a FundingItem>,
    ) -> Result<HashSet<FundingItemId>, StoreError> {
        let without: HashMap<Key, FundingItemId> = items
            .into_iter()
            .filter(|item| !item.has_proof_to_review())
            .map(|item| (keys::funding_item_to_review(self.org, item.id()), item.id()))
            .collect();
        let wanted: Vec<Key> = without.keys().cloned().collect();
        let found = self.store.get_all(&wanted).await?;
        Ok(found.iter().filter_map(Key::of).filter_map(|key| without.get(&key).copied()).collect())
    }

    pub(crate) async fn reviewed_funding_items(
        &self,
        rows: &[ItemToReview],
    ) -> Result<Vec<Versioned<FundingItem>>, StoreError> {
        let partition = keys::funding_items(self.org);
        let wanted: Vec<Key> = rows.iter().map(|row| keys::with_sort(partition.clone(), &row.sort)).collect();
        self.store.get_all(&wanted).await?.into_iter().map(from_versioned_item).collect()
    }
}
