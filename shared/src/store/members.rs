//! Members: a record each, in one partition per organization. Accounts are found without an organization.

use aws_sdk_dynamodb::types::AttributeValue;

use super::change::{Change, Changes, Condition, Update};
use super::item::{from_item, to_item};
use super::keys::{self, PARTITION};
use super::query::Query;
use super::{OrgStore, Store, StoreError, member_ties};
use crate::domain::account::{Account, Membership};
use crate::domain::call_context::CallContext;
use crate::domain::contact::DisplayName;
use crate::domain::ids::{MemberId, OrgId};
use crate::domain::member::second::Departure;
use crate::domain::member::{Member, Removal, RoleChange};
use crate::domain::organization::{MemberRecord, Role};

impl Store {
    /// Finds some members of an organization for the holder of a link, in any order.
    pub(crate) async fn members_by_id(&self, org: OrgId, ids: &[MemberId]) -> Result<Vec<MemberRecord>, StoreError> {
        let keys: Vec<_> = ids.iter().map(|id| keys::member(org, *id)).collect();
        self.get_all(&keys).await?.into_iter().map(from_item).collect()
    }
}

impl OrgStore {
    /// The organization's members, the oldest first.
    pub async fn members(&self) -> Result<Vec<MemberRecord>, StoreError> {
        self.store.all(Query::of(keys::members(self.org))).await?.into_iter().map(from_item).collect()
    }

    pub(crate) async fn member(&self, id: MemberId) -> Result<Option<MemberRecord>, StoreError> {
        self.store.get(keys::member(self.org, id)).await?.map(from_item).transpose()
    }

    pub(crate) async fn account_of(&self, member: &MemberRecord) -> Result<Option<Account>, StoreError> {
        self.store.account(&member.email).await
    }
}

/// Removes a member: their sessions in the organization, the record except for its name, a pending invitation, and the
/// membership in their account. Holds while the member exists and the admin who must stay is one.
pub(crate) fn remove(call: &CallContext, removal: &Removal, account: Option<&Account>) -> Result<Changes, StoreError> {
    let (org, gone) = (call.org(), removal.removed());
    let mut name = keys::former_member(org, gone.id).into_item();
    name.insert("name".to_owned(), AttributeValue::S(gone.name.as_str().to_owned()));
    // An invitation of the address would let them in again.
    let invitation = Change::Delete(keys::invitation(org, &gone.email));
    let left = member_ties::departure(org, &Departure { member_id: gone.id, at: call.now() })?;
    let mut changes = vec![Change::DeleteExisting(keys::member(org, gone.id)), invitation, Change::Put(name), left];
    changes.extend(removal.remaining_admin().map(|admin| has_admin_role(org, admin)));
    if let Some(account) = account {
        let kept: Vec<_> =
            account.memberships.iter().copied().filter(|membership| membership.member_id != gone.id).collect();
        changes.push(set_memberships(account, &kept)?);
    }
    Ok(match removal.by() {
        Some(admin) => Changes::by_member(call, admin, changes),
        None => Changes::of(call, changes),
    })
}

/// Holds only while the member has the role that was read.
pub(crate) fn change_role(call: &CallContext, change: &RoleChange) -> Changes {
    let text = |role: Role| AttributeValue::S(role.as_str().to_owned());
    let changed = Update {
        key: keys::member(call.org(), change.before().id),
        expression: "SET #role = :after",
        condition: "#role = :before",
        names: vec![("#role", "role")],
        values: vec![(":after", text(change.role())), (":before", text(change.before().role))],
    };
    Changes::by_member(call, change.by(), [Change::Update(changed)])
}

pub(crate) fn rename(call: &CallContext, member: &Member, name: &DisplayName) -> Changes {
    let renamed = Update {
        key: keys::member(call.org(), member.id()),
        expression: "SET #name = :name",
        condition: "attribute_exists(#pk)",
        names: vec![("#name", "name"), ("#pk", PARTITION)],
        values: vec![(":name", AttributeValue::S(name.as_str().to_owned()))],
    };
    Changes::by_member(call, member, [Change::Update(renamed)])
}

pub(crate) fn create_with_account(
    call: &CallContext,
    member: &MemberRecord,
    account: &Account,
) -> Result<Changes, StoreError> {
    let account = Change::Create(to_item(keys::account(&account.email), account)?);
    Ok(Changes::of(call, [account, Change::Create(to_item(keys::member(call.org(), member.id), member)?)]))
}

/// Adds a member who has an account. Holds only while the account belongs to the organizations that were read.
pub(crate) fn create_for_account(
    call: &CallContext,
    member: &MemberRecord,
    account: &Account,
) -> Result<Changes, StoreError> {
    let new = Membership { organization_id: call.org(), member_id: member.id };
    let all: Vec<_> = account.memberships.iter().copied().chain([new]).collect();
    let memberships = set_memberships(account, &all)?;
    Ok(Changes::of(call, [memberships, Change::Create(to_item(keys::member(call.org(), member.id), member)?)]))
}

/// Sets memberships if they are as read: another organization may add or remove the person at the same moment.
fn set_memberships(account: &Account, after: &[Membership]) -> Result<Change, StoreError> {
    Ok(Change::Update(Update {
        key: keys::account(&account.email),
        expression: "SET #memberships = :after",
        condition: "#memberships = :before",
        names: vec![("#memberships", "memberships")],
        values: vec![(":after", encoded(after)?), (":before", encoded(&account.memberships)?)],
    }))
}

pub(super) fn encoded(memberships: &[Membership]) -> Result<AttributeValue, StoreError> {
    serde_dynamo::to_attribute_value(memberships)
        .map_err(|error| StoreError::Failed(format!("encoding memberships: {error}")))
}

pub(crate) fn check_member(call: &CallContext, member: MemberId) -> Changes {
    let exists = Condition {
        key: keys::member(call.org(), member),
        expression: "attribute_exists(#pk)",
        names: vec![("#pk", PARTITION)],
        values: Vec::new(),
    };
    Changes::of(call, [Change::Check(exists)])
}

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
