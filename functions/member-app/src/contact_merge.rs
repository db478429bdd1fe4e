//! The page that merges a contact into another one, and the form that separates them again.

use askama::Template;
use http::StatusCode;
use pages::done::redirect_with_notice;
use pages::layout::{Layout, Link, Notice};
use pages::pickers::ContactPicker;
use pages::response::PageResponse;
use pages::urls::contact_url;
use shared::domain::contact::{Contact, ContactKind, ListedContact};
use shared::domain::ids::ContactId;
use shared::domain::merge::NotMerged;
use shared::error::Error;
use shared::service::contacts::{self, ContactQuery};
use shared::service::scope::Scope;
use shared::web::Request;
use shared::wire::fields::FieldErrors;
use shared::wire::page::{Order, Shelf};

/// The contact that one is merged into, and those merged into it.
#[derive(Default)]
pub(crate) struct Merged {
    pub into: Option<Link>,
    pub others: Vec<Link>,
}

impl Merged {
    pub async fn of(scope: &Scope, contact: &Contact) -> Result<Self, Error> {
        let ids: Vec<ContactId> = contact.merged_into.into_iter().chain(contact.merged.iter().copied()).collect();
        if ids.is_empty() {
            return Ok(Self::default());
        }
        let (into, others): (Vec<_>, Vec<_>) =
            contacts::named(scope, ids).await?.into_iter().partition(|other| contact.merged_into == Some(other.id));
        Ok(Self { into: into.iter().map(link).next(), others: others.iter().map(link).collect() })
    }
}

fn link(contact: &Contact) -> Link {
    Link { url: contact_url(contact.id), text: contact.display_name.as_str().to_owned() }
}

fn merge_url(id: ContactId) -> String {
    format!("{}/merge", contact_url(id))
}

#[derive(Template)]
#[template(path = "contact_merge.html")]
struct MergePage {
    layout: Layout,
    notice: Option<Notice>,
    contact: Link,
    id: String,
    picker: ContactPicker,
}

pub(crate) async fn choose(request: &mut Request) -> Result<PageResponse, Error> {
    merge_page(request, None).await
}

async fn merge_page(request: &Request, notice: Option<Notice>) -> Result<PageResponse, Error> {
    let scope = request.signed_in()?.scope();
    let id: ContactId = request.path_id("id")?;
    let query: ContactQuery = request.read_query()?;
    let (contact, found) =
        tokio::try_join!(contacts::get(scope, id), contacts::list(scope, Order::ByName, Shelf::Current, &query))?;
    let is_person = |kind: ContactKind| kind == ContactKind::Person;
    let is_of_other_kind = |other: &ListedContact| is_person(other.kind) != is_person(contact.kind);
    let picker = match ContactPicker::new(&query, merge_url(id), &found, is_of_other_kind) {
        Ok(picker) => picker,
        Err(first_page) => return Ok(PageResponse::see_other(first_page)),
    };
    let page = MergePage { layout: Layout::new(request), notice, contact: link(&contact), id: id.to_string(), picker };
    let shown = found.data.iter().map(|contact| contact.id.uuid());
    Ok(PageResponse::render(&page)?.showing(std::iter::once(id.uuid()).chain(shown)))
}

#[derive(Debug, Clone, deserr::Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
struct MergeInto {
    contact_id: ContactId,
}

pub(crate) async fn merge(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let id: ContactId = request.path_id("id")?;
    let MergeInto { contact_id: into } = submitted.form().read_new(&["contact_id"]).map_err(Error::Invalid)?;
    // Names are read before the act, because the redirect carries the notice.
    let contact = contacts::get(submitted.scope(), id).await?;
    let title = format!("{} was merged into this contact", contact.display_name.as_str());
    let line = "Lists show this contact in place of both. Existing agreements, signatures and payments don’t change.";
    let redirect = redirect_with_notice(&submitted, contact_url(into), &title, line).await;
    match submitted.run(|| contacts::merge(&submitted, id, into)).await? {
        Ok(_) => Ok(redirect.into()),
        Err(reason) => {
            let notice = Notice::bad("Nothing was merged", not_merged(reason));
            Ok(merge_page(request, Some(notice)).await?.refused(StatusCode::CONFLICT, "conflict"))
        }
    }
}

fn not_merged(reason: NotMerged) -> &'static str {
    match reason {
        NotMerged::Itself => "A contact can’t be merged into itself.",
        NotMerged::Own => "This is one of your organization’s own contacts. Merge the other one into it.",
        NotMerged::Already => "This contact is merged already. Separate it first.",
        NotMerged::HasMerged => "Others are merged into this contact. Separate them first.",
        NotMerged::IntoMerged => "That contact was merged into another one. Choose the contact it was merged into.",
        NotMerged::IntoArchived => "That contact is archived. Bring it back first.",
        NotMerged::OtherKind => "A person can’t be merged into an entity, or an entity into a person.",
        NotMerged::TooMany => "That contact has as many merged into it as it can.",
    }
}

pub(crate) async fn separate(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let id: ContactId = request.path_id("id")?;
    let line = "Lists show this contact beside the other one.";
    let redirect = redirect_with_notice(&submitted, contact_url(id), "Separate again", line).await;
    submitted.run(|| contacts::separate(&submitted, id)).await?;
    Ok(redirect.into())
}
