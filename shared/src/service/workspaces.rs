//! Workspaces: reading, creating, activating, adding and removing people.

use std::collections::{BTreeSet, HashSet};

use crate::domain::agreement::{Agreement, AgreementName, Lifecycle};
use crate::domain::contact::{Contact, NewContact};
use crate::domain::ids::{AgreementId, ContactId, WorkspaceId};
use crate::domain::member::{self, Member};
use crate::domain::workspace::{NewPerson, NewWorkspace, PeopledWorkspace, Workspace};
use crate::error::Error;
use crate::limits;
use crate::service::due::Settlement;
use crate::service::scope::{Joining, Plan, Scope, Writer};
use crate::service::system::SystemContext;
use crate::store::agreements::AgreementOfWorkspace;
use crate::store::{Versioned, contacts, workspaces as stored};
use crate::wire::page::{Order, Page, PageRequest, Shelf};

pub use crate::store::workspaces::WorkspaceQuery;

/// A workspace with its people, ordered by id.
#[derive(Debug)]
pub struct WorkspaceWithPeople {
    /// The workspace.
    pub workspace: Workspace,
    /// Its people.
    pub people: Vec<Contact>,
}

/// A workspace with its people.
pub async fn get(scope: &Scope, id: WorkspaceId) -> Result<WorkspaceWithPeople, Error> {
    let workspace = peopled(scope, id).await?;
    let people = scope.store().people_of(&workspace).await?;
    Ok(WorkspaceWithPeople { workspace: workspace.into_workspace(), people })
}

/// A workspace with the ids of its people.
pub async fn peopled(scope: &Scope, id: WorkspaceId) -> Result<PeopledWorkspace, Error> {
    scope.store().workspace_with_people(id).await?.ok_or_else(Error::not_found)
}

/// A workspace without its people.
pub async fn get_without_people(scope: &Scope, id: WorkspaceId) -> Result<Versioned<Workspace>, Error> {
    scope.store().workspace(id).await?.ok_or_else(Error::not_found)
}

/// A page of the workspaces that match a query.
pub async fn list(scope: &Scope, order: Order, shelf: Shelf, query: &WorkspaceQuery) -> Result<Page<Workspace>, Error> {
    Ok(scope.store().list_workspaces(order, shelf, query).await?)
}

/// A page of the workspaces that have a contact among their people.
pub async fn list_of_contact(scope: &Scope, contact: ContactId, page: PageRequest) -> Result<Page<Workspace>, Error> {
    Ok(scope.store().workspaces_of(contact, page).await?)
}

/// A workspace with a page of its people.
#[derive(Debug)]
pub struct WorkspacePeople {
    /// The workspace.
    pub workspace: Workspace,
    /// The page of its people, ordered by id.
    pub people: Page<Contact>,
}

/// A workspace with a page of its people.
pub async fn get_with_people_page(scope: &Scope, id: WorkspaceId, page: PageRequest) -> Result<WorkspacePeople, Error> {
    let workspace = peopled(scope, id).await?;
    let positions = page.positions();
    let on_page = (0..).zip(workspace.people()).filter(|(position, _)| positions.contains(position));
    let contacts = scope.store().contacts(on_page.map(|(_, id)| *id)).await?;
    let contacts = contacts.into_iter().map(Versioned::into_inner).collect();
    let people = Page::new(contacts, u64::try_from(workspace.people_count).unwrap_or(u64::MAX), page);
    Ok(WorkspacePeople { workspace: workspace.into_workspace(), people })
}

pub(super) async fn named(scope: &Scope, id: WorkspaceId) -> Result<Versioned<Workspace>, Error> {
    scope.store().workspace(id).await?.ok_or_else(|| Error::unknown_reference("workspace_id", "workspace"))
}

pub(super) async fn named_with_people(scope: &Scope, id: WorkspaceId) -> Result<PeopledWorkspace, Error> {
    let workspace = scope.store().workspace_with_people(id).await?;
    workspace.ok_or_else(|| Error::unknown_reference("workspace_id", "workspace"))
}

/// The workspace of an agreement, which exists as long as the agreement does.
pub(super) async fn workspace_of(scope: &Scope, id: WorkspaceId) -> Result<Versioned<Workspace>, Error> {
    scope.store().workspace(id).await?.ok_or_else(lost)
}

pub(super) async fn workspace_of_with_people(scope: &Scope, id: WorkspaceId) -> Result<PeopledWorkspace, Error> {
    scope.store().workspace_with_people(id).await?.ok_or_else(lost)
}

fn lost() -> Error {
    Error::Internal("an agreement without its workspace".to_owned())
}

/// The changes that make contacts, to whom an agreement is going to refer, a workspace's people, if they aren't yet.
pub(super) fn join(
    scope: &Scope,
    before: &PeopledWorkspace,
    contacts: impl IntoIterator<Item = ContactId>,
) -> Result<Joining, Error> {
    let contacts: BTreeSet<ContactId> = contacts.into_iter().collect();
    let (there, new): (Vec<_>, Vec<_>) = contacts.into_iter().partition(|id| before.people().contains(id));
    let mut after = before.clone();
    for contact in &new {
        after = after.add_person(*contact, scope.now()).map_err(Error::Invalid)?;
    }
    let person = |contact: &ContactId| stored::add_person(scope.call(), before, *contact);
    let counted = (!new.is_empty()).then(|| stored::count_people_later(scope.call(), before.id()));
    Ok(Joining { people: new.iter().chain(&there).map(person).collect(), counted })
}

/// Makes a participant of an agreement one of the people of its workspace, if the agreement's transaction had no room.
pub(super) async fn join_later(
    system: &SystemContext,
    agreement: &Agreement,
    contact: ContactId,
) -> Result<Plan<Settlement>, Error> {
    let scope = system.scope();
    let before = workspace_of_with_people(scope, agreement.workspace_id).await?;
    if before.people().contains(&contact) {
        return Ok(Plan::new(scope, Settlement::Stale));
    }
    let joining = join(scope, &before, [contact])?;
    let shown = [before.id().uuid(), contact.uuid(), agreement.id().uuid()];
    Ok(Plan::new(scope, Settlement::Settled).join(joining, None).showing(shown))
}

/// Creates a workspace.
pub async fn create(by: &impl Writer, new: NewWorkspace) -> Result<Plan<WorkspaceWithPeople>, Error> {
    create_with_id(by, WorkspaceId::new(), new).await
}

/// Creates a workspace with the id from its form.
pub async fn create_with_id(
    by: &impl Writer,
    id: WorkspaceId,
    new: NewWorkspace,
) -> Result<Plan<WorkspaceWithPeople>, Error> {
    let scope = by.scope();
    let workspace = new_with_people(scope, id, new, BTreeSet::new()).await?;
    let changes = stored::create(scope.call(), &workspace)?;
    let created = WorkspaceWithPeople { workspace: workspace.into_workspace(), people: Vec::new() };
    Ok(Plan::new(scope, created).change(changes).showing([id.uuid()]))
}

/// A new workspace with the next number. Nothing is written yet but that the number is taken.
pub(super) async fn new_with_people(
    scope: &Scope,
    id: WorkspaceId,
    new: NewWorkspace,
    people: BTreeSet<ContactId>,
) -> Result<PeopledWorkspace, Error> {
    let number = scope.store().next_workspace_number().await?;
    let workspace = Workspace { id, ..Workspace::create(new, number, scope.now()) };
    Ok(PeopledWorkspace::new(workspace, people))
}

/// Adds a contact to a workspace's people. Nothing changes if they already are among them.
pub async fn add_person(by: &impl Writer, id: WorkspaceId, new: NewPerson) -> Result<Plan<WorkspaceWithPeople>, Error> {
    let scope = by.scope();
    let before = peopled(scope, id).await?;
    // Read before the transaction: contacts are never deleted.
    if scope.store().contact(new.contact_id).await?.is_none() {
        return Err(Error::unknown_reference("contact_id", "contact"));
    }
    let workspace = before.add_person(new.contact_id, scope.now()).map_err(Error::Invalid)?;
    let people = scope.store().people_of(&workspace).await?;
    let output = WorkspaceWithPeople { workspace: workspace.into_workspace(), people };
    let plan = Plan::new(scope, output).showing([id.uuid()]);
    if before.people().contains(&new.contact_id) {
        return Ok(plan);
    }
    Ok(plan.join(join(scope, &before, [new.contact_id])?, None))
}

/// Creates a contact, and adds it to a workspace's people, all or nothing.
pub async fn add_new_person(
    by: &impl Writer,
    id: WorkspaceId,
    contact_id: ContactId,
    new: NewContact,
) -> Result<Plan<()>, Error> {
    let scope = by.scope();
    let before = peopled(scope, id).await?;
    let joining = join(scope, &before, [contact_id])?;
    let contact = Contact { id: contact_id, ..Contact::create(new, scope.now()) };
    let created = contacts::create(scope.call(), &contact)?;
    Ok(Plan::new(scope, ()).change([created]).join(joining, None).showing([id.uuid(), contact_id.uuid()]))
}

/// What keeps a contact among a workspace's people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptBy {
    /// The agreement.
    pub agreement: AgreementId,
    /// What it is called.
    pub name: AgreementName,
    /// Why it keeps them.
    pub reason: KeepingReason,
}

/// Why an agreement keeps a contact among the people of its workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeepingReason {
    /// They participate in the draft.
    Draft,
    /// They participate in the agreement, which was published.
    Published,
    /// They participated when a pending proposal was made.
    Proposed,
}

impl KeptBy {
    fn new(agreement: &Agreement, reason: KeepingReason) -> Self {
        Self { agreement: agreement.id(), name: agreement.name.clone(), reason }
    }
}

/// Removes a contact from a workspace's people. Nothing changes if the contact is not among them.
///
/// Decision: an agreement that begins to refer to a contact adds them to the people in its transaction, as a new
/// version of the person. A removal holds only for the version on which it was decided: an earlier agreement has it
/// decided again, a later one brings the contact back. Those without room come back right after it, or by the clock.
pub async fn remove_person(
    by: &impl Writer,
    id: WorkspaceId,
    contact: ContactId,
) -> Result<Plan<Result<(), KeptBy>>, Error> {
    let scope = by.scope();
    let (_, person) = futures_util::try_join!(get_without_people(scope, id), async {
        scope.store().person(id, contact).await.map_err(Error::from)
    })?;
    let plan = |outcome| Plan::new(scope, outcome).showing([id.uuid(), contact.uuid()]);
    let Some(person) = person else { return Ok(plan(Ok(()))) };
    if let Some(kept_by) = kept_by(scope, id, contact).await? {
        return Ok(plan(Err(kept_by)));
    }
    Ok(plan(Ok(())).change([stored::remove_person(scope.call(), &person)]))
}

async fn kept_by(scope: &Scope, id: WorkspaceId, contact: ContactId) -> Result<Option<KeptBy>, Error> {
    let store = scope.store();
    let agreements = store.agreements_of_workspace(id).await?;
    let may_refer = |row: &&AgreementOfWorkspace| row.contacts.contains(&contact);
    let mut referring: Vec<_> = agreements.iter().filter(may_refer).collect();
    // Most cancelled ones were drafts, which keep no one.
    referring.sort_by_key(|row| row.is_cancelled);
    for some in referring.chunks(limits::REFERRING_AGREEMENTS_READ) {
        let found = store.agreements(some.iter().map(|row| row.id)).await?;
        if let Some(agreement) = found.iter().find(|agreement| agreement.keeps(contact)) {
            let is_draft = agreement.lifecycle() == Lifecycle::Draft;
            let reason = if is_draft { KeepingReason::Draft } else { KeepingReason::Published };
            return Ok(Some(KeptBy::new(agreement, reason)));
        }
    }
    // Read after the agreements: a contact that has left one by now is in the proposals that were made before.
    let ids: HashSet<AgreementId> = agreements.iter().map(|row| row.id).collect();
    let pending = store.all_pending_proposals(scope.now()).await?.pending;
    let of_workspace = pending.iter().filter(|row| ids.contains(&row.agreement));
    let proposed = store.proposal_snapshots(of_workspace.map(|row| row.id)).await?;
    let keeping = proposed.into_iter().map(|proposed| proposed.agreement).find(|agreement| agreement.keeps(contact));
    Ok(keeping.map(|agreement| KeptBy::new(&agreement, KeepingReason::Proposed)))
}

/// Activates a workspace permanently. Nothing changes if it is already active.
pub async fn activate(scope: &Scope, member: &Member, id: WorkspaceId) -> Result<Plan<()>, Error> {
    let before = get_without_people(scope, id).await?;
    let plan = Plan::new(scope, ()).showing([id.uuid()]);
    Ok(match member::activate(member, &before, scope.moment()) {
        Some((after, event)) => plan.change([stored::activate(scope.call(), &after)]).emit([event]),
        None => plan,
    })
}
