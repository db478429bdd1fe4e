//! The payments of a draft: the list with the form of a new one, and each payment's page.

use std::collections::BTreeSet;

use askama::Template;
use pages::agreement_summary::participant_name;
use pages::done::{notice_of_act, redirect_with};
use pages::fields::{Choice, Fields, day_of};
use pages::form;
use pages::layout::{Layout, Link, Notice};
use pages::pager::{Paged, Pager, clamped_page, page_at};
use pages::payment_list::{PaymentRow, lacking, name};
use pages::response::PageResponse;
use pages::routes::Operation;
use pages::urls::{agreement_url, condition_url, payment_url, payments_url};
use shared::domain::agreement::edit::Seen;
use shared::domain::agreement::gate::{Gate, GateRule};
use shared::domain::agreement::{Agreement, Participant, Stage};
use shared::domain::contact::Contact;
use shared::domain::ids::{AgreementId, ContactId, MovementId, ParticipantId};
use shared::domain::money::{Currency, Money, in_form};
use shared::domain::movement::Movement;
use shared::domain::movement::safe_text::SafeLine;
use shared::domain::movement::terms::{Direction, Method, PaymentTerms};
use shared::domain::time_zone::TimeZone;
use shared::error::Error;
use shared::limits;
use shared::service::drafts::{self, EditRefused};
use shared::service::payments;
use shared::text;
use shared::text::reader::Shown;
use shared::web::{Form, Request};
use shared::wire::fields::{FieldCode, FieldErrors};
use shared::wire::page::Page;

use crate::draft::{Problem, Subject, editable, refused};

form! {
    /// A payment’s terms.
    pub(crate) PAYMENT: PaymentForm {
        purpose: Field::line("purpose", "Purpose", 200).hint("What it is for, such as Closing payment. No account numbers."),
        amount: Field::line("amount", "Amount", 40).hint("Such as 250,000 or 250k."),
        currency: Field::line("currency", "Currency", 3).hint("Three letters, such as USD."),
        payer: Field::choice("payer", "Payer"),
        payee: Field::choice("payee", "Payee"),
        method: Field::choice("method", "Method"),
        direction: Field::choice("direction", "Direction")
            .hint("Seen from your organization. Automatic compares the parties with your own contacts."),
        due: Field::day("due", "Due"),
        reference: Field::line("reference", "Reference", 200).hint(
            "Optional. What the payer writes on the transfer, such as an invoice number. No account numbers.",
        ),
    }
}

const USUAL_CURRENCY: &str = "USD";

pub(super) fn name_with_amount(payment: &Movement) -> String {
    match payment.terms().money {
        Some(money) => format!("{}, {}", name(payment), money.for_people()),
        None => name(payment).to_owned(),
    }
}

pub(super) fn movement_of(rule: &GateRule) -> Option<MovementId> {
    match rule {
        GateRule::MovementAuthorized { movement_id } | GateRule::MovementReconciled { movement_id } => *movement_id,
        _ => None,
    }
}

/// What the terms of a SAFE say is invested, for the payment of a draft in which none has an amount yet.
fn invested(draft: &Agreement, payments: &[Movement]) -> Option<Money> {
    let terms = draft.terms.as_ref().filter(|_| payments.iter().all(|payment| payment.terms().money.is_none()))?;
    let currency = Currency::read(terms.currency.as_deref()?).ok()?;
    Money::new(terms.investment_amount_minor?, currency).ok()
}

/// Terms with the amount that is likely, which counts only once the member saves it.
fn suggested(terms: &PaymentTerms, draft: &Agreement, payments: &[Movement]) -> PaymentTerms {
    let money = terms.money.or_else(|| invested(draft, payments));
    PaymentTerms { money, ..terms.clone() }
}

struct Choices {
    payers: Vec<Choice>,
    payees: Vec<Choice>,
    directions: Vec<Choice>,
    methods: Vec<Choice>,
    due_hint: String,
}

impl Choices {
    fn new(agreement: &Agreement, contacts: &[Contact], zone: &TimeZone) -> Self {
        let parties = |none: &str| {
            let party = |participant: &Participant| {
                Choice::new(participant.id.to_string(), participant_name(agreement, contacts, participant.id))
            };
            let none = Choice::new("", none);
            std::iter::once(none).chain(agreement.participants.iter().map(party)).collect()
        };
        let automatic = Choice::new("", "Automatic");
        let directions = Direction::ALL.map(|found| Choice::new(found.as_str(), text::movements::direction(found)));
        let methods = Method::ALL.map(|found| Choice::new(found.as_str(), text::movements::method(found)));
        Self {
            payers: parties("Choose the payer"),
            payees: parties("Choose the payee"),
            directions: std::iter::once(automatic).chain(directions).collect(),
            methods: methods.into(),
            due_hint: format!("Optional. A day in the time zone {}.", zone.called()),
        }
    }
}

/// A direction that follows from the parties stays automatic. `own` are the organization's own contacts.
pub(super) fn fields_of(terms: &PaymentTerms, draft: &Agreement, own: &BTreeSet<ContactId>) -> Fields {
    // Without both parties, the direction is not yet known.
    let has_parties = terms.sender.is_some() && terms.receiver.is_some();
    let is_automatic = !has_parties || terms.direction == direction_between(draft, own, terms.sender, terms.receiver);
    let direction = if is_automatic { "" } else { terms.direction.as_str() };
    fields_with(terms, direction)
}

fn fields_with(terms: &PaymentTerms, direction: &str) -> Fields {
    let line = |text: Option<&SafeLine>| text.map(|text| text.as_str().to_owned()).unwrap_or_default();
    let currency = terms.money.map_or(USUAL_CURRENCY, |money| money.currency().code());
    let id = |id: Option<ParticipantId>| id.map(|id| id.to_string()).unwrap_or_default();
    Fields::of([
        (PAYMENT.purpose.name, line(terms.purpose.as_ref())),
        (PAYMENT.reference.name, line(terms.reference.as_ref())),
        (PAYMENT.amount.name, terms.money.map(|money| in_form(money.amount_minor(), currency)).unwrap_or_default()),
        (PAYMENT.currency.name, currency.to_owned()),
        (PAYMENT.payer.name, id(terms.sender)),
        (PAYMENT.payee.name, id(terms.receiver)),
        (PAYMENT.direction.name, direction.to_owned()),
        (PAYMENT.method.name, terms.method.as_str().to_owned()),
        (PAYMENT.due.name, terms.due_on.map(Shown::shown).unwrap_or_default()),
    ])
}

fn read_terms(form: &Form, draft: &Agreement, own: &BTreeSet<ContactId>) -> Result<PaymentTerms, FieldErrors> {
    let mut errors = FieldErrors::default();
    let purpose = read(form, PAYMENT.purpose.name, SafeLine::parse, &mut errors);
    let reference = read(form, PAYMENT.reference.name, SafeLine::parse, &mut errors);
    let currency = read(
        form,
        PAYMENT.currency.name,
        |text| Currency::read(text).map_err(|error| (FieldCode::InvalidValue, error.to_string())),
        &mut errors,
    );
    let money = match (form.get(PAYMENT.amount).trim(), currency) {
        ("", _) => None,
        (_, None) if !form.get(PAYMENT.currency).trim().is_empty() => None,
        (_, None) => {
            errors.extend(FieldErrors::one(PAYMENT.currency, FieldCode::Required, "must be given with the amount"));
            None
        }
        (text, Some(currency)) => {
            let read = Money::read(text, currency).map_err(|reason| (reason.code(), reason.message(currency.code())));
            read.map_err(|(code, message)| errors.extend(FieldErrors::one(PAYMENT.amount, code, message))).ok()
        }
    };
    let participant = |text: &str| {
        let message = "must be one of the draft’s participants";
        text.parse::<ParticipantId>().map_err(|_| (FieldCode::InvalidValue, message.to_owned()))
    };
    let sender = read(form, PAYMENT.payer.name, participant, &mut errors);
    let receiver = read(form, PAYMENT.payee.name, participant, &mut errors);
    let not_listed = || (FieldCode::InvalidValue, "must be one of those in the list".to_owned());
    let direction =
        read(form, PAYMENT.direction.name, |text| Direction::parse(text).ok_or_else(not_listed), &mut errors);
    let method = read(form, PAYMENT.method.name, |text| Method::parse(text).ok_or_else(not_listed), &mut errors);
    let due_on = read(form, PAYMENT.due.name, day_of, &mut errors);
    let direction = direction.unwrap_or_else(|| direction_between(draft, own, sender, receiver));
    let method = method.unwrap_or_default();
    let terms = PaymentTerms { purpose, reference, money, direction, method, sender, receiver, due_on };
    if errors.is_empty() { Ok(terms) } else { Err(errors) }
}

fn direction_between(
    draft: &Agreement,
    own: &BTreeSet<ContactId>,
    sender: Option<ParticipantId>,
    receiver: Option<ParticipantId>,
) -> Direction {
    let is_own = |id: Option<ParticipantId>| {
        id.and_then(|id| draft.participant(id)).is_some_and(|found| own.contains(&found.contact_id))
    };
    Direction::between(is_own(sender), is_own(receiver))
}

fn read<T>(
    form: &Form,
    field: &str,
    parse: impl Fn(&str) -> Result<T, (FieldCode, String)>,
    errors: &mut FieldErrors,
) -> Option<T> {
    match form.get(field).trim() {
        "" => None,
        text => parse(text).map_err(|(code, message)| errors.extend(FieldErrors::one(field, code, message))).ok(),
    }
}

fn at_the_form(reason: EditRefused) -> EditRefused {
    let EditRefused::Invalid(errors) = reason else { return reason };
    let mut at_the_form = FieldErrors::default();
    for error in errors.into_list() {
        let field = match error.field.as_str() {
            "sender_participant_id" => PAYMENT.payer.name,
            "receiver_participant_id" => PAYMENT.payee.name,
            other => other,
        };
        at_the_form.extend(FieldErrors::one(field, error.code, error.message));
    }
    EditRefused::Invalid(at_the_form)
}

/// The typed values of a refused form, without account numbers, which no page shows again.
fn typed(problem: &Problem, form: &Form) -> Fields {
    let errors = problem.errors.clone().into_list();
    let is_sensitive =
        |name: &str| errors.iter().any(|error| error.field == name && error.code == FieldCode::SensitiveValue);
    problem.fields(form).without(is_sensitive)
}

fn said(what: &str, terms: &PaymentTerms, draft: &Agreement) -> Notice {
    let title = match &terms.purpose {
        Some(purpose) => format!("The payment “{}” was {what}", purpose.as_str()),
        None => format!("The payment was {what}"),
    };
    let notice = match lacking(terms, draft).join(", ") {
        nothing if nothing.is_empty() && what == "added" => {
            Notice::good(title, "Add the condition “Confirmed payment” to a step that has to wait for it.")
        }
        nothing if nothing.is_empty() => Notice::good(title, ""),
        missing => Notice::warn(title, format!("Still to do: {missing}.")),
    };
    Notice { section: "payments".to_owned(), ..notice }
}

fn section(agreement: AgreementId) -> String {
    format!("{}#notice", agreement_url(agreement))
}

#[derive(Template)]
#[template(path = "draft_payments.html")]
struct PaymentsPage {
    layout: Layout,
    notice: Option<Notice>,
    agreement: Link,
    path: String,
    fields: Fields,
    choices: Choices,
    has_participants: bool,
    rows: Vec<PaymentRow>,
    is_full: bool,
    pager: Option<Pager>,
}

pub(crate) async fn list(request: &mut Request) -> Result<PageResponse, Error> {
    let (notice, cookie) = notice_of_act(request).await;
    Ok(list_page(request, None, notice).await?.with_cookie(cookie))
}

async fn list_page(request: &Request, fields: Option<Fields>, notice: Option<Notice>) -> Result<PageResponse, Error> {
    let id: AgreementId = request.path_id("id")?;
    let signed_in = request.signed_in()?;
    let (agreement, contacts, payments) = payments::load(signed_in.scope(), id, |_| true).await?;
    if !editable(&agreement) {
        return Ok(PageResponse::see_other(agreement_url(id)));
    }
    let query: Paged = request.read_query()?;
    let total = u64::try_from(payments.len()).unwrap_or(u64::MAX);
    let shown = Page::slice(&payments, clamped_page(page_at(query.offset), total));
    let page = PaymentsPage {
        layout: Layout::new(request),
        notice,
        agreement: crate::draft::agreement_link(&agreement),
        path: payments_url(id),
        fields: fields.unwrap_or_else(|| fields_with(&suggested(&PaymentTerms::default(), &agreement, &payments), "")),
        choices: Choices::new(&agreement, &contacts, &signed_in.organization().time_zone),
        has_participants: agreement.participants.len() > 1,
        rows: shown.data.into_iter().map(|payment| PaymentRow::new(payment, &agreement, &contacts)).collect(),
        is_full: payments.len() >= limits::AGREEMENT_MOVEMENTS_MAX,
        pager: Pager::new("payments", shown.pagination, |offset| format!("{}?offset={offset}", payments_url(id))),
    };
    Ok(PageResponse::render(&page)?.showing([id.uuid()]))
}

pub(crate) async fn add(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let id: AgreementId = request.path_id("id")?;
    let form = submitted.form();
    let movement: MovementId = submitted.new_id();
    let again = async |problem: Problem| {
        let page = list_page(request, Some(typed(&problem, form)), Some(problem.notice.clone())).await?;
        Ok(problem.answer(page))
    };
    let draft = drafts::agreement(submitted.scope(), id).await?;
    let terms = match read_terms(form, &draft, &request.signed_in()?.organization().own_contact_ids) {
        Ok(terms) => terms,
        Err(errors) => return again(Problem::invalid(errors)).await,
    };
    let redirect = redirect_with(&submitted, section(id), &said("added", &terms, &draft)).await;
    match submitted.run(|| payments::add(&submitted, id, movement, terms.clone())).await? {
        Ok(()) => Ok(redirect.into()),
        Err(reason) => refused(request, &submitted, id, None, at_the_form(reason), again).await,
    }
}

#[derive(Template)]
#[template(path = "draft_payment.html")]
struct PaymentPage {
    layout: Layout,
    notice: Option<Notice>,
    agreement: Link,
    path: String,
    name: String,
    fields: Fields,
    seen: String,
    choices: Choices,
    has_participants: bool,
    conditions: Vec<Link>,
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    page(request, None, None).await
}

async fn page(request: &Request, fields: Option<Fields>, notice: Option<Notice>) -> Result<PageResponse, Error> {
    let (id, movement): (AgreementId, MovementId) = (request.path_id("id")?, request.path_id("payment")?);
    let signed_in = request.signed_in()?;
    let (agreement, contacts, payments) = payments::load(signed_in.scope(), id, editable).await?;
    let Some(payment) = payments.iter().find(|payment| payment.id() == movement) else {
        return Ok(PageResponse::see_other(agreement_url(id)));
    };
    let page = PaymentPage {
        layout: Layout::new(request),
        notice,
        agreement: crate::draft::agreement_link(&agreement),
        path: payment_url(id, movement),
        name: name(payment).to_owned(),
        fields: fields.unwrap_or_else(|| {
            let terms = suggested(payment.terms(), &agreement, &payments);
            fields_of(&terms, &agreement, &signed_in.organization().own_contact_ids)
        }),
        seen: Seen::of_payment(payment.terms()).as_str().to_owned(),
        choices: Choices::new(&agreement, &contacts, &signed_in.organization().time_zone),
        has_participants: agreement.participants.len() > 1,
        conditions: conditions_naming(&agreement, movement),
    };
    Ok(PageResponse::render(&page)?.showing([id.uuid(), movement.uuid()]))
}

fn conditions_naming(draft: &Agreement, movement: MovementId) -> Vec<Link> {
    let gates = draft.stages.iter().flat_map(|stage| stage.gates.iter().map(move |gate| (stage, gate)));
    let naming = gates.filter(|(_, gate)| movement_of(&gate.rule) == Some(movement));
    let link = |(stage, gate): (&Stage, &Gate)| Link {
        url: condition_url(draft.id(), gate.id),
        text: format!("“{}” in “{}”", text::condition(gate.rule.gate_type()), stage.name.as_str()),
    };
    naming.map(link).collect()
}

pub(crate) const SAVE_OPERATIONS: Operation =
    Operation::ByField { field: "act", names: &[("remove", "remove_payment")], otherwise: "change_payment" };

pub(crate) async fn save(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let (id, movement): (AgreementId, MovementId) = (request.path_id("id")?, request.path_id("payment")?);
    let form = submitted.form();
    let removes = form.get("act") == "remove";
    let (draft, _, known) = payments::load(submitted.scope(), id, |_| removes).await?;
    let again = async |problem: Problem| {
        let fields = (!removes).then(|| typed(&problem, form));
        let mut notice = problem.notice.clone();
        if removes {
            let links = conditions_naming(&draft, movement).into_iter();
            notice.links = links.map(|link| Link { text: format!("Open {}", link.text), ..link }).collect();
        }
        Ok(problem.answer(page(request, fields, Some(notice)).await?))
    };
    let subject = Some(Subject::Payment(movement));
    if removes {
        let what = known.iter().find(|payment| payment.id() == movement).map_or("", name);
        let title = if what.is_empty() {
            "The payment was removed".to_owned()
        } else {
            format!("The payment “{what}” was removed")
        };
        let notice = Notice { section: "payments".to_owned(), ..Notice::good(title, "") };
        let redirect = redirect_with(&submitted, section(id), &notice).await;
        return match submitted.run(|| payments::remove(&submitted, id, movement)).await? {
            Ok(()) => Ok(redirect.into()),
            Err(reason) if reason.is_already_removed() => Ok(redirect.into()),
            Err(reason) => refused(request, &submitted, id, subject, reason, again).await,
        };
    }
    let terms = match read_terms(form, &draft, &request.signed_in()?.organization().own_contact_ids) {
        Ok(terms) => terms,
        Err(errors) => return again(Problem::invalid(errors)).await,
    };
    let redirect = redirect_with(&submitted, section(id), &said("saved", &terms, &draft)).await;
    let shown = Seen::from_form(form.get("seen"));
    match submitted.run(|| payments::change(&submitted, id, movement, &shown, terms.clone())).await? {
        Ok(()) => Ok(redirect.into()),
        Err(reason) => refused(request, &submitted, id, subject, at_the_form(reason), again).await,
    }
}
