//! Operations 21 and 22 of the specification.

use http::Method;
use shared::api::caller::ReadCaller;
use shared::api::operation::{OperationSpec, ReadOperation, ReadResult};
use shared::api::views::obligations::{ObligationPath, ObligationView};
use shared::error::Error;
use shared::service::obligations::{self, ObligationQuery};
use shared::wire::input::Empty;
use shared::wire::page::Page;

/// Lists obligations.
pub struct ListObligations;

impl ReadOperation for ListObligations {
    const SPEC: OperationSpec = OperationSpec {
        id: "list_obligations",
        method: Method::GET,
        path: "/api/v1/obligations",
        tag: "Obligations",
        summary: "List obligations",
        description: "Oldest first. `occurrences` is `null` here; get one obligation to see them. Triggers are declared, and satisfaction is recorded and confirmed, in the app only.",
        agent: "Promises of participants, by workspace, agreement or state. `next_due_at` in the past means overdue; `satisfied` is the promisor's word, `confirmed` the other side's. Next: `get_obligation` for the occurrences.",
        success: &[(200, "A page of obligations.")],
        headers: &[],
    };
    type Path = Empty;
    type Query = ObligationQuery;
    type Output = Page<ObligationView>;

    const NULL_IN_ROWS: &'static [&'static str] = &["occurrences"];

    async fn run(
        caller: &ReadCaller,
        _: Empty,
        query: ObligationQuery,
    ) -> Result<ReadResult<Page<ObligationView>>, Error> {
        let found = obligations::list(caller, &query).await?;
        Ok(ObligationView::page(found, caller.now()).into())
    }
}

/// Gets an obligation.
pub struct GetObligation;

impl ReadOperation for GetObligation {
    const SPEC: OperationSpec = OperationSpec {
        id: "get_obligation",
        method: Method::GET,
        path: "/api/v1/obligations/{obligation_id}",
        tag: "Obligations",
        summary: "Get an obligation",
        description: "In full, with what is due and overdue now. If its agreement was cancelled or expired, the obligation is `cancelled`, unless it had been confirmed.",
        agent: "One promise with every occurrence: `overdue` is past due, `satisfied` is claimed, `confirmed` is acknowledged by the other side. Triggers and confirmations are made by people in the app, not here.",
        success: &[(200, "The obligation.")],
        headers: &[],
    };
    type Path = ObligationPath;
    type Query = Empty;
    type Output = ObligationView;

    async fn run(caller: &ReadCaller, path: ObligationPath, _: Empty) -> Result<ReadResult<ObligationView>, Error> {
        let found = obligations::get(caller, path.obligation_id).await?;
        Ok(ObligationView::in_full(&found, caller.now()).into())
    }
}
