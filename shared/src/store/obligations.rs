//! Obligations: one versioned record each with its older occurrences beside it, and a row in the list with ids and no
//! names.
//!
//! Decision: the transaction that brings an agreement's promises into force ([`agreements`]) creates its obligations.
//! The version guards them: of two such acts one is decided again. Their ids follow from the agreement.

use std::collections::{BTreeSet, HashSet};

use super::agreements::KnownAgreements;
use super::change::{Change, Changes};
use super::item::{Item, from_item, to_item};
use super::keys::{self, Rows};
use super::list::{HeldRow, RowFilter, Slice};
use super::obligation_row::ObligationRow;
use super::participants::{part_of, stands};
use super::query::Query;
use super::record::{self, Record, Row};
use super::record_kind::RecordKind;
use super::{OrgStore, StoreError, Versioned, agreements};
use crate::domain::agreement::Agreement;
use crate::domain::agreement::acts::EditedPart;
use crate::domain::call_context::CallContext;
use crate::domain::ids::{AgreementId, MemberId, ObligationId, OrgId, WorkspaceId};
use crate::domain::member::ObligationChange;
use crate::domain::obligation::{EndedObligation, Obligation, ObligationState, OlderOccurrence};
use crate::domain::participant::obligations::ActedOnObligation;
use crate::wire::page::{Filter, Order, Page, PageRequest, list_query};

list_query! {
    /// Which obligations are listed.
    pub struct ObligationQuery {
        /// Of this workspace only.
        workspace_id: Option<WorkspaceId>,
        /// Of this agreement only.
        agreement_id: Option<AgreementId>,
        /// In this state only. With a satisfied occurrence and another one due it is `open`.
        state: Filter<ObligationState>,
    }
}

impl Record for Obligation {
    type Id = ObligationId;
    type Listed = Self;
    const KIND: RecordKind = RecordKind::Obligation;

    fn record_id(&self) -> ObligationId {
        self.id()
    }

    fn row(&self) -> Row {
        ObligationRow::write(self)
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

    /// The obligation with its older occurrences. Reads nothing if all are in the record.
    pub(crate) async fn with_older(&self, obligation: Obligation) -> Result<Obligation, StoreError> {
        if obligation.older_unread() == 0 {
            return Ok(obligation);
        }
        let query = Query::of(keys::obligation_items(self.org, obligation.id())).beginning(keys::older_occurrences());
        let items = self.store.all(query).await?;
        let older = items.into_iter().map(from_item).collect::<Result<Vec<OlderOccurrence>, _>>()?;
        Ok(obligation.with_older(older))
    }

    /// The obligations with these ids. Skips missing ones.
    pub(crate) async fn obligations(
        &self,
        ids: impl IntoIterator<Item = ObligationId>,
    ) -> Result<Vec<Versioned<Obligation>>, StoreError> {
        self.find_all(ids).await
    }

    /// A page of the obligations that a query asks for, with their agreements, read at once.
    pub(crate) async fn list_obligations(
        &self,
        query: &ObligationQuery,
    ) -> Result<(Page<Obligation>, Vec<Versioned<Agreement>>), StoreError> {
        let KnownAgreements { ended, .. } = self.known_agreements(None, query.asks_for_ended()).await?;
        let is_wanted =
            |row: HeldRow<'_>| ObligationRow::read(row).is_some_and(|row| query.lets_through(&told(row, &ended)));
        let is_filtered = query.workspace_id.is_some() || query.agreement_id.is_some() || query.state.get().is_some();
        let rows = RowFilter::default();
        let rows = if is_filtered { rows.matching(is_wanted) } else { rows };
        let ids = |row: HeldRow<'_>| ObligationRow::read(row).map(|row| (row.id, row.agreement_id));
        let Slice { found, total } =
            self.slice_of(Rows::Obligations, Order::OldestFirst, &rows, query.page(), ids).await?;
        let found = found.into_iter().collect::<Option<Vec<_>>>().ok_or_else(unreadable_row)?;
        self.with_agreements(Page::new(found, total, query.page())).await
    }

    /// The obligations of a page with their agreements, read at once.
    async fn with_agreements(
        &self,
        Page { data, pagination }: Page<(ObligationId, AgreementId)>,
    ) -> Result<(Page<Obligation>, Vec<Versioned<Agreement>>), StoreError> {
        let agreements: BTreeSet<AgreementId> = data.iter().map(|(_, agreement)| *agreement).collect();
        let (found, agreements) =
            tokio::try_join!(self.obligations(data.into_iter().map(|(id, _)| id)), self.agreements(agreements))?;
        let data = found.into_iter().map(Versioned::into_inner).collect();
        Ok((Page { data, pagination }, agreements))
    }

    pub(crate) async fn obligations_named(
        &self,
        needle: &str,
        page: PageRequest,
    ) -> Result<Page<Obligation>, StoreError> {
        self.list::<Obligation>(Order::OldestFirst, &RowFilter::containing(Some(needle)), page).await
    }

    /// Obligations in an order, by due time those with nothing due last, with their agreements, read at once.
    ///
    /// Decision: people who filter by `satisfied` see all that waits for confirmation; clients get the record's state.
    pub(crate) async fn obligations_for_people(
        &self,
        order: Order,
        query: &ObligationQuery,
    ) -> Result<(Page<Obligation>, Vec<Versioned<Agreement>>), StoreError> {
        let mut rows = Vec::new();
        let (known, ()) = tokio::try_join!(
            self.known_agreements(None, true),
            self.each_row(Rows::Obligations, |row| {
                let name = if order == Order::ByName { row.searched().to_owned() } else { String::new() };
                rows.push(ObligationRow::read(row).map(|row| (name, row)));
            }),
        )?;
        let rows: Option<Vec<(String, ObligationRow)>> = rows.into_iter().collect();
        let rows = rows.ok_or_else(unreadable_row)?;
        let rows = rows.into_iter().map(|(name, row)| (name, told(row, &known.ended)));
        let mut rows: Vec<(String, ObligationRow)> = rows.filter(|(_, row)| query.lets_people_see(row)).collect();
        match order {
            Order::OldestFirst => {}
            Order::NewestFirst | Order::ByAmount => rows.reverse(),
            Order::ByName => rows.sort_by(|(one, _), (other, _)| one.cmp(other)),
            Order::ByDue => rows.sort_by_key(|(_, row)| (row.next_due_ms.unwrap_or(i64::MAX), row.id)),
        }
        let rows = rows.iter().map(|(_, row)| (row.id, row.agreement_id));
        self.with_agreements(Page::slice(rows, query.page())).await
    }

    /// Obligations with something due or waiting for confirmation, from their rows, oldest first.
    pub(crate) async fn open_obligations(&self) -> Result<Vec<OpenObligation>, StoreError> {
        let mut found = Vec::new();
        self.each_row(Rows::Obligations, |row| found.extend(open_obligation(row))).await?;
        Ok(found)
    }
}

impl ObligationQuery {
    /// Whether it asks for a state that an agreement's end brings obligations into or out of.
    fn asks_for_ended(&self) -> bool {
        self.state.get().is_some_and(|state| state != ObligationState::Confirmed)
    }

    fn lets_through(&self, row: &ObligationRow) -> bool {
        self.is_of_parts(row) && self.state.get().is_none_or(|wanted| row.state == wanted)
    }

    /// Like the clients' filter, but any claim that waits for confirmation matches on pages.
    fn lets_people_see(&self, row: &ObligationRow) -> bool {
        match self.state.get() {
            Some(ObligationState::Satisfied) => self.is_of_parts(row) && row.claims > 0,
            _ => self.lets_through(row),
        }
    }

    fn is_of_parts(&self, row: &ObligationRow) -> bool {
        self.workspace_id.is_none_or(|wanted| row.workspace_id == wanted)
            && self.agreement_id.is_none_or(|wanted| row.agreement_id == wanted)
    }
}

fn unreadable_row() -> StoreError {
    StoreError::Unreadable("decoding a row of an obligation".to_owned())
}

fn told(row: ObligationRow, ended: &HashSet<AgreementId>) -> ObligationRow {
    if ended.contains(&row.agreement_id) { row.told_at_end() } else { row }
}

/// An obligation with something due or waiting for confirmation, as its row has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpenObligation {
    pub id: ObligationId,
    pub agreement: AgreementId,
    /// The due time of the first occurrence that nobody has said is done, in milliseconds since 1970.
    pub next_due_ms: Option<i64>,
    pub claims: usize,
    /// The members who recorded such claims, once for each claim.
    pub claimed_by: Vec<MemberId>,
}

/// None if nothing is due and no claim waits.
fn open_obligation(row: HeldRow<'_>) -> Option<OpenObligation> {
    let ObligationRow { id, agreement_id: agreement, next_due_ms, claims, claimed_by, .. } = ObligationRow::read(row)?;
    let claims = usize::try_from(claims).unwrap_or(usize::MAX);
    let found = OpenObligation { id, agreement, next_due_ms, claims, claimed_by };
    (found.next_due_ms.is_some() || found.claims > 0).then_some(found)
}

/// Writes the record, and beside it what left it. The version guards both.
fn replace(org: OrgId, before: &Versioned<Obligation>, after: &Obligation) -> Result<Vec<Change>, StoreError> {
    let mut changes = record::replace(org, before, after)?;
    for left in after.older().iter().filter(|left| !before.older().contains(left)) {
        let key = keys::older_occurrence(org, after.id(), left.sequence());
        changes.push(Change::Create(to_item(key, left)?));
    }
    Ok(changes)
}

/// A member's act on an obligation. Its agreement must be as it was, and changes only if its evidence gets a file.
pub(crate) fn act(
    call: &CallContext,
    agreement: &Versioned<Agreement>,
    before: &Versioned<Obligation>,
    change: &ObligationChange,
) -> Result<[Changes; 2], StoreError> {
    let after = &change.obligation;
    let acted = Changes::decided_by_member(call, after, replace(call.org(), before, after)?);
    let followed = match &change.agreement {
        Some(with_file) => agreements::execute(call, agreement, with_file)?,
        None => agreements::check(call, agreement),
    };
    Ok([about(acted, after), followed])
}

/// A participant's act, with the receipt. The agreement and the participant's link and consent must be as they were.
pub(crate) fn record_act(
    call: &CallContext,
    agreement: &Versioned<Agreement>,
    before: &Versioned<Obligation>,
    acted: &ActedOnObligation,
) -> Result<[Changes; 2], StoreError> {
    let ActedOnObligation { receipt, obligation: after, .. } = acted;
    let mut changes = replace(call.org(), before, after)?;
    changes.push(Change::Create(to_item(keys::receipt(part_of(after.by()), receipt.id), receipt)?));
    changes.push(stands(after.by()));
    let changes = Changes::by_participant(call, after, changes);
    let followed = match &acted.agreement {
        Some(with_file) => agreements::record_act(call, agreement, with_file)?,
        None => agreements::check(call, agreement),
    };
    Ok([about(changes, after), followed])
}

/// The agreement's history names the obligation.
fn about(changes: Changes, obligation: &Obligation) -> Changes {
    let part = EditedPart::Promise { name: obligation.name().clone() };
    changes.about_part(obligation.agreement_id(), Some(part))
}

pub(crate) fn end(
    call: &CallContext,
    before: &Versioned<Obligation>,
    after: &EndedObligation,
) -> Result<Changes, StoreError> {
    Ok(Changes::decided(call, after.moment(), record::replace(call.org(), before, after)?))
}
