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

/// How many proposals of each kind are shown.
const SHOWN: usize = 50;
/// How many that were decided.
const DECIDED_SHOWN: usize = 8;

#[derive(Template)]
#[template(path = "home.html")]
struct HomePage {
    frame: Frame,
    waiting: Vec<Waiting>,
    more: usize,
    decided: Vec<Decided>,
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

struct Decided {
    url: String,
    what: String,
    badge: Badge,
    by: String,
    at: Moment,
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
        let mut decided: Vec<(Timestamp, Decided)> =
            found.ended.iter().map(|proposal| decided(proposal, now)).collect();
        decided.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        decided.truncate(DECIDED_SHOWN);
        let shown = found.pending.iter().map(|proposal| proposal.id.uuid()).collect::<Vec<_>>();
        let page = HomePage {
            frame: Frame::new(visit),
            more: found.pending_total - found.pending.len().min(found.pending_total),
            waiting: found.pending.iter().map(|proposal| waiting(proposal, now)).collect(),
            decided: decided.into_iter().map(|(_, decided)| decided).collect(),
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

fn decided(proposal: &Proposal, now: Timestamp) -> (Timestamp, Decided) {
    let (at, by) = match proposal.decision() {
        Decision::Confirmed(decided) | Decision::Declined(decided) => (decided.at, who_is(&decided.by)),
        Decision::Pending | Decision::Expired { .. } => (proposal.expires_at, String::new()),
    };
    let state: ProposalState = proposal.state_at(now);
    let what = format!("{} “{}”", verb(proposal.action), proposal.proposed.name.as_str());
    (
        at,
        Decided {
            url: format!("/app/proposals/{}", proposal.id),
            what,
            badge: proposal_badge(state),
            by,
            at: at.into(),
        },
    )
}

/// What a proposal wants done, as a verb.
pub(crate) fn verb(action: ProposalAction) -> &'static str {
    match action {
        ProposalAction::PublishAgreement => "Publish",
        ProposalAction::CancelAgreement => "Cancel",
    }
}
