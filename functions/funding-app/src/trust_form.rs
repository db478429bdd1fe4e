//! The forms that create and change a trust.

use askama::Template;
use http::StatusCode;
use pages::chosen::{self, NamedFields};
use pages::done::{redirect_with_notice, with_notice};
use pages::fields::Fields;
use pages::form;
use pages::layout::{Layout, Link, Notice};
use pages::pager::page_at;
use pages::response::PageResponse;
use pages::urls::{NEW_TRUST, funding_url, trust_url};
use serde_json::{Map, Value as Json};
use shared::domain::contact::{Contact, ContactKind, DisplayName};
use shared::domain::ids::{ContactId, TrustId, WorkspaceId};
use shared::domain::trust::{NewTrust, Trust, TrustChanges, check_name};
use shared::domain::workspace::{NewWorkspace, Workspace, WorkspaceName};
use shared::error::Error;
use shared::service::funding_review::{self, TrustEdit};
use shared::service::precondition::ExpectedVersion;
use shared::service::trusts::{self, NamedPerson, TrustInForm};
use shared::service::workspaces::{self, WorkspaceQuery};
use shared::web::{Form, Request};
use shared::wire::fields::{FieldCode, FieldErrors};
use shared::wire::input;
use shared::wire::page::{Offset, Order, Shelf};

use crate::{Choice, people_choices};

form! {
    /// A trust.
    pub(crate) TRUST: TrustForm {
        name: Field::line("formal_name", "Formal name", 200)
            .hint("As documents name it, such as The Ellery Family Trust, dated March 14, 2026."),
        workspace: Field::choice("workspace", "Workspace")
            .hint("It keeps the people and the funding together. For an older one than those listed, open its funding and add the trust there."),
        workspace_name: Field::line("workspace_name", "Name of the new workspace", 200)
            .called("The new workspace’s name")
            .hint("Left empty, it gets the trust’s name."),
        settlors: Field::choice("settlor.", "Settlors"),
        trustees: Field::choice("trustee.", "Trustees"),
        person: chosen::NAMED.name,
        kind: chosen::NAMED.kind,
        email: chosen::NAMED.email,
        is_settlor: Field::tick("is_settlor.", "Settlor").called("This person"),
        is_trustee: Field::tick("is_trustee.", "Trustee"),
        reference: Field::key("external_reference", "Your reference", 200)
            .hint("Optional: the key of this trust in your own system, such as trust-3."),
    }
}

/// Names the workspace of a form that was opened in one.
const WITHIN: &str = "within";

/// Those whom the form names. A trust that needs more gets them afterwards.
const NAMED: [&str; 2] = ["1", "2"];

/// The names of a person’s fields.
struct PersonFields {
    legend: &'static str,
    named: NamedFields,
    is_settlor: String,
    is_trustee: String,
}

impl PersonFields {
    fn new(key: &str) -> Self {
        Self {
            legend: if key == NAMED[0] { "First person" } else { "Second person" },
            named: NamedFields::new(key),
            is_settlor: TRUST.is_settlor.member(key),
            is_trustee: TRUST.is_trustee.member(key),
        }
    }

    fn is_in_use(&self, fields: &Fields) -> bool {
        self.named.are_in_use(fields) || fields.error(&self.is_settlor).is_some()
    }
}

#[derive(Template)]
#[template(path = "trust_form.html")]
struct FormPage {
    layout: Layout,
    notice: Option<Notice>,
    /// None if the form chooses it.
    workspace: Option<Link>,
    /// Those that the form offers besides a new one.
    workspaces: Vec<pages::fields::Choice>,
    action: String,
    hidden: Vec<(&'static str, String)>,
    people: Vec<Choice>,
    named: Vec<PersonFields>,
    known: Vec<String>,
    kinds: Vec<pages::fields::Choice>,
    fields: Fields,
    existing: Option<Existing>,
}

struct Existing {
    trust: Link,
    papered: usize,
}

impl FormPage {
    fn new(
        request: &Request,
        workspace: Option<&Workspace>,
        people: &[Contact],
        known: Vec<String>,
        fields: Fields,
    ) -> Self {
        let named: Vec<PersonFields> = NAMED.iter().map(|key| PersonFields::new(key)).collect();
        let link =
            |workspace: &Workspace| Link { url: funding_url(workspace.id()), text: workspace.name.as_str().to_owned() };
        Self {
            layout: Layout::new(request),
            notice: None,
            workspace: workspace.map(link),
            workspaces: Vec::new(),
            action: NEW_TRUST.to_owned(),
            hidden: Vec::new(),
            people: people_choices(people),
            fields: named.iter().fold(fields, |fields, one| fields.over(one.named.usually(ContactKind::Person))),
            named,
            known,
            kinds: chosen::kinds(),
            existing: None,
        }
    }

    /// Whether those who are named are shown at once.
    fn names_people(&self) -> bool {
        self.people.is_empty() || self.named.iter().any(|person| person.is_in_use(&self.fields))
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
}

pub(crate) async fn new(request: &mut Request) -> Result<PageResponse, Error> {
    let query: Query = request.read_query()?;
    new_page(request, query.workspace, Fields::default()).await
}

async fn new_page(request: &Request, id: Option<WorkspaceId>, fields: Fields) -> Result<PageResponse, Error> {
    let scope = request.signed_in()?.scope();
    let within = async {
        match id {
            Some(id) => funding_review::people(scope, id).await.map(Some),
            None => Ok(None),
        }
    };
    let offered = async {
        let newest = WorkspaceQuery::of_page(page_at(Offset::default()));
        match id {
            Some(_) => Ok(Vec::new()),
            None => Ok(workspaces::list(scope, Order::NewestFirst, Shelf::Current, &newest).await?.data),
        }
    };
    let (within, offered, known) = tokio::try_join!(within, offered, chosen::known_names(scope))?;
    let (workspace, people) = within.unzip();
    let offer = |found: &Workspace| pages::fields::Choice::new(found.id().to_string(), found.name.as_str());
    let page = FormPage {
        hidden: id.map(|id| (WITHIN, id.to_string())).into_iter().collect(),
        workspaces: offered.iter().map(offer).collect(),
        ..FormPage::new(request, workspace.as_ref(), &people.unwrap_or_default(), known, fields)
    };
    Ok(PageResponse::render(&page)?.showing(id.map(WorkspaceId::uuid)))
}

pub(crate) async fn create(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let form = submitted.form();
    let id_in = |field: &str| match form.get(field) {
        "" => Ok(None),
        id => id.parse::<WorkspaceId>().map(Some).map_err(|_| Error::not_found()),
    };
    let within = id_in(WITHIN)?;
    let known = within.or(id_in(TRUST.workspace.name)?);
    let id = submitted.new_id::<TrustId>();
    let again = async |errors: FieldErrors| {
        let fields = Fields::submitted(form, errors);
        Ok(new_page(request, within, fields).await?.unprocessable())
    };
    let new = read(form, known.unwrap_or_else(WorkspaceId::new));
    let workspace = match (&new, known) {
        (Ok(new), None) => read_workspace(form, &new.formal_name).map(Some),
        (_, Some(_)) if !form.get(TRUST.workspace_name).trim().is_empty() => {
            let message = "is for a new workspace: leave it empty, or choose “A new workspace”";
            Err(FieldErrors::one(TRUST.workspace_name, FieldCode::InvalidValue, message))
        }
        _ => Ok(None),
    };
    let (new, workspace, named) = match (new, workspace, read_named(form)) {
        (Ok(new), Ok(workspace), Ok(named)) => (new, workspace, named),
        (new, workspace, named) => {
            let mut errors = new.err().unwrap_or_default();
            errors.extend(workspace.err().unwrap_or_default());
            errors.extend(named.err().unwrap_or_default());
            return again(errors).await;
        }
    };
    let title = format!("{} was created", new.formal_name.as_str());
    let line = "Next: add what has to move.";
    let redirect = redirect_with_notice(&submitted, trust_url(id), &title, line).await;
    let trust = TrustInForm { id, new, workspace, named };
    match submitted.run(|| trusts::begin(&submitted, trust.clone())).await {
        Ok(existing) if existing.is_empty() => Ok(redirect.into()),
        Ok(existing) => {
            let notice = Notice::new("good", title, [line.to_owned(), chosen::existing_used(&existing)]);
            Ok(with_notice(&submitted, trust_url(id), &notice).await.into())
        }
        Err(Error::Invalid(errors)) => again(errors).await,
        Err(Error::NotFound(errors)) if is_about_people(&errors) => again(errors).await,
        Err(error) => Err(error),
    }
}

/// The workspace that is made for the trust, which it is named like unless the form says otherwise.
fn read_workspace(form: &Form, trust: &DisplayName) -> Result<NewWorkspace, FieldErrors> {
    let typed = form.get(TRUST.workspace_name).trim();
    let name = WorkspaceName::parse(if typed.is_empty() { trust.as_str() } else { typed });
    name.map(|name| NewWorkspace { name })
        .map_err(|(code, message)| FieldErrors::one(TRUST.workspace_name, code, message))
}

/// Those whom the form names.
fn read_named(form: &Form) -> Result<Vec<NamedPerson>, FieldErrors> {
    let (mut named, mut errors) = (Vec::new(), FieldErrors::default());
    for key in NAMED {
        let has = |field: String| !form.get(&field).trim().is_empty();
        let [is_settlor, is_trustee] = [TRUST.is_settlor, TRUST.is_trustee].map(|field| has(field.member(key)));
        if !chosen::is_named(form, key) && !is_settlor && !is_trustee {
            continue;
        }
        if !is_settlor && !is_trustee {
            let message = "must be a settlor, a trustee, or both";
            errors.extend(FieldErrors::one(TRUST.is_settlor.member(key), FieldCode::Required, message));
        }
        match chosen::read_named(form, key) {
            Ok(new) => named.push(NamedPerson { key: key.to_owned(), new, is_settlor, is_trustee }),
            Err(wrong) => errors.extend(wrong),
        }
    }
    if errors.is_empty() { Ok(named) } else { Err(errors) }
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
    let scope = request.signed_in()?.scope();
    let (edited, known) = tokio::try_join!(funding_review::trust_to_edit(scope, id), chosen::known_names(scope))?;
    let TrustEdit { trust, workspace, people, papered } = edited;
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
        ..FormPage::new(request, Some(&workspace), &people, known, fields)
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
    let (changes, named) = match (read_changes(form), read_named(form)) {
        (Ok(changes), Ok(named)) => (changes, named),
        (changes, named) => {
            let mut errors = changes.err().unwrap_or_default();
            errors.extend(named.err().unwrap_or_default());
            return refused(errors).await;
        }
    };
    let expected = ExpectedVersion::OneOf(version.into_iter().collect());
    let line = "Documents that are drafted from now on have the new details.";
    let redirect = redirect_with_notice(&submitted, trust_url(id), "Changes saved", line).await;
    match submitted.run(|| trusts::update_in_form(&submitted, id, &expected, changes.clone(), &named)).await {
        Ok(existing) if existing.is_empty() => Ok(redirect.into()),
        Ok(existing) => {
            let notice =
                Notice::new("good", "Changes saved".to_owned(), [line.to_owned(), chosen::existing_used(&existing)]);
            Ok(with_notice(&submitted, trust_url(id), &notice).await.into())
        }
        Err(Error::Invalid(errors)) => refused(errors).await,
        Err(Error::NotFound(errors)) if is_about_people(&errors) => refused(errors).await,
        Err(Error::StaleMatch) => {
            let TrustEdit { trust, .. } = funding_review::trust_to_edit(submitted.scope(), id).await?;
            if named.is_empty() && trust.change(changes, request.now()) == *trust {
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
