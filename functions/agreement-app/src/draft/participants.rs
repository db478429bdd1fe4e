//! The participants of a draft: adding contacts and changing roles.

use std::collections::BTreeSet;

use askama::Template;
use pages::agreement_summary::participant_name;
use pages::chosen::{self, CHOSEN, Chosen};
use pages::done::{notice_of_act, redirect_with};
use pages::fields::{Choice, Fields};
use pages::form;
use pages::layout::{Layout, Link, Notice};
use pages::pager::page_at;
use pages::pickers::{ContactOption, ContactPicker};
use pages::response::PageResponse;
use pages::routes::Operation;
use pages::urls::{agreement_url, condition_url, contact_url, document_url, promise_url};
use shared::domain::agreement::edit::Part;
use shared::domain::agreement::{Agreement, Document, NewParticipant, ParticipantRole, Roles};
use shared::domain::contact::{ContactKind, ListedContact};
use shared::domain::ids::{AgreementId, ContactId, ParticipantId, WorkspaceId};
use shared::error::Error;
use shared::service::contacts::{self, ContactQuery};
use shared::service::scope::Scope;
use shared::service::{agreements, drafts, workspaces};
use shared::text;
use shared::web::{Form, Request};
use shared::wire::fields::{FieldCode, FieldErrors};
use shared::wire::page::{Offset, Order, Shelf};

use crate::draft::{Edit, Problem, RoleGroup, editable, role_groups, seen, submit};

form! {
    /// Who takes part, and how.
    pub(crate) PARTICIPANT: ParticipantForm {
        contact: CHOSEN.contact,
        name: CHOSEN.name,
        kind: CHOSEN.kind,
        email: CHOSEN.email,
        roles: Field::choice("role.", "Roles"),
    }
}

pub(crate) fn participant_url(agreement: AgreementId, participant: ParticipantId) -> String {
    format!("{}/participants/{participant}", agreement_url(agreement))
}

#[derive(Template)]
#[template(path = "draft_participants.html")]
struct AddPage {
    layout: Layout,
    notice: Option<Notice>,
    agreement: Link,
    /// People of the workspace who don't take part yet.
    people: Vec<ContactOption>,
    picker: ContactPicker,
    is_new: bool,
    has_twin: bool,
    kinds: Vec<Choice>,
    role_groups: Vec<RoleGroup>,
    fields: Fields,
}

pub(crate) async fn choose(request: &mut Request) -> Result<PageResponse, Error> {
    let (notice, cookie) = notice_of_act(request).await;
    Ok(add_page(request, Fields::default(), notice, false).await?.with_cookie(cookie))
}

async fn add_page(
    request: &Request,
    fields: Fields,
    notice: Option<Notice>,
    has_twin: bool,
) -> Result<PageResponse, Error> {
    let id: AgreementId = request.path_id("id")?;
    let scope = request.signed_in()?.scope();
    let query: ContactQuery = request.read_query()?;
    let (agreement, found) =
        tokio::try_join!(drafts::agreement(scope, id), contacts::list(scope, Order::ByName, Shelf::Current, &query))?;
    if !editable(&agreement) {
        return Ok(PageResponse::see_other(agreement_url(id)));
    }
    let takes_part = |contact: ContactId| agreement.participants.iter().any(|part| part.contact_id == contact);
    let path = format!("{}/participants", agreement_url(id));
    let is_first_page = query.search.needle().is_none() && query.offset.get() == 0;
    let people = if is_first_page { people_of(scope, agreement.workspace_id).await? } else { Vec::new() };
    let people: Vec<ContactOption> =
        people.iter().filter(|person| !takes_part(person.id)).map(|person| ContactOption::new(person, false)).collect();
    let picker = ContactPicker::new(&query, path, &found, |contact: &ListedContact| takes_part(contact.id));
    let mut picker = match picker {
        Ok(picker) => picker,
        Err(first_page) => return Ok(PageResponse::see_other(first_page)),
    };
    let is_person = |id: &str| people.iter().any(|person| person.id == id);
    picker.contacts.retain(|contact| !is_person(&contact.id));
    let fields = fields.over(Fields::of([(PARTICIPANT.kind, ContactKind::Person.as_str())]));
    let page = AddPage {
        layout: Layout::new(request),
        notice,
        agreement: crate::draft::agreement_link(&agreement),
        is_new: fields.value(PARTICIPANT.contact) == chosen::NEW || (people.is_empty() && picker.contacts.is_empty()),
        people,
        picker,
        has_twin,
        kinds: chosen::kinds(),
        role_groups: role_groups(),
        fields,
    };
    Ok(PageResponse::render(&page)?.showing([id.uuid()]))
}

/// The first people of a workspace, in the order in which they were added as contacts.
async fn people_of(scope: &Scope, workspace: WorkspaceId) -> Result<Vec<ListedContact>, Error> {
    let found = workspaces::get_with_people_page(scope, workspace, page_at(Offset::default())).await?;
    let current = found.people.data.into_iter().filter(|contact| contact.shelf() == Shelf::Current);
    Ok(current.map(ListedContact::from).collect())
}

pub(super) fn fields_of(roles: &BTreeSet<ParticipantRole>) -> Fields {
    Fields::of(roles.iter().map(|role| (format!("role.{}", role.as_str()), "on")))
}

fn read_roles(form: &Form) -> Result<Roles, FieldErrors> {
    let roles: BTreeSet<ParticipantRole> =
        form.checked(PARTICIPANT.roles.name).filter_map(ParticipantRole::parse).collect();
    if roles.is_empty() {
        return Err(FieldErrors::one("roles", FieldCode::Required, "must have at least one choice"));
    }
    Ok(Roles(roles))
}

pub(crate) async fn add(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let id: AgreementId = request.path_id("id")?;
    let form = submitted.form();
    let again = async |errors: FieldErrors| {
        let problem = Problem::invalid(errors);
        let page = add_page(request, problem.fields(form), Some(problem.notice.clone()), false).await?;
        Ok(problem.answer(page))
    };
    let (choice, roles) = match (Chosen::read(form), read_roles(form)) {
        (Ok(choice), Ok(roles)) => (choice, roles),
        (choice, roles) => {
            let mut errors = choice.err().unwrap_or_default();
            errors.extend(roles.err().unwrap_or_default());
            return again(errors).await;
        }
    };
    let made: ContactId = submitted.new_id();
    let path = format!("{}/participants", agreement_url(id));
    if let Some(notice) = choice.twin_notice(&submitted, made, &path).await? {
        let fields = Fields::submitted(form, FieldErrors::default());
        return Ok(add_page(request, fields, Some(notice), true).await?.conflicting());
    }
    let (name, has_email) = match &choice {
        Chosen::Known(id) => {
            let contact = contacts::get(submitted.scope(), *id).await?;
            (contact.display_name.clone(), contact.email.is_some())
        }
        Chosen::New(new) => (new.display_name.clone(), !form.get(PARTICIPANT.email).trim().is_empty()),
    };
    let title = format!("{} takes part", name.as_str());
    let line =
        if has_email { "" } else { "They have no email address yet. Add one to their contact before you publish." };
    let notice = Notice { section: "participants".to_owned(), ..Notice::good(title, line) };
    let redirect = redirect_with(&submitted, format!("{}#notice", agreement_url(id)), &notice).await;
    let added = match choice {
        Chosen::Known(contact_id) => {
            let new = NewParticipant { contact_id, roles };
            submitted.run(|| agreements::add_participant(&submitted, id, new.clone())).await
        }
        Chosen::New(new) => {
            let add = || agreements::add_new_participant(&submitted, id, made, new.clone(), roles.clone());
            submitted.run(add).await
        }
    };
    match added {
        Ok(Ok(_)) => Ok(redirect.into()),
        Ok(Err(agreements::ParticipantRefused::NotAdded(
            shared::domain::agreement::participants::NotAdded::NotADraft,
        ))) => {
            crate::draft::not_saved(request, id, form, None, "This agreement was published while you were typing").await
        }
        Ok(Err(refused)) => again(refused.at("agreement_id")).await,
        Err(Error::Invalid(errors)) => again(errors).await,
        Err(error) => Err(error),
    }
}

#[derive(Template)]
#[template(path = "draft_participant.html")]
struct ParticipantPage {
    layout: Layout,
    notice: Option<Notice>,
    agreement: Link,
    path: String,
    name: String,
    contact: Link,
    email: Option<String>,
    role_groups: Vec<RoleGroup>,
    fields: Fields,
    seen: String,
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    page(request, None, None).await
}

async fn page(request: &Request, fields: Option<Fields>, notice: Option<Notice>) -> Result<PageResponse, Error> {
    let (id, participant): (AgreementId, ParticipantId) = (request.path_id("id")?, request.path_id("participant")?);
    let (agreement, contacts) = drafts::load(request.signed_in()?.scope(), id).await?;
    let found = agreement.participant(participant).filter(|_| editable(&agreement));
    let contact = found.and_then(|found| contacts.iter().find(|contact| contact.id == found.contact_id));
    let (Some(found), Some(contact)) = (found, contact) else {
        return Ok(PageResponse::see_other(agreement_url(id)));
    };
    let page = ParticipantPage {
        layout: Layout::new(request),
        notice,
        agreement: crate::draft::agreement_link(&agreement),
        path: participant_url(id, participant),
        name: contact.display_name.as_str().to_owned(),
        contact: Link { url: contact_url(contact.id), text: contact.display_name.as_str().to_owned() },
        email: contact.email.as_ref().map(|email| email.as_str().to_owned()),
        role_groups: role_groups(),
        fields: fields.unwrap_or_else(|| fields_of(&found.roles)),
        seen: seen(&agreement, Part::Participant(participant)),
    };
    Ok(PageResponse::render(&page)?.showing([id.uuid()]))
}

fn named_in(draft: &Agreement, participant: ParticipantId) -> Vec<Link> {
    let gates = draft.stages.iter().flat_map(|stage| stage.gates.iter().map(move |gate| (stage, gate)));
    let conditions = gates
        .filter(|(_, gate)| gate.rule.participant_ids().is_some_and(|ids| ids.contains(&participant)))
        .map(|(stage, gate)| Link {
            url: condition_url(draft.id(), gate.id),
            text: format!("Open “{}” in “{}”", text::condition(gate.rule.gate_type()), stage.name.as_str()),
        });
    let signs = |document: &&Document| document.blocks.iter().any(|block| block.participant_id == participant);
    let documents = draft.documents.iter().filter(signs).map(|document| Link {
        url: format!("{}#blocks", document_url(draft.id(), document.id)),
        text: format!("Open “{}”", document.name.as_str()),
    });
    let naming = draft.promises.iter().filter(|promise| promise.parties.side(participant).is_some());
    let promises = naming.map(|promise| Link {
        url: promise_url(draft.id(), promise.id),
        text: format!("Open “{}”", promise.name.as_str()),
    });
    conditions.chain(documents).chain(promises).collect()
}

pub(crate) const SAVE_OPERATIONS: Operation =
    Operation::ByField { field: "act", names: &[("remove", "remove_participant")], otherwise: "change_participant" };

pub(crate) async fn save(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let (id, participant): (AgreementId, ParticipantId) = (request.path_id("id")?, request.path_id("participant")?);
    let form = submitted.form();
    let again = async |problem: Problem| {
        let fields = form.get("act").is_empty().then(|| problem.fields(form));
        let mut notice = problem.notice.clone();
        if form.get("act") == "remove" {
            let draft = drafts::agreement(request.signed_in()?.scope(), id).await?;
            notice.links = named_in(&draft, participant);
        }
        let page = page(request, fields, Some(notice)).await?;
        Ok(problem.answer(page))
    };
    let back = agreement_url(id);
    let (draft, contacts) = drafts::load(submitted.scope(), id).await?;
    let name = participant_name(&draft, &contacts, participant);
    let edit = if form.get("act") == "remove" {
        let says = move |_: &Agreement, _: &Agreement| Notice::good(format!("{name} no longer takes part"), "");
        Edit::new(back, says, move |draft, now| draft.remove_participant(participant, now))
            .of(Part::Participant(participant))
            .removing()
    } else {
        let roles = match read_roles(form) {
            Ok(roles) => roles,
            Err(errors) => return again(Problem::invalid(errors)).await,
        };
        let says = move |_: &Agreement, _: &Agreement| Notice::good(format!("The roles of {name} were saved"), "");
        Edit::new(back, says, move |draft, now| draft.set_roles(participant, roles.clone(), now))
            .of(Part::Participant(participant))
    };
    submit(request, &submitted, id, edit.within("participants"), again).await
}
