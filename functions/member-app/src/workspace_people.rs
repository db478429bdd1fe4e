//! The people of a workspace: the page that adds contacts, and the form that removes one.

use askama::Template;
use http::StatusCode;
use pages::chosen::{self, Chosen};
use pages::done::{notice_of_act, redirect_with_notice};
use pages::fields::{Choice, Fields};
use pages::layout::{Layout, Link, Notice};
use pages::pickers::ContactPicker;
use pages::response::PageResponse;
use pages::urls::{agreement_url, workspace_url};
use shared::domain::contact::ListedContact;
use shared::domain::ids::{ContactId, WorkspaceId};
use shared::domain::workspace::NewPerson;
use shared::error::Error;
use shared::limits;
use shared::service::contacts::{self, ContactQuery};
use shared::service::workspaces::{self, KeepingReason};
use shared::web::Request;
use shared::wire::fields::FieldErrors;
use shared::wire::page::{Order, Shelf};

use crate::workspaces::{NotRemoved, workspace_page};

fn people_url(workspace: WorkspaceId) -> String {
    format!("{}/people", workspace_url(workspace))
}

#[derive(Template)]
#[template(path = "workspace_people.html")]
struct PeoplePage {
    layout: Layout,
    notice: Option<Notice>,
    workspace_url: String,
    workspace: String,
    picker: ContactPicker,
    kinds: Vec<Choice>,
    has_twin: bool,
    fields: Fields,
}

pub(crate) async fn choose(request: &mut Request) -> Result<PageResponse, Error> {
    let (notice, cookie) = notice_of_act(request).await;
    Ok(people_page(request, Fields::default(), notice, false).await?.with_cookie(cookie))
}

async fn people_page(
    request: &Request,
    fields: Fields,
    notice: Option<Notice>,
    has_twin: bool,
) -> Result<PageResponse, Error> {
    let scope = request.signed_in()?.scope();
    let id: WorkspaceId = request.path_id("id")?;
    let query: ContactQuery = request.read_query()?;
    let (workspace, found) =
        tokio::try_join!(workspaces::peopled(scope, id), contacts::list(scope, Order::ByName, Shelf::Current, &query))?;
    let is_chosen = |contact: &ListedContact| workspace.people().contains(&contact.id);
    let picker = match ContactPicker::new(&query, people_url(id), &found, is_chosen) {
        Ok(picker) => picker,
        Err(first_page) => return Ok(PageResponse::see_other(first_page)),
    };
    let page = PeoplePage {
        layout: Layout::new(request),
        notice,
        workspace_url: workspace_url(id),
        workspace: workspace.name.as_str().to_owned(),
        fields: fields.over(picker.new_contact()),
        picker,
        kinds: chosen::kinds(),
        has_twin,
    };
    let contacts = found.data.iter().map(|contact| contact.id.uuid());
    Ok(PageResponse::render(&page)?.showing(std::iter::once(id.uuid()).chain(contacts)))
}

pub(crate) async fn add(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let id: WorkspaceId = request.path_id("id")?;
    let form = submitted.form();
    let chosen = match Chosen::read(form) {
        Err(errors) if chosen::is_new(form) => {
            return Ok(people_page(request, Fields::submitted(form, errors), None, false).await?.unprocessable());
        }
        chosen => chosen.map_err(Error::Invalid)?,
    };
    let typed = || Fields::submitted(form, FieldErrors::default());
    let made: ContactId = submitted.new_id();
    if let Some(notice) = chosen.twin_notice(&submitted, made, &people_url(id)).await? {
        return Ok(people_page(request, typed(), Some(notice), true).await?.conflicting());
    }
    let (back, title) = match &chosen {
        // The form's URL has the search and offset, so that the list stays the same.
        Chosen::Known(_) => {
            let back = request.uri().path_and_query().map_or_else(|| people_url(id), ToString::to_string);
            (back, "Contact added".to_owned())
        }
        Chosen::New(new) => (people_url(id), format!("{} was added", new.display_name.as_str())),
    };
    let line = "They are part of the workspace now.";
    let redirect = redirect_with_notice(&submitted, back, &title, line).await;
    let added = match chosen {
        Chosen::Known(contact_id) => {
            submitted.run(|| workspaces::add_person(&submitted, id, NewPerson { contact_id })).await.map(drop)
        }
        Chosen::New(new) => submitted.run(|| workspaces::add_new_person(&submitted, id, made, new.clone())).await,
    };
    match added {
        Ok(()) => Ok(redirect.into()),
        Err(Error::Invalid(_)) => {
            let line = format!("It has {} people, the most that a workspace can have.", limits::WORKSPACE_PEOPLE_MAX);
            let notice = Notice::bad("The contact was not added", line);
            Ok(people_page(request, typed(), Some(notice), false).await?.unprocessable())
        }
        Err(error) => Err(error),
    }
}

pub(crate) async fn remove(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let (id, contact_id): (WorkspaceId, ContactId) = (request.path_id("id")?, request.path_id("contact")?);
    // Names are read before the act, because the redirect carries the notice.
    let contact = contacts::get(submitted.scope(), contact_id).await?;
    let name = contact.display_name.as_str();
    let title = format!("{name} was removed");
    let line = "They are still among your contacts.";
    let redirect = redirect_with_notice(&submitted, workspace_url(id), &title, line).await;
    let kept_by = match submitted.run(|| workspaces::remove_person(&submitted, id, contact_id)).await? {
        Ok(()) => return Ok(redirect.into()),
        Err(kept_by) => kept_by,
    };
    let (before, after) = match kept_by.reason {
        KeepingReason::Draft => ("They take part in the draft", ". Remove them there first."),
        KeepingReason::Published => ("They take part in", ", which was published, so they stay on record."),
        KeepingReason::Proposed => ("They took part in", " when it was proposed. Decide on that proposal first."),
    };
    let agreement = Link { url: agreement_url(kept_by.agreement), text: format!("“{}”", kept_by.name.as_str()) };
    let not_removed = NotRemoved { title: format!("{name} was not removed"), before, agreement, after };
    let page = workspace_page(request, None, Some(not_removed)).await?;
    Ok(page.showing([id.uuid(), contact_id.uuid()]).refused(StatusCode::CONFLICT, "conflict"))
}
