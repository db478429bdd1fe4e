//! Home: what waits for a decision, what was decided, and, for admins, which endpoints fail.

use askama::Template;
use shared::domain::proposal::{Decision, Proposal, ProposalAction, ProposalState};
use shared::domain::sentences;
use shared::domain::time::Timestamp;
use shared::error::Error;
use shared::store::endpoints::EndpointState;
use shared::web::Request;

use crate::Page;
use crate::agreement_summary::{Badge, proposal_badge, who_is};
use crate::developers::link;
use crate::layout::{Answer, Layout, Moment};

/// How many proposals that wait are shown: more than somebody decides in one go are on a page of their own.
const SHOWN: usize = 20;
/// How many that were decided.
const DECIDED_SHOWN: usize = 8;
/// How many failing endpoints: one that all share has mostly one cause.
const FAILING_SHOWN: usize = 3;

#[derive(Template)]
#[template(path = "home.html")]
struct HomePage {
    layout: Layout,
    failing: Vec<Failing>,
    more_failing: usize,
    waiting: Vec<Waiting>,
    more: usize,
    decided: Vec<ProposalLine>,
}

/// An endpoint that does not get what it should.
struct Failing {
    link: String,
    url: String,
    how: String,
}

struct Waiting {
    url: String,
    verb: &'static str,
    name: String,
    note: Option<String>,
    size: String,
    by: String,
    since: Moment,
    left: String,
    is_urgent: bool,
}

/// A proposal in a line.
pub(crate) struct ProposalLine {
    pub url: String,
    pub what: String,
    pub badge: Badge,
    /// Who did what is to be known, up to the time that follows.
    pub by: String,
    pub at: Moment,
}

/// The page.
pub(crate) struct Home;

impl Page for Home {
    fn operation(_: &Request) -> &'static str {
        "view_home"
    }

    async fn answer(request: &mut Request) -> Result<Answer, Error> {
        let now = request.now();
        let signed_in = request.signed_in()?;
        let store = signed_in.scope().store();
        let endpoints = async { if signed_in.member().is_admin() { store.endpoints().await } else { Ok(Vec::new()) } };
        let (found, endpoints) = tokio::try_join!(store.proposals_for_home(now, SHOWN, DECIDED_SHOWN), endpoints)?;
        let failing: Vec<&EndpointState> = endpoints.iter().filter(|state| state.is_failing()).collect();
        let (failing, rest) = failing.split_at(failing.len().min(FAILING_SHOWN));
        let proposals = found.pending.iter().map(|proposal| proposal.id().uuid());
        let shown: Vec<_> = proposals.chain(failing.iter().map(|state| state.endpoint.id().uuid())).collect();
        let page = HomePage {
            layout: Layout::new(request),
            failing: failing.iter().map(|state| Failing::new(state)).collect(),
            more_failing: rest.len(),
            more: found.pending_total - found.pending.len().min(found.pending_total),
            waiting: found.pending.iter().map(|proposal| waiting(proposal, now)).collect(),
            decided: found.ended.iter().map(|proposal| line(proposal, now)).collect(),
        };
        Ok(Answer::page(&page)?.showing(shown))
    }
}

impl Failing {
    fn new(state: &EndpointState) -> Self {
        let endpoint = &state.endpoint;
        let how = match (state.health.failures_in_a_row, state.quarantined.len()) {
            (0, 1) => "one delivery could not be processed".to_owned(),
            (0, quarantined) => format!("{quarantined} deliveries could not be processed"),
            (1, _) => "its last attempt failed".to_owned(),
            (failures, _) => format!("{failures} failures in a row"),
        };
        Self { link: link(endpoint.id()), url: endpoint.url().as_str().to_owned(), how }
    }
}

fn waiting(proposal: &Proposal, now: Timestamp) -> Waiting {
    const URGENT_MS: i64 = 12 * 3600 * 1000;
    Waiting {
        url: format!("/app/proposals/{}", proposal.id()),
        verb: verb(proposal.action),
        name: proposal.subject.name.as_str().to_owned(),
        note: proposal.note.as_ref().map(|note| note.as_str().to_owned()),
        size: sentences::size(&proposal.subject),
        by: who_is(&proposal.created_by),
        since: proposal.created_at.into(),
        left: sentences::time_left(now, proposal.expires_at),
        is_urgent: proposal.expires_at.unix_ms() - now.unix_ms() < URGENT_MS,
    }
}

/// A proposal in a line: who decided it, or who made it while it waits.
pub(crate) fn line(proposal: &Proposal, now: Timestamp) -> ProposalLine {
    let state: ProposalState = proposal.state_at(now);
    let (by, at) = match (proposal.decision(), state) {
        (Decision::Confirmed(decided) | Decision::Declined(decided), _) => {
            (format!("{}, ", who_is(&decided.by)), decided.at)
        }
        (_, ProposalState::Pending) => (format!("Proposed by {}, ", who_is(&proposal.created_by)), proposal.created_at),
        _ => (String::new(), proposal.expires_at),
    };
    ProposalLine {
        url: format!("/app/proposals/{}", proposal.id()),
        what: format!("{} “{}”", verb(proposal.action), proposal.subject.name.as_str()),
        badge: proposal_badge(state),
        by,
        at: at.into(),
    }
}

/// What a proposal wants done, as a verb.
pub(crate) fn verb(action: ProposalAction) -> &'static str {
    match action {
        ProposalAction::PublishAgreement => "Publish",
        ProposalAction::CancelAgreement => "Cancel",
    }
}
