//! Forms that are submitted again. A repeat with the same content gets the first answer and changes nothing. With other
//! content, what was typed is kept, and the next press submits it as a copy of its own.

use http::StatusCode;
use shared::error::{Error, ErrorCode};
use shared::web::{FormAnswer, Repeat, Request};

use crate::layout::{Layout, Link};
use crate::response::{MessagePage, PageResponse, RouteKind, page_of};
use crate::unsent::{SentForm, UsedForm, keep_used};

/// The answer to a form whose copy was used before the request began. None if the form is to be handled.
pub(crate) fn answered(request: &mut Request, sent: SentForm) -> Result<Option<PageResponse>, Error> {
    let Some(repeat) = request.repeat() else { return Ok(None) };
    let answer = answer(request, sent, repeat)?;
    if answer.is_none() {
        request.begin_copy();
    }
    Ok(answer)
}

/// The form's result; or a repeat's answer if another request has used the copy meanwhile. Keeps an act's answer.
pub(crate) async fn or_answered(
    request: &Request,
    sent: SentForm,
    result: Result<PageResponse, Error>,
) -> Result<PageResponse, Error> {
    let is_refused = result.as_ref().map_or(true, PageResponse::is_refused);
    // What changed nothing may be a refusal too, told by a notice of the page that it leads to.
    if is_refused || !request.has_used_copy() {
        return match request.repeat_by_now().await {
            Some(repeat) if is_refused || matches!(repeat, Repeat::Same(_)) => {
                answer(request, sent, repeat)?.map_or(result, Ok)
            }
            _ => result,
        };
    }
    if let Some(answer) = result.as_ref().ok().and_then(PageResponse::as_answer) {
        request.keep_answer(answer).await;
    }
    result
}

/// The answer to a repeat. None if nothing was typed: then another button was pressed, and the record's state decides.
fn answer(request: &Request, sent: SentForm, repeat: Repeat) -> Result<Option<PageResponse>, Error> {
    let back = page_of(request, sent.route).unwrap_or("/app").to_owned();
    if let Repeat::Same(first) = repeat {
        let answer = first.unwrap_or(FormAnswer { location: back, cookies: Vec::new() });
        return Ok(Some(PageResponse::repeated(answer)));
    }
    let layout = || match sent.route {
        RouteKind::Part => Layout::of_participant(request),
        RouteKind::Page | RouteKind::Action => Layout::new(request),
    };
    let page = match keep_used(request, sent, layout(), &back)? {
        UsedForm::Empty => return Ok(None),
        UsedForm::Kept(page) => page,
        UsedForm::HasSecrets => PageResponse::render(&MessagePage {
            layout: layout(),
            title: "This form was already used",
            text: "What was sent with it first is recorded. What you typed since isn’t, and is never shown again."
                .into(),
            link: Link { url: back, text: "Open the form again".to_owned() },
            shows_request_id: false,
        })?,
    };
    Ok(Some(page.refused(StatusCode::CONFLICT, ErrorCode::Conflict.as_str())))
}
