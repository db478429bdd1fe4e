//! The ledger page: payments, obligations and agreements, each kind on a tab of its own, below the totals of all payments.
//!
//! Decision: claims and proof have separate columns, and no sum mixes them. Claimed money still counts as owed.

use askama::Template;
use pages::agreement_rows::AgreementRow;
use pages::labels::{Badge, OVERDUE, lifecycle_badge, movement_badge, obligation_state_badge, risk_badge};
use pages::layout::{Layout, Link};
use pages::pager::{Pager, is_past_the_end};
use pages::response::PageResponse;
use pages::shelves::Tab;
use pages::sorting::{ORDERS, Sorting};
use pages::urls::{agreement_url, contact_url, encode_query_value};
use shared::domain::agreement::Lifecycle;
use shared::domain::ids::WorkspaceId;
use shared::domain::ledger::{
    AgreementMoney, LedgerDirection, LedgerFigures, LedgerProduct, LedgerRowType, LedgerState,
};
use shared::domain::money;
use shared::domain::movement::state::MovementState;
use shared::domain::obligation::ObligationState;
use shared::domain::organization::Organization;
use shared::domain::time::Timestamp;
use shared::domain::time_zone::TimeZone;
use shared::error::Error;
use shared::limits;
use shared::service::ledger::{self, Ledger, LedgerQuery, LedgerRow, Listed, NamedContact, Owing};
use shared::text;
use shared::text::reader::Shown as _;
use shared::web::Request;
use shared::wire::fields::FieldErrors;
use shared::wire::page::{Filter, Flag, Limit, Offset, Order, Search};

const PATH: &str = pages::urls::MONEY;

/// Obligations have days and no amounts.
const BY_DUE: [Order; 4] = [Order::NewestFirst, Order::OldestFirst, Order::ByName, Order::ByDue];

/// The first one is shown unless the address says otherwise.
const TABS: [LedgerRowType; 3] = [LedgerRowType::Movement, LedgerRowType::Obligation, LedgerRowType::Agreement];

#[derive(Template)]
#[template(path = "ledger.html")]
struct LedgerPage {
    layout: Layout,
    search: String,
    products: Vec<Choice>,
    workspaces: Vec<Choice>,
    kept: Vec<(&'static str, &'static str)>,
    is_open_only: bool,
    is_filtered: bool,
    /// Whether a filter other than the search is in use.
    uses_more: bool,
    us: Option<Us>,
    totals: Vec<TotalRow>,
    export: Option<String>,
    tabs: Vec<Tab>,
    sorting: Sorting,
    table: Table,
    overdue: usize,
    pager: Option<Pager>,
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
    direction: &'static str,
    owed: String,
    claimed: Option<String>,
    proven: Option<String>,
}

impl TotalRow {
    fn new(currency: &'static str, direction: LedgerDirection, figures: LedgerFigures) -> Self {
        let LedgerFigures { owed, claimed, proven } = figures;
        Self {
            direction: text::ledger_direction(direction),
            owed: money::in_app(owed, currency),
            claimed: (claimed > 0).then(|| money::in_app(claimed, currency)),
            proven: (proven > 0).then(|| money::in_app(proven, currency)),
        }
    }
}

/// The rows of a tab.
struct Table {
    /// What they are.
    all: &'static str,
    who: &'static str,
    figures: &'static [Figure],
    /// The titles and classes of all columns.
    columns: Vec<(&'static str, &'static str)>,
    rows: Vec<RowView>,
}

/// A column of amounts.
struct Figure {
    title: &'static str,
    class: &'static str,
}

const AMOUNT: [Figure; 1] = [Figure { title: "Amount", class: "" }];

/// What an agreement is worth, as its own list says it, and what of it is claimed and proven, which never look alike.
/// What is still owed is in the totals.
const SUMS: [Figure; 3] = [
    Figure { title: "Amount", class: "" },
    Figure { title: "Claimed sent", class: "claimed" },
    Figure { title: "Proven received", class: "proven" },
];

impl Table {
    fn new(row_type: LedgerRowType, listed: &Listed, organization: &Organization, now: Timestamp) -> Self {
        let (who, figures): (_, &[Figure]) = match row_type {
            LedgerRowType::Agreement => ("Counterparties", &SUMS),
            LedgerRowType::Movement => ("Who", &AMOUNT),
            LedgerRowType::Obligation => ("Who", &[]),
        };
        let rows = match listed {
            Listed::Agreements(rows, sums) => {
                let sums = rows.page.page.data.iter().map(|agreement| sums.get(&agreement.id()));
                let sums = sums.map(|sums| sums.map_or(&[][..], Vec::as_slice));
                let rows = AgreementRow::rows(rows, organization, now).into_iter();
                rows.zip(sums).map(|(row, sums)| RowView::of_agreement(row, sums)).collect()
            }
            Listed::Owed(page) => page.data.iter().map(|row| RowView::new(row, &organization.time_zone)).collect(),
        };
        let sums = figures.iter().map(|figure| (figure.title, "number"));
        let is_owed = row_type != LedgerRowType::Agreement;
        let of_owed = [("Waiting for", ""), ("Due", "")].into_iter().filter(|_| is_owed);
        let columns = [(text::ledger_row_type(row_type), ""), (who, "")].into_iter().chain(sums).chain(of_owed);
        let columns = columns.chain([("State", "")]).collect();
        Self { all: text::ledger_rows(row_type), who, figures, columns, rows }
    }
}

struct RowView {
    url: String,
    title: String,
    agreement: Option<Link>,
    who: Who,
    /// By column, an amount in each currency.
    figures: Vec<Vec<String>>,
    /// None for agreements: their own list says it.
    waits_for: Option<String>,
    due: Option<String>,
    is_overdue: bool,
    badge: Badge<String>,
}

enum Who {
    Named(String),
    From(Names),
    To(Names),
    Between(Names, Names),
}

impl Who {
    fn of(row: &LedgerRow) -> Self {
        let Some(Owing { by, to }) = row.owing.as_ref().filter(|owing| !(owing.by.is_empty() && owing.to.is_empty()))
        else {
            return Self::Named(String::new());
        };
        match row.direction {
            Some(LedgerDirection::OwedToUs) => Self::From(Names::of(by)),
            Some(LedgerDirection::OwedByUs) => Self::To(Names::of(to)),
            Some(LedgerDirection::BetweenOthers) | None => Self::Between(Names::of(by), Names::of(to)),
        }
    }

    fn is_empty(&self) -> bool {
        matches!(self, Self::Named(names) if names.is_empty())
    }

    /// All of it, where a line has less room.
    fn text(&self) -> String {
        match self {
            Self::Named(names) => names.clone(),
            Self::From(by) => format!("From {}", by.text()),
            Self::To(to) => format!("To {}", to.text()),
            Self::Between(by, to) => format!("{} to {}", by.text(), to.text()),
        }
    }
}

struct Names {
    named: Vec<Link>,
    more: usize,
}

impl Names {
    const NAMED_MAX: usize = 2;

    fn text(&self) -> String {
        let names: Vec<&str> = self.named.iter().map(|name| name.text.as_str()).collect();
        let more = if self.more > 0 { format!(" and {} more", self.more) } else { String::new() };
        if names.is_empty() { "no one yet".to_owned() } else { format!("{}{more}", names.join(", ")) }
    }

    fn of(contacts: &[NamedContact]) -> Self {
        let named = contacts.iter().take(Self::NAMED_MAX);
        let link = |(id, name): &NamedContact| Link { url: contact_url(*id), text: name.as_str().to_owned() };
        Self { named: named.map(link).collect(), more: contacts.len().saturating_sub(Self::NAMED_MAX) }
    }
}

impl RowView {
    fn new(row: &LedgerRow, zone: &TimeZone) -> Self {
        let amount = row.payment.map(|payment| payment.money.for_people());
        let has_amount = row.thing.row_type() == LedgerRowType::Movement;
        Self {
            url: row.thing.app_path(),
            title: row.title.clone(),
            agreement: Some(Link { url: agreement_url(row.agreement_id), text: row.agreement.as_str().to_owned() }),
            who: Who::of(row),
            figures: if has_amount { vec![amount.into_iter().collect()] } else { Vec::new() },
            waits_for: Some(row.waits_for.clone()),
            due: Some(row.due_at.map(|at| zone.day_of(at).shown()).unwrap_or_default()),
            // An obligation's state says so itself.
            is_overdue: row.is_overdue && row.state != LedgerState::Open,
            badge: state_badge(row).into(),
        }
    }

    fn of_agreement(row: AgreementRow, sums: &[AgreementMoney]) -> Self {
        let figure = |of: fn(&LedgerFigures) -> i128| {
            let there = sums.iter().map(|sum| (sum.currency, of(&sum.figures))).filter(|(_, minor)| *minor > 0);
            there.map(|(currency, minor)| money::in_app(minor, currency)).collect()
        };
        let AgreementRow { url, name, counterparties, amount, badge, .. } = row;
        let amount = Some(amount).filter(|amount| !amount.is_empty()).into_iter().collect();
        Self {
            url,
            title: name,
            agreement: None,
            who: Who::Named(counterparties),
            figures: vec![amount, figure(|sums| sums.claimed), figure(|sums| sums.proven)],
            waits_for: None,
            due: None,
            is_overdue: false,
            badge,
        }
    }
}

/// The badge of a state, which has the same text as that of its record's page.
fn state_badge(row: &LedgerRow) -> Badge {
    let state = row.state.as_str();
    if row.is_overdue && row.state == LedgerState::Open {
        return OVERDUE;
    }
    let badge = match row.thing.row_type() {
        LedgerRowType::Agreement => Lifecycle::parse(state).map(lifecycle_badge),
        LedgerRowType::Movement => risk_badge(row.risk).or_else(|| MovementState::parse(state).map(movement_badge)),
        LedgerRowType::Obligation => ObligationState::parse(state).map(obligation_state_badge),
    };
    badge.unwrap_or(Badge { text: state, class: "quiet" })
}

/// The URL's query, like the API's, but ignoring empty fields that forms send.
#[derive(Debug, Default, deserr::Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
struct Query {
    #[deserr(default)]
    row_type: Filter<LedgerRowType>,
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

/// What a member asks for: filters, the kind of rows, and their order.
pub(crate) struct Asked {
    pub query: LedgerQuery,
    pub row_type: Option<LedgerRowType>,
    pub order: Order,
}

impl Asked {
    pub(crate) fn read(request: &Request) -> Result<Self, Error> {
        let (order, _, read) = request.read_list_query::<Query>()?;
        let Query { row_type, search, product, workspace_id, include_done, limit, offset } = read;
        let query = LedgerQuery {
            search,
            product: product.get(),
            workspace_id: workspace_id.get(),
            include_done: include_done.get().unwrap_or_default(),
            limit,
            offset,
        };
        Ok(Self { query, row_type: row_type.get(), order })
    }

    fn tab(&self) -> LedgerRowType {
        self.row_type.unwrap_or(TABS[0])
    }

    fn filters(&self) -> Vec<(&'static str, String)> {
        let query = &self.query;
        let search = Some(query.search.typed()).filter(|search| !search.is_empty()).map(encode_query_value);
        let given = [
            ("search", search),
            ("product", query.product.map(|product| product.as_str().to_owned())),
            ("workspace_id", query.workspace_id.map(|workspace| workspace.to_string())),
            ("include_done", (!query.include_done.get()).then(|| "false".to_owned())),
        ];
        given.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }

    /// The address of what is asked for from an offset on, of a kind of rows and in an order.
    pub(crate) fn address(&self, path: &str, row_type: Option<LedgerRowType>, order: Order, offset: u64) -> String {
        let row_type = row_type.map(|row_type| ("row_type", row_type.as_str().to_owned()));
        let order = (order != Order::NewestFirst).then(|| ("sort", order.as_str().to_owned()));
        let all = self.filters().into_iter().chain(row_type).chain(order).chain([("offset", offset.to_string())]);
        let all = all.map(|(name, value)| format!("{name}={value}"));
        format!("{path}?{}", all.collect::<Vec<_>>().join("&"))
    }

    fn page_url(&self, tab: LedgerRowType, order: Order, offset: u64) -> String {
        self.address(PATH, Some(tab).filter(|tab| *tab != TABS[0]), order, offset)
    }
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    let signed_in = request.signed_in()?;
    let asked = Asked::read(request)?;
    let (tab, order) = (asked.tab(), asked.order);
    let found = ledger::overview(signed_in.scope(), signed_in.organization(), &asked.query, tab, order).await?;
    if is_past_the_end(found.listed.pagination()) {
        return Ok(PageResponse::see_other(asked.page_url(tab, order, 0)));
    }
    let shown = found.listed.ids();
    Ok(PageResponse::render(&ledger_page(request, &asked, found)?)?.showing(shown))
}

fn ledger_page(request: &Request, asked: &Asked, found: Ledger) -> Result<LedgerPage, Error> {
    let organization = request.signed_in()?.organization();
    let Ledger { listed, counts, overdue, totals, workspaces, own } = found;
    let Asked { query, order, .. } = asked;
    let tab = asked.tab();
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
    let count = |row_type: LedgerRowType| counts.get(&row_type).copied().unwrap_or_default();
    let tab_of = |row_type: LedgerRowType| Tab {
        url: asked.page_url(row_type, *order, 0),
        name: text::ledger_rows(row_type),
        count: Some(count(row_type)),
        is_current: row_type == tab,
    };
    let by_tab = Some(tab).filter(|tab| *tab != TABS[0]).map(|tab| ("row_type", tab.as_str()));
    let by_order = Some(*order).filter(|order| *order != Order::NewestFirst).map(|order| ("sort", order.as_str()));
    let orders: &[Order] = match tab {
        LedgerRowType::Movement => &Order::ALL,
        LedgerRowType::Obligation => &BY_DUE,
        LedgerRowType::Agreement => &ORDERS,
    };
    Ok(LedgerPage {
        layout: Layout::new(request),
        search: query.search.typed().to_owned(),
        products: std::iter::once(any("All", query.product.is_none())).chain(LedgerProduct::ALL.map(product)).collect(),
        workspaces: std::iter::once(any("All", query.workspace_id.is_none())).chain(of_workspaces).collect(),
        kept: by_tab.into_iter().chain(by_order).collect(),
        is_open_only: !query.include_done.get(),
        is_filtered: !asked.filters().is_empty(),
        uses_more: asked.filters().iter().any(|(name, _)| *name != "search"),
        us,
        totals: totals
            .iter()
            .map(|(currency, direction, figures)| TotalRow::new(currency, direction, figures))
            .collect(),
        export: (!counts.is_empty()).then(|| asked.address(&format!("{PATH}/export"), None, *order, 0)),
        tabs: TABS.map(tab_of).into(),
        sorting: Sorting::among(orders, *order, |order| asked.page_url(tab, order, 0)),
        table: Table::new(tab, &listed, organization, request.now()),
        overdue,
        pager: Pager::new("the ledger", listed.pagination(), |offset| asked.page_url(tab, *order, offset)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_is_never_green_and_never_called_confirmed() {
        let movements = MovementState::ALL.map(|state| (movement_badge(state), state == MovementState::Reconciled));
        let obligations =
            ObligationState::ALL.map(|state| (obligation_state_badge(state), state == ObligationState::Confirmed));
        for (badge, is_proven) in movements.into_iter().chain(obligations) {
            assert_eq!(badge.class == "green", is_proven, "{}", badge.text);
            assert!(is_proven || !badge.text.contains("Confirmed"), "{}", badge.text);
        }
    }
}
