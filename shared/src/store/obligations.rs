//! Obligations: one versioned record each, and a row in the list with ids and no names.
//!
//! Decision: obligations are created with the version of their agreement in which its promises came into force
//! ([`agreements`]), in one transaction. The version guards them: of two acts that bring it about, one is
//! recorded and creates them, and the other is decided again. Their ids follow from the agreement, and each must be free.

use super::change::{Change, Changes};
use super::item::{Item, from_item, to_item};
use super::keys::{self, Key, Rows};
use super::list::{Attribute, Order, RowFilter};
use super::participants::{part_of, stands};
use super::record::{self, Record, Row};
use super::{OrgStore, StoreError, Versioned, agreements};
use crate::domain::agreement::Agreement;
use crate::domain::call_context::CallContext;
use crate::domain::ids::{AgreementId, ObligationId, OrgId, WorkspaceId};
use crate::domain::member::ByMember;
use crate::domain::obligation::{EndedObligation, Obligation, ObligationState};
use crate::domain::participant::obligations::ActedOnObligation;
use crate::domain::time::Timestamp;
use crate::wire::page::{Filter, Page, list_query};
use crate::wire::text::Folded;

list_query! {
    /// Which obligations are listed.
    pub struct ObligationQuery {
        /// Of this workspace only.
        workspace_id: Option<WorkspaceId>,
        /// Of this agreement only.
        agreement_id: Option<AgreementId>,
        /// In this state only; empty means any.
        state: Filter<ObligationState>,
    }
}

/// The attribute of a row that holds the workspace.
pub(super) const WORKSPACE: Attribute<WorkspaceId> = Attribute::named("w");
/// The attribute of a row that holds the agreement.
pub(super) const AGREEMENT: Attribute<AgreementId> = Attribute::named("a");
/// The attribute of a row that holds the state, which doesn't depend on the time.
pub(super) const STATE: Attribute<ObligationState> = Attribute::named("st");
/// The attribute of a row that holds when the first occurrence is due for which nobody has said that it is done, passed or
/// not, in milliseconds since 1970.
pub(super) const NEXT_DUE: &str = "n";
/// The attribute of a row that holds who owes it.
pub(super) const PROMISORS: &str = "f";
/// The attribute of a row that holds to whom it is owed.
pub(super) const PROMISEES: &str = "o";

impl Record for Obligation {
    type Id = ObligationId;
    const ROWS: Rows = Rows::Obligations;

    fn key(org: OrgId, id: ObligationId) -> Key {
        keys::obligation(org, id)
    }

    fn record_id(&self) -> ObligationId {
        self.id()
    }

    fn row(&self) -> Row {
        // The ledger searches names; the list of obligations has no search.
        Row::searched_by(Folded::new(self.name().as_str()))
            .with(&WORKSPACE, &self.workspace_id())
            .with(&AGREEMENT, &self.agreement_id())
            .with(&STATE, &self.state())
            .with_number(NEXT_DUE, self.next_due_at().map(Timestamp::unix_ms))
            .with_ids(PROMISORS, self.parties().promisors().iter().map(|id| id.uuid()))
            .with_ids(PROMISEES, self.parties().promisees().iter().map(|id| id.uuid()))
    }

    fn encode(&self) -> Result<Item, StoreError> {
        record::encoded(self)
    }

    fn decode(item: Item) -> Result<Self, StoreError> {
        from_item(item)
    }
}

impl OrgStore {
    /// An obligation.
    pub async fn obligation(&self, id: ObligationId) -> Result<Option<Versioned<Obligation>>, StoreError> {
        self.find(id).await
    }

    /// The obligations with these ids. Missing ones are left out.
    pub(crate) async fn obligations(
        &self,
        ids: impl IntoIterator<Item = ObligationId>,
    ) -> Result<Vec<Versioned<Obligation>>, StoreError> {
        self.find_all(ids).await
    }

    /// A page of the obligations that a query asks for.
    pub async fn list_obligations(&self, query: &ObligationQuery) -> Result<Page<Obligation>, StoreError> {
        let rows = RowFilter::default()
            .equal(&WORKSPACE, query.workspace_id)
            .equal(&AGREEMENT, query.agreement_id)
            .equal(&STATE, query.state.get());
        self.list(Order::OldestFirst, &rows, query.page()).await
    }
}

/// The changes with which a member acts on an obligation. Its agreement must be as it was when they did.
pub(crate) fn act(
    call: &CallContext,
    (agreement, before): (&Versioned<Agreement>, &Versioned<Obligation>),
    after: &ByMember<Obligation>,
) -> Result<[Changes; 2], StoreError> {
    let acted = Changes::decided_by_member(call, after, record::replace(call.org(), before, after)?);
    Ok([acted.about(after.agreement_id(), None), agreements::check(call, agreement)])
}

/// The changes with which a participant acts on an obligation, with the receipt. The agreement and the participant's link
/// and consent must be as they were when they did.
pub(crate) fn record_act(
    call: &CallContext,
    (agreement, before): (&Versioned<Agreement>, &Versioned<Obligation>),
    acted: &ActedOnObligation,
) -> Result<[Changes; 2], StoreError> {
    let ActedOnObligation { receipt, obligation: after, .. } = acted;
    let mut changes = record::replace(call.org(), before, after)?;
    changes.push(Change::Create(to_item(keys::receipt(part_of(after.by()), receipt.id), receipt)?));
    changes.push(stands(after.by()));
    let acted = Changes::by_participant(call, after, changes).about(after.agreement_id(), None);
    Ok([acted, agreements::check(call, agreement)])
}

/// The changes with which the end of its agreement ends an obligation.
pub(crate) fn end(
    call: &CallContext,
    before: &Versioned<Obligation>,
    after: &EndedObligation,
) -> Result<Changes, StoreError> {
    Ok(Changes::decided(call, after.moment(), record::replace(call.org(), before, after)?))
}
