//! The home page: pending proposals, recent decisions, and, for admins, failing endpoints.

use askama::Template;
use shared::domain::proposal::{Decision, Proposal, ProposalState};
use shared::domain::sentences;
use shared::domain::time::Timestamp;
use shared::error::Error;
use shared::service::endpoints::{self, EndpointState};
use shared::service::proposals;
use shared::web::Request;

use crate::Handler;
use crate::developers::endpoint_url;
use crate::labels::{Badge, DisplayTime, action_verb, actor_label, proposal_badge};
use crate::layout::Layout;
use crate::response::PageResponse;

/// The largest number of pending proposals on the page. The page of proposals has all.
const PENDING_MAX: usize = 20;
/// The largest number of ended proposals on the page.
const ENDED_MAX: usize = 8;
/// The largest number of failing endpoints on the page. If all fail, they usually have one cause.
const FAILING_MAX: usize = 3;

#[derive(Template)]
#[template(path = "home.html")]
struct HomePage {
    layout: Layout,
    failing: Vec<FailingEndpoint>,
    more_failing: usize,
    pending: Vec<PendingProposal>,
    more_pending: usize,
    ended: Vec<ProposalRow>,
}

struct FailingEndpoint {
    link: String,
    url: String,
    reason: String,
}

struct PendingProposal {
    url: String,
    verb: &'static str,
    name: String,
    note: Option<String>,
    size: String,
    created_by: String,
    created_at: DisplayTime,
    time_left: String,
    is_urgent: bool,
}

/// A proposal in a list.
pub(crate) struct ProposalRow {
    pub url: String,
    pub title: String,
    pub badge: Badge,
    /// Who proposed or decided; that nobody did, if it expired.
    pub actor: String,
    pub at: DisplayTime,
}

/// Shows the page.
pub(crate) struct Show;

impl Handler for Show {
    fn operation(_: &Request) -> &'static str {
        "view_home"
    }

    async fn handle(request: &mut Request) -> Result<PageResponse, Error> {
        let now = request.now();
        let signed_in = request.signed_in()?;
        let scope = signed_in.scope();
        let endpoints =
            async { if signed_in.member().is_admin() { endpoints::list(scope).await } else { Ok(Vec::new()) } };
        let (found, endpoints) = tokio::try_join!(proposals::for_home(scope, PENDING_MAX, ENDED_MAX), endpoints)?;
        let failing: Vec<&EndpointState> = endpoints.iter().filter(|state| state.is_failing()).collect();
        let (failing, more_failing) = failing.split_at(failing.len().min(FAILING_MAX));
        let proposal_ids = found.pending.iter().map(|proposal| proposal.id().uuid());
        let shown: Vec<_> = proposal_ids.chain(failing.iter().map(|state| state.endpoint.id().uuid())).collect();
        let page = HomePage {
            layout: Layout::new(request),
            failing: failing.iter().map(|state| FailingEndpoint::new(state)).collect(),
            more_failing: more_failing.len(),
            more_pending: found.pending_total - found.pending.len().min(found.pending_total),
            pending: found.pending.iter().map(|proposal| PendingProposal::new(proposal, now)).collect(),
            ended: found.ended.iter().map(|proposal| ProposalRow::new(proposal, now)).collect(),
        };
        Ok(PageResponse::render(&page)?.showing(shown))
    }
}

impl FailingEndpoint {
    fn new(state: &EndpointState) -> Self {
        let endpoint = &state.endpoint;
        let reason = match (state.health.failures_in_a_row, state.quarantined.len()) {
            (0, 1) => "one delivery could not be processed".to_owned(),
            (0, quarantined) => format!("{quarantined} deliveries could not be processed"),
            (1, _) => "its last attempt failed".to_owned(),
            (failures, _) => format!("{failures} failures in a row"),
        };
        Self { link: endpoint_url(endpoint.id()), url: endpoint.url().as_str().to_owned(), reason }
    }
}

impl PendingProposal {
    fn new(proposal: &Proposal, now: Timestamp) -> Self {
        const URGENT_MS: i64 = 12 * 3600 * 1000;
        Self {
            url: format!("/app/proposals/{}", proposal.id()),
            verb: action_verb(proposal.action),
            name: proposal.subject.name.as_str().to_owned(),
            note: proposal.note.as_ref().map(|note| note.as_str().to_owned()),
            size: sentences::size(&proposal.subject),
            created_by: actor_label(&proposal.created_by),
            created_at: proposal.created_at.into(),
            time_left: sentences::time_left(now, proposal.expires_at),
            is_urgent: proposal.expires_at.unix_ms() - now.unix_ms() < URGENT_MS,
        }
    }
}

impl ProposalRow {
    pub fn new(proposal: &Proposal, now: Timestamp) -> Self {
        let state: ProposalState = proposal.state_at(now);
        let (actor, at) = match (proposal.decision(), state) {
            (Decision::Confirmed(decided) | Decision::Declined(decided), _) => (actor_label(&decided.by), decided.at),
            (_, ProposalState::Pending) => {
                (format!("Proposed by {}", actor_label(&proposal.created_by)), proposal.created_at)
            }
            _ => ("No one decided".to_owned(), proposal.expires_at),
        };
        Self {
            url: format!("/app/proposals/{}", proposal.id()),
            title: format!("{} “{}”", action_verb(proposal.action), proposal.subject.name.as_str()),
            badge: proposal_badge(state),
            actor,
            at: at.into(),
        }
    }
}
