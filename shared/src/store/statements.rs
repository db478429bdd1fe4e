//! Bank statements: a record each, filed entries beside it, a unique item for its file, and remembered columns.
//!
//! Decision: a filed entry is an item beside its statement, written and removed with its evidence, so one query tells
//! the state of all. The [unique items of evidence](super::movements) hold across files.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;

use super::change::{Change, Changes, Update};
use super::item::{Item, VERSION, from_item, text, to_item};
use super::keys::{self, Key};
use super::list::RowFilter;
use super::query::Query;
use super::record::{self, Record, Row};
use super::record_kind::RecordKind;
use super::{OrgStore, StoreError, Versioned};
use crate::domain::call_context::CallContext;
use crate::domain::ids::{OrgId, StatementId};
use crate::domain::member::Member;
use crate::domain::movement::evidence::Evidence;
use crate::domain::statement::{FiledEntry, RememberedColumns, Statement};
use crate::wire::page::{Order, Page, PageRequest};
use crate::wire::text::Folded;

pub(super) const STATEMENT: &str = "statement_id";
const WAS_FILED: &str = "was_filed";

impl Record for Statement {
    type Id = StatementId;
    type Listed = Self;
    const KIND: RecordKind = RecordKind::Statement;

    fn record_id(&self) -> StatementId {
        self.id
    }

    fn row(&self) -> Row {
        Row::searched_by(Folded::new(self.file.name.as_str()))
    }

    fn encode(&self) -> Result<Item, StoreError> {
        record::encoded(self)
    }

    fn decode(item: Item) -> Result<Self, StoreError> {
        from_item(item)
    }
}

impl OrgStore {
    pub(crate) async fn statement(&self, id: StatementId) -> Result<Option<Versioned<Statement>>, StoreError> {
        self.find(id).await
    }

    pub(crate) async fn list_statements(&self, page: PageRequest) -> Result<Page<Statement>, StoreError> {
        self.list::<Statement>(Order::NewestFirst, &RowFilter::default(), page).await
    }

    pub(crate) async fn statements_named(
        &self,
        needle: &str,
        page: PageRequest,
    ) -> Result<Page<Statement>, StoreError> {
        self.list::<Statement>(Order::NewestFirst, &RowFilter::containing(Some(needle)), page).await
    }

    pub(crate) async fn statement_of_file(&self, sha256: &str) -> Result<Option<StatementId>, StoreError> {
        let found = self.store.get(keys::statement_file(self.org, sha256)).await?;
        Ok(found.and_then(|item| text(&item, STATEMENT)?.parse().ok()))
    }

    pub(crate) async fn filed_entries(&self, statement: StatementId) -> Result<Vec<FiledEntry>, StoreError> {
        let items = self
            .store
            .all(Query::of(keys::statement_items(self.org, statement)).beginning(keys::filed_entries()))
            .await?;
        items.into_iter().map(from_item).collect()
    }

    pub(crate) async fn remembered_columns(&self, header: &str) -> Result<Option<RememberedColumns>, StoreError> {
        self.store.get(keys::statement_columns(self.org, header)).await?.map(from_item).transpose()
    }

    pub(crate) async fn evidence_of_entries(&self, filed: &[FiledEntry]) -> Result<Vec<Evidence>, StoreError> {
        let key = |entry: &FiledEntry| keys::evidence(self.org, entry.movement_id, entry.evidence_id);
        let keys: Vec<Key> = filed.iter().map(key).collect();
        self.store.get_all(&keys).await?.into_iter().map(from_item).collect()
    }
}

/// Uploads a member's statement. Its id and file must be new.
pub(crate) fn create(call: &CallContext, by: &Member, statement: &Statement) -> Result<Changes, StoreError> {
    let org = call.org();
    let mut changes = record::create(org, statement)?;
    changes.push(Change::Create(file_item(org, statement)));
    Ok(Changes::by_member(call, by, changes))
}

pub(super) fn file_item(org: OrgId, statement: &Statement) -> Item {
    let mut file = keys::statement_file(org, &statement.file.content.sha256).into_item();
    file.insert(STATEMENT.to_owned(), AttributeValue::S(statement.id.to_string()));
    file
}

pub(crate) fn read(
    call: &CallContext,
    by: &Member,
    before: &Versioned<Statement>,
    after: &Statement,
    columns: &RememberedColumns,
) -> Result<Changes, StoreError> {
    let mut changes = record::replace(call.org(), before, after)?;
    // Remembers the latest choice.
    changes.push(Change::Put(to_item(keys::statement_columns(call.org(), &columns.header), columns)?));
    Ok(Changes::by_member(call, by, changes))
}

/// Discards a statement of which nothing was filed: its record, row, and unique item of the file.
pub(crate) fn discard(call: &CallContext, by: &Member, statement: &Versioned<Statement>) -> Changes {
    let org = call.org();
    let mut changes = Vec::from(record::delete(org, statement));
    changes.push(Change::Delete(keys::statement_file(org, &statement.file.content.sha256)));
    Changes::by_member(call, by, changes)
}

/// The movement's version and the entry's unique item guard it.
pub(super) fn filed_entry(org: OrgId, evidence: &Evidence) -> Result<Vec<Change>, StoreError> {
    let Some(entry) = evidence.entry().filter(|_| !evidence.is_accepted()) else { return Ok(Vec::new()) };
    let key = keys::filed_entry(org, entry.statement_id, entry.number);
    if !evidence.is_undecided() {
        return Ok(vec![Change::Delete(key)]);
    }
    let (movement_id, evidence_id) = (evidence.movement_id(), evidence.id());
    let filed = FiledEntry { number: entry.number, movement_id, evidence_id };
    Ok(vec![Change::Put(to_item(key, &filed)?), was_filed(keys::statement(org, entry.statement_id))])
}

/// The statement must still exist, and nobody who saw it without filed entries may discard it or choose other columns.
fn was_filed(statement: Key) -> Change {
    Change::Update(Update {
        key: statement,
        expression: "SET #filed = :filed ADD #version :one",
        condition: "attribute_exists(#pk)",
        names: vec![("#pk", keys::PARTITION), ("#filed", WAS_FILED), ("#version", VERSION)],
        values: vec![(":filed", AttributeValue::Bool(true)), (":one", AttributeValue::N("1".to_owned()))],
    })
}

pub(super) fn by_key(items: Vec<Item>) -> HashMap<Key, Item> {
    items.into_iter().filter_map(|item| Some((Key::of(&item)?, item))).collect()
}
