//! Workspaces: reading, creating, activating, and adding people.

use crate::domain::contact::Contact;
use crate::domain::ids::{ContactId, WorkspaceId};
use crate::domain::member::{self, Member};
use crate::domain::workspace::{NewPerson, NewWorkspace, Workspace};
use crate::error::Error;
use crate::service::scope::{Plan, Scope, Writer};
use crate::store::change::Changes;
use crate::store::{Versioned, workspaces as stored};
use crate::wire::page::{Page, PageRequest};

pub use crate::store::workspaces::WorkspaceQuery;

/// A workspace with its people, in the order of their ids.
#[derive(Debug)]
pub struct WorkspaceWithPeople {
    /// The workspace.
    pub workspace: Workspace,
    /// Its people.
    pub people: Vec<Contact>,
}

/// A workspace with its people.
///
/// # Errors
/// [`Error::NotFound`] when there is none.
pub async fn get(scope: &Scope, id: WorkspaceId) -> Result<WorkspaceWithPeople, Error> {
    let workspace = get_without_people(scope, id).await?.into_inner();
    let people = scope.store().people_of(&workspace).await?;
    Ok(WorkspaceWithPeople { workspace, people })
}

/// A workspace without the contacts of its people.
///
/// # Errors
/// [`Error::NotFound`] when there is none.
pub async fn get_without_people(scope: &Scope, id: WorkspaceId) -> Result<Versioned<Workspace>, Error> {
    scope.store().workspace(id).await?.ok_or_else(Error::not_found)
}

/// A page of the workspaces that a query asks for.
pub async fn list(scope: &Scope, query: &WorkspaceQuery) -> Result<Page<Workspace>, Error> {
    Ok(scope.store().list_workspaces(query).await?)
}

/// A workspace with a page of its people.
#[derive(Debug)]
pub struct WorkspacePeople {
    /// The workspace.
    pub workspace: Workspace,
    /// The page of its people, in the order of their ids.
    pub people: Page<Contact>,
}

/// A workspace with a page of its people.
///
/// # Errors
/// [`Error::NotFound`] when there is none.
pub async fn get_with_people_page(scope: &Scope, id: WorkspaceId, page: PageRequest) -> Result<WorkspacePeople, Error> {
    let workspace = get_without_people(scope, id).await?.into_inner();
    let positions = page.positions();
    let on_page = (0..).zip(&workspace.people).filter(|(position, _)| positions.contains(position));
    let contacts = scope.store().contacts(on_page.map(|(_, id)| *id)).await?;
    let contacts = contacts.into_iter().map(Versioned::into_inner).collect();
    let people = Page::new(contacts, u64::try_from(workspace.people.len()).unwrap_or(u64::MAX), page);
    Ok(WorkspacePeople { workspace, people })
}

/// The workspace that a body names.
pub(super) async fn named(scope: &Scope, id: WorkspaceId) -> Result<Versioned<Workspace>, Error> {
    scope.store().workspace(id).await?.ok_or_else(|| Error::unknown_reference("workspace_id", "workspace"))
}

/// The workspace of an agreement, which exists as long as the agreement does.
pub(super) async fn workspace_of(scope: &Scope, id: WorkspaceId) -> Result<Versioned<Workspace>, Error> {
    let workspace = scope.store().workspace(id).await?;
    workspace.ok_or_else(|| Error::Internal("an agreement without its workspace".to_owned()))
}

/// The change that adds a contact to a workspace's people. None if the contact is among them already.
pub(super) fn join(scope: &Scope, workspace: &Workspace, contact: ContactId) -> Result<Option<Changes>, Error> {
    join_all(scope, workspace, [contact])
}

/// The change that adds contacts to a workspace's people. None if all are among them already.
pub(super) fn join_all(
    scope: &Scope,
    workspace: &Workspace,
    contacts: impl IntoIterator<Item = ContactId>,
) -> Result<Option<Changes>, Error> {
    let mut after = workspace.clone();
    for contact in contacts {
        after = after.add_person(contact, scope.now()).map_err(Error::Invalid)?;
    }
    let joining: Vec<ContactId> = after.people.difference(&workspace.people).copied().collect();
    Ok((!joining.is_empty()).then(|| stored::add_people(scope.call(), &after, &joining)))
}

/// Creates a workspace.
pub async fn create(by: &impl Writer, new: NewWorkspace) -> Result<Plan<WorkspaceWithPeople>, Error> {
    create_with_id(by, WorkspaceId::new(), new).await
}

/// Creates a workspace with the id that its form carries: a form that is sent twice creates one workspace.
pub async fn create_once(
    by: &impl Writer,
    id: WorkspaceId,
    new: NewWorkspace,
) -> Result<Plan<WorkspaceWithPeople>, Error> {
    let scope = by.scope();
    match scope.store().workspace(id).await? {
        Some(created) => {
            let created = WorkspaceWithPeople { workspace: created.into_inner(), people: Vec::new() };
            Ok(Plan::new(scope, created).showing([id.uuid()]))
        }
        None => create_with_id(by, id, new).await,
    }
}

async fn create_with_id(
    by: &impl Writer,
    id: WorkspaceId,
    new: NewWorkspace,
) -> Result<Plan<WorkspaceWithPeople>, Error> {
    let scope = by.scope();
    let number = scope.store().next_workspace_number().await?;
    let workspace = Workspace { id, ..Workspace::create(new, number, scope.now()) };
    let changes = stored::create(scope.call(), &workspace)?;
    let created = WorkspaceWithPeople { workspace, people: Vec::new() };
    Ok(Plan::new(scope, created).change([changes]).showing([id.uuid()]))
}

/// Adds a contact to a workspace's people. Nothing changes if the contact is among them already.
///
/// # Errors
/// [`Error::NotFound`] when there is no such workspace, or, at `contact_id`, no such contact.
pub async fn add_person(by: &impl Writer, id: WorkspaceId, new: NewPerson) -> Result<Plan<WorkspaceWithPeople>, Error> {
    let scope = by.scope();
    let before = get_without_people(scope, id).await?;
    // Read before the transaction rather than in it: contacts are never deleted.
    if scope.store().contact(new.contact_id).await?.is_none() {
        return Err(Error::unknown_reference("contact_id", "contact"));
    }
    let workspace = before.add_person(new.contact_id, scope.now()).map_err(Error::Invalid)?;
    let changes = join(scope, &before, new.contact_id)?;
    let people = scope.store().people_of(&workspace).await?;
    Ok(Plan::new(scope, WorkspaceWithPeople { workspace, people }).change(changes).showing([id.uuid()]))
}

/// Activates a workspace, for good. Nothing changes if it is active already.
///
/// # Errors
/// [`Error::NotFound`] when there is none.
pub async fn activate(scope: &Scope, member: &Member, id: WorkspaceId) -> Result<Plan<()>, Error> {
    let before = get_without_people(scope, id).await?;
    let plan = Plan::new(scope, ()).showing([id.uuid()]);
    Ok(match member::activate(member, &before, scope.moment()) {
        Some((after, event)) => plan.change([stored::activate(scope.call(), &after)]).emit([event]),
        None => plan,
    })
}
