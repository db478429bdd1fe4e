//! Asks, in a browser with a member's session, past or present, whether the participant is there, before all else.

use askama::Template;
use http::StatusCode;
use shared::error::Error;
use shared::web::Request;

use crate::layout::{Layout, Notice};
use crate::response::PageResponse;
use crate::urls::part_url;

#[derive(Template)]
#[template(path = "part_in_person.html")]
struct QuestionPage {
    layout: Layout,
    notice: Option<Notice>,
    path: String,
    organization: String,
    name: String,
    host: String,
    next: String,
}

/// Allowed before the answer: answering, and leaving.
const UNASKED: [&str; 2] = ["act_in_person", "leave_agreement_pages"];

/// Whether a request must first answer the question.
pub fn is_asked(request: &Request, operation: &str) -> bool {
    let is_open = request.participant_session().is_ok_and(|session| session.to_ask_about().is_some());
    is_open && !UNASKED.contains(&operation)
}

/// The question's page. A form that arrives before the answer does nothing.
pub fn question(request: &mut Request) -> Result<PageResponse, Error> {
    let is_form = !request.method().is_safe();
    if !is_form {
        request.rename_own_view("view_in_person_question");
    }
    let session = request.participant_session()?;
    let (by, host) = (session.participant(), session.to_ask_about().ok_or_else(Error::not_found)?);
    let line = "Someone signed in to the app in this browser after you opened the page. Answer this first, then go back and send the form again.";
    let page = QuestionPage {
        layout: Layout::of_participant(request),
        notice: is_form.then(|| Notice::warn("Nothing was recorded", line)),
        path: part_url(by.id()),
        organization: session.organization().name.as_str().to_owned(),
        name: by.name().as_str().to_owned(),
        host: host.member.as_str().to_owned(),
        next: if is_form { part_url(by.id()) } else { request.uri().path().to_owned() },
    };
    let page = PageResponse::render(&page)?.showing([by.agreement_id().uuid(), by.id().uuid()]);
    Ok(if is_form { page.refused(StatusCode::CONFLICT, "conflict") } else { page })
}
