//! Operations 10 and 12 of the specification.

use http::Method;
use shared::api::caller::ReadCaller;
use shared::api::operation::{OperationSpec, ReadOperation, ReadResult};
use shared::api::views::agreements::{AgreementPath, AgreementView};
use shared::domain::agreement::Agreement;
use shared::error::Error;
use shared::service::agreements::{self, AgreementQuery};
use shared::wire::input::Empty;
use shared::wire::page::{Order, Page};

/// Lists agreements.
pub struct ListAgreements;

impl ReadOperation for ListAgreements {
    const SPEC: OperationSpec = OperationSpec {
        id: "list_agreements",
        method: Method::GET,
        path: "/api/v1/agreements",
        tag: "Agreements",
        summary: "List agreements",
        description: "Oldest first. `search` matches the name. `stages`, `documents`, `participants`, `terms`, `promises`, `publishable` and `publish_blockers` are `null` here; get one agreement to see them.",
        agent: "Finds agreements by workspace, lifecycle or a part of the name. Parts, terms and blockers are `null` here. `lifecycle` is the state to branch on; `status` is prose. Next: `get_agreement`.",
        success: &[(200, "A page of agreements.")],
        headers: &[],
    };
    type Path = Empty;
    type Query = AgreementQuery;
    type Output = Page<AgreementView>;

    const NULL_IN_ROWS: &'static [&'static str] =
        &["stages", "documents", "participants", "terms", "promises", "publishable", "publish_blockers"];

    async fn run(
        caller: &ReadCaller,
        _: Empty,
        query: AgreementQuery,
    ) -> Result<ReadResult<Page<AgreementView>>, Error> {
        let found = agreements::list(caller, Order::OldestFirst, &query).await?;
        let show = |agreement: Agreement| {
            AgreementView::in_list(&agreement, found.ready.contains(&agreement.id()), caller.base_url())
        };
        Ok(found.page.map(show).into())
    }
}

/// Gets an agreement.
pub struct GetAgreement;

impl ReadOperation for GetAgreement {
    const SPEC: OperationSpec = OperationSpec {
        id: "get_agreement",
        method: Method::GET,
        path: "/api/v1/agreements/{agreement_id}",
        tag: "Agreements",
        summary: "Get an agreement",
        description: "In full. For a draft, `publish_blockers` lists everything that prevents publication. Changes caused by time (a countdown that ends, completion or expiry) may be recorded up to 90 seconds late; proposals and decisions always use the current time.",
        agent: "One agreement in full: stages, gates and whom each waits on (`waiting_on`), documents, participants. For a draft, `publish_blockers` lists everything that prevents publication, and `proposal_ready` says whether publication can be proposed now. You can add participants and emails; a person sets up the rest at `app_url`. Next: `create_proposal`.",
        success: &[(200, "The agreement.")],
        headers: &[],
    };
    type Path = AgreementPath;
    type Query = Empty;
    type Output = AgreementView;

    async fn run(caller: &ReadCaller, path: AgreementPath, _: Empty) -> Result<ReadResult<AgreementView>, Error> {
        let found = agreements::get(caller, path.agreement_id).await?;
        Ok(AgreementView::of(&found, caller.base_url()).into())
    }
}
