//! Beginning a draft: choosing workspace, template and parties.

use std::collections::BTreeMap;

use askama::Template;
use pages::done::redirect_with_notice;
use pages::fields::{Choice, Fields};
use pages::form;
use pages::layout::{Layout, Link, Notice};
use pages::pager::page_at;
use pages::pickers::{Crumb, WorkspaceChoice};
use pages::response::PageResponse;
use pages::routes::Operation;
use pages::urls::{AGREEMENTS, agreement_url, workspace_url};
use shared::domain::agreement::template::{self, Template as DraftTemplate};
use shared::domain::agreement::{AgreementKind, NewAgreement};
use shared::domain::ids::{AgreementId, ContactId, WorkspaceId};
use shared::error::Error;
use shared::limits;
use shared::service::drafts::{self, Beginning};
use shared::service::workspaces::{self, WorkspaceQuery};
use shared::web::Request;
use shared::wire::fields::{FieldCode, FieldErrors};
use shared::wire::input::OrDefault;
use shared::wire::page::{Offset, Search};

use crate::draft::details::agreement_name;

form! {
    /// What a new agreement begins with.
    pub(crate) BEGIN: BeginForm {
        name: Field::line("name", "Agreement name", 250),
        party: Field::choice("party.", "Party"),
    }
}

const PATH: &str = pages::urls::NEW_AGREEMENT;

const WORKSPACE: WorkspaceChoice = WorkspaceChoice {
    path: PATH,
    title: "New agreement",
    list: Crumb { url: AGREEMENTS, text: "Agreements" },
    lead: "Which deal or matter does it belong to?",
    without_any: "Every agreement belongs to a workspace. Create one first.",
};

#[derive(Clone, Copy)]
enum Start {
    Blank(AgreementKind),
    Template(&'static DraftTemplate),
}

impl Start {
    fn all() -> impl Iterator<Item = Self> {
        let blank = [Self::Blank(AgreementKind::General), Self::Blank(AgreementKind::Safe)];
        template::all().iter().map(Self::Template).chain(blank)
    }

    fn find(key: &str) -> Option<Self> {
        Self::all().find(|start| start.key() == key)
    }

    fn key(&self) -> &'static str {
        match self {
            Self::Blank(AgreementKind::General) => "blank",
            Self::Blank(AgreementKind::Safe) => "blank-safe",
            Self::Template(template) => &template.key,
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Blank(AgreementKind::General) => "Blank agreement",
            Self::Blank(AgreementKind::Safe) => "Blank SAFE",
            Self::Template(template) => &template.name,
        }
    }

    fn about(&self) -> &'static str {
        match self {
            Self::Blank(AgreementKind::General) => "No participants, documents or steps yet.",
            Self::Blank(AgreementKind::Safe) => "The terms of a SAFE, and nothing else yet.",
            Self::Template(template) => &template.about,
        }
    }

    fn kind(&self) -> AgreementKind {
        match self {
            Self::Blank(kind) => *kind,
            Self::Template(template) => template.kind,
        }
    }
}

#[derive(Debug, Clone, Default, deserr::Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
struct Query {
    #[deserr(default)]
    workspace: Option<WorkspaceId>,
    #[deserr(default)]
    template: Option<String>,
    #[deserr(default)]
    search: Search<{ limits::SEARCH_CHARS_MAX }>,
    #[deserr(default)]
    offset: Offset,
}

impl Query {
    fn start(&self) -> Result<Option<Start>, Error> {
        let unknown = || FieldErrors::one("template", FieldCode::InvalidValue, "must be the key of a template");
        let find = |key: &String| Start::find(key).ok_or_else(|| Error::Invalid(unknown()));
        self.template.as_ref().map(find).transpose()
    }
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    let query: Query = request.read_query()?;
    match (query.workspace, query.start()?) {
        (None, None) => {
            let query = WorkspaceQuery { search: query.search, ..WorkspaceQuery::of_page(page_at(query.offset)) };
            WORKSPACE.page(request, &query).await
        }
        (None, Some(_)) => {
            let missing = FieldErrors::one("workspace", FieldCode::Required, "must be given with a template");
            Err(Error::Invalid(missing))
        }
        (Some(workspace), None) => choose_template(request, workspace).await,
        (Some(workspace), Some(start)) => form_page(request, workspace, start, Fields::default(), None).await,
    }
}

#[derive(Template)]
#[template(path = "begin_template.html")]
struct TemplatesPage {
    layout: Layout,
    workspace: Link,
    starts: Vec<(Link, &'static str)>,
}

async fn choose_template(request: &Request, workspace: WorkspaceId) -> Result<PageResponse, Error> {
    let found = workspaces::get_without_people(request.signed_in()?.scope(), workspace).await?;
    let link = |start: Start| {
        let url = format!("{PATH}?workspace={workspace}&template={}", start.key());
        (Link { url, text: start.name().to_owned() }, start.about())
    };
    let page = TemplatesPage {
        layout: Layout::new(request),
        workspace: Link { url: workspace_url(workspace), text: found.name.as_str().to_owned() },
        starts: Start::all().map(link).collect(),
    };
    Ok(PageResponse::render(&page)?.showing([workspace.uuid()]))
}

#[derive(Template)]
#[template(path = "begin_form.html")]
struct FormPage {
    layout: Layout,
    notice: Option<Notice>,
    workspace: Link,
    workspace_id: WorkspaceId,
    path: &'static str,
    key: &'static str,
    name: &'static str,
    about: &'static str,
    parties: Vec<Choice>,
    people: Vec<Choice>,
    back: String,
    fields: Fields,
}

async fn form_page(
    request: &Request,
    workspace: WorkspaceId,
    start: Start,
    fields: Fields,
    notice: Option<Notice>,
) -> Result<PageResponse, Error> {
    let found = workspaces::get(request.signed_in()?.scope(), workspace).await?;
    let parties = match start {
        Start::Blank(_) => Vec::new(),
        Start::Template(template) => template
            .parties
            .iter()
            .map(|party| Choice::new(BEGIN.party.member(&party.key), party.label.as_str()))
            .collect(),
    };
    let later = Choice::new("", "Choose later");
    let people = found.people.iter();
    let people = people.map(|contact| Choice::new(contact.id.to_string(), contact.display_name.as_str()));
    let page = FormPage {
        layout: Layout::new(request),
        notice,
        workspace: Link { url: workspace_url(workspace), text: found.workspace.name.as_str().to_owned() },
        workspace_id: workspace,
        path: PATH,
        key: start.key(),
        name: start.name(),
        about: start.about(),
        parties,
        people: std::iter::once(later).chain(people).collect(),
        back: format!("{PATH}?workspace={workspace}"),
        fields,
    };
    Ok(PageResponse::render(&page)?.showing([workspace.uuid()]))
}

pub(crate) const CREATE_OPERATIONS: Operation =
    Operation::ByField { field: "act", names: &[("update", "view_new_agreement")], otherwise: "create_agreement" };

pub(crate) async fn create(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let form = submitted.form();
    let workspace_id: WorkspaceId = form.get("workspace").parse().map_err(|_| Error::not_found())?;
    let start = Start::find(form.get("template")).ok_or_else(Error::not_found)?;
    let id: AgreementId = submitted.new_id();
    let again = async |errors: FieldErrors| {
        let fields = Fields::submitted(form, errors);
        let notice = Notice::bad("Not saved", "Check what is marked below.");
        Ok(form_page(request, workspace_id, start, fields, Some(notice)).await?.unprocessable())
    };
    // People were added in another tab: show the same form with them and what was typed.
    if form.get("act") == "update" {
        let typed = Fields::of(form.typed());
        return form_page(request, workspace_id, start, typed, None).await;
    }
    let name = match agreement_name(form.get(BEGIN.name)) {
        Ok(name) => name,
        Err(errors) => return again(errors).await,
    };
    let beginning = match start {
        Start::Blank(_) => Beginning::Blank,
        Start::Template(template) => {
            let mut parties: BTreeMap<String, ContactId> = BTreeMap::new();
            for party in &template.parties {
                let field = BEGIN.party.member(&party.key);
                match (form.get(&field), form.get(&field).parse()) {
                    ("", _) => {}
                    (_, Ok(contact)) => drop(parties.insert(party.key.clone(), contact)),
                    _ => {
                        let message = "must be chosen from the list";
                        return again(FieldErrors::one(field, FieldCode::InvalidValue, message)).await;
                    }
                }
            }
            Beginning::Template(template, parties)
        }
    };
    let new = NewAgreement { workspace_id, name, kind: OrDefault(start.kind()) };
    let title = format!("Draft “{}” was created", new.name.as_str());
    let line = "Nothing is sent to anyone until you publish it.";
    let redirect = redirect_with_notice(&submitted, agreement_url(id), &title, line).await;
    match submitted.run(|| drafts::begin(&submitted, id, new.clone(), &beginning)).await {
        Ok(()) => Ok(redirect.into()),
        Err(Error::NotFound(errors) | Error::Invalid(errors)) if !errors.is_empty() => again(errors).await,
        Err(error) => Err(error),
    }
}
