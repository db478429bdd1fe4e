//! Obligations: one versioned record each, and a row in the list with ids and no names.
//!
//! Decision: obligations are created with the version of their agreement in which its promises came into force
//! ([`agreements`]), in one transaction. The version guards them: of two acts that bring it about, one is
//! recorded and creates them, and the other is decided again. Their ids follow from the agreement, and each must be free.

use std::collections::BTreeSet;

use super::change::{Change, Changes};
use super::item::{Item, from_item, ids, number, text, to_item};
use super::keys::{self, Key, Rows};
use super::list::{Attribute, Order, RowFilter};
use super::participants::{part_of, stands};
use super::record::{self, Record, Row};
use super::{OrgStore, StoreError, Versioned, agreements};
use crate::domain::actor::ActorType;
use crate::domain::agreement::Agreement;
use crate::domain::call_context::CallContext;
use crate::domain::ids::{AgreementId, MemberId, ObligationId, OrgId, WorkspaceId};
use crate::domain::member::ByMember;
use crate::domain::obligation::{EndedObligation, Obligation, ObligationState, Word};
use crate::domain::participant::obligations::ActedOnObligation;
use crate::domain::time::Timestamp;
use crate::wire::page::{Filter, Page, PageRequest, list_query};
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
/// The attribute of a row that holds how many claims wait for confirmation; none if none does.
const CLAIMS: &str = "c";
/// The attribute of a row that holds the members who recorded such claims, each once for each.
const CLAIMED_BY: &str = "cm";

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
        let row = Row::searched_by(Folded::new(self.name().as_str()))
            .with(&WORKSPACE, &self.workspace_id())
            .with(&AGREEMENT, &self.agreement_id())
            .with(&STATE, &self.state())
            .with_number(NEXT_DUE, self.next_due_at().map(Timestamp::unix_ms))
            .with_ids(PROMISORS, self.parties().promisors().iter().map(|id| id.uuid()))
            .with_ids(PROMISEES, self.parties().promisees().iter().map(|id| id.uuid()));
        match self.waiting_claims().count() {
            0 => row,
            claims => {
                let is_of_member = |claim: &&Word| claim.by.actor_type == ActorType::Member;
                let members = self.waiting_claims().filter(is_of_member).filter_map(|claim| claim.by.id);
                row.with_number(CLAIMS, i64::try_from(claims).ok()).with_ids(CLAIMED_BY, members)
            }
        }
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

    /// A page of the obligations whose names contain a folded needle.
    pub(crate) async fn obligations_named(
        &self,
        needle: &str,
        page: PageRequest,
    ) -> Result<Page<Obligation>, StoreError> {
        self.list(Order::OldestFirst, &RowFilter::containing(Some(needle)), page).await
    }

    /// The same, those that are due first first: what is overdue, what is due next, and then all for which nothing is due. It
    /// comes with their agreements, which the rows name, so that both are read at once.
    pub(crate) async fn obligations_by_due(
        &self,
        query: &ObligationQuery,
    ) -> Result<(Page<Obligation>, Vec<Versioned<Agreement>>), StoreError> {
        let rows = RowFilter::default()
            .equal(&WORKSPACE, query.workspace_id)
            .equal(&AGREEMENT, query.agreement_id)
            .equal(&STATE, query.state.get());
        let order = (NEXT_DUE, AGREEMENT.name);
        let (ids, total) = self.slice_by_number(Rows::Obligations, order, &rows, query.page()).await?;
        let agreements: BTreeSet<AgreementId> = ids.iter().map(|(_, agreement)| (*agreement).into()).collect();
        let (found, agreements) =
            tokio::try_join!(self.obligations(ids.iter().map(|(id, _)| (*id).into())), self.agreements(agreements),)?;
        let found = found.into_iter().map(Versioned::into_inner).collect();
        Ok((Page::new(found, total, query.page()), agreements))
    }

    /// The obligations of which something is due or waits for confirmation, from one pass over the rows, the oldest first.
    pub(crate) async fn open_obligations(&self) -> Result<Vec<OpenObligation>, StoreError> {
        let mut found = Vec::new();
        let attributes = [keys::SORT, AGREEMENT.name, NEXT_DUE, CLAIMS, CLAIMED_BY];
        let partition = keys::rows(self.org, Rows::Obligations);
        self.store
            .scan_partition(&partition, Order::OldestFirst, &attributes, |row| found.extend(open_obligation(&row)))
            .await?;
        Ok(found)
    }
}

/// An obligation of which something is due or waits for confirmation, as its row has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpenObligation {
    /// The obligation.
    pub id: ObligationId,
    /// Its agreement.
    pub agreement: AgreementId,
    /// When the first occurrence is due for which nobody has said that it is done, in milliseconds since 1970.
    pub next_due_ms: Option<i64>,
    /// How many claims wait for confirmation.
    pub claims: usize,
    /// The members who recorded such claims, each once for each.
    pub claimed_by: Vec<MemberId>,
}

/// The obligation of a row, unless nothing is due and no claim waits.
fn open_obligation(row: &Item) -> Option<OpenObligation> {
    let found = OpenObligation {
        id: text(row, keys::SORT)?.parse().ok()?,
        agreement: text(row, AGREEMENT.name)?.parse().ok()?,
        next_due_ms: number(row, NEXT_DUE),
        claims: number(row, CLAIMS).unwrap_or_default(),
        claimed_by: ids(row, CLAIMED_BY).unwrap_or_default().into_iter().map(Into::into).collect(),
    };
    (found.next_due_ms.is_some() || found.claims > 0).then_some(found)
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
