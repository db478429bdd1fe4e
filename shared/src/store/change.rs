//! What a transaction does to one item, and the changes of one call.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::{AttributeValue, ConditionCheck, Delete, Put, TransactWriteItem};

use super::StoreError;
use super::item::{Item, VERSION};
use super::keys::{Key, PARTITION};
use crate::domain::call_context::CallContext;
use crate::domain::ids::{OrgId, RequestId};
use crate::domain::moment::Moment;
use crate::domain::time::Timestamp;

/// The attribute of a claim that holds until when it counts, in milliseconds since 1970.
pub(super) const CLAIMED_UNTIL: &str = "until";

/// What a transaction does to one item.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Change {
    /// Puts a new item: nothing may be at its key.
    Create(Item),
    /// Puts a record's next version: the one at its key must have this version.
    Replace(Item, u64),
    /// Changes a record in place, whatever its version.
    Update(Update),
    /// Puts an item that follows its record, whose condition guards it too.
    Put(Item),
    /// Puts an item where none is, or one whose time, in milliseconds, was over at a moment.
    PutIfExpired(Item, Timestamp),
    /// Checks that a record still has this version.
    CheckVersion(Key, u64),
    /// Checks a condition of a record, whatever its version.
    Check(Condition),
    /// Deletes a record: the one at its key must have this version.
    DeleteVersion(Key, u64),
    /// Deletes a record, whatever its version: one must be there.
    DeleteExisting(Key),
    /// Deletes an item, if it is there.
    Delete(Key),
}

/// A change in place: expressions with `#name` and `:value` for what they speak of. An empty condition is none.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Update {
    pub key: Key,
    pub expression: &'static str,
    pub condition: &'static str,
    pub names: Vec<(&'static str, &'static str)>,
    pub values: Vec<(&'static str, AttributeValue)>,
}

/// A condition that a record must meet: an expression with `#name` and `:value` for what it speaks of.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Condition {
    pub key: Key,
    pub expression: &'static str,
    pub names: Vec<(&'static str, &'static str)>,
    pub values: Vec<(&'static str, AttributeValue)>,
}

/// The changes that a call makes. Only the store's functions make them, for the call that they are given; a commit takes
/// only those of its own call, so nothing is changed in another organization, or at a moment that is not the call's.
///
/// ```
/// use shared::domain::call_context::CallContext;
/// use shared::domain::contact::Contact;
/// use shared::store::change::Changes;
/// use shared::store::{StoreError, contacts};
///
/// fn ours(call: &CallContext, contact: &Contact) -> Result<Changes, StoreError> {
///     contacts::create(call, contact)
/// }
/// ```
///
/// ```compile_fail
/// use shared::domain::contact::Contact;
/// use shared::domain::ids::OrgId;
/// use shared::store::change::Changes;
/// use shared::store::{StoreError, contacts};
///
/// fn anywhere(org: OrgId, contact: &Contact) -> Result<Changes, StoreError> {
///     contacts::create(org, contact)
/// }
/// ```
///
/// No change can be made by hand:
///
/// ```compile_fail
/// use shared::store::Item;
/// use shared::store::change::Change;
///
/// fn whatever(item: Item) -> Change {
///     Change::Put(item)
/// }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use = "nothing changes before it is committed"]
pub struct Changes {
    org: OrgId,
    call: RequestId,
    list: Vec<Change>,
}

impl Changes {
    /// What a call changes.
    pub(super) fn of(call: &CallContext, list: impl IntoIterator<Item = Change>) -> Self {
        Self { org: call.org(), call: call.request_id(), list: list.into_iter().collect() }
    }

    /// What a call changes by a protected transition, which was decided at a moment.
    pub(super) fn decided(call: &CallContext, moment: Moment, list: impl IntoIterator<Item = Change>) -> Self {
        Self { call: moment.call(), ..Self::of(call, list) }
    }

    /// The changes, if they are those of this call.
    pub(super) fn for_call(self, call: &CallContext) -> Result<Vec<Change>, StoreError> {
        if self.org == call.org() && self.call == call.request_id() {
            Ok(self.list)
        } else {
            Err(StoreError::Failed("a change of another call".to_owned()))
        }
    }

    /// The changes, for operators, who write without a call.
    pub(super) fn into_list(self) -> Vec<Change> {
        self.list
    }
}

impl Change {
    pub(super) fn into_write(self, table: &str) -> Result<TransactWriteItem, StoreError> {
        let write = TransactWriteItem::builder();
        Ok(match self {
            Self::Create(item) => write.put(put(table, item, Expression::absent())?),
            Self::Replace(item, version) => write.put(put(table, item, Expression::version(version))?),
            Self::Put(item) => write.put(put(table, item, Expression::none())?),
            Self::PutIfExpired(item, now) => write.put(put(table, item, Expression::expired(now))?),
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

/// A condition in the SDK's form; none of its parts where there is no condition.
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
        let names: HashMap<_, _> = owned_names(names);
        let values: HashMap<_, _> = values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
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

    fn expired(now: Timestamp) -> Self {
        Self::new(
            "attribute_not_exists(#pk) OR #until <= :now",
            [("#pk", PARTITION), ("#until", CLAIMED_UNTIL)],
            [(":now", AttributeValue::N(now.unix_ms().to_string()))],
        )
    }
}

pub(super) fn owned_names(names: impl IntoIterator<Item = (&'static str, &'static str)>) -> HashMap<String, String> {
    names.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

fn put(table: &str, item: Item, condition: Expression) -> Result<Put, StoreError> {
    Put::builder()
        .table_name(table)
        .set_item(Some(item))
        .set_condition_expression(condition.text)
        .set_expression_attribute_names(condition.names)
        .set_expression_attribute_values(condition.values)
        .build()
        .map_err(StoreError::from)
}

fn check(table: &str, key: Key, condition: Expression) -> Result<ConditionCheck, StoreError> {
    ConditionCheck::builder()
        .table_name(table)
        .set_key(Some(key.into_item()))
        .set_condition_expression(condition.text)
        .set_expression_attribute_names(condition.names)
        .set_expression_attribute_values(condition.values)
        .build()
        .map_err(StoreError::from)
}

fn delete(table: &str, key: Key, condition: Expression) -> Result<Delete, StoreError> {
    Delete::builder()
        .table_name(table)
        .set_key(Some(key.into_item()))
        .set_condition_expression(condition.text)
        .set_expression_attribute_names(condition.names)
        .set_expression_attribute_values(condition.values)
        .build()
        .map_err(StoreError::from)
}

impl Update {
    fn into_sdk(self, table: &str) -> Result<aws_sdk_dynamodb::types::Update, StoreError> {
        let Self { key, expression, condition, names, values } = self;
        let condition = Expression::new(condition, names, values);
        aws_sdk_dynamodb::types::Update::builder()
            .table_name(table)
            .set_key(Some(key.into_item()))
            .update_expression(expression)
            .set_condition_expression(condition.text)
            .set_expression_attribute_names(condition.names)
            .set_expression_attribute_values(condition.values)
            .build()
            .map_err(StoreError::from)
    }
}
