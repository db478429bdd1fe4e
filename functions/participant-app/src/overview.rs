//! A participant's first page: tasks, documents, who else has to act, and what they did.

use askama::Template;
use futures_util::future::try_join_all;
use pages::done::notice_of_act;
use pages::labels::{Badge, DisplayTime, agreement_badge};
use pages::layout::{Layout, Link, Notice};
use pages::response::PageResponse;
use pages::tasks::{TaskRow, WaitsFor};
use pages::urls::{part_url, receipt_url};
use shared::domain::agreement::gate::GateStatus;
use shared::domain::agreement::{Document, DocumentState, Lifecycle, StageState};
use shared::domain::ids::{GateId, ParticipantId};
use shared::domain::note::Note;
use shared::domain::paper_signature::PaperSignature;
use shared::domain::participant::receipt::ReceiptAct;
use shared::domain::time::Timestamp;
use shared::error::Error;
use shared::service::identity::participant_sessions::ParticipantSession;
use shared::service::participants::ParticipantView;
use shared::service::{file_reviews, information};
use shared::text;
use shared::text::reader::Shown as _;
use shared::web::Request;

use crate::obligations::{ObligationRow, is_owed_by, obligation_rows};
use crate::payments::{PaymentRow, payment_rows};
use crate::promises::{PromiseRow, promise_rows};
use crate::receipt::receipt_title;
use crate::{consent, load, name_of, needs_consent, task_rows};

/// The length of a reason beside its task. The task's page has all of it.
const REASON_CHARS_MAX: usize = 100;

#[derive(Template)]
#[template(path = "part.html")]
struct OverviewPage {
    layout: Layout,
    notice: Option<Notice>,
    path: String,
    organization: String,
    agreement: String,
    badge: Badge<String>,
    deadline: Option<DisplayTime>,
    ended: Option<&'static str>,
    tasks: Vec<TaskRow>,
    payments: Vec<PaymentRow>,
    more_payments: usize,
    obligations: Vec<ObligationRow>,
    promises: Vec<PromiseRow>,
    others: Vec<Other>,
    documents: Vec<DocumentRow>,
    certificate: Option<String>,
    terms: Vec<(&'static str, String)>,
    receipts: Vec<ReceiptRow>,
    papers: Vec<Link>,
    has_consent: bool,
}

impl OverviewPage {
    fn is_owed(&self) -> bool {
        self.obligations.iter().any(|row| row.verb.is_some())
    }
}

struct Other {
    name: String,
    badge: Badge,
}

pub(super) struct DocumentRow {
    pub name: String,
    pub url: String,
    pub badge: Badge,
}

struct ReceiptRow {
    link: Link,
    at: DisplayTime,
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    let (notice, cookie) = notice_of_act(request).await;
    let (session, view) = load(request).await?;
    if needs_consent(session, &view) {
        return Ok(consent::page(request, session, &view, notice)?.with_cookie(cookie));
    }
    let by = session.participant().id();
    let agreement = &view.agreement;
    let tasks = tasks(session, &view).await?;
    let (payments, more_payments) = payment_rows(&view, by);
    let page = OverviewPage {
        layout: Layout::of_participant(request),
        notice,
        path: part_url(by),
        organization: session.organization().name.as_str().to_owned(),
        agreement: agreement.name.as_str().to_owned(),
        badge: agreement_badge(agreement, false),
        deadline: agreement.expires_at.filter(|_| agreement.lifecycle() == Lifecycle::Active).map(DisplayTime::from),
        ended: match agreement.lifecycle() {
            Lifecycle::Completed => {
                Some("This agreement is completed. Its documents and its certificate stay here for you.")
            }
            Lifecycle::Cancelled if tasks.is_empty() => {
                Some("This agreement was cancelled. Nothing is asked of you anymore.")
            }
            Lifecycle::Cancelled => Some("This agreement was cancelled."),
            Lifecycle::Expired if tasks.is_empty() => {
                Some("This agreement has expired. Nothing is asked of you anymore.")
            }
            Lifecycle::Expired => Some("This agreement has expired."),
            Lifecycle::Draft | Lifecycle::Active => None,
        },
        tasks,
        payments,
        more_payments,
        obligations: obligation_rows(&view, by, request.now()),
        promises: if view.obligations.is_empty() { promise_rows(&view, by) } else { Vec::new() },
        others: others(&view, by, request.now()),
        documents: documents(&view, by),
        certificate: (agreement.lifecycle() == Lifecycle::Completed)
            .then(|| format!("/app/evidence/parts/{by}/certificate")),
        terms: agreement.terms.as_ref().map(text::terms).unwrap_or_default(),
        receipts: view
            .receipts
            .iter()
            .rev()
            .map(|receipt| ReceiptRow {
                link: Link { url: receipt_url(by, receipt.id), text: receipt_title(&view, receipt) },
                at: receipt.at.into(),
            })
            .collect(),
        papers: papers(&view, by),
        has_consent: session.participant().access().consent.is_some(),
    };
    let shown = [agreement.id().uuid(), by.uuid()];
    Ok(PageResponse::render(&page)?.showing(shown).with_cookie(cookie))
}

/// The participant's tasks, with the reasons of those that a member returned.
async fn tasks(session: &ParticipantSession, view: &ParticipantView) -> Result<Vec<TaskRow>, Error> {
    let mut tasks = task_rows(view, session.participant().id());
    let returned = tasks.iter().map(async |task| match task.returnable {
        Some(gate) => last_return(session, view, gate).await,
        None => Ok(None),
    });
    let reasons = try_join_all(returned).await?;
    for (task, reason) in tasks.iter_mut().zip(reasons) {
        let Some(reason) = reason else { continue };
        let mut short: String = reason.as_str().chars().take(REASON_CHARS_MAX).collect();
        if short.len() < reason.as_str().len() {
            short.push('…');
        }
        task.about = format!("Returned: {short} · {}", task.about);
    }
    Ok(tasks)
}

async fn last_return(
    session: &ParticipantSession,
    view: &ParticipantView,
    gate: GateId,
) -> Result<Option<Note>, Error> {
    let (scope, by) = (session.scope(), session.participant());
    // Only what was sent can have been returned.
    for receipt in &view.receipts {
        match &receipt.act {
            ReceiptAct::Uploaded { gate_id, .. } if *gate_id == gate => {
                return file_reviews::last_return(scope, by, gate).await;
            }
            ReceiptAct::Answered { gate_id, .. } if *gate_id == gate => {
                return information::last_return(scope, by, gate).await;
            }
            _ => {}
        }
    }
    Ok(None)
}

fn others(view: &ParticipantView, by: ParticipantId, now: Timestamp) -> Vec<Other> {
    let agreement = &view.agreement;
    let is_active = agreement.lifecycle() == Lifecycle::Active;
    let badge = |id: ParticipantId| {
        let waiting = Badge { text: "Waiting", class: "blue" };
        // Also of those who have met their conditions, and after the agreement.
        if view.payment_waits_for.contains(&id) || is_owed_by(view, id, now) {
            return Some(waiting);
        }
        let gates = agreement.stages.iter().flat_map(|stage| stage.gates.iter().map(move |gate| (stage, gate)));
        let named: Vec<_> = gates.filter(|(_, gate)| gate.rule.named(agreement).contains(&id)).collect();
        if named.is_empty() {
            return None;
        }
        let open: Vec<_> = named.iter().filter(|(_, gate)| agreement.unmet_by(gate).contains(&id)).collect();
        Some(if open.is_empty() {
            Badge { text: "Done", class: "green" }
        } else if !is_active {
            Badge { text: "Not done", class: "quiet" }
        } else if open.iter().any(|(_, gate)| gate.state.status() == GateStatus::Declined) {
            Badge { text: "On hold", class: "amber" }
        } else if open.iter().any(|(stage, _)| stage.state == StageState::Current) {
            waiting
        } else {
            Badge { text: "Later", class: "quiet" }
        })
    };
    let others = agreement.participants.iter().map(|participant| participant.id).filter(|id| *id != by);
    others.filter_map(|id| Some(Other { name: name_of(view, id).to_owned(), badge: badge(id)? })).collect()
}

fn papers(view: &ParticipantView, by: ParticipantId) -> Vec<Link> {
    let counted = view.papers.iter().rev().filter(|paper| paper.counts_since().is_some());
    let link = |paper: &PaperSignature| Link {
        url: format!("{}/documents/{}", part_url(by), paper.document_id),
        text: format!("You signed “{}” on paper on {}", paper.document.as_str(), paper.signed_on.shown()),
    };
    counted.map(link).collect()
}

pub(super) fn documents(view: &ParticipantView, by: ParticipantId) -> Vec<DocumentRow> {
    let agreement = &view.agreement;
    let with_file = agreement.documents.iter().filter(|document| document.content.is_some());
    let row = |document: &Document| {
        let is_on_paper =
            view.papers.iter().any(|paper| paper.document_id == document.id && paper.counts_since().is_some());
        let badge = if agreement.has_signed(document, by) && is_on_paper {
            Badge { text: "Signed on paper", class: "green" }
        } else if agreement.has_signed(document, by) {
            Badge { text: "Signed by you", class: "green" }
        } else if document.state == DocumentState::Signed {
            Badge { text: "Signed", class: "green" }
        } else if agreement.is_on_paper(document, by) {
            Badge { text: "On paper, to be confirmed", class: "blue" }
        } else if !agreement.blocks_to_sign(document, by).is_empty() {
            Badge { text: "To sign", class: "blue" }
        } else if document.blocks.is_empty() {
            Badge { text: "For reading", class: "quiet" }
        } else {
            Badge { text: "Not signed yet", class: "quiet" }
        };
        let url = format!("{}/documents/{}", part_url(by), document.id);
        DocumentRow { name: document.name.as_str().to_owned(), url, badge }
    };
    with_file.map(row).collect()
}
