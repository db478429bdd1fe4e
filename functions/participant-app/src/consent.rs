//! Consent to electronic records: a participant's first page until they have given it.

use askama::Template;
use pages::done::redirect_with_notice;
use pages::layout::{Layout, Link, Notice};
use pages::response::{MessagePage, PageResponse};
use pages::urls::part_url;
use shared::domain::ids::ReceiptId;
use shared::domain::participant::{Occasion, consent};
use shared::error::Error;
use shared::service::identity::participant_sessions::{ParticipantSession, leave};
use shared::service::participants::{self, ParticipantView};
use shared::web::Request;
use shared::web::participant_link::origin;

use crate::promises::{PromiseRow, promise_rows};
use crate::refusal;

#[derive(Template)]
#[template(path = "part_consent.html")]
struct ConsentPage {
    layout: Layout,
    notice: Option<Notice>,
    organization: String,
    agreement: String,
    name: String,
    path: String,
    text: [&'static str; 5],
    version: &'static str,
    sha256: String,
    was_withdrawn: bool,
    tasks: usize,
    promises: Vec<PromiseRow>,
}

pub(super) fn page(
    request: &Request,
    session: &ParticipantSession,
    view: &ParticipantView,
    notice: Option<Notice>,
) -> Result<PageResponse, Error> {
    let by = session.participant();
    let page = ConsentPage {
        layout: Layout::of_participant(request),
        notice,
        organization: session.organization().name.as_str().to_owned(),
        agreement: view.agreement.name.as_str().to_owned(),
        name: by.name().as_str().to_owned(),
        path: part_url(by.id()),
        text: consent::TEXT,
        version: consent::VERSION,
        sha256: consent::sha256(),
        was_withdrawn: !view.receipts.is_empty(),
        tasks: crate::task_rows(view, by.id()).len(),
        promises: promise_rows(view, by.id()),
    };
    Ok(PageResponse::render(&page)?.showing([by.agreement_id().uuid(), by.id().uuid()]))
}

pub(crate) async fn give(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.participant_form()?;
    if submitted.form().get("sha256") != consent::sha256() {
        let notice = Notice::bad("The text has changed", "Read the new one. Nothing was recorded.");
        let url = part_url(submitted.submitter().id());
        return Ok(pages::done::with_notice(&submitted, url, &notice).await.into());
    }
    change(request, true, "Thank you. You can start now.", "").await
}

pub(crate) async fn withdraw(request: &mut Request) -> Result<PageResponse, Error> {
    let line = "What you did before stays valid. Ask the organization that sent you the link how to go on.";
    change(request, false, "You have withdrawn your consent", line).await
}

async fn change(request: &Request, gives: bool, title: &str, line: &str) -> Result<PageResponse, Error> {
    let submitted = request.participant_form()?;
    let by = submitted.submitter();
    let id = submitted.new_id::<ReceiptId>();
    let redirect = redirect_with_notice(&submitted, part_url(by.id()), title, line).await;
    let occasion = Occasion { id, origin: origin(request) };
    let run = || participants::change_consent(submitted.scope(), by, occasion.clone(), gives);
    match submitted.run(run).await? {
        Ok(()) => Ok(redirect.into()),
        Err(refused) => {
            let (title, line) = refusal(refused);
            let notice = Notice::bad(title, line);
            Ok(pages::done::with_notice(&submitted, part_url(by.id()), &notice).await.into())
        }
    }
}

/// Ends this browser's session.
pub(crate) async fn leave_pages(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.participant_form()?;
    let session = submitted.participant_session()?;
    submitted.run(|| std::future::ready(Ok(leave(session)))).await?;
    let cookie = request.participant_cookie_removal()?;
    let page = MessagePage {
        layout: Layout::signed_out(request),
        title: "You have left",
        text: "This browser no longer shows the agreement. Your link opens it again.".into(),
        link: Link { url: part_url(submitted.submitter().id()), text: "Look again".to_owned() },
        shows_request_id: false,
    };
    Ok(PageResponse::render(&page)?.with_cookie(cookie))
}
