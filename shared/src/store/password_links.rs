//! New passwords of accounts, and links to set one, stored under their secret's hash until `DynamoDB` deletes them.

use aws_sdk_dynamodb::types::AttributeValue;

use super::change::{Change, Changes, Update};
use super::item::{from_item, to_item};
use super::keys::{self, DROP_AT};
use super::{Store, StoreError, members};
use crate::crypto::SecretHash;
use crate::domain::account::Account;
use crate::domain::call_context::CallContext;
use crate::domain::member::Admin;
use crate::domain::password_link::PasswordLink;

impl Store {
    /// The link whose secret has this hash, valid or not.
    pub(crate) async fn password_link(&self, hash: SecretHash) -> Result<Option<PasswordLink>, StoreError> {
        self.get(keys::password_link(hash)).await?.map(from_item).transpose()
    }
}

pub(crate) fn create(
    call: &CallContext,
    admin: Admin<'_>,
    link: &PasswordLink,
    hash: SecretHash,
) -> Result<Changes, StoreError> {
    Ok(Changes::by_admin(call, admin, [add(link, hash)?]))
}

pub(crate) fn create_as_operator(
    call: &CallContext,
    link: &PasswordLink,
    hash: SecretHash,
) -> Result<Changes, StoreError> {
    Ok(Changes::of(call, [add(link, hash)?]))
}

fn add(link: &PasswordLink, hash: SecretHash) -> Result<Change, StoreError> {
    let mut item = to_item(keys::password_link(hash), link)?;
    item.insert(DROP_AT.to_owned(), AttributeValue::N(link.expires_at.unix_s().to_string()));
    Ok(Change::Create(item))
}

/// Ends all sessions. Holds only while the account has the password and the organizations that were read.
pub(crate) fn set_password(
    call: &CallContext,
    hash: SecretHash,
    account: &Account,
    password_hash: &str,
) -> Result<Changes, StoreError> {
    let changed = replace_password(account, password_hash)?;
    Ok(Changes::of(call, [Change::DeleteExisting(keys::password_link(hash)), changed]))
}

/// Ends all sessions. Holds only while the account has the password and the organizations that were read.
pub(crate) fn change_password(
    call: &CallContext,
    account: &Account,
    password_hash: &str,
) -> Result<Changes, StoreError> {
    Ok(Changes::of(call, [replace_password(account, password_hash)?]))
}

fn replace_password(account: &Account, password_hash: &str) -> Result<Change, StoreError> {
    let text = |text: &str| AttributeValue::S(text.to_owned());
    Ok(Change::Update(Update {
        key: keys::account(&account.email),
        expression: "SET #password_hash = :after ADD #epoch :one",
        condition: "#password_hash = :before AND #memberships = :memberships",
        names: vec![("#password_hash", "password_hash"), ("#epoch", "epoch"), ("#memberships", "memberships")],
        values: vec![
            (":after", text(password_hash)),
            (":before", text(&account.password_hash)),
            (":memberships", members::encoded(&account.memberships)?),
            (":one", AttributeValue::N("1".to_owned())),
        ],
    }))
}
