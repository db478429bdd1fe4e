//! Members: a record each, in one partition per organization. Their accounts are ways in without an organization.

use aws_sdk_dynamodb::types::AttributeValue;

use super::commit::{Change, Expectation, Update};
use super::keys::{self, PARTITION};
use super::list::Order;
use super::{OrgStore, StoreError, from_item};
use crate::domain::account::Account;
use crate::domain::ids::{MemberId, OrgId};
use crate::domain::member::Removal;
use crate::domain::organization::MemberRecord;

impl OrgStore {
    /// The organization's members, in the order in which they came.
    ///
    /// # Errors
    /// When the store can't be read.
    pub async fn members(&self) -> Result<Vec<MemberRecord>, StoreError> {
        let mut items = Vec::new();
        let partition = keys::members(self.org);
        self.store.scan_partition(&partition, Order::OldestFirst, &[], |item| items.push(item)).await?;
        items.into_iter().map(from_item).collect()
    }

    /// One of the organization's members.
    ///
    /// # Errors
    /// When the store can't be read.
    pub(crate) async fn member(&self, id: MemberId) -> Result<Option<MemberRecord>, StoreError> {
        self.store.get(keys::member(self.org, id)).await?.map(from_item).transpose()
    }

    /// The account of a member.
    ///
    /// # Errors
    /// When the store can't be read.
    pub(crate) async fn account_of(&self, member: &MemberRecord) -> Result<Option<Account>, StoreError> {
        self.store.account(&member.email).await
    }
}

/// The changes that remove a member, whose sessions in the organization end with that: their record goes, and their
/// account, which stays, forgets that they belong to it. They hold only while the member is there, and the admin who has
/// to stay is one.
///
/// # Errors
/// When the account can't be encoded.
pub(crate) fn remove(org: OrgId, removal: &Removal, account: Option<&Account>) -> Result<Vec<Change>, StoreError> {
    let gone = removal.gone();
    let mut changes = vec![Change::DeleteExisting(keys::member(org, gone.id))];
    changes.extend(removal.stays().map(|admin| is_admin(org, admin)));
    if let Some(account) = account {
        let encoded = |memberships: &[_]| {
            serde_dynamo::to_attribute_value::<_, AttributeValue>(memberships)
                .map_err(|error| StoreError::Failed(format!("encoding memberships: {error}")))
        };
        let kept: Vec<_> =
            account.memberships.iter().copied().filter(|membership| membership.member_id != gone.id).collect();
        changes.push(Change::Update(Update {
            key: keys::account(&account.email),
            expression: "SET #memberships = :kept",
            // Somebody may join another organization at the same moment.
            condition: "#memberships = :all",
            names: vec![("#memberships", "memberships")],
            values: vec![(":kept", encoded(&kept)?), (":all", encoded(&account.memberships)?)],
        }));
    }
    Ok(changes)
}

/// The look at a member who must not have been removed.
pub(crate) fn is_there(org: OrgId, member: MemberId) -> Change {
    Change::Check(Expectation {
        key: keys::member(org, member),
        condition: "attribute_exists(#pk)",
        names: vec![("#pk", PARTITION)],
        values: Vec::new(),
    })
}

/// The look at an admin who must be one still.
pub(crate) fn is_admin(org: OrgId, member: MemberId) -> Change {
    Change::Check(Expectation {
        key: keys::member(org, member),
        condition: "#role = :admin",
        names: vec![("#role", "role")],
        values: vec![(":admin", AttributeValue::S("admin".to_owned()))],
    })
}
