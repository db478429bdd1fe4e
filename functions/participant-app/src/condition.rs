//! A condition on a participant's pages: approve, upload a file, or decline.

use askama::Template;
use pages::agreement_summary::size;
use pages::done::notice_of_act;
use pages::fields::Fields;
use pages::form;
use pages::layout::{Layout, Link, Notice};
use pages::response::PageResponse;
use pages::tasks::find_gate;
use pages::urls::{part_url, receipt_url};
use shared::domain::agreement::Agreement;
use shared::domain::agreement::gate::{GateStatus, RequestedFile};
use shared::domain::ids::GateId;
use shared::domain::participant::receipt::{ReceiptAct, Repeatable};
use shared::domain::participant::{Declining, NotActed, Upload};
use shared::error::Error;
use shared::service::file_reviews;
use shared::service::participants::ParticipantAct;
use shared::text::{self, statements};
use shared::web::Request;

use crate::answers::{self, Shown, own_answers};
use crate::document::read_reason;
use crate::overview::DocumentRow;
use crate::own_files::{keep_own_file, not_asked};
use crate::promises::{PromiseRow, promise_rows};
use crate::{GateTask, act, consent, load, needs_consent, refusal, reworded, waits_for};

form! {
    /// A file that a condition asks for.
    pub(crate) UPLOAD: UploadForm {
        file: Field::document("file", "File")
            .hint("A PDF, JPEG or PNG of up to 4 MB. Only the members of the organization see it."),
    }
}

#[derive(Template)]
#[template(path = "part_condition.html")]
struct ConditionPage {
    layout: Layout,
    notice: Option<Notice>,
    path: String,
    url: String,
    organization: String,
    agreement: String,
    step: String,
    file: RequestedFile,
    returned: Option<String>,
    /// What becomes of the file, if a member reviews it.
    review: Option<String>,
    task: GateTask,
    is_open: bool,
    can_upload: bool,
    documents: Vec<DocumentRow>,
    terms: Vec<(&'static str, String)>,
    uploads: Vec<(Link, String)>,
    promises: Vec<PromiseRow>,
    statement: String,
    is_declined: bool,
    fields: Fields,
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    let (notice, cookie) = notice_of_act(request).await;
    Ok(page(request, Fields::default(), notice).await?.with_cookie(cookie))
}

async fn page(request: &Request, fields: Fields, notice: Option<Notice>) -> Result<PageResponse, Error> {
    let id: GateId = request.path_id("condition")?;
    // Only information requests have answers, but reading them can't wait until the condition is known to be one.
    let ((session, view), own) = tokio::try_join!(load(request), own_answers(request, id))?;
    if needs_consent(session, &view) {
        return consent::page(request, session, &view, notice);
    }
    let (by, agreement) = (session.participant(), &view.agreement);
    let (stage, gate) = find_gate(agreement, id).ok_or_else(Error::not_found)?;
    let task = GateTask::of(&gate.rule).ok_or_else(Error::not_found)?;
    if !gate.rule.named(agreement).contains(&by.id()) {
        return Err(Error::not_found());
    }
    if task == GateTask::Answer {
        return answers::page(request, id, Shown { session, view: &view, own: &own, fields, notice }).await;
    }
    let is_open = waits_for(&view, gate, by.id());
    let file = gate.rule.requested_file().cloned().unwrap_or_default();
    let returned =
        if file.review && is_open { file_reviews::last_return(session.scope(), by, id).await? } else { None };
    let uploads = view.receipts.iter().filter_map(|receipt| match &receipt.act {
        ReceiptAct::Uploaded { gate_id, file_name, content, .. } if *gate_id == id => {
            let link = Link { url: receipt_url(by.id(), receipt.id), text: file_name.as_str().to_owned() };
            Some((link, size(content.size_bytes)))
        }
        _ => None,
    });
    let organization = session.organization().name.as_str();
    let review = if agreement.to_review(gate).contains(&by.id()) {
        Some(format!("{organization} reviews your file. If it is returned, you’ll find the reason here."))
    } else {
        file.review.then(|| format!("{organization} reviews the file before the agreement goes on."))
    };
    let page = ConditionPage {
        layout: Layout::of_participant(request),
        notice,
        path: part_url(by.id()),
        url: format!("{}/conditions/{id}", part_url(by.id())),
        organization: organization.to_owned(),
        agreement: agreement.name.as_str().to_owned(),
        step: stage.name.as_str().to_owned(),
        file,
        returned: returned.map(|reason| reason.as_str().to_owned()),
        review,
        task,
        is_open,
        can_upload: task == GateTask::Upload
            && gate.state.status() == GateStatus::Open
            && !agreement.has_accepted(id, by.id()),
        documents: crate::overview::documents(&view, by.id()),
        terms: agreement.terms.as_ref().map(text::terms).unwrap_or_default(),
        uploads: uploads.collect(),
        promises: promise_rows(&view, by.id()),
        statement: statements::approval(agreement, by.id(), by.name().as_str(), stage.name.as_str()),
        is_declined: gate.state.status() == GateStatus::Declined,
        fields,
    };
    Ok(PageResponse::render(&page)?.showing([agreement.id().uuid(), by.id().uuid(), id.uuid()]))
}

async fn step_of(request: &Request, id: GateId) -> Result<(String, Agreement), Error> {
    let (_, view) = load(request).await?;
    let (stage, _) = find_gate(&view.agreement, id).ok_or_else(Error::not_found)?;
    Ok((stage.name.as_str().to_owned(), view.agreement))
}

pub(crate) async fn approve(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.participant_form()?;
    let id: GateId = request.path_id("condition")?;
    let (step, agreement) = step_of(request, id).await?;
    let by = submitted.submitter();
    let statement = statements::approval(&agreement, by.id(), by.name().as_str(), &step);
    if submitted.form().get("statement") != statement {
        return Ok(page(request, Fields::default(), Some(reworded())).await?.conflicting());
    }
    let title = format!("You approved “{step}”");
    match act(request, &submitted, ParticipantAct::Approve(id, statement), title).await? {
        Ok(receipt) => Ok(receipt),
        Err((fields, notice)) => Ok(page(request, fields, Some(notice)).await?.conflicting()),
    }
}

pub(crate) async fn upload(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.participant_form()?;
    let (id, form): (GateId, _) = (request.path_id("condition")?, submitted.form());
    // Before a file is stored: whether it is asked for, and finds room.
    let bytes = form.file(UPLOAD.file).map_or(0, |file| file.content.len());
    let refused = match not_asked(request, id).await? {
        None => no_room(request, id, bytes).await?,
        refused => refused,
    };
    if let Some(refused) = refused {
        let (title, line) = refusal(refused);
        return Ok(page(request, Fields::default(), Some(Notice::bad(title, line))).await?.conflicting());
    }
    let (file_name, content, file_type) =
        match keep_own_file(&submitted, form.file(UPLOAD.file), UPLOAD.file.name).await? {
            Ok(stored) => stored,
            Err(errors) => return Ok(page(request, Fields::submitted(form, errors), None).await?.unprocessable()),
        };
    let title = format!("You uploaded “{}”", file_name.as_str());
    let upload = Upload { gate_id: id, file_name, content, file_type };
    match act(request, &submitted, ParticipantAct::Upload(upload), title).await? {
        Ok(receipt) => Ok(receipt),
        Err((fields, notice)) => Ok(page(request, fields, Some(notice)).await?.conflicting()),
    }
}

async fn no_room(request: &Request, id: GateId, bytes: usize) -> Result<Option<NotActed>, Error> {
    let (_, view) = load(request).await?;
    let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
    Ok(if !Repeatable::Upload(id).has_room(&view.receipts) {
        Some(NotActed::TooOften)
    } else if !view.agreement.has_room_for_participant(bytes, &view.receipts) {
        Some(NotActed::NoRoom)
    } else {
        None
    })
}

pub(crate) async fn decline(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.participant_form()?;
    let (id, form): (GateId, _) = (request.path_id("condition")?, submitted.form());
    let reason = match read_reason(form) {
        Ok(reason) => reason,
        Err(errors) => return Ok(page(request, Fields::submitted(form, errors), None).await?.unprocessable()),
    };
    let (step, _) = step_of(request, id).await?;
    let title = format!("You declined “{step}”");
    match act(request, &submitted, ParticipantAct::Decline(Declining::Gate(id), reason), title).await? {
        Ok(receipt) => Ok(receipt),
        Err((fields, notice)) => Ok(page(request, fields, Some(notice)).await?.conflicting()),
    }
}
