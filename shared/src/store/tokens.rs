//! Tokens: each is stored once, under its hash, by which calls find it. Its id points to the hash.

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;

use super::change::{Change, Changes, Update};
use super::item::{Item, bytes, from_item, text, to_item};
use super::keys::{self, PARTITION, SORT};
use super::query::{Query, QueryPage};
use super::{OrgStore, Store, StoreError, organizations};
use crate::crypto::TokenHash;
use crate::domain::call_context::CallContext;
use crate::domain::ids::TokenId;
use crate::domain::member::Admin;
use crate::domain::time::Timestamp;
use crate::domain::token::Token;
use crate::limits;

const HASH: &str = "hash";
/// The token's name in its pointer, one read away from the id. It never changes.
const NAME: &str = "name";

impl Store {
    /// Records the hour of a token's last use. Of concurrent calls, one writes.
    pub(crate) async fn record_use(&self, hash: TokenHash, hour: Timestamp) -> Result<(), StoreError> {
        let used = Update {
            key: keys::token_by_hash(hash),
            expression: "SET #used = :hour",
            // Timestamps sort as text in the order of time.
            condition: "attribute_exists(#pk) AND (attribute_not_exists(#used) OR #used < :hour)",
            names: vec![("#used", "last_used_at"), ("#pk", PARTITION)],
            values: vec![(":hour", AttributeValue::S(hour.to_string()))],
        };
        self.update(used).await.map(|_| ())
    }

    pub(crate) async fn token(&self, hash: TokenHash) -> Result<Option<Token>, StoreError> {
        self.get(keys::token_by_hash(hash)).await?.map(from_item).transpose()
    }
}

impl OrgStore {
    /// The organization's tokens, newest first: all created since a moment, and some older ones.
    pub(crate) async fn tokens_since(&self, moment: Timestamp) -> Result<Vec<Token>, StoreError> {
        let query = Query::of(keys::tokens(self.org)).backward().limit(limits::TOKENS_READ_AT_ONCE);
        let mut pointers: Vec<Item> = Vec::new();
        let mut start = None;
        loop {
            let QueryPage { items, next, .. } = self.store.page_of(&query, start).await?;
            pointers.extend(items);
            let oldest = pointers.last().and_then(|pointer| text(pointer, SORT)).and_then(|id| id.parse().ok());
            let is_far_enough = oldest.and_then(created_at).is_some_and(|created_at| created_at < moment);
            if next.is_none() || is_far_enough {
                break;
            }
            start = next;
        }
        let hashes = pointers.iter().map(pointed_hash).collect::<Result<Vec<_>, _>>()?;
        let keys: Vec<_> = hashes.into_iter().map(keys::token_by_hash).collect();
        self.store.get_all(&keys).await?.into_iter().map(from_item).collect()
    }

    pub(crate) async fn token_hash(&self, id: TokenId) -> Result<Option<TokenHash>, StoreError> {
        self.store.get(keys::token(self.org, id)).await?.as_ref().map(pointed_hash).transpose()
    }

    pub(crate) async fn token_with_hash(&self, hash: TokenHash) -> Result<Option<Token>, StoreError> {
        Ok(self.store.token(hash).await?.filter(|token| token.organization_id == self.org))
    }
}

/// Adds a token, if the organization is not suspended.
pub(crate) fn create(
    call: &CallContext,
    admin: Admin<'_>,
    token: &Token,
    hash: TokenHash,
) -> Result<Changes, StoreError> {
    let item = to_item(keys::token_by_hash(hash), token)?;
    let added =
        [Change::Create(pointer(token, hash)), Change::Create(item), organizations::is_not_suspended(call.org())];
    Ok(Changes::by_admin(call, admin, added))
}

/// Revokes a token, at once and for good. Holds only while it is not revoked.
pub(crate) fn revoke(call: &CallContext, admin: Admin<'_>, hash: TokenHash, at: Timestamp) -> Changes {
    let revoked = Update {
        key: keys::token_by_hash(hash),
        expression: "SET #revoked_at = :at",
        condition: "attribute_exists(#pk) AND attribute_not_exists(#revoked_at)",
        names: vec![("#revoked_at", "revoked_at"), ("#pk", PARTITION)],
        values: vec![(":at", AttributeValue::S(at.to_string()))],
    };
    Changes::by_admin(call, admin, [Change::Update(revoked)])
}

pub(crate) fn suspend(call: &CallContext, hash: TokenHash, at: Option<Timestamp>) -> Changes {
    Changes::of(call, [copy_suspension(keys::token_by_hash(hash), at)])
}

pub(super) fn copy_suspension(key: keys::Key, at: Option<Timestamp>) -> Change {
    let (expression, values) = match at {
        Some(at) => ("SET #suspended_at = :at", vec![(":at", AttributeValue::S(at.to_string()))]),
        None => ("REMOVE #suspended_at", Vec::new()),
    };
    let names = vec![("#suspended_at", "suspended_at"), ("#pk", PARTITION)];
    Change::Update(Update { key, expression, condition: "attribute_exists(#pk)", names, values })
}

fn created_at(id: TokenId) -> Option<Timestamp> {
    let (seconds, nanoseconds) = id.uuid().get_timestamp()?.to_unix();
    let ms = i64::try_from(seconds).ok()?.checked_mul(1000)?.checked_add(i64::from(nanoseconds / 1_000_000))?;
    Timestamp::from_unix_ms(ms).ok()
}

pub(super) fn pointer(token: &Token, hash: TokenHash) -> Item {
    let mut item = keys::token(token.organization_id, token.id).into_item();
    item.insert(HASH.to_owned(), AttributeValue::B(Blob::new(hash.as_bytes())));
    item.insert(NAME.to_owned(), AttributeValue::S(token.name.clone()));
    item
}

pub(super) fn hash_in(key: &keys::Key) -> Option<TokenHash> {
    let hash = key.partition().rsplit_once('#')?.1;
    let byte = |at: usize| u8::from_str_radix(hash.get(2 * at..2 * at + 2)?, 16).ok();
    let bytes: Option<Vec<u8>> = (0..hash.len() / 2).map(byte).collect();
    TokenHash::from_bytes(&bytes?).filter(|hash| keys::token_by_hash(*hash) == *key)
}

pub(super) fn pointed_hash(pointer: &Item) -> Result<TokenHash, StoreError> {
    let hash = bytes(pointer, HASH).and_then(TokenHash::from_bytes);
    hash.ok_or_else(|| StoreError::Unreadable("decoding an item: no hash".to_owned()))
}
