//! The conditions of a step: adding one, settings by type, and the questions of an information request.

use askama::Template;
use pages::agreement_summary::participant_name;
use pages::blockers::lacking;
use pages::done::notice_of_act;
use pages::fields::{Choice, Fields};
use pages::layout::{Layout, Link, Notice, shows_notice};
use pages::response::PageResponse;
use pages::routes::Operation;
use pages::urls::{agreement_url, condition_url, step_url};
use shared::domain::agreement::edit::Part;
use shared::domain::agreement::gate::{Countdown, FieldType, GateRule, GateType, InformationField};
use shared::domain::agreement::{Agreement, Document, SignatureBlock};
use shared::domain::contact::Contact;
use shared::domain::ids::{AgreementId, FieldId, GateId, StageId};
use shared::domain::movement::Movement;
use shared::domain::time::Timestamp;
use shared::domain::time_zone::TimeZone;
use shared::error::Error;
use shared::limits;
use shared::service::payments as service;
use shared::text;
use shared::web::{Form, Request};
use shared::wire::fields::{FieldCode, FieldErrors};
use shared::wire::page::Filter;

use crate::draft::condition_form::{
    CONDITION, at_the_form, field_type_label, fields_of, question_fields, read_question, read_rule,
};
use crate::draft::{Edit, Problem, editable, moved, payments, place, seen, submit};

fn type_hint(gate_type: GateType) -> &'static str {
    match gate_type {
        GateType::SignatureBlocks => "Met when every chosen signature block is signed.",
        GateType::DocumentSigned => "Met when all signature blocks of the document are signed.",
        GateType::ParticipantApproval => "Met when everyone chosen has approved.",
        GateType::FileUpload => {
            "Met when everyone chosen has uploaded a file; with a review, once a member has accepted each."
        }
        GateType::Countdown => "Met when the time has passed.",
        GateType::MovementAuthorized => "Met when a member has authorized the payment.",
        GateType::MovementReconciled => {
            "Met when proof from the receiving side that the payment arrived is accepted. That the sender says so never meets it."
        }
        GateType::InformationRequest => "Met when a member has accepted the answers of everyone chosen.",
        GateType::IdentityVerified => "Met when the identity of everyone chosen is verified.",
    }
}

struct Settings {
    participants: Option<Vec<Choice>>,
    blocks: Option<Vec<Choice>>,
    documents: Option<Vec<Choice>>,
    payments: Option<Vec<Choice>>,
    is_countdown: bool,
    is_upload: bool,
}

fn waits_for_payment(gate_type: GateType) -> bool {
    matches!(gate_type, GateType::MovementAuthorized | GateType::MovementReconciled)
}

impl Settings {
    fn new(gate_type: GateType, agreement: &Agreement, contacts: &[Contact], payments: &[Movement]) -> Self {
        let names_people = matches!(
            gate_type,
            GateType::ParticipantApproval
                | GateType::FileUpload
                | GateType::InformationRequest
                | GateType::IdentityVerified
        );
        let participants = agreement.participants.iter().map(|participant| {
            let name = participant_name(agreement, contacts, participant.id);
            Choice::new(format!("participant.{}", participant.id), name)
        });
        let blocks = agreement.documents.iter().flat_map(|document| {
            document.blocks.iter().map(|block| {
                Choice::new(format!("block.{}", block.id), block_text(agreement, contacts, document, block))
            })
        });
        let payments =
            payments.iter().map(|payment| Choice::new(payment.id().to_string(), payments::name_with_amount(payment)));
        let no_payment = Choice::new("", "Choose a payment");
        let none = Choice::new("", "Choose a document");
        let documents = agreement.documents.iter();
        let documents = documents.map(|document| Choice::new(document.id.to_string(), document.name.as_str()));
        Self {
            participants: names_people.then(|| participants.collect()),
            blocks: (gate_type == GateType::SignatureBlocks).then(|| blocks.collect()),
            documents: (gate_type == GateType::DocumentSigned)
                .then(|| std::iter::once(none).chain(documents).collect()),
            payments: waits_for_payment(gate_type).then(|| std::iter::once(no_payment).chain(payments).collect()),
            is_countdown: gate_type == GateType::Countdown,
            is_upload: gate_type == GateType::FileUpload,
        }
    }
}

pub(super) fn block_text(
    agreement: &Agreement,
    contacts: &[Contact],
    document: &Document,
    block: &SignatureBlock,
) -> String {
    let who = participant_name(agreement, contacts, block.participant_id);
    format!("{}: {who} ({})", document.name.as_str(), block.label.as_str())
}

pub(super) fn condition_name(agreement: &Agreement, gate: GateId) -> &'static str {
    agreement.gate(gate).map_or("", |gate| text::condition(gate.rule.gate_type()))
}

#[derive(Template)]
#[template(path = "draft_condition.html")]
struct ConditionPage {
    layout: Layout,
    notice: Option<Notice>,
    agreement: Link,
    step: Link,
    path: String,
    title: String,
    requirement: Option<String>,
    hint: &'static str,
    gate_type: GateType,
    seen: Option<String>,
    settings: Settings,
    /// The box of a new condition that holds its payment back until the step before is done.
    hold: Option<String>,
    units: Vec<Choice>,
    fields: Fields,
    questions: Option<Questions>,
}

impl ConditionPage {
    fn shows_notice(&self, section: &str) -> bool {
        shows_notice(self.notice.as_ref(), &["questions"], section)
    }
}

struct Questions {
    rows: Vec<QuestionRow>,
    order: String,
    is_full: bool,
    new: QuestionForm,
}

struct QuestionRow {
    id: FieldId,
    up: Option<usize>,
    down: Option<usize>,
    kind: &'static str,
    is_required: bool,
    options: String,
    text: String,
    is_open: bool,
    form: QuestionForm,
}

struct QuestionForm {
    id: Option<FieldId>,
    seen: String,
    fields: Fields,
    types: Vec<Choice>,
}

impl QuestionForm {
    fn new(id: Option<FieldId>, seen: String, fields: Fields) -> Self {
        let types = FieldType::ALL.map(|field_type| Choice::new(field_type.as_str(), field_type_label(field_type)));
        Self { id, seen, fields, types: types.into() }
    }
}

#[derive(Debug, Clone, Default, deserr::Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
struct NewQuery {
    #[deserr(default, rename = "type")]
    gate_type: Filter<GateType>,
}

pub(crate) async fn new_condition(request: &mut Request) -> Result<PageResponse, Error> {
    let query: NewQuery = request.read_query()?;
    let gate_type = query.gate_type.get().unwrap_or(GateType::DocumentSigned);
    new_page(request, gate_type, Fields::of([(CONDITION.hold, "on")]), None).await
}

async fn new_page(
    request: &Request,
    gate_type: GateType,
    fields: Fields,
    notice: Option<Notice>,
) -> Result<PageResponse, Error> {
    let (id, stage): (AgreementId, StageId) = (request.path_id("id")?, request.path_id("step")?);
    let signed_in = request.signed_in()?;
    let (agreement, contacts, payments) =
        service::load(signed_in.scope(), id, |_| waits_for_payment(gate_type)).await?;
    let Some(found) = agreement.stage(stage).filter(|_| editable(&agreement)) else {
        return Ok(PageResponse::see_other(agreement_url(id)));
    };
    let page = ConditionPage {
        layout: Layout::new(request),
        notice,
        agreement: crate::draft::agreement_link(&agreement),
        step: Link { url: step_url(id, stage), text: found.name.as_str().to_owned() },
        path: format!("{}/conditions", step_url(id, stage)),
        title: format!("New condition: {}", text::condition(gate_type).to_lowercase()),
        requirement: None,
        hint: type_hint(gate_type),
        gate_type,
        seen: None,
        settings: Settings::new(gate_type, &agreement, &contacts, &payments),
        hold: agreement
            .stage_to_hold_back(stage)
            .filter(|_| waits_for_payment(gate_type))
            .map(|before| format!("Hold the payment back until “{}” is done", before.name.as_str())),
        units: units(),
        fields,
        questions: None,
    };
    Ok(PageResponse::render(&page)?.showing([id.uuid()]))
}

fn units() -> Vec<Choice> {
    vec![Choice::new("days", "days"), Choice::new("hours", "hours")]
}

pub(crate) async fn add(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let (id, stage): (AgreementId, StageId) = (request.path_id("id")?, request.path_id("step")?);
    let form = submitted.form();
    let gate_type = GateType::parse(form.get("type")).ok_or_else(Error::not_found)?;
    let gate: GateId = submitted.new_id();
    let again = async |problem: Problem| {
        let page = new_page(request, gate_type, problem.fields(form), Some(problem.notice.clone())).await?;
        Ok(problem.answer(page))
    };
    let rule = match read_rule(gate_type, form, &request.signed_in()?.organization().time_zone) {
        Ok(rule) => rule,
        Err(errors) => return again(Problem::invalid(errors)).await,
    };
    let asks = gate_type == GateType::InformationRequest;
    let location = if asks { condition_url(id, gate) } else { step_url(id, stage) };
    let now = request.now();
    let says = move |_: &Agreement, after: &Agreement| said(after, gate, "was added", now);
    let holds_back = waits_for_payment(gate_type) && form.has(CONDITION.hold);
    let edit = Edit::new(location, says, move |draft, now| {
        let draft = draft.put_gate(stage, gate, rule.clone(), now)?;
        // A payment that an earlier step names is meant to be made before.
        let first = rule.movement().and_then(|id| draft.stage_of_movement(id));
        let is_first = first.is_none_or(|first| first.id == stage);
        if holds_back && is_first { draft.hold_back(stage, now) } else { Ok(draft) }
    });
    submit(request, &submitted, id, edit, again).await
}

/// The notice after adding or saving a condition: what it still lacks, or that its date has passed.
fn said(after: &Agreement, gate: GateId, what: &str, now: Timestamp) -> Notice {
    let title = format!("The condition “{}” {what}", condition_name(after, gate));
    let lacking = lacking(after, gate, now);
    let rule = after.gate(gate).map(|gate| &gate.rule);
    let has_passed = matches!(rule, Some(GateRule::Countdown { until: Some(Countdown::At(at)) }) if *at <= now);
    if has_passed {
        return Notice::warn(title, "Its date is in the past: it will be met as soon as its step opens.");
    }
    Notice::new(if lacking.is_empty() { "good" } else { "warn" }, title, lacking)
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    let (notice, cookie) = notice_of_act(request).await;
    Ok(page(request, Typed::Nothing, notice).await?.with_cookie(cookie))
}

enum Typed {
    Nothing,
    Settings(Fields),
    Question(FieldId, Fields),
}

async fn page(request: &Request, typed: Typed, notice: Option<Notice>) -> Result<PageResponse, Error> {
    let (id, gate): (AgreementId, GateId) = (request.path_id("id")?, request.path_id("condition")?);
    let signed_in = request.signed_in()?;
    let zone = &signed_in.organization().time_zone;
    let waits =
        |agreement: &Agreement| agreement.gate(gate).is_some_and(|found| waits_for_payment(found.rule.gate_type()));
    let (agreement, contacts, payments) = service::load(signed_in.scope(), id, waits).await?;
    let stage = agreement.stages.iter().find(|stage| stage.gates.iter().any(|found| found.id == gate));
    let (Some(stage), Some(found), true) = (stage, agreement.gate(gate), editable(&agreement)) else {
        return Ok(PageResponse::see_other(agreement_url(id)));
    };
    let gate_type = found.rule.gate_type();
    let (settings_fields, question_typed) = match typed {
        Typed::Nothing => (None, None),
        Typed::Settings(fields) => (Some(fields), None),
        Typed::Question(id, fields) => (None, Some((id, fields))),
    };
    let page = ConditionPage {
        layout: Layout::new(request),
        notice,
        agreement: crate::draft::agreement_link(&agreement),
        step: Link { url: step_url(id, stage.id), text: stage.name.as_str().to_owned() },
        path: condition_url(id, gate),
        title: text::condition(gate_type).to_owned(),
        requirement: Some(text::requirement(
            &found.rule,
            &agreement,
            text::Named { contacts: &contacts, payments: &payments },
        )),
        hint: type_hint(gate_type),
        gate_type,
        seen: Some(seen(&agreement, Part::Gate(gate))),
        settings: Settings::new(gate_type, &agreement, &contacts, &payments),
        hold: None,
        units: units(),
        fields: settings_fields.unwrap_or_else(|| fields_of(&found.rule, zone)),
        questions: agreement
            .questions(gate)
            .map(|questions| Questions::new(&agreement, gate, questions, question_typed)),
    };
    Ok(PageResponse::render(&page)?.showing([id.uuid()]))
}

impl Questions {
    fn new(
        agreement: &Agreement,
        gate: GateId,
        questions: &[InformationField],
        typed: Option<(FieldId, Fields)>,
    ) -> Self {
        let last = questions.len().saturating_sub(1);
        let typed_in = |id: FieldId| typed.as_ref().filter(|(typed, _)| *typed == id).map(|(_, fields)| fields.clone());
        let rows = questions.iter().enumerate().map(|(n, question)| {
            let typed = typed_in(question.id);
            QuestionRow {
                id: question.id,
                up: n.checked_sub(1),
                down: (n < last).then_some(n + 1),
                kind: field_type_label(question.field_type),
                is_required: question.required,
                options: question.options.join(", "),
                text: question.label.as_str().to_owned(),
                is_open: typed.is_some(),
                form: QuestionForm::new(
                    Some(question.id),
                    seen(agreement, Part::Question(gate, question.id)),
                    typed.unwrap_or_else(|| question_fields(question)).within(format!("q{}", n + 1)),
                ),
            }
        });
        let rows: Vec<QuestionRow> = rows.collect();
        let new = typed.filter(|(id, _)| questions.iter().all(|question| question.id != *id));
        let fields = new.map_or_else(|| Fields::of([(CONDITION.required.name, "on")]), |(_, fields)| fields);
        Self {
            rows,
            order: seen(agreement, Part::QuestionOrder(gate)),
            is_full: questions.len() >= limits::GATE_FIELDS_MAX,
            new: QuestionForm::new(None, String::new(), fields),
        }
    }
}

pub(crate) const SAVE_OPERATIONS: Operation = Operation::ByField {
    field: "act",
    names: &[
        ("remove", "remove_condition"),
        ("add_question", "add_question"),
        ("save_question", "change_question"),
        ("move_question", "move_question"),
        ("remove_question", "remove_question"),
    ],
    otherwise: "change_condition",
};

pub(crate) async fn save(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let (id, gate): (AgreementId, GateId) = (request.path_id("id")?, request.path_id("condition")?);
    let form = submitted.form();
    let url = condition_url(id, gate);
    let question: FieldId = match form.get("act") {
        "save_question" | "move_question" | "remove_question" => form.id("id")?,
        _ => submitted.new_id(),
    };
    let again = async |problem: Problem| {
        let fields = problem.fields(form);
        let typed = match form.get("act") {
            "add_question" | "save_question" => Typed::Question(question, fields),
            "" => Typed::Settings(fields),
            _ => Typed::Nothing,
        };
        Ok(problem.answer(page(request, typed, Some(problem.notice.clone())).await?))
    };
    let edit = match form.get("act") {
        "remove" => {
            let says = move |before: &Agreement, _: &Agreement| {
                Notice::good(format!("The condition “{}” was removed", condition_name(before, gate)), "")
            };
            Edit::new(agreement_url(id), says, move |draft, now| draft.remove_gate(gate, now))
                .of(Part::Gate(gate))
                .removing()
                .within("steps")
        }
        act @ ("add_question" | "save_question") => {
            let read = match read_question(question, form) {
                Ok(read) => read,
                Err(errors) => return again(Problem::invalid(errors)).await,
            };
            if act == "add_question" {
                let says = question_says(gate, question, "was added");
                Edit::new(url, says, move |draft, now| draft.put_question(gate, read.clone(), now).map_err(at_the_form))
            } else {
                let says = question_says(gate, question, "was saved");
                Edit::new(url, says, move |draft, now| {
                    draft.change_question(gate, read.clone(), now).map_err(at_the_form)
                })
                .of(Part::Question(gate, question))
            }
            .within("questions")
        }
        "move_question" => move_question(url, gate, question, place(form.get("to"))),
        "remove_question" => {
            let says = question_says(gate, question, "was removed");
            Edit::new(url, says, move |draft, now| draft.remove_question(gate, question, now))
                .of(Part::Question(gate, question))
                .removing()
                .within("questions")
        }
        _ => settings_edit(url, gate, form, &request.signed_in()?.organization().time_zone, request.now()),
    };
    submit(request, &submitted, id, edit, again).await
}

fn question_says(
    gate: GateId,
    id: FieldId,
    what: &'static str,
) -> impl Fn(&Agreement, &Agreement) -> Notice + Send + Sync {
    move |before, after| {
        let question = after.question(gate, id).or_else(|| before.question(gate, id));
        let text = question.map_or("", |question| question.label.as_str());
        Notice::good(format!("The question “{text}” {what}"), "")
    }
}

fn move_question<'a>(url: String, gate: GateId, question: FieldId, to: usize) -> Edit<'a> {
    let says = move |before: &Agreement, after: &Agreement| {
        let index = |draft: &Agreement| draft.questions(gate)?.iter().position(|found| found.id == question);
        let text = after.question(gate, question).map_or("", |question| question.label.as_str());
        moved(&format!("The question “{text}”"), index(before), index(after))
    };
    Edit::new(url, says, move |draft, now| draft.move_question(gate, question, to, now))
        .of(Part::QuestionOrder(gate))
        .within("questions")
}

/// An edit of a condition's settings. It keeps the type, and the questions, which have separate forms.
fn settings_edit<'a>(url: String, gate: GateId, form: &'a Form, zone: &'a TimeZone, now: Timestamp) -> Edit<'a> {
    let says = move |_: &Agreement, after: &Agreement| said(after, gate, "was saved", now);
    Edit::new(url, says, move |draft, now| {
        let Some(gate_type) = draft.gate(gate).map(|found| found.rule.gate_type()) else {
            return Err(FieldErrors::one("gate_id", FieldCode::NotFound, "was removed"));
        };
        let mut rule = read_rule(gate_type, form, zone)?;
        if let (GateRule::InformationRequest { fields, .. }, Some(kept)) = (&mut rule, draft.questions(gate)) {
            *fields = kept.to_vec();
        }
        draft.change_gate(gate, rule, now)
    })
    .of(Part::Gate(gate))
}
