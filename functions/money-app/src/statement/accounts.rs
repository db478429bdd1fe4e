//! The accounts of a statement's file, compared with those that the instructions of payments name, and with the organization's
//! own.

use std::collections::{BTreeSet, HashMap};

use shared::domain::bank_account::{AccountDigest, AccountKeys, BankAccount, Compared};
use shared::domain::ids::MovementId;
use shared::domain::movement::evidence_account::AccountStanding;
use shared::limits;
use statements::{Account, Statement as Read};

/// What the accounts of statements are compared with.
pub(super) struct Accounts {
    keys: AccountKeys,
    /// What the instructions name. Payments without instructions are left out.
    instructed: HashMap<MovementId, Vec<AccountDigest>>,
    /// The organization's own.
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

    /// Digests of the accounts of a file's statements, in their order.
    pub fn digests(&self, read: &[Read]) -> Vec<Option<AccountDigest>> {
        let accounts = read.iter().map(|statement| account_of(statement.account.as_ref()));
        accounts.map(|account| account.map(|account| self.keys.digest(&account))).collect()
    }

    /// How the account of a statement compares with a payment's.
    pub fn standing(&self, account: Option<&AccountDigest>, movement: MovementId) -> AccountStanding {
        AccountStanding::of(account, self.instructed.get(&movement).map(Vec::as_slice), &self.own)
    }

    /// The last characters of the file's accounts that neither the instructions of a payment name nor anybody called the
    /// organization's: of the first that are named on the page.
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

/// The account of a statement, as it is compared. None if its file names none, or hides some of the number.
pub(super) fn account_of(account: Option<&Account>) -> Option<BankAccount> {
    let account = account.filter(|account| account.ending().is_some())?;
    BankAccount::new(account.number(), account.bank_code().or(account.bic()))
}
