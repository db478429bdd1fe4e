//! Instructions: where the payer sends the money. Members' pages show only the last characters of the account number.

use askama::Template;
use pages::agreement_payments::{name_of, purpose_of};
use pages::done::redirect_with;
use pages::fields::Fields;
use pages::form;
use pages::labels::{DisplayTime, actor_label};
use pages::layout::{Layout, Link, Notice};
use pages::response::PageResponse;
use pages::urls::movement_url;
use shared::domain::ids::{FieldId, GateId, MovementId, ParticipantId};
use shared::domain::movement::instructions::{
    BankInstructions, InstructionsChange, InstructionsKind, InstructionsStatus, InstructionsVerification,
};
use shared::domain::movement::state::MovementState;
use shared::domain::movement::{Movement, Release};
use shared::error::Error;
use shared::service::movement_review::{self, AcceptedAccount, InstructionsForm};
use shared::service::movements;
use shared::text::movements as words;
use shared::text::reader::Shown as _;
use shared::web::{Form, Request};
use shared::wire::fields::{FieldCode, FieldError, FieldErrors};

use crate::movement::form::{ActForm, without_numbers};
use crate::movement::next::{self, Next, instructions_url};
use crate::movement::refusal::refusal;
use crate::movement::{Shown, agreement_link, ends_agreement};

form! {
    /// Where the money goes.
    pub(crate) INSTRUCTIONS: InstructionsEntryForm {
        from: Field::choice("from", "Account"),
        kind: Field::choice("kind", "Kind"),
        holder: Field::line("holder", "Account holder", 200),
        bank: Field::line("bank", "Bank", 200),
        iban: Field::key("iban", "IBAN", 60).secret().hint("Spaces don’t matter."),
        bic: Field::key("bic", "BIC", 60).secret().hint("Not needed."),
        code: Field::key("code", "Routing number", 60).secret().hint("9 digits."),
        number: Field::key("number", "Account number", 60).secret().hint("Spaces don’t matter."),
        text: Field::lines("text", "Instructions", 2000, 5).secret().hint(
            "For banks that need something else. A second member types each number in it again, so leave out amounts and dates.",
        ),
    }
}

const TYPED: &str = "typed";

/// The field of a part of the instructions. An IBAN and its BIC have their own.
fn field_of(kind: InstructionsKind, part: &str) -> &str {
    match (kind, part) {
        (InstructionsKind::Iban, "number") => INSTRUCTIONS.iban.name,
        (InstructionsKind::Iban, "code") => INSTRUCTIONS.bic.name,
        (_, part) => part,
    }
}

pub(super) struct InstructionsCard {
    pub current: Option<Current>,
    pub changes: Vec<Change>,
    pub enter: Option<String>,
    pub caution: String,
    pub forms: Vec<ActForm>,
}

pub(super) struct Current {
    pub ending: String,
    pub kind: &'static str,
    pub entered: (String, DisplayTime),
    pub verified: Option<(String, DisplayTime)>,
    pub read_out: Option<String>,
    pub has_ended: bool,
    pub released: Option<(String, DisplayTime)>,
}

pub(super) struct Change {
    pub before: String,
    pub after: String,
    pub by: String,
    pub at: DisplayTime,
    pub course: Vec<String>,
}

impl Change {
    fn of(change: &InstructionsChange) -> Self {
        let verified =
            change.verification.as_ref().map(|done| format!("Before: {}, {}", verified(done), done.at.shown()));
        let released = change.release.as_ref().map(|done| format!("{}, {}", released(done), done.at.shown()));
        let read_out = change.verification.as_ref().map(words::read_out);
        Self {
            course: [verified, read_out, released].into_iter().flatten().collect(),
            before: next::ending(&change.ending_before),
            after: next::ending(&change.ending_after),
            by: actor_label(&change.by),
            at: change.at.into(),
        }
    }
}

impl InstructionsCard {
    /// The card, and the next step, which takes over its form from the card.
    pub fn new(shown: &Shown<'_>, next: Next) -> (Next, Self) {
        let movement = &shown.review.movement;
        let is_next = |name: &str| next.form.as_ref().is_some_and(|form| form.name == name);
        let forms = [next::verify(shown), next::release(shown)].into_iter().flatten();
        let forms = forms.filter(|form| !is_next(&form.name)).collect();
        let url = instructions_url(movement.id());
        let is_offered = next.link.as_ref().is_some_and(|link| link.url == url);
        let can_enter = shown.is_published() && !movement.state().is_done() && !is_offered;
        let current = movement.instructions();
        let card = Self {
            current: current.map(|current| Current {
                ending: next::ending(&current.ending),
                kind: words::instructions_kind(current.kind),
                entered: (actor_label(&current.entered_by), current.entered_at.into()),
                verified: current.verification.as_ref().map(|done| (verified(done), done.at.into())),
                read_out: current.verification.as_ref().map(words::read_out),
                has_ended: current.has_verification_ended(),
                released: movement.released().map(|done| (released(done), done.at.into())),
            }),
            changes: current.iter().flat_map(|current| current.changes.iter().rev()).map(Change::of).collect(),
            enter: can_enter.then_some(url),
            caution: caution(movement, shown.ends_agreement()),
            forms,
        };
        (next, card)
    }
}

fn verified(done: &InstructionsVerification) -> String {
    format!("{}, by {}", words::verification_method(done.method), actor_label(&done.by))
}

fn released(done: &Release) -> String {
    format!("{}. By {}", words::release_basis(done.basis), actor_label(&done.by))
}

/// What changing instructions does to the payment and agreement. Empty without instructions.
fn caution(movement: &Movement, ends_agreement: &str) -> String {
    let text = match (movement.instructions().is_some(), movement.state()) {
        (false, _) => return String::new(),
        (true, state) if state.is_in_flight() => {
            "Money may be on its way. Changing the instructions now ends their verification and makes the payment an exception."
        }
        (true, MovementState::InstructionsReady) => {
            "Changing the instructions ends their verification and takes them back from the payer until they are verified and released again."
        }
        (true, _) => "Changing the instructions ends their verification.",
    };
    format!("{text}{ends_agreement}")
}

pub(super) struct ChangeWarning {
    pub change: Change,
    pub changes: usize,
}

impl ChangeWarning {
    pub fn of(movement: &Movement) -> Option<Self> {
        let is_open = |current: &&InstructionsStatus| current.verification.is_none() && !movement.state().is_done();
        let current = movement.instructions().filter(is_open)?;
        Some(Self { change: Change::of(current.changes.last()?), changes: current.changes.len() })
    }
}

#[derive(Template)]
#[template(path = "movement_instructions.html")]
struct FormPage {
    layout: Layout,
    notice: Option<Notice>,
    agreement: Link,
    movement: Link,
    path: String,
    payer: String,
    payee: String,
    current: Option<String>,
    caution: String,
    revision: u32,
    accounts: Vec<Account>,
    kinds: Vec<(&'static str, &'static str)>,
    fields: Fields,
}

struct Account {
    value: String,
    text: String,
    about: String,
    accepted_at: DisplayTime,
}

impl Account {
    fn new(found: &InstructionsForm, account: &AcceptedAccount) -> Self {
        let name = name_of(&found.agreement, &found.contacts, Some(account.participant_id));
        let is_payee = found.movement.terms().receiver == Some(account.participant_id);
        let who = if is_payee { "the payee" } else { "not the payee" };
        Self {
            value: format!("{} {} {}", account.gate_id, account.participant_id, account.field_id),
            text: format!("Account of {name} ending in {}", next::ending(&account.ending)),
            about: format!("Answer to “{}”, {who}", account.question.as_str()),
            accepted_at: account.accepted_at.into(),
        }
    }
}

pub(crate) async fn show_form(request: &mut Request) -> Result<PageResponse, Error> {
    form_page(request, None, None).await
}

async fn form_page(request: &Request, fields: Option<Fields>, notice: Option<Notice>) -> Result<PageResponse, Error> {
    let id: MovementId = request.path_id("id")?;
    let found = movement_review::instructions_form(request.signed_in()?.scope(), id).await?;
    let InstructionsForm { movement, agreement, contacts, accounts } = &found;
    let is_possible = agreement.was_published() && !movement.state().is_done();
    if !is_possible && notice.is_none() {
        return Ok(PageResponse::see_other(movement_url(id)));
    }
    let current = movement.instructions();
    let terms = movement.terms();
    // The most common kind in the currency comes first.
    let is_dollars = terms.money.is_some_and(|money| money.currency().code() == "USD");
    let kinds = if is_dollars {
        [InstructionsKind::Aba, InstructionsKind::Iban, InstructionsKind::Other]
    } else {
        InstructionsKind::ALL
    };
    let [first, ..] = kinds;
    let page = FormPage {
        layout: Layout::new(request),
        notice,
        agreement: agreement_link(agreement),
        movement: Link { url: movement_url(id), text: purpose_of(movement) },
        path: instructions_url(id),
        payer: name_of(agreement, contacts, terms.sender),
        payee: name_of(agreement, contacts, terms.receiver),
        current: current.map(|current| next::ending(&current.ending)),
        caution: caution(movement, ends_agreement(agreement, id, request.now())),
        revision: current.map_or(0, |current| current.revision),
        accounts: accounts.iter().map(|account| Account::new(&found, account)).collect(),
        kinds: kinds.map(|kind| (kind.as_str(), words::instructions_kind(kind))).to_vec(),
        fields: fields.unwrap_or_else(|| Fields::of([(INSTRUCTIONS.from, TYPED), (INSTRUCTIONS.kind, first.as_str())])),
    };
    Ok(PageResponse::render(&page)?.showing([id.uuid(), agreement.id().uuid()]))
}

pub(crate) async fn enter(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let (id, form): (MovementId, _) = (request.path_id("id")?, submitted.form());
    let again = async |errors: FieldErrors, notice: Notice| {
        form_page(request, Some(without_numbers(form, errors)), Some(notice)).await
    };
    let before = movements::get(submitted.scope(), id).await?.movement;
    let instructions = match read(request, &before, form).await? {
        Ok(instructions) => instructions,
        Err(errors) => {
            let line = "Check what is marked below. Account numbers are never shown again, so enter them once more.";
            return Ok(again(errors, Notice::bad("Nothing was entered", line)).await?.unprocessable());
        }
    };
    let keys = request.app().webhooks()?.keys.keyring().await?;
    let redirect = redirect_with(&submitted, format!("{}#notice", movement_url(id)), &entered(&before)).await;
    let (scope, by) = (submitted.scope(), submitted.submitter());
    // A form without a revision matches none.
    let shown: u32 = form.get("revision").parse().unwrap_or(u32::MAX);
    let run = || movements::enter_instructions(scope, by, &keys, id, shown, &instructions);
    match submitted.run(run).await? {
        Ok(()) => Ok(redirect.into()),
        Err(refused) => Ok(again(FieldErrors::default(), refusal(refused)).await?.conflicting()),
    }
}

fn entered(before: &Movement) -> Notice {
    match (before.instructions().is_some(), before.state().is_in_flight()) {
        (false, _) => Notice::good(
            "Instructions entered",
            "Next: another member calls the payee at a number that you knew before, and types what they read out.",
        ),
        (true, false) => Notice::warn(
            "Instructions changed",
            "They are no longer released. Verify the new ones, then release them again.",
        ),
        (true, true) => Notice::warn(
            "Instructions changed",
            "Money may be on its way to the earlier account, so the payment needs attention now.",
        ),
    }
}

async fn read(
    request: &Request,
    movement: &Movement,
    form: &Form,
) -> Result<Result<BankInstructions, FieldErrors>, Error> {
    let from = form.get(INSTRUCTIONS.from);
    if !from.is_empty() && from != TYPED {
        let taken = match answer_of(from) {
            Some(answer) => of_answer(request, movement, answer).await?,
            None => None,
        };
        let gone = || {
            FieldErrors::one(
                INSTRUCTIONS.from,
                FieldCode::NotFound,
                "must be chosen again: this answer is no longer there",
            )
        };
        return Ok(taken.ok_or_else(gone));
    }
    let Some(kind) = InstructionsKind::parse(form.get(INSTRUCTIONS.kind)) else {
        return Ok(Err(FieldErrors::one(INSTRUCTIONS.kind, FieldCode::Required, "must be chosen")));
    };
    let read = BankInstructions::read(kind, |part| form.get(field_of(kind, part)).to_owned());
    Ok(read.map_err(|errors| {
        let mut named = FieldErrors::default();
        for FieldError { field, code, message } in errors.into_list() {
            named.extend(FieldErrors::one(field_of(kind, &field), code, message));
        }
        named
    }))
}

type AnswerId = (GateId, ParticipantId, FieldId);

fn answer_of(value: &str) -> Option<AnswerId> {
    let mut ids = value.split(' ');
    let answer = (ids.next()?.parse().ok()?, ids.next()?.parse().ok()?, ids.next()?.parse().ok()?);
    ids.next().is_none().then_some(answer)
}

async fn of_answer(
    request: &Request,
    movement: &Movement,
    answer: AnswerId,
) -> Result<Option<BankInstructions>, Error> {
    let (scope, keys) = (request.signed_in()?.scope(), &request.app().webhooks()?.keys);
    let keyring = keys.keyring().await?;
    let (gate, participant, field) = answer;
    match movements::instructions_of_answer(scope, &keyring, movement.agreement_id(), gate, participant, field).await {
        // Another instance may have sealed it with a key newer than this one's cache.
        Err(_) => {
            let newest = keys.newest().await?;
            movements::instructions_of_answer(scope, &newest, movement.agreement_id(), gate, participant, field).await
        }
        found => found,
    }
}
