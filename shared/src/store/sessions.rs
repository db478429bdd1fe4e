//! Sessions, and counts of failed logins. Both are found without an organization, and expire in `DynamoDB`.
//!
//! Decision: a session is stored once, under its secret's hash; its account has a pointer under its id. Requests read
//! the session alone, and ending it deletes one item: a pointer without a session belongs to one that ended.

use std::collections::{BTreeSet, HashMap};

use aws_sdk_dynamodb::types::AttributeValue;

use super::change::{Change, Changes, Update};
use super::failure::TransactionOutcome;
use super::item::{VERSION, from_item, from_versioned_item, text, to_item, to_versioned_item};
use super::keys::{self, DROP_AT, Key, PARTITION};
use super::query::Query;
use super::table::PutIf;
use super::{Item, Store, StoreError, Versioned};
use crate::crypto::SecretHash;
use crate::domain::account::Account;
use crate::domain::call_context::CallContext;
use crate::domain::contact::Email;
use crate::domain::ids::{OrgId, SessionId};
use crate::domain::organization::{MemberRecord, Organization};
use crate::domain::second_factor::SecondFactor;
use crate::domain::session::{FailedLogins, Session, SessionOwner};
use crate::domain::time::Timestamp;
use crate::limits;
use crate::retry::{Budget, retry_on_conflict};

/// The owner of a session.
#[derive(Debug)]
pub(crate) struct Person {
    pub(crate) account: Account,
    pub(crate) organization: Organization,
    pub(crate) member: MemberRecord,
}

fn keys_of(owner: &SessionOwner) -> [Key; 3] {
    let org = owner.organization_id;
    [keys::account(&owner.email), keys::organization(org), keys::member(org, owner.member_id)]
}

/// None if one of the three records is missing or the organization is suspended.
fn person(found: Vec<Item>) -> Result<Option<Person>, StoreError> {
    let Ok([account, organization, member]) = <[Item; 3]>::try_from(found) else { return Ok(None) };
    let organization: Organization = from_item(organization)?;
    if organization.suspended_at.is_some() {
        return Ok(None);
    }
    Ok(Some(Person { account: from_item(account)?, organization, member: from_item(member)? }))
}

pub(super) const HASH: &str = "hash";

impl Store {
    /// The session whose secret has this hash, expired or not.
    pub(crate) async fn session(&self, hash: SecretHash) -> Result<Option<Session>, StoreError> {
        self.get(keys::session(hash)).await?.map(from_item).transpose()
    }

    /// The newest sessions, including expired ones but not ended ones, and the second factor, in the same batch.
    pub(crate) async fn sessions_and_factor_of(
        &self,
        account: &Email,
    ) -> Result<(Vec<Session>, Option<Versioned<SecondFactor>>), StoreError> {
        let query = Query::of(keys::sessions_of_account(account)).backward().limit(limits::SESSIONS_READ_MAX);
        let pointers = self.page_of(&query, None).await?.items;
        let at = keys::second_factor(account);
        let keys = pointers.iter().map(pointed_key).chain([Ok(at.clone())]).collect::<Result<Vec<_>, _>>()?;
        let mut items = self.get_all(&keys).await?;
        let factor = items.pop_if(|item| Key::of(item).as_ref() == Some(&at));
        let sessions = items.into_iter().map(from_item).collect::<Result<_, _>>()?;
        Ok((sessions, factor.map(from_versioned_item).transpose()?))
    }

    pub(crate) async fn session_key(&self, account: &Email, id: SessionId) -> Result<Option<Key>, StoreError> {
        self.get(keys::session_of_account(account, id)).await?.as_ref().map(pointed_key).transpose()
    }

    pub(crate) async fn refresh_session(&self, hash: SecretHash, session: &Session) -> Result<(), StoreError> {
        self.put(session_item(hash, session)?, PutIf::Present).await.map(|_| ())
    }

    pub(crate) async fn account(&self, email: &Email) -> Result<Option<Account>, StoreError> {
        self.get(keys::account(email)).await?.map(from_item).transpose()
    }

    /// The owner of a session, if all three records exist and the organization is not suspended.
    pub(crate) async fn person(&self, owner: &SessionOwner) -> Result<Option<Person>, StoreError> {
        person(self.get_all(&keys_of(owner)).await?)
    }

    /// The session whose secret has this hash, expired or not, and its claimed owner, all read at once.
    pub(crate) async fn session_and_person(
        &self,
        hash: SecretHash,
        owner: &SessionOwner,
    ) -> Result<(Option<Session>, Option<Person>), StoreError> {
        let [account, organization, member] = keys_of(owner);
        let key = keys::session(hash);
        let mut found = self.get_all(&[key.clone(), account, organization, member]).await?;
        let is_there = found.first().and_then(Key::of).is_some_and(|first| first == key);
        let session = is_there.then(|| from_item(found.remove(0))).transpose()?;
        Ok((session, person(found)?))
    }

    /// The account's organizations with the member record in each. Skips suspended ones and former memberships.
    pub(crate) async fn memberships(&self, account: &Account) -> Result<Vec<(Organization, MemberRecord)>, StoreError> {
        let keys: Vec<[Key; 2]> = account
            .memberships
            .iter()
            .map(|membership| {
                let org = membership.organization_id;
                [keys::organization(org), keys::member(org, membership.member_id)]
            })
            .collect();
        let items = self.get_all(&keys.concat()).await?;
        let mut found: HashMap<Key, Item> =
            items.into_iter().filter_map(|item| Some((Key::of(&item)?, item))).collect();
        let pairs =
            keys.iter().filter_map(|[organization, member]| Some((found.remove(organization)?, found.remove(member)?)));
        let pairs: Vec<(Item, Item)> = pairs.collect();
        let memberships = pairs.into_iter().map(|(org, member)| Ok((from_item(org)?, from_item(member)?)));
        let memberships: Vec<(Organization, MemberRecord)> = memberships.collect::<Result<_, StoreError>>()?;
        Ok(memberships.into_iter().filter(|(organization, _)| organization.suspended_at.is_none()).collect())
    }

    pub(crate) async fn is_suspended(&self, account: &Account) -> Result<bool, StoreError> {
        let orgs: BTreeSet<OrgId> = account.memberships.iter().map(|membership| membership.organization_id).collect();
        let keys: Vec<Key> = orgs.into_iter().map(keys::organization).collect();
        let found = self.get_all(&keys).await?.into_iter().map(from_item);
        let found: Vec<Organization> = found.collect::<Result<_, _>>()?;
        Ok(found.iter().any(|organization| organization.suspended_at.is_some()))
    }

    pub(crate) async fn knows_device(&self, at: &Key) -> Result<bool, StoreError> {
        Ok(self.get(at.clone()).await?.is_some())
    }

    /// The failed logins under a key, with the version that the next count must name.
    pub(crate) async fn failed_logins(&self, at: &Key) -> Result<Option<Versioned<FailedLogins>>, StoreError> {
        self.get(at.clone()).await?.map(from_versioned_item).transpose()
    }

    /// Writes a count of failed logins. False if another was written since it was read.
    pub(crate) async fn put_failed_logins(
        &self,
        at: &Key,
        failed_logins: FailedLogins,
        version: Option<u64>,
    ) -> Result<bool, StoreError> {
        let mut item = to_versioned_item(at.clone(), &failed_logins, version.unwrap_or_default() + 1)?;
        let last = Timestamp::from_unix_ms(failed_logins.last_at_ms).unwrap_or_else(|_| Timestamp::now());
        drop_at(&mut item, last.plus_seconds(limits::FAILED_LOGINS_FORGOTTEN_S));
        let change = match version {
            Some(version) => Change::Replace(item, version),
            None => Change::Create(item),
        };
        match self.transact(vec![change]).await {
            Ok(outcome) => Ok(outcome == TransactionOutcome::Committed),
            Err(StoreError::Conflict) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Deletes the count after a successful login. Best effort: it expires within the hour anyway.
    pub(crate) async fn delete_failed_logins(&self, at: &Key) {
        self.change_failed_logins(Change::Delete(at.clone())).await;
    }

    /// Subtracts a failed login that turned out successful. Best effort.
    pub(crate) async fn subtract_failed_login(&self, at: &Key) {
        let change = Update {
            key: at.clone(),
            expression: "ADD #failures :less, #version :one",
            condition: "#failures > :none",
            names: vec![("#failures", "failures"), ("#version", VERSION)],
            values: [(":less", "-1"), (":one", "1"), (":none", "0")]
                .map(|(name, value)| (name, AttributeValue::N(value.to_owned())))
                .into(),
        };
        self.change_failed_logins(Change::Update(change)).await;
    }

    async fn change_failed_logins(&self, change: Change) {
        let attempt = || self.transact(vec![change.clone()]);
        // An unwritten count expires within the hour.
        let _ = retry_on_conflict(Budget::attempts(limits::AWS_ATTEMPTS_MAX), attempt).await;
    }
}

fn pointed_key(pointer: &Item) -> Result<Key, StoreError> {
    let hash = text(pointer, HASH).map(keys::session_by_stored_hash);
    hash.ok_or_else(|| StoreError::Unreadable("decoding an item: no hash".to_owned()))
}

/// Begins a session, which must be in the call's organization.
pub(crate) fn create(call: &CallContext, hash: SecretHash, session: &Session) -> Result<Changes, StoreError> {
    if session.organization_id != call.org() {
        return Err(StoreError::Failed("a session of another organization".to_owned()));
    }
    let mut pointer = keys::session_of_account(&session.email, session.id).into_item();
    pointer.insert(HASH.to_owned(), AttributeValue::S(hash.to_string()));
    drop_at(&mut pointer, session.ends_at());
    Ok(Changes::of(call, [Change::Create(session_item(hash, session)?), Change::Put(pointer)]))
}

pub(crate) fn remember_device(call: &CallContext, at: Key) -> Changes {
    let mut item = at.into_item();
    drop_at(&mut item, call.now().plus_seconds(limits::DEVICE_COOKIE_LIFETIME_S));
    Changes::of(call, [Change::Put(item)])
}

pub(crate) fn remove(call: &CallContext, hash: SecretHash) -> Changes {
    remove_at(call, keys::session(hash))
}

pub(crate) fn remove_at(call: &CallContext, at: Key) -> Changes {
    Changes::of(call, [Change::Delete(at)])
}

pub(crate) fn end_all(call: &CallContext, account: &Email) -> Changes {
    let ended = Update {
        key: keys::account(account),
        expression: "ADD #epoch :one",
        condition: "attribute_exists(#pk)",
        names: vec![("#epoch", "epoch"), ("#pk", PARTITION)],
        values: vec![(":one", AttributeValue::N("1".to_owned()))],
    };
    Changes::of(call, [Change::Update(ended)])
}

fn session_item(hash: SecretHash, session: &Session) -> Result<Item, StoreError> {
    let mut item = to_item(keys::session(hash), session)?;
    drop_at(&mut item, session.ends_at());
    Ok(item)
}

fn drop_at(item: &mut Item, moment: Timestamp) {
    item.insert(DROP_AT.to_owned(), AttributeValue::N(moment.unix_s().to_string()));
}
