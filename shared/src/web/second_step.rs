//! The second step of a sign-in: the time between the right password and the code, without a session.
//!
//! Decision: a cookie carries the step, sealed for five minutes and this browser; no store keeps it. It names the
//! account and a fingerprint of what may end it: password, epoch (signing out everywhere) and second factor.

use http::HeaderValue;

use crate::crypto::{fingerprint, hex};
use crate::domain::account::Account;
use crate::domain::contact::Email;
use crate::domain::second_factor::{SecondFactor, TypedCode};
use crate::error::Error;
use crate::web::cookies::Cookie;
use crate::web::credentials::{Checked, Guessed, LoginAttempt, Proven};
use crate::web::flash::Flash;
use crate::web::request::Request;
use crate::web::second_factor::use_code;

/// A sign-in whose password was right and which waits for a code.
#[derive(Debug)]
pub(super) struct SecondStep {
    pub(super) email: Email,
    epoch: u64,
    fingerprint: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CodeRefused {
    Wrong,
    /// The account has changed since the password was given; it is needed again.
    PasswordIsNext,
}

impl SecondStep {
    pub(super) async fn begin(request: &Request, checked: &Checked) -> Result<Option<HeaderValue>, Error> {
        // A form without this cookie is not accepted.
        let (Some(form), Some(factor)) = (request.cookie(Cookie::Form), &checked.factor) else { return Ok(None) };
        let account = &checked.account;
        let content = (account.email.as_str(), account.epoch, fingerprint_of(account, factor));
        let content = serde_json::to_string(&content).map_err(|error| Error::Internal(error.to_string()))?;
        Flash::SecondStep.set_for(request.app(), &form.form_token(), &content, request.now()).await
    }

    /// The step that this browser has begun, unless it has expired.
    pub(super) async fn of(request: &Request) -> Result<Option<Self>, Error> {
        let Some(form) = request.cookie(Cookie::Form) else { return Ok(None) };
        let Some(content) = Flash::SecondStep.read_for(request, &form.form_token()).await? else { return Ok(None) };
        let read: Option<(Email, u64, String)> = serde_json::from_str(&content).ok();
        Ok(read.map(|(email, epoch, fingerprint)| Self { email, epoch, fingerprint }))
    }

    pub(super) async fn attempt<'a>(
        &'a self,
        request: &Request,
        code: &'a TypedCode,
    ) -> Result<Option<CodeAttempt<'a>>, Error> {
        let new = |guessed| LoginAttempt::new(request, self.email.as_str(), self.epoch, guessed);
        let counts = tokio::try_join!(new(Guessed::Password), new(Guessed::Code))?;
        // The first was counted with the password.
        let is_allowed = counts.1.count(request.store(), request.now()).await?;
        Ok(is_allowed.then_some(CodeAttempt { step: self, code, counts }))
    }
}

pub(super) struct CodeAttempt<'a> {
    step: &'a SecondStep,
    code: &'a TypedCode,
    /// The attempts at the password and the code, which count until the code turns out right.
    counts: (LoginAttempt, LoginAttempt),
}

impl CodeAttempt<'_> {
    pub(super) async fn prove(&self, request: &Request, email: &Email) -> Result<Result<Proven, CodeRefused>, Error> {
        if self.step.email != *email {
            return Ok(Err(CodeRefused::PasswordIsNext));
        }
        let Some((account, Some(before))) = request.store().account_with_factor(email).await? else {
            return Ok(Err(CodeRefused::PasswordIsNext));
        };
        if fingerprint_of(&account, &before) != self.step.fingerprint {
            return Ok(Err(CodeRefused::PasswordIsNext));
        }
        let after = use_code(request.app(), email, &before, self.code, request.now()).await?;
        Ok(after.map(|after| Proven::with_code(account, before, after)).ok_or(CodeRefused::Wrong))
    }

    pub(super) async fn succeeded(&self, request: &Request) {
        self.counts.0.succeeded(request.store()).await;
        self.counts.1.succeeded(request.store()).await;
    }
}

fn fingerprint_of(account: &Account, factor: &SecondFactor) -> String {
    let turned_on_at = factor.turned_on_at().unix_ms().to_be_bytes();
    hex(&fingerprint(&[account.password_hash.as_bytes(), &account.epoch.to_be_bytes(), &turned_on_at]))
}
