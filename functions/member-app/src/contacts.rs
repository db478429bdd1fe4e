//! The list of contacts, with the form that adds one, and the page that edits one.

use std::collections::BTreeSet;

use askama::Template;
use http::StatusCode;
use pages::chosen::{ANYWAY, CHOSEN, kinds};
use pages::done::{notice_of_act, redirect_with_notice};
use pages::fields::{Choice, Fields};
use pages::form;
use pages::form::FormFields;
use pages::labels::{Badge, DisplayTime, actor_label, agreement_badge, contact_kind_label};
use pages::layout::{Layout, Link, Notice};
use pages::pager::{Pager, is_past_the_end, page_at};
use pages::response::PageResponse;
use pages::shelves::{self, Tab};
use pages::sorting::Sorting;
use pages::urls::{agreement_url, contact_url, encode_query_value};
use shared::domain::agreement::{Agreement, ParticipantRole};
use shared::domain::contact::{Contact, ContactChanges, ContactKind, Email, FormerIdentity, ListedContact, NewContact};
use shared::domain::ids::ContactId;
use shared::error::Error;
use shared::service::agreements::{self, AgreementPage};
use shared::service::contacts::{self, ContactQuery, Upserted};
use shared::service::precondition::ExpectedVersion;
use shared::service::{organizations, workspaces};
use shared::text;
use shared::web::Request;
use shared::wire::fields::{FieldCode, FieldErrors};
use shared::wire::page::{Offset, Order, Shelf};

use crate::contact_merge::Merged;
use crate::workspaces::WorkspaceRow;

const PATH: &str = pages::urls::CONTACTS;

form! {
    /// A contact's details.
    pub(crate) CONTACT: ContactForm {
        name: CHOSEN.name.required(),
        kind: CHOSEN.kind.required(),
        email: CHOSEN.email,
        reference: Field::key("external_reference", "Your reference", 200)
            .called("The reference")
            .hint("Optional: this contact’s ID in your own system, such as crm-4711."),
    }
}

#[derive(Template)]
#[template(path = "contacts.html")]
struct ContactsPage {
    layout: Layout,
    notice: Option<Notice>,
    shelves: Vec<Tab>,
    show: &'static str,
    is_current: bool,
    search: String,
    sorting: Sorting,
    contacts: Vec<ContactRow>,
    pager: Option<Pager>,
    kinds: Vec<Choice>,
    fields: Fields,
    /// Whether the form would make a twin.
    has_twin: bool,
}

struct ContactRow {
    url: String,
    name: String,
    kind: &'static str,
    email: Option<String>,
}

impl ContactRow {
    fn new(contact: &ListedContact) -> Self {
        Self {
            url: contact_url(contact.id),
            name: contact.display_name.as_str().to_owned(),
            kind: contact_kind_label(contact.kind),
            email: contact.email.as_ref().map(|email| email.as_str().to_owned()),
        }
    }
}

fn no_contact() -> Fields {
    Fields::of([(CONTACT.kind, ContactKind::Person.as_str())])
}

fn fields_of(contact: &Contact) -> Fields {
    Fields::of([
        (CONTACT.name, contact.display_name.as_str()),
        (CONTACT.kind, contact.kind.as_str()),
        (CONTACT.email, contact.email.as_ref().map_or("", |email| email.as_str())),
        (CONTACT.reference, contact.external_reference.as_ref().map_or("", |reference| reference.as_str())),
    ])
}

pub(crate) async fn list(request: &mut Request) -> Result<PageResponse, Error> {
    let (notice, cookie) = notice_of_act(request).await;
    Ok(contacts_page(request, no_contact(), notice, false).await?.with_cookie(cookie))
}

async fn contacts_page(
    request: &Request,
    fields: Fields,
    notice: Option<Notice>,
    has_twin: bool,
) -> Result<PageResponse, Error> {
    let scope = request.signed_in()?.scope();
    let (order, shelf, query) = request.read_list_query::<ContactQuery>()?;
    let found = contacts::list(scope, order, shelf, &query).await?;
    let search = query.search.typed().to_owned();
    let url_on = |shelf: Shelf, order: Order, offset: u64| {
        let (search, show) = (encode_query_value(&search), shelves::parameter(shelf));
        format!("{PATH}?search={search}&sort={order}&offset={offset}{show}")
    };
    let url = |order, offset| url_on(shelf, order, offset);
    if is_past_the_end(found.pagination) {
        return Ok(PageResponse::see_other(url(order, 0)));
    }
    let page = ContactsPage {
        layout: Layout::new(request),
        notice,
        pager: Pager::new("contacts", found.pagination, |offset| url(order, offset)),
        contacts: found.data.iter().map(ContactRow::new).collect(),
        sorting: Sorting::new(order, |order| url(order, 0)),
        shelves: shelves::tabs(&[Shelf::Current, Shelf::Archived, Shelf::Merged], shelf, |shelf| {
            url_on(shelf, order, 0)
        }),
        show: shelf.as_str(),
        is_current: shelf == Shelf::Current,
        search,
        kinds: kinds(),
        fields,
        has_twin,
    };
    Ok(PageResponse::render(&page)?.showing(found.data.iter().map(|contact| contact.id.uuid())))
}

pub(crate) async fn add(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let form = submitted.form();
    let new: NewContact = match form.read_new(&CONTACT.names()) {
        Ok(new) => new,
        Err(errors) => {
            return Ok(contacts_page(request, Fields::submitted(form, errors), None, false).await?.unprocessable());
        }
    };
    let id: ContactId = submitted.new_id();
    if form.get(ANYWAY).is_empty()
        && let Some(twin) = contacts::twin_of(submitted.scope(), &new, id).await?
        && (new.external_reference.is_none() || new.external_reference != twin.external_reference)
    {
        let open = Link { url: contact_url(twin.id), text: format!("Open {}", twin.display_name.as_str()) };
        let line = "Nothing was added yet. Use that contact, or add this one if it is someone else.";
        let notice = Notice::warn(format!("A contact with {} exists", contacts::in_common(&new, &twin)), line);
        let notice = Notice { links: vec![open], ..notice };
        let fields = Fields::submitted(form, FieldErrors::default());
        return Ok(contacts_page(request, fields, Some(notice), true).await?.conflicting());
    }
    let title = format!("{} was added", new.display_name.as_str());
    let line = "They can join workspaces and take part in agreements.";
    let redirect = redirect_with_notice(&submitted, contact_url(id), &title, line).await;
    match submitted.run(|| contacts::create_with_id(&submitted, id, new.clone())).await? {
        Upserted::Created(_) => Ok(redirect.into()),
        Upserted::Existing(contact, _) => {
            let title = "This reference is in use";
            let line = format!("{} has it already. Nothing was added.", contact.display_name.as_str());
            let message = "is already used by another contact";
            let errors = FieldErrors::one(CONTACT.reference, FieldCode::InvalidValue, message);
            Ok(contacts_page(request, Fields::submitted(form, errors), Some(Notice::bad(title, line)), false)
                .await?
                .unprocessable())
        }
    }
}

#[derive(Template)]
#[template(path = "contact.html")]
struct ContactPage {
    layout: Layout,
    notice: Option<Notice>,
    path: String,
    name: String,
    kind: &'static str,
    email: Option<String>,
    reference: Option<String>,
    created_at: DisplayTime,
    updated_at: DisplayTime,
    former: Vec<(String, String, DisplayTime)>,
    is_own: bool,
    is_archived: bool,
    merged: Merged,
    agreements: Vec<ParticipationRow>,
    agreements_pager: Option<Pager>,
    workspaces: Vec<WorkspaceRow>,
    workspaces_pager: Option<Pager>,
    /// The version shown in the form. Changes of any other are refused.
    version: u64,
    kinds: Vec<Choice>,
    fields: Fields,
}

struct ParticipationRow {
    url: String,
    name: String,
    roles: String,
    badge: Badge<String>,
}

impl ParticipationRow {
    fn new(agreement: &Agreement, contact: ContactId, is_ready: bool) -> Self {
        let own = agreement.participants.iter().filter(|participant| participant.contact_id == contact);
        let roles: BTreeSet<ParticipantRole> = own.flat_map(|participant| &participant.roles).copied().collect();
        let roles: Vec<_> = roles.into_iter().map(text::role).collect();
        Self {
            url: agreement_url(agreement.id()),
            name: agreement.name.as_str().to_owned(),
            roles: roles.join(", "),
            badge: agreement_badge(agreement, is_ready),
        }
    }
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    let (notice, cookie) = notice_of_act(request).await;
    Ok(contact_page(request, None, notice).await?.with_cookie(cookie))
}

#[derive(Debug, Default, deserr::Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
struct Pages {
    #[deserr(default)]
    agreements: Offset,
    #[deserr(default)]
    workspaces: Offset,
}

/// Shows the contact's or submitted values and the version they apply to: without one, the version shown.
async fn contact_page(
    request: &Request,
    submitted: Option<(Fields, Option<u64>)>,
    notice: Option<Notice>,
) -> Result<PageResponse, Error> {
    let scope = request.signed_in()?.scope();
    let id: ContactId = request.path_id("id")?;
    let pages: Pages = request.read_query()?;
    let (contact, organization, AgreementPage { page: agreements, ready, .. }, workspaces) = tokio::try_join!(
        contacts::get(scope, id),
        organizations::get(scope),
        agreements::list_of_contact(scope, id, page_at(pages.agreements)),
        workspaces::list_of_contact(scope, id, page_at(pages.workspaces)),
    )?;
    let merged = Merged::of(scope, &contact).await?;
    let path = contact_url(id);
    if is_past_the_end(agreements.pagination) || is_past_the_end(workspaces.pagination) {
        return Ok(PageResponse::see_other(path));
    }
    let (at_agreement, at_workspace) = (agreements.pagination.offset, workspaces.pagination.offset);
    let participation = |agreement: &Agreement| ParticipationRow::new(agreement, id, ready.contains(&agreement.id()));
    let (fields, version) = match submitted {
        Some((fields, version)) => (fields, version.unwrap_or(contact.version())),
        None => (fields_of(&contact), contact.version()),
    };
    let page = ContactPage {
        layout: Layout::new(request),
        notice,
        is_own: organization.own_contact_ids.contains(&id),
        is_archived: contact.archived_at.is_some(),
        merged,
        agreements: agreements.data.iter().map(participation).collect(),
        agreements_pager: Pager::new("agreements", agreements.pagination, |offset| {
            format!("{path}?agreements={offset}&workspaces={at_workspace}#agreements")
        }),
        workspaces: workspaces.data.iter().map(WorkspaceRow::new).collect(),
        workspaces_pager: Pager::new("workspaces", workspaces.pagination, |offset| {
            format!("{path}?agreements={at_agreement}&workspaces={offset}#workspaces")
        }),
        path,
        name: contact.display_name.as_str().to_owned(),
        kind: contact_kind_label(contact.kind),
        email: contact.email.as_ref().map(|email| email.as_str().to_owned()),
        reference: contact.external_reference.as_ref().map(|reference| reference.as_str().to_owned()),
        created_at: contact.created_at.into(),
        updated_at: contact.updated_at.into(),
        former: contact.former.iter().rev().map(|was| former(contact.kind, was)).collect(),
        version,
        kinds: kinds(),
        fields,
    };
    let agreement_ids = agreements.data.iter().map(|agreement| agreement.id().uuid());
    let workspace_ids = workspaces.data.iter().map(|workspace| workspace.id().uuid());
    Ok(PageResponse::render(&page)?.showing(std::iter::once(id.uuid()).chain(agreement_ids).chain(workspace_ids)))
}

/// A former name and address, the former kind if it changed, who changed them, and when.
fn former(now: ContactKind, was: &FormerIdentity) -> (String, String, DisplayTime) {
    let email = was.email.as_ref().map_or("no email address", Email::as_str);
    let kind = if was.kind == now { String::new() } else { format!(" ({})", contact_kind_label(was.kind)) };
    (format!("{}{kind}, {email}", was.display_name.as_str()), actor_label(&was.changed_by), was.until.into())
}

pub(crate) async fn save(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let id: ContactId = request.path_id("id")?;
    let form = submitted.form();
    // An invalid version matches no version of the contact.
    let version: Option<u64> = form.get("version").parse().ok();
    let refused = async |errors| {
        // The form keeps its version, so that corrections don't overwrite what others have saved.
        Ok(contact_page(request, Some((Fields::submitted(form, errors), version)), None).await?.unprocessable())
    };
    let changes: ContactChanges = match form.read_changes(&CONTACT.names()) {
        Ok(changes) => changes,
        Err(errors) => return refused(errors).await,
    };
    let expected = ExpectedVersion::OneOf(version.into_iter().collect());
    let line = format!("{} appears with its new details everywhere.", form.get(CONTACT.name).trim());
    let redirect = redirect_with_notice(&submitted, contact_url(id), "Changes saved", &line).await;
    match submitted.run(|| contacts::update(&submitted, id, &expected, changes.clone())).await {
        Ok(_) => Ok(redirect.into()),
        Err(Error::Invalid(errors)) => refused(errors).await,
        Err(Error::StaleMatch) => {
            let title = "This contact has changed since you opened it";
            let line = "Nothing was saved. The details above are as they are now; the form has what you typed. Save again to replace them.";
            let fields = Fields::of(form.typed());
            let page = contact_page(request, Some((fields, None)), Some(Notice::warn(title, line))).await?;
            Ok(page.refused(StatusCode::CONFLICT, "conflict"))
        }
        Err(error) => Err(error),
    }
}
