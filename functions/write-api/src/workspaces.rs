//! Operations 7 and 9 of the specification.

use http::Method;
use shared::api::caller::WriteCaller;
use shared::api::operation::{Committed, OperationSpec, Response, WriteOperation};
use shared::api::views::workspaces::{WorkspacePath, WorkspaceView};
use shared::domain::workspace::{NewPerson, NewWorkspace, Workspace};
use shared::error::Error;
use shared::service::workspaces::{self, WorkspaceWithPeople};
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
        let plan = workspaces::create(caller, new).await?;
        let view = |workspace: &Workspace| WorkspaceView::new(workspace.clone(), &[], caller.base_url());
        caller.respond(plan, |workspace| Response::created(view(workspace))).await
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
        let plan = workspaces::add_person(caller, path.workspace_id, new).await?;
        let view =
            |found: &WorkspaceWithPeople| WorkspaceView::new(found.workspace.clone(), &found.people, caller.base_url());
        caller.respond(plan, |found| Response::created(view(found))).await
    }
}
