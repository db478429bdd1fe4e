//! Funding items: reading, adding, sorting, parking; and what members do about them. Papering is in
//! [`papering`](super::papering), adding many in [`funding_import`](super::funding_import).
//!
//! Decision: what ends an agreement opens its items again in the same transaction ([`endings`](super::endings)), so
//! every read, list and summary tells the truth from one record, and no act has to look whether an agreement has ended.

use crate::domain::agreement::Agreement;
use crate::domain::contact::{ListedContact, NewContact};
use crate::domain::day::Day;
use crate::domain::funding::input::{FundingItemChanges, NewFundingItem, Parking};
use crate::domain::funding::proof::NewProof;
use crate::domain::funding::summary::FundingSummary;
use crate::domain::funding::{CloseReason, FundingItem, ItemChange, Place};
use crate::domain::ids::{AgreementId, FundingItemId, ProofId, SubmissionId, TrustId, WorkspaceId};
use crate::domain::member::Member;
use crate::domain::member::funding::{self as acts, FundingChange, ItemPart, ItemParts, NotDone};
use crate::domain::moment::Moment;
use crate::domain::movement::safe_text::SafeNote;
use crate::domain::note::Note;
use crate::domain::trust::Trust;
use crate::error::Error;
use crate::limits;
use crate::service::funding_confirmations::confirmations;
use crate::service::funding_shown;
use crate::service::parties::{Parties, PartyChoice};
use crate::service::precondition::ExpectedVersion;
use crate::service::scope::{Plan, Scope, Writer};
use crate::service::shown::Shown;
use crate::service::trusts::unknown_contacts;
use crate::service::workspaces;
use crate::store::keys::Rows;
use crate::store::{Versioned, agreements, funding_items as stored};
use crate::wire::fields::{FieldCode, FieldErrors};
use crate::wire::input::{NullablePatch, Patch};
use crate::wire::page::{Order, Page};

pub use crate::store::funding_items::FundingItemQuery;

/// A funding item.
pub async fn get(scope: &Scope, id: FundingItemId) -> Result<Versioned<FundingItem>, Error> {
    scope.store().funding_item(id).await?.ok_or_else(Error::not_found)
}

/// A page of the funding items that match a query.
pub async fn list(scope: &Scope, order: Order, query: &FundingItemQuery) -> Result<Page<FundingItem>, Error> {
    Ok(scope.store().list_funding_items(order, query).await?)
}

/// The funding of a workspace.
#[derive(Debug)]
pub struct FundingSchedule {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// Its trusts, the oldest first.
    pub trusts: Vec<Trust>,
    /// Its items, the oldest first.
    pub items: Vec<FundingItem>,
    /// How many are where.
    pub summary: FundingSummary,
}

impl FundingSchedule {
    /// How many items a trust has.
    #[must_use]
    pub fn items_of(&self, trust: TrustId) -> u32 {
        let items = self.items.iter().filter(|item| item.trust_id() == Some(trust)).count();
        u32::try_from(items).unwrap_or(u32::MAX)
    }
}

/// All of a workspace's funding, from one strongly consistent read of its items.
pub async fn schedule(scope: &Scope, workspace_id: WorkspaceId) -> Result<FundingSchedule, Error> {
    let funding = async { scope.store().funding_of(workspace_id).await.map_err(Error::from) };
    let workspace = workspaces::get_without_people(scope, workspace_id);
    let (_, funding) = futures_util::try_join!(workspace, funding)?;
    let summary = FundingSummary::of(&funding.items);
    Ok(FundingSchedule { workspace_id, trusts: funding.trusts, items: funding.items, summary })
}

/// The result of adding an item.
#[derive(Debug)]
pub enum Upserted {
    /// A new item, at version 1.
    Created(FundingItem),
    /// The item that already has the reference, unchanged, and the names of fields sent with other values.
    Existing(Versioned<FundingItem>, Vec<&'static str>),
}

/// Adds an item, or finds the item that already has its reference. Errors at `workspace_id` and `trust_id`.
pub async fn create(by: &impl Writer, new: NewFundingItem) -> Result<Plan<Upserted>, Error> {
    create_with_id(by, FundingItemId::new(), new).await
}

/// Adds an item with the id from its form.
pub async fn create_with_id(by: &impl Writer, id: FundingItemId, new: NewFundingItem) -> Result<Plan<Upserted>, Error> {
    let scope = by.scope();
    check_references(scope, &new).await?;
    if let Some(reference) = &new.external_reference
        && let Some(holder) = scope.store().funding_item_with_reference(reference).await?
    {
        let existing = scope.store().funding_item(holder).await?.ok_or(Error::Conflict)?;
        if existing.workspace_id() != new.workspace_id {
            let message = "is not the workspace of the item that has this external_reference";
            return Err(Error::Invalid(FieldErrors::one("workspace_id", FieldCode::WrongWorkspace, message)));
        }
        scope.store().acknowledge_found(Rows::FundingItems, &existing).await?;
        let ignored = new.differences(&existing);
        return Ok(Plan::new(scope, Upserted::Existing(existing, ignored)).showing([holder.uuid()]));
    }
    let created = added(scope, vec![(id, new)]).await?.pop().ok_or(Error::Conflict)?;
    let changes = stored::create(scope.call(), &created)?;
    let events = created.events().to_vec();
    let plan = Plan::new(scope, Upserted::Created(created.into_item()));
    Ok(plan.change([changes]).emit(events).showing([id.uuid()]))
}

/// New items of one workspace, each at its own place. Items that the rules refuse take none.
pub(super) async fn added(scope: &Scope, new: Vec<(FundingItemId, NewFundingItem)>) -> Result<Vec<ItemChange>, Error> {
    let Some(workspace) = new.first().map(|(_, new)| new.workspace_id) else { return Ok(Vec::new()) };
    let (by, now) = (scope.actor(), scope.now());
    let add = |(id, new), place| FundingItem::add(id, place, new, by.clone(), now).map_err(Error::Invalid);
    for new in &new {
        add(new.clone(), Place::FIRST)?;
    }
    let places = scope.store().free_places(workspace, new.len()).await?;
    if places.len() < new.len() {
        let message = format!("has {} items, as many as a workspace may have", limits::WORKSPACE_FUNDING_ITEMS_MAX);
        return Err(Error::Invalid(FieldErrors::one("workspace_id", FieldCode::LimitReached, message)));
    }
    new.into_iter().zip(places).map(|(new, place)| add(new, place)).collect()
}

/// Checks that workspace and trust of a new item are the organization's, and the trust is the workspace's.
async fn check_references(scope: &Scope, new: &NewFundingItem) -> Result<(), Error> {
    let workspace = async {
        match workspaces::named(scope, new.workspace_id).await {
            Ok(_) => Ok(FieldErrors::default()),
            Err(Error::NotFound(errors)) => Ok(errors),
            Err(error) => Err(error),
        }
    };
    let (mut unknown, trust) = futures_util::try_join!(workspace, named_trust(scope, new.trust_id))?;
    unknown.extend(trust.as_ref().err().cloned().unwrap_or_default());
    if !unknown.is_empty() {
        return Err(Error::NotFound(unknown));
    }
    check_workspace(trust.ok().flatten().as_deref(), new.workspace_id).map_err(Error::Invalid)
}

async fn named_trust(
    scope: &Scope,
    id: Option<TrustId>,
) -> Result<Result<Option<Versioned<Trust>>, FieldErrors>, Error> {
    let Some(id) = id else { return Ok(Ok(None)) };
    Ok(scope.store().trust(id).await?.map(Some).ok_or_else(unknown_trust))
}

pub(super) fn unknown_trust() -> FieldErrors {
    FieldErrors::one("trust_id", FieldCode::NotFound, "is no trust of your organization")
}

pub(super) fn check_workspace(trust: Option<&Trust>, workspace: WorkspaceId) -> Result<(), FieldErrors> {
    match trust {
        Some(trust) if trust.workspace_id != workspace => {
            let message = "is a trust of another workspace";
            Err(FieldErrors::one("trust_id", FieldCode::WrongWorkspace, message))
        }
        _ => Ok(()),
    }
}

#[derive(Debug)]
struct Current {
    item: Versioned<FundingItem>,
    agreement: Option<Versioned<Agreement>>,
    moment: Moment,
}

impl Current {
    async fn load(scope: &Scope, id: FundingItemId) -> Result<Self, Error> {
        let item = get(scope, id).await?;
        let agreement = match item.agreement_id() {
            Some(id) => scope.store().agreement(id).await?,
            None => None,
        };
        let moment = scope.moment_after(item.updated_at());
        Ok(Self { item, agreement, moment })
    }

    async fn shown(&self, scope: &Scope) -> Result<Shown<ItemPart>, Error> {
        let trust = async {
            match self.item.trust_id() {
                Some(id) => scope.store().trust(id).await.map_err(Error::from),
                None => Ok(None),
            }
        };
        let owners = async {
            let owners = scope.store().contacts(self.item.owner_contact_ids().iter().copied()).await?;
            Ok(owners.into_iter().map(Versioned::into_inner).collect::<Vec<_>>())
        };
        let workspace = workspaces::get_without_people(scope, self.item.workspace_id());
        let (workspace, trust, owners) = futures_util::try_join!(workspace, trust, owners)?;
        Ok(funding_shown::of_item(&self.item, self.agreement.as_deref(), &workspace, trust.as_deref(), &owners))
    }

    fn context(&self) -> acts::FundingContext<'_> {
        acts::FundingContext { agreement: self.agreement.as_deref(), moment: self.moment }
    }
}

fn changed(
    scope: &Scope,
    before: &Versioned<FundingItem>,
    moment: Moment,
    change: ItemChange,
) -> Result<Plan<(FundingItem, u64)>, Error> {
    let shown = [before.id().uuid()];
    if *change == **before {
        let version = before.version();
        return Ok(Plan::new(scope, (change.into_item(), version)).showing(shown));
    }
    let written = stored::change(scope.call(), before, &change)?;
    let (version, events) = (before.version() + 1, change.events().to_vec());
    let plan = Plan::new(scope, (change.into_item(), version)).decided_at(moment);
    Ok(plan.change([written]).emit(events).showing(shown))
}

/// Sorts an item, and returns it with its version. A change without an effect makes no new version.
pub async fn update(
    by: &impl Writer,
    id: FundingItemId,
    expected: &ExpectedVersion,
    changes: FundingItemChanges,
) -> Result<Plan<(FundingItem, u64)>, Error> {
    Ok(sorted(by.scope(), id, expected, changes, None).await?.0)
}

/// What tells the fields of an owner who is named in an item's form from others.
pub const NAMED_OWNER: &str = "owner";

/// An item whose form was saved.
#[derive(Debug)]
pub struct SavedInForm {
    /// As it is now.
    pub item: FundingItem,
    /// The contact that was there and owns it by the typed name.
    pub existing: Vec<ListedContact>,
}

/// Sorts an item from its form, with an owner whom the form names besides those chosen. Errors also at the fields of
/// [`NAMED_OWNER`].
pub async fn update_in_form(
    by: &impl Writer,
    id: FundingItemId,
    expected: &ExpectedVersion,
    changes: FundingItemChanges,
    named: Option<NewContact>,
) -> Result<Plan<SavedInForm>, Error> {
    let (plan, existing) = sorted(by.scope(), id, expected, changes, named).await?;
    Ok(plan.map(|(item, _)| SavedInForm { item, existing }))
}

async fn sorted(
    scope: &Scope,
    id: FundingItemId,
    expected: &ExpectedVersion,
    mut changes: FundingItemChanges,
    named_owner: Option<NewContact>,
) -> Result<(Plan<(FundingItem, u64)>, Vec<ListedContact>), Error> {
    let trust_id = if let NullablePatch::Set(id) = &changes.trust_id { Some(*id) } else { None };
    let owners = if let Patch::Set(owners) = &changes.owner_contact_ids { owners.as_slice() } else { &[] };
    let item = get(scope, id).await?;
    let named = [("owner_contact_ids", owners)];
    let (trust, of_owners) = futures_util::try_join!(named_trust(scope, trust_id), unknown_contacts(scope, &named))?;
    let mut unknown = trust.as_ref().err().cloned().unwrap_or_default();
    unknown.extend(of_owners);
    if !unknown.is_empty() {
        return Err(Error::NotFound(unknown));
    }
    expected.check(item.version())?;
    let owner = named_owner.map(|new| (NAMED_OWNER.to_owned(), PartyChoice::Named(new)));
    let parties = Parties::find(scope, &owner.into_iter().collect()).await?;
    if let Patch::Set(owners) = &mut changes.owner_contact_ids {
        *owners = parties.with("owner_contact_ids", owners.as_slice(), [NAMED_OWNER].into_iter())?;
    }
    let mut errors = FieldErrors::default();
    errors.extend(check_workspace(trust.ok().flatten().as_deref(), item.workspace_id()).err().unwrap_or_default());
    let moment = scope.moment_after(item.updated_at());
    let plan = match item.sort(changes, moment.at()) {
        Ok(change) if errors.is_empty() => changed(scope, &item, moment, change)?,
        Ok(_) => return Err(Error::Invalid(errors)),
        Err(found) => {
            errors.extend(found);
            return Err(Error::Invalid(errors));
        }
    };
    Ok((parties.join(scope, item.workspace_id(), plan).await?, parties.existing))
}

/// Puts an item on hold, or clears its hold. Repeating it changes nothing.
pub async fn park(by: &impl Writer, id: FundingItemId, parking: Parking) -> Result<Plan<(FundingItem, u64)>, Error> {
    let scope = by.scope();
    let item = get(scope, id).await?;
    let moment = scope.moment_after(item.updated_at());
    let change = item.park(parking, scope.actor().clone(), moment.at()).map_err(Error::Invalid)?;
    changed(scope, &item, moment, change)
}

/// What a member does about an item.
#[derive(Debug, Clone)]
pub enum FundingAct {
    /// Closes it as unfunded.
    CloseUnfunded(CloseReason, Option<Note>),
    /// Records that the owner says it is done.
    RecordClaim(Option<SafeNote>),
    /// Withdraws the owner's claim.
    WithdrawClaim(SafeNote),
    /// Files proof from the receiving side.
    FileProof(NewProof),
    /// Accepts proof: the item is funded.
    AcceptProof(ProofId),
    /// Rejects proof.
    RejectProof(ProofId, SafeNote),
    /// Opens it again.
    Reopen,
}

/// Does what a member's form asks for.
pub async fn act(
    scope: &Scope,
    by: &Member,
    id: FundingItemId,
    act: FundingAct,
) -> Result<Plan<Result<(), NotDone>>, Error> {
    act_on(scope, by, &Current::load(scope, id).await?, act)
}

/// The same for an act that a member decides on a page, if the item is still as the page showed it.
pub async fn act_as_shown(
    scope: &Scope,
    by: &Member,
    id: FundingItemId,
    act: FundingAct,
    shown: &Shown<ItemPart>,
) -> Result<Plan<Result<(), NotDone>>, Error> {
    let current = Current::load(scope, id).await?;
    // The refusal of a rule precedes that of an outdated page.
    if decide(by, &current, act.clone()).is_ok()
        && let changed = shown.changed_to(&current.shown(scope).await?)
        && !changed.is_empty()
    {
        let parts = ItemParts::which(|part| changed.contains(&part));
        let refused = Err(NotDone::ChangedSinceShown(parts));
        return Ok(Plan::new(scope, refused).decided_at(current.moment).showing([id.uuid()]));
    }
    act_on(scope, by, &current, act)
}

/// Files the file of an accepted answer of the item's agreement as proof.
pub async fn file_confirmation(
    scope: &Scope,
    by: &Member,
    id: FundingItemId,
    submission: SubmissionId,
    dated: Day,
) -> Result<Plan<Result<(), NotDone>>, Error> {
    let current = Current::load(scope, id).await?;
    let Some(agreement) = &current.agreement else { return Err(Error::not_found()) };
    let submissions = scope.store().submissions(agreement.id()).await?;
    let found = confirmations(agreement, &submissions, id).find(|found| found.submission.id == submission);
    let new = found.and_then(|found| found.as_proof(&current.item, dated)).ok_or_else(Error::not_found)?;
    act_on(scope, by, &current, FundingAct::FileProof(new))
}

fn act_on(scope: &Scope, by: &Member, current: &Current, act: FundingAct) -> Result<Plan<Result<(), NotDone>>, Error> {
    let id = current.item.id();
    let shown = [id.uuid()].into_iter().chain(current.item.agreement_id().map(AgreementId::uuid));
    let shown: Vec<_> = shown.collect();
    let plan = |outcome| Plan::new(scope, outcome).decided_at(current.moment).showing(shown.clone());
    let change = match decide(by, current, act) {
        Ok(change) => change,
        Err(refused) => return Ok(plan(Err(refused))),
    };
    let FundingChange { item, events } = change;
    let mut changes = vec![stored::act(scope.call(), &current.item, &item)?];
    // Another member may cancel the agreement at the same moment, so it must be unchanged.
    changes.extend(current.agreement.as_ref().map(|agreement| agreements::check(scope.call(), agreement)));
    Ok(plan(Ok(())).change(changes).emit(events))
}

fn decide(by: &Member, current: &Current, act: FundingAct) -> Result<FundingChange, NotDone> {
    let (item, moment) = (&current.item, current.moment);
    match act {
        FundingAct::CloseUnfunded(reason, note) => acts::close_unfunded(by, item, current.context(), reason, note),
        FundingAct::RecordClaim(note) => acts::record_claim(by, item, current.context(), note),
        FundingAct::WithdrawClaim(reason) => acts::withdraw_claim(by, item, current.context(), reason),
        FundingAct::FileProof(new) => acts::file_proof(by, item, current.context(), new),
        FundingAct::AcceptProof(proof) => acts::accept_proof(by, item, current.context(), proof),
        FundingAct::RejectProof(proof, reason) => acts::reject_proof(by, item, moment, proof, reason),
        FundingAct::Reopen => acts::reopen_item(by, item, current.context()),
    }
}
