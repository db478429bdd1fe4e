//! Agreements: one versioned record each, with its stages, gates, participants and documents; a row in the list; and an
//! entry of the due index for the next moment at which a countdown or its term ends.

use super::change::{Change, Changes};
use super::item::{Item, from_item};
use super::keys::{self, Due, Key, Rows};
use super::list::{Attribute, Order, RowFilter};
use super::record::{self, Record, Row};
use super::{OrgStore, StoreError, Versioned};
use crate::domain::agreement::draft::Draft;
use crate::domain::agreement::progress::AdvancedAgreement;
use crate::domain::agreement::{Agreement, Lifecycle};
use crate::domain::call_context::CallContext;
use crate::domain::ids::{AgreementId, OrgId, WorkspaceId};
use crate::domain::member::ByMember;
use crate::domain::time::Timestamp;
use crate::limits;
use crate::wire::page::{Filter, Page, Search, list_query};
use crate::wire::text::Folded;

list_query! {
    /// Which agreements are listed.
    pub struct AgreementQuery {
        /// Of this workspace only.
        workspace_id: Option<WorkspaceId>,
        /// In this state only; empty means any.
        lifecycle: Filter<Lifecycle>,
        /// A part of the name, whatever its case or composition.
        search: Search<{ limits::AGREEMENT_SEARCH_CHARS_MAX }>,
    }
}

/// The attribute of a row that holds the workspace.
const WORKSPACE: Attribute<WorkspaceId> = Attribute::named("w");
/// The attribute of a row that holds the lifecycle.
const LIFECYCLE: Attribute<Lifecycle> = Attribute::named("l");

impl Record for Agreement {
    type Id = AgreementId;
    const ROWS: Rows = Rows::Agreements;

    fn key(org: OrgId, id: AgreementId) -> Key {
        keys::agreement(org, id)
    }

    fn record_id(&self) -> AgreementId {
        self.id()
    }

    fn row(&self) -> Row {
        Row::searched_by(Folded::new(self.name.as_str()))
            .with(&WORKSPACE, &self.workspace_id)
            .with(&LIFECYCLE, &self.lifecycle())
    }

    fn encode(&self) -> Result<Item, StoreError> {
        record::encoded(self)
    }

    fn decode(item: Item) -> Result<Self, StoreError> {
        from_item(item)
    }
}

impl OrgStore {
    /// An agreement.
    pub async fn agreement(&self, id: AgreementId) -> Result<Option<Versioned<Agreement>>, StoreError> {
        self.find(id).await
    }

    /// A page of the agreements that a query asks for.
    pub async fn list_agreements(&self, query: &AgreementQuery) -> Result<Page<Agreement>, StoreError> {
        let rows = RowFilter::containing(query.search.needle())
            .equal(&WORKSPACE, query.workspace_id)
            .equal(&LIFECYCLE, query.lifecycle.get());
        self.list(Order::OldestFirst, &rows, query.page()).await
    }
}

/// The changes that create an agreement.
pub fn create(call: &CallContext, draft: &Draft) -> Result<Changes, StoreError> {
    Ok(Changes::of(call, record::create::<Agreement>(call.org(), draft)?).about(draft.id(), None))
}

/// The changes from one state of a draft to the next.
///
/// # Errors
/// When the record before is another agreement, or not a draft.
pub fn edit(call: &CallContext, before: &Versioned<Agreement>, after: &Draft) -> Result<Changes, StoreError> {
    if before.lifecycle() != Lifecycle::Draft {
        return Err(StoreError::Failed("an edit of what is not a draft".to_owned()));
    }
    Ok(Changes::of(call, next_version(call, before, after)?).about(after.id(), None))
}

/// The changes that execute what a member confirmed.
pub fn execute(
    call: &CallContext,
    before: &Versioned<Agreement>,
    after: &ByMember<Agreement>,
) -> Result<Changes, StoreError> {
    Ok(Changes::decided_by_member(call, after, next_version(call, before, after)?).about(after.id(), None))
}

/// The changes that record how far time has advanced an agreement.
pub fn advance(
    call: &CallContext,
    before: &Versioned<Agreement>,
    after: &AdvancedAgreement,
) -> Result<Changes, StoreError> {
    Ok(Changes::decided(call, after.moment(), next_version(call, before, after)?).about(after.id(), None))
}

fn next_version(
    call: &CallContext,
    before: &Versioned<Agreement>,
    after: &Agreement,
) -> Result<Vec<Change>, StoreError> {
    let org = call.org();
    let mut changes = record::replace(org, before, after)?;
    let (was_due, is_due) = (before.next_due(), after.next_due());
    if was_due != is_due {
        changes.extend(was_due.map(|at| Change::Delete(due(org, after.id(), at))));
        changes.extend(is_due.map(|at| Change::Put(due(org, after.id(), at).into_item())));
    }
    Ok(changes)
}

fn due(org: OrgId, id: AgreementId, at: Timestamp) -> Key {
    keys::due(at, Due::Agreement, org, id.uuid())
}

/// The check that an agreement has not changed.
pub fn check(call: &CallContext, agreement: &Versioned<Agreement>) -> Changes {
    Changes::of(call, [record::check(call.org(), agreement)])
}
