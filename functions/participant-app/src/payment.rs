//! A payment on its parties' pages: the sender reads instructions and reports it as sent, the receiver as arrived.
//!
//! - Decision: full instructions are only on the sender's page as opened, so each view is a call: `read_instructions`.
//! - Decision: each side sees only the other's payment state: a sender's bank document has the sender's account in it.

use askama::Template;
use pages::agreement_summary::size;
use pages::done::notice_of_act;
use pages::fields::{Choice, Fields};
use pages::labels::{Badge, DisplayTime, movement_badge};
use pages::layout::{Layout, Notice};
use pages::response::PageResponse;
use pages::urls::part_url;
use shared::crypto::keys::open_with;
use shared::domain::actor::ActorType;
use shared::domain::agreement::Lifecycle;
use shared::domain::bank_account::numbers::ending;
use shared::domain::day::Day;
use shared::domain::ids::{EvidenceId, MovementId, ParticipantId};
use shared::domain::money;
use shared::domain::movement::claim::{Claim, ReferenceType};
use shared::domain::movement::evidence::{Evidence, EvidenceFile, EvidenceState};
use shared::domain::movement::instructions::InstructionsChange;
use shared::domain::movement::source::Side;
use shared::domain::movement::state::{ExceptionReason, MovementState};
use shared::domain::movement::{Movement, Release, ReleaseBasis};
use shared::error::Error;
use shared::service::own_movements::{self, OwnPayment};
use shared::text::reader::Shown as _;
use shared::text::{movements, payment_rest};
use shared::web::Request;

use crate::consent;
use crate::payment_forms::EVIDENCE;
use crate::payments::{amount, is_receiver, is_sender, party_name, payment_url, purpose};

#[derive(Template)]
#[template(path = "part_payment.html")]
struct PaymentPage {
    layout: Layout,
    notice: Option<Notice>,
    path: String,
    url: String,
    organization: String,
    agreement: String,
    purpose: String,
    amount: String,
    /// What is missing of it, if a part is proven.
    rest: Option<String>,
    badge: Badge,
    due: Option<String>,
    sender: String,
    receiver: String,
    is_sender: bool,
    reference: Option<String>,
    method: &'static str,
    standing: Standing,
    instructions: Instructions,
    change: Option<String>,
    claim: Option<ClaimFacts>,
    proof: Proof,
    evidence: Vec<EvidenceRow>,
    form: Option<PaymentForm>,
    /// The member whose browser the participant uses, so that they can't confirm an arrival.
    host: Option<String>,
    reference_types: Vec<Choice>,
    fields: Fields,
    withdrawing: Option<EvidenceId>,
}

struct Standing {
    title: String,
    line: String,
    class: &'static str,
}

enum Instructions {
    None,
    Full(FullInstructions),
    /// The account number's ending and a link to the full ones, on a page that answers a form.
    Ending(String),
    Unreadable,
}

struct FullInstructions {
    lines: Vec<(&'static str, String)>,
    checked: String,
    released_at: Option<DisplayTime>,
    shown_at: DisplayTime,
}

struct ClaimFacts {
    who: String,
    at: DisplayTime,
    facts: Vec<(&'static str, String)>,
}

struct Proof {
    title: String,
    line: String,
    at: Option<DisplayTime>,
    is_confirmed: bool,
}

struct EvidenceRow {
    id: EvidenceId,
    source: &'static str,
    proves: &'static str,
    facts: Vec<(&'static str, String)>,
    file: Option<String>,
    badge: Badge,
    at: DisplayTime,
    can_withdraw: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PaymentForm {
    Report(u32),
    HandIn,
    /// The receiver reports the arrival; whether an earlier report is still undecided.
    Arrived {
        is_again: bool,
    },
}

impl PaymentForm {
    pub fn of(own: &OwnPayment, by: ParticipantId) -> Option<Self> {
        let (movement, state) = (&own.movement, own.movement.state());
        if is_sender(movement, by) && state == MovementState::InstructionsReady {
            return movement.instructions().map(|instructions| Self::Report(instructions.revision));
        }
        if is_receiver(movement, by) && movement.takes_evidence_of(Side::Receiver) {
            return Some(Self::Arrived { is_again: own.evidence.iter().any(Evidence::is_undecided) });
        }
        (is_sender(movement, by) && state.takes_evidence_of(Side::Sender)).then_some(Self::HandIn)
    }
}

#[derive(Debug, Default)]
pub(super) struct Refused {
    pub fields: Fields,
    pub notice: Option<Notice>,
    pub withdrawing: Option<EvidenceId>,
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    let (notice, cookie) = notice_of_act(request).await;
    let own = load(request).await?;
    let shown = match &own.instructions {
        Some(_) if needs_consent(request, &own)? => None,
        Some(sealed) => {
            let keys = &*request.app().webhooks()?.keys;
            Some(open_with(keys, |keyring| sealed.open(keyring)).await)
        }
        None => None,
    };
    let instructions = match shown {
        Some(Ok(instructions)) => {
            // Recorded before they are shown.
            request.rename_own_view("read_instructions");
            Instructions::Full(FullInstructions {
                lines: instructions.in_full(),
                checked: checked(request.participant_session()?.organization().name.as_str(), &own.movement),
                released_at: own.movement.released().map(|release| release.at.into()),
                shown_at: DisplayTime::from(request.now()),
            })
        }
        // Without readable instructions, the page says so, and nobody pays.
        Some(Err(_)) => Instructions::Unreadable,
        None => Instructions::None,
    };
    let page = page(request, &own, instructions, Refused { notice, ..Refused::default() })?;
    Ok(page.with_cookie(cookie))
}

pub(super) async fn load(request: &Request) -> Result<OwnPayment, Error> {
    let id: MovementId = request.path_id("movement")?;
    let session = request.participant_session()?;
    own_movements::page(session.scope(), session.participant(), id).await
}

/// Acting on a payment requires consent, even after the agreement, for money that comes late.
fn needs_consent(request: &Request, own: &OwnPayment) -> Result<bool, Error> {
    let is_active = own.view.agreement.lifecycle() == Lifecycle::Active;
    let session = request.participant_session()?;
    let has_consent = session.participant().access().consent.is_some();
    let may_act = || PaymentForm::of(own, session.participant().id()).is_some();
    Ok(!has_consent && (is_active || !own.movement.state().is_done() || may_act()))
}

pub(super) async fn again(request: &Request, refused: Refused) -> Result<PageResponse, Error> {
    let own = load(request).await?;
    let by = request.participant_session()?.participant().id();
    let ending = own.movement.instructions().map(|instructions| instructions.ending.clone());
    let instructions = match ending {
        Some(ending) if own.movement.instructions_shown_to(by).is_some() => Instructions::Ending(ending),
        _ => Instructions::None,
    };
    page(request, &own, instructions, refused)
}

fn page(
    request: &Request,
    own: &OwnPayment,
    instructions: Instructions,
    refused: Refused,
) -> Result<PageResponse, Error> {
    let session = request.participant_session()?;
    if needs_consent(request, own)? {
        return consent::page(request, session, &own.view, refused.notice);
    }
    let (by, organization) = (session.participant().id(), session.organization().name.as_str());
    let OwnPayment { view, movement, evidence, .. } = own;
    let terms = movement.terms();
    let is_theirs = is_sender(movement, by);
    let change = movement.instructions().and_then(|instructions| instructions.changes.last());
    let form = PaymentForm::of(own, by);
    let url = payment_url(by, movement);
    let currency = terms.money.map(|money| money.currency().code()).unwrap_or_default();
    let page = PaymentPage {
        layout: Layout::of_participant(request),
        path: part_url(by),
        organization: organization.to_owned(),
        agreement: view.agreement.name.as_str().to_owned(),
        purpose: purpose(movement),
        amount: amount(movement),
        rest: payment_rest(movement),
        badge: movement_badge(movement.state()),
        due: terms.due_on.map(Day::shown),
        sender: party_name(view, terms.sender).to_owned(),
        receiver: party_name(view, terms.receiver).to_owned(),
        is_sender: is_theirs,
        reference: terms.reference.as_ref().map(|reference| reference.as_str().to_owned()),
        method: movements::method(terms.method),
        standing: standing(own, by, organization),
        change: change.filter(|_| is_theirs).map(changed),
        instructions,
        claim: movement.claim().map(|claim| claim_facts(own, claim, by, organization)),
        proof: proof(movement, organization),
        evidence: evidence.iter().rev().map(|found| evidence_row(found, &url, organization)).collect(),
        form,
        host: session.in_person().map(|host| host.member.as_str().to_owned()),
        reference_types: reference_types(),
        fields: refused.fields.over(Fields::of([(EVIDENCE.currency, currency)])),
        withdrawing: refused.withdrawing,
        notice: refused.notice,
        url,
    };
    let shown = [view.agreement.id().uuid(), by.uuid(), movement.id().uuid()];
    Ok(PageResponse::render(&page)?.showing(shown))
}

fn changed(change: &InstructionsChange) -> String {
    let account = |ending: &str| {
        if ending.is_empty() { "another account".to_owned() } else { format!("the account ending in {ending}") }
    };
    let (before, after) = (account(&change.ending_before), account(&change.ending_after));
    format!("On {}, they changed from {before} to {after}.", change.at.shown())
}

fn reference_types() -> Vec<Choice> {
    let none = Choice { value: String::new(), text: "No reference".to_owned() };
    let choice = |kind: ReferenceType| Choice {
        value: kind.as_str().to_owned(),
        text: movements::reference_type(kind).to_owned(),
    };
    std::iter::once(none).chain(ReferenceType::ALL.into_iter().map(choice)).collect()
}

fn checked(organization: &str, movement: &Movement) -> String {
    let verification = movement.instructions().and_then(|instructions| instructions.verification.as_ref());
    match (movement.released().map(|Release { basis, .. }| *basis), verification) {
        (Some(ReleaseBasis::Verified), Some(verification)) => {
            format!(
                "Verified by a second member of {organization}: {}",
                movements::verification_method(verification.method)
            )
        }
        _ => format!("Not verified by a second member of {organization}: no other counted as one"),
    }
}

fn standing(own: &OwnPayment, by: ParticipantId, organization: &str) -> Standing {
    let movement = &own.movement;
    let is_in_flight = matches!(movement.state(), MovementState::SenderReported | MovementState::ReceiptPending);
    if let Some(rest) = payment_rest(movement).filter(|_| is_in_flight) {
        // Nobody here knows why it is missing: banks may take fees, and payers may pay in parts.
        let part = proven(movement);
        let line = if is_sender(movement, by) {
            format!(
                "{part}{organization} waits for proof of the rest. If you sent the whole amount, ask your bank about it. Ask {organization} before you send more."
            )
        } else {
            format!("{part}Look at your account, and report the rest here once your bank shows it.")
        };
        return said("plain", format!("{rest} is still missing"), line);
    }
    if is_sender(movement, by) { of_sender(own, organization) } else { of_receiver(own, organization) }
}

fn said(class: &'static str, title: impl Into<String>, line: impl Into<String>) -> Standing {
    Standing { title: title.into(), line: line.into(), class }
}

fn of_sender(own: &OwnPayment, organization: &str) -> Standing {
    let movement = &own.movement;
    let instructions = movement.instructions();
    let has_changed = instructions.is_some_and(|instructions| !instructions.changes.is_empty());
    match movement.state() {
        MovementState::Draft | MovementState::Authorized => {
            let earlier = if has_changed { " If you saw instructions here before, they no longer apply." } else { "" };
            said(
                "plain",
                "Instructions aren’t available yet",
                format!(
                    "{organization} releases them on this page. Don’t pay before that, and don’t follow instructions that reach you in any other way.{earlier}"
                ),
            )
        }
        MovementState::InstructionsReady => {
            said("plain", "You can pay now", "Follow the instructions below, then report it here.")
        }
        MovementState::SenderReported | MovementState::ReceiptPending if movement.claim().is_some() => said(
            "plain",
            "You reported this payment as sent",
            format!("{organization} waits for proof from the receiving side. You have nothing else to do."),
        ),
        MovementState::Processing => {
            said("plain", "Proof from the receiving side is under review", format!("{organization} decides about it."))
        }
        MovementState::SenderReported | MovementState::ReceiptPending => said(
            "plain",
            "This payment waits for proof that it arrived",
            format!("{organization} waits for the receiving side. Don’t send it again."),
        ),
        MovementState::Reconciled => said("good", "Confirmed received", "This payment is complete."),
        MovementState::Exception if movement.exception_reason() == Some(ExceptionReason::InstructionsChanged) => {
            // The account they saw when reporting: later changes name one they never saw.
            let reported = movement.claim().map(|claim| claim.reported_at);
            let change = instructions
                .and_then(|found| found.changes.iter().find(|change| reported.is_none_or(|at| change.at >= at)));
            let paid = change.map(|change| format!(" to the account ending in {}", change.ending_before));
            said(
                "bad",
                "The instructions changed after you reported this payment",
                format!(
                    "If you sent money{}, call {organization} and your bank now, on numbers that you know. Don’t send anything again until this page shows instructions.",
                    paid.unwrap_or_default()
                ),
            )
        }
        MovementState::Exception => said(
            "warn",
            "This payment needs attention",
            format!(
                "{organization} is looking into it. Don’t send money until this page shows instructions again. If you just sent it, call {organization}."
            ),
        ),
        MovementState::Returned => said(
            "warn",
            "The money came back to you",
            format!("{organization} has recorded that. Ask them before you send it again."),
        ),
        MovementState::Cancelled => said(
            "warn",
            "This payment was cancelled",
            format!("Don’t send it. If you have sent it already, call {organization} and your bank now."),
        ),
    }
}

fn of_receiver(own: &OwnPayment, organization: &str) -> Standing {
    let movement = &own.movement;
    let sender = party_name(&own.view, movement.terms().sender);
    match movement.state() {
        MovementState::Draft | MovementState::Authorized => {
            said("plain", "Not on its way yet", format!("{sender} doesn’t have the instructions for this payment yet."))
        }
        MovementState::InstructionsReady => said(
            "plain",
            "Expected",
            format!("{sender} has the instructions and can pay. Report it here once your bank shows the money."),
        ),
        MovementState::SenderReported | MovementState::ReceiptPending if movement.claim().is_some() => said(
            "plain",
            format!("{sender} says it was sent"),
            "That proves nothing yet. Look at your account, and report the money here once your bank shows it.",
        ),
        MovementState::SenderReported | MovementState::ReceiptPending => said(
            "plain",
            "This payment waits for proof that it arrived",
            "Look at your account, and report the money here once your bank shows it.",
        ),
        MovementState::Processing if own.evidence.iter().any(Evidence::is_undecided) => said(
            "plain",
            "You reported money as arrived",
            format!("{organization} still has to accept what you reported. Until then the payment isn’t confirmed."),
        ),
        MovementState::Processing => {
            said("plain", "Proof that it arrived is under review", format!("{organization} decides about it."))
        }
        MovementState::Reconciled => said("good", "Confirmed received", "This payment is complete."),
        MovementState::Exception => said(
            "warn",
            "This payment needs attention",
            format!("{organization} is looking into it, and will tell you if you have to do something."),
        ),
        MovementState::Returned => said(
            "warn",
            "The money went back",
            format!("{organization} has recorded that it was returned to {sender}."),
        ),
        // Money in flight may arrive late.
        MovementState::Cancelled if movement.takes_evidence_of(Side::Receiver) => said(
            "warn",
            "This payment was cancelled",
            format!("If money for it arrives nevertheless, report it here, and call {organization}."),
        ),
        MovementState::Cancelled => {
            said("warn", "This payment was cancelled", format!("If money for it arrives, call {organization}."))
        }
    }
}

fn claim_facts(own: &OwnPayment, claim: &Claim, by: ParticipantId, organization: &str) -> ClaimFacts {
    let name = party_name(&own.view, Some(claim.participant_id));
    let who = if claim.by.actor_type == ActorType::Participant {
        if claim.participant_id == by {
            "You reported it as sent".to_owned()
        } else {
            format!("{name} says it was sent")
        }
    } else if claim.participant_id == by {
        format!("{organization} recorded that you said it was sent")
    } else {
        format!("{organization} recorded that {name} says it was sent")
    };
    let references = claim
        .references
        .iter()
        .map(|reference| (movements::reference_type(reference.reference_type()), reference.value().to_owned()));
    let facts = std::iter::once(("Sent on", claim.sent_on.shown())).chain(references).collect();
    ClaimFacts { who, at: claim.reported_at.into(), facts }
}

/// How much of a payment is proven, as a sentence before others. Empty while nothing is.
fn proven(movement: &Movement) -> String {
    let received = movement.receipt().map_or(0, |receipt| receipt.received_minor);
    let said = movement.terms().money.filter(|_| received > 0).map(|money| {
        let received = money::in_app(received, money.currency().code());
        format!("{received} of {} is confirmed received. ", money.for_people())
    });
    said.unwrap_or_default()
}

fn proof(movement: &Movement, organization: &str) -> Proof {
    let (partial, rest) = (proven(movement), payment_rest(movement));
    let part_or = |nothing| if rest.is_some() { "Confirmed in part" } else { nothing };
    let (title, line, at, is_confirmed) = match (movement.state(), movement.confirmation()) {
        (MovementState::Reconciled, Some(confirmation)) => (
            "Confirmed received",
            format!("By {}, which {organization} accepted.", movements::basis(confirmation.basis)),
            Some(confirmation.confirmed_at.into()),
            true,
        ),
        (MovementState::Processing, _) => {
            ("Under review", format!("{partial}{organization} decides whether it counts."), None, false)
        }
        (MovementState::Exception, _) => {
            (part_or("Not confirmed"), format!("{partial}{organization} is looking into this payment."), None, false)
        }
        (MovementState::Returned, _) => ("Returned", "The money went back to the sender.".to_owned(), None, false),
        (MovementState::Cancelled, _) => ("None", "The payment was cancelled.".to_owned(), None, false),
        _ => {
            let line = match &rest {
                Some(rest) => format!("{partial}{rest} is still missing."),
                None => "Nothing confirms yet that the whole amount arrived.".to_owned(),
            };
            (part_or("None yet"), line, None, false)
        }
    };
    Proof { title: title.to_owned(), line, at, is_confirmed }
}

fn evidence_row(evidence: &Evidence, url: &str, organization: &str) -> EvidenceRow {
    let facts = evidence.facts();
    let is_receipt = evidence.source().side() == Side::Receiver;
    let badge = match evidence.state() {
        EvidenceState::Filed if is_receipt => Badge { text: "Not accepted yet", class: "amber" },
        EvidenceState::Filed => Badge { text: "On file", class: "quiet" },
        EvidenceState::Accepted { .. } => Badge { text: "Accepted", class: "green" },
        EvidenceState::Rejected { .. } => Badge { text: "Rejected", class: "red" },
        EvidenceState::Withdrawn { .. } => Badge { text: "Withdrawn", class: "quiet" },
    };
    let mut shown = vec![
        (if is_receipt { "Amount received" } else { "Amount sent" }, facts.money.for_people()),
        ("Value date", facts.value_day.shown()),
    ];
    shown.extend(facts.reference.as_ref().map(|reference| ("Bank reference", masked(reference.as_str()))));
    shown.extend(facts.file.iter().map(|EvidenceFile { name, content, .. }| {
        ("File", format!("{}, {}", name.as_str(), size(content.size_bytes)))
    }));
    if let EvidenceState::Rejected { .. } = evidence.state() {
        shown.push(("Decision", format!("{organization} rejected it. Ask them why.")));
    }
    EvidenceRow {
        id: evidence.id(),
        source: movements::evidence_source(evidence.source()),
        proves: movements::assurance(evidence.source().assurance()),
        facts: shown,
        file: facts.file.as_ref().map(|_| format!("{url}/evidence/{}/file", evidence.id())),
        badge,
        at: evidence.filed_at().into(),
        can_withdraw: evidence.is_undecided(),
    }
}

/// The ending of a bank's reference, which may be long or a mistaken account number.
fn masked(reference: &str) -> String {
    match ending(reference) {
        end if end.is_empty() => "On record".to_owned(),
        end => format!("Ending in {end}"),
    }
}

pub(crate) async fn download(request: &mut Request) -> Result<PageResponse, Error> {
    let (movement, id): (MovementId, EvidenceId) = (request.path_id("movement")?, request.path_id("evidence")?);
    let session = request.participant_session()?;
    let (scope, by) = (session.scope(), session.participant());
    let evidence = own_movements::own_evidence(scope, by, movement, id).await?;
    let EvidenceFile { name, content, file_type } = evidence.facts().file.as_ref().ok_or_else(Error::not_found)?;
    let file = request.app().files()?.get(scope.org(), content).await?;
    let media_type = file_type.map_or("application/octet-stream", |file_type| file_type.media_type());
    // Never displayed in the browser: only its format was checked.
    let page = PageResponse::file(file, media_type, "attachment", name.as_str());
    Ok(page.showing([by.id().uuid(), movement.uuid(), id.uuid()]))
}
