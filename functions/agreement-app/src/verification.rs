//! The page on which a member records that a participant's identity was verified.

use askama::Template;
use pages::done::redirect_with_notice;
use pages::fields::{Fields, read_day};
use pages::form;
use pages::layout::{Layout, Link, Notice};
use pages::response::PageResponse;
use pages::urls::{agreement_url, verification_url};
use shared::domain::agreement::verification::NewVerification;
use shared::domain::agreement::{Agreement, Label, Lifecycle};
use shared::domain::contact::Contact;
use shared::domain::day::Day;
use shared::domain::ids::{AgreementId, ParticipantId, VerificationId};
use shared::domain::member::NotVerified;
use shared::error::Error;
use shared::limits;
use shared::service::{contacts, drafts, verifications};
use shared::text::reader::Shown as _;
use shared::web::{Form, Request};
use shared::wire::fields::{FieldCode, FieldErrors};

form! {
    /// How a participant was verified.
    pub(crate) VERIFICATION: VerificationForm {
        method: Field::line("method", "Method", 200).hint("Such as Passport, seen on a video call."),
        reference: Field::line("reference", "Reference", 200).hint(
            "Optional: where the check can be found again, such as a case number. Not the number of an ID document.",
        ),
        day: Field::day("day", "Date").hint("The day of the check."),
    }
}

#[derive(Template)]
#[template(path = "verification.html")]
struct VerificationPage {
    layout: Layout,
    notice: Option<Notice>,
    agreement: Link,
    path: String,
    name: String,
    completes: bool,
    fields: Fields,
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    let today = {
        let zone = &request.signed_in()?.organization().time_zone;
        zone.day_of(request.now())
    };
    page(request, Fields::of([(VERIFICATION.day.name, today.shown())]), None).await
}

async fn find(request: &Request) -> Result<(Agreement, ParticipantId, Contact), Error> {
    let (id, participant): (AgreementId, ParticipantId) = (request.path_id("id")?, request.path_id("participant")?);
    let scope = request.signed_in()?.scope();
    let agreement = drafts::agreement(scope, id).await?;
    let contact = agreement.participant(participant).ok_or_else(Error::not_found)?.contact_id;
    Ok((agreement, participant, contacts::get(scope, contact).await?.into_inner()))
}

async fn page(request: &Request, fields: Fields, notice: Option<Notice>) -> Result<PageResponse, Error> {
    let (agreement, participant, contact) = find(request).await?;
    if agreement.lifecycle() != Lifecycle::Active && notice.is_none() {
        return Ok(PageResponse::see_other(agreement_url(agreement.id())));
    }
    let page = VerificationPage {
        layout: Layout::new(request),
        notice,
        agreement: Link { url: agreement_url(agreement.id()), text: agreement.name.as_str().to_owned() },
        path: verification_url(agreement.id(), participant),
        name: contact.display_name.as_str().to_owned(),
        completes: agreement.is_completed_with(|gate| agreement.to_verify(gate).into_iter().eq([participant])),
        fields,
    };
    Ok(PageResponse::render(&page)?.showing([agreement.id().uuid(), participant.uuid(), contact.id.uuid()]))
}

pub(crate) async fn record(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let form = submitted.form();
    let zone = &request.signed_in()?.organization().time_zone;
    let new = match read(form, zone.day_of(request.now())) {
        Ok(new) => new,
        Err(errors) => return Ok(page(request, Fields::submitted(form, errors), None).await?.unprocessable()),
    };
    let (agreement, participant, contact) = find(request).await?;
    let id = submitted.new_id::<VerificationId>();
    let title = format!("{} is verified", contact.display_name.as_str());
    let url = format!("{}#notice", agreement_url(agreement.id()));
    let redirect = redirect_with_notice(&submitted, url, &title, "").await;
    let (scope, by) = (submitted.scope(), submitted.submitter());
    let record = || verifications::record(scope, by, agreement.id(), participant, id, new.clone());
    let line = match submitted.run(record).await? {
        Ok(()) => return Ok(redirect.into()),
        Err(NotVerified::Unknown) => return Err(Error::not_found()),
        Err(NotVerified::NotActive(_)) => "This agreement is not active, so nothing is recorded for it.".to_owned(),
        Err(NotVerified::Full) => format!(
            "{} verifications of a participant are recorded at most.",
            limits::VERIFICATIONS_PER_PARTICIPANT_MAX
        ),
    };
    let notice = Notice::bad("Nothing was recorded", line);
    Ok(page(request, Fields::submitted(form, FieldErrors::default()), Some(notice)).await?.unprocessable())
}

fn read(form: &Form, today: Day) -> Result<NewVerification, FieldErrors> {
    let label =
        |field: &str| Label::parse(form.get(field)).map_err(|(code, message)| FieldErrors::one(field, code, message));
    let is_empty = |field: &str| form.get(field).trim().is_empty();
    let method = label(VERIFICATION.method.name);
    let reference =
        if is_empty(VERIFICATION.reference.name) { Ok(None) } else { label(VERIFICATION.reference.name).map(Some) };
    let day = read_day(form, VERIFICATION.day).and_then(|day| {
        let later = || FieldErrors::one(VERIFICATION.day, FieldCode::OutOfRange, "can’t be in the future");
        if day <= today { Ok(day) } else { Err(later()) }
    });
    match (method, reference, day) {
        (Ok(method), Ok(reference), Ok(day)) => Ok(NewVerification { method, reference, day }),
        (method, reference, day) => {
            let mut errors = method.err().unwrap_or_default();
            errors.extend(reference.err().unwrap_or_default());
            errors.extend(day.err().unwrap_or_default());
            Err(errors)
        }
    }
}
