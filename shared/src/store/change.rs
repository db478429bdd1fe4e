//! The changes of a transaction, each to one item, and the changes of a call.

use std::collections::HashMap;

use aws_sdk_dynamodb::error::BuildError;
use uuid::Uuid;

use aws_sdk_dynamodb::types::{self as sdk, AttributeValue, ConditionCheck, Delete, Put, TransactWriteItem};

use super::StoreError;
use super::item::{Item, VERSION};
use super::keys::{self, Key, PARTITION, Rows};
use super::list::RowWrite;
use crate::domain::actor::ActorType;
use crate::domain::agreement::acts::EditedPart;
use crate::domain::call_context::CallContext;
use crate::domain::ids::{AgreementId, ContactId, OrgId, RequestId, WorkspaceId};
use crate::domain::member::{Admin, ByMember, Member};
use crate::domain::moment::Moment;
use crate::domain::participant::ByParticipant;
use crate::domain::proposal::ProposalAction;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Change {
    Create(Item),
    /// The stored record must have this version, the one before.
    Replace(Item, u64),
    Update(Update),
    /// Puts an item without a condition: its record's condition in the same transaction guards it too.
    Put(Item),
    PutIfExpired(Item, Expiry),
    /// Puts or deletes a row, beside its record's change. The transaction also logs it.
    Row(RowWrite),
    /// Puts an entry into the log of a list.
    Log {
        org: OrgId,
        rows: Rows,
        entry: Item,
    },
    CheckVersion(Key, u64),
    Check(Condition),
    DeleteVersion(Key, u64),
    /// Whatever its version. It must exist.
    DeleteExisting(Key),
    Delete(Key),
}

/// An item has expired when this attribute is at most `now`, in the attribute's unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Expiry {
    pub attribute: &'static str,
    pub now: i64,
}

/// Expressions refer to attributes as `#name` and to values as `:value`. An empty condition is none.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Update {
    pub key: Key,
    pub expression: &'static str,
    pub condition: &'static str,
    pub names: Vec<(&'static str, &'static str)>,
    pub values: Vec<(&'static str, AttributeValue)>,
}

/// A condition that a record must meet, as an expression with `#name` and `:value`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Condition {
    pub key: Key,
    pub expression: &'static str,
    pub names: Vec<(&'static str, &'static str)>,
    pub values: Vec<(&'static str, AttributeValue)>,
}

/// The changes that a call makes. Only the store's functions build them, for their call, and a commit takes only its
/// own call's: no call changes another organization, decides at another moment, or acts as another member.
///
/// ```
/// use shared::domain::call_context::CallContext;
/// use shared::domain::contact::Contact;
/// use shared::store::change::Changes;
/// use shared::store::{StoreError, contacts};
///
/// fn of_this_call(call: &CallContext, contact: &Contact) -> Result<Changes, StoreError> {
///     contacts::create(call, contact)
/// }
/// ```
///
/// An organization's id is not enough:
///
/// ```compile_fail,E0308
/// use shared::domain::contact::Contact;
/// use shared::domain::ids::OrgId;
/// use shared::store::change::Changes;
/// use shared::store::{StoreError, contacts};
///
/// fn of_any_organization(org: &OrgId, contact: &Contact) -> Result<Changes, StoreError> {
///     contacts::create(org, contact)
/// }
/// ```
///
/// No other code builds changes:
///
/// ```compile_fail,E0624
/// use shared::domain::call_context::CallContext;
/// use shared::store::change::Changes;
///
/// fn by_hand(call: &CallContext) -> Changes {
///     Changes::of(call, [])
/// }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use = "nothing changes before it is committed"]
pub struct Changes {
    org: OrgId,
    call: RequestId,
    /// The member or participant who must be the caller.
    by: Option<(ActorType, Uuid)>,
    list: Vec<Change>,
    subject: Option<Subject>,
    moving: Option<Moving>,
}

/// A person who joins, stays in or leaves a workspace. Lists show it after the commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Moving {
    pub workspace: WorkspaceId,
    pub contact: ContactId,
    pub step: Step,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Joins,
    /// The person was there when read, and stays even if a removal comes first.
    Stays,
    Leaves,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Subject {
    pub agreement: AgreementId,
    pub proposed: Option<ProposalAction>,
    pub part: Option<EditedPart>,
}

impl Changes {
    pub(super) fn of(call: &CallContext, list: impl IntoIterator<Item = Change>) -> Self {
        let list = list.into_iter().collect();
        Self { org: call.org(), call: call.request_id(), by: None, list, subject: None, moving: None }
    }

    pub(super) fn by_which(self, moving: Moving) -> Self {
        Self { moving: Some(moving), ..self }
    }

    pub(super) fn moving(&self) -> Option<Moving> {
        self.moving
    }

    pub(super) fn about(self, agreement: AgreementId, proposed: Option<ProposalAction>) -> Self {
        Self { subject: Some(Subject { agreement, proposed, part: None }), ..self }
    }

    pub(super) fn about_part(self, agreement: AgreementId, part: Option<EditedPart>) -> Self {
        Self { subject: Some(Subject { agreement, proposed: None, part }), ..self }
    }

    pub(crate) fn items(&self) -> usize {
        self.list.len()
    }

    pub(super) fn subject(&self) -> Option<&Subject> {
        self.subject.as_ref()
    }

    /// A protected transition that was decided at a moment of the call.
    pub(super) fn decided(call: &CallContext, moment: Moment, list: impl IntoIterator<Item = Change>) -> Self {
        Self { call: moment.call(), ..Self::of(call, list) }
    }

    pub(super) fn by_member(call: &CallContext, member: &Member, list: impl IntoIterator<Item = Change>) -> Self {
        Self { org: member.org(), by: Some((ActorType::Member, member.id().uuid())), ..Self::of(call, list) }
    }

    pub(super) fn by_admin(call: &CallContext, admin: Admin<'_>, list: impl IntoIterator<Item = Change>) -> Self {
        Self::by_member(call, admin.member(), list)
    }

    /// A protected transition that a member decided at a moment of the call; the member must be the caller.
    pub(super) fn decided_by_member<T>(
        call: &CallContext,
        after: &ByMember<T>,
        list: impl IntoIterator<Item = Change>,
    ) -> Self {
        Self { call: after.moment().call(), ..Self::by_member(call, after.by(), list) }
    }

    /// An act that a participant decided at a moment of the call; the participant must be the caller.
    pub(super) fn by_participant<T>(
        call: &CallContext,
        after: &ByParticipant<T>,
        list: impl IntoIterator<Item = Change>,
    ) -> Self {
        let (by, call_id) = (after.by(), after.moment().call());
        let by_id = (ActorType::Participant, by.id().uuid());
        Self { org: by.org(), call: call_id, by: Some(by_id), ..Self::of(call, list) }
    }

    /// Fails unless the changes belong to this call.
    pub(super) fn for_call(self, call: &CallContext) -> Result<Vec<Change>, StoreError> {
        let is_by_its_caller = self.by.is_none_or(|(actor_type, id)| call.actor().is(actor_type, id));
        if self.org == call.org() && self.call == call.request_id() && is_by_its_caller {
            Ok(self.list)
        } else {
            Err(StoreError::Failed("a change of another call".to_owned()))
        }
    }

    /// For operators, who write without a call.
    pub(super) fn into_list(self) -> Vec<Change> {
        self.list
    }
}

impl Change {
    /// The list whose rows or log it writes.
    pub(super) fn list(&self) -> Option<(OrgId, Rows)> {
        match self {
            Self::Row(RowWrite { org, rows, .. }) | Self::Log { org, rows, .. } => Some((*org, *rows)),
            _ => None,
        }
    }

    /// Whether this change in place also meets the other's check of the same item.
    pub(super) fn makes_check(&self, check: &Self) -> bool {
        let (Self::Update(change), Self::Check(check)) = (self, check) else { return false };
        change.key == check.key
            && change.condition == check.expression
            && check.names.iter().all(|name| change.names.contains(name))
            && check.values.iter().all(|value| change.values.contains(value))
    }

    pub(super) fn into_write(self, table: &str) -> Result<TransactWriteItem, StoreError> {
        let write = TransactWriteItem::builder();
        Ok(match self {
            Self::Create(item) => write.put(put(table, item, Expression::absent())?),
            Self::Replace(item, version) => write.put(put(table, item, Expression::version(version))?),
            Self::Put(item) | Self::Log { entry: item, .. } | Self::Row(RowWrite { row: Some(item), .. }) => {
                write.put(put(table, item, Expression::none())?)
            }
            Self::Row(RowWrite { org, rows, id, row: None, .. }) => {
                write.delete(delete(table, keys::row(org, rows, id), Expression::none())?)
            }
            Self::PutIfExpired(item, expiry) => write.put(put(table, item, Expression::expired(expiry))?),
            Self::Update(update) => write.update(update.into_sdk(table)?),
            Self::CheckVersion(key, version) => write.condition_check(check(table, key, Expression::version(version))?),
            Self::Check(Condition { key, expression, names, values }) => {
                write.condition_check(check(table, key, Expression::new(expression, names, values))?)
            }
            Self::DeleteVersion(key, version) => write.delete(delete(table, key, Expression::version(version))?),
            Self::DeleteExisting(key) => write.delete(delete(table, key, Expression::present())?),
            Self::Delete(key) => write.delete(delete(table, key, Expression::none())?),
        }
        .build())
    }
}

/// A condition in the SDK's form, with absent parts if there is none.
struct Expression {
    text: Option<String>,
    names: Option<HashMap<String, String>>,
    values: Option<HashMap<String, AttributeValue>>,
}

impl Expression {
    fn new(
        text: &str,
        names: impl IntoIterator<Item = (&'static str, &'static str)>,
        values: impl IntoIterator<Item = (&'static str, AttributeValue)>,
    ) -> Self {
        let (names, values) = (owned_names(names), owned_values(values));
        Self {
            text: (!text.is_empty()).then(|| text.to_owned()),
            names: (!names.is_empty()).then_some(names),
            // DynamoDB refuses an empty list of values.
            values: (!values.is_empty()).then_some(values),
        }
    }

    fn none() -> Self {
        Self::new("", [], [])
    }

    fn absent() -> Self {
        Self::new("attribute_not_exists(#pk)", [("#pk", PARTITION)], [])
    }

    fn present() -> Self {
        Self::new("attribute_exists(#pk)", [("#pk", PARTITION)], [])
    }

    fn version(version: u64) -> Self {
        Self::new("#v = :v", [("#v", VERSION)], [(":v", AttributeValue::N(version.to_string()))])
    }

    fn expired(Expiry { attribute, now }: Expiry) -> Self {
        Self::new(
            "attribute_not_exists(#pk) OR #until <= :now",
            [("#pk", PARTITION), ("#until", attribute)],
            [(":now", AttributeValue::N(now.to_string()))],
        )
    }
}

pub(super) fn owned_names(names: impl IntoIterator<Item = (&'static str, &'static str)>) -> HashMap<String, String> {
    names.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

pub(super) fn owned_values(
    values: impl IntoIterator<Item = (&'static str, AttributeValue)>,
) -> HashMap<String, AttributeValue> {
    values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn put(table: &str, item: Item, condition: Expression) -> Result<Put, BuildError> {
    Put::builder()
        .table_name(table)
        .set_item(Some(item))
        .set_condition_expression(condition.text)
        .set_expression_attribute_names(condition.names)
        .set_expression_attribute_values(condition.values)
        .build()
}

fn check(table: &str, key: Key, condition: Expression) -> Result<ConditionCheck, BuildError> {
    ConditionCheck::builder()
        .table_name(table)
        .set_key(Some(key.into_item()))
        .set_condition_expression(condition.text)
        .set_expression_attribute_names(condition.names)
        .set_expression_attribute_values(condition.values)
        .build()
}

fn delete(table: &str, key: Key, condition: Expression) -> Result<Delete, BuildError> {
    Delete::builder()
        .table_name(table)
        .set_key(Some(key.into_item()))
        .set_condition_expression(condition.text)
        .set_expression_attribute_names(condition.names)
        .set_expression_attribute_values(condition.values)
        .build()
}

impl Update {
    fn into_sdk(self, table: &str) -> Result<sdk::Update, BuildError> {
        let Self { key, expression, condition, names, values } = self;
        let condition = Expression::new(condition, names, values);
        sdk::Update::builder()
            .table_name(table)
            .set_key(Some(key.into_item()))
            .update_expression(expression)
            .set_condition_expression(condition.text)
            .set_expression_attribute_names(condition.names)
            .set_expression_attribute_values(condition.values)
            .build()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::actor::Actor;
    use crate::domain::contact::{DisplayName, Email};
    use crate::domain::ids::MemberId;
    use crate::domain::member;
    use crate::domain::organization::{MemberRecord, Role};
    use crate::domain::time::Timestamp;
    use crate::domain::workspace::{NewWorkspace, Workspace, WorkspaceName, WorkspaceNumber};
    use crate::store::keys;

    fn call(org: OrgId, actor: Actor) -> CallContext {
        CallContext::new(RequestId::new(), "test", Timestamp::now(), actor, org, Vec::new())
    }

    fn admin_of(org: OrgId) -> Member {
        let (name, email) = (DisplayName::parse("Ada").unwrap(), Email::parse("ada@example.org").unwrap());
        let record = MemberRecord { id: MemberId::new(), name, email, role: Role::Admin, created_at: Timestamp::now() };
        Member::of_session(org, &record)
    }

    #[test]
    fn a_call_takes_only_its_own_changes() {
        let (ours, theirs) = (OrgId::new(), OrgId::new());
        let (admin, other_admin, foreign_admin) = (admin_of(ours), admin_of(ours), admin_of(theirs));
        let (mine, later) = (call(ours, admin.actor()), call(ours, admin.actor()));
        let foreign = call(theirs, foreign_admin.actor());
        let changes = |org| [Change::Delete(keys::organization(org))];

        let (of_mine, at_mine) = (Changes::of(&mine, changes(ours)), mine.attempt_moment());
        assert_eq!(of_mine.clone().for_call(&mine).unwrap(), changes(ours));
        assert!(Changes::decided(&mine, at_mine, changes(ours)).for_call(&mine).is_ok());
        assert!(Changes::by_admin(&mine, admin.as_admin().unwrap(), changes(ours)).for_call(&mine).is_ok());

        assert!(of_mine.clone().for_call(&later).is_err(), "another call of the organization");
        assert!(of_mine.for_call(&foreign).is_err(), "another organization");
        assert!(Changes::of(&foreign, changes(ours)).for_call(&mine).is_err(), "another organization's call");
        assert!(Changes::decided(&later, at_mine, changes(ours)).for_call(&later).is_err(), "another call's moment");
        for (other, reason) in [(&foreign_admin, "another organization's admin"), (&other_admin, "not the caller")] {
            let by_other = Changes::by_admin(&mine, other.as_admin().unwrap(), changes(ours));
            assert!(by_other.for_call(&mine).is_err(), "{reason}");
        }

        let renamed = |by: &Member| crate::store::members::rename(&mine, by, by.name()).into_list().remove(0);
        let checked = |by: &Member| crate::store::members::check_member(&mine, by.id()).into_list().remove(0);
        let is_admin = crate::store::members::check_admin(&mine, admin.id()).into_list().remove(0);
        assert!(renamed(&admin).makes_check(&checked(&admin)));
        assert!(!renamed(&admin).makes_check(&checked(&other_admin)), "another record");
        assert!(!renamed(&admin).makes_check(&is_admin), "another condition");
        assert!(!checked(&admin).makes_check(&checked(&admin)), "no change");

        let new = NewWorkspace { name: WorkspaceName::parse("Harbor").unwrap() };
        let workspace = Workspace::create(new, WorkspaceNumber(1), mine.now());
        let activated = |by: &Member, at: Moment| member::activate(by, &workspace, at).unwrap().0;
        let decided = |by: &Member, at: Moment, call: &CallContext| {
            Changes::decided_by_member(call, &activated(by, at), changes(ours)).for_call(call)
        };
        assert!(decided(&admin, at_mine, &mine).is_ok());
        assert!(decided(&admin, at_mine, &later).is_err(), "another call's moment");
        assert!(decided(&other_admin, at_mine, &mine).is_err(), "not the caller");
        assert!(decided(&foreign_admin, at_mine, &mine).is_err(), "another organization's member");
    }
}
