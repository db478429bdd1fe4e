//! Operations 6 and 8 of the specification.

use http::Method;
use shared::api::caller::ReadCaller;
use shared::api::operation::{OperationSpec, ReadOperation, ReadResult};
use shared::api::views::workspaces::{WorkspacePath, WorkspaceView};
use shared::error::Error;
use shared::service::workspaces::{self, WorkspaceQuery};
use shared::wire::input::Empty;
use shared::wire::page::{Order, Page, Shelf};

/// Lists workspaces.
pub struct ListWorkspaces;

impl ReadOperation for ListWorkspaces {
    const SPEC: OperationSpec = OperationSpec {
        id: "list_workspaces",
        method: Method::GET,
        path: "/api/v1/workspaces",
        tag: "Workspaces",
        summary: "List workspaces",
        description: "Oldest first. `search` matches name and internal reference. `people` is `null` here; get one workspace to see them.",
        agent: "Finds deals or matters by a part of the name or internal reference. `people` is `null` here. Next: `get_workspace` for its people, or `list_agreements` with its `workspace_id`.",
        success: &[(200, "A page of workspaces.")],
        headers: &[],
    };
    type Path = Empty;
    type Query = WorkspaceQuery;
    type Output = Page<WorkspaceView>;

    const NULL_IN_ROWS: &'static [&'static str] = &["people"];

    async fn run(
        caller: &ReadCaller,
        _: Empty,
        query: WorkspaceQuery,
    ) -> Result<ReadResult<Page<WorkspaceView>>, Error> {
        let page = workspaces::list(caller, Order::OldestFirst, Shelf::All, &query).await?;
        Ok(page.map(|workspace| WorkspaceView::in_list(workspace, caller.base_url())).into())
    }
}

/// Gets a workspace.
pub struct GetWorkspace;

impl ReadOperation for GetWorkspace {
    const SPEC: OperationSpec = OperationSpec {
        id: "get_workspace",
        method: Method::GET,
        path: "/api/v1/workspaces/{workspace_id}",
        tag: "Workspaces",
        summary: "Get a workspace",
        description: "With the people who take part in it.",
        agent: "One deal or matter, with the people in it and whether it is activated. An inactive workspace does not keep you from proposing: the confirming member activates it.",
        success: &[(200, "The workspace.")],
        headers: &[],
    };
    type Path = WorkspacePath;
    type Query = Empty;
    type Output = WorkspaceView;

    async fn run(caller: &ReadCaller, path: WorkspacePath, _: Empty) -> Result<ReadResult<WorkspaceView>, Error> {
        let found = workspaces::get(caller, path.workspace_id).await?;
        Ok(WorkspaceView::in_full(&found, caller.base_url()).into())
    }
}
