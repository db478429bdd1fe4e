//! The page of an obligation: parties, due dates, what was said about it, and members' acts.

use askama::Template;
use pages::done::{notice_of_act, redirect_with};
use pages::fields::Fields;
use pages::labels::{Badge, actor_label, obligation_badge, obligation_status};
use pages::layout::{Layout, Link, Notice};
use pages::obligation_record::{OccurrenceList, TriggerRow, read_happened_on, refusal};
use pages::pager::{Paged, Pager};
use pages::response::PageResponse;
use pages::routes::Operation;
use pages::satisfaction;
use pages::second_members::why_one_self;
use pages::uploads::keep_file;
use pages::urls::{agreement_url, obligation_url};
use shared::domain::ids::{ObligationId, OccurrenceId, TriggerId};
use shared::domain::member::Counting;
use shared::domain::movement::evidence::EvidenceFile;
use shared::domain::movement::safe_text::{SafeLine, SafeNote};
use shared::domain::note::Note;
use shared::domain::obligation::{CancelCause, Happening, Obligation, Occurrence, OccurrenceState, Refused, Word};
use shared::domain::time::Timestamp;
use shared::error::Error;
use shared::service::obligations::{self, MemberAct, ObligationReview};
use shared::text;
use shared::text::reader::Shown as _;
use shared::web::{Form, Request, SubmittedForm};
use shared::wire::fields::{FieldCode, FieldErrors};
use shared::wire::page::Offset;

#[derive(Template)]
#[template(path = "obligation.html")]
struct ObligationPage {
    layout: Layout,
    notice: Option<Notice>,
    path: String,
    name: String,
    badge: Badge,
    status: String,
    agreement: Link,
    facts: Vec<(&'static str, String)>,
    triggers: Vec<TriggerRow>,
    is_standing: bool,
    record: OccurrenceList,
    pager: Option<Pager>,
    today: String,
    is_live: bool,
    can_be_cancelled: bool,
    fields: Fields,
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    let query: Paged = request.read_query()?;
    let (notice, cookie) = notice_of_act(request).await;
    Ok(page(request, query.offset, Fields::default(), notice).await?.with_cookie(cookie))
}

/// The page, with the latest of what is confirmed, or with what was confirmed before it.
async fn page(
    request: &Request,
    offset: Offset,
    fields: Fields,
    notice: Option<Notice>,
) -> Result<PageResponse, Error> {
    let (id, now): (ObligationId, _) = (request.path_id("id")?, request.now());
    let signed_in = request.signed_in()?;
    let ObligationReview { in_full, seconds, is_live } = obligations::review(signed_in.scope(), id).await?;
    let (obligation, agreement) = (&in_full.obligation, &in_full.agreement);
    let standing = obligation.standing(now);
    let member = signed_in.member().id();
    let zone = &signed_in.organization().time_zone;
    let act = |found: &Occurrence| match found.state {
        _ if !is_live => (None, None),
        // The next verification may come early.
        OccurrenceState::Due | OccurrenceState::Overdue | OccurrenceState::Upcoming if standing.is_some() => {
            (Some(("verify", "Verify")), None)
        }
        OccurrenceState::Due | OccurrenceState::Overdue | OccurrenceState::Upcoming => {
            (Some(("satisfy", "Record satisfaction")), None)
        }
        OccurrenceState::Satisfied => {
            let claim = found.satisfied.as_ref();
            let by = claim.and_then(Word::member);
            match (seconds.counting(member, by), by) {
                (Counting::OneSelf, Some(first)) => (None, Some(why_one_self(&seconds, member, first, zone))),
                (Counting::Confirmed, Some(first)) if first == member => {
                    let is_hosted = claim.is_some_and(|claim| claim.in_person.is_some());
                    (None, Some(why_own(is_hosted).to_owned()))
                }
                _ => (Some(("confirm", "Confirm")), None),
            }
        }
        OccurrenceState::Confirmed | OccurrenceState::Cancelled => (None, None),
    };
    let occurrences = obligation.occurrences(now);
    let mut record = OccurrenceList::new(obligation, &obligation_url(id), &occurrences, offset, act);
    if record.is_past_the_end {
        return Ok(PageResponse::see_other(obligation_url(id)));
    }
    let page = ObligationPage {
        layout: Layout::new(request),
        notice,
        path: obligation_url(id),
        name: obligation.name().as_str().to_owned(),
        badge: obligation_badge(obligation, now),
        status: obligation_status(obligation, now),
        agreement: Link { url: agreement_url(agreement.id()), text: agreement.name.as_str().to_owned() },
        facts: facts(&in_full),
        triggers: obligation.triggers().iter().map(|trigger| TriggerRow::new(trigger, obligation.zone())).collect(),
        is_standing: standing.is_some(),
        pager: record.pager.take(),
        record,
        today: obligation.zone().day_of(now).shown(),
        is_live,
        can_be_cancelled: is_live && !obligation.is_done(),
        fields,
    };
    Ok(PageResponse::render(&page)?.showing([id.uuid(), agreement.id().uuid()]))
}

/// Why a member can't confirm a claim that they recorded, or that was made in their browser.
fn why_own(is_hosted: bool) -> &'static str {
    if is_hosted {
        "It was said in your browser. Another member confirms it, or the other side does in a browser of their own."
    } else {
        "Another member or the other side confirms what you recorded."
    }
}

fn facts(in_full: &obligations::ObligationInFull) -> Vec<(&'static str, String)> {
    let obligations::ObligationInFull { obligation, agreement, contacts } = in_full;
    let mut facts = vec![("Who owes it to whom", text::promise_parties(obligation.parties(), agreement, contacts))];
    if let Some(promise) = agreement.promise(obligation.promise_id()) {
        facts.push(("Due", text::promise_terms(&promise.terms)));
    }
    facts.push(("In force since", obligation.zone().day_of(obligation.created_at()).shown()));
    facts.push(("Time zone of its days", obligation.zone().as_str().to_owned()));
    if let Some(CancelCause::Member { by, reason }) = obligation.cancellation().map(|cancelled| &cancelled.cause) {
        facts.push(("Cancelled by", actor_label(by)));
        facts.push(("Reason", reason.as_str().to_owned()));
    }
    facts
}

fn read_reason(form: &Form) -> Result<Note, FieldErrors> {
    let wrong = |(code, message): (FieldCode, String)| FieldErrors::one("reason", code, message);
    let text = form.get("reason").trim();
    if text.is_empty() {
        return Err(wrong((FieldCode::Required, "must be given".to_owned())));
    }
    SafeNote::parse(text).map_err(wrong)?;
    Note::parse(text).map_err(wrong)
}

type Asked = (MemberAct, [String; 2]);

fn read(form: &Form, obligation: &Obligation, now: Timestamp) -> Result<Result<Asked, FieldErrors>, Error> {
    let said = |[title, line]: [&str; 2]| [title.to_owned(), line.to_owned()];
    let occurrence = || form.get("occurrence").parse::<OccurrenceId>().map_err(|_| Error::not_found());
    Ok(match form.get("act") {
        "declare" => {
            let trigger: TriggerId = form.get("trigger").parse().map_err(|_| Error::not_found())?;
            read_happened_on(form, obligation, now).map(|on| {
                let line = format!(
                    "It happened on {}, and its days count from then. Next: the side that owes it does it, and the other side confirms.",
                    on.shown()
                );
                (MemberAct::DeclareTrigger(Happening { trigger, on }), ["Trigger declared".to_owned(), line])
            })
        }
        "satisfy" => satisfaction::read(form, occurrence()?, obligation, now).map(|done| {
            let line = "This is a claim. Next: the other side or another member confirms it.";
            (MemberAct::RecordSatisfaction(done), said(["Satisfaction recorded", line]))
        }),
        "confirm" => Ok((MemberAct::Confirm(occurrence()?), said(["Confirmed", ""]))),
        "verify" => {
            Ok((MemberAct::Verify(occurrence()?), said(["Verified", "The next verification is counted from today."])))
        }
        "cancel" => read_reason(form).map(|reason| {
            let line = "It is owed no more. What was said about it stays on record.";
            (MemberAct::Cancel(reason), said(["Obligation cancelled", line]))
        }),
        _ => return Err(Error::not_found()),
    })
}

enum NotKept {
    Refused(Refused),
    Wrong(FieldErrors),
}

async fn keep(
    submitted: &SubmittedForm<'_>,
    id: ObligationId,
    doing: &mut MemberAct,
) -> Result<Result<(), NotKept>, Error> {
    let MemberAct::RecordSatisfaction(done) = doing else { return Ok(Ok(())) };
    let Some(file) = submitted.form().file(satisfaction::FILE) else { return Ok(Ok(())) };
    let bytes = u64::try_from(file.content.len()).unwrap_or(u64::MAX);
    if let Some(refused) = obligations::why_not_satisfied(submitted.scope(), id, done, bytes).await? {
        return Ok(Err(NotKept::Refused(refused)));
    }
    let (name, content, file_type) = match keep_file(submitted, Some(file), satisfaction::FILE).await? {
        Ok(kept) => kept,
        Err(errors) => return Ok(Err(NotKept::Wrong(errors))),
    };
    Ok(match SafeLine::parse(name.as_str()) {
        Ok(name) => {
            done.how.file = Some(EvidenceFile { name, content, file_type: Some(file_type) });
            Ok(())
        }
        Err((code, message)) => Err(NotKept::Wrong(FieldErrors::one(satisfaction::FILE, code, message))),
    })
}

pub(crate) const ACT_OPERATIONS: Operation = Operation::ByField {
    field: "act",
    names: &[
        ("declare", "declare_trigger"),
        ("confirm", "confirm_obligation"),
        ("verify", "verify_obligation"),
        ("cancel", "cancel_obligation"),
    ],
    otherwise: "record_satisfaction",
};

pub(crate) async fn act(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let id: ObligationId = request.path_id("id")?;
    let form = submitted.form();
    let obligation = obligations::get(submitted.scope(), id).await?.obligation;
    let (mut doing, [title, line]) = match read(form, &obligation, request.now())? {
        Ok(read) => read,
        Err(errors) => return wrong(request, form, errors).await,
    };
    match keep(&submitted, id, &mut doing).await? {
        Ok(()) => {}
        Err(NotKept::Wrong(errors)) => return wrong(request, form, errors).await,
        Err(NotKept::Refused(refused)) => return refuse(request, form, refused).await,
    }
    let location = format!("{}#notice", obligation_url(id));
    let notice = match doing {
        MemberAct::RecordSatisfaction(_) => Notice::plain(title, line),
        _ => Notice::good(title, line),
    };
    let redirect = redirect_with(&submitted, location, &notice).await;
    let (scope, member) = (submitted.scope(), submitted.submitter());
    match submitted.run(|| obligations::act(scope, member, id, doing.clone())).await? {
        Ok(()) => Ok(redirect.into()),
        Err(refused) => refuse(request, form, refused).await,
    }
}

/// The page with an invalid form, without account numbers, which no page shows again.
async fn wrong(request: &Request, form: &Form, errors: FieldErrors) -> Result<PageResponse, Error> {
    let is_sensitive = errors.clone().into_list().iter().any(|one| one.code == FieldCode::SensitiveValue);
    let fields = satisfaction::typed(form, errors).without(|name| is_sensitive && name == "reason");
    let again = if form.has_file() { " Choose the file again." } else { "" };
    let notice = Notice::bad("Nothing was recorded", format!("Check what is marked below.{again}"));
    Ok(page(request, Offset::default(), fields, Some(notice)).await?.unprocessable())
}

async fn refuse(request: &Request, form: &Form, refused: Refused) -> Result<PageResponse, Error> {
    let (title, line) = refusal(refused);
    let fields = satisfaction::typed(form, FieldErrors::default());
    Ok(page(request, Offset::default(), fields, Some(Notice::bad(title, line))).await?.conflicting())
}

pub(crate) async fn download(request: &mut Request) -> Result<PageResponse, Error> {
    let id: ObligationId = request.path_id("id")?;
    let scope = request.signed_in()?.scope();
    let found = obligations::get(scope, id).await?;
    Ok(satisfaction::download(request, &found.obligation, scope.org()).await?.showing([id.uuid()]))
}
