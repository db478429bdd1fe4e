//! Trusts and funding as pages show them. Each takes at most three waits for the store.

use std::collections::{BTreeSet, HashMap};

use crate::domain::agreement::Agreement;
use crate::domain::contact::{Contact, ExternalReference};
use crate::domain::day::Day;
use crate::domain::funding::papers::{self, Paper, Parties};
use crate::domain::funding::summary::FundingSummary;
use crate::domain::funding::{FundingItem, Phase};
use crate::domain::ids::{AgreementId, ContactId, FundingItemId, TrustId, WorkspaceId};
use crate::domain::member::funding::ItemPart;
use crate::domain::trust::Trust;
use crate::domain::workspace::{PeopledWorkspace, Workspace};
use crate::error::Error;
use crate::limits;
use crate::service::funding_confirmations::{Confirmation, confirmations};
use crate::service::funding_items::FundingSchedule;
use crate::service::funding_shown::{self, PaperingPart};
use crate::service::scope::Scope;
use crate::service::shown::Shown;
use crate::service::trusts::{TrustInFull, TrustQuery};
use crate::service::workspaces;
use crate::store::Versioned;
use crate::wire::page::{Order, Page};

/// A workspace with funding items, and how many are in each phase.
#[derive(Debug)]
pub struct FundedWorkspace {
    /// The workspace.
    pub workspace: Workspace,
    /// All of its items.
    pub total: u32,
    /// Those that only a claim calls done.
    pub claimed: u32,
    /// Those that are confirmed, or that a member closed.
    pub done: u32,
}

/// The workspaces with funding items, newest first.
pub async fn workspaces_with_funding(scope: &Scope) -> Result<Vec<FundedWorkspace>, Error> {
    let counts = scope.store().funding_phases().await?;
    let found = scope.store().workspaces(counts.keys().copied()).await?;
    let mut funded: Vec<FundedWorkspace> = found
        .into_iter()
        .map(|workspace| {
            let of = |phase| counts.get(&workspace.id()).and_then(|counts| counts.get(&phase)).copied();
            let total = counts.get(&workspace.id()).map(|counts| counts.values().sum()).unwrap_or_default();
            FundedWorkspace {
                total,
                claimed: of(Phase::Claimed).unwrap_or_default(),
                done: of(Phase::Done).unwrap_or_default(),
                workspace: workspace.into_inner(),
            }
        })
        .collect();
    funded.sort_by_key(|funded| std::cmp::Reverse(funded.workspace.id()));
    Ok(funded)
}

/// A page of trusts, with their workspaces.
#[derive(Debug)]
pub struct TrustPage {
    /// The trusts.
    pub page: Page<TrustInFull>,
    /// Their workspaces.
    pub workspaces: HashMap<WorkspaceId, Workspace>,
}

/// A page of the trusts that match a query.
pub async fn trusts(scope: &Scope, order: Order, query: &TrustQuery) -> Result<TrustPage, Error> {
    let page = scope.store().list_trusts(order, query).await?;
    let wanted: BTreeSet<WorkspaceId> = page.data.iter().map(|trust| trust.workspace_id).collect();
    let (counts, found) =
        futures_util::try_join!(scope.store().item_counts(query.workspace_id), scope.store().workspaces(wanted))?;
    let in_full = |trust: Trust| {
        let item_count = counts.get(&trust.id).copied().unwrap_or_default();
        TrustInFull { trust, item_count }
    };
    let workspaces = found.into_iter().map(|found| (found.id(), found.into_inner())).collect();
    Ok(TrustPage { page: page.map(in_full), workspaces })
}

/// The people of a workspace, who can settle a trust and act for it.
pub async fn people(scope: &Scope, id: WorkspaceId) -> Result<(Workspace, Vec<Contact>), Error> {
    let trusts = async { scope.store().trusts_of(id).await.map_err(Error::from) };
    let (workspace, trusts) = futures_util::try_join!(workspaces::peopled(scope, id), trusts)?;
    let people = contacts(scope, owner_candidates(&workspace, &trusts)).await?;
    Ok((workspace.into_workspace(), people))
}

/// A trust in the form that changes it.
#[derive(Debug)]
pub struct TrustEdit {
    /// The trust, with its version.
    pub trust: Versioned<Trust>,
    /// Its workspace.
    pub workspace: Workspace,
    /// Its possible and current settlors and trustees.
    pub people: Vec<Contact>,
    /// How many of its items have a draft with its name and its people.
    pub papered: usize,
}

/// A trust with the people that it can name.
pub async fn trust_to_edit(scope: &Scope, id: TrustId) -> Result<TrustEdit, Error> {
    let workspace = scope.store().workspace_of_trust(id).await?.ok_or_else(Error::not_found)?;
    let funding = async { scope.store().versioned_funding_of(workspace).await.map_err(Error::from) };
    let (workspace, funding) = futures_util::try_join!(workspaces::peopled(scope, workspace), funding)?;
    let known: Vec<Trust> = funding.trusts.iter().map(|trust| Trust::clone(trust)).collect();
    let trust = funding.trusts.into_iter().find(|trust| trust.id == id).ok_or_else(Error::not_found)?;
    let people = contacts(scope, owner_candidates(&workspace, &known)).await?;
    let is_papered = |item: &FundingItem| item.trust_id() == Some(id) && item.phase() == Phase::Papered;
    let papered = funding.items.iter().filter(|item| is_papered(item)).count();
    Ok(TrustEdit { trust, workspace: workspace.into_workspace(), people, papered })
}

/// The funding of a workspace as its page shows it.
#[derive(Debug)]
pub struct WorkspaceFundingReview {
    /// The workspace.
    pub workspace: Workspace,
    /// All of its trusts and items, and how many are where.
    pub schedule: FundingSchedule,
    /// Its people, all or as many as forms offer; those of its trusts; and everyone who owns an item.
    pub people: Vec<Contact>,
}

impl WorkspaceFundingReview {
    /// A trust of the workspace.
    #[must_use]
    pub fn trust(&self, id: Option<TrustId>) -> Option<&Trust> {
        self.schedule.trusts.iter().find(|trust| Some(trust.id) == id)
    }
}

/// The funding of a workspace, with as many of its people as forms offer.
pub async fn of_workspace(scope: &Scope, id: WorkspaceId) -> Result<WorkspaceFundingReview, Error> {
    with_people(scope, id, limits::FUNDING_PEOPLE_SHOWN).await
}

/// The same with all of its people, for files that name them.
pub async fn of_workspace_with_everyone(scope: &Scope, id: WorkspaceId) -> Result<WorkspaceFundingReview, Error> {
    with_people(scope, id, limits::WORKSPACE_PEOPLE_MAX).await
}

async fn with_people(scope: &Scope, id: WorkspaceId, most: usize) -> Result<WorkspaceFundingReview, Error> {
    let (workspace, schedule) = futures_util::try_join!(workspaces::peopled(scope, id), schedule_of(scope, id))?;
    let owners = schedule.items.iter().flat_map(FundingItem::owner_contact_ids).copied();
    let people = people_of(&workspace, &schedule.trusts, most).into_iter().chain(owners).collect();
    let people = contacts(scope, people).await?;
    Ok(WorkspaceFundingReview { workspace: workspace.into_workspace(), schedule, people })
}

async fn schedule_of(scope: &Scope, id: WorkspaceId) -> Result<FundingSchedule, Error> {
    let funding = scope.store().funding_of(id).await?;
    let summary = FundingSummary::of(&funding.items);
    Ok(FundingSchedule { workspace_id: id, trusts: funding.trusts, items: funding.items, summary })
}

/// The owners that forms offer for an item: people of the workspace, and those of its trusts.
fn owner_candidates(workspace: &PeopledWorkspace, trusts: &[Trust]) -> BTreeSet<ContactId> {
    people_of(workspace, trusts, limits::FUNDING_PEOPLE_SHOWN)
}

fn people_of(workspace: &PeopledWorkspace, trusts: &[Trust], most: usize) -> BTreeSet<ContactId> {
    let of_trust =
        |trust: &Trust| trust.settlor_contact_ids.iter().chain(&trust.trustee_contact_ids).copied().collect::<Vec<_>>();
    let own: BTreeSet<ContactId> = trusts.iter().map(|trust| trust.contact_id).collect();
    let of_trusts = trusts.iter().flat_map(of_trust);
    // The trust itself receives: it owns nothing yet.
    let people = workspace.people().iter().copied().filter(|id| !own.contains(id));
    people.take(most).chain(of_trusts).collect()
}

async fn contacts(scope: &Scope, ids: BTreeSet<ContactId>) -> Result<Vec<Contact>, Error> {
    let found = scope.store().contacts(ids).await?;
    let mut found: Vec<Contact> = found.into_iter().map(Versioned::into_inner).collect();
    found.sort_by(|one, other| one.display_name.as_str().cmp(other.display_name.as_str()));
    Ok(found)
}

/// A funding item as its page shows it.
#[derive(Debug)]
pub struct ItemReview {
    /// The item, as of now.
    pub item: FundingItem,
    /// Its version.
    pub version: u64,
    /// Its workspace.
    pub workspace: Workspace,
    /// All trusts of the workspace.
    pub trusts: Vec<Trust>,
    /// Its possible and current owners.
    pub people: Vec<Contact>,
    /// The agreement that papers it, or by which it was funded.
    pub agreement: Option<Agreement>,
    /// The files that participants uploaded to confirm the transfer, neither filed nor returned, while it needs proof.
    pub confirmations: Vec<Confirmation>,
    /// What the page shows, for the forms of decisions.
    pub shown: Shown<ItemPart>,
}

/// A funding item.
pub async fn item(scope: &Scope, id: FundingItemId) -> Result<ItemReview, Error> {
    let place = scope.store().funding_item_place(id).await?.ok_or_else(Error::not_found)?;
    let found = async { scope.store().funding_item_at(&place).await.map_err(Error::from) };
    let trusts = async { scope.store().trusts_of(place.workspace).await.map_err(Error::from) };
    let workspace = workspaces::peopled(scope, place.workspace);
    let (found, trusts, workspace) = futures_util::try_join!(found, trusts, workspace)?;
    let found = found.ok_or_else(Error::not_found)?;
    let agreement = async {
        match found.agreement_id() {
            Some(id) => scope.store().agreement(id).await.map_err(Error::from),
            None => Ok(None),
        }
    };
    let mut wanted = owner_candidates(&workspace, &trusts);
    wanted.extend(found.owner_contact_ids());
    let submissions = async {
        match found.agreement_id().filter(|_| matches!(found.phase(), Phase::InProgress | Phase::Claimed)) {
            Some(id) => scope.store().submissions(id).await.map_err(Error::from),
            None => Ok(Vec::new()),
        }
    };
    let (agreement, people, submissions) = futures_util::try_join!(agreement, contacts(scope, wanted), submissions)?;
    let version = found.version();
    let item = found.into_inner();
    let (workspace, agreement) = (workspace.into_workspace(), agreement.map(Versioned::into_inner));
    let confirmations = agreement.iter().flat_map(|agreement| confirmations(agreement, &submissions, id));
    let confirmations = confirmations.map(|found| found.shown()).filter(|found| item.proof(found.proof_id).is_none());
    let confirmations = confirmations.collect();
    let trust = trusts.iter().find(|trust| Some(trust.id) == item.trust_id());
    let shown = funding_shown::of_item(&item, agreement.as_ref(), &workspace, trust, &people);
    Ok(ItemReview { item, version, workspace, trusts, people, agreement, confirmations, shown })
}

/// A trust as its page shows it.
#[derive(Debug)]
pub struct TrustReview {
    /// The trust.
    pub trust: Trust,
    /// Its workspace.
    pub workspace: Workspace,
    /// Its items.
    pub items: Vec<FundingItem>,
    /// Its settlors and trustees.
    pub people: Vec<Contact>,
    /// The agreements that paper its items, newest first, as many as fit.
    pub agreements: Vec<Agreement>,
    /// How many more there are.
    pub more_agreements: usize,
}

/// A trust.
pub async fn trust(scope: &Scope, id: TrustId) -> Result<TrustReview, Error> {
    let workspace = scope.store().workspace_of_trust(id).await?.ok_or_else(Error::not_found)?;
    let (workspace, schedule) =
        futures_util::try_join!(workspaces::get_without_people(scope, workspace), schedule_of(scope, workspace))?;
    let workspace = workspace.into_inner();
    let FundingSchedule { trusts, items, .. } = schedule;
    let trust = trusts.into_iter().find(|trust| trust.id == id).ok_or_else(Error::not_found)?;
    let items: Vec<FundingItem> = items.into_iter().filter(|item| item.trust_id() == Some(id)).collect();
    let papering: BTreeSet<AgreementId> = items.iter().filter_map(FundingItem::agreement_id).collect();
    let shown: Vec<AgreementId> = papering.iter().rev().copied().take(limits::TRUST_AGREEMENTS_SHOWN).collect();
    let more_agreements = papering.len() - shown.len();
    let agreements = async { scope.store().agreements(shown).await.map_err(Error::from) };
    let named = trust.settlor_contact_ids.iter().chain(&trust.trustee_contact_ids).copied().collect();
    let (agreements, people) = futures_util::try_join!(agreements, contacts(scope, named))?;
    let mut agreements: Vec<Agreement> = agreements.into_iter().map(Versioned::into_inner).collect();
    agreements.sort_by_key(|agreement| std::cmp::Reverse(agreement.id()));
    Ok(TrustReview { trust, workspace, items, people, agreements, more_agreements })
}

/// The content of an agreement that papers some items.
#[derive(Debug)]
pub struct PaperingPreview {
    /// The workspace.
    pub workspace: Workspace,
    /// The named items of the workspace, in their order.
    pub items: Vec<FundingItem>,
    /// Their trust, if it is the same for all.
    pub trust: Option<Trust>,
    /// The contacts of the trust and of the owners.
    pub contacts: Vec<Contact>,
    /// The texts of the documents, one for each item that has one.
    pub papers: Vec<Paper>,
    /// What the preview shows, if there is one.
    pub shown: Option<Shown<PaperingPart>>,
}

/// Previews the papering of items of a workspace. It checks nothing: the items say what keeps each from it.
pub async fn papering(
    scope: &Scope,
    workspace: WorkspaceId,
    day: Day,
    ids: &[FundingItemId],
) -> Result<PaperingPreview, Error> {
    let (workspace, FundingSchedule { trusts, items, .. }) =
        futures_util::try_join!(workspaces::get_without_people(scope, workspace), schedule_of(scope, workspace))?;
    let workspace = workspace.into_inner();
    let found = |id: &FundingItemId| items.iter().find(|item| item.id() == *id).cloned();
    let items: Vec<FundingItem> = ids.iter().filter_map(found).collect();
    let of: BTreeSet<Option<TrustId>> = items.iter().map(FundingItem::trust_id).collect();
    let only = if of.len() == 1 { of.into_iter().next().flatten() } else { None };
    let Some(trust) = trusts.into_iter().find(|trust| Some(trust.id) == only) else {
        let (contacts, papers) = (Vec::new(), Vec::new());
        return Ok(PaperingPreview { workspace, items, trust: None, contacts, papers, shown: None });
    };
    let contacts = contacts(scope, papers::named_contacts(&trust, &items)).await?;
    let parties = Parties { trust: &trust, contacts: &contacts };
    let papers = items.iter().filter_map(|item| papers::paper(item, parties, day)).collect();
    let shown = Some(funding_shown::of_papering(items.iter(), &workspace, &trust, &contacts, day));
    Ok(PaperingPreview { workspace, items, trust: Some(trust), contacts, papers, shown })
}

/// Which of some external references already have a funding item.
pub async fn taken_references<'a>(
    scope: &Scope,
    references: impl IntoIterator<Item = &'a ExternalReference>,
) -> Result<HashMap<String, FundingItemId>, Error> {
    Ok(scope.store().funding_references(references).await?)
}
