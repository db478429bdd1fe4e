//! The workspaces, and one of them: its people, its agreements, and whether it is activated.

use askama::Template;
use shared::domain::agreement::Agreement;
use shared::domain::ids::WorkspaceId;
use shared::domain::sentences;
use shared::error::Error;
use shared::service::agreements::AgreementPage;
use shared::service::{agreements, workspaces};
use shared::store::agreements::AgreementQuery;
use shared::store::workspaces::WorkspaceQuery;
use shared::web::Request;
use shared::wire::input;
use shared::wire::page::Page as PageOf;

use crate::Page;
use crate::agreement_summary::{Badge, lifecycle_badge};
use crate::layout::{Answer, Layout, Moment, in_query};
use crate::pager::{Pager, is_past_the_end, page_of};

#[derive(Template)]
#[template(path = "workspaces.html")]
struct ListPage {
    layout: Layout,
    search: String,
    workspaces: Vec<Line>,
    pager: Option<Pager>,
}

struct Line {
    url: String,
    name: String,
    reference: String,
    people: usize,
    is_activated: bool,
}

/// The list.
pub(crate) struct List;

impl Page for List {
    fn operation(_: &Request) -> &'static str {
        "view_workspaces"
    }

    async fn answer(request: &mut Request) -> Result<Answer, Error> {
        let signed_in = request.signed_in()?;
        let query: WorkspaceQuery = input::read_query(request.uri().query()).map_err(Error::Invalid)?;
        let found = signed_in.scope().store().list_workspaces(&query).await?;
        let search = request.query("search").unwrap_or_default();
        let page_at = |offset: u64| format!("/app/workspaces?search={}&offset={offset}", in_query(&search));
        if is_past_the_end(found.pagination) {
            return Ok(Answer::see_other(page_at(0)));
        }
        let page = ListPage {
            layout: Layout::new(request),
            pager: Pager::new("workspaces", found.pagination, page_at),
            workspaces: found
                .data
                .iter()
                .map(|workspace| Line {
                    url: format!("/app/workspaces/{}", workspace.id()),
                    name: workspace.name.as_str().to_owned(),
                    reference: workspace.number.to_string(),
                    people: workspace.people.len(),
                    is_activated: workspace.activated_at().is_some(),
                })
                .collect(),
            search,
        };
        Ok(Answer::page(&page)?.showing(found.data.iter().map(|workspace| workspace.id().uuid())))
    }
}

#[derive(Template)]
#[template(path = "workspace.html")]
struct WorkspacePage {
    layout: Layout,
    name: String,
    reference: String,
    activated_at: Option<Moment>,
    created_at: Moment,
    path: String,
    people: Vec<Somebody>,
    people_pages: Option<Pager>,
    agreements: Vec<AgreementLine>,
    agreement_pages: Option<Pager>,
}

struct Somebody {
    name: String,
    email: Option<String>,
}

struct AgreementLine {
    url: String,
    name: String,
    status: String,
    badge: Badge,
    participants: usize,
}

/// One of them.
pub(crate) struct Show;

impl Page for Show {
    fn operation(_: &Request) -> &'static str {
        "view_workspace"
    }

    async fn answer(request: &mut Request) -> Result<Answer, Error> {
        let scope = request.signed_in()?.scope();
        let id: WorkspaceId = request.path_id("id")?;
        let workspace = scope.store().workspace(id).await?.ok_or_else(Error::not_found)?;
        let path = format!("/app/workspaces/{id}");
        let people_page = page_of(request, "people");
        let positions = people_page.positions();
        let ids = (0..).zip(&workspace.people).filter(|(at, _)| positions.contains(at)).map(|(_, id)| *id);
        let people = scope.store().contacts(ids.collect::<Vec<_>>()).await?;
        let people = PageOf::new(people, u64::try_from(workspace.people.len()).unwrap_or(u64::MAX), people_page);
        let of_workspace =
            AgreementQuery { workspace_id: Some(id), ..AgreementQuery::of_page(page_of(request, "agreements")) };
        let AgreementPage { page: agreements, ready } = agreements::list(scope, &of_workspace).await?;
        if is_past_the_end(people.pagination) || is_past_the_end(agreements.pagination) {
            return Ok(Answer::see_other(path));
        }
        let (at_people, at_agreements) = (people.pagination.offset, agreements.pagination.offset);
        let line = |agreement: &Agreement| AgreementLine {
            url: format!("/app/agreements/{}", agreement.id()),
            name: agreement.name.as_str().to_owned(),
            status: sentences::agreement_status(agreement, ready.contains(&agreement.id())),
            badge: lifecycle_badge(agreement.lifecycle()),
            participants: agreement.participants.len(),
        };
        let page = WorkspacePage {
            layout: Layout::new(request),
            name: workspace.name.as_str().to_owned(),
            reference: workspace.number.to_string(),
            activated_at: workspace.activated_at().map(Into::into),
            created_at: workspace.created_at.into(),
            people_pages: Pager::new("people", people.pagination, |offset| {
                format!("{path}?agreements={at_agreements}&people={offset}#people")
            }),
            agreement_pages: Pager::new("agreements", agreements.pagination, |offset| {
                format!("{path}?agreements={offset}&people={at_people}#agreements")
            }),
            path,
            people: people
                .data
                .iter()
                .map(|contact| Somebody {
                    name: contact.display_name.as_str().to_owned(),
                    email: contact.email.as_ref().map(|email| email.as_str().to_owned()),
                })
                .collect(),
            agreements: agreements.data.iter().map(line).collect(),
        };
        let shown = agreements.data.iter().map(|agreement| agreement.id().uuid());
        Ok(Answer::page(&page)?.showing(std::iter::once(id.uuid()).chain(shown)))
    }
}

/// Activates it.
pub(crate) struct Activate;

impl Page for Activate {
    fn operation(_: &Request) -> &'static str {
        "activate_workspace"
    }

    async fn answer(request: &mut Request) -> Result<Answer, Error> {
        let submitted = request.submitted_form()?;
        let id: WorkspaceId = request.path_id("id")?;
        submitted.run(|| workspaces::activate(submitted.scope(), submitted.submitter(), id)).await?;
        Ok(Answer::see_other(format!("/app/workspaces/{id}")))
    }
}
