//! What pages about funding read besides items and trusts: from an id alone in two waits, and the figures of all workspaces
//! in one pass over compact attributes.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;

use super::change::Change;
use super::funding_items::AT;
use super::item::{Item, from_versioned_item, number, text};
use super::keys::{self, Key, SORT};
use super::list::Order;
use super::{OrgStore, StoreError, Versioned};
use crate::domain::contact::ExternalReference;
use crate::domain::funding::proof::Proof;
use crate::domain::funding::{FundingItem, Phase};
use crate::domain::ids::{AgreementId, FundingItemId, OrgId, TrustId, WorkspaceId};

/// Where a funding item is: its workspace, and its sort key within the organization's items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ItemPlace {
    /// The workspace.
    pub workspace: WorkspaceId,
    sort: String,
}

/// A funding item with proof that waits for a decision, as its row says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ItemToReview {
    /// The item.
    pub id: FundingItemId,
    /// Where it is.
    pub place: ItemPlace,
    /// The agreement that papers it.
    pub agreement: AgreementId,
    /// Since when the oldest such proof waits, in milliseconds since 1970.
    pub since_ms: i64,
}

/// The attribute of a row with the agreement.
const AGREEMENT: &str = "a";
/// The attribute of a row with the time since when it waits.
const SINCE: &str = "n";

/// The row of an item, if proof of it waits for a decision.
pub(super) fn to_review_row(org: OrgId, item: &FundingItem) -> Option<Item> {
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
pub(super) fn to_review_changes(org: OrgId, before: &FundingItem, after: &FundingItem) -> Option<Change> {
    match (to_review_row(org, before), to_review_row(org, after)) {
        (before, Some(after)) => (before.as_ref() != Some(&after)).then_some(Change::Put(after)),
        (Some(_), None) => Some(Change::Delete(keys::funding_item_to_review(org, after.id()))),
        (None, None) => None,
    }
}

fn read_row(row: &Item) -> Option<ItemToReview> {
    let sort = text(row, AT)?.to_owned();
    Some(ItemToReview {
        id: text(row, SORT)?.parse().ok()?,
        place: ItemPlace { workspace: sort.split('#').next()?.parse().ok()?, sort },
        agreement: text(row, AGREEMENT)?.parse().ok()?,
        since_ms: number(row, SINCE)?,
    })
}

/// How many items of a workspace are in each phase.
pub(crate) type PhaseCounts = HashMap<Phase, u32>;

impl OrgStore {
    /// Where a funding item is, from the pointer of its id.
    pub(crate) async fn funding_item_place(&self, id: FundingItemId) -> Result<Option<ItemPlace>, StoreError> {
        let Some(pointer) = self.store.get(keys::funding_item_pointer(self.org, id)).await? else { return Ok(None) };
        let sort = text(&pointer, "at").unwrap_or_default().to_owned();
        let workspace = sort.split('#').next().and_then(|id| id.parse().ok());
        let unreadable = || StoreError::Unreadable("decoding the pointer of a funding item".to_owned());
        Ok(Some(ItemPlace { workspace: workspace.ok_or_else(unreadable)?, sort }))
    }

    /// The funding item at a place.
    pub(crate) async fn funding_item_at(
        &self,
        place: &ItemPlace,
    ) -> Result<Option<Versioned<FundingItem>>, StoreError> {
        let key = keys::with_sort(keys::funding_items(self.org), &place.sort);
        self.store.get(key).await?.map(from_versioned_item).transpose()
    }

    /// The funding items with proof that waits for a decision, those that wait longest first. There is a row for each such item
    /// and none for any other, so this is one read, however many items there are.
    pub(crate) async fn funding_to_review(&self) -> Result<Vec<ItemToReview>, StoreError> {
        let partition = keys::funding_to_review(self.org);
        let mut found = Vec::new();
        let visit = |row: Item| found.extend(read_row(&row));
        self.store.scan_partition(&partition, Order::OldestFirst, &[], visit).await?;
        found.sort_by_key(|row| (row.since_ms, row.id));
        Ok(found)
    }

    /// The funding items at some places. Missing ones are left out.
    pub(crate) async fn funding_items_at<'a>(
        &self,
        places: impl IntoIterator<Item = &'a ItemPlace>,
    ) -> Result<Vec<Versioned<FundingItem>>, StoreError> {
        let partition = keys::funding_items(self.org);
        let wanted = places.into_iter().map(|place| keys::with_sort(partition.clone(), &place.sort));
        let wanted: Vec<Key> = wanted.collect();
        self.store.get_all(&wanted).await?.into_iter().map(from_versioned_item).collect()
    }

    /// The workspace of a trust, from the pointer of its id.
    pub(crate) async fn workspace_of_trust(&self, id: TrustId) -> Result<Option<WorkspaceId>, StoreError> {
        let Some(pointer) = self.store.get(keys::trust_pointer(self.org, id)).await? else { return Ok(None) };
        let workspace = text(&pointer, "workspace_id").and_then(|id| id.parse().ok());
        workspace.map(Some).ok_or_else(|| StoreError::Unreadable("decoding the pointer of a trust".to_owned()))
    }

    /// How many items of each workspace are in which phase, from one pass over the phases of all items.
    pub(crate) async fn funding_phases(&self) -> Result<HashMap<WorkspaceId, PhaseCounts>, StoreError> {
        let partition = keys::funding_items(self.org);
        let mut counts: HashMap<WorkspaceId, PhaseCounts> = HashMap::new();
        let visit = |item: Item| {
            let workspace = text(&item, SORT).and_then(|sort| sort.split('#').next()).and_then(|id| id.parse().ok());
            let phase = text(&item, "ph").and_then(Phase::parse);
            if let Some((workspace, phase)) = workspace.zip(phase) {
                *counts.entry(workspace).or_default().entry(phase).or_default() += 1;
            }
        };
        self.store.scan_prefix((&partition, ""), Order::OldestFirst, &[SORT, "ph"], visit).await?;
        Ok(counts)
    }

    /// Which of some external references have a funding item already, with its id.
    pub(crate) async fn funding_references<'a>(
        &self,
        references: impl IntoIterator<Item = &'a ExternalReference>,
    ) -> Result<HashMap<String, FundingItemId>, StoreError> {
        let keyed: HashMap<Key, &str> = references
            .into_iter()
            .map(|reference| (keys::funding_item_reference(self.org, reference), reference.as_str()))
            .collect();
        let wanted: Vec<Key> = keyed.keys().cloned().collect();
        let mut found = HashMap::new();
        for item in self.store.get_all(&wanted).await? {
            let id = text(&item, "funding_item_id").and_then(|id| id.parse().ok());
            let of = Key::of(&item).and_then(|key| keyed.get(&key)).map(|reference| (*reference).to_owned());
            found.extend(of.zip(id));
        }
        Ok(found)
    }
}
