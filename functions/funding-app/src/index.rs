//! The page over all workspaces with funding items, which also finds items by label across workspaces.

use askama::Template;
use pages::layout::Layout;
use pages::pager::{Pager, is_past_the_end, page_at};
use pages::response::PageResponse;
use pages::urls::{FUNDING, encode_query_value, funding_url};
use shared::error::Error;
use shared::limits;
use shared::service::funding_items::{self, FundingItemQuery};
use shared::service::funding_review::{self, FundedWorkspace};
use shared::web::Request;
use shared::wire::fields::FieldErrors;
use shared::wire::page::{Offset, Order, Page, Search};

use crate::rows::{ItemRow, Progress};

#[derive(Template)]
#[template(path = "funding_index.html")]
struct IndexPage {
    layout: Layout,
    search: String,
    rows: Vec<Row>,
    items: Vec<ItemRow>,
    pager: Option<Pager>,
}

struct Row {
    url: String,
    name: String,
    reference: String,
    progress: Progress,
}

#[derive(Debug, Clone, Default, deserr::Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
struct Query {
    #[deserr(default)]
    search: Search<{ limits::SEARCH_CHARS_MAX }>,
    #[deserr(default)]
    offset: Offset,
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    let query: Query = request.read_query()?;
    if query.search.needle().is_some() {
        return found(request, query).await;
    }
    let found = funding_review::workspaces_with_funding(request.signed_in()?.scope()).await?;
    let found = Page::slice(found, page_at(query.offset));
    let url = |offset: u64| format!("{FUNDING}?offset={offset}");
    if is_past_the_end(found.pagination) {
        return Ok(PageResponse::see_other(url(0)));
    }
    let page = IndexPage {
        layout: Layout::new(request),
        search: String::new(),
        rows: found.data.iter().map(row).collect(),
        items: Vec::new(),
        pager: Pager::new("workspaces", found.pagination, url),
    };
    Ok(PageResponse::render(&page)?.showing(found.data.iter().map(|funded| funded.workspace.id().uuid())))
}

async fn found(request: &Request, query: Query) -> Result<PageResponse, Error> {
    let search = query.search.typed().to_owned();
    let query = FundingItemQuery { search: query.search, ..FundingItemQuery::of_page(page_at(query.offset)) };
    let found = funding_items::list(request.signed_in()?.scope(), Order::NewestFirst, &query).await?;
    let url = |offset: u64| format!("{FUNDING}?search={}&offset={offset}", encode_query_value(&search));
    if is_past_the_end(found.pagination) {
        return Ok(PageResponse::see_other(url(0)));
    }
    let page = IndexPage {
        layout: Layout::new(request),
        rows: Vec::new(),
        items: found.data.iter().map(ItemRow::new).collect(),
        pager: Pager::new("funding items", found.pagination, url),
        search,
    };
    Ok(PageResponse::render(&page)?.showing(found.data.iter().map(|item| item.id().uuid())))
}

fn row(FundedWorkspace { workspace, total, claimed, done }: &FundedWorkspace) -> Row {
    Row {
        url: funding_url(workspace.id()),
        name: workspace.name.as_str().to_owned(),
        reference: workspace.number.to_string(),
        progress: Progress { done: *done, total: *total, claimed: *claimed },
    }
}
