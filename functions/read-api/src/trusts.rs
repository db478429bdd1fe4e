//! Operation 23 of the specification.

use http::Method;
use shared::api::caller::ReadCaller;
use shared::api::operation::{OperationSpec, ReadOperation, ReadResult};
use shared::api::views::trusts::TrustView;
use shared::error::Error;
use shared::service::trusts::{self, TrustQuery};
use shared::wire::input::Empty;
use shared::wire::page::Page;

/// Lists trusts.
pub struct ListTrusts;

impl ReadOperation for ListTrusts {
    const SPEC: OperationSpec = OperationSpec {
        id: "list_trusts",
        method: Method::GET,
        path: "/api/v1/trusts",
        tag: "Trusts",
        summary: "List trusts",
        description: "Oldest first. `search` matches the formal name; `external_reference` finds the one trust that has it.",
        agent: "Trusts whose funding is run in a workspace, by workspace, a part of the formal name, or your `external_reference`. Next: `get_funding_schedule` of its `workspace_id`.",
        success: &[(200, "A page of trusts.")],
        headers: &[],
    };
    type Path = Empty;
    type Query = TrustQuery;
    type Output = Page<TrustView>;

    async fn run(caller: &ReadCaller, _: Empty, query: TrustQuery) -> Result<ReadResult<Page<TrustView>>, Error> {
        let page = trusts::list(caller, &query).await?;
        Ok(page.map(TrustView::from).into())
    }
}
