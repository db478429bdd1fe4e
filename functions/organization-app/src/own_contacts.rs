//! The page on which an admin chooses the organization's own contacts.

use askama::Template;
use pages::chosen::{self, Chosen};
use pages::done::{notice_of_act, redirect_with_notice};
use pages::fields::{Choice, Fields};
use pages::layout::{Layout, Notice};
use pages::pickers::ContactPicker;
use pages::response::PageResponse;
use pages::urls::ORGANIZATION;
use shared::domain::contact::ListedContact;
use shared::domain::ids::ContactId;
use shared::domain::organization::NewOwnContact;
use shared::error::Error;
use shared::limits;
use shared::service::contacts::{self, ContactQuery};
use shared::service::organizations;
use shared::web::Request;
use shared::wire::fields::FieldErrors;
use shared::wire::page::{Order, Shelf};

const PATH: &str = "/app/organization/contacts";

#[derive(Template)]
#[template(path = "own_contacts.html")]
struct OwnContactsPage {
    layout: Layout,
    notice: Option<Notice>,
    organization: String,
    picker: ContactPicker,
    kinds: Vec<Choice>,
    has_twin: bool,
    fields: Fields,
}

pub(crate) async fn choose(request: &mut Request) -> Result<PageResponse, Error> {
    request.check_admin()?;
    let (notice, cookie) = notice_of_act(request).await;
    Ok(own_contacts_page(request, Fields::default(), notice, false).await?.with_cookie(cookie))
}

async fn own_contacts_page(
    request: &Request,
    fields: Fields,
    notice: Option<Notice>,
    has_twin: bool,
) -> Result<PageResponse, Error> {
    let signed_in = request.signed_in()?;
    let organization = signed_in.organization();
    let query: ContactQuery = request.read_query()?;
    let found = contacts::list(signed_in.scope(), Order::ByName, Shelf::Current, &query).await?;
    let is_chosen = |contact: &ListedContact| organization.own_contact_ids.contains(&contact.id);
    let picker = match ContactPicker::new(&query, PATH.to_owned(), &found, is_chosen) {
        Ok(picker) => picker,
        Err(first_page) => return Ok(PageResponse::see_other(first_page)),
    };
    let page = OwnContactsPage {
        layout: Layout::new(request),
        notice,
        organization: organization.name.as_str().to_owned(),
        fields: fields.over(picker.new_contact()),
        picker,
        kinds: chosen::kinds(),
        has_twin,
    };
    Ok(PageResponse::render(&page)?.showing(found.data.iter().map(|contact| contact.id.uuid())))
}

pub(crate) async fn add(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?.require_admin()?;
    let form = submitted.form();
    let chosen = match Chosen::read(form) {
        Err(errors) if chosen::is_new(form) => {
            return Ok(own_contacts_page(request, Fields::submitted(form, errors), None, false).await?.unprocessable());
        }
        chosen => chosen.map_err(Error::Invalid)?,
    };
    let typed = || Fields::submitted(form, FieldErrors::default());
    let made: ContactId = submitted.new_id();
    if let Some(notice) = chosen.twin_notice(&submitted, made, PATH).await? {
        return Ok(own_contacts_page(request, typed(), Some(notice), true).await?.conflicting());
    }
    let (back, title) = match &chosen {
        // The form's URL has the search and offset, so that the list stays the same.
        Chosen::Known(_) => {
            let back = request.uri().path_and_query().map_or_else(|| PATH.to_owned(), ToString::to_string);
            (back, "Contact added".to_owned())
        }
        Chosen::New(new) => (PATH.to_owned(), format!("{} was added", new.display_name.as_str())),
    };
    let line = "When an agreement waits for this contact, Home says that it’s your turn.";
    let redirect = redirect_with_notice(&submitted, back, &title, line).await;
    let (scope, admin) = (submitted.scope(), submitted.submitter());
    let added = match chosen {
        Chosen::Known(contact_id) => {
            submitted.run(|| organizations::add_own_contact(scope, admin, NewOwnContact { contact_id })).await
        }
        Chosen::New(new) => submitted.run(|| organizations::add_new_own_contact(scope, admin, made, new.clone())).await,
    };
    match added {
        Ok(_) => Ok(redirect.into()),
        Err(Error::Invalid(_)) => {
            let line =
                format!("{} contacts are your own, the most that an organization can have.", limits::OWN_CONTACTS_MAX);
            let notice = Notice::bad("The contact was not added", line);
            Ok(own_contacts_page(request, typed(), Some(notice), false).await?.unprocessable())
        }
        Err(error) => Err(error),
    }
}

pub(crate) async fn remove(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?.require_admin()?;
    let id: ContactId = request.path_id("id")?;
    let line = "It is still among your contacts.";
    let back = ORGANIZATION.to_owned();
    let redirect = redirect_with_notice(&submitted, back, "No longer an own contact", line).await;
    let (scope, admin) = (submitted.scope(), submitted.submitter());
    submitted.run(|| organizations::remove_own_contact(scope, admin, id)).await?;
    Ok(redirect.into())
}
