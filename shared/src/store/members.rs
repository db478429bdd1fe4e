//! Members: a record each, in one partition per organization. Their accounts are found without an organization.

use aws_sdk_dynamodb::types::AttributeValue;

use super::change::{Change, Changes, Condition, Update};
use super::item::from_item;
use super::keys::{self, PARTITION};
use super::list::Order;
use super::{OrgStore, StoreError};
use crate::domain::account::Account;
use crate::domain::call_context::CallContext;
use crate::domain::ids::{MemberId, OrgId};
use crate::domain::member::Removal;
use crate::domain::organization::MemberRecord;

impl OrgStore {
    /// The organization's members, the oldest first.
    pub async fn members(&self) -> Result<Vec<MemberRecord>, StoreError> {
        let mut items = Vec::new();
        let partition = keys::members(self.org);
        self.store.scan_partition(&partition, Order::OldestFirst, &[], |item| items.push(item)).await?;
        items.into_iter().map(from_item).collect()
    }

    /// One of the organization's members.
    pub(crate) async fn member(&self, id: MemberId) -> Result<Option<MemberRecord>, StoreError> {
        self.store.get(keys::member(self.org, id)).await?.map(from_item).transpose()
    }

    /// The account of a member.
    pub(crate) async fn account_of(&self, member: &MemberRecord) -> Result<Option<Account>, StoreError> {
        self.store.account(&member.email).await
    }
}

/// The changes that remove a member, which ends their sessions in the organization: the member's record is deleted, except
/// for the name, which the audit log shows, and the membership is removed from their account, which stays. They hold only while the member exists, and the admin who must
/// stay is one.
pub(crate) fn remove(call: &CallContext, removal: &Removal, account: Option<&Account>) -> Result<Changes, StoreError> {
    let (org, gone) = (call.org(), removal.removed());
    let mut name = keys::former_member(org, gone.id).into_item();
    name.insert("name".to_owned(), AttributeValue::S(gone.name.as_str().to_owned()));
    let mut changes = vec![Change::DeleteExisting(keys::member(org, gone.id)), Change::Put(name)];
    changes.extend(removal.remaining_admin().map(|admin| has_admin_role(org, admin)));
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
            // Another organization may add the person at the same moment.
            condition: "#memberships = :all",
            names: vec![("#memberships", "memberships")],
            values: vec![(":kept", encoded(&kept)?), (":all", encoded(&account.memberships)?)],
        }));
    }
    Ok(match removal.by() {
        Some(admin) => Changes::by_member(call, admin, changes),
        None => Changes::of(call, changes),
    })
}

/// The check that a member has not been removed.
pub(crate) fn check_member(call: &CallContext, member: MemberId) -> Changes {
    let exists = Condition {
        key: keys::member(call.org(), member),
        expression: "attribute_exists(#pk)",
        names: vec![("#pk", PARTITION)],
        values: Vec::new(),
    };
    Changes::of(call, [Change::Check(exists)])
}

/// The check that a member is still an admin.
pub(crate) fn check_admin(call: &CallContext, member: MemberId) -> Changes {
    Changes::of(call, [has_admin_role(call.org(), member)])
}

fn has_admin_role(org: OrgId, member: MemberId) -> Change {
    Change::Check(Condition {
        key: keys::member(org, member),
        expression: "#role = :admin",
        names: vec![("#role", "role")],
        values: vec![(":admin", AttributeValue::S("admin".to_owned()))],
    })
}
