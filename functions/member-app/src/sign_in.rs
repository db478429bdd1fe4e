use askama::Template;
use http::StatusCode;
use pages::fields::form_secret;
use pages::layout::{Layout, Notice};
use pages::response::PageResponse;
use pages::unsent;
use shared::error::Error;
use shared::service::identity::sign_in::{self, SignIn};
use shared::web::Request;
use shared::web::cookies::Cookie;
use shared::wire::fields::FieldErrors;

use crate::sign_in_code;
use crate::signed_in::{next_page, no_session, signed_in};

pub(crate) const SESSION_ENDED: &str = "Your session ended. Nothing was decided.";

#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignInPage {
    layout: Layout,
    form_token: String,
    next: String,
    email: String,
    notice: Option<Notice>,
}

/// What brought the reader here.
#[derive(Debug, Clone, Default, deserr::Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
struct Query {
    #[deserr(default)]
    next: Option<String>,
    #[deserr(default)]
    password: Option<NewPassword>,
    #[deserr(default)]
    ended: Option<Ended>,
}

#[derive(Debug, Clone, Copy, deserr::Deserr)]
#[deserr(error = FieldErrors, rename_all = lowercase)]
enum NewPassword {
    Saved,
}

#[derive(Debug, Clone, Copy, deserr::Deserr)]
#[deserr(error = FieldErrors, rename_all = lowercase)]
enum Ended {
    Code,
    Decision,
    Session,
    Everywhere,
    Form,
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    let Query { next, password, ended } = request.read_query()?;
    let next = next_page(next.as_deref());
    if request.signed_in().is_ok() {
        return Ok(PageResponse::see_other(next));
    }
    let notice = match (password, ended) {
        (Some(NewPassword::Saved), _) => {
            let line = "Your sessions have ended. Sign in with the new password.";
            Some(Notice::good("Password saved", line))
        }
        (_, Some(Ended::Code)) => {
            let line = "Your code was not entered within 5 minutes, or your account has changed since.";
            Some(Notice::warn("Enter your password again", line))
        }
        (_, Some(Ended::Decision)) => {
            Some(Notice::warn(SESSION_ENDED, "Sign in to return to your decision. Your note is kept."))
        }
        (_, Some(Ended::Session)) => Some(Notice::good("You’re signed out", "Your session on this device has ended.")),
        (_, Some(Ended::Everywhere)) => {
            Some(Notice::good("You’re signed out everywhere", "All your sessions have ended, on every device."))
        }
        (_, Some(Ended::Form)) => {
            Some(Notice::warn(unsent::TITLE, "What you typed is kept. Sign in to submit it again."))
        }
        (None, None) => None,
    };
    // A browser that brings the secret of its form has got the token before.
    let is_fresh = request.cookie(Cookie::Form).is_none();
    let page = sign_in_page(request, next, String::new(), notice)?;
    Ok(if is_fresh { page.public() } else { page })
}

pub(crate) async fn sign_in(request: &mut Request) -> Result<PageResponse, Error> {
    let form = request.unverified_form();
    let (email, next) = (form.get("email").to_owned(), next_page(Some(form.get("next"))));
    let secret = request.cookie(Cookie::Form);
    let password = match secret.as_ref().map(|secret| request.verified_form(secret)) {
        Some(Ok(form)) => form.get("password").to_owned(),
        Some(Err(Error::ForgedForm)) | None => {
            let line = "This form had expired, or your browser does not keep cookies.";
            let notice = Notice::bad("Please sign in again", line);
            return Ok(sign_in_page(request, next, email, Some(notice))?.refused(StatusCode::FORBIDDEN, "forbidden"));
        }
        Some(Err(error)) => return Err(error),
    };
    let notice = match sign_in::sign_in(&request.browser_call(), &email, &password).await? {
        SignIn::Done(login) => return Ok(signed_in(request, next, *login)),
        SignIn::CodeIsNext(step) => {
            let cookie = request.keep_second_step(&step).await?;
            let page = PageResponse::see_other(sign_in_code::url(&next)).with_cookie(cookie);
            return Ok(page.with_status(StatusCode::SEE_OTHER, "unauthenticated"));
        }
        SignIn::Nowhere(nowhere) => no_session(nowhere),
        // The same text for all reasons, so that it doesn't reveal whether the account exists.
        SignIn::Refused => Notice::bad(
            "Incorrect email or password",
            "Check the email address and the password. After several tries, wait a few minutes.",
        ),
    };
    let page = sign_in_page(request, next, email, Some(notice))?;
    Ok(page.refused(StatusCode::UNPROCESSABLE_ENTITY, "unauthenticated"))
}

fn sign_in_page(request: &Request, next: String, email: String, notice: Option<Notice>) -> Result<PageResponse, Error> {
    let secret = form_secret(request)?;
    let page = SignInPage { layout: Layout::new(request), form_token: secret.form_token(), next, email, notice };
    Ok(PageResponse::render(&page)?.with_cookie(Cookie::Form.set(request.app(), Some(&secret))))
}
