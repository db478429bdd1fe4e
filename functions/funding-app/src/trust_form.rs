//! The forms that create and change a trust.

use askama::Template;
use http::StatusCode;
use pages::done::redirect_with_notice;
use pages::fields::Fields;
use pages::form;
use pages::layout::{Layout, Link, Notice};
use pages::pager::page_at;
use pages::pickers::{Crumb, WorkspaceChoice};
use pages::response::PageResponse;
use pages::urls::{NEW_TRUST, TRUSTS, funding_url, trust_url, workspace_url};
use serde_json::{Map, Value as Json};
use shared::domain::contact::Contact;
use shared::domain::ids::{ContactId, TrustId, WorkspaceId};
use shared::domain::trust::{NewTrust, Trust, TrustChanges, check_name};
use shared::domain::workspace::Workspace;
use shared::error::Error;
use shared::limits;
use shared::service::funding_review::{self, TrustEdit};
use shared::service::precondition::ExpectedVersion;
use shared::service::trusts;
use shared::service::workspaces::WorkspaceQuery;
use shared::web::{Form, Request};
use shared::wire::fields::FieldErrors;
use shared::wire::input;
use shared::wire::page::{Offset, Search};

use crate::{Choice, people_choices};

form! {
    /// A trust.
    pub(crate) TRUST: TrustForm {
        name: Field::line("formal_name", "Formal name", 200)
            .hint("As documents name it, such as The Ellery Family Trust, dated March 14, 2026."),
        settlors: Field::choice("settlor.", "Settlors"),
        trustees: Field::choice("trustee.", "Trustees"),
        reference: Field::key("external_reference", "Your reference", 200)
            .hint("Optional: the key of this trust in your own system, such as trust-3."),
    }
}

const WORKSPACE: WorkspaceChoice = WorkspaceChoice {
    path: NEW_TRUST,
    goes_on: NEW_TRUST,
    title: "New trust",
    list: Crumb { url: TRUSTS, text: "Trusts" },
    lead: "Which workspace runs its funding?",
    without_any: "Every trust belongs to a workspace. Create one first.",
    create: Crumb { url: "/app/workspaces#create", text: "Create a workspace" },
};

#[derive(Template)]
#[template(path = "trust_form.html")]
struct FormPage {
    layout: Layout,
    notice: Option<Notice>,
    workspace: Link,
    action: String,
    hidden: Vec<(&'static str, String)>,
    people: Vec<Choice>,
    add_people: String,
    fields: Fields,
    existing: Option<Existing>,
}

struct Existing {
    trust: Link,
    papered: usize,
}

impl FormPage {
    fn new(request: &Request, workspace: &Workspace, people: &[Contact], fields: Fields) -> Self {
        let id = workspace.id();
        Self {
            layout: Layout::new(request),
            notice: None,
            workspace: Link { url: funding_url(id), text: workspace.name.as_str().to_owned() },
            action: NEW_TRUST.to_owned(),
            hidden: Vec::new(),
            people: people_choices(people),
            add_people: format!("{}/people", workspace_url(id)),
            fields,
            existing: None,
        }
    }

    fn is_checked(&self, side: &str, id: &str) -> bool {
        self.fields.is_checked(format!("{side}.{id}"))
    }

    fn side_error(&self, side: &str) -> Option<&str> {
        let field = format!("{side}_contact_ids");
        let at = |at: usize| self.fields.error(format!("{field}[{at}]"));
        self.fields.error(&field).or_else(|| (0..shared::limits::FUNDING_CONTACTS_MAX).find_map(at))
    }
}

#[derive(Debug, Clone, Default, deserr::Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
struct Query {
    #[deserr(default)]
    workspace: Option<WorkspaceId>,
    #[deserr(default)]
    search: Search<{ limits::SEARCH_CHARS_MAX }>,
    #[deserr(default)]
    offset: Offset,
}

pub(crate) async fn new(request: &mut Request) -> Result<PageResponse, Error> {
    let query: Query = request.read_query()?;
    match query.workspace {
        None => {
            let query = WorkspaceQuery { search: query.search, ..WorkspaceQuery::of_page(page_at(query.offset)) };
            WORKSPACE.page(request, &query).await
        }
        Some(workspace) => new_page(request, workspace, Fields::default()).await,
    }
}

async fn new_page(request: &Request, id: WorkspaceId, fields: Fields) -> Result<PageResponse, Error> {
    let (workspace, people) = funding_review::people(request.signed_in()?.scope(), id).await?;
    let page =
        FormPage { hidden: vec![("workspace", id.to_string())], ..FormPage::new(request, &workspace, &people, fields) };
    Ok(PageResponse::render(&page)?.showing([id.uuid()]))
}

pub(crate) async fn create(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let form = submitted.form();
    let workspace: WorkspaceId = form.get("workspace").parse().map_err(|_| Error::not_found())?;
    let id = submitted.new_id::<TrustId>();
    let again = async |errors: FieldErrors| {
        let fields = Fields::submitted(form, errors);
        Ok(new_page(request, workspace, fields).await?.unprocessable())
    };
    let new = match read(form, workspace) {
        Ok(new) => new,
        Err(errors) => return again(errors).await,
    };
    let title = format!("{} was created", new.formal_name.as_str());
    let redirect = redirect_with_notice(&submitted, trust_url(id), &title, "Next: add what has to move.").await;
    match submitted.run(|| trusts::create_with_id(&submitted, id, new.clone())).await {
        Ok(_) => Ok(redirect.into()),
        Err(Error::Invalid(errors)) => again(errors).await,
        Err(Error::NotFound(errors)) if is_about_people(&errors) => again(errors).await,
        Err(error) => Err(error),
    }
}

fn is_about_people(errors: &FieldErrors) -> bool {
    let list = errors.clone().into_list();
    !list.is_empty() && list.iter().all(|error| error.field.contains("_contact_ids"))
}

fn read(form: &Form, workspace: WorkspaceId) -> Result<NewTrust, FieldErrors> {
    let mut body = sides(form);
    body.insert("workspace_id".to_owned(), workspace.to_string().into());
    for field in [TRUST.name, TRUST.reference] {
        if !form.get(field).trim().is_empty() {
            body.insert(field.into(), form.get(field).into());
        }
    }
    let new: NewTrust = input::read(body.into())?;
    check_name(&new.formal_name)?;
    Ok(new)
}

fn read_changes(form: &Form) -> Result<TrustChanges, FieldErrors> {
    let mut body = sides(form);
    body.insert(TRUST.name.into(), form.get(TRUST.name).into());
    let reference = Some(form.get(TRUST.reference)).filter(|text| !text.trim().is_empty());
    body.insert(TRUST.reference.into(), reference.map_or(Json::Null, Json::from));
    input::read(body.into())
}

fn sides(form: &Form) -> Map<String, Json> {
    let checked = |side: &str| -> Vec<Json> { form.checked(&format!("{side}.")).map(Json::from).collect() };
    let side = |side: &str| (format!("{side}_contact_ids"), Json::from(checked(side)));
    ["settlor", "trustee"].into_iter().map(side).collect()
}

pub(crate) async fn edit(request: &mut Request) -> Result<PageResponse, Error> {
    edit_page(request, None, None).await
}

/// Shows the trust's values, or typed ones and the version they apply to: without one, the current version.
async fn edit_page(
    request: &Request,
    typed: Option<(Fields, Option<u64>)>,
    notice: Option<Notice>,
) -> Result<PageResponse, Error> {
    let id: TrustId = request.path_id("id")?;
    let TrustEdit { trust, workspace, people, papered } =
        funding_review::trust_to_edit(request.signed_in()?.scope(), id).await?;
    let (fields, version) = match typed {
        Some((fields, version)) => (fields, version.unwrap_or(trust.version())),
        None => (fields_of(&trust), trust.version()),
    };
    let page = FormPage {
        notice,
        action: edit_url(id),
        hidden: vec![("version", version.to_string())],
        existing: Some(Existing {
            trust: Link { url: trust_url(id), text: trust.formal_name.as_str().to_owned() },
            papered,
        }),
        ..FormPage::new(request, &workspace, &people, fields)
    };
    Ok(PageResponse::render(&page)?.showing([id.uuid()]))
}

pub(super) fn edit_url(id: TrustId) -> String {
    format!("{}/edit", trust_url(id))
}

fn fields_of(trust: &Trust) -> Fields {
    let reference = trust.external_reference.as_ref().map(|reference| reference.as_str().to_owned());
    let own = [
        (String::from(TRUST.name), trust.formal_name.as_str().to_owned()),
        (String::from(TRUST.reference), reference.unwrap_or_default()),
    ];
    let checked = |side: &'static str| move |id: &ContactId| (format!("{side}.{id}"), "on".to_owned());
    let settlors = trust.settlor_contact_ids.iter().map(checked("settlor"));
    let trustees = trust.trustee_contact_ids.iter().map(checked("trustee"));
    Fields::of(own.into_iter().chain(settlors).chain(trustees))
}

pub(crate) async fn save(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let (id, form): (TrustId, _) = (request.path_id("id")?, submitted.form());
    // An invalid version matches no version of the trust.
    let version: Option<u64> = form.get("version").parse().ok();
    let refused = async |errors: FieldErrors| {
        // The form keeps its version, so that corrections don't overwrite what others have saved.
        let page = edit_page(request, Some((Fields::submitted(form, errors), version)), None).await?;
        Ok(page.unprocessable())
    };
    let changes = match read_changes(form) {
        Ok(changes) => changes,
        Err(errors) => return refused(errors).await,
    };
    let expected = ExpectedVersion::OneOf(version.into_iter().collect());
    let line = "Documents that are drafted from now on have the new details.";
    let redirect = redirect_with_notice(&submitted, trust_url(id), "Changes saved", line).await;
    match submitted.run(|| trusts::update(&submitted, id, &expected, changes.clone())).await {
        Ok(_) => Ok(redirect.into()),
        Err(Error::Invalid(errors)) => refused(errors).await,
        Err(Error::NotFound(errors)) if is_about_people(&errors) => refused(errors).await,
        Err(Error::StaleMatch) => {
            let TrustEdit { trust, .. } = funding_review::trust_to_edit(submitted.scope(), id).await?;
            if trust.change(changes, request.now()) == *trust {
                return Ok(redirect.into());
            }
            let title = "This trust has changed since you opened it";
            let line = "Nothing was saved. The form has what you typed. Look at the trust as it is now, then save again to replace it.";
            let trust = Link { url: trust_url(id), text: "Open the trust".to_owned() };
            let notice = Notice { links: vec![trust], ..Notice::warn(title, line) };
            let fields = Fields::submitted(form, FieldErrors::default());
            let page = edit_page(request, Some((fields, None)), Some(notice)).await?;
            Ok(page.refused(StatusCode::CONFLICT, "conflict"))
        }
        Err(error) => Err(error),
    }
}
