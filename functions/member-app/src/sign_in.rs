//! Signing in.

use askama::Template;
use http::StatusCode;
use shared::crypto::CookieSecret;
use shared::error::Error;
use shared::web::Request;
use shared::web::cookies::Cookie;
use shared::web::login;
use shared::web::next::safe_next;

use crate::Page;
use crate::layout::{Answer, Layout, Notice};

/// Where somebody goes who did not want anything else.
const HOME: &str = "/app";

#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignInPage {
    layout: Layout,
    form_token: String,
    next: String,
    email: String,
    notice: Option<Notice>,
}

/// The form.
pub(crate) struct Form;

impl Page for Form {
    fn operation(_: &Request) -> &'static str {
        "view_sign_in"
    }

    async fn answer(request: &mut Request) -> Result<Answer, Error> {
        let next = next_of(request.query("next").as_deref());
        if request.signed_in().is_ok() {
            return Ok(Answer::see_other(next));
        }
        form(request, next, String::new(), None)
    }
}

/// The form, sent.
pub(crate) struct SignIn;

impl Page for SignIn {
    fn operation(_: &Request) -> &'static str {
        "sign_in"
    }

    async fn answer(request: &mut Request) -> Result<Answer, Error> {
        let typed = request.unverified_form();
        let (email, next) = (typed.get("email").to_owned(), next_of(Some(typed.get("next"))));
        let secret = request.cookie(Cookie::Form);
        let password = match secret.as_ref().map(|secret| request.verified_form(secret)) {
            Some(Ok(form)) => form.get("password").to_owned(),
            Some(Err(Error::ForgedForm)) | None => {
                let notice = Notice {
                    look: "bad",
                    title: "Please sign in again".to_owned(),
                    lines: vec!["This form had expired, or your browser does not keep cookies.".to_owned()],
                };
                return Ok(form(request, next, email, Some(notice))?.refused(StatusCode::FORBIDDEN, "forbidden"));
            }
            Some(Err(error)) => return Err(error),
        };
        if let Some(secrets) = login::sign_in(request, &email, &password).await? {
            let cookies = [
                Cookie::Session.set(request.app(), Some(&secrets.session)),
                Cookie::Device.set(request.app(), Some(&secrets.device)),
                Cookie::Form.set(request.app(), None),
            ];
            return Ok(cookies.into_iter().fold(Answer::see_other(next), Answer::with_cookie));
        }
        // One text for all reasons: nobody learns whether there is an account.
        let notice = Notice {
            look: "bad",
            title: "That did not work".to_owned(),
            lines: vec![
                "Check the e-mail address and the password. After several tries, wait a few minutes.".to_owned(),
            ],
        };
        let page = form(request, next, email, Some(notice))?;
        Ok(page.refused(StatusCode::UNPROCESSABLE_ENTITY, "unauthenticated"))
    }
}

fn next_of(next: Option<&str>) -> String {
    next.and_then(safe_next).unwrap_or(HOME).to_owned()
}

fn form(request: &Request, next: String, email: String, notice: Option<Notice>) -> Result<Answer, Error> {
    // Kept, so that the form in another tab works too.
    let known = request.cookie(Cookie::Form);
    let secret = match known {
        Some(secret) => secret,
        None => CookieSecret::new()?,
    };
    let page = SignInPage { layout: Layout::new(request), form_token: secret.form_token(), next, email, notice };
    Ok(Answer::page(&page)?.with_cookie(Cookie::Form.set(request.app(), Some(&secret))))
}
