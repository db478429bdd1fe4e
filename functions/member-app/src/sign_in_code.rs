//! The second step of signing in: a code of the authenticator app, or a recovery code.

use askama::Template;
use http::StatusCode;
use pages::fields::{Fields, form_secret};
use pages::layout::{Layout, Notice};
use pages::response::PageResponse;
use pages::routes::Operation;
use pages::urls::encode_query_value;
use shared::crypto::{RecoveryCode, TotpCode};
use shared::domain::second_factor::TypedCode;
use shared::error::Error;
use shared::web::cookies::Cookie;
use shared::web::login::{self, SignInWithCode};
use shared::web::{Flash, Form, Request};

use crate::signed_in::{next_page, no_session, signed_in};

/// The path of the page.
const PATH: &str = "/app/sign-in/code";

/// What is wrong with a code, as the end of a sentence. It is the same for a wrong code and for one that was used.
pub(crate) const WRONG_CODE: &str =
    "is incorrect or was used already. Wait for the next one; after several tries, wait a few minutes";

/// What is wrong with a text that is neither a code of an app nor a recovery code.
pub(crate) const NO_CODE: &str = "must have 6 digits, or be a recovery code";

/// What is wrong with a recovery code.
const WRONG_RECOVERY_CODE: &str = "is incorrect or was used already. After several tries, wait a few minutes";

#[derive(Template)]
#[template(path = "sign_in_code.html")]
struct CodePage {
    layout: Layout,
    form_token: String,
    next: String,
    notice: Option<Notice>,
    fields: Fields,
}

/// The URL of the page, which leads on to another.
pub(crate) fn url(next: &str) -> String {
    format!("{PATH}?next={}", encode_query_value(next))
}

/// Shows the form.
pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    let next = next_page(request.query("next").as_deref());
    if request.signed_in().is_ok() {
        return Ok(PageResponse::see_other(next));
    }
    if !Flash::SecondStep.is_in(request) {
        return Ok(password_is_next(request, &next));
    }
    code_page(request, next, Fields::default(), None)
}

/// The way back to the password.
fn password_is_next(request: &Request, next: &str) -> PageResponse {
    let url = format!("/app/sign-in?ended=code&next={}", encode_query_value(next));
    PageResponse::see_other(url).with_cookie(Flash::SecondStep.removal(request))
}

fn code_page(request: &Request, next: String, fields: Fields, notice: Option<Notice>) -> Result<PageResponse, Error> {
    let secret = form_secret(request)?;
    let page = CodePage { layout: Layout::new(request), form_token: secret.form_token(), next, notice, fields };
    Ok(PageResponse::render(&page)?.with_cookie(Cookie::Form.set(request.app(), Some(&secret))))
}

/// The code that was typed in one of two fields: of the app, or a recovery code. What is wrong with it if it is neither.
fn typed_code(form: &Form) -> Result<TypedCode, Fields> {
    if form.has(RECOVERY_CODE) {
        let code = RecoveryCode::parse(form.get(RECOVERY_CODE)).map(TypedCode::Recovery);
        return code.ok_or_else(|| Fields::wrong_one(RECOVERY_CODE, "must be a 16-character recovery code"));
    }
    let code = TotpCode::parse(form.get("code")).map(TypedCode::App);
    code.ok_or_else(|| Fields::wrong_one("code", "must have 6 digits"))
}

/// The field of the form for recovery codes.
const RECOVERY_CODE: &str = "recovery_code";

/// What the form does, by the code that was typed.
pub(crate) const SIGN_IN_OPERATIONS: Operation =
    Operation::WithField { field: RECOVERY_CODE, name: "sign_in_with_recovery_code", otherwise: "sign_in_with_code" };

/// Signs in.
pub(crate) async fn sign_in(request: &mut Request) -> Result<PageResponse, Error> {
    let next = next_page(Some(request.unverified_form().get("next")));
    let secret = request.cookie(Cookie::Form);
    let typed = match secret.as_ref().map(|secret| request.verified_form(secret)) {
        Some(Ok(form)) => typed_code(form),
        Some(Err(Error::ForgedForm)) | None => return Ok(password_is_next(request, &next)),
        Some(Err(error)) => return Err(error),
    };
    let code = match typed {
        Ok(code) => code,
        Err(fields) => return Ok(code_page(request, next, fields, None)?.unprocessable()),
    };
    let notice = match login::sign_in_with_code(request, &code).await? {
        SignInWithCode::Done(cookies) => {
            return Ok(signed_in(request, next, &cookies));
        }
        SignInWithCode::PasswordIsNext => return Ok(password_is_next(request, &next)),
        SignInWithCode::Nowhere(nowhere) => Some(no_session(nowhere)),
        SignInWithCode::Refused => None,
    };
    let fields = match code {
        _ if notice.is_some() => Fields::default(),
        TypedCode::App(_) => Fields::wrong_one("code", WRONG_CODE),
        TypedCode::Recovery(_) => Fields::wrong_one(RECOVERY_CODE, WRONG_RECOVERY_CODE),
    };
    let page = code_page(request, next, fields, notice)?;
    Ok(page.refused(StatusCode::UNPROCESSABLE_ENTITY, "unauthenticated"))
}
