//! The list of obligations, and texts about obligations shared by all pages.

use askama::Template;
use pages::labels::{Badge, obligation_badge, obligation_state_badge, obligation_status};
use pages::layout::{Layout, Link};
use pages::pager::{Pager, is_past_the_end};
use pages::response::PageResponse;
use pages::sorting::Sorting;
use pages::urls::{agreement_url, obligation_url};
use shared::domain::obligation::{Obligation, ObligationState};
use shared::error::Error;
use shared::service::obligations::{self, ObligationPage, ObligationQuery};
use shared::text;
use shared::text::reader::Shown as _;
use shared::web::Request;
use shared::wire::page::Order;

const PATH: &str = pages::urls::OBLIGATIONS;

/// Decision: unlike other lists, this one begins with what is due first, because that is what members look for here.
const ORDERS: [Order; 4] = [Order::ByDue, Order::NewestFirst, Order::OldestFirst, Order::ByName];

#[derive(Template)]
#[template(path = "obligations.html")]
struct ObligationsPage {
    layout: Layout,
    states: Vec<StateOption>,
    kept: Vec<(&'static str, String)>,
    agreement: Option<Link>,
    is_filtered: bool,
    sorting: Sorting,
    rows: Vec<ObligationRow>,
    pager: Option<Pager>,
}

struct StateOption {
    value: &'static str,
    text: &'static str,
    is_selected: bool,
}

struct ObligationRow {
    url: String,
    name: String,
    agreement: Link,
    parties: String,
    due: Option<String>,
    status: String,
    badge: Badge,
    waiting: usize,
}

pub(crate) async fn list(request: &mut Request) -> Result<PageResponse, Error> {
    let (now, scope) = (request.now(), request.signed_in()?.scope());
    let (order, _, query) = request.read_sorted_query::<ObligationQuery>()?;
    let order = order.unwrap_or(Order::ByDue);
    let state = query.state.get();
    let ObligationPage { page: found, agreements, contacts } =
        obligations::list_for_people(scope, order, &query).await?;
    let ids = [
        ("workspace_id", query.workspace_id.map(|id| id.to_string())),
        ("agreement_id", query.agreement_id.map(|id| id.to_string())),
    ];
    let kept: Vec<(&str, String)> = ids.into_iter().filter_map(|(name, id)| Some((name, id?))).collect();
    let url = |order: Order, offset: u64| {
        let kept: Vec<String> = kept.iter().map(|(name, id)| format!("{name}={id}&")).collect();
        let state = state.map_or("", ObligationState::as_str);
        format!("{PATH}?state={state}&{}sort={order}&offset={offset}", kept.concat())
    };
    if is_past_the_end(found.pagination) {
        return Ok(PageResponse::see_other(url(order, 0)));
    }
    let row = |obligation: &Obligation| {
        let agreement = agreements.get(&obligation.agreement_id())?;
        let due = obligation.next_due_at().map(|due| obligation.zone().day_of(due).shown());
        Some(ObligationRow {
            url: obligation_url(obligation.id()),
            name: obligation.name().as_str().to_owned(),
            agreement: Link { url: agreement_url(agreement.id()), text: agreement.name.as_str().to_owned() },
            parties: text::promise_parties(obligation.parties(), agreement, &contacts),
            due,
            status: obligation_status(obligation, now),
            badge: obligation_badge(obligation, now),
            waiting: obligation.waiting_claims().count(),
        })
    };
    let any = StateOption { value: "", text: "Any", is_selected: state.is_none() };
    let option = |one: ObligationState| StateOption {
        value: one.as_str(),
        text: obligation_state_badge(one).text,
        is_selected: state == Some(one),
    };
    let of_filter = query.agreement_id.and_then(|id| agreements.get(&id));
    let page = ObligationsPage {
        layout: Layout::new(request),
        states: std::iter::once(any).chain(ObligationState::ALL.map(option)).collect(),
        agreement: of_filter
            .map(|agreement| Link { url: agreement_url(agreement.id()), text: agreement.name.as_str().to_owned() }),
        is_filtered: state.is_some() || !kept.is_empty(),
        rows: found.data.iter().filter_map(row).collect(),
        pager: Pager::new("obligations", found.pagination, |offset| url(order, offset)),
        sorting: Sorting::among(&ORDERS, order, |order| url(order, 0)),
        kept,
    };
    Ok(PageResponse::render(&page)?.showing(found.data.iter().map(|obligation| obligation.id().uuid())))
}
