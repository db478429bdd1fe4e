//! The page of a trust: its settlors and trustees, items, and agreements' documents.

use askama::Template;
use pages::deal::DealDocument;
use pages::done::notice_of_act;
use pages::labels::{Badge, DisplayTime, item_badge, lifecycle_badge};
use pages::layout::{Layout, Link, Notice};
use pages::pager::{Paged, Pager, is_past_the_end, page_at};
use pages::response::PageResponse;
use pages::urls::{agreement_url, contact_url, document_url, funding_url, item_url, trust_url};
use shared::domain::agreement::Agreement;
use shared::domain::contact::Contact;
use shared::domain::funding::FundingItem;
use shared::domain::funding::summary::FundingSummary;
use shared::domain::ids::{ContactId, TrustId};
use shared::error::Error;
use shared::service::funding_review::{self, TrustReview};
use shared::text::{self, funding_words as words};
use shared::web::Request;
use shared::wire::page::Page;

use crate::hold_badge;
use crate::rows::{ItemRow, Progress};
use crate::trust_form::edit_url;

#[derive(Template)]
#[template(path = "trust.html")]
struct TrustPage {
    layout: Layout,
    notice: Option<Notice>,
    name: String,
    workspace: Link,
    contact: String,
    edit: String,
    reference: Option<String>,
    settlors: Vec<Link>,
    trustees: Vec<Link>,
    progress: Progress,
    items: Vec<ItemRow>,
    pager: Option<Pager>,
    agreements: Vec<AgreementDocuments>,
    more_agreements: usize,
    funding: String,
    created_at: DisplayTime,
    updated_at: DisplayTime,
}

struct AgreementDocuments {
    agreement: Link,
    badge: Badge,
    documents: Vec<DealDocument>,
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    let (notice, cookie) = notice_of_act(request).await;
    let id: TrustId = request.path_id("id")?;
    let query: Paged = request.read_query()?;
    let review = funding_review::trust(request.signed_in()?.scope(), id).await?;
    let TrustReview { trust, workspace, items, people, agreements, more_agreements } = review;
    let summary = FundingSummary::of(&items);
    let found = Page::slice(items.into_iter().rev(), page_at(query.offset));
    let url = |offset: u64| format!("{}?offset={offset}#items", trust_url(id));
    if is_past_the_end(found.pagination) {
        return Ok(PageResponse::see_other(url(0)));
    }
    let page = TrustPage {
        layout: Layout::new(request),
        notice,
        name: trust.formal_name.as_str().to_owned(),
        workspace: Link { url: funding_url(workspace.id()), text: workspace.name.as_str().to_owned() },
        contact: contact_url(trust.contact_id),
        edit: edit_url(id),
        reference: trust.external_reference.as_ref().map(|reference| reference.as_str().to_owned()),
        settlors: links(&trust.settlor_contact_ids, &people),
        trustees: links(&trust.trustee_contact_ids, &people),
        progress: Progress { done: summary.done, total: summary.total, claimed: summary.claimed },
        items: found.data.iter().map(ItemRow::new).collect(),
        pager: Pager::new("the items of the trust", found.pagination, url),
        agreements: agreements.iter().map(documents).collect(),
        more_agreements,
        funding: format!("{}?trust_id={id}", funding_url(workspace.id())),
        created_at: trust.created_at.into(),
        updated_at: trust.updated_at.into(),
    };
    Ok(PageResponse::render(&page)?.showing([id.uuid(), workspace.id().uuid()]).with_cookie(cookie))
}

fn links(ids: &[ContactId], people: &[Contact]) -> Vec<Link> {
    let contact = |id: &ContactId| people.iter().find(|contact| contact.id == *id);
    let found = ids.iter().filter_map(contact);
    found.map(|contact| Link { url: contact_url(contact.id), text: contact.display_name.as_str().to_owned() }).collect()
}

impl ItemRow {
    pub fn new(item: &FundingItem) -> Self {
        let verb = item.verb().map(|verb| format!(" · {}", words::verb(verb))).unwrap_or_default();
        Self {
            url: item_url(item.id()),
            label: item.label().as_str().to_owned(),
            about: format!("{}{verb}", words::asset_kind(item.asset_kind())),
            next: text::next_step_of_item(item),
            badge: item_badge(item),
            on_hold: hold_badge(item),
        }
    }
}

fn documents(agreement: &Agreement) -> AgreementDocuments {
    let document = |document: &shared::domain::agreement::Document| DealDocument {
        name: document.name.as_str().to_owned(),
        url: document.content.as_ref().map(|_| document_url(agreement.id(), document.id)),
    };
    AgreementDocuments {
        agreement: Link { url: agreement_url(agreement.id()), text: agreement.name.as_str().to_owned() },
        badge: lifecycle_badge(agreement.lifecycle()),
        documents: agreement.documents.iter().map(document).collect(),
    }
}
