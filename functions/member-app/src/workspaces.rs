//! The list of workspaces, and the page of a workspace with its people and agreements.

use askama::Template;
use shared::domain::agreement::Agreement;
use shared::domain::contact::Contact;
use shared::domain::ids::WorkspaceId;
use shared::domain::sentences;
use shared::domain::workspace::Workspace;
use shared::error::Error;
use shared::service::agreements::{self, AgreementPage, AgreementQuery};
use shared::service::scope::Scope;
use shared::service::workspaces::{self, WorkspacePeople, WorkspaceQuery};
use shared::web::Request;
use shared::wire::input;
use shared::wire::page::PageRequest;

use crate::Handler;
use crate::labels::{Badge, DisplayTime, lifecycle_badge};
use crate::layout::{Layout, encode_query_value};
use crate::pager::{Pager, is_past_the_end, requested_page};
use crate::response::PageResponse;

#[derive(Template)]
#[template(path = "workspaces.html")]
struct WorkspacesPage {
    layout: Layout,
    search: String,
    workspaces: Vec<WorkspaceRow>,
    pager: Option<Pager>,
}

struct WorkspaceRow {
    url: String,
    name: String,
    reference: String,
    people: usize,
    is_activated: bool,
}

impl WorkspaceRow {
    fn new(workspace: &Workspace) -> Self {
        Self {
            url: workspace_url(workspace.id()),
            name: workspace.name.as_str().to_owned(),
            reference: workspace.number.to_string(),
            people: workspace.people.len(),
            is_activated: workspace.activated_at().is_some(),
        }
    }
}

fn workspace_url(id: WorkspaceId) -> String {
    format!("/app/workspaces/{id}")
}

/// Shows the list.
pub(crate) struct List;

impl Handler for List {
    fn operation(_: &Request) -> &'static str {
        "view_workspaces"
    }

    async fn handle(request: &mut Request) -> Result<PageResponse, Error> {
        let signed_in = request.signed_in()?;
        let query: WorkspaceQuery = input::read_query(request.uri().query()).map_err(Error::Invalid)?;
        let found = workspaces::list(signed_in.scope(), &query).await?;
        let search = request.query("search").unwrap_or_default();
        let page_url = |offset: u64| format!("/app/workspaces?search={}&offset={offset}", encode_query_value(&search));
        if is_past_the_end(found.pagination) {
            return Ok(PageResponse::see_other(page_url(0)));
        }
        let page = WorkspacesPage {
            layout: Layout::new(request),
            pager: Pager::new("workspaces", found.pagination, page_url),
            workspaces: found.data.iter().map(WorkspaceRow::new).collect(),
            search,
        };
        Ok(PageResponse::render(&page)?.showing(found.data.iter().map(|workspace| workspace.id().uuid())))
    }
}

#[derive(Template)]
#[template(path = "workspace.html")]
struct WorkspacePage {
    layout: Layout,
    name: String,
    reference: String,
    activated_at: Option<DisplayTime>,
    created_at: DisplayTime,
    path: String,
    people: Vec<PersonRow>,
    people_pager: Option<Pager>,
    agreements: Vec<AgreementRow>,
    agreements_pager: Option<Pager>,
}

struct PersonRow {
    name: String,
    email: Option<String>,
}

impl PersonRow {
    fn new(contact: &Contact) -> Self {
        Self {
            name: contact.display_name.as_str().to_owned(),
            email: contact.email.as_ref().map(|email| email.as_str().to_owned()),
        }
    }
}

struct AgreementRow {
    url: String,
    name: String,
    status: String,
    badge: Badge,
    participants: usize,
}

impl AgreementRow {
    fn new(agreement: &Agreement, is_ready: bool) -> Self {
        Self {
            url: format!("/app/agreements/{}", agreement.id()),
            name: agreement.name.as_str().to_owned(),
            status: sentences::agreement_status(agreement, is_ready),
            badge: lifecycle_badge(agreement.lifecycle()),
            participants: agreement.participants.len(),
        }
    }
}

/// Shows a workspace.
pub(crate) struct Show;

impl Handler for Show {
    fn operation(_: &Request) -> &'static str {
        "view_workspace"
    }

    async fn handle(request: &mut Request) -> Result<PageResponse, Error> {
        let scope = request.signed_in()?.scope();
        let id: WorkspaceId = request.path_id("id")?;
        let WorkspacePeople { workspace, people } =
            workspaces::get_with_people_page(scope, id, requested_page(request, "people")).await?;
        let path = workspace_url(id);
        let AgreementPage { page: agreements, ready } =
            agreements_page(scope, id, requested_page(request, "agreements")).await?;
        if is_past_the_end(people.pagination) || is_past_the_end(agreements.pagination) {
            return Ok(PageResponse::see_other(path));
        }
        let (people_offset, agreements_offset) = (people.pagination.offset, agreements.pagination.offset);
        let agreement_row = |agreement: &Agreement| AgreementRow::new(agreement, ready.contains(&agreement.id()));
        let page = WorkspacePage {
            layout: Layout::new(request),
            name: workspace.name.as_str().to_owned(),
            reference: workspace.number.to_string(),
            activated_at: workspace.activated_at().map(Into::into),
            created_at: workspace.created_at.into(),
            people_pager: Pager::new("people", people.pagination, |offset| {
                format!("{path}?agreements={agreements_offset}&people={offset}#people")
            }),
            agreements_pager: Pager::new("agreements", agreements.pagination, |offset| {
                format!("{path}?agreements={offset}&people={people_offset}#agreements")
            }),
            path,
            people: people.data.iter().map(PersonRow::new).collect(),
            agreements: agreements.data.iter().map(agreement_row).collect(),
        };
        let agreement_ids = agreements.data.iter().map(|agreement| agreement.id().uuid());
        Ok(PageResponse::render(&page)?.showing(std::iter::once(id.uuid()).chain(agreement_ids)))
    }
}

/// A page of the agreements of a workspace.
async fn agreements_page(scope: &Scope, workspace: WorkspaceId, page: PageRequest) -> Result<AgreementPage, Error> {
    let query = AgreementQuery { workspace_id: Some(workspace), ..AgreementQuery::of_page(page) };
    agreements::list(scope, &query).await
}

/// Activates a workspace.
pub(crate) struct Activate;

impl Handler for Activate {
    fn operation(_: &Request) -> &'static str {
        "activate_workspace"
    }

    async fn handle(request: &mut Request) -> Result<PageResponse, Error> {
        let submitted = request.submitted_form()?;
        let id: WorkspaceId = request.path_id("id")?;
        submitted.run(|| workspaces::activate(submitted.scope(), submitted.submitter(), id)).await?;
        Ok(PageResponse::see_other(workspace_url(id)))
    }
}
