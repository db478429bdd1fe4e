//! Members' acts on a payment that need nothing but the payment itself.

use pages::done::redirect_with;
use pages::fields::read_day;
use pages::form::Field;
use pages::layout::Notice;
use pages::response::PageResponse;
use pages::urls::movement_url;
use shared::domain::day::Day;
use shared::domain::ids::MovementId;
use shared::domain::movement::claim::{NewClaim, ReferenceType, TransferReference};
use shared::domain::movement::instructions::{NewVerification, ToTypeAgain};
use shared::domain::movement::safe_text::SafeNote;
use shared::domain::movement::state::ExceptionReason;
use shared::domain::movement::surplus::SurplusOutcome;
use shared::domain::movement::{NotMoved, Resolution};
use shared::error::Error;
use shared::service::movements::{self, InstructionsToVerify, MovementAct, TypedVerification};
use shared::web::{Form, Request};
use shared::wire::fields::{FieldCode, FieldErrors};

use crate::movement::act_forms::{CLAIM, EXCEPTION, REASON, RESOLUTION};
use crate::movement::form::Typed;
use crate::movement::page;
use crate::movement::refusal::{line, refusal};

/// Does an act, or shows the page again with what was typed in form `name` and the errors.
async fn act(
    request: &Request,
    name: &str,
    act: Result<MovementAct, FieldErrors>,
    done: Notice,
) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let id: MovementId = request.path_id("id")?;
    let act = match act {
        Ok(act) => act,
        Err(errors) => return wrong(request, name, submitted.form(), errors).await,
    };
    let redirect = redirect_with(&submitted, format!("{}#notice", movement_url(id)), &done).await;
    let (scope, by) = (submitted.scope(), submitted.submitter());
    match submitted.run(|| movements::act(scope, by, id, act.clone())).await? {
        Ok(()) => Ok(redirect.into()),
        Err(refused) => {
            let typed = Typed::new(name, submitted.form(), FieldErrors::default());
            Ok(page(request, typed, Some(refusal(refused))).await?.conflicting())
        }
    }
}

pub(super) async fn wrong(
    request: &Request,
    name: &str,
    form: &Form,
    errors: FieldErrors,
) -> Result<PageResponse, Error> {
    Ok(page(request, Typed::new(name, form, errors), None).await?.unprocessable())
}

pub(super) fn read_reason(form: &Form) -> Result<SafeNote, FieldErrors> {
    SafeNote::parse(form.get(REASON.reason)).map_err(|(code, message)| FieldErrors::one(REASON.reason, code, message))
}

pub(super) fn not_chosen(field: Field<'_>) -> FieldErrors {
    FieldErrors::one(field, FieldCode::Required, "must be chosen")
}

/// The revision of instructions that a form showed; 0 if it showed none.
fn revision(form: &Form) -> u32 {
    form.get("revision").parse().unwrap_or(0)
}

pub(crate) async fn authorize(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let movement = movements::get(submitted.scope(), request.path_id("id")?).await?.movement;
    let next = match movement.instructions() {
        None => "Next: the payer needs instructions that are verified and released.",
        Some(entered) if entered.has_verification_ended() => "Next: enter the instructions again.",
        Some(entered) if entered.verification.is_none() => "Next: verify the instructions, then release them.",
        Some(_) => "The instructions are verified. Next: release them to the payer.",
    };
    act(request, "authorize", Ok(MovementAct::Authorize), Notice::good("Payment authorized", next)).await
}

pub(crate) async fn verify(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let (id, form): (MovementId, _) = (request.path_id("id")?, submitted.form());
    let (scope, by) = (submitted.scope(), submitted.submitter());
    let movement = movements::get(scope, id).await?.movement;
    let keys = request.app().webhooks()?.keys.newest().await?;
    let opened = InstructionsToVerify::load(scope, &keys, &movement).await?;
    let to_type = opened.as_ref().map(InstructionsToVerify::to_type_again);
    let typed = |errors: FieldErrors| Typed::new("verify", form, errors);
    let new = match read_verification(form, to_type.as_ref()) {
        Ok(new) => new,
        Err(errors) => return Ok(page(request, typed(errors), None).await?.unprocessable()),
    };
    let done = Notice::good("Instructions verified", "Next: release them to the payer.");
    let redirect = redirect_with(&submitted, format!("{}#notice", movement_url(id)), &done).await;
    match submitted.run(|| movements::verify_instructions(scope, by, id, &keys, opened.as_ref(), &new)).await? {
        Ok(()) => Ok(redirect.into()),
        Err(refused @ NotMoved::OtherNumbers(_)) => {
            let notice = Notice::bad("These are not the numbers that were entered", line(refused));
            Ok(page(request, typed(FieldErrors::default()), Some(notice)).await?.unprocessable())
        }
        Err(refused) => Ok(page(request, typed(FieldErrors::default()), Some(refusal(refused))).await?.conflicting()),
    }
}

fn read_verification(form: &Form, to_type: Option<&ToTypeAgain>) -> Result<TypedVerification, FieldErrors> {
    let typed = |part: &str| form.get(part);
    // The rules refuse it if the instructions can't be read.
    let accounts = to_type.map_or_else(|| Ok(Vec::new()), |to_type| to_type.read(typed));
    match (accounts, NewVerification::read(typed)) {
        (Ok(accounts), Ok(verification)) => Ok(TypedVerification { revision: revision(form), verification, accounts }),
        (accounts, verification) => {
            let mut errors = accounts.err().unwrap_or_default();
            errors.extend(verification.err().unwrap_or_default());
            Err(errors)
        }
    }
}

pub(crate) async fn release(request: &mut Request) -> Result<PageResponse, Error> {
    let shown = revision(request.submitted_form()?.form());
    let done = Notice::good("Instructions released", "Next: the payer sees them on their page, and pays.");
    act(request, "release", Ok(MovementAct::ReleaseInstructions(shown)), done).await
}

pub(crate) async fn record_claim(request: &mut Request) -> Result<PageResponse, Error> {
    let today = {
        let zone = &request.signed_in()?.organization().time_zone;
        zone.day_of(request.now())
    };
    let claim = read_claim(request.submitted_form()?.form(), today);
    let done = Notice::plain("Claim recorded", "It proves nothing about the arrival. Next: ask for proof.");
    act(request, "claim", claim.map(MovementAct::RecordClaim), done).await
}

fn read_claim(form: &Form, today: Day) -> Result<NewClaim, FieldErrors> {
    let is_blank = |field: Field<'_>| form.get(field).trim().is_empty();
    let reference = match (is_blank(CLAIM.reference_type), is_blank(CLAIM.reference)) {
        (true, true) => Ok(Vec::new()),
        (true, false) => Err(not_chosen(CLAIM.reference_type)),
        (false, true) => Err(FieldErrors::one(CLAIM.reference, FieldCode::Required, "is missing")),
        (false, false) => match ReferenceType::parse(form.get(CLAIM.reference_type)) {
            None => Err(not_chosen(CLAIM.reference_type)),
            Some(reference_type) => TransferReference::parse(reference_type, form.get(CLAIM.reference))
                .map(|reference| vec![reference])
                .map_err(|(code, message)| FieldErrors::one(CLAIM.reference, code, message)),
        },
    };
    match (read_day(form, CLAIM.sent_on), reference) {
        (Ok(sent_on), Ok(references)) => NewClaim::checked(sent_on, today, references),
        (sent_on, references) => {
            let mut errors = sent_on.err().unwrap_or_default();
            errors.extend(references.err().unwrap_or_default());
            Err(errors)
        }
    }
}

pub(crate) async fn ask_for_proof(request: &mut Request) -> Result<PageResponse, Error> {
    let line = "Countersign sends no email: tell the payee, whose page asks for it now.";
    let done = Notice::plain("Waiting for proof that it arrived", line);
    act(request, "ask-for-proof", Ok(MovementAct::AskForProof), done).await
}

pub(crate) async fn flag(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let form = submitted.form();
    let reason = ExceptionReason::parse(form.get(EXCEPTION.reason)).ok_or_else(|| not_chosen(EXCEPTION.reason));
    let note = match form.get(EXCEPTION.note) {
        blank if blank.trim().is_empty() => Ok(None),
        text => {
            SafeNote::parse(text).map(Some).map_err(|(code, message)| FieldErrors::one(EXCEPTION.note, code, message))
        }
    };
    let doing = match (reason, note) {
        (Ok(reason), Ok(note)) => Ok(MovementAct::Flag(reason, note)),
        (reason, note) => {
            let mut errors = reason.err().unwrap_or_default();
            errors.extend(note.err().unwrap_or_default());
            Err(errors)
        }
    };
    let done = Notice::warn("Exception flagged", "Next: find out what happened, then resolve it.");
    act(request, "exception", doing, done).await
}

pub(crate) async fn record_return(request: &mut Request) -> Result<PageResponse, Error> {
    let reason = read_reason(request.submitted_form()?.form());
    let done = Notice::good("Return recorded", "The payment has ended: the money came back to the payer.");
    act(request, "return", reason.map(MovementAct::RecordReturn), done).await
}

pub(crate) async fn cancel(request: &mut Request) -> Result<PageResponse, Error> {
    let reason = read_reason(request.submitted_form()?.form());
    let done = Notice::good("Payment cancelled", "It will not take place.");
    act(request, "cancel", reason.map(MovementAct::Cancel), done).await
}

/// Parses an exception's resolution, and reports all errors about a surplus at once.
fn read_resolution(form: &Form, today: Day) -> Result<Resolution, FieldErrors> {
    let note = || {
        SafeNote::parse(form.get(RESOLUTION.note))
            .map_err(|(code, message)| FieldErrors::one(RESOLUTION.note, code, message))
    };
    match form.get(RESOLUTION.resolution) {
        "await_proof" => Ok(Resolution::AwaitProof),
        "send_again" => Ok(Resolution::SendAgain),
        "surplus_kept" => Ok(Resolution::Surplus(SurplusOutcome::Kept { note: note()? })),
        "surplus_returned" => match (read_day(form, RESOLUTION.returned_on), note()) {
            (Ok(on), Ok(note)) => SurplusOutcome::returned(on, today, note).map(Resolution::Surplus),
            (on, note) => {
                let mut errors = on.err().unwrap_or_default();
                errors.extend(note.err().unwrap_or_default());
                Err(errors)
            }
        },
        _ => Err(not_chosen(RESOLUTION.resolution)),
    }
}

pub(crate) async fn resolve(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let (id, form): (MovementId, _) = (request.path_id("id")?, submitted.form());
    let today = request.signed_in()?.organization().time_zone.day_of(request.now());
    let resolution = match read_resolution(form, today) {
        Ok(resolution) => resolution,
        Err(errors) => return wrong(request, "resolve", form, errors).await,
    };
    let line = match &resolution {
        Resolution::AwaitProof => "Next: proof from the receiving side.",
        Resolution::SendAgain => "The payment is authorized. Next: release the instructions.",
        Resolution::Surplus(_) => "The payment is confirmed received.",
    };
    let done = Notice::good("Exception resolved", line);
    let redirect = redirect_with(&submitted, format!("{}#notice", movement_url(id)), &done).await;
    let (scope, by) = (submitted.scope(), submitted.submitter());
    match submitted.run(|| movements::resolve(scope, by, id, resolution.clone())).await? {
        Ok(()) => Ok(redirect.into()),
        Err(refused) => {
            let typed = Typed::new("resolve", form, FieldErrors::default());
            Ok(page(request, typed, Some(refusal(refused))).await?.conflicting())
        }
    }
}
