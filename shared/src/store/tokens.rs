//! Tokens: stored once, under their hash, by which every call finds them. Under a token's id is a pointer to the hash, for
//! the app and for operators.

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;

use super::change::{Change, Changes, Update};
use super::item::{Item, bytes, from_item, to_item};
use super::keys::{self, PARTITION};
use super::list::Order;
use super::{OrgStore, Store, StoreError};
use crate::crypto::TokenHash;
use crate::domain::call_context::CallContext;
use crate::domain::ids::{OrgId, TokenId};
use crate::domain::member::Admin;
use crate::domain::time::Timestamp;
use crate::domain::token::Token;

/// The attribute of the pointer from a token's id that holds the token's hash.
const HASH: &str = "hash";

impl Store {
    /// The token with a hash, valid or not.
    pub(crate) async fn token(&self, hash: TokenHash) -> Result<Option<Token>, StoreError> {
        self.get(keys::token_by_hash(hash)).await?.map(from_item).transpose()
    }
}

impl OrgStore {
    /// The organization's tokens, the newest first, expired and revoked ones included.
    pub(crate) async fn tokens(&self) -> Result<Vec<Token>, StoreError> {
        let mut pointers = Vec::new();
        let partition = keys::tokens(self.org);
        self.store.scan_partition(&partition, Order::NewestFirst, &[], |item| pointers.push(item)).await?;
        let hashes = pointers.iter().map(pointed_hash).collect::<Result<Vec<_>, _>>()?;
        let keys: Vec<_> = hashes.into_iter().map(keys::token_by_hash).collect();
        self.store.get_all(&keys).await?.into_iter().map(from_item).collect()
    }

    /// The hash of one of the organization's tokens.
    pub(crate) async fn token_hash(&self, id: TokenId) -> Result<Option<TokenHash>, StoreError> {
        self.store.get(keys::token(self.org, id)).await?.as_ref().map(pointed_hash).transpose()
    }

    /// The token with a hash, if it is one of the organization's.
    pub(crate) async fn token_with_hash(&self, hash: TokenHash) -> Result<Option<Token>, StoreError> {
        Ok(self.store.token(hash).await?.filter(|token| token.organization_id == self.org))
    }
}

/// The changes that add a token.
pub(crate) fn create(
    call: &CallContext,
    admin: Admin<'_>,
    token: &Token,
    hash: TokenHash,
) -> Result<Changes, StoreError> {
    let item = to_item(keys::token_by_hash(hash), token)?;
    Ok(Changes::by_admin(call, admin, [Change::Create(pointer(call.org(), token.id, hash)), Change::Create(item)]))
}

/// The change that revokes a token, at once and for good. It holds only while the token is not revoked.
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

/// The item that leads from a token's id to its hash.
pub(super) fn pointer(org: OrgId, id: TokenId, hash: TokenHash) -> Item {
    let mut item = keys::token(org, id).into_item();
    item.insert(HASH.to_owned(), AttributeValue::B(Blob::new(hash.as_bytes())));
    item
}

/// The hash to which a pointer leads.
pub(super) fn pointed_hash(pointer: &Item) -> Result<TokenHash, StoreError> {
    let hash = bytes(pointer, HASH).and_then(TokenHash::from_bytes);
    hash.ok_or_else(|| StoreError::Unreadable("decoding an item: no hash".to_owned()))
}
