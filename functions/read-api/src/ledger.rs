//! Operation 17 of the specification.

use http::Method;
use shared::api::caller::ReadCaller;
use shared::api::operation::{OperationSpec, ReadOperation, ReadResult};
use shared::api::views::ledger::LedgerRowView;
use shared::error::Error;
use shared::service::ledger::{self, LedgerQuery};
use shared::wire::input::Empty;
use shared::wire::page::Page;

/// Lists the ledger.
pub struct ListLedger;

impl ReadOperation for ListLedger {
    const SPEC: OperationSpec = OperationSpec {
        id: "list_ledger",
        method: Method::GET,
        path: "/api/v1/ledger",
        tag: "Ledger",
        summary: "List the ledger",
        description: "One row for each agreement, movement and obligation, drafts included, oldest first. Amounts are on the rows of movements, so a page must not be summed to get the totals of agreements. `search` matches titles and the names of counterparties as they are now. To export the ledger, add `limit` to `offset` while `pagination.has_more` is `true`.",
        agent: "One row for each agreement, payment and obligation over all workspaces, drafts included. A payment or obligation with `done` false and `due_at` in the past is overdue, unless its agreement is a draft; send `include_done`: false to leave out what is settled. Amounts are on payment rows only, so don't sum a page. Next: the `get_` tool of the row's `row_type`.",
        success: &[(200, "A page of ledger rows.")],
        headers: &[],
    };
    type Path = Empty;
    type Query = LedgerQuery;
    type Output = Page<LedgerRowView>;

    async fn run(caller: &ReadCaller, _: Empty, query: LedgerQuery) -> Result<ReadResult<Page<LedgerRowView>>, Error> {
        let found = ledger::list(caller, &query).await?;
        Ok(found.map(|row| LedgerRowView::new(row, caller.base_url())).into())
    }
}
