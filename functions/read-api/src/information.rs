//! Operation 13 of the specification.

use http::Method;
use shared::api::caller::ReadCaller;
use shared::api::operation::{OperationSpec, ReadOperation, ReadResult};
use shared::api::views::agreements::AgreementPath;
use shared::api::views::information::InformationSubmissions;
use shared::error::Error;
use shared::service::information;
use shared::wire::input::Empty;

/// Lists the answers sent in an agreement.
pub struct ListInformation;

impl ReadOperation for ListInformation {
    const SPEC: OperationSpec = OperationSpec {
        id: "list_information",
        method: Method::GET,
        path: "/api/v1/agreements/{agreement_id}/information",
        tag: "Agreements",
        summary: "List the answers of participants",
        description: "An array, not paged: one entry for each time that a participant sent answers to an information request, oldest first. Drafts never appear. Answers are given and accepted in the app only; a gate clears once a member has accepted the latest answers of all its participants.",
        agent: "The answers that participants sent to an agreement's information requests, the oldest first. `sent` is not accepted: only a member accepts, in the app. Bank details are redacted. Nothing can be answered here.",
        success: &[(200, "The answers that were sent.")],
        headers: &[],
    };
    type Path = AgreementPath;
    type Query = Empty;
    type Output = InformationSubmissions;

    async fn run(
        caller: &ReadCaller,
        path: AgreementPath,
        _: Empty,
    ) -> Result<ReadResult<InformationSubmissions>, Error> {
        let (agreement, submissions) = information::of_agreement(caller, path.agreement_id).await?;
        Ok(InformationSubmissions::new(&agreement, submissions).into())
    }
}
