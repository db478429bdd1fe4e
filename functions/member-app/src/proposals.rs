//! The list of all proposals.

use askama::Template;
use shared::domain::proposal::ProposalState;
use shared::error::Error;
use shared::service::proposals::{self, Order, ProposalQuery};
use shared::web::Request;

use crate::Handler;
use crate::home::ProposalRow;
use crate::layout::Layout;
use crate::pager::{Pager, is_past_the_end, requested_page};
use crate::response::PageResponse;

/// The states to filter by, with their names on the page.
const STATES: [(Option<ProposalState>, &str); 5] = [
    (None, "All"),
    (Some(ProposalState::Pending), "Needs decision"),
    (Some(ProposalState::Confirmed), "Confirmed"),
    (Some(ProposalState::Declined), "Declined"),
    (Some(ProposalState::Expired), "Expired"),
];

#[derive(Template)]
#[template(path = "proposals.html")]
struct ListPage {
    layout: Layout,
    states: Vec<StateTab>,
    proposals: Vec<ProposalRow>,
    pager: Option<Pager>,
}

struct StateTab {
    url: String,
    name: &'static str,
    is_current: bool,
}

/// Shows the list, newest first.
pub(crate) struct List;

impl Handler for List {
    fn operation(_: &Request) -> &'static str {
        "view_proposals"
    }

    async fn handle(request: &mut Request) -> Result<PageResponse, Error> {
        let (now, scope) = (request.now(), request.signed_in()?.scope());
        let requested = request.query("state").unwrap_or_default();
        let state = STATES.iter().find_map(|(state, _)| state.filter(|state| state.as_str() == requested));
        let page = requested_page(request, "offset");
        let query = ProposalQuery { state: state.into(), ..ProposalQuery::of_page(page) };
        let found = proposals::list(scope, Order::NewestFirst, &query).await?;
        let page_at = |offset: u64| match (state, offset) {
            (None, 0) => "/app/proposals".to_owned(),
            (None, offset) => format!("/app/proposals?offset={offset}"),
            (Some(state), offset) => format!("/app/proposals?state={}&offset={offset}", state.as_str()),
        };
        if is_past_the_end(found.pagination) {
            return Ok(PageResponse::see_other(page_at(0)));
        }
        let page = ListPage {
            layout: Layout::new(request),
            states: STATES
                .iter()
                .map(|&(tab, name)| StateTab {
                    url: tab.map_or_else(
                        || "/app/proposals".to_owned(),
                        |state| format!("/app/proposals?state={}", state.as_str()),
                    ),
                    name,
                    is_current: tab == state,
                })
                .collect(),
            proposals: found.data.iter().map(|proposal| ProposalRow::new(proposal, now)).collect(),
            pager: Pager::new("proposals", found.pagination, page_at),
        };
        Ok(PageResponse::render(&page)?.showing(found.data.iter().map(|proposal| proposal.id().uuid())))
    }
}
