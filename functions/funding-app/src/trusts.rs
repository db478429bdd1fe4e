use askama::Template;
use pages::done::notice_of_act;
use pages::layout::{Layout, Link, Notice};
use pages::pager::{Pager, is_past_the_end};
use pages::response::PageResponse;
use pages::sorting::Sorting;
use pages::urls::{TRUSTS, encode_query_value, funding_url, trust_url};
use shared::error::Error;
use shared::service::funding_review::{self, TrustPage};
use shared::service::trusts::{TrustInFull, TrustQuery};
use shared::web::Request;
use shared::wire::page::Order;

#[derive(Template)]
#[template(path = "trusts.html")]
struct ListPage {
    layout: Layout,
    notice: Option<Notice>,
    search: String,
    sorting: Sorting,
    rows: Vec<Row>,
    pager: Option<Pager>,
}

struct Row {
    url: String,
    name: String,
    workspace: Option<Link>,
    items: u32,
    trustees: usize,
}

pub(crate) async fn list(request: &mut Request) -> Result<PageResponse, Error> {
    let (notice, cookie) = notice_of_act(request).await;
    let (order, _, query) = request.read_list_query::<TrustQuery>()?;
    let scope = request.signed_in()?.scope();
    let TrustPage { page: found, workspaces } = funding_review::trusts(scope, order, &query).await?;
    let search = query.search.typed().to_owned();
    let page_url = |order: Order, offset: u64| {
        format!("{TRUSTS}?search={}&sort={order}&offset={offset}", encode_query_value(&search))
    };
    if is_past_the_end(found.pagination) {
        return Ok(PageResponse::see_other(page_url(order, 0)));
    }
    let row = |TrustInFull { trust, item_count }: &TrustInFull| Row {
        url: trust_url(trust.id),
        name: trust.formal_name.as_str().to_owned(),
        workspace: workspaces
            .get(&trust.workspace_id)
            .map(|workspace| Link { url: funding_url(workspace.id()), text: workspace.name.as_str().to_owned() }),
        items: *item_count,
        trustees: trust.trustee_contact_ids.len(),
    };
    let page = ListPage {
        layout: Layout::new(request),
        notice,
        pager: Pager::new("trusts", found.pagination, |offset| page_url(order, offset)),
        sorting: Sorting::new(order, |order| page_url(order, 0)),
        rows: found.data.iter().map(row).collect(),
        search,
    };
    let shown = found.data.iter().map(|found| found.trust.id.uuid());
    Ok(PageResponse::render(&page)?.showing(shown).with_cookie(cookie))
}
