//! The pages of participants, who have no account: `link` opens a session; every URL begins with the participant's id.

pub(crate) mod answers;
pub(crate) mod condition;
pub(crate) mod consent;
pub(crate) mod document;
mod document_pages;
pub(crate) mod in_person;
pub(crate) mod link;
pub(crate) mod obligations;
pub(crate) mod overview;
mod own_files;
pub(crate) mod payment;
pub(crate) mod payment_acts;
mod payment_forms;
mod payments;
mod promises;
pub(crate) mod receipt;

use std::sync::Arc;

use axum::Router;
use pages::done::redirect_with;
use pages::fields::Fields;
use pages::layout::Notice;
use pages::response::PageResponse;
use pages::routes::{Pages, complete, get, post};
use pages::tasks::{TaskRow, rows_of};
use pages::urls::receipt_url;
use shared::AppState;
use shared::domain::agreement::gate::{Gate, GateRule, GateStatus};
use shared::domain::agreement::{Agreement, Lifecycle};
use shared::domain::contact::Contact;
use shared::domain::ids::{ParticipantId, ReceiptId};
use shared::domain::participant::{ActingParticipant, NotActed, Occasion};
use shared::error::Error;
use shared::service::identity::participant_sessions::ParticipantSession;
use shared::service::participants::{self, ParticipantAct, ParticipantView};
use shared::web::participant_link::origin;
use shared::web::{Request, SubmittedForm};
use shared::wire::fields::FieldErrors;

/// The pages, and an error page for every other path.
pub fn router(app: Arc<AppState>) -> Router {
    complete(routes(), app)
}

/// The routes of participants: their link, and the pages it opens.
#[must_use]
pub fn routes() -> Pages {
    use crate::receipt;
    use crate::{
        answers, condition, consent, document, in_person, link, obligations, overview, payment, payment_acts,
        payment_forms,
    };
    let at = |path: &str| format!("/app/parts/{{participant}}{path}");
    Pages::default()
        .route(
            "/app/links/{secret}",
            get("view_participant_link", link::show).form("open_participant_link", link::open).fields(&link::LINK_CODE),
        )
        .route(&at(""), get("view_part", overview::show))
        .route(&at("/consent"), post("give_consent", consent::give))
        .route(&at("/consent/withdraw"), post("withdraw_consent", consent::withdraw))
        .route(&at("/leave"), post("leave_agreement_pages", consent::leave_pages))
        .route(&at("/in-person"), post("act_in_person", in_person::confirm))
        .route(&at("/documents/{document}"), get("view_document_to_sign", document::show))
        .route(&at("/documents/{document}/download"), get("download_own_document", document::download))
        .route(&at("/documents/{document}/sign"), post("sign_document", document::sign).fields(&document::SIGNATURE))
        .route(
            &at("/documents/{document}/decline"),
            post("decline_document", document::decline).fields(&document::DECLINE),
        )
        .route(&at("/conditions/{condition}"), get("view_condition_to_meet", condition::show))
        .route(&at("/conditions/{condition}/approve"), post("approve_condition", condition::approve))
        .route(&at("/conditions/{condition}/upload"), post("upload_file", condition::upload).fields(&condition::UPLOAD))
        .route(
            &at("/conditions/{condition}/answers/save"),
            post("save_answers", answers::save_draft).fields(&answers::ANSWERS),
        )
        .route(
            &at("/conditions/{condition}/answers/send"),
            post("send_answers", answers::send).fields(&answers::ANSWERS),
        )
        .route(
            &at("/conditions/{condition}/decline"),
            post("decline_condition", condition::decline).fields(&document::DECLINE),
        )
        .route(&at("/payments/{movement}"), get("view_own_payment", payment::show))
        .route(
            &at("/payments/{movement}/sent"),
            post("report_payment_sent", payment_acts::report_sent).fields(&payment_forms::SENT),
        )
        .route(
            &at("/payments/{movement}/document"),
            post("hand_in_bank_document", payment_acts::hand_in).fields(&payment_forms::EVIDENCE),
        )
        .route(
            &at("/payments/{movement}/arrived"),
            post("report_arrival", payment_acts::report_arrival).fields(&payment_forms::EVIDENCE),
        )
        .route(&at("/payments/{movement}/evidence/{evidence}/file"), get("download_own_evidence", payment::download))
        .route(
            &at("/payments/{movement}/evidence/{evidence}/withdraw"),
            post("withdraw_own_evidence", payment_acts::withdraw).fields(&payment_forms::WITHDRAWAL),
        )
        .route(&at("/obligations/{obligation}"), get("view_own_obligation", obligations::show))
        .route(
            &at("/obligations/{obligation}/act"),
            post(obligations::ACT_OPERATIONS, obligations::act).fields(&pages::satisfaction::SATISFACTION),
        )
        .route(
            &at("/obligations/{obligation}/occurrences/{occurrence}/file"),
            get("download_own_satisfaction_file", obligations::download),
        )
        .route(&at("/receipts/{receipt}"), get("view_receipt", receipt::show))
        .route(&at("/papers/{paper}/scan"), get("download_own_paper_signature", document::download_scan))
}

type PartForm<'a> = SubmittedForm<'a, &'a ActingParticipant>;

async fn load(request: &Request) -> Result<(&ParticipantSession, ParticipantView), Error> {
    let session = request.participant_session()?;
    let view = participants::view(session.scope(), session.participant()).await?;
    Ok((session, view))
}

fn needs_consent(session: &ParticipantSession, view: &ParticipantView) -> bool {
    view.agreement.lifecycle() == Lifecycle::Active && session.participant().access().consent.is_none()
}

struct TaskPlace {
    number: usize,
    of: usize,
}

/// The participant's tasks: first the agreement's steps in order, then waiting payments.
fn task_rows(view: &ParticipantView, by: ParticipantId) -> Vec<TaskRow> {
    let mut rows = rows_of(&view.agreement, by);
    rows.extend(payments::payment_tasks(view, by));
    rows
}

fn name_of(view: &ParticipantView, id: ParticipantId) -> &str {
    participant_name(&view.agreement, &view.contacts, id)
}

fn participant_name<'a>(agreement: &Agreement, contacts: &'a [Contact], id: ParticipantId) -> &'a str {
    let contact = agreement.participant(id).map(|participant| participant.contact_id);
    let contact = contacts.iter().find(|found| Some(found.id) == contact);
    contact.map_or("Someone", |contact| contact.display_name.as_str())
}

type Answer = Result<PageResponse, (Fields, Notice)>;

async fn act(
    request: &Request,
    submitted: &PartForm<'_>,
    doing: ParticipantAct,
    title: String,
) -> Result<Answer, Error> {
    let by = submitted.submitter();
    let id: ReceiptId = submitted.new_id();
    let url = receipt_url(by.id(), id);
    let redirect = redirect_with(submitted, url, &Notice::good(title, "")).await;
    let occasion = Occasion { id, origin: origin(request) };
    let run = || participants::act(submitted.scope(), by, occasion.clone(), doing.clone());
    match Box::pin(submitted.run(run)).await? {
        Ok(()) => Ok(Ok(redirect.into())),
        Err(refused) => {
            let fields = Fields::submitted(submitted.form(), FieldErrors::default());
            let (title, line) = refusal(refused);
            Ok(Err((fields, Notice::bad(title, line))))
        }
    }
}

/// What is said where the sentence above the button has changed since the page was shown.
fn reworded() -> Notice {
    Notice::bad(
        "This page has changed",
        "A name in the sentence above the button is another one now. Nothing was recorded.",
    )
}

fn refusal(refused: NotActed) -> (&'static str, &'static str) {
    match refused {
        NotActed::NotActive(Lifecycle::Completed) => {
            ("This agreement is completed", "Nothing is left to do, so nothing was recorded now.")
        }
        NotActed::NotActive(Lifecycle::Cancelled) => {
            ("This agreement was cancelled", "It was cancelled before your form arrived. Nothing was recorded.")
        }
        NotActed::NotActive(_) => {
            ("This agreement has expired", "Its term ended before your form arrived. Nothing was recorded.")
        }
        NotActed::NoConsent => (
            "Your consent is needed first",
            "You have withdrawn your consent to electronic records. Give it again to go on. Nothing was recorded.",
        ),
        NotActed::Done => ("You have done this already", "Nothing was recorded a second time."),
        NotActed::Declined => (
            "A participant has declined this",
            "The organization that sent you the link decides how it goes on. Nothing was recorded.",
        ),
        NotActed::NotAsked => ("This is not asked of you now", "The agreement has moved on. Nothing was recorded."),
        NotActed::Replaced => (
            "The document is another one now",
            "It was replaced after this page was shown. Nothing was signed. Read it again.",
        ),
        NotActed::OtherBlocks => (
            "What you sign has changed",
            "Places to sign were opened or closed after this page was shown. Nothing was signed. Look again.",
        ),
        NotActed::OtherSigner => (
            "Who signs has changed",
            "The organization changed what you are: a person, or an entity for which a person signs. Nothing was signed. Look again.",
        ),
        NotActed::OtherDraft => (
            "Your draft was saved in another window",
            "Below is what you typed here. Check it, and enter account numbers and choose files again: saving it replaces the other draft.",
        ),
        NotActed::TooLong => (
            "Your answers are too long together",
            "Together they can have about 200 KB. Shorten them, or attach a file. Nothing was sent.",
        ),
        NotActed::TooMuch => (
            "Too much information has been sent in this agreement",
            "Ask the organization that sent you the link how to go on. Nothing was sent.",
        ),
        NotActed::NoRoom => (
            "There is no room for this file",
            "This agreement has nearly as many files as its evidence can hold, or you have added your share of them. Make the file smaller, or ask the organization that sent you the link how to go on. Nothing was uploaded.",
        ),
        NotActed::TooOften => (
            "Too much has been recorded for you",
            "Ask the organization that sent you the link how to go on. Nothing was recorded.",
        ),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GateTask {
    Approve,
    Upload,
    Answer,
}

impl GateTask {
    fn of(rule: &GateRule) -> Option<Self> {
        match rule {
            GateRule::ParticipantApproval { .. } => Some(Self::Approve),
            GateRule::FileUpload { .. } => Some(Self::Upload),
            GateRule::InformationRequest { .. } => Some(Self::Answer),
            _ => None,
        }
    }
}

fn waits_for(view: &ParticipantView, gate: &Gate, by: ParticipantId) -> bool {
    gate.state.status() == GateStatus::Open && view.agreement.unmet_by(gate).contains(&by)
}
