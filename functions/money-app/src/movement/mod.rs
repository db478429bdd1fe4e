//! The page of a payment: parties, claim and proof side by side, the one next step, and every act.
//!
//! `next` has the next step and other acts, `tracks` claim and proof, `form` the forms, `acts` the acts that need only
//! the payment, `evidence` and `instructions` the others, `refusal` why acts are refused. [`payments`] shows an
//! agreement's payments on its page.

pub(crate) mod act_forms;
pub(crate) mod acts;
pub(crate) mod evidence;
mod form;
pub(crate) mod instructions;
mod next;
mod refusal;
pub(crate) mod tracks;

use askama::Template;
use pages::agreement_payments::{is_overdue, name_of, purpose_of};
use pages::deal::{Deal, DealDocument, NO_AMOUNT_YET, Party};
use pages::done::notice_of_act;
use pages::labels::{DisplayTime, actor_label, payment_badge};
use pages::layout::{Layout, Link, Notice};
use pages::response::PageResponse;
use pages::urls::{access_url, agreement_url, document_url, movement_url, workspace_url};
use shared::domain::actor::Actor;
use shared::domain::agreement::{Agreement, Document};
use shared::domain::ids::{MovementId, ParticipantId};
use shared::domain::member::Member;
use shared::domain::money::in_app;
use shared::domain::movement::instructions::{InstructionsStatus, ToTypeAgain};
use shared::domain::movement::past_exception::PastException;
use shared::domain::movement::surplus::{Surplus, SurplusOutcome};
use shared::domain::movement::{Confirmation, Ending, Exception, Movement, Status};
use shared::domain::time::Timestamp;
use shared::domain::time_zone::TimeZone;
use shared::error::Error;
use shared::service::movement_review::{self, MovementReview};
use shared::service::movements::InstructionsToVerify;
use shared::text::movements as words;
use shared::text::reader::Shown as _;
use shared::web::{FormKeys, Request};
use uuid::Uuid;

use self::form::{ActForm, Inputs, Typed};
use self::instructions::{ChangeWarning, InstructionsCard};
use self::next::{Next, Other};
use self::tracks::Tracks;

pub(crate) use refusal::line;

const DOCUMENTS_SHOWN: usize = 4;

/// The extra effect of taking a payment's money out of flight, if only that keeps the agreement from expiring.
fn ends_agreement(agreement: &Agreement, id: MovementId, now: Timestamp) -> &'static str {
    if agreement.is_kept_by(id, now) {
        " The agreement’s expiry has passed, and only this payment keeps it open: it expires at once."
    } else {
        ""
    }
}

/// The same for accepting evidence that confirms the payment, which may complete the agreement first.
fn ends_unless_completed(agreement: &Agreement, id: MovementId, now: Timestamp) -> Option<&'static str> {
    let is_kept = agreement.is_kept_by(id, now);
    is_kept.then_some(
        "The agreement’s expiry has passed, and only this payment keeps it open: unless its arrival completes the agreement, it expires at once.",
    )
}

#[derive(Template)]
#[template(path = "movement.html")]
struct MovementPage {
    layout: Layout,
    notice: Option<Notice>,
    agreement: Link,
    title: String,
    deal: Deal,
    has_errors: bool,
    change: Option<ChangeWarning>,
    next: Next,
    tracks: Tracks,
    instructions: InstructionsCard,
    others: Vec<Other>,
    record: Vec<RecordRow>,
}

struct RecordRow {
    what: String,
    who: Option<String>,
    at: Timestamp,
    why: Option<String>,
}

impl RecordRow {
    fn new(what: &'static str, who: &Actor, at: Timestamp, why: Option<String>) -> Self {
        Self { what: what.to_owned(), who: Some(actor_label(who)), at, why }
    }

    fn time(&self) -> DisplayTime {
        self.at.into()
    }
}

struct Shown<'a> {
    review: &'a MovementReview,
    to_type: Option<ToTypeAgain>,
    zone: &'a TimeZone,
    by: &'a Member,
    typed: &'a Typed,
    form_keys: FormKeys,
    now: Timestamp,
}

impl Shown<'_> {
    /// The extra effect of taking the payment's money out of flight. Empty if the agreement goes on.
    fn ends_agreement(&self) -> &'static str {
        ends_agreement(&self.review.agreement, self.review.movement.id(), self.now)
    }

    fn name_of(&self, id: Option<ParticipantId>) -> String {
        name_of(&self.review.agreement, &self.review.contacts, id)
    }

    fn payer(&self) -> String {
        self.name_of(self.review.movement.terms().sender)
    }

    fn payee(&self) -> String {
        self.name_of(self.review.movement.terms().receiver)
    }

    fn form(&self, name: &str, path: String, label: &'static str) -> ActForm {
        ActForm {
            name: name.to_owned(),
            path,
            form_keys: self.form_keys.clone(),
            label,
            about: String::new(),
            text: String::new(),
            is_harmful: false,
            hidden: Vec::new(),
            inputs: Inputs::Nothing,
            fields: self.typed.fields_of(name, &[]),
            is_refused: self.typed.is(name),
        }
    }

    fn act(&self, act: &str, label: &'static str, text: impl Into<String>) -> ActForm {
        let path = format!("{}/{act}", movement_url(self.review.movement.id()));
        ActForm { text: text.into(), ..self.form(act, path, label) }
    }
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    let (notice, cookie) = notice_of_act(request).await;
    Ok(page(request, Typed::default(), notice).await?.with_cookie(cookie))
}

async fn page(request: &Request, typed: Typed, notice: Option<Notice>) -> Result<PageResponse, Error> {
    let (id, signed_in): (MovementId, _) = (request.path_id("id")?, request.signed_in()?);
    let review = movement_review::get(signed_in.scope(), id).await?;
    let (by, form_keys) = (signed_in.member(), FormKeys::new(signed_in.secret()));
    let to_type = to_type_again(request, &review.movement).await?;
    let zone = &signed_in.organization().time_zone;
    let shown = Shown { review: &review, to_type, zone, by, typed: &typed, form_keys, now: request.now() };
    let MovementReview { movement, agreement, .. } = &review;
    let (next, others) = next::acts(&shown);
    let (next, instructions) = InstructionsCard::new(&shown, next);
    let page = MovementPage {
        layout: Layout::new(request),
        notice,
        agreement: agreement_link(agreement),
        title: purpose_of(movement),
        deal: deal(&shown),
        has_errors: typed.has_errors(),
        change: ChangeWarning::of(movement),
        next,
        tracks: Tracks::new(&shown),
        instructions,
        others,
        record: record(movement),
    };
    Ok(PageResponse::render(&page)?.showing(ids(&review)))
}

async fn to_type_again(request: &Request, movement: &Movement) -> Result<Option<ToTypeAgain>, Error> {
    let waits = |found: &InstructionsStatus| !found.is_verified_by_another() && !found.has_verification_ended();
    if movement.state().is_done() || !movement.instructions().is_some_and(waits) {
        return Ok(None);
    }
    let (scope, keys) = (request.signed_in()?.scope(), &request.app().webhooks()?.keys);
    let opened = match InstructionsToVerify::load(scope, &*keys.keyring().await?, movement).await? {
        // Another instance may have sealed them with a key newer than this one's cache.
        None => InstructionsToVerify::load(scope, &*keys.newest().await?, movement).await?,
        found => found,
    };
    Ok(opened.map(|opened| opened.to_type_again()))
}

fn ids(review: &MovementReview) -> Vec<Uuid> {
    let evidence = review.evidence.iter().map(|evidence| evidence.id().uuid());
    [review.movement.id().uuid(), review.agreement.id().uuid()].into_iter().chain(evidence).collect()
}

fn agreement_link(agreement: &Agreement) -> Link {
    Link { url: agreement_url(agreement.id()), text: agreement.name.as_str().to_owned() }
}

fn deal(shown: &Shown<'_>) -> Deal {
    let MovementReview { movement, agreement, workspace, .. } = shown.review;
    let terms = movement.terms();
    let party = |name: String, roles: &str| Party { name, roles: roles.to_owned() };
    let document = |document: &Document| DealDocument {
        name: document.name.as_str().to_owned(),
        url: document.content.as_ref().map(|_| document_url(agreement.id(), document.id)),
    };
    let due = terms.due_on.map(|due| ("Due", due.shown()));
    let reference = terms.reference.as_ref().map(|reference| ("Reference", reference.as_str().to_owned()));
    let how = [("Method", words::method(terms.method)), ("Direction", words::direction(terms.direction))];
    let how = how.map(|(name, value)| (name, value.to_owned()));
    Deal {
        over: "Payment",
        title: purpose_of(movement),
        badge: payment_badge(movement).into(),
        is_overdue: is_overdue(movement, agreement, shown.zone, shown.now),
        workspace: Link { url: workspace_url(workspace.id()), text: workspace.name.as_str().to_owned() },
        agreement: Some(agreement_link(agreement)),
        edit: None,
        parties: vec![party(shown.payer(), "Payer"), party(shown.payee(), "Payee")],
        more_parties: 0,
        amount: terms.money.map(|money| ("Amount", money.for_people())),
        money: Vec::new(),
        waits_for: Vec::new(),
        more_waits: None,
        next_act: None,
        payments: Vec::new(),
        without_amount: NO_AMOUNT_YET,
        more_payments: 0,
        terms: due.into_iter().chain(reference).chain(how).collect(),
        payment_due: None,
        deadlines: Vec::new(),
        documents: agreement.documents.iter().take(DOCUMENTS_SHOWN).map(document).collect(),
        more_documents: 0,
    }
}

fn record(movement: &Movement) -> Vec<RecordRow> {
    let row = RecordRow::new;
    let reason = |ending: &Ending| ending.reason.as_ref().map(|reason| reason.as_str().to_owned());
    let added = format!("Added by {}", actor_label(movement.created_by()));
    let mut rows = vec![RecordRow { what: added, who: None, at: movement.created_at(), why: None }];
    rows.extend(movement.authorized().map(|stamp| row("Authorized", &stamp.by, stamp.at, None)));
    rows.extend(movement.past_exceptions().iter().flat_map(past_rows));
    if let Status::Returned(Ending { late_since: Some(at), .. }) = movement.status() {
        rows.push(row("Cancelled with its agreement", &Actor::system(), *at, None));
    }
    rows.extend(match movement.status() {
        Status::Reconciled(Confirmation { confirmed_at, confirmed_by, basis }) => {
            let elsewhere = if movement.counts_another_account() { words::ELSEWHERE } else { "" };
            let why = format!("By {}{elsewhere}", words::basis(*basis));
            Some(row("Confirmed received", confirmed_by, *confirmed_at, Some(why)))
        }
        Status::Exception(exception) => Some(exception_row(exception)),
        Status::Returned(ending) => {
            let what = if ending.late_since.is_some() { "Returned, late" } else { "Returned" };
            Some(row(what, &ending.by, ending.at, reason(ending)))
        }
        Status::Cancelled(ending) if movement.ended_with_its_agreement() => {
            let late = (movement.late_minor() > 0).then(|| words::movement_sentence(movement));
            Some(row("Cancelled with its agreement", &ending.by, ending.at, late))
        }
        Status::Cancelled(ending) => Some(row("Cancelled", &ending.by, ending.at, reason(ending))),
        _ => None,
    });
    rows.extend(movement.surplus().map(|found| surplus_row(movement, found)));
    rows.sort_by_key(|row| row.at);
    rows
}

fn past_rows(PastException { exception, outcome, ended }: &PastException) -> impl Iterator<Item = RecordRow> {
    let resolved = words::exception_outcome(*outcome)
        .map(|how| RecordRow::new("Exception resolved", &ended.by, ended.at, Some(how.to_owned())));
    std::iter::once(exception_row(exception)).chain(resolved)
}

fn exception_row(Exception { reason, note, at, by }: &Exception) -> RecordRow {
    let note = note.as_ref().map(|note| format!("\n{}", note.as_str())).unwrap_or_default();
    let why = format!("{}{note}", capitalized(words::exception(*reason)));
    RecordRow::new("Needs attention", by, *at, Some(why))
}

fn surplus_row(movement: &Movement, found: &Surplus) -> RecordRow {
    let code = movement.terms().money.map(|money| money.currency().code()).unwrap_or_default();
    let amount = in_app(found.amount_minor, code);
    let (what, why) = match &found.outcome {
        SurplusOutcome::Returned { on, note } => {
            ("Surplus returned", format!("{amount}, on {}\n{}", on.shown(), note.as_str()))
        }
        SurplusOutcome::Kept { note } => ("Surplus kept", format!("{amount}\n{}", note.as_str())),
    };
    RecordRow::new(what, &found.by, found.at, Some(why))
}

fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

fn link_of(shown: &Shown<'_>, participant: Option<ParticipantId>) -> Option<Link> {
    let text = format!("Link of {}", shown.name_of(participant));
    participant.map(|id| Link { url: access_url(shown.review.agreement.id(), id), text })
}
