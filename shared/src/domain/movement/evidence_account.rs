//! The account that evidence names, compared with the one that should have been paid.
//!
//! Decision: money on an account other than instructed may have arrived all the same, so it can be filed, with a
//! member's reason. An unclear account needs none, because statements often omit their account or name it the bank's
//! way, but it is marked. Neither is ever more than `bank_documented`.
//!
//! Decision: filing compares the accounts once. Later instructions don't change what the filing member saw.

use serde::{Deserialize, Serialize};

use super::NotMoved;
use super::safe_text::SafeNote;
use crate::domain::bank_account::{AccountDigest, AccountKeys, BankAccount, Compared};
use crate::wire::enums::text_enum;

text_enum! {
    /// How evidence's account compares with the payment's instructions.
    pub enum AccountStanding {
        /// The account they name.
        Instructed = "instructed",
        /// A different account.
        Another = "another",
        /// Unclear: evidence names no account, or not comparably.
        Unclear = "unclear",
        /// There are no instructions, and it is the organization's own, according to two members.
        Own = "own",
        /// There are no instructions, and nobody called it the organization's own.
        Unknown = "unknown",
    }
}

impl AccountStanding {
    /// Compares an account with those in a payment's instructions or, without any, with the organization's own.
    #[must_use]
    pub fn of(account: Option<&AccountDigest>, instructed: Option<&[AccountDigest]>, own: &[AccountDigest]) -> Self {
        let Some(instructed) = instructed else {
            let is_own = account.is_some_and(|account| own.iter().any(|own| own.compare(account) == Compared::Same));
            return if is_own { Self::Own } else { Self::Unknown };
        };
        let Some(account) = account.filter(|_| !instructed.is_empty()) else { return Self::Unclear };
        let compared: Vec<Compared> = instructed.iter().map(|own| own.compare(account)).collect();
        if compared.contains(&Compared::Same) {
            Self::Instructed
        } else if compared.contains(&Compared::Unknown) {
            Self::Unclear
        } else {
            Self::Another
        }
    }
}

/// The account that the filer names for evidence.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SpokenAccount {
    /// The account. None if the evidence omits it or hides part of it.
    pub account: Option<BankAccount>,
    /// Why the evidence counts although the instructions name a different account.
    pub reason: Option<SafeNote>,
}

impl SpokenAccount {
    /// The account, compared with those instructed or else the organization's own. A different one needs a reason.
    pub fn compared(
        self,
        keys: &AccountKeys,
        instructed: Option<&[AccountDigest]>,
        own: &[AccountDigest],
    ) -> Result<EvidenceAccount, NotMoved> {
        let digest = self.account.as_ref().map(|account| keys.digest(account));
        let standing = AccountStanding::of(digest.as_ref(), instructed, own);
        let reason = self.reason.filter(|_| standing == AccountStanding::Another);
        if standing == AccountStanding::Another && reason.is_none() {
            return Err(NotMoved::OtherAccount);
        }
        Ok(EvidenceAccount { ending: self.account.as_ref().map(BankAccount::ending), standing, reason })
    }
}

/// The account of evidence, as compared when filed, without its number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidenceAccount {
    /// The last characters of its number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<String>,
    /// How it compares.
    pub standing: AccountStanding,
    /// Why the evidence counts although it is a different account, according to the filing member.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<SafeNote>,
}

impl EvidenceAccount {
    /// Whether it differs from the instructed account.
    #[must_use]
    pub fn is_another(&self) -> bool {
        self.standing == AccountStanding::Another
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crypto::keyring::Keyring;
    use crate::domain::ids::OrgId;

    fn named(number: &str) -> Option<BankAccount> {
        BankAccount::new(number, None)
    }

    #[test]
    fn another_account_takes_a_reason_and_what_cannot_be_told_takes_none() {
        let keys = AccountKeys::new(&Keyring::new("one").unwrap(), OrgId::new());
        let instructed = [keys.digest(&named("DE89370400440532013000").unwrap())];
        let own = [keys.digest(&named("000987654321").unwrap())];
        let compared = |account: Option<BankAccount>, reason: Option<&str>, instructed: Option<&[AccountDigest]>| {
            let reason = reason.map(|text| SafeNote::parse(text).unwrap());
            let found = SpokenAccount { account, reason }.compared(&keys, instructed, &own);
            found.map(|found| (found.standing, found.ending, found.reason.is_some()))
        };
        let ending = || Some("000".to_owned());
        for (account, reason, instructed, expected) in [
            (named("532013000"), None, Some(&instructed[..]), Ok((AccountStanding::Instructed, ending(), false))),
            (
                named("532013000"),
                Some("Why not"),
                Some(&instructed[..]),
                Ok((AccountStanding::Instructed, ending(), false)),
            ),
            (named("GB33BUKB20201555555555"), None, Some(&instructed[..]), Err(NotMoved::OtherAccount)),
            (
                named("GB33BUKB20201555555555"),
                Some("Their new bank"),
                Some(&instructed[..]),
                Ok((AccountStanding::Another, Some("5555".to_owned()), true)),
            ),
            (None, None, Some(&instructed[..]), Ok((AccountStanding::Unclear, None, false))),
            (named("532013000"), None, Some(&[][..]), Ok((AccountStanding::Unclear, ending(), false))),
            (named("532013000"), None, None, Ok((AccountStanding::Unknown, ending(), false))),
            (named("987654321"), None, None, Ok((AccountStanding::Own, Some("321".to_owned()), false))),
        ] {
            assert_eq!(compared(account.clone(), reason, instructed), expected, "{account:?} {reason:?}");
        }
    }
}
