//! The page on which a member reads, accepts or returns a participant's answers.

use std::collections::BTreeMap;

use askama::Template;
use pages::answer_rows::{AnswerRow, answer_rows};
use pages::done::{notice_of_act, redirect_with_notice};
use pages::fields::Fields;
use pages::form;
use pages::labels::{Badge, DisplayTime, actor_label};
use pages::layout::{Layout, Link, Notice};
use pages::response::PageResponse;
use pages::urls::{access_url, agreement_url, answers_url, item_url};
use shared::crypto::keys::open_with;
use shared::domain::agreement::gate::{Gate, InformationField};
use shared::domain::agreement::{Agreement, Lifecycle};
use shared::domain::ids::{FieldId, GateId, ParticipantId, SubmissionId};
use shared::domain::information::bank_details::BankDetails;
use shared::domain::information::{Answer, OpenAnswer, Submission, Verdict, place};
use shared::domain::member::{Judgment, Member, NotJudged};
use shared::domain::movement::safe_text::SafeNote;
use shared::domain::note::Note;
use shared::error::Error;
use shared::service::information::{self, AnswersToRead, SentBy};
use shared::web::{Form, Request};
use shared::wire::fields::{FieldCode, FieldErrors};

form! {
    /// Why answers or files go back.
    pub(crate) RETURN: ReturnForm {
        reason: Field::lines("reason", "Reason", 2000, 3)
            .hint("The participant can read it, and so can anyone with access to the API."),
    }
}

#[derive(Template)]
#[template(path = "answers.html")]
struct AnswersPage {
    layout: Layout,
    notice: Option<Notice>,
    agreement: Link,
    path: String,
    step: String,
    name: String,
    access: String,
    revisions: Vec<Revision>,
    fields: Fields,
    proofs: Vec<Link>,
    completes: bool,
}

struct Revision {
    id: SubmissionId,
    number: u32,
    sent_at: DisplayTime,
    host: Option<String>,
    badge: Badge,
    decided: Option<(String, DisplayTime)>,
    reason: Option<String>,
    rows: Vec<AnswerRow>,
    sha256: String,
    hashed: String,
    changes: usize,
    is_open: bool,
}

pub(crate) async fn read(request: &mut Request) -> Result<PageResponse, Error> {
    let (notice, cookie) = notice_of_act(request).await;
    Ok(page(request, Fields::default(), notice).await?.with_cookie(cookie))
}

fn answers_of(request: &Request) -> Result<SentBy, Error> {
    let (agreement, gate) = (request.path_id("id")?, request.path_id("condition")?);
    Ok(SentBy { agreement, gate, participant: request.path_id("participant")? })
}

async fn page(request: &Request, fields: Fields, notice: Option<Notice>) -> Result<PageResponse, Error> {
    let answers = answers_of(request)?;
    let SentBy { agreement: id, gate, participant } = answers;
    let found = information::to_read(request.signed_in()?.scope(), answers).await?;
    let AnswersToRead { agreement, contact, submissions } = &found;
    let mut revisions = Vec::new();
    for submission in submissions.iter().rev() {
        revisions.push(revision(request, &found, submission, answers).await?);
    }
    let stage = agreement.stages.iter().find(|stage| stage.gates.iter().any(|found| found.id == gate));
    let page = AnswersPage {
        layout: Layout::new(request),
        notice: notice.map(|notice| telling_completion(notice, agreement)),
        agreement: Link { url: agreement_url(id), text: agreement.name.as_str().to_owned() },
        path: answers_url(id, gate, participant),
        step: stage.map(|stage| stage.name.as_str().to_owned()).unwrap_or_default(),
        name: contact.display_name.as_str().to_owned(),
        access: access_url(id, participant),
        proofs: submissions.last().map(|latest| confirmed_items(agreement, gate, latest)).unwrap_or_default(),
        completes: agreement.is_completed_with(|found| found.id == gate && is_last(agreement, found, participant)),
        revisions,
        fields,
    };
    Ok(PageResponse::render(&page)?.showing([id.uuid(), participant.uuid(), contact.id.uuid()]))
}

/// Adds to the notice of an acceptance, which has no line yet, that it completed the agreement.
pub(crate) fn telling_completion(mut notice: Notice, agreement: &Agreement) -> Notice {
    if notice.lines.is_empty() && agreement.lifecycle() == Lifecycle::Completed {
        notice.lines.push("The agreement is completed.".to_owned());
    }
    notice
}

/// Whether only what a participant sent is left to accept.
pub(crate) fn is_last(agreement: &Agreement, gate: &Gate, participant: ParticipantId) -> bool {
    agreement.unmet_by(gate).is_empty() && agreement.to_review(gate).into_iter().eq([participant])
}

fn confirmed_items(agreement: &Agreement, gate: GateId, submission: &Submission) -> Vec<Link> {
    let link = |question: &InformationField| {
        let item = agreement.funding_item_ids.iter().find(|item| item.uuid() == question.id.uuid())?;
        let is_file = matches!(submission.answers.get(&question.id), Some(Answer::Open(OpenAnswer::File(_))));
        let url = format!("{}#next", item_url(*item));
        is_file.then(|| Link { url, text: question.label.as_str().to_owned() })
    };
    agreement.questions(gate).unwrap_or_default().iter().filter_map(link).collect()
}

async fn revision(
    request: &Request,
    found: &AnswersToRead,
    submission: &Submission,
    answers: SentBy,
) -> Result<Revision, Error> {
    let SentBy { agreement: id, gate, participant } = answers;
    let keys = &*request.app().webhooks()?.keys;
    let mut opened: BTreeMap<FieldId, Vec<String>> = BTreeMap::new();
    for field in submission.answers.keys() {
        let Some(sealed) = submission.sealed(*field) else { continue };
        let place = place(gate, participant, *field);
        // Without the keys, the page shows the account number's ending.
        if let Ok(text) = open_with(keys, |keyring| keyring.open(sealed, &place)).await
            && let Some(details) = BankDetails::opened(&text)
        {
            opened.insert(*field, details.masked());
        }
    }
    let file = |field| Some(format!("{}/files/{}/{field}", answers_url(id, gate, participant), submission.id));
    let questions = found.agreement.questions(gate).unwrap_or_default();
    let is_active = found.agreement.lifecycle() == Lifecycle::Active;
    let (badge, decided, reason) = match &submission.verdict {
        Verdict::Sent if is_active => (Badge { text: "To read", class: "amber" }, None, None),
        Verdict::Sent => (Badge { text: "Not decided", class: "quiet" }, None, None),
        Verdict::Accepted { at, by } => {
            (Badge { text: "Accepted", class: "green" }, Some((actor_label(by), (*at).into())), None)
        }
        Verdict::Returned { at, by, reason } => (
            Badge { text: "Returned", class: "quiet" },
            Some((actor_label(by), (*at).into())),
            Some(reason.as_str().to_owned()),
        ),
    };
    Ok(Revision {
        id: submission.id,
        number: submission.revision,
        sent_at: submission.sent_at.into(),
        host: submission.in_person.as_ref().map(ToString::to_string),
        badge,
        decided,
        reason,
        rows: answer_rows(questions, submission, |field| opened.get(&field).cloned(), file),
        sha256: submission.sha256(),
        hashed: format!("{}/hashed/{}", answers_url(id, gate, participant), submission.id),
        changes: submission.changed.len(),
        is_open: is_active && submission.is_undecided(),
    })
}

pub(crate) async fn download(request: &mut Request) -> Result<PageResponse, Error> {
    let answers = answers_of(request)?;
    let (submission, field): (SubmissionId, FieldId) = (request.path_id("submission")?, request.path_id("field")?);
    let scope = request.signed_in()?.scope();
    let found = information::to_read(scope, answers).await?;
    let submission = found.submissions.iter().find(|sent| sent.id == submission).ok_or_else(Error::not_found)?;
    let Some(Answer::Open(OpenAnswer::File(file))) = submission.answers.get(&field) else {
        return Err(Error::not_found());
    };
    let content = request.app().files()?.get(scope.org(), &file.content).await?;
    // Never displayed in the browser: the file is foreign, and only its format was checked.
    let page = PageResponse::file(content, file.file_type.media_type(), "attachment", file.name.as_str());
    Ok(page.showing([answers.agreement.uuid(), answers.participant.uuid()]))
}

/// Downloads exactly what a receipt's hash covers, so that it can be checked. Bank details stay sealed.
pub(crate) async fn download_hashed(request: &mut Request) -> Result<PageResponse, Error> {
    let answers = answers_of(request)?;
    let submission: SubmissionId = request.path_id("submission")?;
    let found = information::to_read(request.signed_in()?.scope(), answers).await?;
    let submission = found.submissions.iter().find(|sent| sent.id == submission).ok_or_else(Error::not_found)?;
    let (text, revision) = (submission.hashed_text(), submission.revision);
    let name = format!("Answers of {}, revision {revision}.json", found.contact.display_name.as_str());
    let page = PageResponse::file(text.into(), "application/json", "attachment", &name);
    Ok(page.showing([answers.agreement.uuid(), answers.participant.uuid()]))
}

pub(crate) async fn accept(request: &mut Request) -> Result<PageResponse, Error> {
    judge(request, Judgment::Accept).await
}

pub(crate) async fn return_answers(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    match read_reason(submitted.form()) {
        Ok(reason) => judge(request, Judgment::Return(reason)).await,
        Err(fields) => Ok(page(request, fields, None).await?.unprocessable()),
    }
}

/// Reads why answers or files go back. If it can't be used, the fields to show again, without what is sensitive.
pub(crate) fn read_reason(form: &Form) -> Result<Note, Fields> {
    let typed = form.get(RETURN.reason);
    // The API shows the reason of answers, and bundles show those of both.
    SafeNote::parse(typed).and_then(|_| Note::parse(typed)).map_err(|(code, message)| {
        let is_sensitive = code == FieldCode::SensitiveValue;
        let fields = Fields::submitted(form, FieldErrors::one(RETURN.reason, code, message));
        fields.without(|name| is_sensitive && name == RETURN.reason.name)
    })
}

async fn judge(request: &Request, judgment: Judgment) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let answers = answers_of(request)?;
    let SentBy { agreement: id, gate, participant } = answers;
    let shown: SubmissionId = submitted.form().get("submission").parse().map_err(|_| Error::not_found())?;
    let (title, line) = match judgment {
        Judgment::Accept => ("Answers accepted", ""),
        Judgment::Return(_) => ("Answers returned", "Next: tell the participant. Their link shows the reason."),
    };
    let url = format!("{}#notice", answers_url(id, gate, participant));
    let redirect = redirect_with_notice(&submitted, url, title, line).await;
    let (scope, by) = (submitted.scope(), submitted.submitter());
    let run = || information::judge(scope, by, answers, shown, judgment.clone());
    let Some(line) = submitted.run(run).await?.err().and_then(|refused| not_judged(refused, &judgment, by, "answers"))
    else {
        return Ok(redirect.into());
    };
    let notice = Notice::bad("Nothing was changed", line);
    Ok(page(request, Fields::submitted(submitted.form(), FieldErrors::default()), Some(notice)).await?.conflicting())
}

/// Why answers or files were not decided. None if this member has decided the same before.
pub(crate) fn not_judged(refused: NotJudged, judgment: &Judgment, by: &Member, what: &str) -> Option<String> {
    let is_again = match &refused {
        NotJudged::Accepted(other) => *judgment == Judgment::Accept && *other == by.actor(),
        NotJudged::Returned(other, reason) => *judgment == Judgment::Return(reason.clone()) && *other == by.actor(),
        NotJudged::NotActive(_) | NotJudged::OtherFile => false,
    };
    (!is_again).then(|| match refused {
        NotJudged::Accepted(other) => format!("{} has accepted these {what} already.", actor_label(&other)),
        NotJudged::Returned(other, _) => format!("{} has returned these {what} already.", actor_label(&other)),
        NotJudged::NotActive(_) => format!("The agreement is no longer active, so its {what} stay as they are."),
        NotJudged::OtherFile => {
            "The participant has uploaded another file since you opened the page. Look at it first.".to_owned()
        }
    })
}
