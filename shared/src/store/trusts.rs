//! Trusts: a record that is its own list row, a pointer from its id, and the item of its external reference.

use aws_sdk_dynamodb::types::AttributeValue;

use super::change::{Change, Changes};
use super::funding_items::in_workspace;
use super::item::{Item, from_versioned_item, keep_stamp, text, to_versioned_item};
use super::keys::{self, Key, Rows};
use super::list::{RowFilter, TEXT};
use super::query::Query;
use super::{OrgStore, StoreError, Versioned};
use crate::domain::call_context::CallContext;
use crate::domain::contact::ExternalReference;
use crate::domain::ids::{OrgId, TrustId, WorkspaceId};
use crate::domain::trust::Trust;
use crate::limits;
use crate::wire::page::{Order, Page, Search, list_query};

pub(super) const WORKSPACE: &str = "workspace_id";
pub(super) const TRUST: &str = "trust_id";

list_query! {
    /// Which trusts are listed.
    pub struct TrustQuery {
        /// Of this workspace only.
        workspace_id: Option<WorkspaceId>,
        /// A part of the formal name, in any letter case.
        search: Search<{ limits::SEARCH_CHARS_MAX }>,
        /// With exactly this reference only; at most one trust has it.
        external_reference: Option<ExternalReference>,
    }
}

/// What the inspection compares: the searched text. The others are always there.
pub(super) const LISTED: [&str; 3] = [TEXT, "id", "workspace_id"];

pub(super) fn item(org: OrgId, trust: &Trust, version: u64) -> Result<Item, StoreError> {
    let mut item = to_versioned_item(keys::trust(org, trust.workspace_id, trust.id), trust, version)?;
    item.insert(TEXT.to_owned(), AttributeValue::S(trust.search_text().as_str().to_owned()));
    Ok(item)
}

impl OrgStore {
    /// A trust.
    pub async fn trust(&self, id: TrustId) -> Result<Option<Versioned<Trust>>, StoreError> {
        Ok(self.trusts([id]).await?.pop())
    }

    /// The trusts with these ids. Skips missing ones.
    pub(crate) async fn trusts(
        &self,
        ids: impl IntoIterator<Item = TrustId>,
    ) -> Result<Vec<Versioned<Trust>>, StoreError> {
        let ids: Vec<TrustId> = ids.into_iter().collect();
        let pointers: Vec<Key> = ids.iter().map(|id| keys::trust_pointer(self.org, *id)).collect();
        let mut wanted = Vec::new();
        for pointer in self.store.get_all(&pointers).await? {
            let workspace = text(&pointer, WORKSPACE).and_then(|id| id.parse().ok());
            let trust = text(&pointer, TRUST).and_then(|id| id.parse().ok());
            let (Some(workspace), Some(trust)) = (workspace, trust) else {
                return Err(StoreError::Unreadable("decoding the pointer of a trust".to_owned()));
            };
            wanted.push(keys::trust(self.org, workspace, trust));
        }
        self.store.get_all(&wanted).await?.into_iter().map(from_versioned_item).collect()
    }

    pub(crate) async fn trust_with_reference(
        &self,
        reference: &ExternalReference,
    ) -> Result<Option<TrustId>, StoreError> {
        let Some(item) = self.store.get(keys::trust_reference(self.org, reference)).await? else { return Ok(None) };
        let id = text(&item, TRUST).and_then(|id| id.parse().ok());
        id.map(Some).ok_or_else(|| StoreError::Unreadable("decoding an item: no trust_id".to_owned()))
    }

    /// A page of matching trusts. A search by reference takes three reads, however many trusts exist.
    pub(crate) async fn list_trusts(&self, order: Order, query: &TrustQuery) -> Result<Page<Trust>, StoreError> {
        let needle = query.search.needle();
        if let Some(reference) = &query.external_reference {
            let found = match self.trust_with_reference(reference).await? {
                Some(id) => self.trust(id).await?.map(Versioned::into_inner),
                None => None,
            };
            let fits = |trust: &Trust| {
                // The trust may have got another reference between the two reads.
                trust.external_reference.as_ref() == Some(reference)
                    && query.workspace_id.is_none_or(|workspace| trust.workspace_id == workspace)
                    && needle.is_none_or(|needle| trust.search_text().as_str().contains(needle))
            };
            return Ok(Page::slice(found.into_iter().filter(fits), query.page()));
        }
        let filter = in_workspace(RowFilter::containing(needle), query.workspace_id);
        self.list_of_own_rows(Rows::Trusts, order, &filter, query.page()).await
    }

    /// Oldest first.
    pub(crate) async fn trusts_of(&self, workspace: WorkspaceId) -> Result<Vec<Trust>, StoreError> {
        Ok(self.versioned_trusts_of(workspace).await?.into_iter().map(Versioned::into_inner).collect())
    }

    pub(super) async fn versioned_trusts_of(
        &self,
        workspace: WorkspaceId,
    ) -> Result<Vec<Versioned<Trust>>, StoreError> {
        let query = Query::of(keys::trusts(self.org)).beginning(keys::funding_of(workspace));
        self.store.all(query).await?.into_iter().map(from_versioned_item).collect()
    }
}

pub(super) fn leading_to(trust: &Trust, key: Key) -> Item {
    let mut item = key.into_item();
    item.insert(TRUST.to_owned(), AttributeValue::S(trust.id.to_string()));
    item.insert(WORKSPACE.to_owned(), AttributeValue::S(trust.workspace_id.to_string()));
    item
}

/// The pointer from a trust's id to its workspace. It has the trust's name so that the audit log finds it in one read.
pub(super) fn pointer(org: OrgId, trust: &Trust) -> Item {
    let mut pointer = leading_to(trust, keys::trust_pointer(org, trust.id));
    pointer.insert(super::audit::NAME.to_owned(), AttributeValue::S(trust.formal_name.as_str().to_owned()));
    pointer
}

fn claim(org: OrgId, trust: &Trust) -> Option<Change> {
    let reference = trust.external_reference.as_ref()?;
    Some(Change::Create(leading_to(trust, keys::trust_reference(org, reference))))
}

/// Creates a trust. Its id and reference must be free.
pub fn create(call: &CallContext, trust: &Trust) -> Result<Changes, StoreError> {
    let org = call.org();
    let created = [Change::Create(item(org, trust, 1)?), Change::Create(pointer(org, trust))];
    Ok(Changes::of(call, created.into_iter().chain(claim(org, trust))))
}

/// Writes a trust's next state. Its workspace stays, and a new reference must be free.
pub fn replace(call: &CallContext, before: &Versioned<Trust>, after: &Trust) -> Result<Changes, StoreError> {
    if (before.id, before.workspace_id) != (after.id, after.workspace_id) {
        return Err(StoreError::Failed("a trust in the place of another one".to_owned()));
    }
    let org = call.org();
    let mut item = item(org, after, before.version() + 1)?;
    keep_stamp(&mut item, before);
    let mut changes = vec![Change::Replace(item, before.version())];
    if before.formal_name != after.formal_name {
        changes.push(Change::Put(pointer(org, after)));
    }
    if before.external_reference != after.external_reference {
        let old = before.external_reference.as_ref();
        changes.extend(old.map(|reference| Change::Delete(keys::trust_reference(org, reference))));
        changes.extend(claim(org, after));
    }
    Ok(Changes::of(call, changes))
}

/// The check that a trust has not changed.
pub fn check(call: &CallContext, trust: &Versioned<Trust>) -> Changes {
    let key = keys::trust(call.org(), trust.workspace_id, trust.id);
    Changes::of(call, [Change::CheckVersion(key, trust.version())])
}
