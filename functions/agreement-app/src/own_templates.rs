//! Templates of the organization: keeping an agreement as one, and looking at, renaming and deleting it.

use std::collections::{BTreeMap, BTreeSet};

use askama::Template;
use pages::agreement_summary::participant_name;
use pages::done::{notice_of_act, redirect_with_notice};
use pages::fields::Fields;
use pages::form;
use pages::labels::{DisplayTime, actor_label};
use pages::layout::{Layout, Link, Notice};
use pages::response::PageResponse;
use pages::urls::{NEW_AGREEMENT, agreement_url, template_url};
use shared::domain::agreement::keeping::TooLarge;
use shared::domain::agreement::outline::{Outline, Party};
use shared::domain::agreement::own_template::{NotKept, NotRenamed, OwnTemplate, TemplateName};
use shared::domain::agreement::{Agreement, Label, Participant, ParticipantRole};
use shared::domain::contact::Contact;
use shared::domain::ids::{AgreementId, ParticipantId, TemplateId};
use shared::domain::movement::safe_text::SafeLine;
use shared::error::Error;
use shared::limits;
use shared::service::drafts;
use shared::service::own_templates::{self, Keeping};
use shared::text;
use shared::web::{Form, Request};
use shared::wire::fields::{FieldCode, FieldErrors};
use shared::wire::text::Folded;

use crate::draft::documents::UNLABELED;

form! {
    /// A template that is kept.
    pub(crate) KEEPING: KeepingForm {
        name: Field::line("name", "Template name", 200),
        label: Field::line("label.", "Role", 200),
    }
}

form! {
    /// A template’s name.
    pub(crate) TEMPLATE: TemplateForm {
        name: Field::line("name", "Template name", 200),
    }
}

const TAKEN: &str = "is that of another template";

#[derive(Template)]
#[template(path = "keep_template.html")]
struct KeepingPage {
    layout: Layout,
    notice: Option<Notice>,
    agreement: Link,
    path: String,
    /// Why it can't be kept, if it can't.
    prevented: Option<String>,
    roles: Vec<RoleField>,
    promises_not_kept: usize,
    fields: Fields,
}

/// The field for what the role of a participant is called.
struct RoleField {
    name: String,
    label: String,
}

pub(crate) async fn show_keeping(request: &mut Request) -> Result<PageResponse, Error> {
    keeping_page(request, Fields::default(), None).await
}

async fn keeping_page(request: &Request, fields: Fields, notice: Option<Notice>) -> Result<PageResponse, Error> {
    let id: AgreementId = request.path_id("id")?;
    let scope = request.signed_in()?.scope();
    let ((agreement, contacts), templates) = tokio::try_join!(drafts::load(scope, id), own_templates::list(scope))?;
    let prevented = match agreement.fits_template() {
        Err(too_large) => Some(too_large_text(too_large)),
        Ok(()) if templates.is_full() => Some(full()),
        Ok(()) => None,
    };
    let role = |participant: ParticipantId| RoleField {
        name: KEEPING.label.member(participant),
        label: format!("Role of {}", participant_name(&agreement, &contacts, participant)),
    };
    let own = suggested(&agreement, &contacts).into_iter().map(|(id, label)| (KEEPING.label.member(id), label));
    let page = KeepingPage {
        layout: Layout::new(request),
        notice,
        agreement: Link { url: agreement_url(id), text: agreement.name.as_str().to_owned() },
        path: format!("{}/template", agreement_url(id)),
        prevented,
        roles: agreement.participants.iter().map(|participant| role(participant.id)).collect(),
        promises_not_kept: agreement.promises_not_kept(),
        fields: fields.over(Fields::of(own)),
    };
    Ok(PageResponse::render(&page)?.showing([id.uuid()]))
}

fn full() -> String {
    format!("Your organization has {} templates, the most it can have. Delete one first.", limits::TEMPLATES_MAX)
}

fn too_large_text(too_large: TooLarge) -> String {
    let (max, what, count) = match too_large {
        TooLarge::Participants(count) => (limits::TEMPLATE_PARTIES_MAX, "participants", count),
        TooLarge::Payments(count) => (limits::TEMPLATE_PAYMENTS_MAX, "payments", count),
    };
    format!("A template can have at most {max} {what}. This agreement has {count}.")
}

/// What each role is called unless a member says otherwise: as where they sign, or else what it does, numbered if several
/// are the same.
fn suggested(agreement: &Agreement, contacts: &[Contact]) -> Vec<(ParticipantId, String)> {
    let words = |roles: &BTreeSet<ParticipantRole>| {
        let words: Vec<String> = roles.iter().map(|role| text::role(*role).to_lowercase()).collect();
        let joined = words.join(", ");
        let mut letters = joined.chars();
        letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
    };
    let names: Vec<Folded> = contacts.iter().map(|contact| Folded::new(contact.display_name.as_str())).collect();
    let names_someone = |label: &str| names.iter().any(|name| Folded::new(label).as_str().contains(name.as_str()));
    let signs_as = |id: ParticipantId| {
        let blocks = agreement.documents.iter().flat_map(|document| &document.blocks);
        let labels = blocks.filter(|block| block.participant_id == id).map(|block| block.label.as_str());
        labels.filter(|label| *label != UNLABELED && !names_someone(label)).map(str::to_owned).next()
    };
    let called = |participant: &Participant| signs_as(participant.id).unwrap_or_else(|| words(&participant.roles));
    let all: Vec<String> = agreement.participants.iter().map(called).collect();
    let label = |n: usize| {
        let is_same = |other: &&String| **other == all[n];
        let (before, same) = (all[..n].iter().filter(is_same).count(), all.iter().filter(is_same).count());
        if same > 1 { format!("{} {}", all[n], before + 1) } else { all[n].clone() }
    };
    agreement.participants.iter().enumerate().map(|(n, participant)| (participant.id, label(n))).collect()
}

fn read_name(form: &Form) -> Result<TemplateName, FieldErrors> {
    TemplateName::parse(form.get(KEEPING.name)).map_err(|(code, message)| FieldErrors::one(KEEPING.name, code, message))
}

fn read_keeping(form: &Form, agreement: &Agreement) -> Result<Keeping, FieldErrors> {
    let name = read_name(form);
    let (mut labels, mut taken) = (BTreeMap::new(), BTreeSet::new());
    let mut errors = name.as_ref().err().cloned().unwrap_or_default();
    for participant in &agreement.participants {
        let field = KEEPING.label.member(participant.id);
        match crate::draft::safe_label(form.get(&field), &field) {
            Ok(label) if taken.insert(label.as_str().to_lowercase()) => drop(labels.insert(participant.id, label)),
            Ok(_) => {
                let message = "must differ from the other roles";
                errors.extend(FieldErrors::one(field, FieldCode::InvalidValue, message));
            }
            Err(wrong) => errors.extend(wrong),
        }
    }
    match name {
        Ok(name) if errors.is_empty() => Ok(Keeping { name, labels }),
        _ => Err(errors),
    }
}

pub(crate) async fn keep(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let (id, form): (AgreementId, _) = (request.path_id("id")?, submitted.form());
    let template: TemplateId = submitted.new_id();
    let again = async |errors: FieldErrors, line: &str| {
        let notice = Notice::bad("Not kept", line);
        Ok(keeping_page(request, Fields::submitted(form, errors), Some(notice)).await?.unprocessable())
    };
    let marked = "Check what is marked below.";
    let agreement = drafts::agreement(submitted.scope(), id).await?;
    let keeping = match read_keeping(form, &agreement) {
        Ok(keeping) => keeping,
        Err(errors) => return again(errors, marked).await,
    };
    let title = format!("“{}” was kept as a template", keeping.name.as_str());
    let line = "New agreements can begin with it.";
    let redirect = redirect_with_notice(&submitted, template_url(template), &title, line).await;
    match submitted.run(|| own_templates::keep(&submitted, template, id, &keeping)).await? {
        Ok(()) => Ok(redirect.into()),
        Err(NotKept::NameTaken) => again(FieldErrors::one(KEEPING.name, FieldCode::InvalidValue, TAKEN), marked).await,
        Err(NotKept::Full | NotKept::TooLarge(_)) => again(FieldErrors::default(), "See why below.").await,
    }
}

#[derive(Template)]
#[template(path = "own_template.html")]
struct TemplatePage {
    layout: Layout,
    notice: Option<Notice>,
    name: String,
    path: String,
    begin: String,
    kept_by: String,
    kept_at: DisplayTime,
    roles: Vec<(String, String)>,
    parts: Vec<(&'static str, Vec<String>)>,
    steps: Vec<(String, String)>,
    fields: Fields,
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    let (notice, cookie) = notice_of_act(request).await;
    Ok(template_page(request, None, notice).await?.with_cookie(cookie))
}

async fn template_page(
    request: &Request,
    fields: Option<Fields>,
    notice: Option<Notice>,
) -> Result<PageResponse, Error> {
    let id: TemplateId = request.path_id("id")?;
    let (OwnTemplate { name, kept_by, kept_at, .. }, outline) =
        own_templates::get(request.signed_in()?.scope(), id).await?;
    let role = |party: &Party| {
        let roles: Vec<&str> = party.roles.iter().map(|role| text::role(*role)).collect();
        (party.label.as_str().to_owned(), roles.join(", "))
    };
    let page = TemplatePage {
        layout: Layout::new(request),
        notice,
        path: template_url(id),
        begin: format!("{NEW_AGREEMENT}?template={id}"),
        kept_by: actor_label(&kept_by),
        kept_at: kept_at.into(),
        roles: outline.parties.iter().map(role).collect(),
        parts: parts(&outline),
        steps: outline
            .steps()
            .map(|(name, conditions)| {
                let conditions: Vec<&str> = conditions.into_iter().map(text::condition).collect();
                (name.as_str().to_owned(), conditions.join(", "))
            })
            .collect(),
        fields: fields.unwrap_or_else(|| Fields::of([(TEMPLATE.name.name, name.as_str())])),
        name: name.as_str().to_owned(),
    };
    Ok(PageResponse::render(&page)?.showing([id.uuid()]))
}

/// The names of an outline's documents, payments and obligations, as far as it has any.
fn parts(outline: &Outline) -> Vec<(&'static str, Vec<String>)> {
    let names = |labels: &mut dyn Iterator<Item = &Label>| labels.map(|label| label.as_str().to_owned()).collect();
    let purpose = |purpose: Option<&str>| purpose.unwrap_or("A payment without a purpose").to_owned();
    let parts: [(&str, Vec<String>); 3] = [
        ("Documents", names(&mut outline.documents())),
        ("Payments", outline.payments().map(|of| purpose(of.map(SafeLine::as_str))).collect()),
        ("Obligations", names(&mut outline.promises())),
    ];
    parts.into_iter().filter(|(_, names)| !names.is_empty()).collect()
}

pub(crate) async fn rename(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let (id, form): (TemplateId, _) = (request.path_id("id")?, submitted.form());
    let wrong = async |errors: FieldErrors| {
        let notice = Notice::bad("Not saved", "Check what is marked below.");
        let fields = Fields::submitted(form, errors);
        Ok(template_page(request, Some(fields), Some(notice)).await?.unprocessable())
    };
    let name = match read_name(form) {
        Ok(name) => name,
        Err(errors) => return wrong(errors).await,
    };
    let title = format!("The template is now called “{}”", name.as_str());
    let redirect = redirect_with_notice(&submitted, template_url(id), &title, "").await;
    match submitted.run(|| own_templates::rename(&submitted, id, form.get("seen"), &name)).await? {
        Ok(()) => Ok(redirect.into()),
        Err(NotRenamed::NameTaken) => wrong(FieldErrors::one(TEMPLATE.name, FieldCode::InvalidValue, TAKEN)).await,
        Err(NotRenamed::Changed(now)) => {
            let line = format!("It is now called “{}”. Nothing was saved.", now.as_str());
            let notice = Notice::warn("Another member renamed this template while you were typing", line);
            let fields = Fields::submitted(form, FieldErrors::default());
            Ok(template_page(request, Some(fields), Some(notice)).await?.conflicting())
        }
    }
}

pub(crate) async fn delete(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let id: TemplateId = request.path_id("id")?;
    let line = "Agreements that began with it stay as they are.";
    let redirect = redirect_with_notice(&submitted, NEW_AGREEMENT.to_owned(), "The template was deleted", line).await;
    submitted.run(|| own_templates::delete(&submitted, id)).await?;
    Ok(redirect.into())
}
