//! The one way to change an organization's records: a transaction of the changes, the call's audit row, and the
//! response to its idempotency key. What was acknowledged is there, once, and on record.

use std::marker::PhantomData;

use aws_sdk_dynamodb::types::{AttributeValue, Delete, Put, TransactWriteItem};
use http::StatusCode;

use super::keys::{self, Key, PARTITION};
use super::table::Transacted;
use super::{Item, StoreError, VERSION, audit, idempotency};
use crate::caller::WriteCaller;
use crate::domain::ids::OrgId;
use crate::error::Error;
use crate::limits;
use crate::operation::{Output, Reply};
use crate::text::Folded;

/// One item's part in a commit.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// A new item: nothing may be at its key.
    Create(Item),
    /// A record's next version: the one at its key must have this version.
    Replace(Item, u64),
    /// A change of a record that fits whatever version it has.
    Update(Update),
    /// An item that follows its record, whose condition guards it too.
    Follow(Item),
    /// An item that goes.
    Remove(Key),
}

/// A change in place: expressions with `#name` and `:value` for what they speak of.
#[derive(Debug, Clone, PartialEq)]
pub struct Update {
    pub(super) key: Key,
    pub(super) expression: &'static str,
    pub(super) condition: &'static str,
    pub(super) names: Vec<(&'static str, &'static str)>,
    pub(super) values: Vec<(&'static str, AttributeValue)>,
}

/// What a call changes, all of it or nothing. It exists only for a caller who may write, and always has an audit row.
#[derive(Debug)]
#[must_use = "nothing has changed before `respond`"]
pub struct Commit<'a> {
    caller: &'a WriteCaller,
    changes: Vec<Change>,
}

/// The response of a write that took effect. Only a commit makes one.
#[derive(Debug)]
pub struct Committed<T> {
    pub(crate) reply: Reply,
    output: PhantomData<T>,
}

impl<'a> Commit<'a> {
    pub(crate) fn new(caller: &'a WriteCaller) -> Self {
        Self { caller, changes: Vec::new() }
    }

    /// Adds changes.
    pub fn with(mut self, changes: impl IntoIterator<Item = Change>) -> Self {
        self.changes.extend(changes);
        self
    }

    /// Commits, and answers with the output. The version is that of the answered record, where it has an `ETag`.
    ///
    /// # Errors
    /// [`Error::Raced`] if something has changed since it was read: nothing is done, and the pipeline decides anew.
    pub async fn respond<T: Output>(
        self,
        status: StatusCode,
        output: &T,
        version: Option<u64>,
    ) -> Result<Committed<T>, Error> {
        let reply = Reply::new(status, output, version)?;
        let caller = self.caller;
        let attempt = caller.remember(&reply);
        // First, so that its place in the transaction is known.
        let mut changes = vec![Change::Create(audit::of_success(caller, &reply, attempt))];
        changes.extend(self.changes);
        let table = caller.store.store.table();
        let mut items: Vec<TransactWriteItem> =
            changes.into_iter().map(|change| change.into_write(table)).collect::<Result<_, _>>()?;
        if let Some(key) = &caller.idempotency {
            items.push(idempotency::record(caller, key, &reply)?);
        }
        if items.len() > limits::TRANSACTION_ITEMS_MAX {
            return Err(Error::Internal(format!("a commit of {} items", items.len())));
        }
        let reply = match caller.store.store.transact(items).await? {
            Transacted::Committed => reply,
            // An audit row of this call can only be there if an attempt of it took effect and its response was lost or
            // late: this attempt, or an earlier one that was given up too soon. That one is what happened.
            Transacted::Refused(refused) if refused.contains(&0) => {
                let landed = audit::attempt(caller).await?.and_then(|attempt| caller.recall(attempt));
                landed.ok_or_else(|| Error::Internal("an audit row of no attempt".to_owned()))?
            }
            Transacted::Refused(_) => return Err(Error::Raced),
        };
        Ok(Committed { reply, output: PhantomData })
    }
}

impl Change {
    pub(super) fn into_write(self, table: &str) -> Result<TransactWriteItem, StoreError> {
        let build = |error| StoreError::Failed(format!("TransactWriteItems: {error}"));
        let put = |item| Put::builder().table_name(table).set_item(Some(item));
        let write = TransactWriteItem::builder();
        Ok(match self {
            Self::Create(item) => write.put(
                put(item)
                    .condition_expression("attribute_not_exists(#pk)")
                    .expression_attribute_names("#pk", PARTITION)
                    .build()
                    .map_err(build)?,
            ),
            Self::Replace(item, version) => write.put(
                put(item)
                    .condition_expression("#v = :v")
                    .expression_attribute_names("#v", VERSION)
                    .expression_attribute_values(":v", AttributeValue::N(version.to_string()))
                    .build()
                    .map_err(build)?,
            ),
            Self::Update(Update { key, expression, condition, names, values }) => {
                let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
                let values = values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
                let update = aws_sdk_dynamodb::types::Update::builder()
                    .table_name(table)
                    .set_key(Some(key.into_item()))
                    .update_expression(expression)
                    .condition_expression(condition)
                    .set_expression_attribute_names(Some(names.into_iter().map(owned).collect()))
                    .set_expression_attribute_values(Some(values));
                write.update(update.build().map_err(build)?)
            }
            Self::Follow(item) => write.put(put(item).build().map_err(build)?),
            Self::Remove(key) => {
                write.delete(Delete::builder().table_name(table).set_key(Some(key.into_item())).build().map_err(build)?)
            }
        }
        .build())
    }
}

/// The row of a record in its list, with the folded text that `search` looks in.
pub(super) fn row(org: OrgId, kind: keys::Rows, id: uuid::Uuid, text: &Folded) -> Change {
    let mut item = keys::row(org, kind, id).into_item();
    item.insert(super::list::TEXT.to_owned(), AttributeValue::S(text.as_str().to_owned()));
    Change::Follow(item)
}
