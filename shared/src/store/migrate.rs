//! Rewrites records of older schema versions, for `ops migrate`.
//!
//! Decision: a rewritten record has a version of its own, as after any change, so that lists in memory take its new row.
//! The same transaction rewrites its rows; a call that has read the record before is decided again.

use std::collections::BTreeMap;

use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::{StreamExt, TryStreamExt, stream};
use serde::{Deserialize, Serialize};

use super::change::Change;
use super::failure::TransactionOutcome;
use super::item::{Item, VERSION, number};
use super::keys::Key;
use super::operator::Operator;
use super::record::{self, Record};
use super::record_kind::{Place, RecordKind as Kind};
use super::versions::{self, NEWEST};
use super::whole_table::{PageOfTable, Position};
use super::{Store, StoreError, Versioned, agreements};
use crate::domain::agreement::Agreement;
use crate::domain::contact::Contact;
use crate::domain::ids::OrgId;
use crate::domain::movement::Movement;
use crate::domain::obligation::Obligation;
use crate::domain::proposal::Proposal;
use crate::domain::statement::Statement;
use crate::domain::workspace::Workspace;
use crate::limits;
use crate::retry::{Budget, retry_on_conflict};

/// What a migration found and did.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Migrated {
    /// How many items of the table were inspected, records and others.
    pub looked_at: u64,
    /// How many records of older versions were found, by their kind.
    pub older: BTreeMap<Kind, u64>,
    /// How many of them were rewritten. Someone else rewrote or deleted the others meanwhile.
    pub rewritten: u64,
}

impl Migrated {
    /// How many records of older versions were found.
    #[must_use]
    pub fn older(&self) -> u64 {
        self.older.values().sum()
    }

    /// Adds what was found and done in another page.
    pub fn add(&mut self, page: Self) {
        self.looked_at += page.looked_at;
        self.rewritten += page.rewritten;
        for (kind, count) in page.older {
            *self.older.entry(kind).or_default() += count;
        }
    }
}

impl Operator<'_> {
    /// Rewrites or counts (`is_dry`) the older records of the next page; repeatable. Fails on newer ones.
    pub async fn migrate_page(
        self,
        behind: Option<&Position>,
        items_max: i32,
        is_dry: bool,
    ) -> Result<(Migrated, Option<Position>), StoreError> {
        let store = self.store();
        let read = || store.page_of_table(behind, items_max, Some(NEWEST));
        let PageOfTable { items, looked_at, next } =
            retry_on_conflict(Budget::attempts(limits::OPERATOR_ATTEMPTS_MAX), read).await?;
        let mut page = Migrated { looked_at, ..Migrated::default() };
        let mut found = Vec::new();
        for item in items {
            let Some((key, kind)) = Key::of(&item).zip(versions::older(&item)?) else { continue };
            *page.older.entry(kind).or_default() += 1;
            found.push((key, kind));
        }
        if !is_dry {
            let rewritten = stream::iter(found).map(|(key, kind)| rewrite(store, key, kind));
            let rewritten: Vec<bool> = rewritten.buffer_unordered(limits::REWRITES_AT_ONCE).try_collect().await?;
            page.rewritten = rewritten.into_iter().map(u64::from).sum();
        }
        Ok((page, next))
    }
}

/// Rewrites a record's current state, if it is still there and older.
async fn rewrite(store: &Store, key: Key, kind: Kind) -> Result<bool, StoreError> {
    let (key, kind) = (&key, kind);
    retry_on_conflict(Budget::attempts(limits::OPERATOR_ATTEMPTS_MAX), || async move {
        let Some(item) = store.get(key.clone()).await? else { return Ok(false) };
        if versions::older(&item)?.is_none() {
            return Ok(false);
        }
        match store.transact(rewritten(key, kind, item)?).await? {
            TransactionOutcome::Committed => Ok(true),
            TransactionOutcome::ConditionsFailed(_) => Err(StoreError::Conflict),
        }
    })
    .await
}

fn rewritten(key: &Key, kind: Kind, item: Item) -> Result<Vec<Change>, StoreError> {
    let unreadable = |what: &str| StoreError::Unreadable(format!("a record to migrate has no {what}"));
    let version: u64 = number(&item, VERSION).ok_or_else(|| unreadable("version"))?;
    let org = Place::of(key).and_then(|place| place.org).ok_or_else(|| unreadable("key of a record"))?;
    let mut item = versions::upgraded(item)?;
    item.insert(VERSION.to_owned(), AttributeValue::N((version + 1).to_string()));
    let mut changes = match kind {
        Kind::Agreement => {
            let agreement = record::decode::<Agreement>(item.clone())?;
            let documents = agreements::write_documents_row(org, &agreement, agreement.version(), agreement.stamp());
            vec![row_of(org, &agreement), documents]
        }
        Kind::Contact => vec![row_of(org, &record::decode::<Contact>(item.clone())?)],
        Kind::Movement => vec![row_of(org, &record::decode::<Movement>(item.clone())?)],
        Kind::Obligation => vec![row_of(org, &record::decode::<Obligation>(item.clone())?)],
        Kind::Proposal => vec![row_of(org, &record::decode::<Proposal>(item.clone())?)],
        Kind::Statement => vec![row_of(org, &record::decode::<Statement>(item.clone())?)],
        Kind::Workspace => vec![row_of(org, &record::decode::<Workspace>(item.clone())?)],
        _ => return Err(unreadable("kind with a row")),
    };
    changes.push(Change::Replace(item, version));
    Ok(changes)
}

fn row_of<R: Record>(org: OrgId, record: &Versioned<R>) -> Change {
    record::row_of(org, &**record, record.version(), record.stamp())
}
