use askama::Template;
use pages::agreement_rows::AgreementRow;
use pages::layout::Layout;
use pages::pager::{Pager, is_past_the_end};
use pages::response::PageResponse;
use pages::shelves::{self, Tab};
use pages::sorting::Sorting;
use pages::urls::encode_query_value;
use shared::domain::agreement::Lifecycle;
use shared::error::Error;
use shared::service::agreements::{self, AgreementQuery};
use shared::web::Request;
use shared::wire::page::{Order, Shelf};

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
    show: &'static str,
    is_current: bool,
    search: String,
    sorting: Sorting,
    agreements: Vec<AgreementRow>,
    pager: Option<Pager>,
}

pub(crate) async fn list(request: &mut Request) -> Result<PageResponse, Error> {
    let scope = request.signed_in()?.scope();
    let (order, shelf, query) = request.read_list_query::<AgreementQuery>()?;
    let current = query.lifecycle.get();
    let rows = agreements::list_rows(scope, order, shelf, &query).await?;
    let found = &rows.page.page;
    let search = query.search.typed().to_owned();
    let url_on = |shelf: Shelf, lifecycle: Option<Lifecycle>, order: Order, offset: u64| {
        let (lifecycle, search) = (lifecycle.map_or("", Lifecycle::as_str), encode_query_value(&search));
        let show = shelves::parameter(shelf);
        format!("{PATH}?lifecycle={lifecycle}&search={search}&sort={order}&offset={offset}{show}")
    };
    let url = |lifecycle, order, offset| url_on(shelf, lifecycle, order, offset);
    if is_past_the_end(found.pagination) {
        return Ok(PageResponse::see_other(url(current, order, 0)));
    }
    let tab = |&(lifecycle, name): &(Option<Lifecycle>, &'static str)| Tab {
        url: url_on(Shelf::Current, lifecycle, order, 0),
        name,
        count: None,
        is_current: shelf == Shelf::Current && lifecycle == current,
    };
    let archived = shelves::tabs(&[Shelf::Archived], shelf, |shelf| url_on(shelf, None, order, 0));
    let page = AgreementsPage {
        layout: Layout::new(request),
        lifecycles: LIFECYCLES.iter().map(tab).chain(archived).collect(),
        lifecycle: current.map_or("", Lifecycle::as_str),
        show: shelf.as_str(),
        is_current: shelf == Shelf::Current,
        pager: Pager::new("agreements", found.pagination, |offset| url(current, order, offset)),
        agreements: AgreementRow::rows(&rows, request.signed_in()?.organization(), request.now()),
        sorting: Sorting::among(&Order::ALL, order, |order| url(current, order, 0)),
        search,
    };
    Ok(PageResponse::render(&page)?.showing(found.data.iter().map(|agreement| agreement.id().uuid())))
}
