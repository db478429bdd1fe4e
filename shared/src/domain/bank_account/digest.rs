//! Digests of accounts: HMACs under keys per organization. Nobody can guess a number from them, and none is shown.
//!
//! Decision: a digest has one value per active key, so two share a key across rotations. If retirement leaves none in
//! common, the account must be read again ([`Compared::Unknown`]) from sealed instructions or a file.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::BankAccount;
use crate::crypto::keyring::Keyring;
use crate::crypto::{hex, keyed_hash};
use crate::domain::ids::OrgId;

const MARK_BYTES: usize = 16;

type HmacKey = [u8; 64];

/// The keys of an organization's account digests.
pub struct AccountKeys {
    /// Keys for new digests.
    live: BTreeMap<String, HmacKey>,
    /// Keys of digests that may still be stored.
    retired: BTreeMap<String, HmacKey>,
}

impl AccountKeys {
    /// Derives the keys of an organization.
    #[must_use]
    pub fn new(keyring: &Keyring, org: OrgId) -> Self {
        let (mut live, mut retired) = (BTreeMap::new(), BTreeMap::new());
        for name in keyring.names() {
            let Ok(key) = keyring.derive_with(name, &format!("digests of accounts in {org}")) else { continue };
            let keys = if keyring.retired(name).is_some() { &mut retired } else { &mut live };
            keys.insert(name.to_owned(), key);
        }
        Self { live, retired }
    }

    /// The digest of an account, to be stored.
    #[must_use]
    pub fn digest(&self, account: &BankAccount) -> AccountDigest {
        let marks = self.live.iter().map(|(name, key)| (name.clone(), Marks::of(key, account)));
        AccountDigest { sealed: marks.collect() }
    }

    /// Whether a current key made a digest, so that it can be compared with new ones.
    #[must_use]
    pub fn made(&self, digest: &AccountDigest) -> bool {
        self.live.keys().any(|name| digest.sealed.contains_key(name))
    }

    fn get(&self, name: &str) -> Option<&HmacKey> {
        self.live.get(name).or_else(|| self.retired.get(name))
    }
}

/// What is stored of an account, only for comparison.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountDigest {
    /// By key name. Exports omit every field of this name.
    sealed: BTreeMap<String, Marks>,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Marks {
    exact: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    iban: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    coded: BTreeSet<String>,
    alone: BTreeSet<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_plain: bool,
}

/// How two names of accounts compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compared {
    /// The same account, as far as both tell.
    Same,
    /// Different accounts.
    Another,
    /// Unknown: an IBAN against a number in a country with several spellings, or digests without a common key.
    Unknown,
}

impl std::fmt::Debug for AccountDigest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AccountDigest(…)")
    }
}

impl AccountDigest {
    /// How the account compares with that of another digest.
    #[must_use]
    pub fn compare(&self, other: &Self) -> Compared {
        let pair = self.sealed.iter().find_map(|(name, marks)| Some((marks, other.sealed.get(name)?)));
        pair.map_or(Compared::Unknown, |(one, other)| one.compare(other))
    }

    /// How the account compares with one that was just read.
    #[must_use]
    pub fn compare_with(&self, keys: &AccountKeys, account: &BankAccount) -> Compared {
        self.under_own_key(keys, account).map_or(Compared::Unknown, |(own, read)| own.compare(&read))
    }

    /// Whether country, code and number exactly match a typed account. None if the digest's keys are gone.
    #[must_use]
    pub fn is_exactly(&self, keys: &AccountKeys, account: &BankAccount) -> Option<bool> {
        self.under_own_key(keys, account).map(|(own, typed)| own.exact == typed.exact)
    }

    fn under_own_key(&self, keys: &AccountKeys, account: &BankAccount) -> Option<(&Marks, Marks)> {
        self.sealed.iter().find_map(|(name, own)| Some((own, Marks::of(keys.get(name)?, account))))
    }
}

impl Marks {
    fn of(key: &HmacKey, account: &BankAccount) -> Self {
        let mark = |what: &str, text: &str| {
            let made = keyed_hash(key, format!("{what}: {text}").as_bytes());
            hex(made.get(..MARK_BYTES).unwrap_or(&made))
        };
        let marks = |what: &str, texts: BTreeSet<String>| texts.iter().map(|text| mark(what, text)).collect();
        Self {
            exact: mark("exact", &account.exact()),
            iban: account.iban().map(|iban| mark("iban", iban)),
            coded: marks("coded", account.coded()),
            alone: marks("alone", account.alone()),
            is_plain: account.is_plain(),
        }
    }

    fn compare(&self, other: &Self) -> Compared {
        let are_same = match (&self.iban, &other.iban) {
            (Some(one), Some(other)) => one == other,
            _ if !self.coded.is_empty() && !other.coded.is_empty() => !self.coded.is_disjoint(&other.coded),
            _ => !self.alone.is_disjoint(&other.alone),
        };
        let is_only_one_an_iban = self.iban.is_some() != other.iban.is_some();
        if are_same {
            Compared::Same
        } else if is_only_one_an_iban && !self.is_plain && !other.is_plain {
            Compared::Unknown
        } else {
            Compared::Another
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crypto::keyring::Retired;

    fn account(number: &str, code: &str) -> BankAccount {
        BankAccount::new(number, Some(code).filter(|code| !code.is_empty())).unwrap()
    }

    fn keys() -> AccountKeys {
        AccountKeys::new(&Keyring::new("one").unwrap(), OrgId::new())
    }

    #[test]
    fn one_account_is_the_same_however_it_is_named_and_another_is_not() {
        let keys = keys();
        let same = |instructions: &BankAccount, named: &str| {
            let named = BankAccount::named(named).unwrap();
            keys.digest(instructions).compare(&keys.digest(&named))
        };
        let german = account("DE89 3704 0044 0532 0130 00", "DEUTDEFF");
        let american = account("000123456789", "021000021");
        let british = account("31926819", "60-16-13");
        let french = account("FR14 2004 1010 0505 0001 3M02 606", "");
        for (instructions, named, expected) in [
            (&german, "DE89370400440532013000", Compared::Same),
            (&german, "DE89370400440532013000EUR", Compared::Same),
            (&german, "37040044/0532013000", Compared::Same),
            (&german, "37040044/532013000EUR", Compared::Same),
            (&german, "532013000", Compared::Same),
            (&german, "DE02120300000000202051", Compared::Another),
            (&german, "12030000/532013000", Compared::Another),
            (&german, "532013001", Compared::Another),
            (&american, "123456789", Compared::Same),
            (&american, "Account no. 0001 2345 6789", Compared::Same),
            (&american, "123456780", Compared::Another),
            (&american, "021000021", Compared::Another),
            (&british, "GB29 NWBK 6016 1331 9268 19", Compared::Same),
            (&british, "601613/31926819", Compared::Same),
            (&british, "60161331926819", Compared::Same),
            (&british, "GB82WEST12345698765432", Compared::Another),
            (&american, "FR1420041010050500013M02606", Compared::Another),
            (&french, "FR1420041010050500013M02606", Compared::Same),
            (&french, "20041010050500013M02606", Compared::Same),
            // Without the RIB key, which ends the number in the IBAN.
            (&french, "20041010050500013M026", Compared::Unknown),
            (&french, "GB82WEST12345698765432", Compared::Another),
        ] {
            assert_eq!(same(instructions, named), expected, "{named}");
        }
        // Wire routing numbers often differ from those on statements.
        assert_eq!(keys.digest(&american).compare(&keys.digest(&account("123456789", "121000358"))), Compared::Same);
        for hidden in ["XXXX6789", "****6789", "ACCOUNT", ""] {
            assert!(BankAccount::named(hidden).is_none(), "{hidden}");
        }
    }

    #[test]
    fn what_is_typed_again_is_the_same_in_country_code_and_number() {
        let keys = keys();
        let entered = keys.digest(&account("000123456789", "021000021"));
        for (number, code, expected) in [
            ("Account 0001-2345-6789", "ABA 021000021", true),
            ("123456789", "021000021", true),
            ("000123456780", "021000021", false),
            ("000123456789", "026009593", false),
            ("000123456789", "", false),
            ("021000021", "000123456789", false),
        ] {
            assert_eq!(entered.is_exactly(&keys, &account(number, code)), Some(expected), "{number} {code}");
        }
        let iban = keys.digest(&account("DE89 3704 0044 0532 0130 00", ""));
        assert_eq!(iban.is_exactly(&keys, &account("de89370400440532013000", "")), Some(true));
        assert_eq!(iban.is_exactly(&keys, &account("0532013000", "37040044")), Some(false));
    }

    #[test]
    fn digests_compare_across_a_rotation_and_say_when_they_cannot() {
        let (org, one) = (OrgId::new(), Keyring::new("one").unwrap());
        let rotated = one.clone().with_new_key("two").unwrap();
        let leaked = Retired { evidence_key: [7; 32], compromised_since: None };
        let retired = rotated.clone().retire("one", leaked.clone(), true).unwrap();
        let dropped = rotated.clone().retire("one", leaked, false).unwrap();
        let keys = |keyring: &Keyring| AccountKeys::new(keyring, org);
        let (same, other) = (account("000123456789", "021000021"), account("000123456780", "021000021"));
        let before = keys(&one).digest(&same);
        assert!(keys(&one).made(&before) && keys(&rotated).made(&before) && !keys(&retired).made(&before));
        let after = keys(&rotated).digest(&same);
        assert_eq!((before.compare(&after), after.compare(&before)), (Compared::Same, Compared::Same));
        assert_eq!(before.compare(&keys(&rotated).digest(&other)), Compared::Another);
        // A retired key makes no new digests, but compares typed accounts with old ones.
        assert_eq!(before.compare(&keys(&retired).digest(&same)), Compared::Unknown);
        assert_eq!(before.compare_with(&keys(&retired), &same), Compared::Same);
        assert_eq!(before.is_exactly(&keys(&retired), &same), Some(true));
        assert_eq!(before.compare_with(&keys(&dropped), &same), Compared::Unknown);
        assert_eq!(before.is_exactly(&keys(&dropped), &same), None);
        assert_eq!(after.compare_with(&keys(&dropped), &same), Compared::Same);
        let elsewhere = AccountKeys::new(&one, OrgId::new()).digest(&same);
        assert_eq!(before.compare(&elsewhere), Compared::Another);
    }

    #[test]
    fn no_text_about_an_account_has_its_number() {
        let keys = keys();
        let account = account("000123456789", "021000021");
        let digest = keys.digest(&account);
        let stored = serde_json::to_string(&digest).unwrap();
        for said in [format!("{account:?}{digest:?}"), stored.clone()] {
            assert!(!said.contains("123456789") && !said.contains("021000021"), "{said}");
        }
        assert_eq!(serde_json::from_str::<AccountDigest>(&stored).unwrap(), digest);
    }
}
