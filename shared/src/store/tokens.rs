//! Tokens: stored once, under their hash, by which every call finds them. Under a token's id is a pointer to the hash, for
//! operators.

use super::item::from_item;
use super::{Store, StoreError, keys};
use crate::crypto::TokenHash;
use crate::domain::token::Token;

impl Store {
    /// The token with a hash, valid or not.
    pub(crate) async fn token(&self, hash: TokenHash) -> Result<Option<Token>, StoreError> {
        self.get(keys::token_by_hash(hash)).await?.map(from_item).transpose()
    }
}
