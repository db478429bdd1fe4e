//! Notices after an act: the form's handler sets one, and the page after the redirect shows it once.

use http::HeaderValue;
use shared::web::{Flash, Redirect, Request, SubmittedForm, Submitter};

use crate::layout::Notice;
use crate::response::PageResponse;

/// Redirects to the page of a form's result, with a notice. Make it before the act: it also answers the form if the act
/// takes effect although it seems to fail. Omits the notice if the keys that seal it can't be read.
pub async fn redirect_with_notice<S: Submitter>(
    submitted: &SubmittedForm<'_, S>,
    location: String,
    title: &str,
    line: &str,
) -> Redirect {
    redirect_with(submitted, location, &Notice::good(title, line)).await
}

/// Like [`redirect_with_notice`], with a notice of any color and length, in any section of the page.
pub async fn redirect_with<S: Submitter>(
    submitted: &SubmittedForm<'_, S>,
    location: String,
    notice: &Notice,
) -> Redirect {
    let redirect = with_notice(submitted, location, notice).await;
    submitted.redirect_if_committed(&redirect);
    redirect
}

/// Redirects with a notice of an act's result, good or bad. Made after the act.
pub async fn with_notice<S: Submitter>(
    submitted: &SubmittedForm<'_, S>,
    location: String,
    notice: &Notice,
) -> Redirect {
    let Notice { class, title, lines, section, .. } = notice;
    let text = format!("{class} {section}\n{title}\n{}", lines.join("\n"));
    let cookie = Flash::Done.set(submitted, &text).await.ok().flatten();
    Redirect { location, cookie }
}

/// Redirects to a page with content that shows only once, with a notice of what was done.
pub async fn shown_once<S: Submitter>(
    submitted: &SubmittedForm<'_, S>,
    redirect: Redirect,
    title: &str,
    line: &str,
) -> PageResponse {
    let notice = with_notice(submitted, redirect.location.clone(), &Notice::good(title, line)).await;
    PageResponse::from(redirect).with_cookie(notice.cookie)
}

/// The notice of the act that led to the page, if any, with the `Set-Cookie` header that removes it.
pub async fn notice_of_act(request: &Request) -> (Option<Notice>, Option<HeaderValue>) {
    // The page also works if the keys that open the flash can't be read.
    let Some((text, cookie)) = Flash::Done.take(request).await.ok().flatten() else { return (None, None) };
    let mut parts = text.split('\n');
    let (class, section) = parts.next().and_then(|head| head.split_once(' ')).unwrap_or_default();
    let class = ["bad", "plain", "warn"].into_iter().find(|known| *known == class).unwrap_or("good");
    let title = parts.next().unwrap_or_default().to_owned();
    request.set_outcome(&title);
    let notice = Notice { section: section.to_owned(), ..Notice::new(class, title, parts.map(str::to_owned)) };
    (Some(notice.focused()), cookie)
}
