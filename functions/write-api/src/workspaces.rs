//! Operations 7 and 9 of the specification.

use http::Method;
use shared::api::caller::WriteCaller;
use shared::api::operation::{Committed, OperationSpec, Response, Rule, WriteOperation};
use shared::api::views::workspaces::{WorkspacePath, WorkspaceView};
use shared::domain::workspace::{NewPerson, NewWorkspace};
use shared::error::Error;
use shared::service::workspaces;
use shared::wire::fields::FieldCode;
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
        agent: "Opens an empty deal or matter. It is not activated, and nobody hears of it. Search with `list_workspaces` first: names may repeat. Next: `add_workspace_contact`, `create_agreement`.",
        success: &[(201, "The new workspace.")],
        headers: &[],
    };
    type Path = Empty;
    type Body = NewWorkspace;
    type Output = WorkspaceView;

    async fn run(caller: &WriteCaller, _: Empty, new: NewWorkspace) -> Result<Committed<WorkspaceView>, Error> {
        let plan = workspaces::create(caller, new).await?;
        caller.respond(plan, |created| Response::created(WorkspaceView::in_full(created, caller.base_url()))).await
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
        agent: "Lists a contact among a workspace's people. It adds them to no agreement and sends no message; adding a contact again has no effect. `add_agreement_participant` does this too.",
        success: &[(201, "The workspace, with the contact among its people.")],
        headers: &[],
    };
    type Path = WorkspacePath;
    type Body = NewPerson;
    type Output = WorkspaceView;

    const RULES: &'static [Rule] =
        &[("contact_id", FieldCode::LimitReached, "has as many people as a workspace may have")];

    fn references(body: &NewPerson) -> Vec<Uuid> {
        vec![body.contact_id.uuid()]
    }

    async fn run(caller: &WriteCaller, path: WorkspacePath, new: NewPerson) -> Result<Committed<WorkspaceView>, Error> {
        let plan = workspaces::add_person(caller, path.workspace_id, new).await?;
        caller.respond(plan, |found| Response::created(WorkspaceView::in_full(found, caller.base_url()))).await
    }
}
