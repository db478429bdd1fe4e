use askama::Template;
use pages::done::notice_of_act;
use pages::labels::DisplayTime;
use pages::layout::{Layout, Notice};
use pages::receipts::{receipt_facts, receipt_title_of};
use pages::response::PageResponse;
use pages::tasks::TaskRow;
use pages::urls::part_url;
use shared::domain::ids::ReceiptId;
use shared::domain::participant::receipt::{Receipt, ReceiptAct, Signature};
use shared::error::Error;
use shared::service::participants::ParticipantView;
use shared::web::Request;

use crate::{load, task_rows};

#[derive(Template)]
#[template(path = "part_receipt.html")]
struct ReceiptPage {
    layout: Layout,
    notice: Option<Notice>,
    path: String,
    organization: String,
    agreement: String,
    title: String,
    at: DisplayTime,
    facts: Vec<(&'static str, String)>,
    typed: Option<String>,
    drawn: Option<String>,
    id: String,
    next: Option<TaskRow>,
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    let (notice, cookie) = notice_of_act(request).await;
    let id: ReceiptId = request.path_id("receipt")?;
    let (session, view) = load(request).await?;
    let receipt = view.receipts.iter().find(|receipt| receipt.id == id).ok_or_else(Error::not_found)?;
    let by = session.participant().id();
    let (typed, drawn) = match &receipt.act {
        ReceiptAct::Signed { signature: Signature::Typed { name }, .. } => (Some(name.as_str().to_owned()), None),
        ReceiptAct::Signed { signature: Signature::Drawn { drawing }, .. } => (None, Some(drawing.path().to_owned())),
        _ => (None, None),
    };
    let page = ReceiptPage {
        layout: Layout::of_participant(request),
        notice,
        path: part_url(by),
        organization: session.organization().name.as_str().to_owned(),
        agreement: view.agreement.name.as_str().to_owned(),
        title: receipt_title(&view, receipt),
        at: DisplayTime::with_seconds(receipt.at),
        facts: receipt_facts(receipt),
        typed,
        drawn,
        id: receipt.id.to_string(),
        next: task_rows(&view, by).into_iter().find(TaskRow::is_to_do),
    };
    let shown = [view.agreement.id().uuid(), by.uuid(), id.uuid()];
    Ok(PageResponse::render(&page)?.showing(shown).with_cookie(cookie))
}

pub(super) fn receipt_title(view: &ParticipantView, receipt: &Receipt) -> String {
    receipt_title_of(&view.agreement, &view.payments, receipt, Some("You"))
}
