//! What funding's pages read besides items and trusts: by an id in two round trips; all workspaces in one pass.

use std::collections::HashMap;

use super::item::{Item, from_versioned_item, text};
use super::keys::{self, Key, SORT};
use super::query::Query;
use super::{OrgStore, StoreError, Versioned};
use crate::domain::contact::ExternalReference;
use crate::domain::funding::{FundingItem, Phase};
use crate::domain::ids::{FundingItemId, TrustId, WorkspaceId};

/// A funding item's workspace, and its sort key within the organization's items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ItemPlace {
    pub workspace: WorkspaceId,
    sort: String,
}

pub(crate) type PhaseCounts = HashMap<Phase, u32>;

impl OrgStore {
    pub(crate) async fn funding_item_place(&self, id: FundingItemId) -> Result<Option<ItemPlace>, StoreError> {
        let Some(pointer) = self.store.get(keys::funding_item_pointer(self.org, id)).await? else { return Ok(None) };
        let sort = text(&pointer, "at").unwrap_or_default().to_owned();
        let workspace = sort.split('#').next().and_then(|id| id.parse().ok());
        let unreadable = || StoreError::Unreadable("decoding the pointer of a funding item".to_owned());
        Ok(Some(ItemPlace { workspace: workspace.ok_or_else(unreadable)?, sort }))
    }

    pub(crate) async fn funding_item_at(
        &self,
        place: &ItemPlace,
    ) -> Result<Option<Versioned<FundingItem>>, StoreError> {
        let key = keys::with_sort(keys::funding_items(self.org), &place.sort);
        self.store.get(key).await?.map(from_versioned_item).transpose()
    }

    pub(crate) async fn workspace_of_trust(&self, id: TrustId) -> Result<Option<WorkspaceId>, StoreError> {
        let Some(pointer) = self.store.get(keys::trust_pointer(self.org, id)).await? else { return Ok(None) };
        let workspace = text(&pointer, "workspace_id").and_then(|id| id.parse().ok());
        workspace.map(Some).ok_or_else(|| StoreError::Unreadable("decoding the pointer of a trust".to_owned()))
    }

    /// The items of each workspace by phase, in one pass over all items' phases.
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
        self.store.each(Query::of(partition).only(&[SORT, "ph"]), visit).await?;
        Ok(counts)
    }

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
