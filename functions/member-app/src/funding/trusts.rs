//! The list of trusts, and the form that creates one.

use askama::Template;
use serde_json::{Map, Value as Json};
use shared::domain::ids::{TrustId, WorkspaceId};
use shared::domain::trust::NewTrust;
use shared::error::Error;
use shared::service::funding_review::{self, TrustPage};
use shared::service::trusts::{self, TrustInFull, TrustQuery, Upserted};
use shared::service::workspaces::{self, WorkspaceQuery};
use shared::web::{Form, Request};
use shared::wire::fields::FieldErrors;
use shared::wire::input;

use super::{Choice, TRUSTS, funding_url, people_choices, trust_url};
use crate::Handler;
use crate::done::{notice_of_act, redirect_with_notice};
use crate::fields::Fields;
use crate::layout::{Layout, Link, Notice, encode_query_value};
use crate::pager::{Pager, is_past_the_end};
use crate::response::PageResponse;
use crate::workspaces::workspace_url;

#[derive(Template)]
#[template(path = "trusts.html")]
struct ListPage {
    layout: Layout,
    notice: Option<Notice>,
    search: String,
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

/// Shows the list.
pub(crate) struct List;

impl Handler for List {
    fn operation(_: &Request) -> &'static str {
        "view_trusts"
    }

    async fn handle(request: &mut Request) -> Result<PageResponse, Error> {
        let (notice, cookie) = notice_of_act(request).await;
        let query: TrustQuery = input::read_query(request.uri().query()).map_err(Error::Invalid)?;
        let TrustPage { page: found, workspaces } =
            funding_review::trusts(request.signed_in()?.scope(), &query).await?;
        let search = request.query("search").unwrap_or_default();
        let page_url = |offset: u64| format!("{TRUSTS}?search={}&offset={offset}", encode_query_value(&search));
        if is_past_the_end(found.pagination) {
            return Ok(PageResponse::see_other(page_url(0)));
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
            pager: Pager::new("trusts", found.pagination, page_url),
            rows: found.data.iter().map(row).collect(),
            search,
        };
        let shown = found.data.iter().map(|found| found.trust.id.uuid());
        Ok(PageResponse::render(&page)?.showing(shown).with_cookie(cookie))
    }
}

#[derive(Template)]
#[template(path = "trust_workspace.html")]
struct WorkspacesPage {
    layout: Layout,
    search: String,
    workspaces: Vec<(Link, String)>,
    pager: Option<Pager>,
}

#[derive(Template)]
#[template(path = "trust_new.html")]
struct NewPage {
    layout: Layout,
    notice: Option<Notice>,
    workspace: Link,
    workspace_id: String,
    /// The id of the trust. A form that is sent twice creates one trust.
    id: String,
    people: Vec<Choice>,
    /// The page on which people are added to the workspace.
    add_people: String,
    fields: Fields,
}

impl NewPage {
    fn is_checked(&self, side: &str, id: &str) -> bool {
        self.fields.is_checked(&format!("{side}.{id}"))
    }

    fn side_error(&self, side: &str) -> Option<&str> {
        let field = format!("{side}_contact_ids");
        let at = |at: usize| self.fields.error(&format!("{field}[{at}]"));
        self.fields.error(&field).or_else(|| (0..shared::limits::FUNDING_CONTACTS_MAX).find_map(at))
    }
}

/// Shows the page: which workspace, then the form.
pub(crate) struct New;

impl Handler for New {
    fn operation(_: &Request) -> &'static str {
        "view_new_trust"
    }

    async fn handle(request: &mut Request) -> Result<PageResponse, Error> {
        match request.query("workspace").and_then(|id| id.parse().ok()) {
            None => choose_workspace(request).await,
            Some(workspace) => form_page(request, workspace, TrustId::new(), Fields::default(), None).await,
        }
    }
}

async fn choose_workspace(request: &Request) -> Result<PageResponse, Error> {
    let query: WorkspaceQuery = input::read_query(request.uri().query()).map_err(Error::Invalid)?;
    let found = workspaces::list(request.signed_in()?.scope(), &query).await?;
    let search = request.query("search").unwrap_or_default();
    let page_url = |offset: u64| format!("{TRUSTS}/new?search={}&offset={offset}", encode_query_value(&search));
    if is_past_the_end(found.pagination) {
        return Ok(PageResponse::see_other(page_url(0)));
    }
    let row = |workspace: &shared::domain::workspace::Workspace| {
        let url = format!("{TRUSTS}/new?workspace={}", workspace.id());
        (Link { url, text: workspace.name.as_str().to_owned() }, workspace.number.to_string())
    };
    let page = WorkspacesPage {
        layout: Layout::new(request),
        pager: Pager::new("workspaces", found.pagination, page_url),
        workspaces: found.data.iter().map(row).collect(),
        search,
    };
    PageResponse::render(&page)
}

async fn form_page(
    request: &Request,
    id: WorkspaceId,
    trust: TrustId,
    fields: Fields,
    notice: Option<Notice>,
) -> Result<PageResponse, Error> {
    let (workspace, people) = funding_review::people(request.signed_in()?.scope(), id).await?;
    let page = NewPage {
        layout: Layout::new(request),
        notice,
        workspace: Link { url: funding_url(id), text: workspace.name.as_str().to_owned() },
        workspace_id: id.to_string(),
        id: trust.to_string(),
        people: people_choices(&people),
        add_people: format!("{}/people", workspace_url(id)),
        fields,
    };
    Ok(PageResponse::render(&page)?.showing([id.uuid()]))
}

/// Creates a trust.
pub(crate) struct Create;

impl Handler for Create {
    fn operation(_: &Request) -> &'static str {
        "create_trust"
    }

    async fn handle(request: &mut Request) -> Result<PageResponse, Error> {
        let submitted = request.submitted_form()?;
        let form = submitted.form();
        let workspace: WorkspaceId = form.get("workspace").parse().map_err(|_| Error::not_found())?;
        let id = form.get("id").parse().unwrap_or_else(|_| TrustId::new());
        let again = async |errors: FieldErrors| {
            let fields = Fields::submitted(form, errors);
            Ok(form_page(request, workspace, id, fields, None).await?.unprocessable())
        };
        let new = match read(form, workspace) {
            Ok(new) => new,
            Err(errors) => return again(errors).await,
        };
        let title = format!("{} was created", new.formal_name.as_str());
        let redirect = redirect_with_notice(&submitted, trust_url(id), &title, "Next: add what has to move.").await;
        match submitted.run(|| trusts::create_once(&submitted, id, new.clone())).await {
            Ok(Upserted::Created(_)) => Ok(redirect.into()),
            // Its reference is that of a trust that is there: it got the values of the form.
            Ok(Upserted::Existing(existing)) => Ok(PageResponse::see_other(trust_url(existing.trust.id))),
            Err(Error::Invalid(errors)) => again(errors).await,
            Err(Error::NotFound(errors)) if is_about_people(&errors) => again(errors).await,
            Err(error) => Err(error),
        }
    }
}

fn is_about_people(errors: &FieldErrors) -> bool {
    let list = errors.clone().into_list();
    !list.is_empty() && list.iter().all(|error| error.field.contains("_contact_ids"))
}

/// Reads the form with the rules of the API.
fn read(form: &Form, workspace: WorkspaceId) -> Result<NewTrust, FieldErrors> {
    let mut body = Map::new();
    body.insert("workspace_id".to_owned(), workspace.to_string().into());
    for name in ["formal_name", "external_reference"] {
        if !form.get(name).trim().is_empty() {
            body.insert(name.to_owned(), form.get(name).into());
        }
    }
    for side in ["settlor", "trustee"] {
        let checked: Vec<Json> = form.checked(&format!("{side}.")).map(Json::from).collect();
        body.insert(format!("{side}_contact_ids"), checked.into());
    }
    let new: NewTrust = input::read(body.into())?;
    new.check()?;
    Ok(new)
}
