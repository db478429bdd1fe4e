//! Tokens: kept once, under their hash, since that is how every call finds them; and under their id where that hash
//! is, for whoever manages them.

use super::item::from_item;
use super::{Store, StoreError, keys};
use crate::crypto::TokenHash;
use crate::domain::token::Token;

impl Store {
    /// The token with a hash, whether it works or not.
    pub(crate) async fn token(&self, hash: TokenHash) -> Result<Option<Token>, StoreError> {
        self.get(keys::token_by_hash(hash)).await?.map(from_item).transpose()
    }
}
