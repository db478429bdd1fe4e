//! The audit log page: every call and act of the organization, with filters in the URL.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use askama::Template;
use pages::audit_rows::{Object, caller_name, caller_of};
use pages::fields::{Fields, day_of};
use pages::form;
use pages::labels::{Badge, DisplayTime};
use pages::layout::{Layout, Link};
use pages::response::PageResponse;
use pages::urls::AUDIT;
use shared::domain::audit::{AuditRow, CallOutcome, ObjectKind};
use shared::domain::day::Day;
use shared::domain::organization::MemberRecord;
use shared::error::Error;
use shared::service::audit::{self, AuditPage, Names};
use shared::service::members;
use shared::service::search::{self, NamedObject};
use shared::text;
use shared::text::reader::{self, Shown as _};
use shared::web::Request;
use shared::wire::fields::{FieldCode, FieldErrors};
use uuid::Uuid;

use crate::audit_query::{AuditQuery, Errors, Typed};

/// How many operations are named to choose from.
const OPERATIONS_SHOWN: usize = 24;

form! {
    /// The days of the log.
    pub(crate) AUDIT_DAYS: AuditDaysForm {
        from: Field::day("from", "From").called("The first day"),
        to: Field::day("to", "To").called("The last day"),
    }
}

#[derive(Template)]
#[template(path = "audit.html")]
struct AuditLogPage {
    layout: Layout,
    typed: Typed,
    days: Fields,
    errors: Errors,
    actors: Vec<SelectOption>,
    operation: String,
    /// The operations of the page's rows, which the filter suggests.
    operations: BTreeSet<String>,
    outcomes: Vec<SelectOption>,
    object_name: Option<String>,
    is_filtered: bool,
    is_first: bool,
    zone: String,
    rows: Vec<RowView>,
    /// The operations that the typed words mean, if they are called differently.
    narrower: Option<Choices>,
    /// The objects that the typed text may mean, if several.
    choices: Option<Choices>,
    looked_back_to: Option<DisplayTime>,
    next: Option<String>,
    earlier: Option<String>,
    newest: String,
    all: &'static str,
    export: String,
}

struct SelectOption {
    value: String,
    text: String,
    is_selected: bool,
}

/// Several things that a filter may mean by a text.
struct Choices {
    typed: String,
    first: Vec<Choice>,
    /// The number of others.
    more: u64,
}

impl Choices {
    fn count(&self) -> u64 {
        self.first.len() as u64 + self.more
    }
}

struct Choice {
    log: Link,
    /// What kind of object it is. Empty for an operation.
    kind: &'static str,
}

struct RowView {
    at: DisplayTime,
    request_id: String,
    caller: String,
    of_caller: Option<String>,
    did: String,
    operation: String,
    objects: Vec<Object>,
    more_objects: usize,
    outcome: Badge,
    status: u16,
    code: String,
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    let scope = request.signed_in()?.scope();
    let asked = Typed::read(request)?;
    let mut typed = asked.clone();
    let query = match AuditQuery::read(request, &mut typed)? {
        Ok(query) => query,
        Err(errors) => return refused(request, typed, errors, &members::list(scope).await?),
    };
    if let Some(name) = &query.object_name {
        return Box::pin(by_name(request, &asked, typed, name)).await;
    }
    let found = audit::page(scope, query.days, &query.filter, query.before).await?;
    PageResponse::render(&log_page(request, typed, &query, &found))
}

/// The different names of operations, as links that show only the rows of those called so.
fn narrower(typed: &Typed, operations: &[String]) -> Option<Choices> {
    let called: BTreeSet<_> = operations.iter().map(|id| text::operation(id).did).collect();
    let choice = |did: &Cow<'static, str>| Choice {
        log: Link { url: Typed { operation: did.to_string(), ..typed.clone() }.url(None), text: did.to_string() },
        kind: "",
    };
    let first: Vec<_> = called.iter().take(OPERATIONS_SHOWN).map(choice).collect();
    let more = (called.len() - first.len()) as u64;
    (called.len() > 1).then(|| Choices { typed: typed.operation.clone(), first, more })
}

/// The object is found in a separate step, so that neither page waits for both, and the log's URL has the lasting id.
async fn by_name(request: &Request, asked: &Typed, typed: Typed, name: &str) -> Result<PageResponse, Error> {
    let signed_in = request.signed_in()?;
    let scope = signed_in.scope();
    let named = search::objects_named(scope, signed_in.member(), name);
    let ((found, total), members) = tokio::try_join!(named, members::list(scope))?;
    let log_of = |found: &NamedObject| Typed { object: found.id.to_string(), ..asked.clone() }.url(None);
    match found.as_slice() {
        [] => refused(request, typed, Errors { object: Some(NOT_FOUND), ..Errors::default() }, &members),
        [only] if total == 1 => Ok(PageResponse::see_other(log_of(only))),
        several => {
            let choice = |found: &NamedObject| Choice {
                log: Link { url: log_of(found), text: found.name.clone() },
                kind: kind_label(found.kind),
            };
            let choices = Choices {
                typed: typed.object.clone(),
                first: several.iter().map(choice).collect(),
                more: total.saturating_sub(several.len() as u64),
            };
            PageResponse::render(&AuditLogPage { choices: Some(choices), ..empty_page(request, typed, &members) })
        }
    }
}

const NOT_FOUND: &str = "Nothing has this in its name. Enter a part of a name, an id, or a link to a record’s page.";

fn kind_label(kind: ObjectKind) -> &'static str {
    match kind {
        ObjectKind::Agreement => "Agreement",
        ObjectKind::Contact => "Contact",
        ObjectKind::Workspace => "Workspace",
        ObjectKind::Proposal => "Proposal",
        ObjectKind::Obligation => "Obligation",
        ObjectKind::Payment => "Payment",
        ObjectKind::Trust => "Trust",
        ObjectKind::FundingItem => "Funding item",
        ObjectKind::TrustOrItem => "Trust or funding item",
        ObjectKind::Endpoint => "Webhook endpoint",
        ObjectKind::Token => "Access token",
        ObjectKind::Member => "Member",
        ObjectKind::Part => "Part of an agreement",
    }
}

fn log_page(request: &Request, typed: Typed, query: &AuditQuery, found: &AuditPage) -> AuditLogPage {
    let is_admin = request.signed_in().is_ok_and(|signed_in| signed_in.member().is_admin());
    let named_object = found.rows.iter().flat_map(audit::objects_of).find(|(_, id)| query.filter.object == Some(*id));
    let mut page = empty_page(request, typed, &[]);
    page.operations = found.rows.iter().map(|row| text::operation(&row.operation).did.into_owned()).collect();
    page.narrower = narrower(&page.typed, &query.filter.operations);
    page.actors = actor_options(&found.members, &found.rows, &found.names, query.filter.actor);
    page.object_name = named_object.and_then(|(_, id)| found.names.get(id)).map(str::to_owned);
    page.is_filtered = !query.filter.is_empty();
    page.is_first = query.before.is_none();
    page.rows = found.rows.iter().map(|row| RowView::new(row, &page.typed, found, is_admin)).collect();
    page.looked_back_to = found.looked_back_to.map(DisplayTime::from);
    page.next = found.next.map(|next| page.typed.url(Some(next)));
    page.earlier = found.next.is_none().then(|| page.typed.week_before(query.first).url(None));
    page
}

fn refused(request: &Request, typed: Typed, errors: Errors, members: &[MemberRecord]) -> Result<PageResponse, Error> {
    let wrong = [(AUDIT_DAYS.from, &errors.from), (AUDIT_DAYS.to, &errors.to)].into_iter();
    let wrong =
        wrong.filter_map(|(field, error)| Some(FieldErrors::one(field, FieldCode::InvalidValue, error.as_deref()?)));
    let wrong = wrong.reduce(|mut all, error| {
        all.extend(error);
        all
    });
    let days = Fields::wrong(wrong.unwrap_or_default()).over(days_of(&typed));
    let page = AuditLogPage { days, errors, ..empty_page(request, typed, members) };
    Ok(PageResponse::render(&page)?.unprocessable())
}

/// The days as members type them, or what was typed if it is no day.
fn days_of(typed: &Typed) -> Fields {
    let shown = |text: &str| day_of(text).map_or_else(|_| text.to_owned(), Day::shown);
    Fields::of([(AUDIT_DAYS.from, shown(&typed.from)), (AUDIT_DAYS.to, shown(&typed.to))])
}

fn empty_page(request: &Request, typed: Typed, members: &[MemberRecord]) -> AuditLogPage {
    AuditLogPage {
        layout: Layout::new(request),
        actors: actor_options(members, &[], &Names::default(), typed.actor.parse().ok()),
        operation: operation_shown(&typed.operation),
        operations: BTreeSet::new(),
        outcomes: outcome_options(&typed.outcome),
        object_name: None,
        is_filtered: false,
        is_first: true,
        zone: reader::zone().called(),
        rows: Vec::new(),
        narrower: None,
        choices: None,
        looked_back_to: None,
        next: None,
        earlier: None,
        newest: typed.url(None),
        all: AUDIT,
        export: format!("{AUDIT}/export?{}", typed.to_query(None)),
        errors: Errors::default(),
        days: days_of(&typed),
        typed,
    }
}

/// The members, and the other callers of the rows. Those who share a name have something beside it: a member their email
/// address, a participant their agreement's name.
fn actor_options(
    members: &[MemberRecord],
    rows: &[AuditRow],
    names: &Names,
    selected: Option<Uuid>,
) -> Vec<SelectOption> {
    let on_page = rows.iter().filter_map(|row| Some((row.caller.id?, caller_name(row.caller, names))));
    let emails: BTreeMap<Uuid, &str> = members.iter().map(|member| (member.id.uuid(), member.email.as_str())).collect();
    let members = members.iter().map(|member| (member.id.uuid(), member.name.as_str().to_owned()));
    let mut called: BTreeMap<Uuid, String> = on_page.chain(members).collect();
    if let Some(id) = selected {
        called.entry(id).or_insert_with(|| names.get(id).map_or_else(|| id.to_string(), str::to_owned));
    }
    let is_shared = |name: &String| called.values().filter(|other| *other == name).count() > 1;
    let in_full = |(id, name): (&Uuid, &String)| match names.agreement_of(*id).or_else(|| emails.get(id).copied()) {
        Some(more) if is_shared(name) => (format!("{name} ({more})"), *id),
        _ => (name.clone(), *id),
    };
    let mut actors: Vec<(String, Uuid)> = called.iter().map(in_full).collect();
    actors.sort();
    let anyone = SelectOption { value: String::new(), text: "Anyone".to_owned(), is_selected: selected.is_none() };
    let option = |(name, id): (String, Uuid)| SelectOption {
        value: id.to_string(),
        text: name,
        is_selected: selected == Some(id),
    };
    std::iter::once(anyone).chain(actors.into_iter().map(option)).collect()
}

/// The operation of the filter, or what was typed if it is none.
fn operation_shown(typed: &str) -> String {
    let known = text::operations().find(|(id, _)| *id == typed);
    known.map_or(typed, |(_, did)| did).to_owned()
}

fn outcome_options(selected: &str) -> Vec<SelectOption> {
    let any = SelectOption { value: String::new(), text: "Any".to_owned(), is_selected: selected.is_empty() };
    let option = |outcome: CallOutcome| SelectOption {
        value: outcome.as_str().to_owned(),
        text: outcome_badge(outcome).text.to_owned(),
        is_selected: outcome.as_str() == selected,
    };
    std::iter::once(any).chain(CallOutcome::ALL.map(option)).collect()
}

fn outcome_badge(outcome: CallOutcome) -> Badge {
    match outcome {
        CallOutcome::Success => Badge { text: "Success", class: "green" },
        CallOutcome::Refused => Badge { text: "Refused", class: "amber" },
        CallOutcome::Failed => Badge { text: "Failed", class: "red" },
    }
}

impl RowView {
    fn new(row: &AuditRow, typed: &Typed, found: &AuditPage, is_admin: bool) -> Self {
        let names = &found.names;
        // The act says which part.
        let parts = audit::objects_of(row).filter(|(kind, _)| *kind == ObjectKind::Part).count();
        let objects: Vec<Object> =
            audit::objects_of(row).filter_map(|(_, id)| Object::new(row, id, names, is_admin)).collect();
        Self {
            at: DisplayTime::with_seconds(row.at),
            request_id: row.request_id.to_string(),
            caller: caller_of(row, names),
            of_caller: row.caller.id.map(|id| Typed { actor: id.to_string(), ..typed.clone() }.url(None)),
            did: names.did(row).into_owned(),
            operation: row.operation.clone(),
            more_objects: (row.objects.len() - parts).saturating_sub(objects.len()),
            objects,
            outcome: outcome_badge(row.outcome()),
            status: row.status,
            code: row.code.clone(),
        }
    }
}
