//! The list of all proposals, filtered by state, action and agreement.

use askama::Template;
use pages::labels::{action_verb, proposal_badge};
use pages::layout::Layout;
use pages::pager::{Pager, is_past_the_end, page_at};
use pages::response::PageResponse;
use pages::sorting::Sorting;
use pages::urls::encode_query_value;
use shared::domain::ids::AgreementId;
use shared::domain::proposal::{ProposalAction, ProposalState};
use shared::error::Error;
use shared::limits;
use shared::service::proposals::{self, ProposalFilter, ProposalQuery};
use shared::web::Request;
use shared::wire::fields::FieldErrors;
use shared::wire::page::{Filter, Offset, Order, Search};

use crate::home::ProposalRow;

const PATH: &str = pages::urls::PROPOSALS;

#[derive(Template)]
#[template(path = "proposals.html")]
struct ListPage {
    layout: Layout,
    title: String,
    states: Vec<SelectOption>,
    actions: Vec<SelectOption>,
    agreement: String,
    agreement_name: Option<String>,
    search: String,
    is_filtered: bool,
    sorting: Sorting,
    proposals: Vec<ProposalRow>,
    pager: Option<Pager>,
}

struct SelectOption {
    value: &'static str,
    text: &'static str,
    is_selected: bool,
}

#[derive(Debug, Clone, Default, deserr::Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
struct Query {
    #[deserr(default)]
    state: Filter<ProposalState>,
    #[deserr(default)]
    action: Filter<ProposalAction>,
    #[deserr(default)]
    agreement: Filter<AgreementId>,
    #[deserr(default)]
    search: Search<{ limits::AGREEMENT_SEARCH_CHARS_MAX }>,
    #[deserr(default)]
    offset: Offset,
}

impl Query {
    fn is_filtered(&self) -> bool {
        let is_any = self.state.get().is_none() && self.action.get().is_none() && self.agreement.get().is_none();
        !is_any || self.search.needle().is_some()
    }

    fn url(&self, order: Order, offset: u64) -> String {
        let offset = (offset > 0).then(|| offset.to_string());
        let search = Some(encode_query_value(self.search.typed())).filter(|search| !search.is_empty());
        let sort = (order != Order::NewestFirst).then(|| order.as_str().to_owned());
        let pairs = [
            ("state", self.state.get().map(|state| state.as_str().to_owned())),
            ("action", self.action.get().map(|action| action.as_str().to_owned())),
            ("agreement", self.agreement.get().map(|id| id.to_string())),
            ("search", search),
            ("sort", sort),
            ("offset", offset),
        ];
        let pairs: Vec<String> =
            pairs.into_iter().filter_map(|(name, value)| Some(format!("{name}={}", value?))).collect();
        if pairs.is_empty() { PATH.to_owned() } else { format!("{PATH}?{}", pairs.join("&")) }
    }

    fn title(&self, agreement_name: Option<&str>) -> String {
        let mut title = "Proposals".to_owned();
        if let Some(action) = self.action.get() {
            title = format!("{title} to {}", action_verb(action).to_lowercase());
        }
        if let Some(state) = self.state.get() {
            title = format!("{title}, {}", proposal_badge(state).text.to_lowercase());
        }
        match (self.agreement.get(), agreement_name) {
            (Some(_), Some(name)) => format!("{title}: {name}"),
            (Some(_), None) => format!("{title}: one agreement"),
            (None, _) if self.search.needle().is_none() => title,
            (None, _) => format!("{title}: {}", self.search.typed()),
        }
    }
}

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

pub(crate) async fn list(request: &mut Request) -> Result<PageResponse, Error> {
    let (now, scope) = (request.now(), request.signed_in()?.scope());
    let (order, _, query) = request.read_list_query::<Query>()?;
    let (state, action, agreement) = (query.state.get(), query.action.get(), query.agreement.get());
    let listed =
        ProposalQuery { state: query.state, agreement_id: agreement, ..ProposalQuery::of_page(page_at(query.offset)) };
    let filter = ProposalFilter { action, search: query.search.clone() };
    let found = proposals::list_filtered(scope, order, &listed, &filter).await?;
    if is_past_the_end(found.pagination) {
        return Ok(PageResponse::see_other(query.url(order, 0)));
    }
    let of_agreement = agreement.and_then(|_| found.data.first());
    let agreement_name = of_agreement.map(|proposal| proposal.subject.name.as_str().to_owned());
    let page = ListPage {
        layout: Layout::new(request),
        title: query.title(agreement_name.as_deref()),
        states: options(ProposalState::ALL, state, |state| (state.as_str(), proposal_badge(state).text)),
        actions: options(ProposalAction::ALL, action, |action| (action.as_str(), action_verb(action))),
        agreement: agreement.map(|id| id.to_string()).unwrap_or_default(),
        agreement_name,
        is_filtered: query.is_filtered(),
        proposals: found.data.iter().map(|proposal| ProposalRow::new(proposal, now)).collect(),
        pager: Pager::new("proposals", found.pagination, |offset| query.url(order, offset)),
        sorting: Sorting::new(order, |order| query.url(order, 0)),
        search: query.search.typed().to_owned(),
    };
    Ok(PageResponse::render(&page)?.showing(found.data.iter().map(|proposal| proposal.id().uuid())))
}
