//! The one next step of a payment, and the other possible acts.

use pages::layout::Link;
use pages::second_members::{who_can, why_alone, why_not_alone, why_one_self};
use pages::urls::{agreement_url, evidence_url, movement_url};
use shared::domain::agreement::gate::{GateRule, GateStatus};
use shared::domain::agreement::{Lifecycle, StageAction};
use shared::domain::ids::{EvidenceId, MovementId};
use shared::domain::member::Counting;
use shared::domain::money::{Money, in_app};
use shared::domain::movement::claim::ReferenceType;
use shared::domain::movement::instructions::{
    InstructionsKind, InstructionsStatus, NumberSource, ToTypeAgain, VerificationMethod,
};
use shared::domain::movement::source::{ChosenSource, Side};
use shared::domain::movement::state::{ExceptionReason, MovementState};
use shared::domain::movement::{Movement, NotMoved, Risk, Status};
use shared::service::movement_review::MovementReview;
use shared::text::declined_by;
use shared::text::movements as words;

use crate::movement::form::{ActForm, Choice, Inputs, VerificationInputs};
use crate::movement::{Shown, capitalized, link_of, refusal};

pub(super) struct Next {
    pub text: String,
    pub lines: Vec<String>,
    pub form: Option<ActForm>,
    pub link: Option<Link>,
    pub is_done: bool,
}

pub(super) struct Other {
    pub summary: String,
    pub form: ActForm,
    /// Whether it is open, because it was refused or is the next step.
    pub is_open: bool,
}

/// The form that files evidence: its name, anchor and the last part of its URL.
pub(super) const FILE: &str = "evidence";

impl Next {
    fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), lines: Vec::new(), form: None, link: None, is_done: false }
    }

    fn of(form: ActForm) -> Self {
        Self { form: Some(form), ..Self::text("") }
    }

    fn done(text: impl Into<String>) -> Self {
        Self { is_done: true, ..Self::text(text) }
    }
}

pub(super) fn acts(shown: &Shown<'_>) -> (Next, Vec<Other>) {
    (if_declined(shown, next(shown)), others(shown))
}

/// Says before a payment is prepared that its agreement may not go on.
fn if_declined(shown: &Shown<'_>, next: Next) -> Next {
    let MovementReview { movement, agreement, contacts, .. } = shown.review;
    let is_prepared = matches!(movement.status(), Status::Draft | Status::Authorized);
    let Some(names) = declined_by(agreement, contacts).filter(|_| is_prepared) else { return next };
    let text = format!("{names} declined a condition, so the agreement may not go on. {}", next.text);
    Next { text: text.trim_end().to_owned(), ..next }
}

fn next(shown: &Shown<'_>) -> Next {
    let MovementReview { movement, agreement, .. } = shown.review;
    let is_active = agreement.lifecycle() == Lifecycle::Active;
    match movement.status() {
        Status::Draft if agreement.lifecycle() == Lifecycle::Draft => shown.elsewhere(
            "This payment is part of a draft. It can be authorized once the agreement is published.".to_owned(),
        ),
        Status::Draft if is_active => authorize(shown),
        Status::Authorized if is_active => {
            let next = instruct(shown);
            Next { lines: next.lines.into_iter().chain(rest(movement)).collect(), ..next }
        }
        Status::Draft | Status::Authorized => {
            shown.elsewhere(refusal::line(NotMoved::NotActive(agreement.lifecycle())))
        }
        Status::InstructionsReady => {
            let payer = shown.payer();
            let text = format!(
                "{payer} can see the instructions. Waiting for {payer} to send the money, and to say so on their page."
            );
            let lines = rest(movement).into_iter().collect();
            Next { link: link_of(shown, movement.terms().sender), lines, ..Next::text(text) }
        }
        Status::SenderReported => {
            let text = format!(
                "{} says it was sent. That proves nothing about its arrival: ask {} for proof, or file what you have. Asking is recorded; tell them yourself.",
                shown.payer(),
                shown.payee()
            );
            Next::of(shown.act("ask-for-proof", "Ask for proof", text))
        }
        Status::ReceiptPending => {
            let text =
                format!("Waiting for proof that it arrived. File it once {} or their bank has it.", shown.payee());
            let link = Link { url: format!("#{FILE}"), text: "File evidence".to_owned() };
            Next { link: Some(link), ..Next::text(text) }
        }
        Status::Processing => review(shown),
        Status::Reconciled(confirmation) => {
            let text = "Nothing is left to do: the arrival is confirmed.";
            let lines = vec![format!("It rests on {}.", words::basis(confirmation.basis))];
            Next { lines, ..Next::done(text) }
        }
        Status::Exception(exception) => {
            let reason = capitalized(words::exception(exception.reason));
            let mut lines: Vec<String> = exception.note.iter().map(|note| format!("“{}”", note.as_str())).collect();
            if exception.reason == ExceptionReason::AmountOver {
                lines.extend(over(shown));
            }
            lines.extend(rest(movement));
            if cancels_first(movement) {
                let text = format!("{reason}. Cancel the payment unless you are sure that it is genuine.");
                return Next { text, lines, ..Next::of(cancel(shown)) };
            }
            Next { text: format!("{reason}. Decide what happens next."), lines, ..Next::of(resolve(shown)) }
        }
        Status::Returned(_) => Next::done("Nothing is left to do: the money came back."),
        Status::Cancelled(_) if movement.ended_with_its_agreement() => late(shown),
        Status::Cancelled(_) => {
            Next { lines: received(movement), ..Next::done("Nothing is left to do: this payment was cancelled.") }
        }
    }
}

/// The next step for a payment cancelled with its agreement: money sent before may arrive late.
fn late(shown: &Shown<'_>) -> Next {
    let movement = &shown.review.movement;
    if movement.has_undecided_receipt() {
        return review(shown);
    }
    let line = "Was it sent before that? File evidence of its arrival, or record that it came back. The payment stays cancelled, and what is recorded is marked as late.";
    let mut lines = vec![line.to_owned()];
    lines.extend(if movement.late_minor() > 0 { vec![words::movement_sentence(movement)] } else { received(movement) });
    Next { lines, ..Next::done("This payment was cancelled when its agreement ended.") }
}

fn received(movement: &Movement) -> Vec<String> {
    let line = |(received, due)| format!("{received} of {due} had been confirmed received before that.");
    figures(movement).filter(|_| movement.has_received()).map(line).into_iter().collect()
}

fn figures(movement: &Movement) -> Option<(String, String)> {
    let money = movement.terms().money?;
    let received = movement.receipt().map_or(0, |receipt| receipt.received_minor);
    Some((in_app(received, money.currency().code()), money.for_people()))
}

fn rest(movement: &Movement) -> Option<String> {
    let (received, due) = figures(movement).filter(|_| movement.has_received() && movement.can_be_cancelled())?;
    Some(format!(
        "{received} of {due} is confirmed received. If the rest won’t be paid, cancel the payment: what arrived stays confirmed."
    ))
}

fn over(shown: &Shown<'_>) -> Vec<String> {
    let movement = &shown.review.movement;
    let Some((received, due)) = figures(movement) else { return Vec::new() };
    if movement.can_be_cancelled() {
        return vec![format!(
            "{received} of {due} counts as received now. Resolve it with “Wait for proof”, then file evidence of exactly what stayed."
        )];
    }
    vec![
        format!("{received} counts as received, but {due} is due. Agree with {} what becomes of the difference, then say so here.", shown.payer()),
        "If a document was accepted by mistake: withdraw that evidence, resolve with “Wait for proof”, and file evidence of exactly what stayed.".to_owned(),
        "If all of the money went back, record the return.".to_owned(),
    ]
}

fn authorize(shown: &Shown<'_>) -> Next {
    let MovementReview { movement, agreement, .. } = shown.review;
    if !agreement.lets_authorize(movement.id()) {
        return shown.elsewhere(refusal::line(NotMoved::StepNotDone(StageAction::OpenMovement)));
    }
    let amount = movement.terms().money.map(Money::for_people).unwrap_or_default();
    let (from, to) = (shown.payer(), shown.payee());
    let text = format!("Authorizing lets {from} pay {to} {amount}. Countersign moves no money.");
    Next::of(shown.act("authorize", "Authorize", text))
}

fn instruct(shown: &Shown<'_>) -> Next {
    let movement = &shown.review.movement;
    let Some(instructions) = movement.instructions() else {
        let text = format!("Say where {} sends the money.", shown.payer());
        let link = Link { url: instructions_url(movement.id()), text: "Enter instructions".to_owned() };
        return Next { link: Some(link), ..Next::text(text) };
    };
    if instructions.has_verification_ended() {
        let text = refusal::line(NotMoved::VerificationEnded);
        let link = Link { url: instructions_url(movement.id()), text: "Enter instructions".to_owned() };
        return Next { link: Some(link), ..Next::text(text) };
    }
    match (verify(shown), release(shown)) {
        (Some(verify), _) if instructions.verification.is_none() => Next::of(verify),
        (_, Some(release)) => Next::of(release),
        (Some(verify), None) => Next::of(verify),
        (None, None) if !instructions.is_verified_by_another() => why_not_verified(shown, instructions),
        (None, None) => shown.elsewhere(refusal::line(NotMoved::StepNotDone(StageAction::ReleaseInstructions))),
    }
}

fn why_not_verified(shown: &Shown<'_>, instructions: &InstructionsStatus) -> Next {
    let (by, seconds) = (shown.by.id(), &shown.review.seconds);
    match (instructions.entered_by.member(), shown.counting()) {
        (Some(first), Counting::OneSelf) => Next::text(why_one_self(seconds, by, first, shown.zone)),
        (_, Counting::Alone) => shown.elsewhere(refusal::line(NotMoved::StepNotDone(StageAction::ReleaseInstructions))),
        (first, _) if first == Some(by) => {
            let why = why_not_alone(seconds, by, shown.zone).unwrap_or_else(|| who_can(seconds, by));
            Next { lines: vec![why], ..Next::text(refusal::line(NotMoved::Own)) }
        }
        // They can't be read anymore: their key was dropped.
        _ => {
            let link =
                Link { url: instructions_url(shown.review.movement.id()), text: "Enter instructions".to_owned() };
            let text = "These instructions can’t be read anymore. Enter them again.";
            Next { link: Some(link), ..Next::text(text) }
        }
    }
}

fn review(shown: &Shown<'_>) -> Next {
    let movement = &shown.review.movement;
    let waiting: Vec<EvidenceId> =
        movement.receipts().iter().filter(|(_, entry)| !entry.is_accepted).map(|(id, _)| *id).collect();
    let text = match waiting.len() {
        1 => "Proof from the receiving side is waiting for review. Accept it, or reject it.".to_owned(),
        many => {
            format!("{many} pieces of proof from the receiving side are waiting for review. Accept or reject each.")
        }
    };
    let link = waiting.first().map(|id| Link {
        url: format!("{}/accept", evidence_url(movement.id(), *id)),
        text: "Review evidence".to_owned(),
    });
    Next { link, ..Next::text(text) }
}

pub(super) fn verify(shown: &Shown<'_>) -> Option<ActForm> {
    let movement = &shown.review.movement;
    let instructions = movement.instructions().filter(|_| !movement.state().is_done() && shown.is_published())?;
    let to_type = shown.to_type.as_ref()?;
    let counting = shown.counting();
    let is_alone = counting == Counting::Alone;
    let is_done = instructions.verification.is_some() && (is_alone || instructions.is_verified_by_another());
    let is_own = instructions.entered_by.is_member(shown.by.id()) && !is_alone;
    if is_done || is_own || counting == Counting::OneSelf || instructions.has_verification_ended() {
        return None;
    }
    let alone = if is_alone { format!(" {} do it.", why_alone(&shown.review.seconds)) } else { String::new() };
    let tries = match instructions.tries_left() {
        left if instructions.wrong_tries == 0 => format!("You have {left} tries."),
        1 => "One try is left.".to_owned(),
        left => format!("{left} tries are left."),
    };
    let text = format!(
        "Call {} at a number that you knew before, not one from a message, and type what they read out. The numbers that were entered are not shown. {tries}{alone}",
        shown.payee(),
    );
    let choice = |value, text: &str| Choice { value, text: text.to_owned(), about: "" };
    let methods = VerificationMethod::ALL;
    let form = shown.act("instructions/verify", "Verify instructions", text);
    Some(ActForm {
        name: "verify".to_owned(),
        fields: shown.typed.fields_of("verify", &[("method", VerificationMethod::CallBack.as_str())]),
        is_refused: shown.typed.is("verify"),
        hidden: vec![("revision", instructions.revision.to_string())],
        inputs: Inputs::Verification(VerificationInputs {
            text: match to_type {
                ToTypeAgain::Numbers { text, .. } => Some(text.clone()),
                ToTypeAgain::Account { .. } => None,
            },
            numbers: to_type.fields().into_iter().map(|field| (number_label(to_type, &field), field)).collect(),
            methods: methods.map(|method| choice(method.as_str(), words::verification_method(method))).to_vec(),
            sources: NumberSource::ALL.map(|source| choice(source.as_str(), words::number_source(source))).to_vec(),
        }),
        ..form
    })
}

fn number_label(to_type: &ToTypeAgain, field: &str) -> String {
    match (to_type, field.strip_prefix("number_")) {
        (ToTypeAgain::Numbers { .. }, Some(number)) => format!("Number {number}"),
        (ToTypeAgain::Account { kind, .. }, _) if field == "code" => match kind {
            InstructionsKind::Iban => "BIC".to_owned(),
            InstructionsKind::Aba => "Routing number".to_owned(),
            InstructionsKind::Other => "BIC or bank code".to_owned(),
        },
        (ToTypeAgain::Account { kind: InstructionsKind::Iban, .. }, _) => "IBAN".to_owned(),
        _ => "Account number".to_owned(),
    }
}

pub(super) fn release(shown: &Shown<'_>) -> Option<ActForm> {
    let MovementReview { movement, agreement, seconds, .. } = shown.review;
    let is_alone = seconds.is_alone(shown.by.id());
    let is_ready = movement.state() == MovementState::Authorized
        && agreement.lifecycle() == Lifecycle::Active
        && agreement.lets_release(movement.id());
    let instructions = movement.instructions().filter(|_| is_ready)?;
    if !is_alone && !instructions.is_verified_by_another() {
        return None;
    }
    let caution = if instructions.is_verified_by_another() {
        String::new()
    } else {
        format!(" No second member has verified them. {} do it.", why_alone(seconds))
    };
    let text = format!(
        "{} will see the account ending in {} in full, and can pay.{caution}",
        shown.payer(),
        ending(&instructions.ending)
    );
    let form = shown.act("instructions/release", "Release instructions", text);
    Some(ActForm {
        name: "release".to_owned(),
        hidden: vec![("revision", instructions.revision.to_string())],
        is_refused: shown.typed.is("release"),
        ..form
    })
}

pub(super) fn ending(ending: &str) -> String {
    if ending.is_empty() { "characters that can’t be shown".to_owned() } else { format!("…{ending}") }
}

fn file(shown: &Shown<'_>) -> ActForm {
    let movement = &shown.review.movement;
    let takes = |chosen: &ChosenSource| movement.takes_evidence_of(chosen.source().side());
    let choices = ChosenSource::all().filter(takes).map(|chosen| Choice {
        value: chosen.source().as_str(),
        text: words::evidence_source(chosen.source()).to_owned(),
        about: words::assurance(chosen.source().assurance()),
    });
    let currency = movement.terms().money.map(|money| money.currency().code()).unwrap_or_default();
    let text = "What it can prove follows from its source. Filing proves nothing yet: a member has to accept it.";
    ActForm {
        inputs: Inputs::Evidence(choices.collect()),
        fields: shown.typed.fields_of(FILE, &[("currency", currency)]),
        ..shown.act(FILE, "File evidence", text)
    }
}

fn resolve(shown: &Shown<'_>) -> ActForm {
    let mut choices = vec![
        Choice {
            value: "await_proof",
            text: "Wait for proof".to_owned(),
            about: "The money may have arrived, or be on its way. If accepted evidence already adds up to the amount, members review all of it again.",
        },
        Choice {
            value: "send_again",
            text: "Send again".to_owned(),
            about: "The money has to be sent, or sent again. The payment is authorized again, and its instructions are released again.",
        },
    ];
    let MovementReview { movement, agreement, .. } = shown.review;
    // Nothing is sent once the agreement is over or everything has arrived.
    choices.truncate(if agreement.lifecycle() == Lifecycle::Active { 2 } else { 1 });
    let is_over = movement.exception_reason() == Some(ExceptionReason::AmountOver);
    let surplus = movement.terms().money.filter(|_| is_over && movement.surplus_minor() > 0);
    let Some(due) = surplus else {
        let text = "This doesn’t mark the payment as received.";
        return ActForm { inputs: Inputs::Resolve(choices, false), ..shown.act("resolve", "Resolve", text) };
    };
    let surplus = in_app(movement.surplus_minor(), due.currency().code());
    choices.truncate(1);
    let ways = [
        ("surplus_returned", "The surplus was returned", "It went back to the payer. Say when and how."),
        ("surplus_kept", "The surplus is kept", "The payer agreed to that. Say who did, and how."),
    ];
    let ways = ways.map(|(value, text, about)| Choice { value, text: format!("{text}: {surplus}"), about });
    let text =
        "All of the amount is proven. Once you say what became of the surplus, the payment is confirmed received.";
    ActForm {
        inputs: Inputs::Resolve(ways.into_iter().chain(choices).collect(), true),
        ..shown.act("resolve", "Resolve", text)
    }
}

/// Whether the safe act comes first: nothing is sent to a fraudster.
fn cancels_first(movement: &Movement) -> bool {
    movement.risk() == Some(Risk::SuspectedFraud) && movement.can_be_cancelled()
}

fn cancel(shown: &Shown<'_>) -> ActForm {
    let movement = &shown.review.movement;
    let text = match figures(movement).filter(|_| movement.has_received()) {
        Some((received, due)) => format!(
            "{received} of {due} stays confirmed received. The rest will not be paid, and is owed no more. This can’t be undone."
        ),
        None => "The payment will not take place. This can’t be undone.".to_owned(),
    };
    with_reason(shown.act("cancel", "Cancel payment", text))
}

fn with_reason(form: ActForm) -> ActForm {
    ActForm { is_harmful: true, inputs: Inputs::Reason(""), ..form }
}

fn others(shown: &Shown<'_>) -> Vec<Other> {
    let MovementReview { movement, .. } = shown.review;
    let state = movement.state();
    let mut found = Vec::new();
    if !shown.is_published() {
        return found;
    }
    let mut offer = |is_possible: bool, summary: &str, form: ActForm| {
        if is_possible {
            let is_open = form.is_refused || (form.name == FILE && state == MovementState::ReceiptPending);
            found.push(Other { summary: summary.to_owned(), form, is_open });
        }
    };
    let takes_evidence = movement.takes_evidence_of(Side::Sender) || movement.takes_evidence_of(Side::Receiver);
    offer(state.takes_claim(), "Record sender's claim…", claim(shown));
    offer(takes_evidence, "File evidence…", file(shown));
    let flag = shown.act("exception", "Flag exception", flag_text(shown));
    let reasons = ExceptionReason::ALL.into_iter().filter(|reason| reason.can_be_flagged()).map(flagged);
    offer(
        state.can_be_flagged(),
        "Flag exception…",
        ActForm { is_harmful: true, inputs: Inputs::Exception(reasons.collect()), ..flag },
    );
    let text = format!(
        "Record this when the money came back to the payer. This ends the payment, and can’t be undone.{}",
        shown.ends_agreement()
    );
    offer(movement.can_be_returned(), "Record return…", with_reason(shown.act("return", "Record return", text)));
    if cancels_first(movement) {
        offer(true, "Resolve…", resolve(shown));
    } else {
        offer(movement.can_be_cancelled(), "Cancel payment…", cancel(shown));
    }
    found
}

fn claim(shown: &Shown<'_>) -> ActForm {
    let choices = ReferenceType::ALL.map(|reference| Choice {
        value: reference.as_str(),
        text: words::reference_type(reference).to_owned(),
        about: "",
    });
    let text = format!("Record what {} told you. It proves nothing about the arrival.", shown.payer());
    ActForm { inputs: Inputs::Claim(choices.to_vec()), ..shown.act("claim", "Record sender's claim", text) }
}

fn flag_text(shown: &Shown<'_>) -> String {
    let MovementReview { movement, agreement, .. } = shown.review;
    let text = "The payment stops until a member resolves it. Subscribers to webhooks are told the reason.";
    let waits = agreement.stages.iter().flat_map(|stage| &stage.gates).any(|gate| {
        matches!(gate.rule, GateRule::MovementReconciled { movement_id } if movement_id == Some(movement.id()))
            && gate.state.status() == GateStatus::Cleared
    });
    if movement.state().is_reconciled() && waits {
        let effect = if agreement.lifecycle() == Lifecycle::Completed {
            ". The agreement stays completed."
        } else {
            ": a condition that waited for it opens again while its step is current."
        };
        return format!("{text} Its arrival no longer counts as confirmed{effect}");
    }
    format!("{text}{}", shown.ends_agreement())
}

fn flagged(reason: ExceptionReason) -> Choice {
    let text = match reason {
        ExceptionReason::Other => "Another reason, in the note".to_owned(),
        reason => capitalized(words::exception(reason)),
    };
    Choice { value: reason.as_str(), text, about: "" }
}

impl Shown<'_> {
    fn elsewhere(&self, text: String) -> Next {
        let link = Link { url: agreement_url(self.review.agreement.id()), text: "Go to the agreement".to_owned() };
        Next { link: Some(link), ..Next::text(text) }
    }

    fn counting(&self) -> Counting {
        let entered_by = self.review.movement.instructions().and_then(|found| found.entered_by.member());
        self.review.seconds.counting(self.by.id(), entered_by)
    }

    /// Whether members can act on the payment: its agreement was published.
    pub fn is_published(&self) -> bool {
        self.review.agreement.was_published()
    }
}

pub(super) fn instructions_url(id: MovementId) -> String {
    format!("{}/instructions", movement_url(id))
}
