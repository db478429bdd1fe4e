//! Members' acts on an item, each a form on its page.

use http::StatusCode;
use pages::chosen;
use pages::done::{redirect_with, with_notice};
use pages::layout::Notice;
use pages::response::PageResponse;
use pages::uploads::keep_file;
use pages::urls::item_url;
use shared::domain::day::Day;
use shared::domain::funding::input::{Nullable, Parking};
use shared::domain::funding::proof::{NewProof, ProofSource};
use shared::domain::funding::{AssetKind, CloseReason, FundingItem, Verb, WaitingOn, sensitive};
use shared::domain::ids::{FundingItemId, ProofId, SubmissionId};
use shared::domain::member::funding::NotDone;
use shared::domain::movement::evidence::EvidenceFile;
use shared::domain::movement::safe_text::{SafeLine, SafeNote};
use shared::domain::note::Note;
use shared::error::Error;
use shared::service::funding_items::{self, FundingAct, SavedInForm};
use shared::service::precondition::ExpectedVersion;
use shared::service::shown::Shown;
use shared::text::{funding_words as words, next_step_of_item};
use shared::web::{Form, Request, SubmittedForm};
use shared::wire::fields::{FieldCode, FieldErrors};

use crate::facts::{self, DROPS, Dropped};
use crate::item::{
    CLAIM, CLAIM_FORM, CLOSE, CLOSING, CONFIRMATION, PARK, PARKING, PROOF, PROOF_FORM, REJECTION, SORT, WITHDRAW,
    WITHDRAWAL, page,
};
use crate::{Typed, not_chosen, not_possible};

async fn wrong(request: &Request, name: &str, form: &Form, errors: FieldErrors) -> Result<PageResponse, Error> {
    Ok(page(request, Typed::new(name, form, errors), None).await?.unprocessable())
}

/// Does a member's act, or shows the page again with what was typed in form `name` and the errors.
async fn act(
    request: &Request,
    name: &str,
    doing: Result<FundingAct, FieldErrors>,
    done: Notice,
) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let id: FundingItemId = request.path_id("id")?;
    let doing = match doing {
        Ok(doing) => doing,
        Err(errors) => return wrong(request, name, submitted.form(), errors).await,
    };
    let redirect = redirect_with(&submitted, format!("{}#notice", item_url(id)), &done).await;
    let (scope, by) = (submitted.scope(), submitted.submitter());
    let outcome = if is_decision(&doing) {
        let shown = Shown::from_form(submitted.form().get("shown"));
        submitted.run(|| funding_items::act_as_shown(scope, by, id, doing.clone(), &shown)).await?
    } else {
        submitted.run(|| funding_items::act(scope, by, id, doing.clone())).await?
    };
    match outcome {
        Ok(()) => Ok(redirect.into()),
        Err(refused) => not_done(request, name, submitted.form(), refused).await,
    }
}

/// Decisions follow what the page showed. Recorded or filed facts await one, and rejected ones don't change.
fn is_decision(act: &FundingAct) -> bool {
    use FundingAct::{AcceptProof, CloseUnfunded, FileProof, RecordClaim, RejectProof, Reopen, WithdrawClaim};

    match act {
        CloseUnfunded(..) | WithdrawClaim(_) | AcceptProof(_) | Reopen => true,
        RecordClaim(_) | FileProof(_) | RejectProof(..) => false,
    }
}

async fn not_done(request: &Request, name: &str, form: &Form, refused: NotDone) -> Result<PageResponse, Error> {
    let (title, line) = words::refusal(refused);
    let changed = match refused {
        NotDone::ChangedSinceShown(parts) => words::changed(parts),
        _ => String::new(),
    };
    let notice = Notice::new("bad", title.to_owned(), [changed, line.to_owned()]);
    let typed = Typed::new(name, form, FieldErrors::default());
    Ok(page(request, typed, Some(notice)).await?.conflicting())
}

fn read_note(form: &Form, field: &str) -> Result<Option<Note>, FieldErrors> {
    let text = form.get(field);
    if text.trim().is_empty() {
        return Ok(None);
    }
    let note = sensitive::check(text).and_then(|()| Note::parse(text));
    note.map(Some).map_err(|(code, message)| FieldErrors::one(field, code, message))
}

fn read_safe_note(form: &Form, field: &str) -> Result<Option<SafeNote>, FieldErrors> {
    let Some(note) = read_note(form, field)? else { return Ok(None) };
    let note = SafeNote::parse(note.as_str());
    note.map(Some).map_err(|(code, message)| FieldErrors::one(field, code, message))
}

pub(crate) async fn sort(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let (id, form): (FundingItemId, _) = (request.path_id("id")?, submitted.form());
    let item = funding_items::get(submitted.scope(), id).await?;
    let (changes, owner) = match (facts::read(form, &item), facts::read_owner(form)) {
        (Ok(changes), Ok(owner)) => (changes, owner),
        (changes, owner) => {
            let mut errors = changes.err().unwrap_or_default();
            errors.extend(owner.err().unwrap_or_default());
            return wrong(request, SORT, form, errors).await;
        }
    };
    if let Some(dropped) = Dropped::of(form, &item).filter(|dropped| !dropped.is_confirmed(form)) {
        let typed = Typed::new(SORT, form, FieldErrors::default()).with_field(DROPS, dropped.kind.as_str());
        let notice = Notice::warn("Nothing is saved yet", dropped.told());
        return Ok(page(request, typed, Some(notice)).await?.unprocessable());
    }
    // An invalid version matches no version of the item.
    let expected = ExpectedVersion::OneOf(form.get("version").parse().into_iter().collect());
    // Who owns it by a typed name is known once it is saved.
    let after = if owner.is_none() { item.sort(changes.clone(), request.now()).ok() } else { None };
    let done =
        |after: Option<&FundingItem>| Notice::good("Facts saved", after.map(next_step_of_item).unwrap_or_default());
    let location = format!("{}#notice", item_url(id));
    let redirect = redirect_with(&submitted, location.clone(), &done(after.as_deref())).await;
    let saving = || funding_items::update_in_form(&submitted, id, &expected, changes.clone(), owner.clone());
    match submitted.run(saving).await {
        Ok(_) if owner.is_none() => Ok(redirect.into()),
        Ok(SavedInForm { item, existing }) => {
            let mut notice = done(Some(&item));
            notice.lines.extend(owner.as_ref().map(|new| chosen::became_of(new, &existing)));
            Ok(with_notice(&submitted, location, &notice).await.into())
        }
        Err(Error::StaleMatch) => {
            let line = "Nothing was saved. The page shows the item as it is now, and the form what you typed. Press Save facts again to replace it.";
            let notice = Notice::warn("This item has changed since you opened it", line);
            let typed = Typed::new(SORT, form, FieldErrors::default());
            Ok(page(request, typed, Some(notice)).await?.refused(StatusCode::CONFLICT, "conflict"))
        }
        Err(Error::Invalid(errors) | Error::NotFound(errors)) if !errors.is_empty() => {
            not_sorted(request, &submitted, errors).await
        }
        Err(error) => Err(error),
    }
}

async fn not_sorted(
    request: &Request,
    submitted: &SubmittedForm<'_>,
    errors: FieldErrors,
) -> Result<PageResponse, Error> {
    let errors = in_own_words(errors, submitted.form());
    let of_item = errors.clone().into_list().into_iter().find(|error| error.field.starts_with("path."));
    let form = submitted.form();
    match of_item {
        Some(_) => {
            let line = "Nothing was saved. The facts of an item can be changed until it is papered or closed.";
            let notice = Notice::bad("The facts of this item can’t be changed now", line);
            Ok(page(request, Typed::new(SORT, form, FieldErrors::default()), Some(notice)).await?.conflicting())
        }
        None => wrong(request, SORT, form, errors).await,
    }
}

fn in_own_words(errors: FieldErrors, form: &Form) -> FieldErrors {
    let (kind, verb) = (AssetKind::parse(form.get("asset_kind")), Verb::parse(form.get("verb")));
    let Some((kind, _)) = kind.zip(verb) else { return errors };
    let mut said = FieldErrors::default();
    for error in errors.into_list() {
        let is_verb = error.code == FieldCode::VerbNotAllowed;
        let message = if is_verb { not_possible(kind) } else { error.message };
        said.extend(FieldErrors::one(error.field, error.code, message));
    }
    said
}

pub(crate) async fn park_item(request: &mut Request) -> Result<PageResponse, Error> {
    let form = request.submitted_form()?.form();
    let waiting_on = WaitingOn::parse(form.get(PARKING.waiting_on)).ok_or_else(|| not_chosen(PARKING.waiting_on.name));
    let parking = match (waiting_on, read_note(form, PARKING.note.name)) {
        (Ok(waiting_on), Ok(note)) => Ok(Parking { waiting_on: Nullable(Some(waiting_on)), note }),
        (waiting_on, note) => {
            let mut errors = waiting_on.err().unwrap_or_default();
            errors.extend(note.err().unwrap_or_default());
            Err(errors)
        }
    };
    let line = "While it is on hold, it can’t be papered, and its draft can’t be published.";
    park(request, parking, Notice::plain("On hold", line)).await
}

pub(crate) async fn clear_hold(request: &mut Request) -> Result<PageResponse, Error> {
    let parking = Parking { waiting_on: Nullable(None), note: None };
    let scope = request.signed_in()?.scope();
    let item = funding_items::get(scope, request.path_id("id")?).await?;
    let cleared = item.park(parking.clone(), scope.actor().clone(), request.now());
    let next = cleared.map(|after| next_step_of_item(&after)).unwrap_or_default();
    park(request, Ok(parking), Notice::good("Hold cleared", next)).await
}

async fn park(request: &Request, parking: Result<Parking, FieldErrors>, done: Notice) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let (id, form): (FundingItemId, _) = (request.path_id("id")?, submitted.form());
    let parking = match parking {
        Ok(parking) => parking,
        Err(errors) => return wrong(request, PARK, form, errors).await,
    };
    let redirect = redirect_with(&submitted, format!("{}#notice", item_url(id)), &done).await;
    match submitted.run(|| funding_items::park(&submitted, id, parking.clone())).await {
        Ok(_) => Ok(redirect.into()),
        Err(Error::Invalid(errors)) => {
            if errors.clone().into_list().iter().any(|error| error.field.starts_with("path.")) {
                let notice = Notice::bad("This item is closed", "Nothing was saved. A closed item waits for no one.");
                let typed = Typed::new(PARK, form, FieldErrors::default());
                return Ok(page(request, typed, Some(notice)).await?.conflicting());
            }
            wrong(request, PARK, form, errors).await
        }
        Err(error) => Err(error),
    }
}

pub(crate) async fn close_unfunded(request: &mut Request) -> Result<PageResponse, Error> {
    let form = request.submitted_form()?.form();
    let reason = CloseReason::parse(form.get(CLOSING.reason)).ok_or_else(|| not_chosen(CLOSING.reason.name));
    let doing = match (reason, read_note(form, CLOSING.note.name)) {
        (Ok(reason), Ok(note)) => Ok(FundingAct::CloseUnfunded(reason, note)),
        (reason, note) => {
            let mut errors = reason.err().unwrap_or_default();
            errors.extend(note.err().unwrap_or_default());
            Err(errors)
        }
    };
    let done = Notice::good("Closed as unfunded", "It counts as done, but not as funded. It can be reopened.");
    act(request, CLOSE, doing, done).await
}

pub(crate) async fn reopen(request: &mut Request) -> Result<PageResponse, Error> {
    let done = Notice::good("Reopened", "It no longer counts as done. Next: check its facts, then paper it again.");
    act(request, "reopen", Ok(FundingAct::Reopen), done).await
}

pub(crate) async fn record_claim(request: &mut Request) -> Result<PageResponse, Error> {
    let note = read_safe_note(request.submitted_form()?.form(), CLAIM_FORM.note.name);
    let done = Notice::plain("Claim recorded", "A claim is not proof, so this item is not done. Next: file proof.");
    act(request, CLAIM, note.map(FundingAct::RecordClaim), done).await
}

pub(crate) async fn withdraw_claim(request: &mut Request) -> Result<PageResponse, Error> {
    let doing = read_reason(request.submitted_form()?.form(), WITHDRAWAL.reason.name).map(FundingAct::WithdrawClaim);
    let line = "The item is in progress again. The claim stays in its history.";
    act(request, WITHDRAW, doing, Notice::good("Claim withdrawn", line)).await
}

fn read_reason(form: &Form, field: &str) -> Result<SafeNote, FieldErrors> {
    let reason = read_safe_note(form, field)?;
    reason.ok_or_else(|| FieldErrors::one(field, FieldCode::Required, "is missing"))
}

pub(crate) async fn file_confirmation(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let (id, form): (FundingItemId, _) = (request.path_id("id")?, submitted.form());
    let submission: SubmissionId = request.path_id("submission")?;
    let name = format!("{CONFIRMATION}-{submission}");
    let today = request.signed_in()?.organization().time_zone.day_of(request.now());
    let dated = match read_dated(form, today) {
        Ok(dated) => dated,
        Err(errors) => return wrong(request, &name, form, errors).await,
    };
    let redirect = redirect_with(&submitted, format!("{}#notice", item_url(id)), &filed()).await;
    let (scope, by) = (submitted.scope(), submitted.submitter());
    match submitted.run(|| funding_items::file_confirmation(scope, by, id, submission, dated)).await? {
        Ok(()) => Ok(redirect.into()),
        Err(refused) => not_done(request, &name, form, refused).await,
    }
}

fn filed() -> Notice {
    Notice::plain("Proof filed", "It does not count yet. Next: review it, then accept or reject it.")
}

fn read_dated(form: &Form, today: Day) -> Result<Day, FieldErrors> {
    let day = pages::fields::read_day(form, PROOF_FORM.dated.name)?;
    let message = "must not be in the future";
    if day.is_to_come(today) {
        Err(FieldErrors::one(PROOF_FORM.dated, FieldCode::OutOfRange, message))
    } else {
        Ok(day)
    }
}

pub(crate) async fn file_proof(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let form = submitted.form();
    let today = request.signed_in()?.organization().time_zone.day_of(request.now());
    let mut new = match read_proof(submitted.new_id(), form, today) {
        Ok(new) => new,
        Err(errors) => return wrong(request, PROOF, form, errors).await,
    };
    // Don't store a file for a missing item.
    funding_items::get(submitted.scope(), request.path_id("id")?).await?;
    if let Some(file) = form.file(PROOF_FORM.file) {
        let kept = match SafeLine::parse(&file.name) {
            Err((FieldCode::SensitiveValue, _)) => {
                let message = "has a name with an account or card number. Rename it, then choose it again";
                Err(FieldErrors::one(PROOF_FORM.file, FieldCode::SensitiveValue, message))
            }
            _ => keep_file(&submitted, Some(file), PROOF_FORM.file.name).await?,
        };
        let named = kept.and_then(|(name, content, file_type)| {
            let name = SafeLine::parse(name.as_str()).or_else(|_| SafeLine::parse("File"));
            let name = name.map_err(|(code, message)| FieldErrors::one(PROOF_FORM.file, code, message))?;
            Ok(EvidenceFile { name, content, file_type: Some(file_type) })
        });
        match named {
            Ok(file) => new.file = Some(file),
            Err(errors) => return wrong(request, PROOF, form, errors).await,
        }
    }
    act(request, PROOF, Ok(FundingAct::FileProof(new)), filed()).await
}

fn read_proof(id: ProofId, form: &Form, today: Day) -> Result<NewProof, FieldErrors> {
    let source = ProofSource::parse(form.get(PROOF_FORM.source)).ok_or_else(|| not_chosen(PROOF_FORM.source.name));
    let dated = read_dated(form, today);
    let note = read_safe_note(form, PROOF_FORM.note.name);
    let has_something = form.file(PROOF_FORM.file).is_some() || !form.get(PROOF_FORM.note).trim().is_empty();
    let something = if has_something {
        Ok(())
    } else {
        let message = "is missing. Without one, say in the note what was confirmed, by whom and how";
        Err(FieldErrors::one(PROOF_FORM.file, FieldCode::Required, message))
    };
    match (source, dated, note, something) {
        (Ok(source), Ok(dated), Ok(note), Ok(())) => Ok(NewProof { id, source, dated, file: None, note }),
        (source, dated, note, something) => {
            let mut errors = source.err().unwrap_or_default();
            errors.extend(dated.err().unwrap_or_default());
            errors.extend(something.err().unwrap_or_default());
            errors.extend(note.err().unwrap_or_default());
            Err(errors)
        }
    }
}

pub(crate) async fn accept_proof(request: &mut Request) -> Result<PageResponse, Error> {
    let proof: ProofId = request.path_id("proof")?;
    let done = Notice::good("Funded", "The transfer is confirmed, and counts as done.");
    act(request, "accept", Ok(FundingAct::AcceptProof(proof)), done).await
}

pub(crate) async fn reject_proof(request: &mut Request) -> Result<PageResponse, Error> {
    let proof: ProofId = request.path_id("proof")?;
    let reason = read_reason(request.submitted_form()?.form(), REJECTION.reason.name);
    let doing = reason.map(|reason| FundingAct::RejectProof(proof, reason));
    let done = Notice::good("Proof rejected", "It does not count.");
    act(request, &format!("reject-{proof}"), doing, done).await
}

pub(crate) async fn download(request: &mut Request) -> Result<PageResponse, Error> {
    let (id, proof): (FundingItemId, ProofId) = (request.path_id("id")?, request.path_id("proof")?);
    let scope = request.signed_in()?.scope();
    let item = funding_items::get(scope, id).await?;
    let found = item.proof(proof).and_then(|proof| proof.document()).ok_or_else(Error::not_found)?;
    let file = request.app().files()?.get(scope.org(), &found.content).await?;
    // Never displayed in the browser: the file is foreign, and only its format was checked.
    let media_type = found.file_type.map_or("application/octet-stream", |file_type| file_type.media_type());
    let page = PageResponse::file(file, media_type, "attachment", found.name.as_str());
    Ok(page.showing([id.uuid()]))
}
