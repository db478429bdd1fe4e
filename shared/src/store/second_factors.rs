//! Second factors of accounts.
//!
//! Decision: a second factor is an item beside its account; its version is the lock: of two uses of a code, one wins.

use std::collections::HashSet;

use aws_sdk_dynamodb::types::AttributeValue;

use super::change::{Change, Changes, Update};
use super::item::{from_item, from_versioned_item, to_versioned_item};
use super::keys::{self, Key};
use super::{OrgStore, Store, StoreError, Versioned, members};
use crate::domain::account::Account;
use crate::domain::call_context::CallContext;
use crate::domain::contact::Email;
use crate::domain::ids::MemberId;
use crate::domain::member::Admin;
use crate::domain::organization::MemberRecord;
use crate::domain::second_factor::SecondFactor;

pub(crate) type AccountWithFactor = (Account, Option<Versioned<SecondFactor>>);

impl Store {
    pub(crate) async fn second_factor(&self, account: &Email) -> Result<Option<Versioned<SecondFactor>>, StoreError> {
        self.get(keys::second_factor(account)).await?.map(from_versioned_item).transpose()
    }

    pub(crate) async fn account_with_factor(&self, email: &Email) -> Result<Option<AccountWithFactor>, StoreError> {
        let at = keys::account(email);
        let (mut account, mut factor) = (None, None);
        for item in self.get_all(&[at.clone(), keys::second_factor(email)]).await? {
            if Key::of(&item).as_ref() == Some(&at) {
                account = Some(from_item(item)?);
            } else {
                factor = Some(from_versioned_item(item)?);
            }
        }
        Ok(account.map(|account| (account, factor)))
    }
}

impl OrgStore {
    pub(crate) async fn account_with_factor_of(
        &self,
        member: &MemberRecord,
    ) -> Result<Option<AccountWithFactor>, StoreError> {
        self.store.account_with_factor(&member.email).await
    }

    pub(crate) async fn members_with_factor(&self, members: &[&MemberRecord]) -> Result<HashSet<MemberId>, StoreError> {
        let key = |member: &MemberRecord| keys::second_factor(&member.email);
        // An operator may give one account several memberships; a batch must not name a key twice.
        let keys: HashSet<Key> = members.iter().map(|member| key(member)).collect();
        let keys: Vec<Key> = keys.into_iter().collect();
        let found: HashSet<Key> = self.store.get_all(&keys).await?.iter().filter_map(Key::of).collect();
        Ok(members.iter().filter(|member| found.contains(&key(member))).map(|member| member.id).collect())
    }
}

/// Turns a second factor on. Holds only while it is off.
pub(crate) fn create(call: &CallContext, account: &Email, factor: &SecondFactor) -> Result<Changes, StoreError> {
    Ok(Changes::of(call, [Change::Create(to_versioned_item(keys::second_factor(account), factor, 1)?)]))
}

/// Writes the use of a code, or new recovery codes. Holds only while the second factor is as it was read.
pub(crate) fn replace(
    call: &CallContext,
    account: &Email,
    before: &Versioned<SecondFactor>,
    after: &SecondFactor,
) -> Result<Changes, StoreError> {
    let item = to_versioned_item(keys::second_factor(account), after, before.version() + 1)?;
    Ok(Changes::of(call, [Change::Replace(item, before.version())]))
}

/// Turns a second factor off. Holds only while it is as it was read.
pub(crate) fn remove(call: &CallContext, account: &Email, before: &Versioned<SecondFactor>) -> Changes {
    Changes::of(call, [Change::DeleteVersion(keys::second_factor(account), before.version())])
}

/// Ends all sessions. Holds only while the second factor and the account's organizations are as they were read.
pub(crate) fn reset(
    call: &CallContext,
    admin: Admin<'_>,
    account: &Account,
    before: &Versioned<SecondFactor>,
) -> Result<Changes, StoreError> {
    Ok(Changes::by_admin(call, admin, reset_of(account, before)?))
}

pub(crate) fn reset_as_operator(
    call: &CallContext,
    account: &Account,
    before: &Versioned<SecondFactor>,
) -> Result<Changes, StoreError> {
    Ok(Changes::of(call, reset_of(account, before)?))
}

fn reset_of(account: &Account, before: &Versioned<SecondFactor>) -> Result<[Change; 2], StoreError> {
    let ended = Update {
        key: keys::account(&account.email),
        expression: "ADD #epoch :one",
        condition: "#memberships = :memberships",
        names: vec![("#epoch", "epoch"), ("#memberships", "memberships")],
        values: vec![
            (":one", AttributeValue::N("1".to_owned())),
            (":memberships", members::encoded(&account.memberships)?),
        ],
    };
    let removed = Change::DeleteVersion(keys::second_factor(&account.email), before.version());
    Ok([Change::Update(ended), removed])
}
