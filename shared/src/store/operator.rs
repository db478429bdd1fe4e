//! What operators do without a call: no audit row is written, so no operation can reach any of this. It takes a
//! [`Store`], and a caller only ever has an `OrgStore`.

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;

use super::change::{Change, Changes, Update};
use super::failure::Transacted;
use super::item::{bytes, to_item};
use super::table::PutIf;
use super::{Store, StoreError, keys};
use crate::crypto::TokenHash;
use crate::domain::account::{Account, Membership};
use crate::domain::ids::{OrgId, TokenId};
use crate::domain::organization::{MemberRecord, Organization};
use crate::domain::time::Timestamp;
use crate::domain::token::Token;
use crate::limits;

/// The attribute of a token's id that says under which hash it is.
const HASH: &str = "hash";

/// The store in an operator's hands.
#[derive(Debug, Clone, Copy)]
pub struct Operator<'a>(&'a Store);

impl<'a> Operator<'a> {
    /// Takes the store into an operator's hands.
    #[must_use]
    pub fn new(store: &'a Store) -> Self {
        Self(store)
    }

    /// Adds an organization.
    pub async fn put_organization(self, organization: &Organization) -> Result<(), StoreError> {
        self.0.put(to_item(keys::organization(organization.id), organization)?, PutIf::Any).await.map(|_| ())
    }

    /// Adds a member with an account of their own, both or neither. Tells whether it did: not if the address has an
    /// account.
    pub async fn create_member(self, org: OrgId, member: &MemberRecord, account: &Account) -> Result<bool, StoreError> {
        let changes = [
            Change::Create(to_item(keys::account(&account.email), account)?),
            Change::Create(to_item(keys::member(org, member.id), member)?),
        ];
        let items = changes.into_iter().map(|change| change.into_write(self.0.table())).collect::<Result<_, _>>()?;
        Ok(self.0.transact(items).await? == Transacted::Committed)
    }

    /// Adds a member whose address has an account already, in another organization. Tells whether it did: not if there
    /// is no such account.
    pub async fn join(self, org: OrgId, member: &MemberRecord) -> Result<bool, StoreError> {
        let membership = Membership { organization_id: org, member_id: member.id };
        let encoded = serde_dynamo::to_attribute_value([membership])
            .map_err(|error| StoreError::Failed(format!("encoding a membership: {error}")))?;
        let changes = [
            Change::Update(Update {
                key: keys::account(&member.email),
                expression: "SET #memberships = list_append(#memberships, :membership)",
                condition: "attribute_exists(#pk)",
                names: vec![("#memberships", "memberships"), ("#pk", keys::PARTITION)],
                values: vec![(":membership", encoded)],
            }),
            Change::Create(to_item(keys::member(org, member.id), member)?),
        ];
        let items = changes.into_iter().map(|change| change.into_write(self.0.table())).collect::<Result<_, _>>()?;
        Ok(self.0.transact(items).await? == Transacted::Committed)
    }

    /// Adds a token.
    pub async fn put_token(self, token: &Token, hash: TokenHash) -> Result<(), StoreError> {
        // The way to it first: what works can always be revoked.
        let mut pointer = keys::token(token.organization_id, token.id).into_item();
        pointer.insert(HASH.to_owned(), AttributeValue::B(Blob::new(hash.as_bytes())));
        self.0.put(pointer, PutIf::Any).await?;
        self.0.put(to_item(keys::token_by_hash(hash), token)?, PutIf::Any).await.map(|_| ())
    }

    /// Takes a token back, at once and for good. Tells whether the organization has such a token.
    pub async fn revoke_token(self, org: OrgId, id: TokenId, at: Timestamp) -> Result<bool, StoreError> {
        let Some(pointer) = self.0.get(keys::token(org, id)).await? else { return Ok(false) };
        let hash = bytes(&pointer, HASH).and_then(TokenHash::from_bytes);
        let hash = hash.ok_or_else(|| StoreError::Failed("decoding an item: no hash".to_owned()))?;
        let Some(token) = self.0.token(hash).await? else { return Ok(false) };
        let revoked = Token { revoked_at: token.revoked_at.or(Some(at)), ..token };
        self.0.put(to_item(keys::token_by_hash(hash), &revoked)?, PutIf::Any).await.map(|_| true)
    }

    /// Writes many changes in as few transactions as they fit into. It is for imports and benches, into organizations
    /// that nobody uses yet: an error leaves the transactions before it in effect.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] when a change did not find what it needs; otherwise when the store can't be written.
    pub async fn load(self, changes: impl IntoIterator<Item = Changes>) -> Result<(), StoreError> {
        let mut changes =
            changes.into_iter().flat_map(Changes::into_list).map(|change| change.into_write(self.0.table())).peekable();
        while changes.peek().is_some() {
            let items = changes.by_ref().take(limits::TRANSACTION_ITEMS_MAX).collect::<Result<_, _>>()?;
            if self.0.transact(items).await? != Transacted::Committed {
                return Err(StoreError::Conflict);
            }
        }
        Ok(())
    }
}
