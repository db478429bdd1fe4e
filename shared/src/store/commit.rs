//! The one way to change an organization's records: a transaction of the changes, the call's audit row, and the
//! response to its idempotency key. What was acknowledged is there, once, and on record.

use std::marker::PhantomData;

use aws_sdk_dynamodb::types::{AttributeValue, ConditionCheck, Delete, Put, TransactWriteItem};
use http::StatusCode;
use uuid::Uuid;

use super::keys::{self, Key, PARTITION};
use super::table::Transacted;
use super::{Item, StoreError, VERSION, audit, events, idempotency};
use crate::api::caller::{CallContext, WriteCaller};
use crate::api::operation::{Output, StoredResponse};
use crate::domain::event::{Event, EventKind};
use crate::domain::ids::{EndpointId, OrgId};
use crate::domain::time::Timestamp;
use crate::error::Error;
use crate::limits;
use crate::wire::text::Folded;

/// The attribute of a claim that holds until when it counts, in milliseconds since 1970.
pub(super) const CLAIMED_UNTIL: &str = "until";

/// One item's part in a commit. Only the store makes one: what an operation can change is what the store's functions
/// give for it, and some of them want more than a caller has.
///
/// ```compile_fail
/// use shared::store::Item;
/// use shared::store::commit::Change;
///
/// fn whatever(item: Item) -> Change {
///     Change::Put(item)
/// }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// A new item: nothing may be at its key.
    #[non_exhaustive]
    Create(Item),
    /// A record's next version: the one at its key must have this version.
    #[non_exhaustive]
    Replace(Item, u64),
    /// A change of a record that fits whatever version it has.
    #[non_exhaustive]
    Update(Update),
    /// An item that follows its record, whose condition guards it too.
    #[non_exhaustive]
    Put(Item),
    /// An item that takes the place of none, or of one whose time, in milliseconds, was over at a moment.
    #[non_exhaustive]
    PutIfExpired(Item, Timestamp),
    /// A record that is only looked at: it must still have this version.
    #[non_exhaustive]
    CheckVersion(Key, u64),
    /// A record that goes: the one at its key must have this version.
    #[non_exhaustive]
    DeleteVersion(Key, u64),
    /// A record that goes, whatever its version: one must be there.
    #[non_exhaustive]
    DeleteExisting(Key),
    /// A record that is only looked at: a condition must hold, whatever its version.
    #[non_exhaustive]
    Check(Expectation),
    /// An item that goes.
    #[non_exhaustive]
    Delete(Key),
}

/// A change in place: expressions with `#name` and `:value` for what they speak of. An empty condition is none.
#[derive(Debug, Clone, PartialEq)]
pub struct Update {
    pub(super) key: Key,
    pub(super) expression: &'static str,
    pub(super) condition: &'static str,
    pub(super) names: Vec<(&'static str, &'static str)>,
    pub(super) values: Vec<(&'static str, AttributeValue)>,
}

/// A condition that a record must meet: an expression with `#name` and `:value` for what it speaks of.
#[derive(Debug, Clone, PartialEq)]
pub struct Expectation {
    pub(super) key: Key,
    pub(super) condition: &'static str,
    pub(super) names: Vec<(&'static str, &'static str)>,
    pub(super) values: Vec<(&'static str, AttributeValue)>,
}

/// Who may change an organization's records: a caller of the API who may write, a member in the app, the clock.
pub trait Author {
    /// What the change is recorded under.
    fn act(&self) -> &CallContext;
}

/// What an act changes, all of it or nothing. It exists only for an author, and always has an audit row.
#[derive(Debug)]
#[must_use = "nothing has changed before it is committed"]
pub struct Commit<'a, By> {
    author: &'a By,
    now: Timestamp,
    changes: Vec<Change>,
}

/// The response of a write that took effect. Only a commit makes one.
#[derive(Debug)]
pub struct Committed<T> {
    pub(crate) reply: StoredResponse,
    output: PhantomData<T>,
}

/// What an attempt to commit found.
enum Landed {
    /// It took effect.
    Now,
    /// An attempt of the same act took effect before, and its response was lost or late.
    Before,
}

impl<'a, By: Author> Commit<'a, By> {
    pub(crate) fn new(author: &'a By) -> Self {
        Self { author, now: author.act().now(), changes: Vec::new() }
    }

    /// The moment of the attempt that this commits, where it was decided later than the act began: what is told from
    /// now on happens then. The act's audit row keeps its own time, under which every attempt finds it.
    pub fn at(mut self, now: Timestamp) -> Self {
        self.now = now;
        self
    }

    /// Adds changes.
    pub fn with(mut self, changes: impl IntoIterator<Item = Change>) -> Self {
        self.changes.extend(changes);
        self
    }

    /// Adds looks at what must not have changed, as many as there is room for beside what is there already: name the
    /// most important ones first, and these last of all.
    pub fn checking(mut self, checks: impl IntoIterator<Item = Change>) -> Self {
        const AUDIT_ROW: usize = 1;
        let room = limits::TRANSACTION_ITEMS_MAX.saturating_sub(self.changes.len() + AUDIT_ROW);
        self.changes.extend(checks.into_iter().take(room));
        self
    }

    /// Tells subscribers what happens, in the order given.
    ///
    /// # Errors
    /// When an event can't be encoded.
    pub fn emit(mut self, events: impl IntoIterator<Item = EventKind>) -> Result<Self, StoreError> {
        let act = self.author.act();
        for kind in events {
            self.changes.extend(events::emit(act.store.org, &Event::new(kind, self.now), None)?);
        }
        Ok(self)
    }

    /// Tells one endpoint something, whatever it wants to be told: that it is tested.
    ///
    /// # Errors
    /// When the event can't be encoded.
    pub fn emit_to(mut self, endpoint: EndpointId, event: &Event) -> Result<Self, StoreError> {
        self.changes.extend(events::emit(self.author.act().store.org, event, Some(endpoint))?);
        Ok(self)
    }

    async fn transact(self, row: Item, last: Option<TransactWriteItem>) -> Result<Landed, Error> {
        let store = &self.author.act().store.store;
        // The audit row first, so that its place in the transaction is known.
        let changes = [Change::Create(row)].into_iter().chain(self.changes);
        let mut items: Vec<TransactWriteItem> =
            changes.map(|change| change.into_write(store.table())).collect::<Result<_, _>>()?;
        items.extend(last);
        if items.len() > limits::TRANSACTION_ITEMS_MAX {
            return Err(Error::Internal(format!("a commit of {} items", items.len())));
        }
        match store.transact(items).await? {
            Transacted::Committed => Ok(Landed::Now),
            // An audit row of this act can only be there if an attempt of it took effect.
            Transacted::Refused(refused) if refused.contains(&0) => Ok(Landed::Before),
            Transacted::Refused(_) => Err(Error::Conflict),
        }
    }
}

impl Commit<'_, WriteCaller> {
    /// Commits, and answers with the output. The version is that of the answered record, where it has an `ETag`.
    ///
    /// # Errors
    /// [`Error::Conflict`] if something has changed since it was read: nothing is done, and the pipeline decides anew.
    pub async fn respond<T: Output>(
        self,
        status: StatusCode,
        output: &T,
        version: Option<u64>,
    ) -> Result<Committed<T>, Error> {
        let reply = StoredResponse::new(status, output, version)?;
        let caller = self.author;
        let attempt = caller.remember(&reply);
        let row = audit::of_success(caller.act(), reply.status, &reply.objects, attempt);
        let record = caller.idempotency.as_ref().map(|key| idempotency::record(caller, key, &reply)).transpose()?;
        let reply = match self.transact(row, record).await? {
            Landed::Now => reply,
            // This attempt, or an earlier one that was given up too soon: that one is what happened.
            Landed::Before => {
                let landed = audit::attempt(caller.act()).await?.and_then(|attempt| caller.recall(attempt));
                landed.ok_or_else(|| Error::Internal("an audit row of no attempt".to_owned()))?
            }
        };
        Ok(Committed { reply, output: PhantomData })
    }
}

impl Commit<'_, CallContext> {
    /// Commits an act that has no response of its own, with the ids of what it changed.
    ///
    /// # Errors
    /// [`Error::Conflict`] if something has changed since it was read: nothing is done; decide anew.
    pub async fn done(self, objects: &[Uuid]) -> Result<(), Error> {
        self.done_as(StatusCode::OK, objects).await
    }

    /// The same for an act that is answered with another status: a form's, with a redirection.
    ///
    /// # Errors
    /// Those of [`Commit::done`].
    pub async fn done_as(self, status: StatusCode, objects: &[Uuid]) -> Result<(), Error> {
        let objects: Vec<u8> = objects.iter().flat_map(Uuid::as_bytes).copied().collect();
        let row = audit::of_success(self.author, status, &objects, 0);
        self.transact(row, None).await.map(|_| ())
    }
}

impl Author for CallContext {
    fn act(&self) -> &CallContext {
        self
    }
}

impl Author for WriteCaller {
    fn act(&self) -> &CallContext {
        self
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
                    .set_condition_expression(Some(condition.to_owned()).filter(|condition| !condition.is_empty()))
                    .set_expression_attribute_names(Some(names.into_iter().map(owned).collect()))
                    .set_expression_attribute_values(Some(values));
                write.update(update.build().map_err(build)?)
            }
            Self::Put(item) => write.put(put(item).build().map_err(build)?),
            Self::PutIfExpired(item, now) => write.put(
                put(item)
                    .condition_expression("attribute_not_exists(#pk) OR #until <= :now")
                    .expression_attribute_names("#pk", PARTITION)
                    .expression_attribute_names("#until", CLAIMED_UNTIL)
                    .expression_attribute_values(":now", AttributeValue::N(now.unix_ms().to_string()))
                    .build()
                    .map_err(build)?,
            ),
            Self::CheckVersion(key, version) => write.condition_check(
                ConditionCheck::builder()
                    .table_name(table)
                    .set_key(Some(key.into_item()))
                    .condition_expression("#v = :v")
                    .expression_attribute_names("#v", VERSION)
                    .expression_attribute_values(":v", AttributeValue::N(version.to_string()))
                    .build()
                    .map_err(build)?,
            ),
            Self::DeleteVersion(key, version) => write.delete(
                Delete::builder()
                    .table_name(table)
                    .set_key(Some(key.into_item()))
                    .condition_expression("#v = :v")
                    .expression_attribute_names("#v", VERSION)
                    .expression_attribute_values(":v", AttributeValue::N(version.to_string()))
                    .build()
                    .map_err(build)?,
            ),
            Self::DeleteExisting(key) => write.delete(
                Delete::builder()
                    .table_name(table)
                    .set_key(Some(key.into_item()))
                    .condition_expression("attribute_exists(#pk)")
                    .expression_attribute_names("#pk", PARTITION)
                    .build()
                    .map_err(build)?,
            ),
            Self::Check(Expectation { key, condition, names, values }) => {
                let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
                let values: std::collections::HashMap<_, _> =
                    values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
                let check = ConditionCheck::builder()
                    .table_name(table)
                    .set_key(Some(key.into_item()))
                    .condition_expression(condition)
                    .set_expression_attribute_names(Some(names.into_iter().map(owned).collect()))
                    // DynamoDB refuses an empty list of values.
                    .set_expression_attribute_values((!values.is_empty()).then_some(values));
                write.condition_check(check.build().map_err(build)?)
            }
            Self::Delete(key) => {
                write.delete(Delete::builder().table_name(table).set_key(Some(key.into_item())).build().map_err(build)?)
            }
        }
        .build())
    }
}

/// The row of a record in its list, with the folded text that `search` looks in and what filters look at.
pub(super) fn row<'a>(
    org: OrgId,
    kind: keys::Rows,
    id: Uuid,
    text: &Folded,
    filters: impl IntoIterator<Item = (&'a str, AttributeValue)>,
) -> Change {
    let mut item = keys::row(org, kind, id).into_item();
    item.insert(super::list::TEXT.to_owned(), AttributeValue::S(text.as_str().to_owned()));
    item.extend(filters.into_iter().map(|(name, value)| (name.to_owned(), value)));
    Change::Put(item)
}
