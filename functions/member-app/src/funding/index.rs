//! The page over all workspaces that have funding items, which also finds items by their labels, whatever their workspace.

use askama::Template;
use shared::error::Error;
use shared::service::funding_items::{self, FundingItemQuery};
use shared::service::funding_review::{self, FundedWorkspace};
use shared::web::Request;
use shared::wire::page::{Page, Search};

use super::trust::ItemRow;
use super::{PATH, funding_url};
use crate::Handler;
use crate::layout::{Layout, encode_query_value};
use crate::pager::{Pager, is_past_the_end, requested_page};
use crate::response::PageResponse;

#[derive(Template)]
#[template(path = "funding_index.html")]
struct IndexPage {
    layout: Layout,
    /// What is searched for; empty if nothing is.
    search: String,
    /// The workspaces, if nothing is searched for.
    rows: Vec<Row>,
    /// The items that were found.
    items: Vec<ItemRow>,
    pager: Option<Pager>,
}

struct Row {
    url: String,
    name: String,
    reference: String,
    progress: Progress,
}

/// How far the items of a workspace or a trust are. Only what is confirmed or closed counts.
pub(super) struct Progress {
    pub done: u32,
    pub total: u32,
    /// Those that only a claim says are done.
    pub claimed: u32,
}

impl Progress {
    /// What it says in words.
    pub fn text(&self) -> String {
        format!("{} of {}", self.done, self.total)
    }
}

/// Shows the page.
pub(crate) struct Show;

impl Handler for Show {
    fn operation(_: &Request) -> &'static str {
        "view_funding"
    }

    async fn handle(request: &mut Request) -> Result<PageResponse, Error> {
        let search = request.query("search").unwrap_or_default().trim().to_owned();
        if !search.is_empty() {
            return found(request, search).await;
        }
        let found = funding_review::workspaces_with_funding(request.signed_in()?.scope()).await?;
        let found = Page::slice(found, requested_page(request, "offset"));
        let url = |offset: u64| format!("{PATH}?offset={offset}");
        if is_past_the_end(found.pagination) {
            return Ok(PageResponse::see_other(url(0)));
        }
        let page = IndexPage {
            layout: Layout::new(request),
            search,
            rows: found.data.iter().map(row).collect(),
            items: Vec::new(),
            pager: Pager::new("workspaces", found.pagination, url),
        };
        Ok(PageResponse::render(&page)?.showing(found.data.iter().map(|funded| funded.workspace.id().uuid())))
    }
}

/// The items that have a text in their labels.
async fn found(request: &Request, search: String) -> Result<PageResponse, Error> {
    let needle = Search::parse(&search, "search").map_err(Error::Invalid)?;
    let query = FundingItemQuery { search: needle, ..FundingItemQuery::of_page(requested_page(request, "offset")) };
    let found = funding_items::list(request.signed_in()?.scope(), &query).await?;
    let url = |offset: u64| format!("{PATH}?search={}&offset={offset}", encode_query_value(&search));
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
