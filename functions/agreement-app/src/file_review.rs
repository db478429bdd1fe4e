//! The page of the files that a participant uploaded for a condition, which a member accepts or returns where the
//! condition asks for a review.

use askama::Template;
use pages::agreement_summary::size;
use pages::done::{notice_of_act, redirect_with_notice};
use pages::fields::Fields;
use pages::labels::{Badge, DisplayTime, actor_label};
use pages::layout::{Layout, Link, Notice};
use pages::response::PageResponse;
use pages::tasks::find_gate;
use pages::urls::{access_url, agreement_url, files_url};
use shared::domain::agreement::Lifecycle;
use shared::domain::agreement::gate::RequestedFile;
use shared::domain::file_review::FileReview;
use shared::domain::ids::ReceiptId;
use shared::domain::member::Judgment;
use shared::domain::participant::receipt::{Receipt, ReceiptAct};
use shared::error::Error;
use shared::service::file_reviews::{self, FilesToReview};
use shared::service::information::SentBy;
use shared::web::Request;
use shared::wire::fields::FieldErrors;

use crate::answers::{is_last, not_judged, read_reason, telling_completion};

#[derive(Template)]
#[template(path = "file_review.html")]
struct FileReviewPage {
    layout: Layout,
    notice: Option<Notice>,
    agreement: Link,
    path: String,
    step: String,
    title: Option<String>,
    help: Option<String>,
    name: String,
    access: String,
    rows: Vec<FileRow>,
    /// The newest file, if a member can decide about it and those that wait with it.
    to_decide: Option<ReceiptId>,
    /// How many files wait.
    waiting: usize,
    /// Why there is nothing to decide.
    settled: String,
    completes: bool,
    fields: Fields,
}

struct FileRow {
    name: String,
    size: String,
    at: DisplayTime,
    host: Option<String>,
    sha256: String,
    download: String,
    badge: Option<Badge>,
    decided: Option<(String, DisplayTime)>,
    reason: Option<String>,
}

impl FileRow {
    /// None for a receipt of anything but an upload. A review covers the files up to the one that it names.
    fn new(found: &FilesToReview, receipt: &Receipt, is_reviewed: bool, access: &str) -> Option<Self> {
        let ReceiptAct::Uploaded { file_name, content, .. } = &receipt.act else { return None };
        let at_of = |id| found.uploads.iter().position(|upload| upload.id == id);
        let covers = |review: &&FileReview| at_of(review.receipt_id) >= at_of(receipt.id);
        let review = found.reviews.iter().find(covers);
        let is_active = found.agreement.lifecycle() == Lifecycle::Active;
        let (badge, reason) = match review.map(|review| &review.judgment) {
            Some(Judgment::Accept) => (Some(Badge { text: "Accepted", class: "green" }), None),
            Some(Judgment::Return(reason)) => {
                (Some(Badge { text: "Returned", class: "quiet" }), Some(reason.as_str().to_owned()))
            }
            None if is_reviewed && is_active => (Some(Badge { text: "To review", class: "amber" }), None),
            None if is_reviewed => (Some(Badge { text: "Not decided", class: "quiet" }), None),
            None => (None, None),
        };
        Some(Self {
            name: file_name.as_str().to_owned(),
            size: size(content.size_bytes),
            at: receipt.at.into(),
            host: receipt.origin.in_person.as_ref().map(ToString::to_string),
            sha256: content.sha256.clone(),
            download: format!("{access}/files/{}", receipt.id),
            badge,
            decided: review.map(|review| (actor_label(&review.reviewed_by), review.reviewed_at.into())),
            reason,
        })
    }
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    let (notice, cookie) = notice_of_act(request).await;
    Ok(page(request, Fields::default(), notice).await?.with_cookie(cookie))
}

fn files_of(request: &Request) -> Result<SentBy, Error> {
    let (agreement, gate) = (request.path_id("id")?, request.path_id("condition")?);
    Ok(SentBy { agreement, gate, participant: request.path_id("participant")? })
}

async fn page(request: &Request, fields: Fields, notice: Option<Notice>) -> Result<PageResponse, Error> {
    let files = files_of(request)?;
    let SentBy { agreement: id, gate, participant } = files;
    let found = file_reviews::to_review(request.signed_in()?.scope(), files).await?;
    let agreement = &found.agreement;
    let (stage, asked) = find_gate(agreement, gate).ok_or_else(Error::not_found)?;
    let file = asked.rule.requested_file().cloned().unwrap_or_default();
    let RequestedFile { title, help, review: is_reviewed } = file;
    let access = access_url(id, participant);
    let waits = agreement.lifecycle() == Lifecycle::Active && agreement.to_review(asked).contains(&participant);
    let completes = agreement.is_completed_with(|found| found.id == gate && is_last(agreement, found, participant));
    let is_reviewed_with = |upload: &Receipt| found.reviews.iter().any(|review| review.receipt_id == upload.id);
    let name = found.contact.display_name.as_str();
    let settled = if !is_reviewed {
        "The agreement goes on without a review of this file.".to_owned()
    } else if agreement.has_accepted(gate, participant) {
        "The file is accepted.".to_owned()
    } else if agreement.lifecycle() == Lifecycle::Active {
        format!("A new file appears here once {name} has uploaded it.")
    } else {
        "The agreement is no longer active, so there is nothing left to decide.".to_owned()
    };
    let page = FileReviewPage {
        layout: Layout::new(request),
        notice: notice.map(|notice| telling_completion(notice, agreement)),
        agreement: Link { url: agreement_url(id), text: agreement.name.as_str().to_owned() },
        path: files_url(id, gate, participant),
        step: stage.name.as_str().to_owned(),
        title: title.map(|title| title.as_str().to_owned()),
        help: help.map(|help| help.as_str().to_owned()),
        name: name.to_owned(),
        rows: found.uploads.iter().rev().filter_map(|row| FileRow::new(&found, row, is_reviewed, &access)).collect(),
        to_decide: found.uploads.last().filter(|_| waits).map(|newest| newest.id),
        waiting: found.uploads.iter().rev().take_while(|upload| !is_reviewed_with(upload)).count(),
        settled,
        completes,
        access,
        fields,
    };
    Ok(PageResponse::render(&page)?.showing([id.uuid(), participant.uuid(), gate.uuid()]))
}

pub(crate) async fn accept(request: &mut Request) -> Result<PageResponse, Error> {
    judge(request, Judgment::Accept).await
}

pub(crate) async fn return_files(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    match read_reason(submitted.form()) {
        Ok(reason) => judge(request, Judgment::Return(reason)).await,
        Err(fields) => Ok(page(request, fields, None).await?.unprocessable()),
    }
}

async fn judge(request: &Request, judgment: Judgment) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let files = files_of(request)?;
    let shown: ReceiptId = submitted.form().get("receipt").parse().map_err(|_| Error::not_found())?;
    let (title, line) = match judgment {
        Judgment::Accept => ("File accepted", ""),
        Judgment::Return(_) => ("File returned", "Next: tell the participant. Their link shows the reason."),
    };
    let url = format!("{}#notice", files_url(files.agreement, files.gate, files.participant));
    let redirect = redirect_with_notice(&submitted, url, title, line).await;
    let (scope, by) = (submitted.scope(), submitted.submitter());
    let run = || file_reviews::judge(scope, by, files, shown, judgment.clone());
    let Some(line) = submitted.run(run).await?.err().and_then(|refused| not_judged(refused, &judgment, by, "files"))
    else {
        return Ok(redirect.into());
    };
    let notice = Notice::bad("Nothing was changed", line);
    let fields = Fields::submitted(submitted.form(), FieldErrors::default());
    Ok(page(request, fields, Some(notice)).await?.conflicting())
}
