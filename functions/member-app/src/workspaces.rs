//! The list of workspaces, and each workspace's page with its people and agreements.

use askama::Template;
use pages::agreement_rows::AgreementRow;
use pages::done::{notice_of_act, redirect_with_notice};
use pages::fields::Fields;
use pages::form;
use pages::form::FormFields;
use pages::labels::{Badge, DisplayTime, workspace_badge};
use pages::layout::{Layout, Link, Notice};
use pages::pager::{Pager, is_past_the_end, page_at};
use pages::response::PageResponse;
use pages::shelves::{self, Tab};
use pages::sorting::Sorting;
use pages::urls::{contact_url, encode_query_value, workspace_url};
use shared::domain::contact::Contact;
use shared::domain::ids::WorkspaceId;
use shared::domain::workspace::{NewWorkspace, Workspace};
use shared::error::Error;
use shared::service::agreements::{self, WorkspaceAgreements};
use shared::service::workspaces::{self, WorkspacePeople, WorkspaceQuery};
use shared::web::Request;
use shared::wire::fields::FieldErrors;
use shared::wire::page::{Offset, Order, Shelf};

#[derive(Template)]
#[template(path = "workspaces.html")]
struct WorkspacesPage {
    layout: Layout,
    notice: Option<Notice>,
    shelves: Vec<Tab>,
    show: &'static str,
    is_current: bool,
    search: String,
    sorting: Sorting,
    workspaces: Vec<WorkspaceRow>,
    pager: Option<Pager>,
    fields: Fields,
}

form! {
    /// What a new workspace is called.
    pub(crate) WORKSPACE: WorkspaceForm {
        name: Field::line("name", "Name", 200)
            .called("The name")
            .hint("What you call the deal, such as Harbor Street acquisition.")
            .required(),
    }
}

pub(crate) struct WorkspaceRow {
    pub url: String,
    pub name: String,
    pub reference: String,
    pub people: usize,
    pub badge: Badge,
}

impl WorkspaceRow {
    pub fn new(workspace: &Workspace) -> Self {
        Self {
            url: workspace_url(workspace.id()),
            name: workspace.name.as_str().to_owned(),
            reference: workspace.number.to_string(),
            people: workspace.people_count,
            badge: workspace_badge(workspace),
        }
    }
}

const PATH: &str = pages::urls::WORKSPACES;

pub(crate) async fn list(request: &mut Request) -> Result<PageResponse, Error> {
    let (notice, cookie) = notice_of_act(request).await;
    Ok(workspaces_page(request, Fields::default(), notice).await?.with_cookie(cookie))
}

async fn workspaces_page(request: &Request, fields: Fields, notice: Option<Notice>) -> Result<PageResponse, Error> {
    let scope = request.signed_in()?.scope();
    let (order, shelf, query) = request.read_list_query::<WorkspaceQuery>()?;
    let found = workspaces::list(scope, order, shelf, &query).await?;
    let search = query.search.typed().to_owned();
    let url_on = |shelf: Shelf, order: Order, offset: u64| {
        let (search, show) = (encode_query_value(&search), shelves::parameter(shelf));
        format!("{PATH}?search={search}&sort={order}&offset={offset}{show}")
    };
    let url = |order, offset| url_on(shelf, order, offset);
    if is_past_the_end(found.pagination) {
        return Ok(PageResponse::see_other(url(order, 0)));
    }
    let page = WorkspacesPage {
        layout: Layout::new(request),
        notice,
        pager: Pager::new("workspaces", found.pagination, |offset| url(order, offset)),
        workspaces: found.data.iter().map(WorkspaceRow::new).collect(),
        sorting: Sorting::new(order, |order| url(order, 0)),
        shelves: shelves::tabs(&[Shelf::Current, Shelf::Archived], shelf, |shelf| url_on(shelf, order, 0)),
        show: shelf.as_str(),
        is_current: shelf == Shelf::Current,
        search,
        fields,
    };
    Ok(PageResponse::render(&page)?.showing(found.data.iter().map(|workspace| workspace.id().uuid())))
}

pub(crate) async fn create(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let id = submitted.new_id::<WorkspaceId>();
    let new: NewWorkspace = match submitted.form().read_new(&WORKSPACE.names()) {
        Ok(new) => new,
        Err(errors) => {
            let fields = Fields::submitted(submitted.form(), errors);
            return Ok(workspaces_page(request, fields, None).await?.unprocessable());
        }
    };
    let title = format!("{} was created", new.name.as_str());
    let line = "Next: add the people who take part.";
    let redirect = redirect_with_notice(&submitted, workspace_url(id), &title, line).await;
    submitted.run(|| workspaces::create_with_id(&submitted, id, new.clone())).await?;
    Ok(redirect.into())
}

#[derive(Template)]
#[template(path = "workspace.html")]
struct WorkspacePage {
    layout: Layout,
    notice: Option<Notice>,
    not_removed: Option<NotRemoved>,
    name: String,
    reference: String,
    badge: Badge,
    is_archived: bool,
    activated_at: Option<DisplayTime>,
    created_at: DisplayTime,
    path: String,
    people: Vec<PersonRow>,
    people_pager: Option<Pager>,
    agreements: Vec<AgreementRow>,
    agreements_pager: Option<Pager>,
    new_agreement: String,
    funding: String,
}

/// Why a person was not removed: an agreement, and the texts before and after its name.
pub(crate) struct NotRemoved {
    pub title: String,
    pub before: &'static str,
    pub agreement: Link,
    pub after: &'static str,
}

struct PersonRow {
    url: String,
    name: String,
    email: Option<String>,
    remove_action: Option<String>,
}

impl PersonRow {
    fn new(contact: &Contact, workspace: &str, takes_part: bool) -> Self {
        Self {
            url: contact_url(contact.id),
            name: contact.display_name.as_str().to_owned(),
            email: contact.email.as_ref().map(|email| email.as_str().to_owned()),
            remove_action: (!takes_part).then(|| format!("{workspace}/people/{}/remove", contact.id)),
        }
    }
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    let (notice, cookie) = notice_of_act(request).await;
    Ok(workspace_page(request, notice, None).await?.with_cookie(cookie))
}

#[derive(Debug, Default, deserr::Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
struct Pages {
    #[deserr(default)]
    people: Offset,
    #[deserr(default)]
    agreements: Offset,
}

pub(crate) async fn workspace_page(
    request: &Request,
    notice: Option<Notice>,
    not_removed: Option<NotRemoved>,
) -> Result<PageResponse, Error> {
    let scope = request.signed_in()?.scope();
    let id: WorkspaceId = request.path_id("id")?;
    let pages: Pages = request.read_query()?;
    let (WorkspacePeople { workspace, people }, WorkspaceAgreements { listed, referred_to }) = tokio::try_join!(
        workspaces::get_with_people_page(scope, id, page_at(pages.people)),
        agreements::list_of_workspace(scope, id, page_at(pages.agreements)),
    )?;
    let agreements = &listed.page.page;
    let path = workspace_url(id);
    if is_past_the_end(people.pagination) || is_past_the_end(agreements.pagination) {
        return Ok(PageResponse::see_other(path));
    }
    let (people_offset, agreements_offset) = (people.pagination.offset, agreements.pagination.offset);
    let person_row = |contact: &Contact| PersonRow::new(contact, &path, referred_to.contains(&contact.id));
    let page = WorkspacePage {
        layout: Layout::new(request),
        notice,
        not_removed,
        name: workspace.name.as_str().to_owned(),
        reference: workspace.number.to_string(),
        badge: workspace_badge(&workspace),
        is_archived: workspace.archived_at.is_some(),
        activated_at: workspace.activated_at().map(Into::into),
        created_at: workspace.created_at.into(),
        people_pager: Pager::new("people", people.pagination, |offset| {
            format!("{path}?agreements={agreements_offset}&people={offset}#people")
        }),
        agreements_pager: Pager::new("agreements", agreements.pagination, |offset| {
            format!("{path}?agreements={offset}&people={people_offset}#agreements")
        }),
        funding: pages::urls::funding_url(id),
        new_agreement: format!("{}?workspace={id}", pages::urls::NEW_AGREEMENT),
        people: people.data.iter().map(person_row).collect(),
        agreements: AgreementRow::rows(&listed, request.signed_in()?.organization(), request.now()),
        path,
    };
    let agreement_ids = agreements.data.iter().map(|agreement| agreement.id().uuid());
    Ok(PageResponse::render(&page)?.showing(std::iter::once(id.uuid()).chain(agreement_ids)))
}

pub(crate) async fn activate(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let id: WorkspaceId = request.path_id("id")?;
    let line = "Agreements of this workspace can be published.";
    let redirect = redirect_with_notice(&submitted, workspace_url(id), "Workspace activated", line).await;
    submitted.run(|| workspaces::activate(submitted.scope(), submitted.submitter(), id)).await?;
    Ok(redirect.into())
}
