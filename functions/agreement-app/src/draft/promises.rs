//! The promises of a draft: adding, moving and editing. A promise keeps its kind.

use std::collections::BTreeSet;

use askama::Template;
use pages::agreement_summary::participant_name;
use pages::fields::{Choice, Fields, day_of};
use pages::form;
use pages::layout::{Layout, Link, Notice};
use pages::response::PageResponse;
use pages::routes::Operation;
use pages::shelves::Tab;
use pages::urls::{agreement_url, promise_url};
use shared::domain::agreement::edit::Part;
use shared::domain::agreement::promise::{Parties, Promise, PromiseKind, PromiseTerms, Trigger, Triggers};
use shared::domain::agreement::{Agreement, Label};
use shared::domain::contact::Contact;
use shared::domain::day::Day;
use shared::domain::ids::{AgreementId, PromiseId, TriggerId};
use shared::domain::recurrence::{Days, Recurrence, RecurrenceEnd, RecurrenceUnit, Schedule};
use shared::domain::time_zone::TimeZone;
use shared::error::Error;
use shared::limits;
use shared::service::drafts;
use shared::text;
use shared::text::reader::{self, Shown as _};
use shared::web::{Form, Request};
use shared::wire::fields::{FieldCode, FieldErrors};
use shared::wire::page::Filter;

use crate::draft::promise_rows::kinds;
use crate::draft::{Edit, Problem, editable, moved, place, safe_label, seen, submit};

form! {
    /// A promise.
    pub(crate) PROMISE: PromiseForm {
        name: Field::line("name", "Name", 200).hint("What is owed, such as Quarterly report."),
        promisors: Field::choice("promisor.", "Who owes it"),
        promisees: Field::choice("promisee.", "To whom"),
        dates: Field::days("dates", "Dates", 4),
        first: Field::day("first", "First due date"),
        every: Field::line("every", "Repeats every", 3),
        unit: Field::choice("unit", "Unit"),
        last: Field::day("last", "Last due date").hint("Optional. Without an end it goes on."),
        times: Field::line("times", "Times", 4).hint("Optional, instead of a last due date."),
        trigger: Field::line("trigger-", "Trigger", 200).called("The trigger"),
        after: Field::number("after-", "Due after days", 4).called("It"),
        days: Field::line("days", "Verify every (days)", 4)
            .hint("The first time within so many days after it comes into force."),
    }
}

const MORE_TRIGGERS: usize = 2;

fn kind_hint(kind: PromiseKind) -> &'static str {
    match kind {
        PromiseKind::Scheduled => "Due on given dates, or again and again, such as a quarterly report.",
        PromiseKind::Triggered => "Due some days after something happens, such as a notice after a financing.",
        PromiseKind::Standing => "Holds at all times and is verified again and again, such as insurance coverage.",
    }
}

pub(super) fn unit_text(unit: &str) -> &'static str {
    match RecurrenceUnit::parse(unit) {
        Some(RecurrenceUnit::Week) => "weeks",
        Some(RecurrenceUnit::Month) => "months",
        Some(RecurrenceUnit::Quarter) => "quarters",
        Some(RecurrenceUnit::Year) => "years",
        None => "",
    }
}

pub(super) fn fields_of(promise: &Promise) -> Fields {
    let mut values = vec![(PROMISE.name.name.to_owned(), promise.name.as_str().to_owned())];
    let mut add = |name: &str, value: String| values.push((name.to_owned(), value));
    for id in promise.parties.promisors() {
        add(&format!("promisor.{id}"), "on".to_owned());
    }
    for id in promise.parties.promisees() {
        add(&format!("promisee.{id}"), "on".to_owned());
    }
    match &promise.terms {
        PromiseTerms::Scheduled { schedule: Schedule::Days(days) } => {
            add(PROMISE.dates.name, days.iter().map(reader::Shown::shown).collect::<Vec<_>>().join("\n"));
        }
        PromiseTerms::Scheduled { schedule: Schedule::Recurrence(recurrence) } => {
            add(PROMISE.first.name, recurrence.first().shown());
            add(PROMISE.every.name, recurrence.every().to_string());
            add(PROMISE.unit.name, recurrence.unit().as_str().to_owned());
            match recurrence.end() {
                RecurrenceEnd::Never => {}
                RecurrenceEnd::Until(last) => add(PROMISE.last.name, last.shown()),
                RecurrenceEnd::After(times) => add(PROMISE.times.name, times.to_string()),
            }
        }
        PromiseTerms::Triggered { triggers } => {
            for (n, trigger) in (1..).zip(triggers.iter()) {
                add(&format!("trigger-id-{n}"), trigger.id.to_string());
                add(&format!("trigger-{n}"), trigger.description.as_str().to_owned());
                add(&format!("after-{n}"), trigger.due_after_days.to_string());
            }
        }
        PromiseTerms::Standing { reverify_every_days } => add(PROMISE.days.name, reverify_every_days.to_string()),
    }
    Fields::of(values)
}

pub(super) fn triggers_text(fields: &Fields) -> String {
    let rows = (1..=limits::PROMISE_TRIGGERS_MAX).filter_map(|n| {
        let text = fields.value(format!("trigger-{n}")).trim();
        let after = fields.value(format!("after-{n}")).trim().to_owned();
        (!text.is_empty()).then(|| format!("{text} ({after} days)"))
    });
    rows.collect::<Vec<_>>().join("; ")
}

fn read_promise(id: PromiseId, kind: PromiseKind, form: &Form) -> Result<Promise, FieldErrors> {
    let mut errors = FieldErrors::default();
    let name = safe_label(form.get(PROMISE.name), PROMISE.name.name).map_err(|error| errors.extend(error)).ok();
    let side = |group: &str| form.checked(group).filter_map(|id| id.parse().ok()).collect();
    let parties = Parties::new(side("promisor."), side("promisee."));
    let parties = parties.map_err(|error| errors.extend(at_the_form(error))).ok();
    let terms = match kind {
        PromiseKind::Scheduled => read_schedule(form).map(|schedule| PromiseTerms::Scheduled { schedule }),
        PromiseKind::Triggered => read_triggers(form).map(|triggers| PromiseTerms::Triggered { triggers }),
        PromiseKind::Standing => {
            let days = number(form, PROMISE.days.name, limits::PROMISE_DAYS_MAX);
            days.and_then(|days| PromiseTerms::standing(days).map_err(at_the_form))
        }
    };
    let terms = terms.map_err(|error| errors.extend(error)).ok();
    match (name, parties, terms) {
        (Some(name), Some(parties), Some(terms)) => Ok(Promise { id, name, terms, parties }),
        _ => Err(errors),
    }
}

fn number<T: std::str::FromStr + std::fmt::Display + Copy>(form: &Form, field: &str, max: T) -> Result<T, FieldErrors> {
    let message = || format!("must be a whole number from 1 to {max}");
    form.get(field).trim().parse().map_err(|_| FieldErrors::one(field, FieldCode::OutOfRange, message()))
}

fn day(text: &str, field: &str) -> Result<Day, FieldErrors> {
    day_of(text).map_err(|(code, message)| FieldErrors::one(field, code, message))
}

fn read_schedule(form: &Form) -> Result<Schedule, FieldErrors> {
    let wrong = |field: &str, code, message: &str| Err(FieldErrors::one(field, code, message));
    let (dates, first) = (form.get(PROMISE.dates).trim(), form.get(PROMISE.first).trim());
    match (dates, first) {
        ("", "") => wrong(
            PROMISE.dates.name,
            FieldCode::Required,
            "must have one date or more, or fill in the first due date below",
        ),
        (dates, "") => {
            let lines = dates.lines().map(str::trim).filter(|line| !line.is_empty());
            let days = lines.map(|line| day(line, PROMISE.dates.name)).collect::<Result<BTreeSet<Day>, _>>()?;
            Ok(Schedule::Days(Days::new(days)?))
        }
        ("", first) => {
            let first = day(first, PROMISE.first.name)?;
            let every = number(form, PROMISE.every.name, limits::RECURRENCE_EVERY_MAX)?;
            let Some(unit) = RecurrenceUnit::parse(form.get(PROMISE.unit)) else {
                return wrong(PROMISE.unit.name, FieldCode::InvalidValue, "must be one of those in the list");
            };
            let end = match (form.get(PROMISE.last).trim(), form.get(PROMISE.times).trim()) {
                ("", "") => RecurrenceEnd::Never,
                (last, "") => RecurrenceEnd::Until(day(last, PROMISE.last.name)?),
                ("", _) => RecurrenceEnd::After(number(form, PROMISE.times.name, limits::RECURRENCE_COUNT_MAX)?),
                _ => {
                    let message = "can’t be combined with a last due date: fill in one of the two";
                    return wrong(PROMISE.times.name, FieldCode::InvalidValue, message);
                }
            };
            let recurrence = Recurrence::new(every, unit, first, end).map_err(at_the_form)?;
            Ok(Schedule::Recurrence(recurrence))
        }
        _ => wrong(PROMISE.first.name, FieldCode::InvalidValue, "can’t be combined with dates: fill in one of the two"),
    }
}

fn read_triggers(form: &Form) -> Result<Triggers, FieldErrors> {
    let (mut triggers, mut errors) = (Vec::new(), FieldErrors::default());
    for n in 1..=limits::PROMISE_TRIGGERS_MAX {
        let (text, after) = (format!("trigger-{n}"), format!("after-{n}"));
        if form.get(&text).trim().is_empty() && form.get(&after).trim().is_empty() {
            continue;
        }
        let description: Option<Label> = safe_label(form.get(&text), &text).map_err(|error| errors.extend(error)).ok();
        let days = form.get(&after).trim().parse().ok().filter(|days| *days <= limits::PROMISE_DAYS_MAX);
        if days.is_none() {
            let message = format!("must be a whole number from 0 to {}", limits::PROMISE_DAYS_MAX);
            errors.extend(FieldErrors::one(&*after, FieldCode::OutOfRange, message));
        }
        let id: TriggerId = form.get(format!("trigger-id-{n}")).parse().unwrap_or_else(|_| TriggerId::new());
        triggers.extend(description.zip(days).map(|(description, due_after_days)| Trigger {
            id,
            description,
            due_after_days,
        }));
    }
    if errors.is_empty() { Triggers::new(triggers).map_err(at_the_form) } else { Err(errors) }
}

fn at_the_form(errors: FieldErrors) -> FieldErrors {
    let mut at_the_form = FieldErrors::default();
    for error in errors.into_list() {
        let field = match error.field.as_str() {
            "promisor_participant_ids" => "promisors",
            "promisee_participant_ids" => "promisees",
            "until" => PROMISE.last.name,
            "count" => PROMISE.times.name,
            "reverify_every_days" => PROMISE.days.name,
            "triggers" => "trigger-1",
            other => other,
        };
        at_the_form.extend(FieldErrors::one(field, error.code, error.message));
    }
    at_the_form
}

#[derive(Template)]
#[template(path = "draft_promise.html")]
struct PromisePage {
    layout: Layout,
    notice: Option<Notice>,
    agreement: Link,
    path: String,
    title: String,
    hint: &'static str,
    kind: PromiseKind,
    seen: Option<String>,
    fields: Fields,
    promisors: Vec<Choice>,
    promisees: Vec<Choice>,
    units: Vec<Choice>,
    zone_hint: String,
    triggers: Vec<TriggerFields>,
    /// Those to choose from, on the page of a new one.
    kinds: Vec<Tab>,
}

struct TriggerFields {
    number: usize,
    id: Option<String>,
    text: String,
    after: String,
}

struct Shown {
    title: String,
    path: String,
    kind: PromiseKind,
    seen: Option<String>,
    fields: Fields,
}

fn promise_page(
    request: &Request,
    agreement: &Agreement,
    contacts: &[Contact],
    zone: &TimeZone,
    shown: Shown,
    notice: Option<Notice>,
) -> Result<PageResponse, Error> {
    let Shown { title, path, kind, seen, fields } = shown;
    let is_new = seen.is_none();
    let boxes = |group: &str| -> Vec<Choice> {
        let name = |id| participant_name(agreement, contacts, id);
        let ids = agreement.participants.iter().map(|participant| participant.id);
        ids.map(|id| Choice::new(format!("{group}.{id}"), name(id))).collect()
    };
    let page = PromisePage {
        layout: Layout::new(request),
        notice,
        agreement: crate::draft::agreement_link(agreement),
        path,
        title,
        hint: kind_hint(kind),
        kind,
        seen,
        promisors: boxes("promisor"),
        promisees: boxes("promisee"),
        units: RecurrenceUnit::ALL.map(|unit| Choice::new(unit.as_str(), unit_text(unit.as_str()))).into(),
        zone_hint: format!("Days are those of the time zone {}.", zone.called()),
        triggers: trigger_rows(&fields),
        kinds: if is_new { kinds(agreement.id(), kind) } else { Vec::new() },
        fields,
    };
    Ok(PageResponse::render(&page)?.showing([agreement.id().uuid()]))
}

fn trigger_rows(fields: &Fields) -> Vec<TriggerFields> {
    let value = |name: &str, n: usize| fields.value(format!("{name}-{n}")).to_owned();
    let is_used = |n: &usize| !value("trigger", *n).is_empty() || !value("after", *n).is_empty();
    let used = (1..=limits::PROMISE_TRIGGERS_MAX).filter(is_used).max().unwrap_or_default();
    let row = |number| TriggerFields {
        number,
        id: Some(value("trigger-id", number)).filter(|id| !id.is_empty()),
        text: value("trigger", number),
        after: value("after", number),
    };
    (1..=(used + MORE_TRIGGERS).min(limits::PROMISE_TRIGGERS_MAX)).map(row).collect()
}

#[derive(Debug, Clone, Default, deserr::Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
struct NewQuery {
    #[deserr(default)]
    kind: Filter<PromiseKind>,
}

pub(crate) async fn new(request: &mut Request) -> Result<PageResponse, Error> {
    let query: NewQuery = request.read_query()?;
    let kind = query.kind.get().unwrap_or(PromiseKind::Scheduled);
    let fields = Fields::of([(PROMISE.every.name, "1"), (PROMISE.unit.name, RecurrenceUnit::Month.as_str())]);
    new_page(request, kind, fields, None).await
}

async fn new_page(
    request: &Request,
    kind: PromiseKind,
    fields: Fields,
    notice: Option<Notice>,
) -> Result<PageResponse, Error> {
    let id: AgreementId = request.path_id("id")?;
    let signed_in = request.signed_in()?;
    let (agreement, contacts) = drafts::load(signed_in.scope(), id).await?;
    if !editable(&agreement) {
        return Ok(PageResponse::see_other(agreement_url(id)));
    }
    let shown = Shown {
        title: "Add obligation".to_owned(),
        path: format!("{}/promises", agreement_url(id)),
        kind,
        seen: None,
        fields,
    };
    promise_page(request, &agreement, &contacts, &signed_in.organization().time_zone, shown, notice)
}

fn promise_name(agreement: &Agreement, id: PromiseId) -> &str {
    agreement.promise(id).map_or("", |promise| promise.name.as_str())
}

pub(crate) const CHANGE_OPERATIONS: Operation =
    Operation::ByField { field: "act", names: &[("move", "move_promise")], otherwise: "add_promise" };

pub(crate) async fn change(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let (id, form): (AgreementId, _) = (request.path_id("id")?, submitted.form());
    let moves = form.get("act") == "move";
    let promise: PromiseId = if moves { form.id("id")? } else { submitted.new_id() };
    let kind = PromiseKind::parse(form.get("kind"));
    let again = async |problem: Problem| {
        let (fields, notice) = (problem.fields(form), Some(problem.notice.clone()));
        let page = match kind {
            Some(kind) if !moves => new_page(request, kind, fields, notice).await?,
            _ => crate::agreement::page(request, id, Fields::default(), notice).await?,
        };
        Ok(problem.answer(page))
    };
    let edit = if moves {
        let to = place(form.get("to"));
        let says = move |before: &Agreement, after: &Agreement| {
            let index = |draft: &Agreement| draft.promises.iter().position(|found| found.id == promise);
            moved(&format!("The obligation “{}”", promise_name(after, promise)), index(before), index(after))
        };
        Edit::new(agreement_url(id), says, move |draft, now| draft.move_promise(promise, to, now))
            .of(Part::PromiseOrder)
    } else {
        let kind = kind.ok_or_else(Error::not_found)?;
        let read = match read_promise(promise, kind, form) {
            Ok(read) => read,
            Err(errors) => return again(Problem::invalid(errors)).await,
        };
        let says = move |_: &Agreement, after: &Agreement| said(after, promise, "added");
        Edit::new(agreement_url(id), says, move |draft, now| draft.put_promise(read.clone(), now).map_err(at_the_form))
    };
    submit(request, &submitted, id, edit.within("promises"), again).await
}

fn said(after: &Agreement, id: PromiseId, what: &str) -> Notice {
    let title = format!("The obligation “{}” was {what}", promise_name(after, id));
    let due = after.promise(id).map(|promise| format!("Due {}.", text::promise_terms(&promise.terms)));
    let due = due.filter(|_| after.promise(id).is_some_and(|promise| promise.terms.kind() != PromiseKind::Standing));
    Notice::good(title, due.unwrap_or_default())
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    page(request, None, None).await
}

async fn page(request: &Request, fields: Option<Fields>, notice: Option<Notice>) -> Result<PageResponse, Error> {
    let (id, promise): (AgreementId, PromiseId) = (request.path_id("id")?, request.path_id("promise")?);
    let signed_in = request.signed_in()?;
    let (agreement, contacts) = drafts::load(signed_in.scope(), id).await?;
    let Some(found) = agreement.promise(promise).filter(|_| editable(&agreement)) else {
        return Ok(PageResponse::see_other(agreement_url(id)));
    };
    let shown = Shown {
        title: found.name.as_str().to_owned(),
        path: promise_url(id, promise),
        kind: found.terms.kind(),
        seen: Some(seen(&agreement, Part::Promise(promise))),
        fields: fields.unwrap_or_else(|| fields_of(found)),
    };
    promise_page(request, &agreement, &contacts, &signed_in.organization().time_zone, shown, notice)
}

pub(crate) const SAVE_OPERATIONS: Operation =
    Operation::ByField { field: "act", names: &[("remove", "remove_promise")], otherwise: "change_promise" };

pub(crate) async fn save(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let (id, promise): (AgreementId, PromiseId) = (request.path_id("id")?, request.path_id("promise")?);
    let form = submitted.form();
    let again = async |problem: Problem| {
        let fields = form.get("act").is_empty().then(|| problem.fields(form));
        Ok(problem.answer(page(request, fields, Some(problem.notice.clone())).await?))
    };
    let back = agreement_url(id);
    let edit = if form.get("act") == "remove" {
        let says = move |before: &Agreement, _: &Agreement| {
            Notice::good(format!("The obligation “{}” was removed", promise_name(before, promise)), "")
        };
        Edit::new(back, says, move |draft, now| draft.remove_promise(promise, now)).removing()
    } else {
        // The kind is fixed, and fields of other kinds don't count.
        let Some(kind) = PromiseKind::parse(form.get("kind")) else { return Err(Error::not_found()) };
        let read = match read_promise(promise, kind, form) {
            Ok(read) => read,
            Err(errors) => return again(Problem::invalid(errors)).await,
        };
        let says = move |_: &Agreement, after: &Agreement| said(after, promise, "saved");
        Edit::new(back, says, move |draft, now| draft.change_promise(read.clone(), now).map_err(at_the_form))
    };
    submit(request, &submitted, id, edit.of(Part::Promise(promise)).within("promises"), again).await
}
