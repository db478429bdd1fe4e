//! The ledger page: who owes whom what and when, overdue first, with totals.
//!
//! Decision: claims and proof have separate columns, and no sum mixes them. Claimed money still counts as owed.

use askama::Template;
use pages::labels::Badge;
use pages::layout::{Layout, Link};
use pages::pager::{Pager, is_past_the_end};
use pages::response::PageResponse;
use pages::urls::{agreement_url, contact_url, encode_query_value};
use shared::domain::ids::WorkspaceId;
use shared::domain::ledger::{LedgerDirection, LedgerFigures, LedgerProduct, LedgerRowType, LedgerState};
use shared::domain::money;
use shared::domain::time_zone::TimeZone;
use shared::error::Error;
use shared::limits;
use shared::service::ledger::{self, Ledger, LedgerQuery, LedgerRow, NamedContact, Owing};
use shared::text;
use shared::text::reader::Shown as _;
use shared::web::Request;
use shared::wire::fields::FieldErrors;
use shared::wire::page::{Filter, Flag, Limit, Offset, Search};

const PATH: &str = pages::urls::MONEY;

#[derive(Template)]
#[template(path = "ledger.html")]
struct LedgerPage {
    layout: Layout,
    search: String,
    products: Vec<Choice>,
    workspaces: Vec<Choice>,
    is_open_only: bool,
    is_filtered: bool,
    us: Option<Us>,
    totals: Vec<TotalRow>,
    count: u64,
    overdue: usize,
    rows: Vec<RowView>,
    pager: Option<Pager>,
    export: String,
}

struct Choice {
    value: String,
    text: String,
    is_selected: bool,
}

struct Us {
    first: Link,
    more: usize,
}

struct TotalRow {
    currency: &'static str,
    direction: &'static str,
    owed: String,
    claimed: Option<String>,
    proven: Option<String>,
}

impl TotalRow {
    fn new(currency: &'static str, direction: LedgerDirection, figures: LedgerFigures) -> Self {
        let LedgerFigures { owed, claimed, proven } = figures;
        Self {
            currency,
            direction: text::ledger_direction(direction),
            owed: money::in_app(owed, currency),
            claimed: (claimed > 0).then(|| money::in_app(claimed, currency)),
            proven: (proven > 0).then(|| money::in_app(proven, currency)),
        }
    }
}

struct RowView {
    url: String,
    title: String,
    about: &'static str,
    agreement: Option<Link>,
    direction: Option<&'static str>,
    who: Option<Who>,
    due: Option<String>,
    is_overdue: bool,
    amount: Option<String>,
    claimed: Option<String>,
    proven: Option<String>,
    badge: Badge,
    status: Option<String>,
}

enum Who {
    All(Names),
    Owing(Names, Names),
}

impl Who {
    fn of(row: &LedgerRow) -> Option<Self> {
        match &row.owing {
            Some(Owing { by, to }) if by.is_empty() && to.is_empty() => None,
            Some(Owing { by, to }) => Some(Self::Owing(Names::of(by), Names::of(to))),
            None if row.counterparties.is_empty() => None,
            None => Some(Self::All(Names::of(&row.counterparties))),
        }
    }
}

struct Names {
    named: Vec<Link>,
    more: usize,
}

impl Names {
    const NAMED_MAX: usize = 2;

    fn of(contacts: &[NamedContact]) -> Self {
        let named = contacts.iter().take(Self::NAMED_MAX);
        let link = |(id, name): &NamedContact| Link { url: contact_url(*id), text: name.as_str().to_owned() };
        Self { named: named.map(link).collect(), more: contacts.len().saturating_sub(Self::NAMED_MAX) }
    }
}

impl RowView {
    fn new(row: &LedgerRow, zone: &TimeZone) -> Self {
        let is_agreement = row.thing.row_type() == LedgerRowType::Agreement;
        let currency = row.payment.map_or("", |payment| payment.money.currency().code());
        let figures = row.payment.map(shared::domain::ledger::LedgerPayment::figures).unwrap_or_default();
        let shown = |minor: i128| (minor > 0).then(|| money::in_app(minor, currency));
        let badge = state_badge(row.thing.row_type(), row.state);
        let status = Some(row.status_sentence.clone()).filter(|status| adds_to(row, status, badge.text));
        Self {
            url: row.thing.app_path(),
            title: row.title.clone(),
            about: text::ledger_row_type(row.thing.row_type()),
            agreement: (!is_agreement)
                .then(|| Link { url: agreement_url(row.agreement_id), text: row.agreement.as_str().to_owned() }),
            direction: row.direction.map(text::ledger_direction),
            who: Who::of(row),
            due: row.due_at.map(|at| zone.day_of(at).shown()),
            is_overdue: row.is_overdue,
            amount: row.payment.map(|payment| payment.money.for_people()),
            claimed: shown(figures.claimed),
            proven: shown(figures.proven),
            badge,
            status,
        }
    }
}

fn adds_to(row: &LedgerRow, status: &str, badge: &str) -> bool {
    match row.thing.row_type() {
        LedgerRowType::Movement => row.state == LedgerState::Exception,
        LedgerRowType::Agreement | LedgerRowType::Obligation => !row.state.is_done() && status != badge,
    }
}

/// The badge of a state. Mere claims are never green.
fn state_badge(row_type: LedgerRowType, state: LedgerState) -> Badge {
    let (text, class) = match state {
        LedgerState::Draft if row_type == LedgerRowType::Movement => ("Not set up yet", "quiet"),
        LedgerState::Draft => ("Draft", "quiet"),
        LedgerState::Active => ("Active", "blue"),
        LedgerState::Completed => ("Completed", "green"),
        LedgerState::Authorized => ("Authorized", "blue"),
        LedgerState::InstructionsReady => ("Instructions available to the sender", "blue"),
        LedgerState::SenderReported => ("Sender says it was sent", "amber"),
        LedgerState::ReceiptPending => ("Waiting for proof it arrived", "amber"),
        LedgerState::Processing => ("Proof under review", "blue"),
        LedgerState::Reconciled => ("Confirmed received", "green"),
        LedgerState::Exception => ("Needs attention", "red"),
        LedgerState::Returned => ("Returned", "red"),
        LedgerState::Dormant => ("Waiting for a trigger", "quiet"),
        LedgerState::Open => ("Open", "blue"),
        LedgerState::Satisfied => ("Said to be done", "amber"),
        LedgerState::Confirmed => ("Confirmed", "green"),
        LedgerState::Cancelled => ("Cancelled", "quiet"),
        LedgerState::Expired => ("Expired", "quiet"),
    };
    Badge { text, class }
}

/// The URL's query, like the API's, but ignoring empty fields that forms send.
#[derive(Debug, Default, deserr::Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
struct Query {
    #[deserr(default)]
    search: Search<{ limits::SEARCH_CHARS_MAX }>,
    #[deserr(default)]
    product: Filter<LedgerProduct>,
    #[deserr(default)]
    workspace_id: Filter<WorkspaceId>,
    #[deserr(default)]
    include_done: Filter<Flag<true>>,
    #[deserr(default)]
    limit: Limit,
    #[deserr(default)]
    offset: Offset,
}

pub(crate) fn read_query(request: &Request) -> Result<LedgerQuery, Error> {
    let Query { search, product, workspace_id, include_done, limit, offset } = request.read_query()?;
    Ok(LedgerQuery {
        search,
        product: product.get(),
        workspace_id: workspace_id.get(),
        include_done: include_done.get().unwrap_or_default(),
        limit,
        offset,
    })
}

pub(crate) fn filters(query: &LedgerQuery) -> String {
    let search = Some(query.search.typed()).filter(|search| !search.is_empty()).map(encode_query_value);
    let given = [
        ("search", search),
        ("product", query.product.map(|product| product.as_str().to_owned())),
        ("workspace_id", query.workspace_id.map(|workspace| workspace.to_string())),
        ("include_done", (!query.include_done.get()).then(|| "false".to_owned())),
    ];
    let given = given.into_iter().filter_map(|(name, value)| Some(format!("{name}={}", value?)));
    given.collect::<Vec<_>>().join("&")
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    let signed_in = request.signed_in()?;
    let query = read_query(request)?;
    let filters = filters(&query);
    let found = ledger::overview(signed_in.scope(), signed_in.organization(), &query).await?;
    let url = |offset: u64| format!("{PATH}?{}", with(&filters, &format!("offset={offset}")));
    if is_past_the_end(found.page.pagination) {
        return Ok(PageResponse::see_other(url(0)));
    }
    let shown: Vec<_> = found.page.data.iter().map(|row| row.thing.uuid()).collect();
    let page = ledger_page(request, &query, found, &filters, &url)?;
    Ok(PageResponse::render(&page)?.showing(shown))
}

pub(crate) fn with(filters: &str, parameter: &str) -> String {
    if filters.is_empty() { parameter.to_owned() } else { format!("{filters}&{parameter}") }
}

fn ledger_page(
    request: &Request,
    query: &LedgerQuery,
    found: Ledger,
    filters: &str,
    url: &dyn Fn(u64) -> String,
) -> Result<LedgerPage, Error> {
    let zone = &request.signed_in()?.organization().time_zone;
    let Ledger { page, totals, overdue, workspaces, own } = found;
    let any = |text: &str, is_selected| Choice { value: String::new(), text: text.to_owned(), is_selected };
    let product = |product: LedgerProduct| Choice {
        value: product.as_str().to_owned(),
        text: text::ledger_product(product).to_owned(),
        is_selected: query.product == Some(product),
    };
    let mut of_workspaces: Vec<Choice> = workspaces
        .iter()
        .map(|workspace| Choice {
            value: workspace.id().to_string(),
            text: workspace.name.as_str().to_owned(),
            is_selected: query.workspace_id == Some(workspace.id()),
        })
        .collect();
    of_workspaces.sort_by(|one, other| one.text.cmp(&other.text));
    // An unknown workspace stays in the filter, which finds nothing.
    if let Some(unknown) = query.workspace_id.filter(|_| !of_workspaces.iter().any(|choice| choice.is_selected)) {
        of_workspaces.push(Choice { value: unknown.to_string(), text: unknown.to_string(), is_selected: true });
    }
    let us = own.first().map(|first| Us {
        first: Link { url: contact_url(first.id), text: first.display_name.as_str().to_owned() },
        more: own.len() - 1,
    });
    Ok(LedgerPage {
        layout: Layout::new(request),
        search: query.search.typed().to_owned(),
        products: std::iter::once(any("All", query.product.is_none())).chain(LedgerProduct::ALL.map(product)).collect(),
        workspaces: std::iter::once(any("All", query.workspace_id.is_none())).chain(of_workspaces).collect(),
        is_open_only: !query.include_done.get(),
        is_filtered: !filters.is_empty(),
        us,
        totals: totals
            .iter()
            .map(|(currency, direction, figures)| TotalRow::new(currency, direction, figures))
            .collect(),
        count: page.pagination.total,
        overdue,
        pager: Pager::new("the ledger", page.pagination, url),
        rows: page.data.iter().map(|row| RowView::new(row, zone)).collect(),
        export: format!("{PATH}/export?{filters}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_is_never_green_and_never_called_confirmed() {
        for row_type in LedgerRowType::ALL {
            for state in LedgerState::ALL {
                let badge = state_badge(row_type, state);
                let is_proven =
                    matches!(state, LedgerState::Reconciled | LedgerState::Confirmed | LedgerState::Completed);
                assert_eq!(badge.class == "green", is_proven, "{state}");
                assert!(is_proven || !badge.text.contains("onfirmed"), "{state}");
            }
        }
    }
}
