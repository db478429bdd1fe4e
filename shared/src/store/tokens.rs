//! Tokens: kept once, under their hash, since that is how every call finds them; and under their id where that hash
//! is, for whoever manages them.

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;

use super::keys;
use super::table::PutIf;
use super::{OrgStore, Store, StoreError, from_item, to_item};
use crate::crypto::TokenHash;
use crate::domain::ids::TokenId;
use crate::domain::time::Timestamp;
use crate::domain::token::Token;

/// The attribute of a token's id that says under which hash it is.
const HASH: &str = "hash";

impl Store {
    /// The token with a hash, whether it works or not.
    ///
    /// # Errors
    /// When the store can't be read.
    pub async fn token(&self, hash: TokenHash) -> Result<Option<Token>, StoreError> {
        self.get(keys::token_by_hash(hash)).await?.map(from_item).transpose()
    }
}

impl OrgStore {
    /// Adds a token.
    ///
    /// # Errors
    /// When the store can't be written.
    pub async fn put_token(&self, token: &Token, hash: TokenHash) -> Result<(), StoreError> {
        // The way to it first: what works can always be revoked.
        let mut pointer = keys::token(self.org, token.id).into_item();
        pointer.insert(HASH.to_owned(), AttributeValue::B(Blob::new(hash.as_bytes())));
        self.store.put(pointer, PutIf::Any).await?;
        self.store.put(to_item(keys::token_by_hash(hash), token)?, PutIf::Any).await.map(|_| ())
    }

    /// Takes a token back, at once and for good. Tells whether the organization has such a token.
    ///
    /// # Errors
    /// When the store can't be read or written.
    pub async fn revoke_token(&self, id: TokenId, at: Timestamp) -> Result<bool, StoreError> {
        let Some(pointer) = self.store.get(keys::token(self.org, id)).await? else { return Ok(false) };
        let hash = pointer.get(HASH).and_then(|value| TokenHash::from_bytes(value.as_b().ok()?.as_ref()));
        let hash = hash.ok_or_else(|| StoreError::Failed("decoding an item: no hash".to_owned()))?;
        let Some(token) = self.store.token(hash).await? else { return Ok(false) };
        let revoked = Token { revoked_at: token.revoked_at.or(Some(at)), ..token };
        self.store.put(to_item(keys::token_by_hash(hash), &revoked)?, PutIf::Any).await.map(|_| true)
    }
}
