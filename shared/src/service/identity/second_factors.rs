//! Second factors. A person sets up their own, turns it on and off, and gets new recovery codes; admins and operators
//! reset those of others. [`domain::second_factor`](crate::domain::second_factor) has the rules.
//!
//! - Decision: until a code proves that the person's app has the secret, it travels in a cookie, sealed for the
//!   session, and no store keeps it. An unfinished setup leaves nothing behind.
//! - Decision: new recovery codes and turning off take a code besides the password. Otherwise a browser left signed in,
//!   with the password, would suffice to bypass the second factor for good. A recovery code will do.

use std::collections::HashSet;

use crate::crypto::{TotpCode, TotpSecret, random_bytes};
use crate::domain::contact::Email;
use crate::domain::ids::MemberId;
use crate::domain::member::Admin;
use crate::domain::member::second::{Tie, TieKind};
use crate::domain::organization::MemberRecord;
use crate::domain::second_factor::{self, NotReset, RecoveryCodes, SecondFactor, TypedCode};
use crate::domain::time::Timestamp;
use crate::error::Error;
use crate::service::identity::attempts::{Guessed, LoginAttempt};
use crate::service::identity::call::BrowserCall;
use crate::service::identity::credentials::{Checked, place, use_code};
use crate::service::identity::sessions::SignedIn;
use crate::service::scope::{Plan, Scope, Writer};
use crate::service::system::SystemContext;
use crate::store::{member_ties, second_factors};

/// The members among these whose second factor is on.
pub async fn turned_on(scope: &Scope, members: &[&MemberRecord]) -> Result<HashSet<MemberId>, Error> {
    Ok(scope.store().members_with_factor(members).await?)
}

/// Resets the second factor of a member, which ends all their sessions, and returns the member.
pub async fn reset(
    scope: &Scope,
    admin: Admin<'_>,
    id: MemberId,
) -> Result<Plan<Result<MemberRecord, NotReset>>, Error> {
    let member = scope.store().member(id).await?;
    let account = match &member {
        Some(member) => scope.store().account_with_factor_of(member).await?,
        None => None,
    };
    Ok(match second_factor::reset(admin, member, account) {
        Ok((member, account, factor)) => {
            let changes = second_factors::reset(scope.call(), admin, &account, &factor)?;
            let kind = TieKind::SecondFactorReset;
            let tie = Tie { member_id: id, by: admin.member().id(), kind, at: scope.now() };
            let tied = member_ties::tie(scope.call(), &tie)?;
            Plan::new(scope, Ok(member)).change([changes, tied]).showing([id.uuid()])
        }
        Err(refusal) => Plan::new(scope, Err(refusal)),
    })
}

/// Resets the second factor of an account by an operator, recorded as the service's own call. False if it is off.
pub async fn reset_as_operator(system: &SystemContext, email: &Email) -> Result<Plan<bool>, Error> {
    let scope = system.scope();
    let Some((account, Some(factor))) = scope.store().table().account_with_factor(email).await? else {
        return Ok(Plan::new(scope, false));
    };
    let here = account.memberships.iter().filter(|membership| membership.organization_id == scope.call().org());
    let members = here.map(|membership| membership.member_id.uuid());
    let changes = second_factors::reset_as_operator(scope.call(), &account, &factor)?;
    Ok(Plan::new(scope, true).change([changes]).showing(members))
}

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

/// Why an act on one's own second factor had no effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotDone {
    /// The password is wrong, or there were too many attempts.
    WrongPassword,
    /// The code is wrong or used, or there were too many attempts.
    WrongCode,
    /// Another window turned it on or off, or the time to set it up is over. The current page says what is next.
    Outdated,
}

/// Begins to set up a second factor, after the password. The browser keeps the secret until a code proves it.
pub async fn begin_set_up(
    call: &BrowserCall<'_>,
    signed_in: &SignedIn,
    password: &str,
) -> Result<Result<TotpSecret, NotDone>, Error> {
    let Some(checked) = Checked::check(call, signed_in.email().as_str(), password).await? else {
        return Ok(Err(NotDone::WrongPassword));
    };
    checked.succeeded(call).await;
    Ok(if checked.factor.is_some() { Err(NotDone::Outdated) } else { Ok(TotpSecret::generate()?) })
}

/// A second factor whose app has the secret, before it is turned on.
#[derive(Debug)]
pub struct ProvenFactor {
    factor: SecondFactor,
    /// Its recovery codes.
    pub recovery_codes: RecoveryCodes,
}

impl ProvenFactor {
    /// The factor that is being set up. `None` if the code is wrong.
    pub async fn prove(
        call: &BrowserCall<'_>,
        signed_in: &SignedIn,
        secret: &TotpSecret,
        code: TotpCode,
    ) -> Result<Option<Self>, Error> {
        let sealed = call.keyring().await?.seal(&secret.expose(), &place(signed_in.email()))?;
        let recovery_codes = new_recovery_codes()?;
        let factor = SecondFactor::turn_on(secret, sealed, code, &recovery_codes, call.now());
        Ok(factor.map(|factor| Self { factor, recovery_codes }))
    }

    /// Turns it on, unless another is on.
    pub async fn turn_on(&self, signed_in: &SignedIn) -> Result<Plan<Result<(), NotDone>>, Error> {
        let (scope, email) = (signed_in.scope(), signed_in.email());
        if scope.store().table().second_factor(email).await?.is_some() {
            return Ok(Plan::new(scope, Err(NotDone::Outdated)));
        }
        Ok(Plan::new(scope, Ok(())).change([second_factors::create(scope.call(), email, &self.factor)?]))
    }
}

/// New recovery codes.
pub fn new_recovery_codes() -> Result<RecoveryCodes, Error> {
    Ok(RecoveryCodes::of(&random_bytes()?))
}

/// A code for an act on one's own second factor. It counts as an attempt until the act has succeeded.
#[derive(Debug)]
pub struct OwnersCode<'a> {
    call: BrowserCall<'a>,
    signed_in: &'a SignedIn,
    code: TypedCode,
    attempt: LoginAttempt,
    checked: Option<Checked>,
}

impl<'a> OwnersCode<'a> {
    /// Counts a code, after the password if the act takes one.
    pub async fn count(
        call: BrowserCall<'a>,
        signed_in: &'a SignedIn,
        password: Option<&str>,
        code: TypedCode,
    ) -> Result<Result<Self, NotDone>, Error> {
        let account = signed_in.account();
        let checked = match password {
            Some(password) => match Checked::check(&call, account.email.as_str(), password).await? {
                Some(checked) => Some(checked),
                None => return Ok(Err(NotDone::WrongPassword)),
            },
            None => None,
        };
        let attempt = LoginAttempt::new(&call, account.email.as_str(), account.epoch, Guessed::Code).await?;
        let is_allowed = attempt.count(&call).await?;
        Ok(if is_allowed { Ok(Self { call, signed_in, code, attempt, checked }) } else { Err(NotDone::WrongCode) })
    }

    /// Replaces the recovery codes.
    pub async fn renew_recovery_codes(&self, codes: &RecoveryCodes) -> Result<Plan<Result<(), NotDone>>, Error> {
        let (scope, email) = (self.signed_in.scope(), self.signed_in.email());
        let Some(before) = scope.store().table().second_factor(email).await? else {
            return Ok(Plan::new(scope, Err(NotDone::Outdated)));
        };
        let Some(after) = use_code(&self.call, email, &before, &self.code).await? else {
            return Ok(Plan::new(scope, Err(NotDone::WrongCode)));
        };
        let after = after.with_recovery_codes(codes);
        Ok(Plan::new(scope, Ok(())).change([second_factors::replace(scope.call(), email, &before, &after)?]))
    }

    /// Turns the second factor off, if it is on.
    pub async fn turn_off(&self) -> Result<Plan<Result<(), NotDone>>, Error> {
        let (scope, email) = (self.signed_in.scope(), self.signed_in.email());
        let Some(before) = scope.store().table().second_factor(email).await? else {
            return Ok(Plan::new(scope, Ok(())));
        };
        if use_code(&self.call, email, &before, &self.code).await?.is_none() {
            return Ok(Plan::new(scope, Err(NotDone::WrongCode)));
        }
        Ok(Plan::new(scope, Ok(())).change([second_factors::remove(scope.call(), email, &before)]))
    }

    /// Takes back the counted attempts, once the act has taken effect.
    pub async fn succeeded(&self) {
        if let Some(checked) = &self.checked {
            checked.succeeded(&self.call).await;
        }
        self.attempt.succeeded(&self.call).await;
    }
}
