//! What operators do without a call or audit row. It takes a [`Store`]; operations only have an `OrgStore`.

use super::change::{Change, Changes, Update};
use super::failure::TransactionOutcome;
use super::item::{Item, from_item, to_item};
use super::record_kind::{Place, RecordKind};
use super::table::PutIf;
use super::{Store, StoreError, invitations, keys, tokens};
use crate::crypto::{LinkSecret, TokenHash};
use crate::domain::account::{Account, Membership};
use crate::domain::contact::Email;
use crate::domain::ids::{OrgId, TokenId};
use crate::domain::invitation::Invitation;
use crate::domain::organization::{MemberRecord, Organization};
use crate::domain::time::Timestamp;
use crate::domain::token::Token;
use crate::limits;

/// The store as operators write it.
#[derive(Debug, Clone, Copy)]
pub struct Operator<'a>(&'a Store);

impl<'a> Operator<'a> {
    /// The store, for an operator.
    #[must_use]
    pub fn new(store: &'a Store) -> Self {
        Self(store)
    }

    pub(super) fn store(self) -> &'a Store {
        self.0
    }

    /// Adds an organization.
    pub async fn put_organization(self, organization: &Organization) -> Result<(), StoreError> {
        self.0.put(to_item(keys::organization(organization.id), organization)?, PutIf::Any).await.map(|_| ())
    }

    /// Adds an organization with the invitation of its first admin, both or neither.
    pub async fn create_organization(
        self,
        organization: &Organization,
        invitation: &Invitation,
        secret: &LinkSecret,
    ) -> Result<(), StoreError> {
        let organization = to_item(keys::organization(organization.id), organization)?;
        let [record, pointer] = invitations::items(invitation, secret.hash(), 1)?;
        let changes = [organization, record, pointer].map(Change::Create);
        match self.0.transact(changes.into()).await? {
            TransactionOutcome::Committed => Ok(()),
            TransactionOutcome::ConditionsFailed(_) => Err(StoreError::Conflict),
        }
    }

    /// The organization that an item is. None for other or unreadable items.
    #[must_use]
    pub fn organization_of(item: &Item) -> Option<Organization> {
        let place = keys::Key::of(item).as_ref().and_then(Place::of)?;
        (place.kind == RecordKind::Organization).then(|| from_item(item.clone()).ok()).flatten()
    }

    /// An organization, if it exists.
    pub async fn organization(self, org: OrgId) -> Result<Option<Organization>, StoreError> {
        self.0.organization(org).await
    }

    /// Adds a member with an account of their own, both or neither. False if the address has an account already.
    pub async fn create_member(self, org: OrgId, member: &MemberRecord, account: &Account) -> Result<bool, StoreError> {
        let changes = [
            Change::Create(to_item(keys::account(&account.email), account)?),
            Change::Create(to_item(keys::member(org, member.id), member)?),
        ];
        Ok(self.0.transact(changes.into()).await? == TransactionOutcome::Committed)
    }

    /// Adds a member whose address has an account already, in another organization. False if there is no such account.
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
        Ok(self.0.transact(changes.into()).await? == TransactionOutcome::Committed)
    }

    /// The organizations of an account. None if no account has this address.
    pub async fn organizations_of(self, email: &Email) -> Result<Option<Vec<OrgId>>, StoreError> {
        let account = self.0.account_with_factor(email).await?.map(|(account, _)| account);
        let organizations = |account: Account| account.memberships.iter().map(|of| of.organization_id).collect();
        Ok(account.map(organizations))
    }

    /// Adds a token.
    pub async fn put_token(self, token: &Token, hash: TokenHash) -> Result<(), StoreError> {
        // The pointer comes first, so that a working token can always be revoked.
        self.0.put(tokens::pointer(token, hash), PutIf::Any).await?;
        self.0.put(to_item(keys::token_by_hash(hash), token)?, PutIf::Any).await.map(|_| ())
    }

    /// Revokes a token, at once and for good. False if the organization has no such token.
    pub async fn revoke_token(self, org: OrgId, id: TokenId, at: Timestamp) -> Result<bool, StoreError> {
        let Some(pointer) = self.0.get(keys::token(org, id)).await? else { return Ok(false) };
        let hash = tokens::pointed_hash(&pointer)?;
        let Some(token) = self.0.token(hash).await? else { return Ok(false) };
        let revoked = Token { revoked_at: token.revoked_at.or(Some(at)), ..token };
        self.0.put(to_item(keys::token_by_hash(hash), &revoked)?, PutIf::Any).await.map(|_| true)
    }

    /// Makes many changes in few transactions, for unused organizations: an error leaves earlier ones in effect.
    pub async fn load(self, changes: impl IntoIterator<Item = Changes>) -> Result<(), StoreError> {
        let changes: Vec<Change> = changes.into_iter().flat_map(Changes::into_list).collect();
        for changes in changes.chunks(limits::TRANSACTION_ITEMS_MAX - keys::Rows::ALL.len()) {
            if self.0.transact(changes.to_vec()).await? != TransactionOutcome::Committed {
                return Err(StoreError::Conflict);
            }
        }
        Ok(())
    }
}
