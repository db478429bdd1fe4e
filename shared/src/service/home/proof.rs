//! The proof of transfers into trusts in Home's work queue, which waits for a member to accept or reject it.
//!
//! Decision: items with such proof have their own rows, so Home reads nothing of those that wait for nobody.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::agreement::Agreement;
use crate::domain::funding::FundingItem;
use crate::domain::ids::{AgreementId, WorkspaceId};
use crate::domain::workspace::Workspace;
use crate::error::Error;
use crate::limits;
use crate::service::home::shortlist::Shortlist;
use crate::service::scope::Scope;
use crate::store::Versioned;

/// A funding item with proof that waits for a decision.
#[derive(Debug)]
pub struct ItemToReview {
    /// The item.
    pub item: FundingItem,
    /// Its workspace.
    pub workspace: Workspace,
}

/// The items with the longest-waiting undecided proof.
pub(super) async fn to_review(scope: &Scope) -> Result<Shortlist<ItemToReview>, Error> {
    let store = scope.store();
    let rows = Shortlist::of(store.funding_to_review().await?, limits::HOME_PROOFS_MAX);
    let chosen = &rows.shown;
    let agreements: BTreeSet<AgreementId> = chosen.iter().map(|row| row.agreement).collect();
    let workspaces: BTreeSet<WorkspaceId> = chosen.iter().map(|row| row.workspace).collect();
    let (items, agreements, workspaces) = tokio::try_join!(
        store.reviewed_funding_items(chosen),
        store.agreements(agreements),
        store.workspaces(workspaces),
    )?;
    let agreements: BTreeMap<AgreementId, Versioned<Agreement>> =
        agreements.into_iter().map(|agreement| (agreement.id(), agreement)).collect();
    let workspaces: BTreeMap<WorkspaceId, Versioned<Workspace>> =
        workspaces.into_iter().map(|workspace| (workspace.id(), workspace)).collect();
    let mut items: BTreeMap<_, _> = items.into_iter().map(|item| (item.id(), item.into_inner())).collect();
    // An item whose agreement has ended is open again, whether or not its record says so yet.
    Ok(rows.seen(|row| {
        let item = items.remove(&row.id)?;
        let agreement = agreements.get(&row.agreement)?;
        let agreement = agreement.as_of(agreement.facts(), scope.time_scale(), scope.now());
        if !item.has_proof_to_review() || item.reopened_with(&agreement, scope.moment()).is_some() {
            return None;
        }
        Some(ItemToReview { item, workspace: Workspace::clone(workspaces.get(&row.workspace)?) })
    }))
}
