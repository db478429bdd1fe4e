//! Beginning a draft: choosing a template, its workspace and its parties, each of which may be made with it.

use std::collections::BTreeMap;

use askama::Template;
use pages::chosen::{self, NAMED, NamedFields};
use pages::done::{notice_of_act, redirect_with_notice, with_notice};
use pages::fields::{Choice, Fields};
use pages::form;
use pages::labels::{DisplayTime, actor_label};
use pages::layout::{Layout, Link, Notice};
use pages::pickers::{Crumb, WorkspaceChoice};
use pages::response::PageResponse;
use pages::urls::{agreement_url, template_url, workspace_url};
use shared::domain::agreement::outline::{Outline, Party};
use shared::domain::agreement::own_template::OwnTemplate;
use shared::domain::agreement::template::{self, Template as DraftTemplate};
use shared::domain::agreement::{AgreementKind, NewAgreement, ParticipantRole};
use shared::domain::contact::ContactKind;
use shared::domain::ids::{AgreementId, WorkspaceId};
use shared::domain::workspace::{NewWorkspace, WorkspaceName};
use shared::error::Error;
use shared::limits;
use shared::service::drafts::{self, Beginning, NewDraft};
use shared::service::own_templates;
use shared::service::parties::PartyChoice;
use shared::service::scope::Scope;
use shared::service::workspaces;
use shared::web::{Form, Request};
use shared::wire::fields::{FieldCode, FieldErrors};
use shared::wire::input::OrDefault;
use shared::wire::page::Shelf;

use crate::draft::details::agreement_name;

form! {
    /// What a new agreement begins with.
    pub(crate) BEGIN: BeginForm {
        name: Field::line("name", "Agreement name", 250),
        workspace_name: Field::line("workspace_name", "Workspace", 200)
            .called("The workspace’s name")
            .hint("It keeps the people and agreements of a deal together. Left empty, it gets the agreement’s name."),
        party: Field::choice("party.", "Party"),
        display_name: NAMED.name,
        kind: NAMED.kind,
        email: NAMED.email,
    }
}

const PATH: &str = pages::urls::NEW_AGREEMENT;
/// The page on which a member chooses an existing workspace.
pub(crate) const CHOOSE_WORKSPACE: &str = "/app/agreements/new/workspace";

const WORKSPACE: WorkspaceChoice = WorkspaceChoice {
    path: CHOOSE_WORKSPACE,
    goes_on: PATH,
    title: "New agreement",
    list: Crumb { url: PATH, text: "New agreement" },
    lead: "Which deal or matter does it belong to?",
    without_any: "An agreement can also begin in a new workspace.",
    create: Crumb { url: PATH, text: "Begin in a new workspace" },
};

/// What a draft begins with.
struct Start {
    key: String,
    name: String,
    about: String,
    kind: AgreementKind,
    /// None for a blank page.
    outline: Option<Outline>,
}

impl Start {
    /// Those of the product, in display order.
    fn of_product() -> impl Iterator<Item = Self> {
        let blank = |key: &str, name: &str, about: &str, kind| Self {
            key: key.to_owned(),
            name: name.to_owned(),
            about: about.to_owned(),
            kind,
            outline: None,
        };
        let blank = [
            blank("blank", "Blank agreement", "No participants, documents or steps yet.", AgreementKind::General),
            blank("blank-safe", "Blank SAFE", "The terms of a SAFE, and nothing else yet.", AgreementKind::Safe),
        ];
        let of_template = |template: &DraftTemplate| Self {
            key: template.key.clone(),
            name: template.name.clone(),
            about: template.about.clone(),
            kind: template.outline.kind,
            outline: Some(template.outline.clone()),
        };
        template::all().iter().map(of_template).chain(blank)
    }

    /// One of the product, or a template that a member kept. [`Error::NotFound`] if that one is gone.
    async fn find(scope: &Scope, key: &str) -> Result<Option<Self>, Error> {
        if let Some(found) = Self::of_product().find(|start| start.key == key) {
            return Ok(Some(found));
        }
        let Ok(id) = key.parse() else { return Ok(None) };
        let (OwnTemplate { name, kept_by, .. }, outline) = own_templates::get(scope, id).await?;
        let about = format!("A template of your organization. Kept by {}.", actor_label(&kept_by));
        let (name, kind) = (name.as_str().to_owned(), outline.kind);
        Ok(Some(Self { key: key.to_owned(), name, about, kind, outline: Some(outline) }))
    }

    fn parties(&self) -> &[Party] {
        self.outline.as_ref().map_or(&[], |outline| &outline.parties)
    }
}

#[derive(Debug, Clone, Default, deserr::Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
struct Query {
    #[deserr(default)]
    workspace: Option<WorkspaceId>,
    #[deserr(default)]
    template: Option<String>,
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    let query: Query = request.read_query()?;
    let Some(key) = query.template else {
        let (notice, cookie) = notice_of_act(request).await;
        return Ok(choose_template(request, query.workspace, notice).await?.with_cookie(cookie));
    };
    let unknown = || FieldErrors::one("template", FieldCode::InvalidValue, "must be the key of a template");
    let start = Start::find(request.signed_in()?.scope(), &key).await?;
    let start = start.ok_or_else(|| Error::Invalid(unknown()))?;
    form_page(request, query.workspace, &start, Fields::default(), None).await
}

pub(crate) async fn choose_workspace(request: &mut Request) -> Result<PageResponse, Error> {
    WORKSPACE.page(request).await
}

#[derive(Template)]
#[template(path = "begin_template.html")]
struct TemplatesPage {
    layout: Layout,
    notice: Option<Notice>,
    /// None if the agreement begins in a new one.
    workspace: Option<Link>,
    own: Vec<OwnRow>,
    starts: Vec<(Link, String)>,
}

/// A template of the organization.
struct OwnRow {
    begin: Link,
    settings: String,
    kept_by: String,
    kept_at: DisplayTime,
}

async fn choose_template(
    request: &Request,
    workspace: Option<WorkspaceId>,
    notice: Option<Notice>,
) -> Result<PageResponse, Error> {
    let scope = request.signed_in()?.scope();
    let found = async {
        match workspace {
            Some(id) => workspaces::get_without_people(scope, id).await.map(Some),
            None => Ok(None),
        }
    };
    let (found, own) = tokio::try_join!(found, own_templates::list(scope))?;
    let link = |key: &str, name: &str| {
        let within = workspace.map(|id| format!("workspace={id}&")).unwrap_or_default();
        Link { url: format!("{PATH}?{within}template={key}"), text: name.to_owned() }
    };
    let own_row = |template: &OwnTemplate| OwnRow {
        begin: link(&template.id.to_string(), template.name.as_str()),
        settings: template_url(template.id),
        kept_by: actor_label(&template.kept_by),
        kept_at: template.kept_at.into(),
    };
    let page = TemplatesPage {
        layout: Layout::new(request),
        notice,
        workspace: found.map(|found| Link { url: workspace_url(found.id()), text: found.name.as_str().to_owned() }),
        own: own.iter().map(own_row).collect(),
        starts: Start::of_product().map(|start| (link(&start.key, &start.name), start.about)).collect(),
    };
    Ok(PageResponse::render(&page)?.showing(workspace.map(WorkspaceId::uuid)))
}

#[derive(Template)]
#[template(path = "begin_form.html")]
struct FormPage {
    layout: Layout,
    notice: Option<Notice>,
    /// None if the agreement begins in a new one.
    workspace: Option<Link>,
    workspace_id: Option<WorkspaceId>,
    path: &'static str,
    key: String,
    name: String,
    about: String,
    parties: Vec<PartyFields>,
    has_promises: bool,
    people: Vec<Choice>,
    known: Vec<String>,
    kinds: Vec<Choice>,
    back: String,
    fields: Fields,
}

/// The names of a party’s fields.
struct PartyFields {
    label: String,
    /// What a party with its roles most likely is.
    usual_kind: ContactKind,
    contact: String,
    named: NamedFields,
}

impl PartyFields {
    fn new(party: &Party) -> Self {
        let Party { key, label, roles } = party;
        let is_company = roles.contains(&ParticipantRole::Issuer);
        Self {
            label: label.as_str().to_owned(),
            usual_kind: if is_company { ContactKind::Corporation } else { ContactKind::Person },
            contact: BEGIN.party.member(key),
            named: NamedFields::new(key),
        }
    }
}

async fn form_page(
    request: &Request,
    workspace: Option<WorkspaceId>,
    start: &Start,
    fields: Fields,
    notice: Option<Notice>,
) -> Result<PageResponse, Error> {
    let scope = request.signed_in()?.scope();
    let parties: Vec<PartyFields> = start.parties().iter().map(PartyFields::new).collect();
    let found = async {
        match workspace {
            Some(id) => workspaces::get(scope, id).await.map(Some),
            None => Ok(None),
        }
    };
    let known = async { if parties.is_empty() { Ok(Vec::new()) } else { chosen::known_names(scope).await } };
    let (found, known) = tokio::try_join!(found, known)?;
    let people = found.iter().flat_map(|found| &found.people).filter(|contact| contact.shelf() == Shelf::Current);
    let people = people.map(|contact| Choice::new(contact.id.to_string(), contact.display_name.as_str()));
    let people: Vec<Choice> = people.collect();
    let fields = parties.iter().fold(fields, |fields, party| fields.over(party.named.usually(party.usual_kind)));
    let page = FormPage {
        layout: Layout::new(request),
        notice,
        workspace: found.as_ref().map(|found| Link {
            url: workspace_url(found.workspace.id()),
            text: found.workspace.name.as_str().to_owned(),
        }),
        workspace_id: workspace,
        path: PATH,
        key: start.key.clone(),
        name: start.name.clone(),
        about: start.about.clone(),
        parties,
        has_promises: start.outline.as_ref().is_some_and(|outline| outline.promises().next().is_some()),
        people,
        known,
        kinds: chosen::kinds(),
        back: workspace.map_or_else(|| PATH.to_owned(), |id| format!("{PATH}?workspace={id}")),
        fields,
    };
    Ok(PageResponse::render(&page)?.showing(workspace.map(WorkspaceId::uuid)))
}

/// Reads who a party is: one of the people, or a name, with the errors of its fields. None if it is left open.
fn read_party(form: &Form, key: &str) -> Result<Option<PartyChoice>, FieldErrors> {
    let field = BEGIN.party.member(key);
    let is_named = chosen::is_named(form, key);
    match form.get(&field) {
        "" if is_named => chosen::read_named(form, key).map(PartyChoice::Named).map(Some),
        "" => Ok(None),
        _ if is_named => {
            let message = "can’t be combined with a chosen person: leave one of the two empty";
            Err(FieldErrors::one(BEGIN.display_name.member(key), FieldCode::InvalidValue, message))
        }
        chosen => {
            let unknown = || FieldErrors::one(field.clone(), FieldCode::InvalidValue, "must be chosen from the list");
            chosen.parse().map(PartyChoice::Known).map(Some).map_err(|_| unknown())
        }
    }
}

fn read_beginning(start: &Start, form: &Form) -> Result<Beginning, FieldErrors> {
    let Some(outline) = &start.outline else { return Ok(Beginning::Blank) };
    let (mut parties, mut errors) = (BTreeMap::new(), FieldErrors::default());
    for party in &outline.parties {
        match read_party(form, &party.key) {
            Ok(choice) => parties.extend(choice.map(|choice| (party.key.clone(), choice))),
            Err(wrong) => errors.extend(wrong),
        }
    }
    if errors.is_empty() { Ok(Beginning::Outline(Box::new(outline.clone()), parties)) } else { Err(errors) }
}

/// The workspace that is made for the agreement, which it is named like unless the form says otherwise.
fn read_workspace(form: &Form) -> Result<NewWorkspace, FieldErrors> {
    let typed = form.get(BEGIN.workspace_name).trim();
    if !typed.is_empty() {
        let name = WorkspaceName::parse(typed);
        return name
            .map(|name| NewWorkspace { name })
            .map_err(|(code, message)| FieldErrors::one(BEGIN.workspace_name, code, message));
    }
    let short: String = form.get(BEGIN.name).trim().chars().take(limits::NAME_CHARS_MAX).collect();
    let name = WorkspaceName::parse(short.trim());
    name.map(|name| NewWorkspace { name }).map_err(|(code, message)| FieldErrors::one(BEGIN.name, code, message))
}

pub(crate) async fn create(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let form = submitted.form();
    let known: Option<WorkspaceId> = match form.get("workspace") {
        "" => None,
        id => Some(id.parse().map_err(|_| Error::not_found())?),
    };
    let start = match Start::find(submitted.scope(), form.get("template")).await {
        Ok(start) => start.ok_or_else(Error::not_found)?,
        Err(Error::NotFound(_)) => {
            let notice = Notice::warn("This template was deleted", "Nothing was saved. Begin with another one.");
            return Ok(choose_template(request, known, Some(notice)).await?.unprocessable());
        }
        Err(error) => return Err(error),
    };
    let id: AgreementId = submitted.new_id();
    let again = async |errors: FieldErrors| {
        let fields = Fields::submitted(form, errors);
        let notice = Notice::bad("Not saved", "Check what is marked below.");
        Ok(form_page(request, known, &start, fields, Some(notice)).await?.unprocessable())
    };
    let name = agreement_name(form.get(BEGIN.name));
    let is_named = name.is_ok() || !form.get(BEGIN.workspace_name).trim().is_empty();
    let workspace = if known.is_none() && is_named { read_workspace(form).map(Some) } else { Ok(None) };
    let (name, beginning, workspace) = match (name, read_beginning(&start, form), workspace) {
        (Ok(name), Ok(beginning), Ok(workspace)) => (name, beginning, workspace),
        (name, beginning, workspace) => {
            let mut errors = name.err().unwrap_or_default();
            errors.extend(workspace.err().unwrap_or_default());
            errors.extend(beginning.err().unwrap_or_default());
            return again(errors).await;
        }
    };
    let new = NewAgreement { workspace_id: known.unwrap_or_else(WorkspaceId::new), name, kind: OrDefault(start.kind) };
    let title = format!("Draft “{}” was created", new.name.as_str());
    let line = "Nothing is sent to anyone until you publish it.";
    let redirect = redirect_with_notice(&submitted, agreement_url(id), &title, line).await;
    let draft = NewDraft { id, new, workspace, beginning };
    match submitted.run(|| drafts::begin(&submitted, draft.clone())).await {
        Ok(existing) if existing.is_empty() => Ok(redirect.into()),
        Ok(existing) => {
            let notice = Notice::new("good", title, [line.to_owned(), chosen::existing_used(&existing)]);
            Ok(with_notice(&submitted, agreement_url(id), &notice).await.into())
        }
        Err(Error::NotFound(errors) | Error::Invalid(errors)) if !errors.is_empty() => again(errors).await,
        Err(error) => Err(error),
    }
}
