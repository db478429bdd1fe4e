//! Rewriting records of older schema versions, for `ops migrate` and the local stack.
//!
//! Decision: a record is rewritten under its own version, which does not change: it means the same as before, and whoever
//! has read it may go on. In the same transaction its rows are written anew from it. If a call changes the record at that
//! moment, one of the two is decided again. So the service goes on meanwhile.

use std::collections::BTreeMap;

use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::{StreamExt, TryStreamExt, stream};

use super::change::Change;
use super::failure::TransactionOutcome;
use super::item::{Item, VERSION, number};
use super::keys::{Key, RecordKey};
use super::operator::Operator;
use super::record::{self, Record};
use super::versions::{self, Kind, NEWEST, SCHEMA};
use super::whole_table::{PageOfTable, Position};
use super::{Store, StoreError, agreements, workspaces};
use crate::domain::agreement::Agreement;
use crate::domain::ids::OrgId;
use crate::domain::movement::Movement;
use crate::domain::obligation::Obligation;
use crate::domain::workspace::Workspace;
use crate::limits;
use crate::retry::{Budget, retry_on_conflict};

/// What a migration found and did.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Migrated {
    /// How many items of the table were looked at, records and others.
    pub looked_at: u64,
    /// How many records of older versions were found, by their kind.
    pub older: BTreeMap<Kind, u64>,
    /// How many of them were rewritten. Others were rewritten or deleted meanwhile by someone else.
    pub rewritten: u64,
}

impl Migrated {
    /// How many records of older versions were found.
    #[must_use]
    pub fn older(&self) -> u64 {
        self.older.values().sum()
    }

    fn add(&mut self, page: Self) {
        self.looked_at += page.looked_at;
        self.rewritten += page.rewritten;
        for (kind, count) in page.older {
            *self.older.entry(kind).or_default() += count;
        }
    }
}

/// A walk over the table that rewrites what is older, a page at a time. It can be ended between any two pages, and after
/// each it knows where another one goes on.
#[derive(Debug)]
pub struct Migration<'a> {
    store: &'a Store,
    position: Option<Position>,
    items_per_page: i32,
    is_dry: bool,
    is_over: bool,
    /// What was done so far.
    pub done: Migrated,
}

impl<'a> Operator<'a> {
    /// A migration from a position on, or of the whole table. A dry one only counts.
    #[must_use]
    pub fn migration(self, from: Option<Position>, is_dry: bool) -> Migration<'a> {
        Migration {
            store: self.store(),
            position: from,
            items_per_page: limits::TABLE_PAGE_ITEMS,
            is_dry,
            is_over: false,
            done: Migrated::default(),
        }
    }
}

impl Migration<'_> {
    /// The same with pages of so many items.
    #[must_use]
    pub fn with_items_per_page(self, items_per_page: i32) -> Self {
        Self { items_per_page, ..self }
    }

    /// Where it goes on, once it has begun.
    #[must_use]
    pub fn position(&self) -> Option<&Position> {
        self.position.as_ref()
    }

    /// Does the next page. False at the end of the table.
    ///
    /// # Errors
    /// [`StoreError::Newer`] if a newer release wrote a record. After any error, the page is not counted, and doing it again
    /// does no harm.
    pub async fn step(&mut self) -> Result<bool, StoreError> {
        if self.is_over {
            return Ok(false);
        }
        let (page, next) = self.page().await?;
        self.done.add(page);
        self.is_over = next.is_none();
        self.position = next.or(self.position.take());
        Ok(!self.is_over)
    }

    async fn page(&self) -> Result<(Migrated, Option<Position>), StoreError> {
        let read = || self.store.page_of_table(self.position.as_ref(), self.items_per_page, Some(NEWEST));
        let PageOfTable { items, looked_at, next } =
            retry_on_conflict(Budget::attempts(limits::OPERATOR_ATTEMPTS_MAX), read).await?;
        let mut page = Migrated { looked_at, ..Migrated::default() };
        let mut found = Vec::new();
        for item in items {
            let item = versions::upgraded(item)?;
            let Some((key, kind)) = Key::of(&item).and_then(|key| Some((key.clone(), Kind::of(&key)?))) else {
                continue;
            };
            *page.older.entry(kind).or_default() += 1;
            found.push((key, kind));
        }
        if !self.is_dry {
            let rewritten = stream::iter(found).map(|(key, kind)| rewrite(self.store, key, kind));
            let rewritten: Vec<bool> = rewritten.buffer_unordered(limits::REWRITES_AT_ONCE).try_collect().await?;
            page.rewritten = rewritten.into_iter().map(u64::from).sum();
        }
        Ok((page, next))
    }
}

/// Rewrites a record if it is still there and older, from what it is now.
async fn rewrite(store: &Store, key: Key, kind: Kind) -> Result<bool, StoreError> {
    let (key, kind) = (&key, kind);
    retry_on_conflict(Budget::attempts(limits::OPERATOR_ATTEMPTS_MAX), || async move {
        let Some(item) = store.get(key.clone()).await? else { return Ok(false) };
        if versions::version_of(&item) >= versions::newest(Some(kind)) {
            return Ok(false);
        }
        match store.transact(rewritten(key, kind, item)?).await? {
            TransactionOutcome::Committed => Ok(true),
            TransactionOutcome::ConditionsFailed(_) => Err(StoreError::Conflict),
        }
    })
    .await
}

/// The changes that rewrite a record in the newest layout with its rows.
fn rewritten(key: &Key, kind: Kind, item: Item) -> Result<Vec<Change>, StoreError> {
    let unreadable = |what: &str| StoreError::Unreadable(format!("a record to migrate has no {what}"));
    let version: u64 = number(&item, VERSION).ok_or_else(|| unreadable("version"))?;
    let org = RecordKey::of(key).ok_or_else(|| unreadable("key of a record"))?.org;
    let mut item = versions::upgraded(item)?;
    let rows = match kind {
        Kind::Agreement => rows::<Agreement>(org, &item, agreements::rows_beside)?,
        Kind::Movement => rows::<Movement>(org, &item, |_, _| None)?,
        Kind::Obligation => rows::<Obligation>(org, &item, |_, _| None)?,
        Kind::Workspace => rows::<Workspace>(org, &item, workspaces::rows_beside)?,
    };
    item.insert(SCHEMA.to_owned(), AttributeValue::N(versions::newest(Some(kind)).to_string()));
    Ok(std::iter::once(Change::Replace(item, version)).chain(rows).collect())
}

/// The changes that write the rows of a record: that of its list, and those of other kinds.
fn rows<R: Record>(
    org: OrgId,
    item: &Item,
    beside: impl Fn(OrgId, &R) -> Option<Change>,
) -> Result<Vec<Change>, StoreError> {
    let record = R::decode(item.clone())?;
    Ok(std::iter::once(record::row_of(org, &record)).chain(beside(org, &record)).collect())
}
