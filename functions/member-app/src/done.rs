//! The notice that follows an act: the form's handler sets it, and the page after the redirect shows it once.

use http::HeaderValue;
use shared::web::{Flash, Redirect, Request, SubmittedForm, Submitter};

use crate::layout::Notice;

/// The redirect to the page that shows what a form's act did, with a notice of a title and a line. Make it before the act:
/// it also answers the form if the act takes effect although it seems to fail. It comes without the notice if the keys that
/// seal it can't be read.
pub(crate) async fn redirect_with_notice<S: Submitter>(
    submitted: &SubmittedForm<'_, S>,
    location: String,
    title: &str,
    line: &str,
) -> Redirect {
    let cookie = Flash::Done.set(submitted, &format!("{title}\n{line}")).await.ok().flatten();
    let redirect = Redirect { location, cookie };
    submitted.redirect_if_committed(&redirect);
    redirect
}

/// The notice of the act that led to the page, if any, with the `Set-Cookie` header that removes it.
pub(crate) async fn notice_of_act(request: &Request) -> (Option<Notice>, Option<HeaderValue>) {
    // The page also works when the keys that open the flash can't be read.
    let Some((text, cookie)) = Flash::Done.take(request).await.ok().flatten() else { return (None, None) };
    let (title, line) = text.split_once('\n').unwrap_or((&text, ""));
    (Some(Notice::good(title, line)), cookie)
}
