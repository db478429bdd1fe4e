//! Operations 18 to 20 of the specification.

use http::Method;
use shared::api::caller::{ReadCaller, WriteCaller};
use shared::api::operation::{Committed, OperationSpec, ReadOperation, ReadResult, Response, Rule, WriteOperation};
use shared::api::views::proposals::{ProposalPath, ProposalView};
use shared::domain::proposal::{NewProposal, Proposal};
use shared::error::Error;
use shared::service::proposals::{self, ProposalQuery};
use shared::wire::fields::FieldCode;
use shared::wire::input::Empty;
use shared::wire::page::Order;
use shared::wire::page::Page;
use uuid::Uuid;

/// Creates a proposal.
pub struct CreateProposal;

impl WriteOperation for CreateProposal {
    const SPEC: OperationSpec = OperationSpec {
        id: "create_proposal",
        method: Method::POST,
        path: "/api/v1/proposals",
        tag: "Proposals",
        summary: "Propose to publish or to cancel an agreement",
        description: "Nothing happens before a member confirms at `confirm_url`; send that link to the person who decides. A publication is refused while anything but the workspace's activation is in the way: `errors` has one entry per blocker, nothing is recorded, and the idempotency key stays free. One proposal of each action can be pending for an agreement. Undecided, it expires after 72 hours.",
        agent: "Asks a member to publish or cancel an agreement. It does neither: nothing happens until a member confirms at `confirm_url`. Give that link to the human who decides, and don't say that it is done. Publishing is refused with one error per blocker when `get_agreement` shows any `publish_blockers` but `workspace_not_activated`; what you can't fix, a person does at `app_url`. It expires after 72 hours.",
        success: &[(201, "The proposal.")],
        headers: &[],
    };
    type Path = Empty;
    type Body = NewProposal;
    type Output = ProposalView;

    const RULES: &'static [Rule] = &[
        ("agreement_id", FieldCode::WrongState, "must be a draft"),
        ("agreement_id", FieldCode::ProposalPending, "a proposal of this action is pending already"),
        ("agreement_id", FieldCode::NoParticipants, "nobody takes part yet"),
        ("agreement_id", FieldCode::ParticipantEmailMissing, "a participant who must act has no email address"),
        ("agreement_id", FieldCode::NoStages, "there are no steps yet"),
        ("agreement_id", FieldCode::StageEmpty, "a step has no conditions"),
        ("agreement_id", FieldCode::GateIncomplete, "a condition lacks its document, payment, date or questions"),
        ("agreement_id", FieldCode::GateParticipantMissing, "a condition names no participant"),
        ("agreement_id", FieldCode::DocumentMissing, "a document has no file"),
        ("agreement_id", FieldCode::PaymentIncomplete, "a payment lacks its amount, currency or purpose"),
        ("agreement_id", FieldCode::PaymentPartiesMissing, "a payment lacks its sender or its receiver"),
        ("agreement_id", FieldCode::SafeTermsIncomplete, "the terms of the SAFE are incomplete"),
        ("agreement_id", FieldCode::SafePartiesMissing, "a SAFE needs an investor and an issuer"),
        ("agreement_id", FieldCode::FundingItemChanged, "a funding item has changed since it was papered"),
        ("agreement_id", FieldCode::ExpiryInPast, "the expiry is in the past"),
    ];

    fn references(body: &NewProposal) -> Vec<Uuid> {
        vec![body.agreement_id.uuid()]
    }

    async fn run(caller: &WriteCaller, _: Empty, new: NewProposal) -> Result<Committed<ProposalView>, Error> {
        let plan = proposals::create(caller, new).await?;
        let view = |proposal: &Proposal| ProposalView::new(proposal.clone(), caller.now(), caller.base_url());
        caller.respond(plan, |proposal| Response::created(view(proposal))).await
    }
}

/// Lists proposals.
pub struct ListProposals;

impl ReadOperation for ListProposals {
    const SPEC: OperationSpec = OperationSpec {
        id: "list_proposals",
        method: Method::GET,
        path: "/api/v1/proposals",
        tag: "Proposals",
        summary: "List proposals",
        description: "Oldest first. `state` is as of now: a proposal whose time is over is expired.",
        agent: "Requests to publish or cancel, by state or agreement. `pending` waits for a member; only `confirmed` took effect. Next: `get_proposal`.",
        success: &[(200, "A page of proposals.")],
        headers: &[],
    };
    type Path = Empty;
    type Query = ProposalQuery;
    type Output = Page<ProposalView>;

    async fn run(caller: &ReadCaller, _: Empty, query: ProposalQuery) -> Result<ReadResult<Page<ProposalView>>, Error> {
        let page = proposals::list(caller, Order::OldestFirst, &query).await?;
        Ok(page.map(|found| ProposalView::new(found, caller.now(), caller.base_url())).into())
    }
}

/// Gets a proposal.
pub struct GetProposal;

impl ReadOperation for GetProposal {
    const SPEC: OperationSpec = OperationSpec {
        id: "get_proposal",
        method: Method::GET,
        path: "/api/v1/proposals/{proposal_id}",
        tag: "Proposals",
        summary: "Get a proposal",
        description: "With the decision, once there is one.",
        agent: "One proposal: its `state`, the decision and its note, and the `confirm_url` for a member. While it is `pending`, nothing has happened: wait, or remind the human.",
        success: &[(200, "The proposal.")],
        headers: &[],
    };
    type Path = ProposalPath;
    type Query = Empty;
    type Output = ProposalView;

    async fn run(caller: &ReadCaller, path: ProposalPath, _: Empty) -> Result<ReadResult<ProposalView>, Error> {
        let found = proposals::get(caller, path.proposal_id).await?;
        Ok(ProposalView::new(found, caller.now(), caller.base_url()).into())
    }
}
