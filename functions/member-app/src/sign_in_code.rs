//! The second step of signing in: an app code or a recovery code.

use askama::Template;
use http::StatusCode;
use pages::fields::{Fields, form_secret};
use pages::form;
use pages::layout::{Layout, Notice};
use pages::response::PageResponse;
use pages::routes::Operation;
use pages::urls::encode_query_value;
use shared::crypto::{RecoveryCode, TotpCode};
use shared::domain::second_factor::TypedCode;
use shared::error::Error;
use shared::service::identity::sign_in::{SignInWithCode, sign_in_with_code};
use shared::web::cookies::Cookie;
use shared::web::{Flash, Form, Request};
use shared::wire::fields::FieldErrors;

use crate::signed_in::{next_page, no_session, signed_in};

const PATH: &str = "/app/sign-in/code";

pub(crate) const WRONG_CODE: &str =
    "is incorrect or was used already. Wait for the next one; after several tries, wait a few minutes";

pub(crate) const NO_CODE: &str = "must have 6 digits, or be a recovery code";

const WRONG_RECOVERY_CODE: &str = "is incorrect or was used already. After several tries, wait a few minutes";

form! {
    /// The code of the app, or a recovery code instead.
    pub(crate) CODE: CodeForm {
        app: Field::app_code("code", "Code"),
        recovery: Field::code(RECOVERY_CODE, "Recovery code").hint("One of the ten you saved. Each works once."),
    }
}

#[derive(Template)]
#[template(path = "sign_in_code.html")]
struct CodePage {
    layout: Layout,
    form_token: String,
    next: String,
    notice: Option<Notice>,
    fields: Fields,
}

pub(crate) fn url(next: &str) -> String {
    format!("{PATH}?next={}", encode_query_value(next))
}

#[derive(Debug, Clone, Default, deserr::Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
struct Query {
    #[deserr(default)]
    next: Option<String>,
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    let query: Query = request.read_query()?;
    let next = next_page(query.next.as_deref());
    if request.signed_in().is_ok() {
        return Ok(PageResponse::see_other(next));
    }
    if !Flash::SecondStep.is_in(request) {
        return Ok(password_is_next(request, &next));
    }
    code_page(request, next, Fields::default(), None)
}

fn password_is_next(request: &Request, next: &str) -> PageResponse {
    let url = format!("/app/sign-in?ended=code&next={}", encode_query_value(next));
    PageResponse::see_other(url).with_cookie(Flash::SecondStep.removal(request))
}

fn code_page(request: &Request, next: String, fields: Fields, notice: Option<Notice>) -> Result<PageResponse, Error> {
    let secret = form_secret(request)?;
    let page = CodePage { layout: Layout::new(request), form_token: secret.form_token(), next, notice, fields };
    Ok(PageResponse::render(&page)?.with_cookie(Cookie::Form.set(request.app(), Some(&secret))))
}

/// The code typed in one of two fields, or its error if it is neither kind.
fn typed_code(form: &Form) -> Result<TypedCode, Fields> {
    if form.has(CODE.recovery) {
        let code = RecoveryCode::parse(form.get(CODE.recovery)).map(TypedCode::Recovery);
        return code.ok_or_else(|| Fields::wrong_one(CODE.recovery, "must be a 16-character recovery code"));
    }
    let code = TotpCode::parse(form.get(CODE.app)).map(TypedCode::App);
    code.ok_or_else(|| Fields::wrong_one(CODE.app, "must have 6 digits"))
}

const RECOVERY_CODE: &str = "recovery_code";

pub(crate) const SIGN_IN_OPERATIONS: Operation =
    Operation::WithField { field: RECOVERY_CODE, name: "sign_in_with_recovery_code", otherwise: "sign_in_with_code" };

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
    let Some(step) = request.second_step().await? else { return Ok(password_is_next(request, &next)) };
    let notice = match sign_in_with_code(&request.browser_call(), &step, &code).await? {
        SignInWithCode::Done(login) => return Ok(signed_in(request, next, *login)),
        SignInWithCode::PasswordIsNext => return Ok(password_is_next(request, &next)),
        SignInWithCode::Nowhere(nowhere) => Some(no_session(nowhere)),
        SignInWithCode::Refused => None,
    };
    let fields = match code {
        _ if notice.is_some() => Fields::default(),
        TypedCode::App(_) => Fields::wrong_one(CODE.app, WRONG_CODE),
        TypedCode::Recovery(_) => Fields::wrong_one(CODE.recovery, WRONG_RECOVERY_CODE),
    };
    let page = code_page(request, next, fields, notice)?;
    Ok(page.refused(StatusCode::UNPROCESSABLE_ENTITY, "unauthenticated"))
}
