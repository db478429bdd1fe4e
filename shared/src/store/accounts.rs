//! Accounts: who signs in to the app with which e-mail address, one per address, with memberships in organizations.

use serde::{Deserialize, Serialize};

use super::keys;
use super::table::PutIf;
use super::{Store, StoreError, from_item, to_item};
use crate::domain::contact::Email;
use crate::domain::ids::{MemberId, OrgId};
use crate::domain::time::Timestamp;

/// An account as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// The address to sign in with.
    pub email: Email,
    /// argon2id, in the PHC string format.
    pub password_hash: String,
    /// The organizations that the person belongs to.
    pub memberships: Vec<Membership>,
    /// When the account was made.
    pub created_at: Timestamp,
}

/// One organization that an account belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Membership {
    /// The organization.
    pub organization_id: OrgId,
    /// Who they are in it.
    pub member_id: MemberId,
}

impl Store {
    /// Makes an account. Tells whether it did: not if the address has one.
    ///
    /// # Errors
    /// When the store can't be written.
    pub async fn create_account(&self, account: &Account) -> Result<bool, StoreError> {
        self.put(to_item(keys::account(&account.email), account)?, PutIf::Absent).await
    }

    /// The account of an address.
    ///
    /// # Errors
    /// When the store can't be read.
    pub async fn account(&self, email: &Email) -> Result<Option<Account>, StoreError> {
        self.get(keys::account(email)).await?.map(from_item).transpose()
    }
}
