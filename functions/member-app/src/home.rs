//! Home: what waits for a decision, and what was decided.

use askama::Template;
use shared::domain::proposal::{Decision, Proposal, ProposalAction, ProposalState};
use shared::domain::sentences;
use shared::domain::time::Timestamp;
use shared::error::Error;
use shared::visit::Visit;

use crate::Page;
use crate::frame::{Answer, Frame, Moment};
use crate::outline::{Badge, proposal_badge, who_is};

/// How many proposals that wait are shown: more than somebody decides in one go are on a page of their own.
const SHOWN: usize = 20;
/// How many that were decided.
const DECIDED_SHOWN: usize = 8;

#[derive(Template)]
#[template(path = "home.html")]
struct HomePage {
    frame: Frame,
    waiting: Vec<Waiting>,
    more: usize,
    decided: Vec<ProposalLine>,
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
    fn operation(_: &Visit) -> &'static str {
        "view_home"
    }

    async fn answer(visit: &mut Visit) -> Result<Answer, Error> {
        let now = visit.now();
        let found = visit.signed_in()?.act().store().proposals_for_home(now, SHOWN).await?;
        let mut ended: Vec<&Proposal> = found.ended.iter().collect();
        ended.sort_by_key(|proposal| std::cmp::Reverse(ended_at(proposal)));
        ended.truncate(DECIDED_SHOWN);
        let shown = found.pending.iter().map(|proposal| proposal.id.uuid()).collect::<Vec<_>>();
        let page = HomePage {
            frame: Frame::new(visit),
            more: found.pending_total - found.pending.len().min(found.pending_total),
            waiting: found.pending.iter().map(|proposal| waiting(proposal, now)).collect(),
            decided: ended.into_iter().map(|proposal| line(proposal, now)).collect(),
        };
        Ok(Answer::page(&page)?.showing(shown))
    }
}

fn waiting(proposal: &Proposal, now: Timestamp) -> Waiting {
    const URGENT_MS: i64 = 12 * 3600 * 1000;
    Waiting {
        url: format!("/app/proposals/{}", proposal.id),
        verb: verb(proposal.action),
        name: proposal.proposed.name.as_str().to_owned(),
        note: proposal.note.as_ref().map(|note| note.as_str().to_owned()),
        size: sentences::size(&proposal.proposed),
        by: who_is(&proposal.created_by),
        since: proposal.created_at.into(),
        left: sentences::time_left(now, proposal.expires_at),
        is_urgent: proposal.expires_at.unix_ms() - now.unix_ms() < URGENT_MS,
    }
}

/// When a proposal that waits no more was decided, or its time was over.
fn ended_at(proposal: &Proposal) -> Timestamp {
    match proposal.decision() {
        Decision::Confirmed(decided) | Decision::Declined(decided) => decided.at,
        Decision::Pending | Decision::Expired { .. } => proposal.expires_at,
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
        url: format!("/app/proposals/{}", proposal.id),
        what: format!("{} “{}”", verb(proposal.action), proposal.proposed.name.as_str()),
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
