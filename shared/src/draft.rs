//! Drafts with what they refer to: the reading around the pure rules of `domain::agreement::blockers`.

use std::collections::HashSet;

use crate::caller::Act;
use crate::config::BaseUrl;
use crate::domain::agreement::blockers::{self, Blocker, Surroundings};
use crate::domain::agreement::view::AgreementView;
use crate::domain::agreement::{Agreement, Lifecycle};
use crate::domain::contact::Contact;
use crate::domain::ids::{AgreementId, ContactId};
use crate::domain::workspace::Workspace;
use crate::error::Error;

/// What is in the way of publishing a draft, given its workspace and the contacts of its participants.
#[must_use]
pub fn blockers_of(act: &Act, agreement: &Agreement, workspace: &Workspace, contacts: &[Contact]) -> Vec<Blocker> {
    blockers(act, agreement, workspace.activated_at().is_some(), contacts)
}

// Payments and papered items come with their own resources; until then no agreement has any.
fn blockers(act: &Act, agreement: &Agreement, workspace_activated: bool, contacts: &[Contact]) -> Vec<Blocker> {
    let around = Surroundings { workspace_activated, contacts, payments: &[], changed_items: &[], now: act.now() };
    blockers::blockers(agreement, &around)
}

/// The contacts of the agreements' participants, each once, in the order of their ids.
///
/// # Errors
/// When the store can't be read.
pub async fn contacts_of(act: &Act, agreements: impl IntoIterator<Item = &Agreement>) -> Result<Vec<Contact>, Error> {
    let participants = agreements.into_iter().flat_map(|agreement| &agreement.participants);
    let ids: std::collections::BTreeSet<ContactId> = participants.map(|participant| participant.contact_id).collect();
    Ok(act.store().contacts(ids).await?)
}

/// The workspace of an agreement, which is there as long as the agreement is.
///
/// # Errors
/// When the store can't be read.
pub async fn workspace_of(act: &Act, agreement: &Agreement) -> Result<crate::store::Versioned<Workspace>, Error> {
    let workspace = act.store().workspace(agreement.workspace_id).await?;
    workspace.ok_or_else(|| Error::Internal("an agreement without its workspace".to_owned()))
}

/// An agreement in full, as a single response shows it.
///
/// # Errors
/// When the store can't be read.
pub async fn in_full(act: &Act, base_url: &BaseUrl, agreement: &Agreement) -> Result<AgreementView, Error> {
    let contacts = contacts_of(act, [agreement]).await?;
    if agreement.lifecycle() != Lifecycle::Draft {
        return Ok(AgreementView::in_full(agreement, &contacts, &[], false, base_url));
    }
    let workspace = workspace_of(act, agreement).await?.value;
    let blockers = blockers_of(act, agreement, &workspace, &contacts);
    let proposed = act.store().proposed_for_publication([agreement.id], act.now()).await?;
    Ok(AgreementView::in_full(agreement, &contacts, &blockers, !proposed.is_empty(), base_url))
}

/// Those of the agreements for which a publish proposal can be made.
///
/// # Errors
/// When the store can't be read.
pub async fn ready_to_be_proposed(act: &Act, agreements: &[Agreement]) -> Result<HashSet<AgreementId>, Error> {
    let drafts: Vec<&Agreement> =
        agreements.iter().filter(|agreement| agreement.lifecycle() == Lifecycle::Draft).collect();
    // Activation does not keep a draft from being proposed, so that the workspaces need not be read; and the contacts
    // only of drafts in whose way nothing else is.
    let needs_contacts = |draft: &&Agreement| blockers(act, draft, true, &[]).iter().all(Blocker::is_of_contacts);
    let drafts: Vec<&Agreement> = drafts.into_iter().filter(needs_contacts).collect();
    let contacts = contacts_of(act, drafts.iter().copied()).await?;
    let is_ready = |draft: &&&Agreement| blockers(act, draft, true, &contacts).is_empty();
    let ready: Vec<AgreementId> = drafts.iter().filter(is_ready).map(|draft| draft.id).collect();
    let proposed = act.store().proposed_for_publication(ready.iter().copied(), act.now()).await?;
    Ok(ready.into_iter().filter(|id| !proposed.contains(id)).collect())
}
