//! Members file, accept, reject and withdraw evidence.

use askama::Template;
use http::StatusCode;
use pages::agreement_payments::{name_of, purpose_of};
use pages::done::redirect_with;
use pages::fields::read_day;
use pages::labels::actor_label;
use pages::layout::{Layout, Link, Notice};
use pages::response::PageResponse;
use pages::uploads::keep_file;
use pages::urls::{evidence_url, movement_url};
use shared::domain::agreement::gate::{Gate, GateRule, GateStatus};
use shared::domain::bank_account::BankAccount;
use shared::domain::day::Day;
use shared::domain::ids::{EvidenceId, MovementId};
use shared::domain::money::{Currency, Money, in_app};
use shared::domain::movement::evidence::{
    BankReference, Evidence, EvidenceFacts, EvidenceFile, NewEvidence, typed_value_day,
};
use shared::domain::movement::evidence_account::SpokenAccount;
use shared::domain::movement::safe_text::{SafeLine, SafeNote};
use shared::domain::movement::source::{ChosenSource, EvidenceSource, Origin, ReceiverSource, Side};
use shared::domain::movement::{Arrivals, Movement, NotMoved};
use shared::domain::sensitive::has_account_number;
use shared::error::Error;
use shared::service::movement_review::{self, MovementReview};
use shared::service::movements::{self, AcceptedElsewhere, EvidenceDecision, EvidenceHolder, NotAccepted, NotFiled};
use shared::text;
use shared::text::movements::{assurance, evidence_source};
use shared::text::reader::Shown as _;
use shared::web::{Form, FormKeys, Request, SubmittedForm};
use shared::wire::fields::{FieldCode, FieldErrors};

use crate::movement::act_forms::{ACCEPTANCE, EVIDENCE};
use crate::movement::acts::{not_chosen, read_reason, wrong};
use crate::movement::form::{ActForm, Inputs, Typed};
use crate::movement::next::FILE;
use crate::movement::refusal::{line, refusal};
use crate::movement::tracks::{Entry, account_difference, differences_from_claim};
use crate::movement::{Shown, agreement_link, ends_unless_completed, ids, page};

pub(crate) async fn file(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let (id, form): (MovementId, _) = (request.path_id("id")?, submitted.form());
    let again = async |errors: FieldErrors| {
        let typed = Typed::new(FILE, form, errors);
        Ok::<_, Error>(page(request, typed, None).await?.unprocessable())
    };
    let today = request.signed_in()?.organization().time_zone.day_of(request.now());
    let (source, mut facts, account) = match read_with_account(form, today) {
        Ok(read) => read,
        Err(errors) => return again(errors).await,
    };
    let keys = request.app().webhooks()?.keys.keyring().await?;
    let evidence = submitted.new_id::<EvidenceId>();
    // No file is stored for a form that files nothing.
    if let Some(refused) = not_taken(&submitted, id, source).await? {
        return not_filed(request, &submitted, refusal(refused)).await;
    }
    if let Some(spoken) = account.clone() {
        let movement = movements::get(submitted.scope(), id).await?.movement;
        if movements::compared_account(submitted.scope(), &keys, &movement, spoken).await?.is_err() {
            return again(unexplained()).await;
        }
    }
    if let Some(file) = form.file(EVIDENCE.file) {
        match keep_file(&submitted, Some(file), EVIDENCE.file.name).await? {
            Ok((name, content, file_type)) => match safe_name(name.as_str()) {
                Ok(name) => facts.file = Some(EvidenceFile { name, content, file_type: Some(file_type) }),
                Err(errors) => return again(errors).await,
            },
            Err(errors) => return again(errors).await,
        }
    }
    let new = match NewEvidence::typed(evidence, source, facts) {
        Ok(new) => match account {
            Some(account) => new.speaking_of(account),
            None => new,
        },
        Err(errors) => return again(errors).await,
    };
    let url = format!("{}#notice", movement_url(id));
    let redirect = redirect_with(&submitted, url, &filed(source)).await;
    let (scope, by) = (submitted.scope(), submitted.submitter());
    match submitted.run(|| movements::file_evidence(scope, by, &keys, id, new.clone())).await? {
        Ok(()) => Ok(redirect.into()),
        Err(NotFiled::Refused(NotMoved::OtherAccount)) => again(unexplained()).await,
        Err(NotFiled::Refused(refused)) => not_filed(request, &submitted, refusal(refused)).await,
        Err(NotFiled::Elsewhere(holder)) => {
            let notice = elsewhere(request, holder).await?;
            not_filed(request, &submitted, notice).await
        }
    }
}

fn unexplained() -> FieldErrors {
    let message = "must be said: it is not the account that the instructions name. The account is never shown again, so type it once more";
    FieldErrors::one(EVIDENCE.account_reason, FieldCode::Required, message)
}

fn read_with_account(
    form: &Form,
    today: Day,
) -> Result<(ChosenSource, EvidenceFacts, Option<SpokenAccount>), FieldErrors> {
    match (read(form, today), spoken_account(form)) {
        (Ok((source, facts)), Ok(account)) => {
            // A bank document that doesn't name its account is marked.
            let is_of_bank = matches!(
                source.source(),
                EvidenceSource::Receiver(ReceiverSource::BankNotification | ReceiverSource::BankStatement)
            );
            Ok((source, facts, account.or_else(|| is_of_bank.then(SpokenAccount::default))))
        }
        (read, account) => {
            let mut errors = read.err().unwrap_or_default();
            errors.extend(account.err().unwrap_or_default());
            Err(errors)
        }
    }
}

fn spoken_account(form: &Form) -> Result<Option<SpokenAccount>, FieldErrors> {
    let typed = form.get(EVIDENCE.account);
    if typed.trim().is_empty() {
        return Ok(None);
    }
    let account = BankAccount::named(typed).ok_or_else(|| {
        let message =
            "must be an account number or an IBAN, with no digit hidden. Leave it out if the document hides some";
        FieldErrors::one(EVIDENCE.account, FieldCode::InvalidValue, message)
    })?;
    let reason = match form.get(EVIDENCE.account_reason) {
        blank if blank.trim().is_empty() => None,
        text => Some(
            SafeNote::parse(text)
                .map_err(|(code, message)| FieldErrors::one(EVIDENCE.account_reason, code, message))?,
        ),
    };
    Ok(Some(SpokenAccount { account: Some(account), reason }))
}

/// Reports all errors at once, except those of account and file content. `today` is in the organization's time zone.
fn read(form: &Form, today: Day) -> Result<(ChosenSource, EvidenceFacts), FieldErrors> {
    let source = ChosenSource::parse(form.get(EVIDENCE.source)).ok_or_else(|| not_chosen(EVIDENCE.source));
    let currency = Currency::read(form.get(EVIDENCE.currency))
        .map_err(|error| FieldErrors::one(EVIDENCE.currency, FieldCode::InvalidValue, error.to_string()));
    let code = currency.as_ref().map_or("", |currency| currency.code());
    let wrong_amount = |error: shared::domain::money::NotAnAmount| {
        FieldErrors::one(EVIDENCE.amount, error.code(), error.message(code))
    };
    let money = match &currency {
        Ok(currency) => Money::read(form.get(EVIDENCE.amount), *currency).map(Some).map_err(wrong_amount),
        // Decimals depend on the currency, whose error comes first.
        Err(_) => Ok(None),
    };
    let reference = match form.get(EVIDENCE.bank_reference) {
        blank if blank.trim().is_empty() => Ok(None),
        text => BankReference::parse(text)
            .map(Some)
            .map_err(|(code, message)| FieldErrors::one(EVIDENCE.bank_reference, code, message)),
    };
    let file = match (form.file(EVIDENCE.file), &source) {
        (Some(file), _) => safe_name(&file.name).map(drop),
        (None, Ok(chosen)) if chosen.source().needs_file() => {
            let message = "is missing. A document of a bank counts only with its file";
            Err(FieldErrors::one(EVIDENCE.file, FieldCode::Required, message))
        }
        _ => Ok(()),
    };
    let value_day = read_day(form, EVIDENCE.value_date.name).and_then(|day| typed_value_day(day, today));
    match (source, money, currency, value_day, reference, file) {
        (Ok(source), Ok(Some(money)), Ok(_), Ok(value_day), Ok(reference), Ok(())) => {
            Ok((source, EvidenceFacts { money, value_day, reference, file: None }))
        }
        (source, money, currency, day, reference, file) => {
            let mut errors = source.err().unwrap_or_default();
            errors.extend(money.err().unwrap_or_default());
            errors.extend(currency.err().unwrap_or_default());
            errors.extend(day.err().unwrap_or_default());
            errors.extend(reference.err().unwrap_or_default());
            errors.extend(file.err().unwrap_or_default());
            Err(errors)
        }
    }
}

/// A file's name without account numbers: pages and the audit log show it.
fn safe_name(name: &str) -> Result<SafeLine, FieldErrors> {
    if has_account_number(name) {
        let message = "has a name with an account or card number. Rename it, then choose it again";
        return Err(FieldErrors::one(EVIDENCE.file, FieldCode::SensitiveValue, message));
    }
    SafeLine::parse(name)
        .or_else(|_| SafeLine::parse("File"))
        .map_err(|(code, message)| FieldErrors::one(EVIDENCE.file, code, message))
}

async fn not_taken(
    submitted: &SubmittedForm<'_>,
    id: MovementId,
    source: ChosenSource,
) -> Result<Option<NotMoved>, Error> {
    let movement = movements::get(submitted.scope(), id).await?.movement;
    let is_taken = movement.takes_evidence_of(source.source().side());
    Ok((!is_taken).then(|| NotMoved::NotNow(movement.state())))
}

fn filed(source: ChosenSource) -> Notice {
    match source.source().side() {
        Side::Sender => Notice::plain("Evidence filed with the claim", assurance(source.source().assurance())),
        Side::Receiver => Notice::plain("Evidence filed", "Next: review it, then accept or reject it."),
    }
}

async fn not_filed(request: &Request, submitted: &SubmittedForm<'_>, notice: Notice) -> Result<PageResponse, Error> {
    let typed = Typed::new(FILE, submitted.form(), FieldErrors::default());
    Ok(page(request, typed, Some(notice)).await?.conflicting())
}

async fn elsewhere(request: &Request, holder: EvidenceHolder) -> Result<Notice, Error> {
    let other = movements::get(request.signed_in()?.scope(), holder.movement_id).await?.movement;
    let amount = other.terms().money.map(|money| format!(", {}", money.for_people())).unwrap_or_default();
    let line =
        "Each reference of a bank counts once. If it was filed there by mistake, reject or withdraw it there first.";
    let title = "This bank reference is filed for another payment";
    let payment = Link { url: movement_url(holder.movement_id), text: format!("{}{amount}", purpose_of(&other)) };
    Ok(Notice { links: vec![payment], ..Notice::bad(title, line) })
}

#[derive(Template)]
#[template(path = "movement_accept.html")]
struct AcceptPage {
    layout: Layout,
    notice: Option<Notice>,
    has_errors: bool,
    agreement: Link,
    movement: Link,
    entry: Entry,
    believed: Vec<String>,
    cautions: Vec<Caution>,
    form: Result<ActForm, String>,
}

struct Caution {
    line: String,
    link: Option<Link>,
}

impl Caution {
    fn new(line: impl Into<String>) -> Self {
        Self { line: line.into(), link: None }
    }
}

pub(crate) async fn show_acceptance(request: &mut Request) -> Result<PageResponse, Error> {
    acceptance(request, None, Typed::default()).await
}

const ACCEPT: &str = "accept";

fn path_ids(request: &Request) -> Result<(MovementId, EvidenceId), Error> {
    Ok((request.path_id("id")?, request.path_id("evidence")?))
}

async fn acceptance(request: &Request, notice: Option<Notice>, typed: Typed) -> Result<PageResponse, Error> {
    let ((id, evidence), signed_in) = (path_ids(request)?, request.signed_in()?);
    let elsewhere = movements::accepted_elsewhere(signed_in.scope(), id, evidence);
    let (review, elsewhere) = tokio::try_join!(movement_review::get(signed_in.scope(), id), elsewhere)?;
    let found = review.evidence.iter().find(|found| found.id() == evidence).ok_or_else(Error::not_found)?;
    let (by, form_keys) = (signed_in.member(), FormKeys::new(signed_in.secret()));
    let zone = &signed_in.organization().time_zone;
    let shown = Shown { review: &review, to_type: None, zone, by, typed: &typed, form_keys, now: request.now() };
    let obstacle = obstacle(&review, found);
    let is_same = !elsewhere.is_empty() || same_arrivals(&review, found).next().is_some();
    let form = match obstacle {
        Some(obstacle) => Err(obstacle),
        None => Ok(ActForm {
            hidden: vec![("received", received(&review).to_string())],
            text: "Once accepted, this counts until it is withdrawn.".to_owned(),
            inputs: if is_same { Inputs::Another } else { Inputs::Nothing },
            ..shown.form(ACCEPT, format!("{}/accept", evidence_url(id, evidence)), "Accept evidence")
        }),
    };
    let page = AcceptPage {
        layout: Layout::new(request),
        notice,
        has_errors: shown.typed.has_errors(),
        agreement: agreement_link(&review.agreement),
        movement: Link { url: movement_url(id), text: purpose_of(&review.movement) },
        // The cautions include differences.
        entry: Entry { accept: None, acts: Vec::new(), differences: Vec::new(), ..shown.evidence(found) },
        believed: believed(&review, found),
        cautions: cautions(&shown, found, &elsewhere),
        form,
    };
    Ok(PageResponse::render(&page)?.showing(ids(&review)))
}

fn received(review: &MovementReview) -> i64 {
    review.movement.receipt().map_or(0, |receipt| receipt.received_minor)
}

fn obstacle(MovementReview { movement, .. }: &MovementReview, evidence: &Evidence) -> Option<String> {
    let due = movement.terms().money;
    let refused = match movement.state() {
        _ if evidence.source().side() == Side::Sender => NotMoved::SendersSide,
        _ if !evidence.is_undecided() => NotMoved::Decided,
        _ if movement.takes_acceptance() => {
            let is_in_currency = due.is_none_or(|due| due.currency() == evidence.facts().money.currency());
            if is_in_currency {
                return None;
            }
            NotMoved::WrongCurrency
        }
        other => NotMoved::NotNow(other),
    };
    Some(line(refused))
}

enum Outcome {
    /// None, except that it came late: the payment ended with its agreement.
    Late,
    Missing(i64),
    Reconciled,
    Over(i64),
}

fn outcome(review: &MovementReview, evidence: &Evidence) -> Option<Outcome> {
    let due = review.movement.terms().money?;
    if review.movement.ended_with_its_agreement() {
        return Some(Outcome::Late);
    }
    let total = received(review).saturating_add(evidence.facts().money.amount_minor());
    Some(match due.amount_minor().saturating_sub(total) {
        0 => Outcome::Reconciled,
        missing @ 1.. => Outcome::Missing(missing),
        over => Outcome::Over(over.saturating_neg()),
    })
}

fn believed(review: &MovementReview, evidence: &Evidence) -> Vec<String> {
    let MovementReview { movement, agreement, contacts, .. } = review;
    let facts = evidence.facts();
    let payee = name_of(agreement, contacts, movement.terms().receiver);
    let code = facts.money.currency().code();
    let mut said = vec![
        format!("{payee} received {} on {}.", facts.money.for_people(), facts.value_day.shown()),
        format!(
            "The basis is: {}. {}",
            lowered(evidence_source(evidence.source())),
            assurance(evidence.source().assurance())
        ),
    ];
    said.extend(
        review
            .evidence
            .iter()
            .filter(|other| other.is_accepted())
            .map(|other| format!("It comes on top of what was accepted before: {}.", in_words(other))),
    );
    match outcome(review, evidence) {
        Some(Outcome::Reconciled) => {
            said.push("The full amount has arrived. The payment is confirmed received.".to_owned());
            said.extend(cleared(review));
            said.extend(completes(review).then(|| "This completes the agreement.".to_owned()));
        }
        Some(Outcome::Missing(missing)) => {
            said.push(format!("{} is still missing, so the payment is not confirmed yet.", in_app(missing, code)));
        }
        Some(Outcome::Over(over)) => said.push(format!(
            "That is {} more than the amount, so the payment becomes an exception and is not confirmed.",
            in_app(over, code)
        )),
        Some(Outcome::Late) => said.push(
            "It came late: the payment stays cancelled with its agreement, and is not confirmed. The record and the ledger say so."
                .to_owned(),
        ),
        None => {}
    }
    said
}

fn in_words(evidence: &Evidence) -> String {
    let facts = evidence.facts();
    let basis = lowered(evidence_source(evidence.source()));
    format!("{} on {}, {basis}", facts.money.for_people(), facts.value_day.shown())
}

fn same_arrivals<'a>(review: &'a MovementReview, evidence: &'a Evidence) -> impl Iterator<Item = &'a Evidence> {
    let accepted = review.evidence.iter().filter(|other| other.is_accepted() && other.id() != evidence.id());
    accepted.filter(|other| other.may_be_same_arrival(evidence))
}

fn waits(gate: &Gate, movement: &Movement) -> bool {
    matches!(gate.rule, GateRule::MovementReconciled { movement_id } if movement_id == Some(movement.id()))
}

fn completes(MovementReview { movement, agreement, .. }: &MovementReview) -> bool {
    agreement.is_completed_with(|gate| waits(gate, movement))
}

fn cleared(MovementReview { movement, agreement, .. }: &MovementReview) -> Vec<String> {
    let is_cleared = |gate: &Gate| waits(gate, movement) && gate.state.status() == GateStatus::Open;
    let stages = agreement.stages.iter().filter(|stage| stage.gates.iter().any(is_cleared));
    let said = |stage: &shared::domain::agreement::Stage| {
        let what = text::condition(shared::domain::agreement::gate::GateType::MovementReconciled);
        format!("The condition “{what}” of the step “{}” is met.", stage.name.as_str())
    };
    stages.map(said).collect()
}

fn lowered(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}

fn cautions(shown: &Shown<'_>, evidence: &Evidence, elsewhere: &[AcceptedElsewhere]) -> Vec<Caution> {
    // The effect of the amount is told below them.
    let same = |other: &Evidence, where_: &str| {
        let other = in_words(other);
        format!(
            "This may be the same money as {other}, which was accepted {where_}. Accept it only if it is additional money."
        )
    };
    let here = same_arrivals(shown.review, evidence).map(|other| Caution::new(same(other, "before")));
    let elsewhere = elsewhere.iter().map(|AcceptedElsewhere { evidence, movement }| {
        let link = Link { url: movement_url(movement.id()), text: purpose_of(movement) };
        Caution { line: same(evidence, "for another payment"), link: Some(link) }
    });
    let mut cautions: Vec<Caution> = here.chain(elsewhere).collect();
    cautions.extend(account_difference(evidence).map(Caution::new));
    cautions.extend(differences_from_claim(&shown.review.movement, evidence).into_iter().map(Caution::new));
    let MovementReview { agreement, movement, .. } = shown.review;
    let ends = match outcome(shown.review, evidence) {
        Some(Outcome::Reconciled) => ends_unless_completed(agreement, movement.id(), shown.now),
        Some(Outcome::Over(_)) => Some(shown.ends_agreement().trim_start()).filter(|said| !said.is_empty()),
        Some(Outcome::Missing(_) | Outcome::Late) | None => None,
    };
    cautions.extend(ends.map(Caution::new));
    if evidence.source().origin() == Origin::Typed {
        let where_from =
            if evidence.facts().file.is_some() { "Compare them with the file." } else { "There is no file." };
        let who = actor_label(evidence.filed_by());
        cautions.push(Caution::new(format!("{who} typed these facts. {where_from}")));
    }
    if evidence.filed_by().is_member(shown.by.id()) {
        cautions.push(Caution::new("You filed this evidence yourself."));
    }
    cautions
}

pub(crate) async fn accept(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let (id, evidence) = path_ids(request)?;
    let review = movement_review::get(submitted.scope(), id).await?;
    let found = review.evidence.iter().find(|found| found.id() == evidence).ok_or_else(Error::not_found)?;
    let done = accepted(&review, found);
    let redirect = redirect_with(&submitted, format!("{}#notice", movement_url(id)), &done).await;
    let shown = submitted.form().get("received").parse().unwrap_or(-1);
    let arrivals = if submitted.form().get(ACCEPTANCE.another) == "on" { Arrivals::Two } else { Arrivals::One };
    let (scope, by) = (submitted.scope(), submitted.submitter());
    let run = || movements::accept_evidence(scope, by, (id, evidence), shown, arrivals);
    let notice = match submitted.run(run).await? {
        Ok(()) => return Ok(redirect.into()),
        Err(NotAccepted::Refused(NotMoved::PerhapsSame)) => {
            let message =
                "must be ticked to count what may be the same money as before. If it is the same, reject this evidence";
            let errors = FieldErrors::one(ACCEPTANCE.another, FieldCode::Required, message);
            let typed = Typed::new(ACCEPT, submitted.form(), errors);
            return Ok(acceptance(request, None, typed).await?.unprocessable());
        }
        Err(NotAccepted::Refused(refused)) => refusal(refused),
        Err(NotAccepted::Changed) => Notice::warn(
            "Nothing was accepted",
            "Other evidence was accepted or withdrawn since this page was shown. Read again what accepting this means now.",
        ),
    };
    Ok(acceptance(request, Some(notice), Typed::default()).await?.refused(StatusCode::CONFLICT, "conflict"))
}

fn accepted(review: &MovementReview, evidence: &Evidence) -> Notice {
    let code = evidence.facts().money.currency().code();
    match outcome(review, evidence).filter(|_| evidence.is_undecided()) {
        Some(Outcome::Reconciled) => {
            let completed = completes(review).then(|| "The agreement is completed.".to_owned());
            let lines: Vec<String> = cleared(review).into_iter().chain(completed).collect();
            Notice::good("Payment confirmed received", lines.join(" "))
        }
        Some(Outcome::Missing(missing)) => {
            Notice::good("Evidence accepted", format!("{} is still missing.", in_app(missing, code)))
        }
        Some(Outcome::Late) => Notice::good("Evidence accepted", "It came late: the payment stays cancelled."),
        Some(Outcome::Over(_)) => {
            Notice::warn("Evidence accepted", "More than the amount arrived, so the payment needs attention.")
        }
        None => Notice::good("Evidence accepted", ""),
    }
}

pub(crate) async fn reject(request: &mut Request) -> Result<PageResponse, Error> {
    let done = Notice::good("Evidence rejected", "It does not count.");
    decide(request, "reject", EvidenceDecision::Reject, done).await
}

pub(crate) async fn withdraw(request: &mut Request) -> Result<PageResponse, Error> {
    let done = Notice::good("Evidence withdrawn", "It does not count anymore.");
    decide(request, "withdraw", EvidenceDecision::Withdraw, done).await
}

async fn decide(
    request: &Request,
    act: &str,
    decision: fn(SafeNote) -> EvidenceDecision,
    done: Notice,
) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let (id, evidence) = path_ids(request)?;
    let name = format!("{act}-{evidence}");
    let decision = match read_reason(submitted.form()) {
        Ok(reason) => decision(reason),
        Err(errors) => return wrong(request, &name, submitted.form(), errors).await,
    };
    let redirect = redirect_with(&submitted, format!("{}#notice", movement_url(id)), &done).await;
    let (scope, by) = (submitted.scope(), submitted.submitter());
    let run = || movements::judge_evidence(scope, by, (id, evidence), decision.clone());
    match submitted.run(run).await? {
        Ok(()) => Ok(redirect.into()),
        Err(refused) => {
            let typed = Typed::new(name, submitted.form(), FieldErrors::default());
            Ok(page(request, typed, Some(refusal(refused))).await?.conflicting())
        }
    }
}

pub(crate) async fn download(request: &mut Request) -> Result<PageResponse, Error> {
    let (id, evidence) = path_ids(request)?;
    let scope = request.signed_in()?.scope();
    let found = movements::evidence(scope, id, evidence).await?;
    let EvidenceFile { name, content, file_type } = found.facts().file.as_ref().ok_or_else(Error::not_found)?;
    let file = request.app().files()?.get(scope.org(), content).await?;
    // Never displayed in the browser: the file is foreign, and only its format was checked.
    let media_type = file_type.map_or("application/octet-stream", |file_type| file_type.media_type());
    let page = PageResponse::file(file, media_type, "attachment", name.as_str());
    Ok(page.showing([id.uuid(), evidence.uuid()]))
}
