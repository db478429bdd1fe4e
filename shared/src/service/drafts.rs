//! Drafts with what they refer to: the reading around the pure rules of `domain::agreement::blockers`.

use std::collections::{BTreeSet, HashSet};
use std::fmt;

use crate::api::caller::CallContext;
use crate::api::views::agreements::AgreementView;
use crate::crypto;
use crate::domain::agreement::blockers::{self, Blocker, Surroundings};
use crate::domain::agreement::{Agreement, Lifecycle};
use crate::domain::contact::Contact;
use crate::domain::ids::{AgreementId, ContactId};
use crate::domain::member::Changed;
use crate::domain::time::Timestamp;
use crate::domain::workspace::Workspace;
use crate::error::Error;
use crate::platform::config::BaseUrl;
use crate::store::Versioned;

/// What is in the way of publishing a draft, given its workspace and the contacts of its participants.
#[must_use]
pub fn blockers_of(
    act: &CallContext,
    agreement: &Agreement,
    workspace: &Workspace,
    contacts: &[Contact],
) -> Vec<Blocker> {
    blockers_at(act.now(), agreement, workspace, contacts)
}

/// The same at a moment of its own.
#[must_use]
pub fn blockers_at(now: Timestamp, agreement: &Agreement, workspace: &Workspace, contacts: &[Contact]) -> Vec<Blocker> {
    blockers(now, agreement, workspace.activated_at().is_some(), contacts)
}

// Payments and papered items come with their own resources; until then no agreement has any.
fn blockers(now: Timestamp, agreement: &Agreement, workspace_activated: bool, contacts: &[Contact]) -> Vec<Blocker> {
    let around = Surroundings { workspace_activated, contacts, payments: &[], changed_items: &[], now };
    blockers::blockers(agreement, &around)
}

/// The contacts of the agreements' participants, each once, in the order of their ids.
///
/// # Errors
/// When the store can't be read.
pub async fn contacts_of(
    act: &CallContext,
    agreements: impl IntoIterator<Item = &Agreement>,
) -> Result<Vec<Contact>, Error> {
    Ok(versioned_contacts_of(act, agreements).await?.into_iter().map(|contact| contact.value).collect())
}

/// The same, with the version of each.
///
/// # Errors
/// When the store can't be read.
pub async fn versioned_contacts_of(
    act: &CallContext,
    agreements: impl IntoIterator<Item = &Agreement>,
) -> Result<Vec<Versioned<Contact>>, Error> {
    let participants = agreements.into_iter().flat_map(|agreement| &agreement.participants);
    let ids: BTreeSet<ContactId> = participants.map(|participant| participant.contact_id).collect();
    Ok(act.store().versioned_contacts(ids).await?)
}

/// What a page showed of an agreement and of what it refers to, so that nobody confirms anything else: the form carries
/// it, and the decision compares it with what is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewFingerprint {
    /// The agreement's version.
    agreement: u64,
    /// A fingerprint of who takes part and of the workspace.
    surroundings: String,
}

impl ReviewFingerprint {
    /// What a page shows that is made of these.
    #[must_use]
    pub fn of(agreement: &Versioned<Agreement>, workspace: &Workspace, contacts: &[Versioned<Contact>]) -> Self {
        // Of the workspace only what is shown: its version counts whoever joins it, too.
        let mut parts = vec![
            workspace.id().to_string(),
            workspace.name.as_str().to_owned(),
            workspace.activated_at().is_some().to_string(),
        ];
        parts.extend(contacts.iter().map(|contact| format!("{} {}", contact.value.id, contact.version)));
        let parts: Vec<&[u8]> = parts.iter().map(String::as_bytes).collect();
        Self { agreement: agreement.version, surroundings: crypto::hex(&crypto::fingerprint(&parts)) }
    }

    /// Reads what a form carries.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (agreement, surroundings) = text.split_once('-')?;
        Some(Self { agreement: agreement.parse().ok()?, surroundings: surroundings.to_owned() })
    }

    /// What is another now.
    #[must_use]
    pub fn changed_to(&self, now: &Self) -> Option<Changed> {
        if self.agreement != now.agreement {
            return Some(Changed::Agreement);
        }
        (self.surroundings != now.surroundings).then_some(Changed::Surroundings)
    }
}

impl fmt::Display for ReviewFingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.agreement, self.surroundings)
    }
}

/// The workspace of an agreement, which is there as long as the agreement is.
///
/// # Errors
/// When the store can't be read.
pub async fn workspace_of(act: &CallContext, agreement: &Agreement) -> Result<Versioned<Workspace>, Error> {
    let workspace = act.store().workspace(agreement.workspace_id).await?;
    workspace.ok_or_else(|| Error::Internal("an agreement without its workspace".to_owned()))
}

/// An agreement in full, as a single response shows it.
///
/// # Errors
/// When the store can't be read.
pub async fn in_full(act: &CallContext, base_url: &BaseUrl, agreement: &Agreement) -> Result<AgreementView, Error> {
    let contacts = contacts_of(act, [agreement]).await?;
    if agreement.lifecycle() != Lifecycle::Draft {
        return Ok(AgreementView::in_full(agreement, &contacts, &[], false, base_url));
    }
    let workspace = workspace_of(act, agreement).await?.value;
    let blockers = blockers_of(act, agreement, &workspace, &contacts);
    let proposed = act.store().proposed_for_publication([agreement.id()], act.now()).await?;
    Ok(AgreementView::in_full(agreement, &contacts, &blockers, !proposed.is_empty(), base_url))
}

/// Those of the agreements for which a publish proposal can be made.
///
/// # Errors
/// When the store can't be read.
pub async fn ready_to_be_proposed(act: &CallContext, agreements: &[Agreement]) -> Result<HashSet<AgreementId>, Error> {
    let drafts: Vec<&Agreement> =
        agreements.iter().filter(|agreement| agreement.lifecycle() == Lifecycle::Draft).collect();
    // Activation does not keep a draft from being proposed, so that the workspaces need not be read; and the contacts
    // only of drafts in whose way nothing else is.
    let needs_contacts = |draft: &&Agreement| blockers(act.now(), draft, true, &[]).iter().all(Blocker::is_of_contacts);
    let drafts: Vec<&Agreement> = drafts.into_iter().filter(needs_contacts).collect();
    let contacts = contacts_of(act, drafts.iter().copied()).await?;
    let is_ready = |draft: &&&Agreement| blockers(act.now(), draft, true, &contacts).is_empty();
    let ready: Vec<AgreementId> = drafts.iter().filter(is_ready).map(|draft| draft.id()).collect();
    let proposed = act.store().proposed_for_publication(ready.iter().copied(), act.now()).await?;
    Ok(ready.into_iter().filter(|id| !proposed.contains(id)).collect())
}
