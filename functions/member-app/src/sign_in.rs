//! Signing in.

use askama::Template;
use http::StatusCode;
use shared::crypto::BrowserSecret;
use shared::error::Error;
use shared::session::{self, Cookie, safe_next};
use shared::visit::Visit;

use crate::Page;
use crate::frame::{Answer, Frame, Notice};

/// Where somebody goes who did not want anything else.
const HOME: &str = "/app";

#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignInPage {
    frame: Frame,
    form_token: String,
    next: String,
    email: String,
    notice: Option<Notice>,
}

/// The form.
pub(crate) struct Form;

impl Page for Form {
    fn operation(_: &Visit) -> &'static str {
        "view_sign_in"
    }

    async fn answer(visit: &mut Visit) -> Result<Answer, Error> {
        let next = next_of(visit.query("next").as_deref());
        if visit.signed_in().is_ok() {
            return Ok(Answer::see_other(next));
        }
        form(visit, next, String::new(), None)
    }
}

/// The form, sent.
pub(crate) struct SignIn;

impl Page for SignIn {
    fn operation(_: &Visit) -> &'static str {
        "sign_in"
    }

    async fn answer(visit: &mut Visit) -> Result<Answer, Error> {
        let typed = visit.typed();
        let (email, next) = (typed.get("email").to_owned(), next_of(Some(typed.get("next"))));
        let secret = visit.cookie(Cookie::Form);
        let password = match secret.as_ref().map(|secret| visit.form_of(secret)) {
            Some(Ok(form)) => form.get("password").to_owned(),
            Some(Err(Error::ForgedForm)) | None => {
                let notice = Notice {
                    look: "bad",
                    title: "Please sign in again".to_owned(),
                    lines: vec!["This form had expired, or your browser does not keep cookies.".to_owned()],
                };
                return Ok(form(visit, next, email, Some(notice))?.refused(StatusCode::FORBIDDEN, "forbidden"));
            }
            Some(Err(error)) => return Err(error),
        };
        if let Some(entered) = session::sign_in(visit, &email, &password).await? {
            let cookies = [
                Cookie::Session.set(visit.app(), Some(&entered.session)),
                Cookie::Browser.set(visit.app(), Some(&entered.browser)),
                Cookie::Form.set(visit.app(), None),
            ];
            return Ok(cookies.into_iter().fold(Answer::see_other(next), Answer::with_cookie).recorded());
        }
        // One text for all reasons: nobody learns whether there is an account.
        let notice = Notice {
            look: "bad",
            title: "That did not work".to_owned(),
            lines: vec![
                "Check the e-mail address and the password. After several tries, wait a few minutes.".to_owned(),
            ],
        };
        let page = form(visit, next, email, Some(notice))?;
        Ok(page.refused(StatusCode::UNPROCESSABLE_ENTITY, "unauthenticated"))
    }
}

fn next_of(next: Option<&str>) -> String {
    next.and_then(safe_next).unwrap_or(HOME).to_owned()
}

fn form(visit: &Visit, next: String, email: String, notice: Option<Notice>) -> Result<Answer, Error> {
    // Kept, so that the form in another tab works too.
    let known = visit.cookie(Cookie::Form);
    let secret = match known {
        Some(secret) => secret,
        None => BrowserSecret::new().map_err(|error| Error::Internal(error.to_string()))?,
    };
    let page = SignInPage { frame: Frame::new(visit), form_token: secret.form_token(), next, email, notice };
    Ok(Answer::page(&page)?.with_cookie(Cookie::Form.set(visit.app(), Some(&secret))))
}
