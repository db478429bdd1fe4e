//! Operation 28 of the specification.

use http::Method;
use shared::api::caller::WriteCaller;
use shared::api::operation::{Committed, OperationSpec, Response, Rule, WriteOperation};
use shared::api::views::agreements::AgreementView;
use shared::domain::funding::input::NewPapering;
use shared::error::Error;
use shared::service::papering;
use shared::wire::fields::FieldCode;
use shared::wire::input::Empty;
use uuid::Uuid;

use crate::letters;

/// Papers funding items.
pub struct PaperFundingItems;

impl WriteOperation for PaperFundingItems {
    const SPEC: OperationSpec = OperationSpec {
        id: "paper_funding_items",
        method: Method::POST,
        path: "/api/v1/funding-items/paper",
        tag: "Funding",
        summary: "Paper funding items",
        description: "Drafts an ordinary agreement for 1 to 25 items of one trust, which has to have a trustee, all or none: each has to be `ready`, with another verb than `leave_out`, and not on hold. It has a document for each item, which counsel must review, its trustees, settlors and owners as participants, a step for signing, and a step that waits for the confirmation of the receiving side. It sends nothing to anyone. When the draft is discarded, or the agreement cancelled or expires, its items are open again.",
        agent: "Drafts one agreement with documents for 1 to 25 assets of one trust, all or none: each must be `ready`, not on hold, and not `leave_out`; the trust needs a trustee. It sends nothing and moves nothing; counsel reviews the draft. Next: `get_agreement` with the result's `id`, then `create_proposal`.",
        success: &[(201, "The draft.")],
        headers: &[],
    };
    type Path = Empty;
    type Body = NewPapering;
    type Output = AgreementView;

    const RULES: &'static [Rule] = &[
        ("item_ids[0]", FieldCode::MissingFacts, "lacks its verb or some facts: see its missing_facts"),
        ("item_ids", FieldCode::MissingFacts, "their trust has no trustee"),
        ("item_ids[0]", FieldCode::OnHold, "is on hold; clear the hold first"),
        ("item_ids[0]", FieldCode::WrongState, "is papered or closed already"),
        ("item_ids[0]", FieldCode::VerbNotAllowed, "is left out of the trust; a member closes it"),
        ("item_ids[1]", FieldCode::WrongWorkspace, "is of another workspace than the first item"),
        ("item_ids", FieldCode::LimitReached, "would make more participants or signatures than an agreement may have"),
    ];

    fn references(body: &NewPapering) -> Vec<Uuid> {
        body.item_ids.as_slice().iter().map(|id| id.uuid()).collect()
    }

    async fn run(caller: &WriteCaller, _: Empty, new: NewPapering) -> Result<Committed<AgreementView>, Error> {
        let prepared = papering::prepare(caller, &new).await?;
        let files = letters::write(caller, &prepared, caller.files()?).await?;
        let plan = papering::paper(caller, prepared, files)?;
        caller.respond(plan, |agreement| Response::created(AgreementView::of(agreement, caller.base_url()))).await
    }
}
