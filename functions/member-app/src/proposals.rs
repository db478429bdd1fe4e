//! All proposals, whatever became of them.

use askama::Template;
use shared::domain::proposal::ProposalState;
use shared::error::Error;
use shared::store::list::Order;
use shared::store::proposals::ProposalQuery;
use shared::web::Request;

use crate::Page;
use crate::home::{ProposalLine, line};
use crate::layout::{Answer, Layout};
use crate::pager::{Pager, is_past_the_end, page_of};

/// What can be asked for, with its name on the page.
const STATES: [(Option<ProposalState>, &str); 5] = [
    (None, "All"),
    (Some(ProposalState::Pending), "Waiting"),
    (Some(ProposalState::Confirmed), "Confirmed"),
    (Some(ProposalState::Declined), "Declined"),
    (Some(ProposalState::Expired), "Expired"),
];

#[derive(Template)]
#[template(path = "proposals.html")]
struct ListPage {
    layout: Layout,
    states: Vec<StateLink>,
    proposals: Vec<ProposalLine>,
    pager: Option<Pager>,
}

struct StateLink {
    url: String,
    name: &'static str,
    is_current: bool,
}

/// The list, the newest first.
pub(crate) struct List;

impl Page for List {
    fn operation(_: &Request) -> &'static str {
        "view_proposals"
    }

    async fn answer(request: &mut Request) -> Result<Answer, Error> {
        let (now, scope) = (request.now(), request.signed_in()?.scope());
        let wanted = request.query("state").unwrap_or_default();
        let state = STATES.iter().find_map(|(state, _)| state.filter(|state| state.as_str() == wanted));
        let query = ProposalQuery { state: state.into(), ..ProposalQuery::of_page(page_of(request, "offset")) };
        let found = scope.store().list_proposals(Order::NewestFirst, &query, now).await?;
        let page_at = |offset: u64| match (state, offset) {
            (None, 0) => "/app/proposals".to_owned(),
            (None, offset) => format!("/app/proposals?offset={offset}"),
            (Some(state), offset) => format!("/app/proposals?state={}&offset={offset}", state.as_str()),
        };
        if is_past_the_end(found.pagination) {
            return Ok(Answer::see_other(page_at(0)));
        }
        let page = ListPage {
            layout: Layout::new(request),
            states: STATES
                .iter()
                .map(|&(choice, name)| StateLink {
                    url: choice.map_or_else(
                        || "/app/proposals".to_owned(),
                        |state| format!("/app/proposals?state={}", state.as_str()),
                    ),
                    name,
                    is_current: choice == state,
                })
                .collect(),
            proposals: found.data.iter().map(|proposal| line(proposal, now)).collect(),
            pager: Pager::new("proposals", found.pagination, page_at),
        };
        Ok(Answer::page(&page)?.showing(found.data.iter().map(|proposal| proposal.id().uuid())))
    }
}
