use askama::Template;
use pages::agreement_rows::AgreementRow;
use pages::layout::Layout;
use pages::pager::{Pager, is_past_the_end};
use pages::response::PageResponse;
use pages::urls::encode_query_value;
use shared::domain::agreement::Lifecycle;
use shared::error::Error;
use shared::service::agreements::{self, AgreementQuery, AgreementRows};
use shared::web::Request;

const PATH: &str = pages::urls::AGREEMENTS;

const LIFECYCLES: [(Option<Lifecycle>, &str); 6] = [
    (None, "All"),
    (Some(Lifecycle::Draft), "Draft"),
    (Some(Lifecycle::Active), "Active"),
    (Some(Lifecycle::Completed), "Completed"),
    (Some(Lifecycle::Cancelled), "Cancelled"),
    (Some(Lifecycle::Expired), "Expired"),
];

#[derive(Template)]
#[template(path = "agreements.html")]
struct AgreementsPage {
    layout: Layout,
    lifecycles: Vec<Tab>,
    lifecycle: &'static str,
    search: String,
    agreements: Vec<AgreementRow>,
    pager: Option<Pager>,
}

/// One of several pages, for `tabs.html`.
pub(crate) struct Tab {
    pub url: String,
    pub name: &'static str,
    pub is_current: bool,
}

pub(crate) async fn list(request: &mut Request) -> Result<PageResponse, Error> {
    let scope = request.signed_in()?.scope();
    let query: AgreementQuery = request.read_query()?;
    let current = query.lifecycle.get();
    let rows = AgreementRows::load(scope, agreements::list(scope, &query).await?).await?;
    let found = &rows.page.page;
    let search = query.search.typed().to_owned();
    let url = |lifecycle: Option<Lifecycle>, offset: u64| {
        let lifecycle = lifecycle.map_or("", Lifecycle::as_str);
        format!("{PATH}?lifecycle={lifecycle}&search={}&offset={offset}", encode_query_value(&search))
    };
    if is_past_the_end(found.pagination) {
        return Ok(PageResponse::see_other(url(current, 0)));
    }
    let tab = |&(lifecycle, name): &(Option<Lifecycle>, &'static str)| Tab {
        url: url(lifecycle, 0),
        name,
        is_current: lifecycle == current,
    };
    let page = AgreementsPage {
        layout: Layout::new(request),
        lifecycles: LIFECYCLES.iter().map(tab).collect(),
        lifecycle: current.map_or("", Lifecycle::as_str),
        pager: Pager::new("agreements", found.pagination, |offset| url(current, offset)),
        agreements: AgreementRow::rows(&rows, request.signed_in()?.organization()),
        search,
    };
    Ok(PageResponse::render(&page)?.showing(found.data.iter().map(|agreement| agreement.id().uuid())))
}
