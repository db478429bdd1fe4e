//! The page of the member's second factor: setup, turning it on and off, and recovery codes.

use std::fmt::Write;

use askama::Template;
use pages::done::{notice_of_act, redirect_with_notice, with_notice};
use pages::fields::Fields;
use pages::form;
use pages::form::Field;
use pages::labels::DisplayTime;
use pages::layout::{Layout, Notice};
use pages::response::PageResponse;
use qrcodegen::{QrCode, QrCodeEcc};
use shared::crypto::{TotpCode, TotpSecret};
use shared::domain::second_factor::{RecoveryCodes, TypedCode};
use shared::error::Error;
use shared::limits;
use shared::service::identity::second_factors::{self, NotDone, OwnersCode, ProvenFactor, Status};
use shared::web::{Flash, Redirect, Request, SubmittedForm};

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
    let state = match second_factors::status(signed_in).await? {
        Some(status) => State::On(status.into()),
        None => match secret_to_set_up(request).await? {
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

/// The secret being set up in this session, unless its time is over.
async fn secret_to_set_up(request: &Request) -> Result<Option<TotpSecret>, Error> {
    let found = Flash::SecondFactorSecret.read(request).await?;
    Ok(found.and_then(|text| TotpSecret::parse(&text)))
}

async fn refused(request: &Request, why: NotDone, code: Field<'_>, wrong_code: &str) -> Result<PageResponse, Error> {
    let (notice, fields) = match why {
        NotDone::WrongPassword => {
            let wrong = "is incorrect. After several tries, wait a few minutes";
            (None, Fields::wrong_one(SET_UP.password, wrong))
        }
        NotDone::WrongCode => (None, Fields::wrong_one(code, wrong_code)),
        NotDone::Outdated => {
            let line = "Nothing was changed. The page shows your second factor as it is now.";
            (Some(Notice::warn("This page was out of date", line)), Fields::default())
        }
    };
    Ok(second_factor_page(request, notice, fields).await?.unprocessable())
}

/// The redirect of an act to the page with its new recovery codes, sealed in a cookie.
async fn redirect_with_codes(submitted: &SubmittedForm<'_>, codes: &RecoveryCodes) -> Result<Redirect, Error> {
    let cookie = Flash::RecoveryCodes.set(submitted, &codes.reveal()).await?;
    let redirect = Redirect { location: PATH.to_owned(), cookie };
    submitted.redirect_if_committed(&redirect);
    Ok(redirect)
}

/// The answer of an act with new recovery codes, and a notice beside them.
async fn beside_codes(
    submitted: &SubmittedForm<'_>,
    redirect: Redirect,
    title: &str,
    line: &str,
) -> Result<PageResponse, Error> {
    let notice = with_notice(submitted, PATH.to_owned(), &Notice::good(title, line)).await.cookie;
    Ok(PageResponse::from(redirect).with_cookie(notice))
}

pub(crate) async fn set_up_form(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let password = submitted.form().get(SET_UP.password);
    match second_factors::begin_set_up(&request.browser_call(), request.signed_in()?, password).await? {
        Ok(secret) => {
            let cookie = Flash::SecondFactorSecret.set(&submitted, &secret.expose()).await?;
            Ok(Redirect { location: PATH.to_owned(), cookie }.into())
        }
        Err(why) => refused(request, why, TURN_ON.code, WRONG_CODE).await,
    }
}

pub(crate) async fn turn_on(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let Some(code) = TotpCode::parse(submitted.form().get(TURN_ON.code)) else {
        let fields = Fields::wrong_one(TURN_ON.code, "must have 6 digits");
        return Ok(second_factor_page(request, None, fields).await?.unprocessable());
    };
    let not_done = |why| refused(request, why, TURN_ON.code, WRONG_FIRST_CODE);
    let signed_in = request.signed_in()?;
    let Some(secret) = secret_to_set_up(request).await? else { return not_done(NotDone::Outdated).await };
    let Some(factor) = ProvenFactor::prove(&request.browser_call(), signed_in, &secret, code).await? else {
        return not_done(NotDone::WrongCode).await;
    };
    let redirect = redirect_with_codes(&submitted, &factor.recovery_codes).await?;
    if let Err(why) = submitted.run(|| factor.turn_on(signed_in)).await? {
        return not_done(why).await;
    }
    let line = "From now on, signing in takes a code after your password. Save your recovery codes below.";
    beside_codes(&submitted, redirect, "Second factor turned on", line).await
}

/// The code of a form, counted as an attempt after the password if the form has one, or the page that refuses it.
async fn owners_code<'a>(
    request: &'a Request,
    field: Field<'_>,
    password: Option<Field<'_>>,
) -> Result<Result<OwnersCode<'a>, PageResponse>, Error> {
    let form = request.submitted_form()?.form();
    let Some(code) = TypedCode::parse(form.get(field)) else {
        let fields = Fields::wrong_one(field, NO_CODE);
        return Ok(Err(second_factor_page(request, None, fields).await?.unprocessable()));
    };
    let password = password.map(|password| form.get(password));
    match OwnersCode::count(request.browser_call(), request.signed_in()?, password, code).await? {
        Ok(code) => Ok(Ok(code)),
        Err(why) => refused(request, why, field, WRONG_CODE).await.map(Err),
    }
}

pub(crate) async fn renew_codes(request: &mut Request) -> Result<PageResponse, Error> {
    let code = match owners_code(request, NEW_CODES.code, None).await? {
        Ok(code) => code,
        Err(page) => return Ok(page),
    };
    let (submitted, codes) = (request.submitted_form()?, second_factors::new_recovery_codes()?);
    let redirect = redirect_with_codes(&submitted, &codes).await?;
    if let Err(why) = submitted.run(|| code.renew_recovery_codes(&codes)).await? {
        return refused(request, why, NEW_CODES.code, WRONG_CODE).await;
    }
    code.succeeded().await;
    let line = "The old ones no longer work. Save the new ones below.";
    beside_codes(&submitted, redirect, "New recovery codes created", line).await
}

pub(crate) async fn turn_off(request: &mut Request) -> Result<PageResponse, Error> {
    let code = match owners_code(request, TURN_OFF.code, Some(TURN_OFF.password)).await? {
        Ok(code) => code,
        Err(page) => return Ok(page),
    };
    let submitted = request.submitted_form()?;
    let line = "Your password alone signs you in now.";
    let redirect = redirect_with_notice(&submitted, PATH.to_owned(), "Second factor turned off", line).await;
    if let Err(why) = submitted.run(|| code.turn_off()).await? {
        return refused(request, why, TURN_OFF.code, WRONG_CODE).await;
    }
    code.succeeded().await;
    Ok(redirect.into())
}
