//! The page over all workspaces that have funding items.

use askama::Template;
use shared::error::Error;
use shared::service::funding_review::{self, FundedWorkspace};
use shared::web::Request;
use shared::wire::page::Page;

use super::{PATH, funding_url};
use crate::Handler;
use crate::layout::Layout;
use crate::pager::{Pager, is_past_the_end, requested_page};
use crate::response::PageResponse;

#[derive(Template)]
#[template(path = "funding_index.html")]
struct IndexPage {
    layout: Layout,
    rows: Vec<Row>,
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
        let found = funding_review::workspaces_with_funding(request.signed_in()?.scope()).await?;
        let found = Page::slice(found, requested_page(request, "offset"));
        let url = |offset: u64| format!("{PATH}?offset={offset}");
        if is_past_the_end(found.pagination) {
            return Ok(PageResponse::see_other(url(0)));
        }
        let page = IndexPage {
            layout: Layout::new(request),
            rows: found.data.iter().map(row).collect(),
            pager: Pager::new("workspaces", found.pagination, url),
        };
        Ok(PageResponse::render(&page)?.showing(found.data.iter().map(|funded| funded.workspace.id().uuid())))
    }
}

fn row(FundedWorkspace { workspace, total, claimed, done }: &FundedWorkspace) -> Row {
    Row {
        url: funding_url(workspace.id()),
        name: workspace.name.as_str().to_owned(),
        reference: workspace.number.to_string(),
        progress: Progress { done: *done, total: *total, claimed: *claimed },
    }
}
