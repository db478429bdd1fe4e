//! What must be proven before a session begins: a password, and a code if the account has a second factor.
//!
//! Decision: the time between the right password and the code is no session. The browser keeps the step, and no store
//! does; it names the account and a fingerprint of what may end it: password, epoch (signing out everywhere) and second
//! factor.

use crate::crypto::keys::open_with;
use crate::crypto::{self, TotpSecret, fingerprint, hex};
use crate::domain::account::Account;
use crate::domain::contact::Email;
use crate::domain::password::NewPassword;
use crate::domain::second_factor::{self, SecondFactor, TypedCode};
use crate::error::Error;
use crate::limits;
use crate::service::identity::attempts::{Guessed, LoginAttempt};
use crate::service::identity::call::BrowserCall;
use crate::store::Versioned;
use crate::wire::text::Folded;

/// An account whose password was right, with the attempt that counts until it succeeds.
#[derive(Debug)]
pub(super) struct Checked {
    pub(super) account: Account,
    pub(super) factor: Option<Versioned<SecondFactor>>,
    attempt: LoginAttempt,
}

impl Checked {
    /// Checks an address and a password. `None` if either is wrong or there were too many attempts.
    pub(super) async fn check(call: &BrowserCall<'_>, email: &str, password: &str) -> Result<Option<Self>, Error> {
        let found = match Email::parse(email) {
            Ok(email) => call.store().account_with_factor(&email).await?,
            Err(_) => None,
        };
        let account = found.as_ref().map(|(account, _)| account);
        let epoch = account.map_or(0, |account| account.epoch);
        let attempt = LoginAttempt::new(call, email, epoch, Guessed::Password).await?;
        // The count comes before the password check, so concurrent attempts count too.
        if !attempt.count(call).await? {
            return Ok(None);
        }
        if !check_password(account, password).await? {
            return Ok(None);
        }
        Ok(found.map(|(account, factor)| Self { account, factor, attempt }))
    }

    pub(super) async fn succeeded(&self, call: &BrowserCall<'_>) {
        self.attempt.succeeded(call).await;
    }

    /// The proof, or the step to take first if the account has a second factor.
    pub(super) fn prove(self) -> Result<Proven, SecondStep> {
        let Self { account, factor, attempt } = self;
        match factor {
            Some(factor) => Err(SecondStep::after_password(account, &factor)),
            None => Ok(Proven { account, used: None, attempt: Some(attempt) }),
        }
    }
}

/// An account that may get a session: its password was right, and its code too if it has a second factor.
#[derive(Debug)]
pub(super) struct Proven {
    pub(super) account: Account,
    pub(super) used: Option<(Versioned<SecondFactor>, SecondFactor)>,
    attempt: Option<LoginAttempt>,
}

impl Proven {
    pub(super) fn new_account(account: Account) -> Self {
        Self { account, used: None, attempt: None }
    }

    pub(super) async fn succeeded(&self, call: &BrowserCall<'_>) {
        if let Some(attempt) = &self.attempt {
            attempt.succeeded(call).await;
        }
    }
}

/// A sign-in whose password was right and which waits for a code.
#[derive(Debug)]
pub struct SecondStep {
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
    fn after_password(account: Account, factor: &SecondFactor) -> Self {
        let fingerprint = fingerprint_of(&account, factor);
        Self { email: account.email, epoch: account.epoch, fingerprint }
    }

    /// The account's address.
    #[must_use]
    pub fn email(&self) -> &Email {
        &self.email
    }

    /// The step as text, for the browser to keep. It has to be sealed.
    pub(crate) fn to_text(&self) -> Result<String, Error> {
        let content = (self.email.as_str(), self.epoch, &self.fingerprint);
        serde_json::to_string(&content).map_err(|error| Error::Internal(error.to_string()))
    }

    /// The step that a browser has kept.
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        let (email, epoch, fingerprint) = serde_json::from_str(text).ok()?;
        Some(Self { email, epoch, fingerprint })
    }

    pub(super) async fn attempt<'a>(
        &'a self,
        call: &BrowserCall<'_>,
        code: &'a TypedCode,
    ) -> Result<Option<CodeAttempt<'a>>, Error> {
        let new = |guessed| LoginAttempt::new(call, self.email.as_str(), self.epoch, guessed);
        let (at_password, at_code) = tokio::try_join!(new(Guessed::Password), new(Guessed::Code))?;
        // The first was counted with the password.
        let is_allowed = at_code.count(call).await?;
        Ok(is_allowed.then_some(CodeAttempt { step: self, code, at_password, at_code }))
    }
}

/// An attempt at a code. It counts, and that at the password, until the code turns out right.
#[derive(Debug)]
pub(super) struct CodeAttempt<'a> {
    step: &'a SecondStep,
    code: &'a TypedCode,
    at_password: LoginAttempt,
    at_code: LoginAttempt,
}

impl CodeAttempt<'_> {
    pub(super) async fn prove(
        &self,
        call: &BrowserCall<'_>,
        email: &Email,
    ) -> Result<Result<Proven, CodeRefused>, Error> {
        if self.step.email != *email {
            return Ok(Err(CodeRefused::PasswordIsNext));
        }
        let Some((account, Some(before))) = call.store().account_with_factor(email).await? else {
            return Ok(Err(CodeRefused::PasswordIsNext));
        };
        if fingerprint_of(&account, &before) != self.step.fingerprint {
            return Ok(Err(CodeRefused::PasswordIsNext));
        }
        let after = use_code(call, email, &before, self.code).await?;
        let proven = |after| Proven { account, used: Some((before, after)), attempt: None };
        Ok(after.map(proven).ok_or(CodeRefused::Wrong))
    }

    pub(super) async fn succeeded(&self, call: &BrowserCall<'_>) {
        self.at_password.succeeded(call).await;
        self.at_code.succeeded(call).await;
    }
}

fn fingerprint_of(account: &Account, factor: &SecondFactor) -> String {
    let turned_on_at = factor.turned_on_at().unix_ms().to_be_bytes();
    hex(&fingerprint(&[account.password_hash.as_bytes(), &account.epoch.to_be_bytes(), &turned_on_at]))
}

/// The second factor after using a code. `None` if the code is wrong or used.
pub(super) async fn use_code(
    call: &BrowserCall<'_>,
    account: &Email,
    factor: &SecondFactor,
    code: &TypedCode,
) -> Result<Option<SecondFactor>, Error> {
    let code = match code {
        // A recovery code needs no key. (Signing in does, for the step between password and code.)
        TypedCode::Recovery(code) => return Ok(factor.after_recovery_code(code)),
        TypedCode::App(code) => *code,
    };
    let opened = open_with(call.keys()?, |keyring| keyring.open(factor.secret(), &place(account))).await?;
    let secret =
        TotpSecret::parse(&opened).ok_or_else(|| Error::Internal("a second factor without a secret".to_owned()))?;
    Ok(factor.after_code(&secret, code, call.now()))
}

/// An account's secret opens only in this place.
pub(super) fn place(account: &Email) -> String {
    second_factor::place(Folded::new(account.as_str()).as_str())
}

/// Checks the account's password. Takes the same time without an account.
pub(super) async fn check_password(account: Option<&Account>, password: &str) -> Result<bool, Error> {
    // No account has a longer password, and hashing one would cost more than sending it.
    let (password, fits) = match password.len() {
        ..=limits::PASSWORD_BYTES_MAX => (password.to_owned(), true),
        _ => (String::new(), false),
    };
    let hash = account.map(|account| account.password_hash.clone());
    // Hashing takes tens of milliseconds of CPU time.
    let checked = tokio::task::spawn_blocking(move || crypto::verify_password(&password, hash.as_deref())).await;
    Ok(checked.map_err(|_| Error::Internal("checking a password panicked".to_owned()))? && fits)
}

pub(super) async fn hash_password(password: &NewPassword) -> Result<String, Error> {
    let password = password.clone();
    // Hashing takes tens of milliseconds of CPU time.
    let hashed = tokio::task::spawn_blocking(move || crypto::hash_password(password.reveal())).await;
    let hashed = hashed.map_err(|_| Error::Internal("hashing a password panicked".to_owned()))?;
    hashed.map_err(|error| Error::Internal(error.to_string()))
}
