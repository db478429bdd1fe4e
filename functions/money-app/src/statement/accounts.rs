//! The accounts of a statement file, compared with those in payments' instructions and the organization's own.

use std::collections::{BTreeSet, HashMap};

use shared::domain::bank_account::{AccountDigest, AccountKeys, BankAccount, Compared};
use shared::domain::ids::MovementId;
use shared::domain::movement::evidence_account::AccountStanding;
use shared::limits;
use statements::{Account, Statement as Read};

pub(super) struct Accounts {
    keys: AccountKeys,
    instructed: HashMap<MovementId, Vec<AccountDigest>>,
    own: Vec<AccountDigest>,
}

impl Accounts {
    pub fn new(
        keys: AccountKeys,
        instructed: HashMap<MovementId, Vec<AccountDigest>>,
        own: Vec<AccountDigest>,
    ) -> Self {
        Self { keys, instructed, own }
    }

    pub fn digests(&self, read: &[Read]) -> Vec<Option<AccountDigest>> {
        let accounts = read.iter().map(|statement| account_of(statement.account.as_ref()));
        accounts.map(|account| account.map(|account| self.keys.digest(&account))).collect()
    }

    pub fn standing(&self, account: Option<&AccountDigest>, movement: MovementId) -> AccountStanding {
        AccountStanding::of(account, self.instructed.get(&movement).map(Vec::as_slice), &self.own)
    }

    /// The last characters of accounts that are neither instructed nor the organization's own, among those on the page.
    pub fn unknown(&self, read: &[Read], digests: &[Option<AccountDigest>]) -> Vec<String> {
        let (mut seen, mut unknown) = (BTreeSet::new(), BTreeSet::new());
        for (statement, digest) in read.iter().zip(digests) {
            let Some((account, digest)) = statement.account.as_ref().zip(digest.as_ref()) else { continue };
            if seen.len() >= limits::STATEMENT_ACCOUNTS_NAMED_MAX || !seen.insert(account.number()) {
                continue;
            }
            let mut known = self.own.iter().chain(self.instructed.values().flatten());
            if known.all(|known| known.compare(digest) != Compared::Same) {
                unknown.extend(account.ending());
            }
        }
        unknown.into_iter().collect()
    }
}

/// A statement's account for comparison. None if the file omits it or hides part of the number.
pub(super) fn account_of(account: Option<&Account>) -> Option<BankAccount> {
    let account = account.filter(|account| account.ending().is_some())?;
    BankAccount::new(account.number(), account.bank_code().or(account.bic()))
}
