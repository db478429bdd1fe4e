//! The list of all proposals, filtered in the address by state, action and agreement.

use askama::Template;
use shared::domain::ids::AgreementId;
use shared::domain::proposal::{ProposalAction, ProposalState};
use shared::error::Error;
use shared::service::proposals::{self, ProposalFilter, ProposalQuery};
use shared::web::Request;
use shared::wire::page::Search;

use crate::Handler;
use crate::home::ProposalRow;
use crate::labels::{action_verb, proposal_badge};
use crate::layout::{Layout, encode_query_value};
use crate::pager::{Pager, is_past_the_end, requested_page};
use crate::response::PageResponse;

/// The path of the list.
pub(crate) const PATH: &str = "/app/proposals";

#[derive(Template)]
#[template(path = "proposals.html")]
struct ListPage {
    layout: Layout,
    title: String,
    states: Vec<SelectOption>,
    actions: Vec<SelectOption>,
    /// The agreement of the filter, by its id.
    agreement: String,
    /// What that agreement is called, if the page shows a proposal for it.
    agreement_name: Option<String>,
    search: String,
    is_filtered: bool,
    proposals: Vec<ProposalRow>,
    pager: Option<Pager>,
}

struct SelectOption {
    value: &'static str,
    text: &'static str,
    is_selected: bool,
}

/// What the address asks for. What it does not have is not filtered by.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Filter {
    state: Option<ProposalState>,
    action: Option<ProposalAction>,
    agreement: Option<AgreementId>,
    search: String,
}

impl Filter {
    fn read(request: &Request) -> Self {
        let field = |name| request.query(name).unwrap_or_default();
        Self {
            state: ProposalState::parse(&field("state")),
            action: ProposalAction::parse(&field("action")),
            agreement: field("agreement").parse().ok(),
            search: field("search").trim().to_owned(),
        }
    }

    fn url(&self, offset: u64) -> String {
        let offset = (offset > 0).then(|| offset.to_string());
        let pairs = [
            ("state", self.state.map(|state| state.as_str().to_owned())),
            ("action", self.action.map(|action| action.as_str().to_owned())),
            ("agreement", self.agreement.map(|id| id.to_string())),
            ("search", (!self.search.is_empty()).then(|| encode_query_value(&self.search))),
            ("offset", offset),
        ];
        let pairs: Vec<String> =
            pairs.into_iter().filter_map(|(name, value)| Some(format!("{name}={}", value?))).collect();
        if pairs.is_empty() { PATH.to_owned() } else { format!("{PATH}?{}", pairs.join("&")) }
    }

    /// The title of the page, such as `Proposals to cancel, declined`.
    fn title(&self, agreement_name: Option<&str>) -> String {
        let mut title = "Proposals".to_owned();
        if let Some(action) = self.action {
            title = format!("{title} to {}", action_verb(action).to_lowercase());
        }
        if let Some(state) = self.state {
            title = format!("{title}, {}", proposal_badge(state).text.to_lowercase());
        }
        match (self.agreement, agreement_name) {
            (Some(_), Some(name)) => format!("{title}: {name}"),
            (Some(_), None) => format!("{title}: one agreement"),
            (None, _) if self.search.is_empty() => title,
            (None, _) => format!("{title}: {}", self.search),
        }
    }
}

/// The options of a filter, the first of which is none.
fn options<T: Copy + PartialEq, const N: usize>(
    all: [T; N],
    selected: Option<T>,
    value_and_text: impl Fn(T) -> (&'static str, &'static str),
) -> Vec<SelectOption> {
    let any = SelectOption { value: "", text: "Any", is_selected: selected.is_none() };
    let option = |of: T| {
        let (value, text) = value_and_text(of);
        SelectOption { value, text, is_selected: selected == Some(of) }
    };
    std::iter::once(any).chain(all.map(option)).collect()
}

/// Shows the list, newest first.
pub(crate) struct List;

impl Handler for List {
    fn operation(_: &Request) -> &'static str {
        "view_proposals"
    }

    async fn handle(request: &mut Request) -> Result<PageResponse, Error> {
        let (now, scope) = (request.now(), request.signed_in()?.scope());
        let filter = Filter::read(request);
        let search = Search::parse(&filter.search, "search").map_err(Error::Invalid)?;
        let page = requested_page(request, "offset");
        let query = ProposalQuery {
            state: filter.state.into(),
            agreement_id: filter.agreement,
            ..ProposalQuery::of_page(page)
        };
        let found = proposals::list_filtered(scope, &query, &ProposalFilter { action: filter.action, search }).await?;
        if is_past_the_end(found.pagination) {
            return Ok(PageResponse::see_other(filter.url(0)));
        }
        let of_agreement = filter.agreement.and_then(|_| found.data.first());
        let agreement_name = of_agreement.map(|proposal| proposal.subject.name.as_str().to_owned());
        let page = ListPage {
            layout: Layout::new(request),
            title: filter.title(agreement_name.as_deref()),
            states: options(ProposalState::ALL, filter.state, |state| (state.as_str(), proposal_badge(state).text)),
            actions: options(ProposalAction::ALL, filter.action, |action| (action.as_str(), action_verb(action))),
            agreement: filter.agreement.map(|id| id.to_string()).unwrap_or_default(),
            agreement_name,
            is_filtered: filter != Filter::default(),
            proposals: found.data.iter().map(|proposal| ProposalRow::new(proposal, now)).collect(),
            pager: Pager::new("proposals", found.pagination, |offset| filter.url(offset)),
            search: filter.search,
        };
        Ok(PageResponse::render(&page)?.showing(found.data.iter().map(|proposal| proposal.id().uuid())))
    }
}
