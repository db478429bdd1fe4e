//! Operations 18 to 20.

use http::{Method, StatusCode};
use shared::api::caller::{ReadCaller, WriteCaller};
use shared::api::operation::{OperationSpec, ReadOperation, ReadResult, WriteOperation};
use shared::api::views::proposals::{ProposalPath, ProposalQuery, ProposalView};
use shared::domain::agreement::progress::Facts;
use shared::domain::event::{EventKind, ProposalData};
use shared::domain::proposal::{self, NewProposal, ProposalAction};
use shared::error::Error;
use shared::service::drafts;
use shared::store::commit::Committed;
use shared::store::proposals::ProposalFilter;
use shared::store::{agreements, proposals as stored};
use shared::wire::fields::{FieldCode, FieldErrors};
use shared::wire::input::Empty;
use shared::wire::page::Page;
use uuid::Uuid;

/// Proposes a protected effect.
pub struct CreateProposal;

impl WriteOperation for CreateProposal {
    const SPEC: OperationSpec = OperationSpec {
        id: "create_proposal",
        method: Method::POST,
        path: "/api/v1/proposals",
        tag: "Proposals",
        summary: "Propose to publish or to cancel an agreement",
        description: "Nothing happens before a member confirms at `confirm_url`; send that link to whoever decides. A publication is refused while anything but the workspace's activation is in the way: `errors` has one entry per blocker, nothing is recorded, and the idempotency key stays free. One proposal of each action can be pending for an agreement. Undecided, it expires after 72 hours.",
        success: &[(201, "The proposal.")],
        has_etag: false,
    };
    type Path = Empty;
    type Body = NewProposal;
    type Output = ProposalView;

    fn references(body: &NewProposal) -> Vec<Uuid> {
        vec![body.agreement_id.uuid()]
    }

    async fn run(caller: &WriteCaller, _: Empty, new: NewProposal) -> Result<Committed<ProposalView>, Error> {
        let store = caller.store();
        let Some(agreement) = store.agreement(new.agreement_id).await? else {
            let message = "is no agreement of your organization";
            return Err(Error::NotFound(FieldErrors::one("agreement_id", FieldCode::NotFound, message)));
        };
        let claiming = store.claiming_proposal(new.agreement_id, new.action).await?;
        let contacts = drafts::contacts_of(caller, [&agreement.value]).await?;
        let blockers = if new.action == ProposalAction::PublishAgreement {
            let workspace = drafts::workspace_of(caller, &agreement.value).await?.value;
            drafts::blockers_of(caller, &agreement.value, &workspace, &contacts)
        } else {
            Vec::new()
        };
        let (by, now, time_scale) = (caller.actor().clone(), caller.now(), caller.time_scale());
        let current = agreement.value.as_of(&Facts::none(), time_scale, now);
        let (moment, expires_at) = (caller.moment(), time_scale.proposal_expiry(now));
        let made =
            proposal::propose(new, &current, &contacts, &blockers, by, moment, expires_at).map_err(Error::Invalid)?;

        let mut changes = vec![agreements::check(caller.org(), agreement.value.id(), agreement.version)];
        let mut events = Vec::new();
        let settled =
            proposal::take_place_of(claiming.as_ref().map(|other| &other.value), moment).map_err(Error::Invalid)?;
        if let (Some(before), Some(settled)) = (&claiming, &settled) {
            // The clock has not been there: settled here, and its claim is taken over.
            events.push(stored::expired_event(settled));
            changes.extend(stored::settle(caller.org(), before, settled, true)?);
        }
        changes.extend(stored::create(caller.org(), &made)?);
        let made = made.into_proposal();
        events.push(EventKind::ProposalCreated(ProposalData::from(&made)));
        let view = ProposalView::new(made, now, caller.base_url());
        caller.commit().with(changes).emit(events)?.respond(StatusCode::CREATED, &view, None).await
    }
}

/// A page of the organization's proposals.
pub struct ListProposals;

impl ReadOperation for ListProposals {
    const SPEC: OperationSpec = OperationSpec {
        id: "list_proposals",
        method: Method::GET,
        path: "/api/v1/proposals",
        tag: "Proposals",
        summary: "List proposals",
        description: "Oldest first. `state` is as of now: a proposal whose time is over is expired.",
        success: &[(200, "A page of proposals.")],
        has_etag: false,
    };
    type Path = Empty;
    type Query = ProposalQuery;
    type Output = Page<ProposalView>;

    async fn run(caller: &ReadCaller, _: Empty, query: ProposalQuery) -> Result<ReadResult<Page<ProposalView>>, Error> {
        let filter = ProposalFilter { state: query.state.get(), agreement: query.agreement_id };
        let page = caller.store().list_proposals(filter, caller.now(), query.page()).await?;
        Ok(page.map(|found| ProposalView::new(found, caller.now(), caller.base_url())).into())
    }
}

/// One proposal.
pub struct GetProposal;

impl ReadOperation for GetProposal {
    const SPEC: OperationSpec = OperationSpec {
        id: "get_proposal",
        method: Method::GET,
        path: "/api/v1/proposals/{proposal_id}",
        tag: "Proposals",
        summary: "Get a proposal",
        description: "With the decision, once there is one.",
        success: &[(200, "The proposal.")],
        has_etag: false,
    };
    type Path = ProposalPath;
    type Query = Empty;
    type Output = ProposalView;

    async fn run(caller: &ReadCaller, path: ProposalPath, _: Empty) -> Result<ReadResult<ProposalView>, Error> {
        let found = caller.store().proposal(path.proposal_id).await?.ok_or_else(Error::not_found)?.value;
        Ok(ProposalView::new(found, caller.now(), caller.base_url()).into())
    }
}
