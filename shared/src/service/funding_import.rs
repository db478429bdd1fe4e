//! Many funding items of one workspace at once, from an uploaded file.
//!
//! Decision: workspace and trust, which can't change, are checked once; references and room with each transaction.

use std::collections::BTreeSet;

use crate::domain::funding::input::NewFundingItem;
use crate::domain::ids::{FundingItemId, TrustId, WorkspaceId};
use crate::error::Error;
use crate::limits;
use crate::service::funding_items::{added, check_workspace, unknown_trust};
use crate::service::scope::{Plan, Scope, Writer};
use crate::service::workspaces;
use crate::store::funding_items as stored;
use crate::wire::fields::{FieldCode, FieldErrors};

/// At most [`limits::FUNDING_ITEMS_CREATED_AT_ONCE`] items, or [`limits::FUNDING_ITEMS_SORTED_AT_ONCE`] if sorted.
#[derive(Debug, Clone)]
pub struct Batch {
    workspace_id: WorkspaceId,
    items: Vec<(FundingItemId, NewFundingItem)>,
}

/// Checks workspace and trusts, with errors at `workspace_id` and `trust_id`; returns parts for one transaction each.
pub async fn check(
    scope: &Scope,
    workspace_id: WorkspaceId,
    new: Vec<(FundingItemId, NewFundingItem)>,
) -> Result<Vec<Batch>, Error> {
    let named: BTreeSet<TrustId> = new.iter().filter_map(|(_, item)| item.trust_id).collect();
    let trusts = async { scope.store().trusts(named.iter().copied()).await.map_err(Error::from) };
    let (_, trusts) = futures_util::try_join!(workspaces::named(scope, workspace_id), trusts)?;
    if trusts.len() < named.len() {
        return Err(Error::NotFound(unknown_trust()));
    }
    for trust in &trusts {
        check_workspace(Some(trust), workspace_id).map_err(Error::Invalid)?;
    }
    if new.iter().any(|(_, item)| item.workspace_id != workspace_id) {
        let message = "is another workspace than that of the other items";
        return Err(Error::Invalid(FieldErrors::one("workspace_id", FieldCode::WrongWorkspace, message)));
    }
    let is_sorted = new.iter().any(|(_, item)| item.sorted.is_some());
    let most = if is_sorted { limits::FUNDING_ITEMS_SORTED_AT_ONCE } else { limits::FUNDING_ITEMS_CREATED_AT_ONCE };
    let parts = new.chunks(most);
    Ok(parts.map(|items| Batch { workspace_id, items: items.to_vec() }).collect())
}

/// Adds a part's items, all or none, and returns how many. Leaves out existing ones, so a repeated upload adds once.
pub async fn add(by: &impl Writer, batch: &Batch) -> Result<Plan<usize>, Error> {
    let scope = by.scope();
    let Batch { workspace_id, items } = batch;
    let ids = items.iter().map(|(id, _)| *id);
    let references = items.iter().filter_map(|(_, item)| item.external_reference.as_ref());
    let known = scope.store().known_funding_items(ids, references).await?;
    let left: Vec<_> = items.iter().filter(|(id, _)| !known.ids.contains(id)).cloned().collect();
    let mut references = left.iter().filter_map(|(_, item)| item.external_reference.as_ref());
    if references.any(|reference| known.references.contains(reference.as_str())) {
        let message = "is the reference of another item";
        return Err(Error::Invalid(FieldErrors::one("external_reference", FieldCode::Taken, message)));
    }
    let mut plan = Plan::new(scope, left.len()).showing([workspace_id.uuid()]);
    for created in added(scope, left).await? {
        let id = created.id().uuid();
        plan = plan.change([stored::create(scope.call(), &created)?]).emit(created.events().to_vec()).showing([id]);
    }
    Ok(plan)
}
