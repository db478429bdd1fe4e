//! A person's own second factor: sets it up, turns it on and off, and gets new recovery codes.
//! [`domain::second_factor`](crate::domain::second_factor) has the rules; the sign-in has the second step.
//!
//! - Decision: until a code proves that the person's app has the secret, it travels in a cookie, sealed for the
//!   session, and no store keeps it. An unfinished setup leaves nothing behind.
//! - Decision: new recovery codes and turning off take a code besides the password. Otherwise a browser left signed in,
//!   with the password, would suffice to bypass the second factor for good. A recovery code will do.

use crate::crypto::random_bytes;
use crate::crypto::{TotpCode, TotpSecret};
use crate::domain::contact::Email;
use crate::domain::second_factor::{self, RecoveryCodes, SecondFactor, TypedCode};
use crate::domain::time::Timestamp;
use crate::error::Error;
use crate::platform::app_state::AppState;
use crate::platform::secrets::open_with;
use crate::service::scope::Plan;
use crate::store::second_factors;
use crate::web::credentials::{Checked, Guessed, LoginAttempt};
use crate::web::flash::Flash;
use crate::web::redirect::Redirect;
use crate::web::request::Request;
use crate::web::session::SignedIn;
use crate::wire::text::Folded;

/// A second factor that is on, as its owner sees it.
#[derive(Debug, Clone, Copy)]
pub struct Status {
    /// Since when.
    pub turned_on_at: Timestamp,
    /// The number of recovery codes that are left.
    pub recovery_codes_left: usize,
}

impl Status {
    pub(super) fn of(factor: &SecondFactor) -> Self {
        Self { turned_on_at: factor.turned_on_at(), recovery_codes_left: factor.recovery_codes_left() }
    }
}

/// The second factor of the member's account, if it is on.
pub async fn status(signed_in: &SignedIn) -> Result<Option<Status>, Error> {
    let found = signed_in.scope().store().table().second_factor(signed_in.email()).await?;
    Ok(found.as_deref().map(Status::of))
}

/// The outcome of an act on a second factor.
#[derive(Debug)]
pub enum Done {
    /// The act took effect.
    Done(Redirect),
    /// The password is wrong, or there were too many attempts.
    WrongPassword,
    /// The code is wrong or used, or there were too many attempts.
    WrongCode,
    /// Another window turned it on or off, or the time to set it up is over. The current page says what is next.
    Outdated,
}

/// Begins to set up a second factor, after the password. The redirect's cookie has the sealed secret.
pub async fn begin_set_up(request: &Request, password: &str, location: &str) -> Result<Done, Error> {
    let submitted = request.submitted_form()?;
    let email = submitted.signed_in()?.email();
    let Some(checked) = Checked::check(request, email.as_str(), password).await? else {
        return Ok(Done::WrongPassword);
    };
    checked.succeeded(request).await;
    if checked.factor.is_some() {
        return Ok(Done::Outdated);
    }
    let cookie = Flash::SecondFactorSecret.set(&submitted, &TotpSecret::generate()?.expose()).await?;
    Ok(Done::Done(Redirect { location: location.to_owned(), cookie }))
}

/// The secret being set up in this session, unless its time is over.
pub async fn secret_to_set_up(request: &Request) -> Result<Option<TotpSecret>, Error> {
    let found = Flash::SecondFactorSecret.read(request).await?;
    Ok(found.and_then(|text| TotpSecret::parse(&text)))
}

/// Turns on the second factor that is being set up. The redirect's cookie has the sealed recovery codes.
pub async fn turn_on(request: &Request, code: TotpCode, location: &str) -> Result<Done, Error> {
    let submitted = request.submitted_form()?;
    let (scope, email) = (submitted.scope(), submitted.signed_in()?.email());
    let Some(secret) = secret_to_set_up(request).await? else { return Ok(Done::Outdated) };
    let sealed = submitted.app().webhooks()?.keys.keyring().await?.seal(&secret.expose(), &place(email))?;
    let codes = RecoveryCodes::of(&random_bytes()?);
    let Some(factor) = SecondFactor::turn_on(&secret, sealed, code, &codes, scope.now()) else {
        return Ok(Done::WrongCode);
    };
    let cookie = Flash::RecoveryCodes.set(&submitted, &codes.reveal()).await?;
    let redirect = Redirect { location: location.to_owned(), cookie };
    submitted.redirect_if_committed(&redirect);
    let factor = &factor;
    let turn_on = || async move {
        if scope.store().table().second_factor(email).await?.is_some() {
            return Ok(Plan::new(scope, false));
        }
        Ok(Plan::new(scope, true).change([second_factors::create(scope.call(), email, factor)?]))
    };
    Ok(if submitted.run(turn_on).await? { Done::Done(redirect) } else { Done::Outdated })
}

/// Replaces the recovery codes, after a code. The redirect's cookie has the new ones, sealed.
pub async fn renew_recovery_codes(request: &Request, code: &TypedCode, location: &str) -> Result<Done, Error> {
    let submitted = request.submitted_form()?;
    let Some(attempt) = count_code(request, submitted.signed_in()?).await? else { return Ok(Done::WrongCode) };
    let (scope, email) = (submitted.scope(), submitted.signed_in()?.email());
    let codes = RecoveryCodes::of(&random_bytes()?);
    let cookie = Flash::RecoveryCodes.set(&submitted, &codes.reveal()).await?;
    let redirect = Redirect { location: location.to_owned(), cookie };
    submitted.redirect_if_committed(&redirect);
    let codes = &codes;
    let renew = || async move {
        let Some(before) = scope.store().table().second_factor(email).await? else {
            return Ok(Plan::new(scope, Err(Done::Outdated)));
        };
        let Some(after) = use_code(request.app(), email, &before, code, scope.now()).await? else {
            return Ok(Plan::new(scope, Err(Done::WrongCode)));
        };
        let after = after.with_recovery_codes(codes);
        Ok(Plan::new(scope, Ok(())).change([second_factors::replace(scope.call(), email, &before, &after)?]))
    };
    if let Err(refused) = submitted.run(renew).await? {
        return Ok(refused);
    }
    attempt.succeeded(request.store()).await;
    Ok(Done::Done(redirect))
}

/// Turns the second factor off, if it is on, after the password and a code.
pub async fn turn_off(request: &Request, password: &str, code: &TypedCode, redirect: Redirect) -> Result<Done, Error> {
    let submitted = request.submitted_form()?;
    let (scope, email) = (submitted.scope(), submitted.signed_in()?.email());
    let Some(checked) = Checked::check(request, email.as_str(), password).await? else {
        return Ok(Done::WrongPassword);
    };
    let Some(attempt) = count_code(request, submitted.signed_in()?).await? else { return Ok(Done::WrongCode) };
    let turn_off = || async move {
        let Some(before) = scope.store().table().second_factor(email).await? else {
            return Ok(Plan::new(scope, true));
        };
        if use_code(request.app(), email, &before, code, scope.now()).await?.is_none() {
            return Ok(Plan::new(scope, false));
        }
        Ok(Plan::new(scope, true).change([second_factors::remove(scope.call(), email, &before)]))
    };
    if !submitted.run(turn_off).await? {
        return Ok(Done::WrongCode);
    }
    checked.succeeded(request).await;
    attempt.succeeded(request.store()).await;
    Ok(Done::Done(redirect))
}

async fn count_code(request: &Request, signed_in: &SignedIn) -> Result<Option<LoginAttempt>, Error> {
    let account = signed_in.account();
    let attempt = LoginAttempt::new(request, account.email.as_str(), account.epoch, Guessed::Code).await?;
    Ok(attempt.count(request.store(), request.now()).await?.then_some(attempt))
}

/// The second factor after using a code. `None` if the code is wrong or used.
pub(super) async fn use_code(
    app: &AppState,
    account: &Email,
    factor: &SecondFactor,
    code: &TypedCode,
    now: Timestamp,
) -> Result<Option<SecondFactor>, Error> {
    let code = match code {
        // A recovery code needs no key. (Signing in does, for the step between password and code.)
        TypedCode::Recovery(code) => return Ok(factor.after_recovery_code(code)),
        TypedCode::App(code) => *code,
    };
    let keys = &*app.webhooks()?.keys;
    let opened = open_with(keys, |keyring| keyring.open(factor.secret(), &place(account))).await?;
    let secret =
        TotpSecret::parse(&opened).ok_or_else(|| Error::Internal("a second factor without a secret".to_owned()))?;
    Ok(factor.after_code(&secret, code, now))
}

/// An account's secret opens only in this place.
fn place(account: &Email) -> String {
    second_factor::place(Folded::new(account.as_str()).as_str())
}
