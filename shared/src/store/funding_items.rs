//! Funding items: a record that is its own list row, a pointer from its id, and the item of its external reference.
//!
//! Decision: an item has no row beside it, unlike other records. Papering 25 items writes 84 items in one transaction,
//! and 25 rows more would exceed `DynamoDB`'s 100; the same holds for the end of their agreement, which reopens them.
//! The log of their list has compact rows, one entry for all items of a transaction. So an instance's first list passes
//! over the records, up to 4 KiB each, and later ones read what was written since.

use std::collections::{HashMap, HashSet};

use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::future::try_join_all;
use futures_util::try_join;

use super::change::{Change, Changes};
use super::item::{Item, from_versioned_item, keep_stamp, text, to_versioned_item};
use super::keys::{self, Key, Rows, SORT};
use super::list::{AT, Attribute, HeldRow, RowFilter, TEXT};
use super::query::{Query, QueryPage};
use super::{OrgStore, StoreError, Versioned, funding_to_review};
use crate::domain::call_context::CallContext;
use crate::domain::contact::ExternalReference;
use crate::domain::funding::{FundingItem, ItemChange, Phase, Place, ReopenedItem, StartedItem};
use crate::domain::ids::{FundingItemId, OrgId, TrustId, WorkspaceId};
use crate::domain::member::ByMember;
use crate::domain::trust::Trust;
use crate::limits;
use crate::wire::page::{Filter, Order, Page, Search, list_query};

const TRUST: Attribute<TrustId> = Attribute::named("tr");
const PHASE: Attribute<Phase> = Attribute::named("ph");
pub(super) const ITEM: &str = "funding_item_id";

list_query! {
    /// Which funding items are listed.
    pub struct FundingItemQuery {
        /// Of this workspace only.
        workspace_id: Option<WorkspaceId>,
        /// Of this trust only.
        trust_id: Option<TrustId>,
        /// In this phase only.
        phase: Filter<Phase>,
        /// A part of the label, in any letter case.
        search: Search<{ limits::SEARCH_CHARS_MAX }>,
        /// With exactly this reference only; at most one item has it.
        external_reference: Option<ExternalReference>,
    }
}

fn key(org: OrgId, item: &FundingItem) -> Key {
    keys::funding_item(org, item.workspace_id(), item.place())
}

/// What makes a record its own row: the searched text and the filtered attributes. The last may be missing.
pub(super) const LISTED: [&str; 3] = [TEXT, PHASE.name, TRUST.name];

pub(super) fn encoded(org: OrgId, item: &FundingItem, version: u64) -> Result<Item, StoreError> {
    let mut encoded = to_versioned_item(key(org, item), item, version)?;
    encoded.insert(TEXT.to_owned(), AttributeValue::S(item.search_text().as_str().to_owned()));
    encoded.insert(PHASE.name.to_owned(), AttributeValue::S(item.phase().to_string()));
    let trust = item.trust_id().map(|trust| (TRUST.name.to_owned(), AttributeValue::S(trust.to_string())));
    encoded.extend(trust);
    Ok(encoded)
}

/// Keeps the rows of a workspace's items, or of its trusts; all without a workspace.
pub(super) fn in_workspace(filter: RowFilter<'_>, workspace: Option<WorkspaceId>) -> RowFilter<'_> {
    let Some(prefix) = workspace.map(keys::funding_of) else { return filter };
    filter.matching(move |row| row.text(AT).is_some_and(|at| at.starts_with(&prefix)))
}

#[derive(Debug, Default)]
pub(crate) struct KnownItems {
    pub ids: HashSet<FundingItemId>,
    pub references: HashSet<String>,
}

/// All items and trusts of a workspace, the oldest first.
#[derive(Debug, Default)]
pub struct WorkspaceFunding {
    /// Its trusts.
    pub trusts: Vec<Trust>,
    /// Its items.
    pub items: Vec<FundingItem>,
}

#[derive(Debug, Default)]
pub(crate) struct VersionedFunding {
    pub trusts: Vec<Versioned<Trust>>,
    pub items: Vec<Versioned<FundingItem>>,
}

impl OrgStore {
    /// A funding item.
    pub async fn funding_item(&self, id: FundingItemId) -> Result<Option<Versioned<FundingItem>>, StoreError> {
        Ok(self.funding_items([id]).await?.pop())
    }

    /// The funding items with these ids, in order. Skips missing ones; reads nothing without ids.
    pub(crate) async fn funding_items(
        &self,
        ids: impl IntoIterator<Item = FundingItemId>,
    ) -> Result<Vec<Versioned<FundingItem>>, StoreError> {
        let pointers: Vec<Key> = ids.into_iter().map(|id| keys::funding_item_pointer(self.org, id)).collect();
        let partition = keys::funding_items(self.org);
        let mut wanted = Vec::new();
        for pointer in self.store.get_all(&pointers).await? {
            let sort = text(&pointer, AT);
            let sort =
                sort.ok_or_else(|| StoreError::Unreadable("decoding the pointer of a funding item".to_owned()))?;
            wanted.push(keys::with_sort(partition.clone(), sort));
        }
        self.store.get_all(&wanted).await?.into_iter().map(from_versioned_item).collect()
    }

    pub(crate) async fn funding_item_with_reference(
        &self,
        reference: &ExternalReference,
    ) -> Result<Option<FundingItemId>, StoreError> {
        let key = keys::funding_item_reference(self.org, reference);
        let Some(item) = self.store.get(key).await? else { return Ok(None) };
        let id = text(&item, ITEM).and_then(|id| id.parse().ok());
        id.map(Some).ok_or_else(|| StoreError::Unreadable("decoding an item: no funding_item_id".to_owned()))
    }

    pub(crate) async fn known_funding_items<'a>(
        &self,
        ids: impl IntoIterator<Item = FundingItemId>,
        references: impl IntoIterator<Item = &'a ExternalReference>,
    ) -> Result<KnownItems, StoreError> {
        let ids: HashMap<Key, FundingItemId> =
            ids.into_iter().map(|id| (keys::funding_item_pointer(self.org, id), id)).collect();
        let references: HashMap<Key, &str> = references
            .into_iter()
            .map(|reference| (keys::funding_item_reference(self.org, reference), reference.as_str()))
            .collect();
        let wanted: Vec<Key> = ids.keys().chain(references.keys()).cloned().collect();
        let mut known = KnownItems::default();
        for key in self.store.get_all(&wanted).await?.iter().filter_map(Key::of) {
            known.ids.extend(ids.get(&key));
            known.references.extend(references.get(&key).map(|reference| (*reference).to_owned()));
        }
        Ok(known)
    }

    /// A page of matching funding items. A search by reference takes three reads, however many items exist.
    pub(crate) async fn list_funding_items(
        &self,
        order: Order,
        query: &FundingItemQuery,
    ) -> Result<Page<FundingItem>, StoreError> {
        let needle = query.search.needle();
        if let Some(reference) = &query.external_reference {
            let found = match self.funding_item_with_reference(reference).await? {
                Some(id) => self.funding_item(id).await?.map(Versioned::into_inner),
                None => None,
            };
            let fits = |item: &FundingItem| {
                query.workspace_id.is_none_or(|workspace| item.workspace_id() == workspace)
                    && query.trust_id.is_none_or(|trust| item.trust_id() == Some(trust))
                    && query.phase.get().is_none_or(|phase| item.phase() == phase)
                    && needle.is_none_or(|needle| item.search_text().as_str().contains(needle))
            };
            return Ok(Page::slice(found.into_iter().filter(fits), query.page()));
        }
        let filter = in_workspace(RowFilter::containing(needle), query.workspace_id)
            .equal(&TRUST, query.trust_id)
            .equal(&PHASE, query.phase.get());
        self.list_of_own_rows(Rows::FundingItems, order, &filter, query.page()).await
    }

    /// A workspace's funding, strongly consistent, in at most two round trips.
    pub(crate) async fn funding_of(&self, workspace: WorkspaceId) -> Result<WorkspaceFunding, StoreError> {
        let VersionedFunding { trusts, items } = self.versioned_funding_of(workspace).await?;
        Ok(WorkspaceFunding {
            trusts: trusts.into_iter().map(Versioned::into_inner).collect(),
            items: items.into_iter().map(Versioned::into_inner).collect(),
        })
    }

    pub(crate) async fn versioned_funding_of(&self, workspace: WorkspaceId) -> Result<VersionedFunding, StoreError> {
        let items = async {
            let found = self.items_of(workspace).await?;
            let mut items = found.into_iter().map(from_versioned_item::<FundingItem>).collect::<Result<Vec<_>, _>>()?;
            items.sort_by_key(|item| item.id());
            Ok::<_, StoreError>(items)
        };
        let (trusts, items) = try_join!(self.versioned_trusts_of(workspace), items)?;
        Ok(VersionedFunding { trusts, items })
    }

    /// A response holds a megabyte; the rest is read in ranges of places at once: a thousand items take two waits.
    async fn items_of(&self, workspace: WorkspaceId) -> Result<Vec<Item>, StoreError> {
        let last = limits::WORKSPACE_FUNDING_ITEMS_MAX;
        let QueryPage { mut items, next, .. } = self.store.page_of(&self.items_in(workspace, 1, last), None).await?;
        let Some(next) = next else { return Ok(items) };
        let place = text(&next, SORT).and_then(keys::place_of).map(Place::number);
        let place = place.ok_or_else(|| StoreError::Unreadable("decoding the key of a funding item".to_owned()))?;
        let ranges = (place + 1..=last).step_by(usize::from(limits::FUNDING_PLACES_IN_RANGE));
        let rest = ranges.map(|from| {
            let to = last.min(from + limits::FUNDING_PLACES_IN_RANGE - 1);
            self.store.all(self.items_in(workspace, from, to))
        });
        items.extend(try_join_all(rest).await?.into_iter().flatten());
        Ok(items)
    }

    fn items_in(&self, workspace: WorkspaceId, from: u16, to: u16) -> Query<'static> {
        let prefix = keys::funding_of(workspace);
        Query::of(keys::funding_items(self.org)).between(format!("{prefix}{from:04}"), format!("{prefix}{to:04}"))
    }

    pub(crate) async fn item_counts(
        &self,
        workspace: Option<WorkspaceId>,
    ) -> Result<HashMap<TrustId, u32>, StoreError> {
        let prefix = workspace.map(keys::funding_of).unwrap_or_default();
        let mut counts = HashMap::new();
        let visit = |row: HeldRow<'_>| {
            let trust = row.text(TRUST.name).filter(|_| row.text(AT).is_some_and(|at| at.starts_with(&prefix)));
            if let Some(trust) = trust.and_then(|id| id.parse().ok()) {
                *counts.entry(trust).or_insert(0) += 1;
            }
        };
        self.each_row(Rows::FundingItems, visit).await?;
        Ok(counts)
    }

    /// Free places, as many as wanted or left. If another call takes one first, the next attempt gets others.
    pub(crate) async fn free_places(&self, workspace: WorkspaceId, count: usize) -> Result<Vec<Place>, StoreError> {
        let numbers = self.store.next_numbers(keys::funding_place_counter(self.org, workspace), count).await?;
        let places: Option<Vec<Place>> = numbers.map(Place::new).collect();
        match places {
            Some(places) => Ok(places),
            None => self.places_left(workspace, count).await,
        }
    }

    /// Unused places, left by failed attempts, drawn at random so that concurrent calls rarely want the same one.
    async fn places_left(&self, workspace: WorkspaceId, count: usize) -> Result<Vec<Place>, StoreError> {
        let query = Query::of(keys::funding_items(self.org)).beginning(keys::funding_of(workspace));
        let mut taken = HashSet::new();
        let visit = |item: Item| taken.extend(text(&item, SORT).and_then(keys::place_of).map(Place::number));
        self.store.each(query.only(&[SORT]), visit).await?;
        let free = (1..=limits::WORKSPACE_FUNDING_ITEMS_MAX).filter(|number| !taken.contains(number));
        Ok(drawn(free.collect(), count).into_iter().filter_map(|number| Place::new(number.into())).collect())
    }
}

fn drawn(mut numbers: Vec<u16>, count: usize) -> Vec<u16> {
    fastrand::shuffle(&mut numbers);
    numbers.truncate(count);
    numbers
}

/// The pointer from an item's id to its place. It has the item's name so that the audit log finds it in one read.
pub(super) fn pointer(org: OrgId, item: &FundingItem) -> Item {
    let mut pointer = keys::funding_item_pointer(org, item.id()).into_item();
    pointer.insert(AT.to_owned(), AttributeValue::S(key(org, item).sort().to_owned()));
    pointer.insert(super::audit::NAME.to_owned(), AttributeValue::S(item.label().as_str().to_owned()));
    pointer
}

/// Creates a funding item. Its place, id and reference must be free.
pub fn create(call: &CallContext, created: &ItemChange) -> Result<Changes, StoreError> {
    let org = call.org();
    let reference = created.external_reference().map(|reference| reference_item(org, reference, created.id()));
    let created = [encoded(org, created, 1)?, pointer(org, created)];
    Ok(Changes::of(call, created.into_iter().chain(reference).map(Change::Create)))
}

pub(super) fn reference_item(org: OrgId, reference: &ExternalReference, item: FundingItemId) -> Item {
    let mut unique = keys::funding_item_reference(org, reference).into_item();
    unique.insert(ITEM.to_owned(), AttributeValue::S(item.to_string()));
    unique
}

/// The changes of sorting, parking or papering.
pub fn change(call: &CallContext, before: &Versioned<FundingItem>, after: &ItemChange) -> Result<Changes, StoreError> {
    Ok(Changes::of(call, next(call, before, after)?))
}

/// The changes of a member's act.
pub fn act(
    call: &CallContext,
    before: &Versioned<FundingItem>,
    after: &ByMember<FundingItem>,
) -> Result<Changes, StoreError> {
    Ok(Changes::decided_by_member(call, after, next(call, before, after)?))
}

pub(crate) fn start(
    call: &CallContext,
    before: &Versioned<FundingItem>,
    after: &StartedItem,
) -> Result<Changes, StoreError> {
    Ok(Changes::decided(call, after.moment(), next(call, before, after)?))
}

/// Opens an item again because its agreement ended, in a transaction of its own.
pub(crate) fn reopen(
    call: &CallContext,
    before: &Versioned<FundingItem>,
    after: &ReopenedItem,
) -> Result<Changes, StoreError> {
    Ok(Changes::decided(call, after.moment(), next(call, before, after)?))
}

/// Like `reopen`, in the ending transaction. [`forget`](funding_to_review::forget) removes the row of proof later.
pub(crate) fn reopen_together(
    call: &CallContext,
    before: &Versioned<FundingItem>,
    after: &ReopenedItem,
) -> Result<Changes, StoreError> {
    Ok(Changes::decided(call, after.moment(), [replacement(call, before, after)?]))
}

fn next(call: &CallContext, before: &Versioned<FundingItem>, after: &FundingItem) -> Result<Vec<Change>, StoreError> {
    let record = replacement(call, before, after)?;
    let renamed = (before.label() != after.label()).then(|| Change::Put(pointer(call.org(), after)));
    let to_review = funding_to_review::change(call.org(), before, after);
    Ok(std::iter::once(record).chain(renamed).chain(to_review).collect())
}

/// An item's next version: every write after its creation passes here.
fn replacement(call: &CallContext, before: &Versioned<FundingItem>, after: &FundingItem) -> Result<Change, StoreError> {
    if before.id() != after.id() || key(call.org(), before) != key(call.org(), after) {
        return Err(StoreError::Failed("a funding item in the place of another one".to_owned()));
    }
    let mut item = encoded(call.org(), after, before.version() + 1)?;
    keep_stamp(&mut item, before);
    Ok(Change::Replace(item, before.version()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::actor::Actor;
    use crate::domain::funding::input::{FundingItemChanges, NewFundingItem};
    use crate::domain::ids::RequestId;
    use crate::domain::time::Timestamp;
    use crate::wire::input::read;

    fn added(workspace: WorkspaceId) -> ItemChange {
        let new = json!({"workspace_id": workspace, "label": "Straße", "asset_kind": "retirement_account"});
        let new: NewFundingItem = read(new).unwrap();
        let place = Place::new(7).unwrap();
        FundingItem::add(FundingItemId::new(), place, new, Actor::system(), Timestamp::now()).unwrap()
    }

    #[test]
    fn an_item_is_its_own_row_and_is_read_as_it_was_written() {
        let (org, workspace, trust) = (OrgId::new(), WorkspaceId::new(), TrustId::new());
        let detail = json!({"share_percent": 33.25, "institution": "First", "account_last4": "0044"});
        let changes = json!({"verb": "change_beneficiary", "trust_id": trust, "detail": detail});
        let changes: FundingItemChanges = read(changes).unwrap();
        let item = added(workspace).sort(changes, Timestamp::now()).unwrap().into_item();
        let stored = encoded(org, &item, 3).unwrap();
        assert_eq!(text(&stored, SORT), Some(format!("{workspace}#0007").as_str()));
        assert_eq!((text(&stored, TEXT), text(&stored, PHASE.name)), (Some("strasse"), Some("gathering")));
        assert_eq!(text(&stored, TRUST.name), Some(trust.to_string().as_str()));
        let read = from_versioned_item::<FundingItem>(stored).unwrap();
        assert_eq!((read.version(), &*read), (3, &item));
    }

    #[test]
    fn places_left_are_drawn_at_random() {
        let left: Vec<u16> = (1..=1000).collect();
        let draws: HashSet<Vec<u16>> = (0..20).map(|_| drawn(left.clone(), 2)).collect();
        assert!(draws.len() > 10, "{draws:?}");
        assert!(draws.iter().all(|draw| draw.len() == 2 && draw[0] != draw[1]));
        assert_eq!(drawn(vec![7], 2), [7]);
    }

    #[test]
    fn an_item_is_written_in_the_place_of_no_other() {
        let org = OrgId::new();
        let call = CallContext::new(RequestId::new(), "test", Timestamp::now(), Actor::system(), org, Vec::new());
        let (one, other) = (added(WorkspaceId::new()), added(WorkspaceId::new()));
        let before = Versioned::read(FundingItem::clone(&one), 1, None);
        assert!(change(&call, &before, &one).is_ok() && change(&call, &before, &other).is_err());
        assert_eq!(create(&call, &one).unwrap().into_list().len(), 2, "the record and its pointer");
    }
}
