//! The page of the member's second factor: setup, turning it on and off, and recovery codes.

use std::fmt::Write;

use askama::Template;
use http::HeaderValue;
use pages::done::{notice_of_act, redirect_with_notice, with_notice};
use pages::fields::Fields;
use pages::form;
use pages::form::Field;
use pages::labels::DisplayTime;
use pages::layout::{Layout, Notice};
use pages::response::PageResponse;
use qrcodegen::{QrCode, QrCodeEcc};
use shared::crypto::{TotpCode, TotpSecret};
use shared::domain::second_factor::TypedCode;
use shared::error::Error;
use shared::limits;
use shared::web::second_factor::{self, Done, Status};
use shared::web::{Flash, Redirect, Request};

use crate::sign_in_code::{NO_CODE, WRONG_CODE};

pub(crate) const PATH: &str = "/app/account/second-factor";

const WRONG_FIRST_CODE: &str =
    "is incorrect. Wait for the next one, and make sure that your phone sets its time automatically";

form! {
    /// What setting up a second factor asks for.
    pub(crate) SET_UP: SetUpForm {
        password: Field::password("current_password", "Current password"),
    }
}

form! {
    /// What turning it on asks for.
    pub(crate) TURN_ON: TurnOnForm {
        code: Field::app_code("code", "Code from your app"),
    }
}

form! {
    /// What new recovery codes ask for.
    pub(crate) NEW_CODES: NewCodesForm {
        code: Field::code("code", "Code").hint("The next one from your app, or a recovery code."),
    }
}

form! {
    /// What turning it off asks for.
    pub(crate) TURN_OFF: TurnOffForm {
        password: Field::password("current_password", "Current password"),
        code: Field::code("turn_off_code", "Code").hint("The next one from your app, or a recovery code."),
    }
}

#[derive(Template)]
#[template(path = "second_factor.html")]
struct SecondFactorPage {
    layout: Layout,
    notice: Option<Notice>,
    email: String,
    state: State,
    new_codes: Option<NewCodes>,
    fields: Fields,
}

enum State {
    Off,
    BeingSetUp(SetUp),
    On(OnState),
}

struct SetUp {
    key: String,
    qr: Option<Qr>,
}

pub(crate) struct OnState {
    pub since: DisplayTime,
    pub codes_left: usize,
    pub are_codes_few: bool,
}

impl From<Status> for OnState {
    fn from(status: Status) -> Self {
        let codes_left = status.recovery_codes_left;
        let are_codes_few = codes_left <= limits::RECOVERY_CODES_FEW;
        Self { since: status.turned_on_at.into(), codes_left, are_codes_few }
    }
}

/// Recovery codes created less than two minutes ago.
enum NewCodes {
    Shown(String),
    Unavailable,
}

struct Qr {
    /// The modules per side, including the quiet zone.
    size: i32,
    path: String,
}

impl Qr {
    /// The light modules around a code, which scanners need.
    const QUIET: i32 = 4;

    fn new(text: &str) -> Option<Self> {
        let code = QrCode::encode_text(text, QrCodeEcc::Medium).ok()?;
        let (size, quiet) = (code.size(), Self::QUIET);
        let mut path = String::new();
        for y in 0..size {
            let mut x = 0;
            while x < size {
                let end = (x..size).find(|x| !code.get_module(*x, y)).unwrap_or(size);
                let run = end - x;
                if run > 0 {
                    write!(path, "M{} {}h{run}v1h-{run}z", x + quiet, y + quiet).ok()?;
                }
                x = end + 1;
            }
        }
        Some(Self { size: size + 2 * quiet, path })
    }
}

impl SetUp {
    fn new(secret: &TotpSecret, email: &str) -> Self {
        Self { key: secret.expose_grouped(), qr: Qr::new(&secret.expose_as_address(email)) }
    }
}

async fn second_factor_page(request: &Request, notice: Option<Notice>, fields: Fields) -> Result<PageResponse, Error> {
    let signed_in = request.signed_in()?;
    let email = signed_in.email().as_str().to_owned();
    let state = match second_factor::status(signed_in).await? {
        Some(status) => State::On(status.into()),
        None => match second_factor::secret_to_set_up(request).await? {
            Some(secret) => State::BeingSetUp(SetUp::new(&secret, &email)),
            None => State::Off,
        },
    };
    let new_codes = match (&state, Flash::RecoveryCodes.read(request).await) {
        (State::On(_), Ok(Some(codes))) => Some(NewCodes::Shown(codes)),
        (State::On(_), Err(Error::Unavailable(_))) => Some(NewCodes::Unavailable),
        (_, Err(error)) if !matches!(error, Error::Unavailable(_)) => return Err(error),
        _ => None,
    };
    // Once it is on, its secret is never shown again, even after turning it off.
    let set_up_is_over = matches!(state, State::On(_)).then(|| Flash::SecondFactorSecret.removal(request)).flatten();
    let layout = Layout::new(request);
    let page = PageResponse::render(&SecondFactorPage { layout, notice, email, state, new_codes, fields })?;
    Ok(page.with_cookie(set_up_is_over))
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    request.signed_in()?;
    let (notice, cookie) = notice_of_act(request).await;
    Ok(second_factor_page(request, notice, Fields::default()).await?.with_cookie(cookie))
}

async fn answer(request: &Request, done: Done, code: Field<'_>, wrong_code: &str) -> Result<PageResponse, Error> {
    let (notice, fields) = match done {
        Done::Done(redirect) => return Ok(redirect.into()),
        Done::WrongPassword => {
            let wrong = "is incorrect. After several tries, wait a few minutes";
            (None, Fields::wrong_one(SET_UP.password, wrong))
        }
        Done::WrongCode => (None, Fields::wrong_one(code, wrong_code)),
        Done::Outdated => {
            let line = "Nothing was changed. The page shows your second factor as it is now.";
            (Some(Notice::warn("This page was out of date", line)), Fields::default())
        }
    };
    Ok(second_factor_page(request, notice, fields).await?.unprocessable())
}

async fn notice_beside_codes(request: &Request, title: &str, line: &str) -> Result<Option<HeaderValue>, Error> {
    let submitted = request.submitted_form()?;
    Ok(with_notice(&submitted, PATH.to_owned(), &Notice::good(title, line)).await.cookie)
}

pub(crate) async fn set_up_form(request: &mut Request) -> Result<PageResponse, Error> {
    let password = request.submitted_form()?.form().get(SET_UP.password).to_owned();
    let done = second_factor::begin_set_up(request, &password, PATH).await?;
    answer(request, done, TURN_ON.code, WRONG_CODE).await
}

pub(crate) async fn turn_on(request: &mut Request) -> Result<PageResponse, Error> {
    let Some(code) = TotpCode::parse(request.submitted_form()?.form().get(TURN_ON.code)) else {
        let fields = Fields::wrong_one(TURN_ON.code, "must have 6 digits");
        return Ok(second_factor_page(request, None, fields).await?.unprocessable());
    };
    let done = second_factor::turn_on(request, code, PATH).await?;
    let is_on = matches!(done, Done::Done(_));
    let page = answer(request, done, TURN_ON.code, WRONG_FIRST_CODE).await?;
    if !is_on {
        return Ok(page);
    }
    let line = "From now on, signing in takes a code after your password. Save your recovery codes below.";
    let notice = notice_beside_codes(request, "Second factor turned on", line).await?;
    Ok(page.with_cookie(notice))
}

pub(crate) async fn renew_codes(request: &mut Request) -> Result<PageResponse, Error> {
    let Some(code) = TypedCode::parse(request.submitted_form()?.form().get(NEW_CODES.code)) else {
        return no_code(request, NEW_CODES.code).await;
    };
    let done = second_factor::renew_recovery_codes(request, &code, PATH).await?;
    let is_renewed = matches!(done, Done::Done(_));
    let page = answer(request, done, NEW_CODES.code, WRONG_CODE).await?;
    if !is_renewed {
        return Ok(page);
    }
    let line = "The old ones no longer work. Save the new ones below.";
    Ok(page.with_cookie(notice_beside_codes(request, "New recovery codes created", line).await?))
}

async fn no_code(request: &Request, field: Field<'_>) -> Result<PageResponse, Error> {
    let fields = Fields::wrong_one(field, NO_CODE);
    Ok(second_factor_page(request, None, fields).await?.unprocessable())
}

pub(crate) async fn turn_off(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let password = submitted.form().get(TURN_OFF.password).to_owned();
    let Some(code) = TypedCode::parse(submitted.form().get(TURN_OFF.code)) else {
        return no_code(request, TURN_OFF.code).await;
    };
    let line = "Your password alone signs you in now.";
    let redirect: Redirect = redirect_with_notice(&submitted, PATH.to_owned(), "Second factor turned off", line).await;
    let done = second_factor::turn_off(request, &password, &code, redirect).await?;
    answer(request, done, TURN_OFF.code, WRONG_CODE).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_qr_code_has_its_quiet_zone_and_one_path() {
        let secret = TotpSecret::parse("GEZD GNBV GY3T QOJQ GEZD GNBV GY3T QOJQ").expect("a secret");
        let qr = Qr::new(&secret.expose_as_address("ada@okafor.example")).expect("a code");
        // The finder pattern in the corner: seven dark modules after the quiet zone.
        assert!(qr.path.starts_with("M4 4h7v1h-7z"), "{}", qr.path);
        assert_eq!((qr.size - 2 * Qr::QUIET - 17) % 4, 0);
        let reach = |command: &str| command.split(' ').next().and_then(|x| x.parse::<i32>().ok()).unwrap_or_default();
        assert!(qr.path.split('M').all(|run| reach(run) < qr.size - Qr::QUIET));
        assert!(Qr::new(&secret.expose_as_address(&format!("{}@b.example", "é".repeat(120)))).is_some());
    }
}
