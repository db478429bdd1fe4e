//! Operations 7 and 9.

use http::{Method, StatusCode};
use shared::api::caller::WriteCaller;
use shared::api::operation::{OperationSpec, WriteOperation};
use shared::api::views::workspaces::{WorkspacePath, WorkspaceView};
use shared::domain::workspace::{NewPerson, NewWorkspace, Workspace};
use shared::error::Error;
use shared::store::commit::Committed;
use shared::store::workspaces;
use shared::wire::fields::{FieldCode, FieldErrors};
use shared::wire::input::Empty;
use uuid::Uuid;

/// Creates a workspace.
pub struct CreateWorkspace;

impl WriteOperation for CreateWorkspace {
    const SPEC: OperationSpec = OperationSpec {
        id: "create_workspace",
        method: Method::POST,
        path: "/api/v1/workspaces",
        tag: "Workspaces",
        summary: "Create a workspace",
        description: "It begins empty, and not activated.",
        success: &[(201, "The new workspace.")],
        has_etag: false,
    };
    type Path = Empty;
    type Body = NewWorkspace;
    type Output = WorkspaceView;

    async fn run(caller: &WriteCaller, _: Empty, new: NewWorkspace) -> Result<Committed<WorkspaceView>, Error> {
        let number = caller.next_workspace_number().await?;
        let workspace = Workspace::create(new, number, caller.now());
        let changes = workspaces::create(caller.org(), &workspace)?;
        let view = WorkspaceView::new(workspace, &[], caller.base_url());
        caller.commit().with(changes).respond(StatusCode::CREATED, &view, None).await
    }
}

/// Adds a contact to a workspace's people.
pub struct AddWorkspaceContact;

impl WriteOperation for AddWorkspaceContact {
    const SPEC: OperationSpec = OperationSpec {
        id: "add_workspace_contact",
        method: Method::POST,
        path: "/api/v1/workspaces/{workspace_id}/contacts",
        tag: "Workspaces",
        summary: "Add a contact to a workspace",
        description: "The contact then appears in the workspace's people. Adding it twice changes nothing.",
        success: &[(201, "The workspace, with the contact among its people.")],
        has_etag: false,
    };
    type Path = WorkspacePath;
    type Body = NewPerson;
    type Output = WorkspaceView;

    fn references(body: &NewPerson) -> Vec<Uuid> {
        vec![body.contact_id.uuid()]
    }

    async fn run(caller: &WriteCaller, path: WorkspacePath, new: NewPerson) -> Result<Committed<WorkspaceView>, Error> {
        let store = caller.store();
        let before = store.workspace(path.workspace_id).await?.ok_or_else(Error::not_found)?.value;
        // Read before the transaction rather than in it: contacts are never deleted.
        if store.contact(new.contact_id).await?.is_none() {
            let message = "is no contact of your organization";
            return Err(Error::NotFound(FieldErrors::one("contact_id", FieldCode::NotFound, message)));
        }
        let after = before.add_person(new.contact_id, caller.now()).map_err(Error::Invalid)?;
        let change = (after != before).then(|| workspaces::add_person(caller.org(), &after, new.contact_id));
        let people = store.people_of([&after]).await?;
        let view = WorkspaceView::new(after, &people, caller.base_url());
        caller.commit().with(change).respond(StatusCode::CREATED, &view, None).await
    }
}
