//! Second factors: codes of an authenticator app, asked for after the password, and recovery codes.
//!
//! - Decision: each code works once: its step must be later than the last one used, and may be one early or late.
//! - Decision: an admin may reset a second factor only for accounts that no other organization uses. Others ask their
//!   operator, and admins another admin: a stolen session must not suffice to take over an account.
//! - Decision: submitting the form for recovery codes twice, as impatient users do, makes and shows the same codes.
//! - Decision: a reset ends all sessions, since a lost phone may be in the wrong hands. Turning the second factor on or
//!   off, or making new recovery codes, ends none: that session has proved the password and any second factor.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::account::Account;
use super::member::Admin;
use super::organization::MemberRecord;
use super::time::Timestamp;
use crate::crypto::keyring::Sealed;
use crate::crypto::{RecoveryCode, TotpCode, TotpSecret};
use crate::limits;

/// The second factor of an account, as stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecondFactor {
    /// The sealed secret shared with the authenticator app.
    secret: Sealed,
    turned_on_at: Timestamp,
    /// The step of the last accepted app code.
    last_step: u64,
    recovery_codes: BTreeSet<String>,
}

/// A code as typed.
#[derive(Debug, Clone)]
pub enum TypedCode {
    /// An authenticator app's code.
    App(TotpCode),
    /// A recovery code.
    Recovery(RecoveryCode),
}

impl TypedCode {
    /// Parses a code of either kind; their lengths differ.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let recovery = || RecoveryCode::parse(text).map(Self::Recovery);
        TotpCode::parse(text).map(Self::App).or_else(recovery)
    }
}

/// New recovery codes, shown once.
#[derive(Debug)]
pub struct RecoveryCodes(Vec<RecoveryCode>);

impl RecoveryCodes {
    /// The random bytes needed for the codes.
    pub const BYTES: usize = limits::RECOVERY_CODES * RecoveryCode::BYTES;

    /// The codes from random bytes.
    #[must_use]
    pub fn of(bytes: &[u8; Self::BYTES]) -> Self {
        Self(RecoveryCode::from_bytes(bytes).collect())
    }

    /// The codes in clear, one per line, for the page that shows them once.
    #[must_use]
    pub fn reveal(&self) -> String {
        self.0.iter().map(RecoveryCode::reveal).collect::<Vec<_>>().join("\n")
    }

    fn hashes(&self) -> BTreeSet<String> {
        self.0.iter().map(RecoveryCode::hash).collect()
    }
}

impl SecondFactor {
    /// Turns a second factor on, if the code proves that the person's app has the secret. `None` otherwise.
    #[must_use]
    pub fn turn_on(
        secret: &TotpSecret,
        sealed: Sealed,
        code: TotpCode,
        recovery_codes: &RecoveryCodes,
        now: Timestamp,
    ) -> Option<Self> {
        let last_step = step_of(secret, code, now)?;
        let recovery_codes = recovery_codes.hashes();
        Some(Self { secret: sealed, turned_on_at: now, last_step, recovery_codes })
    }

    pub(crate) fn with_secret(&self, secret: Sealed) -> Self {
        Self { secret, ..self.clone() }
    }

    /// The sealed secret.
    #[must_use]
    pub fn secret(&self) -> &Sealed {
        &self.secret
    }

    /// When the second factor was turned on.
    #[must_use]
    pub fn turned_on_at(&self) -> Timestamp {
        self.turned_on_at
    }

    /// The number of remaining recovery codes.
    #[must_use]
    pub fn recovery_codes_left(&self) -> usize {
        self.recovery_codes.len()
    }

    /// The second factor after an app code; `secret` is the opened secret. `None` if the code is wrong or used.
    #[must_use]
    pub fn after_code(&self, secret: &TotpSecret, code: TotpCode, now: Timestamp) -> Option<Self> {
        let last_step = step_of(secret, code, now).filter(|step| *step > self.last_step)?;
        Some(Self { last_step, ..self.clone() })
    }

    /// The second factor after a recovery code. `None` if the code is wrong or used.
    #[must_use]
    pub fn after_recovery_code(&self, code: &RecoveryCode) -> Option<Self> {
        let mut after = self.clone();
        after.recovery_codes.remove(&code.hash()).then_some(after)
    }

    /// The second factor with new recovery codes, which replace the old ones.
    #[must_use]
    pub fn with_recovery_codes(self, recovery_codes: &RecoveryCodes) -> Self {
        Self { recovery_codes: recovery_codes.hashes(), ..self }
    }
}

fn step_of(secret: &TotpSecret, code: TotpCode, now: Timestamp) -> Option<u64> {
    let current = u64::try_from(now.unix_s().div_euclid(limits::TOTP_STEP_S)).unwrap_or_default();
    let first = current.saturating_sub(limits::TOTP_STEPS_AROUND);
    (first..=current + limits::TOTP_STEPS_AROUND).rev().find(|step| secret.code_at(*step) == code)
}

/// Why an admin can't reset a member's second factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotReset {
    /// Admins turn off their own on their account page.
    Oneself,
    /// No such member, or the member has no account.
    Unknown,
    /// Another organization uses the account.
    UsedElsewhere,
    /// The account has no second factor.
    Off,
}

/// Checks that an admin may reset a member's second factor, and returns the member, the account and the second factor.
pub fn reset<F>(
    by: Admin<'_>,
    member: Option<MemberRecord>,
    account: Option<(Account, Option<F>)>,
) -> Result<(MemberRecord, Account, F), NotReset> {
    let (Some(member), Some((account, factor))) = (member, account) else { return Err(NotReset::Unknown) };
    if member.id == by.member().id() {
        return Err(NotReset::Oneself);
    }
    // First: an admin who can't reset the second factor mustn't learn whether one exists.
    if !account.is_used_only_by(by.member().org()) {
        return Err(NotReset::UsedElsewhere);
    }
    factor.map(|factor| (member, account, factor)).ok_or(NotReset::Off)
}

/// What an account's secret is sealed for, by its folded address: it opens nowhere else.
#[must_use]
pub fn place(folded: &str) -> String {
    format!("second factor of {folded}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crypto::keyring::Keyring;
    use crate::domain::account::Membership;
    use crate::domain::contact::{DisplayName, Email};
    use crate::domain::ids::{MemberId, OrgId};
    use crate::domain::member::Member;
    use crate::domain::organization::Role;

    const STEP: u64 = 60_000_000;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_unix_ms(1_800_000_000_000).unwrap().plus_seconds(seconds)
    }

    fn codes_of(seed: u8) -> RecoveryCodes {
        RecoveryCodes::of(&std::array::from_fn(|at| seed.wrapping_mul(101).wrapping_add(at.try_into().unwrap())))
    }

    fn turned_on() -> (TotpSecret, SecondFactor, RecoveryCodes) {
        let (secret, codes) = (TotpSecret::generate().unwrap(), codes_of(1));
        let sealed = Keyring::new("one").unwrap().seal(&secret.expose(), "place").unwrap();
        let code = secret.code_at(STEP - 2);
        let factor = SecondFactor::turn_on(&secret, sealed, code, &codes, at(-60)).unwrap();
        (secret, factor, codes)
    }

    #[test]
    fn a_code_is_accepted_one_step_early_or_late() {
        let (secret, factor, _) = turned_on();
        for (step, seconds, is_accepted) in [
            (STEP, 0, true),
            (STEP, 29, true),
            (STEP, 59, true),
            (STEP, 60, false),
            (STEP, -1, true),
            (STEP, -30, true),
            (STEP, -31, false),
        ] {
            let accepted = factor.after_code(&secret, secret.code_at(step), at(seconds)).is_some();
            // Another step has the same code once in a million.
            let is_same = |other: u64| other != step && secret.code_at(other) == secret.code_at(step);
            assert!(accepted == is_accepted || (STEP - 3..STEP + 4).any(is_same), "{step} {seconds}");
        }
        assert!(factor.after_code(&TotpSecret::generate().unwrap(), secret.code_at(STEP), at(0)).is_none());
    }

    #[test]
    fn each_code_works_once_and_no_earlier_one_after_it() {
        let (secret, factor, _) = turned_on();
        assert!(factor.after_code(&secret, secret.code_at(STEP - 2), at(-31)).is_none(), "it turned the factor on");
        let after = factor.after_code(&secret, secret.code_at(STEP), at(0)).unwrap();
        for step in [STEP, STEP - 1] {
            assert!(after.after_code(&secret, secret.code_at(step), at(0)).is_none(), "{step}");
        }
        assert!(after.after_code(&secret, secret.code_at(STEP + 1), at(0)).is_some());
    }

    #[test]
    fn each_recovery_code_works_once_and_new_ones_replace_them() {
        let (_, factor, codes) = turned_on();
        assert_eq!((factor.recovery_codes_left(), codes.reveal().lines().count()), (10, 10));
        let typed: Vec<_> = codes.reveal().lines().map(|line| RecoveryCode::parse(line).unwrap()).collect();
        let after = factor.after_recovery_code(&typed[3]).unwrap();
        assert_eq!(after.recovery_codes_left(), 9);
        assert!(after.after_recovery_code(&typed[3]).is_none());
        assert!(after.after_recovery_code(&typed[4]).is_some());
        let renewed = after.with_recovery_codes(&codes_of(2));
        assert_eq!(renewed.recovery_codes_left(), 10);
        assert!(renewed.after_recovery_code(&typed[4]).is_none());
        let stored = serde_json::to_string(&factor).unwrap();
        assert!(typed.iter().all(|code| !stored.contains(&code.reveal())), "{stored}");
    }

    #[test]
    fn a_typed_code_is_of_the_app_or_a_recovery_code() {
        assert!(matches!(TypedCode::parse("123 456"), Some(TypedCode::App(_))));
        assert!(matches!(TypedCode::parse("k7qf-2mzx-tjca-5wne"), Some(TypedCode::Recovery(_))));
        assert!(TypedCode::parse("12345").is_none() && TypedCode::parse("").is_none());
        assert_eq!(format!("{:?}", TypedCode::parse("123456")), "Some(App(TotpCode))");
    }

    #[test]
    fn an_admin_resets_the_second_factor_of_an_account_that_only_their_organization_uses() {
        let (org, now) = (OrgId::new(), at(0));
        let member = |name: &str, role| {
            let email = Email::parse(&format!("{name}@example.org")).unwrap();
            MemberRecord { id: MemberId::new(), name: DisplayName::parse(name).unwrap(), email, role, created_at: now }
        };
        let (ada, ben) = (member("ada", Role::Admin), member("ben", Role::Member));
        let account = |member: &MemberRecord, elsewhere: bool| {
            let one = Membership { organization_id: org, member_id: member.id };
            let other = Membership { organization_id: OrgId::new(), member_id: MemberId::new() };
            Account {
                email: member.email.clone(),
                password_hash: String::new(),
                memberships: [one].into_iter().chain(elsewhere.then_some(other)).collect(),
                created_at: now,
                epoch: 0,
            }
        };
        let signed_in = Member::of_session(org, &ada);
        let by = signed_in.as_admin().unwrap();
        let found = |member: &MemberRecord, elsewhere, is_on: bool| {
            reset(by, Some(member.clone()), Some((account(member, elsewhere), is_on.then_some(())))).map(|_| ())
        };
        assert_eq!(found(&ben, false, true), Ok(()));
        assert_eq!(found(&ada, false, true), Err(NotReset::Oneself));
        assert_eq!(found(&ben, false, false), Err(NotReset::Off));
        assert_eq!(found(&ben, true, true), Err(NotReset::UsedElsewhere));
        assert_eq!(found(&ben, true, false), Err(NotReset::UsedElsewhere));
        assert_eq!(reset::<()>(by, None, None).map(|_| ()), Err(NotReset::Unknown));
        assert_eq!(reset::<()>(by, Some(ben), None).map(|_| ()), Err(NotReset::Unknown));
    }
}
