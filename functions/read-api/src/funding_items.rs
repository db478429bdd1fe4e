//! Operations 25, 26 and 29 of the specification.

use http::Method;
use shared::api::caller::ReadCaller;
use shared::api::operation::{OperationSpec, ReadOperation, ReadResult, Response};
use shared::api::views::funding_items::{FundingItemPath, FundingItemView, FundingScheduleView};
use shared::api::views::workspaces::WorkspacePath;
use shared::error::Error;
use shared::service::funding_items::{self, FundingItemQuery};
use shared::wire::input::Empty;
use shared::wire::page::{Order, Page};

/// Gets the funding of a workspace.
pub struct GetFundingSchedule;

impl ReadOperation for GetFundingSchedule {
    const SPEC: OperationSpec = OperationSpec {
        id: "get_funding_schedule",
        method: Method::GET,
        path: "/api/v1/workspaces/{workspace_id}/funding",
        tag: "Funding",
        summary: "Get the funding of a workspace",
        description: "Its trusts and all of its items, up to 1,000, oldest first, with a `summary` from the same read. `summary.done` counts confirmed transfers and items that a member closed; a claim never moves it. If the facts of all items come to more than 1.5 MB, `detail` is `null` here for all of them; each item has its own.",
        agent: "All that has to move into a workspace's trusts, with a `summary` from the same read. `summary.done` counts confirmed transfers and items a member closed; `claimed` ones are not done. Up to 1,000 items: for a part, use `list_funding_items`.",
        success: &[(200, "The funding.")],
        headers: &[],
    };
    type Path = WorkspacePath;
    type Query = Empty;
    type Output = FundingScheduleView;

    async fn run(caller: &ReadCaller, path: WorkspacePath, _: Empty) -> Result<ReadResult<FundingScheduleView>, Error> {
        let schedule = funding_items::schedule(caller, path.workspace_id).await?;
        Ok(FundingScheduleView::from(schedule).into())
    }
}

/// Lists funding items.
pub struct ListFundingItems;

impl ReadOperation for ListFundingItems {
    const SPEC: OperationSpec = OperationSpec {
        id: "list_funding_items",
        method: Method::GET,
        path: "/api/v1/funding-items",
        tag: "Funding",
        summary: "List funding items",
        description: "Oldest first. `search` matches the label; `external_reference` finds the one item that has it.",
        agent: "Assets that have to move into a trust, by workspace, trust, phase or text. `claimed` is the owner's word; `done` is confirmed or closed. Next: `get_funding_item`.",
        success: &[(200, "A page of funding items.")],
        headers: &[],
    };
    type Path = Empty;
    type Query = FundingItemQuery;
    type Output = Page<FundingItemView>;

    async fn run(
        caller: &ReadCaller,
        _: Empty,
        query: FundingItemQuery,
    ) -> Result<ReadResult<Page<FundingItemView>>, Error> {
        let page = funding_items::list(caller, Order::OldestFirst, &query).await?;
        Ok(page.map(FundingItemView::from).into())
    }
}

/// Gets a funding item.
pub struct GetFundingItem;

impl ReadOperation for GetFundingItem {
    const SPEC: OperationSpec = OperationSpec {
        id: "get_funding_item",
        method: Method::GET,
        path: "/api/v1/funding-items/{item_id}",
        tag: "Funding",
        summary: "Get a funding item",
        description: "Its `ETag` is what a PATCH may send as `If-Match`. An item reopens as soon as its agreement is cancelled or recorded as expired.",
        agent: "One asset: its `phase`, `missing_facts` (what `update_funding_item` must add before it is `ready`), and whom it waits on. The note has its `etag` for `if_match`.",
        success: &[(200, "The funding item.")],
        headers: &["etag"],
    };
    type Path = FundingItemPath;
    type Query = Empty;
    type Output = FundingItemView;

    async fn run(caller: &ReadCaller, path: FundingItemPath, _: Empty) -> Result<ReadResult<FundingItemView>, Error> {
        let item = funding_items::get(caller, path.item_id).await?;
        let version = item.version();
        Ok(Response::ok(FundingItemView::from(item.into_inner())).at_version(version).into())
    }
}
