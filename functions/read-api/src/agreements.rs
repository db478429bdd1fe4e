//! Operations 10 and 12.

use http::Method;
use shared::caller::ReadCaller;
use shared::domain::agreement::view::AgreementView;
use shared::domain::agreement::{AgreementPath, AgreementQuery};
use shared::draft;
use shared::error::Error;
use shared::input::Nothing;
use shared::operation::{About, Found, ReadOperation};
use shared::page::Page;
use shared::store::agreements::AgreementFilter;

/// A page of the organization's agreements.
pub struct ListAgreements;

impl ReadOperation for ListAgreements {
    const ABOUT: About = About {
        id: "list_agreements",
        method: Method::GET,
        path: "/api/v1/agreements",
        tag: "Agreements",
        summary: "List agreements",
        description: "Oldest first. `search` matches the name. `stages`, `documents`, `participants`, `terms`, `publishable` and `publish_blockers` are `null` here; get one agreement to see them.",
        success: &[(200, "A page of agreements.")],
        has_etag: false,
    };
    type Path = Nothing;
    type Query = AgreementQuery;
    type Output = Page<AgreementView>;

    async fn run(caller: &ReadCaller, _: Nothing, query: AgreementQuery) -> Result<Found<Page<AgreementView>>, Error> {
        let filter = AgreementFilter {
            needle: query.search.needle(),
            workspace: query.workspace_id,
            lifecycle: query.lifecycle.get(),
        };
        let page = caller.store().list_agreements(filter, query.page()).await?;
        let ready = draft::ready_to_be_proposed(caller, &page.data).await?;
        let show = |agreement| AgreementView::in_list(&agreement, ready.contains(&agreement.id), caller.base_url());
        Ok(page.map(show).into())
    }
}

/// One agreement.
pub struct GetAgreement;

impl ReadOperation for GetAgreement {
    const ABOUT: About = About {
        id: "get_agreement",
        method: Method::GET,
        path: "/api/v1/agreements/{agreement_id}",
        tag: "Agreements",
        summary: "Get an agreement",
        description: "In full. Of a draft, `publish_blockers` lists all that is in the way of publication. What time does to an active agreement (a countdown that ends, its completion or expiry) is written down up to 90 seconds later; what is proposed or decided is judged by the moment.",
        success: &[(200, "The agreement.")],
        has_etag: false,
    };
    type Path = AgreementPath;
    type Query = Nothing;
    type Output = AgreementView;

    async fn run(caller: &ReadCaller, path: AgreementPath, _: Nothing) -> Result<Found<AgreementView>, Error> {
        let agreement = caller.store().agreement(path.agreement_id).await?.ok_or_else(Error::not_found)?.value;
        Ok(draft::in_full(caller, caller.base_url(), &agreement).await?.into())
    }
}
