//! The ledger has no rows of its own: it reads those of agreements, movements and obligations side by side.
//!
//! - Decision: the ledger derives from the lists' rows. Its own would cost two more write units per change, and copies
//!   of the agreement's kind and participants in each payment and obligation.
//! - Decision: rows name participants, and the agreement's row their contacts, so a search finds a new name at once.
//! - Decision: what ends with an agreement is shown as ended as soon as the agreement's row says so.
//! - Decision: the three lists are not read at one moment, but each has what was acknowledged before the call began.

use std::collections::{BTreeSet, HashMap, HashSet};

use uuid::Uuid;

use super::keys::Rows;
use super::list::{HeldRow, SHELF};
use super::movement_row::MovementRow;
use super::obligation_row::ObligationRow;
use super::packed::ShortId;
use super::{OrgStore, StoreError, agreements};
use crate::domain::agreement::{AgreementKind, Lifecycle};
use crate::domain::day::Day;
use crate::domain::ids::{AgreementId, ContactId, MovementId, WorkspaceId};
use crate::domain::ledger::{LedgerParties, LedgerPayment, LedgerProduct, LedgerRowType, LedgerState, is_agreed};
use crate::domain::movement::source::Side;
use crate::domain::movement::state::MovementState;
use crate::domain::time::Timestamp;
use crate::limits;
use crate::text::movements::UNTITLED;
use crate::wire::page::{Flag, Search, Shelf, list_query};
use crate::wire::text::Folded;

list_query! {
    /// Which rows of the ledger are listed.
    pub struct LedgerQuery {
        /// Of this product only.
        product: Option<LedgerProduct>,
        /// Of this workspace only.
        workspace_id: Option<WorkspaceId>,
        /// A part of the title, or of the name of a counterparty, in any letter case.
        search: Search<{ limits::SEARCH_CHARS_MAX }>,
        /// Whether finished rows are listed too.
        include_done: Flag<true>,
    }
}

/// How much is read of each row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LedgerDetail {
    Filtered,
    /// Also what orders and adds up the rows.
    Full,
    /// Also their titles.
    Titled,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LedgerEntry {
    pub id: Uuid,
    pub row_type: LedgerRowType,
    /// May be the thing itself.
    pub agreement_id: AgreementId,
    pub state: Option<LedgerState>,
    /// In force or completed.
    pub is_agreed: bool,
    pub parties: Option<LedgerParties>,
    pub due: Option<LedgerDue>,
    pub payment: Option<LedgerPayment>,
    /// Folded. Empty if not asked for.
    pub title: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LedgerDue {
    At(Timestamp),
    /// By the end of this day in the organization's zone.
    By(Day),
}

#[derive(Debug, Default)]
pub(crate) struct LedgerRows {
    rows: Vec<ReadRow>,
    /// None if nothing needs them.
    agreements: Option<HashMap<AgreementId, AgreementFacts>>,
    /// The contacts whose names have the needle. None without a search.
    named: Option<HashSet<ContactId>>,
}

/// A row with its named participants. Their contacts are known once all agreements are.
#[derive(Debug)]
struct ReadRow {
    entry: LedgerEntry,
    is_titled: bool,
    /// Whether it ends when its agreement is cancelled or expires.
    ends_with_agreement: bool,
    by: Vec<ShortId>,
    to: Vec<ShortId>,
}

impl ReadRow {
    fn of(id: Uuid, row_type: LedgerRowType, agreement_id: AgreementId) -> Self {
        let entry = LedgerEntry {
            id,
            row_type,
            agreement_id,
            state: None,
            is_agreed: false,
            parties: None,
            due: None,
            payment: None,
            title: String::new(),
        };
        Self { entry, is_titled: false, ends_with_agreement: false, by: Vec::new(), to: Vec::new() }
    }

    /// The row as shown once its agreement has ended early.
    fn told_at_end(mut self) -> Self {
        if self.ends_with_agreement {
            self.entry.state = Some(LedgerState::Cancelled);
            self.entry.payment =
                self.entry.payment.map(|payment| LedgerPayment { state: payment.state.told_at_end(), ..payment });
            // A payment keeps its day; nothing of a cancelled obligation is due.
            self.entry.due = self.entry.due.filter(|_| self.entry.row_type == LedgerRowType::Movement);
        }
        self
    }
}

#[derive(Debug)]
struct AgreementFacts {
    workspace: WorkspaceId,
    product: LedgerProduct,
    is_agreed: bool,
    has_ended_early: bool,
    is_archived: bool,
    contacts: Vec<ContactId>,
    /// In the order of the contacts; empty where no row names any.
    participants: Vec<ShortId>,
}

impl AgreementFacts {
    fn of(row: HeldRow<'_>) -> Option<Self> {
        let kind = row.text(agreements::KIND.name).and_then(AgreementKind::parse)?;
        let lifecycle = row.text(agreements::LIFECYCLE.name).and_then(Lifecycle::parse)?;
        Some(Self {
            workspace: row.text(agreements::WORKSPACE.name)?.parse().ok()?,
            product: kind.into(),
            is_agreed: is_agreed(lifecycle),
            has_ended_early: lifecycle.has_ended_early(),
            is_archived: row.bytes(SHELF.name).is_some(),
            contacts: row.ids(agreements::CONTACTS)?.into_iter().map(Into::into).collect(),
            participants: row.ids(agreements::PARTICIPANTS).unwrap_or_default().into_iter().map(ShortId::of).collect(),
        })
    }

    fn contacts_of(&self, participants: &[ShortId]) -> Vec<ContactId> {
        let contact = |id: &ShortId| {
            let at = self.participants.iter().position(|participant| participant == id)?;
            self.contacts.get(at).copied()
        };
        participants.iter().filter_map(contact).collect()
    }
}

#[derive(Clone, Copy)]
struct Wanted<'a> {
    needle: Option<&'a str>,
    detail: LedgerDetail,
    /// Whether contacts, products, workspaces or states are needed, which come from the agreements.
    needs_agreements: bool,
}

impl<'a> Wanted<'a> {
    fn of(query: &'a LedgerQuery, detail: LedgerDetail) -> Self {
        let needle = query.search.needle();
        let is_filtered = query.product.is_some() || query.workspace_id.is_some() || !query.include_done.get();
        let needs_agreements = detail >= LedgerDetail::Full || is_filtered || needle.is_some();
        Self { needle, detail, needs_agreements }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AwaitedMovement {
    pub id: MovementId,
    /// None if the agreement's row does not know.
    pub payer: Option<ContactId>,
    pub due_on: Option<Day>,
    /// Whether it ends with its agreement or has ended: money sent before may come late.
    pub is_over: bool,
}

impl OrgStore {
    /// Movements to the receiving side that may take evidence of an arrival, also late. Their records decide.
    pub(crate) async fn awaited_movements(&self) -> Result<Vec<AwaitedMovement>, StoreError> {
        let (mut found, mut facts) = (Vec::new(), HashMap::new());
        tokio::try_join!(
            self.each_row(Rows::Movements, |row| {
                let may_arrive = |state: MovementState| {
                    let may_be_told = matches!(state, MovementState::Exception | MovementState::Cancelled);
                    may_be_told || state.takes_evidence_of(Side::Receiver)
                };
                found.extend(MovementRow::read(row).filter(|row| may_arrive(row.state)));
            }),
            self.each_row(Rows::Agreements, |row| {
                facts.extend(AgreementFacts::of(row).map(|facts| (row.id::<AgreementId>(), facts)));
            }),
        )?;
        let awaited = |row: MovementRow| {
            let facts = facts.get(&row.agreement_id);
            let has_ended = facts.is_some_and(|facts| facts.has_ended_early);
            let is_cancelled = row.state == MovementState::Cancelled;
            let is_over = has_ended && (is_cancelled || row.state.ends_with_agreement());
            let payer = facts.and_then(|facts| facts.contacts_of(row.sender.as_slice()).first().copied());
            (is_over || !is_cancelled).then_some(AwaitedMovement { id: row.id, payer, due_on: row.due_on, is_over })
        };
        Ok(found.into_iter().filter_map(awaited).collect())
    }
}

impl OrgStore {
    pub(crate) async fn ledger_rows(
        &self,
        query: &LedgerQuery,
        detail: LedgerDetail,
    ) -> Result<LedgerRows, StoreError> {
        let wanted = Wanted::of(query, detail);
        let (found, movements, obligations, named) = tokio::try_join!(
            self.agreement_rows(wanted),
            self.movement_rows(wanted),
            self.obligation_rows(wanted),
            self.contacts_named(wanted.needle),
        )?;
        let (mut rows, agreements) = found;
        rows.extend(movements);
        rows.extend(obligations);
        Ok(LedgerRows { rows, agreements: wanted.needs_agreements.then_some(agreements), named })
    }

    async fn agreement_rows(
        &self,
        wanted: Wanted<'_>,
    ) -> Result<(Vec<ReadRow>, HashMap<AgreementId, AgreementFacts>), StoreError> {
        let mut facts = HashMap::new();
        let read = |held: HeldRow<'_>| {
            let id: AgreementId = held.id();
            if wanted.needs_agreements {
                facts.insert(id, AgreementFacts::of(held)?);
            }
            let mut row = ReadRow::of(id.uuid(), LedgerRowType::Agreement, id);
            row.entry.state = held.text(agreements::LIFECYCLE.name).and_then(LedgerState::parse);
            let expires_ms = held.number(agreements::EXPIRES).filter(|_| wanted.detail >= LedgerDetail::Full);
            row.entry.due = expires_ms.and_then(|ms| Timestamp::from_unix_ms(ms).ok()).map(LedgerDue::At);
            Some(row)
        };
        let rows = self.read_rows(Rows::Agreements, LedgerRowType::Agreement, wanted, read).await?;
        Ok((rows, facts))
    }

    async fn movement_rows(&self, wanted: Wanted<'_>) -> Result<Vec<ReadRow>, StoreError> {
        let read = |held: HeldRow<'_>| {
            let found = MovementRow::read(held)?;
            let mut row = ReadRow::of(found.id.uuid(), LedgerRowType::Movement, found.agreement_id);
            row.entry.state = Some(found.state.into());
            row.entry.due = found.due_on.map(LedgerDue::By);
            row.entry.payment = found.payment();
            row.ends_with_agreement = found.state.ends_with_agreement();
            if wanted.needs_agreements {
                (row.by, row.to) = (found.sender.into_iter().collect(), found.receiver.into_iter().collect());
            }
            Some(row)
        };
        self.read_rows(Rows::Movements, LedgerRowType::Movement, wanted, read).await
    }

    async fn obligation_rows(&self, wanted: Wanted<'_>) -> Result<Vec<ReadRow>, StoreError> {
        let read = |held: HeldRow<'_>| {
            let found = ObligationRow::read(held)?;
            let mut row = ReadRow::of(found.id.uuid(), LedgerRowType::Obligation, found.agreement_id);
            row.entry.state = Some(found.state.into());
            let due_ms = found.next_due_ms;
            row.entry.due = due_ms.and_then(|ms| Timestamp::from_unix_ms(ms).ok()).map(LedgerDue::At);
            row.ends_with_agreement = !row.entry.state.is_some_and(LedgerState::is_done);
            (row.by, row.to) = (found.promisors, found.promisees);
            Some(row)
        };
        self.read_rows(Rows::Obligations, LedgerRowType::Obligation, wanted, read).await
    }

    async fn read_rows(
        &self,
        list: Rows,
        row_type: LedgerRowType,
        wanted: Wanted<'_>,
        mut read: impl FnMut(HeldRow<'_>) -> Option<ReadRow>,
    ) -> Result<Vec<ReadRow>, StoreError> {
        let (mut rows, mut unreadable) = (Vec::new(), 0_u64);
        self.each_row(list, |held| match read(held) {
            Some(mut row) => {
                row.is_titled = wanted.needle.is_some_and(|needle| has_title(held, row_type, needle));
                if wanted.detail == LedgerDetail::Titled {
                    first_line(held).clone_into(&mut row.entry.title);
                }
                rows.push(row);
            }
            None => unreadable += 1,
        })
        .await?;
        if unreadable > 0 {
            return Err(StoreError::Failed(format!("{unreadable} rows of {row_type}s that can't be read")));
        }
        Ok(rows)
    }

    async fn contacts_named(&self, needle: Option<&str>) -> Result<Option<HashSet<ContactId>>, StoreError> {
        let Some(needle) = needle else { return Ok(None) };
        let mut found = HashSet::new();
        self.each_row(Rows::Contacts, |row| {
            if first_line(row).contains(needle) {
                found.insert(row.id());
            }
        })
        .await?;
        Ok(Some(found))
    }
}

/// A contact's name without its email address, or a payment's purpose without its reference.
fn first_line(row: HeldRow<'_>) -> &str {
    row.searched().split('\n').next().unwrap_or_default()
}

fn has_title(row: HeldRow<'_>, row_type: LedgerRowType, needle: &str) -> bool {
    let title = first_line(row);
    if row_type == LedgerRowType::Movement && title.is_empty() {
        return Folded::new(UNTITLED).as_str().contains(needle);
    }
    title.contains(needle)
}

impl LedgerRows {
    /// The workspaces of all agreements, newest first, whatever is asked for. Empty if not asked for.
    pub(crate) fn workspaces(&self) -> BTreeSet<std::cmp::Reverse<WorkspaceId>> {
        self.agreements.iter().flatten().map(|(_, facts)| std::cmp::Reverse(facts.workspace)).collect()
    }

    /// The payments of all agreements that have an amount, whatever is asked for.
    pub(crate) fn payments(&self) -> HashMap<AgreementId, Vec<LedgerPayment>> {
        let mut payments: HashMap<AgreementId, Vec<LedgerPayment>> = HashMap::new();
        for ReadRow { entry, .. } in &self.rows {
            if let Some(payment) = entry.payment {
                payments.entry(entry.agreement_id).or_default().push(payment);
            }
        }
        payments
    }

    /// The rows that a query asks for, in the order of ids, of all agreements or only of those that the app lists. The
    /// organization's own contacts are no counterparties.
    pub(crate) fn select(self, query: &LedgerQuery, wanted: Shelf, own: &BTreeSet<ContactId>) -> Vec<LedgerEntry> {
        let Self { rows, agreements, named } = self;
        let is_put_away = |id: AgreementId| {
            let facts = agreements.as_ref().and_then(|agreements| agreements.get(&id));
            wanted == Shelf::Current && facts.is_some_and(|facts| facts.is_archived)
        };
        let fits = |row: ReadRow| match &agreements {
            _ if is_put_away(row.entry.agreement_id) => None,
            Some(agreements) => fitting(row, agreements, named.as_ref(), query, own),
            None => Some(row.entry),
        };
        let mut entries: Vec<LedgerEntry> = rows.into_iter().filter_map(fits).collect();
        // Each list is already in this order.
        entries.sort_by_key(|entry| entry.id);
        entries
    }
}

fn fitting(
    row: ReadRow,
    agreements: &HashMap<AgreementId, AgreementFacts>,
    named: Option<&HashSet<ContactId>>,
    query: &LedgerQuery,
    own: &BTreeSet<ContactId>,
) -> Option<LedgerEntry> {
    let facts = agreements.get(&row.entry.agreement_id)?;
    if query.workspace_id.is_some_and(|wanted| facts.workspace != wanted)
        || query.product.is_some_and(|wanted| facts.product != wanted)
    {
        return None;
    }
    let row = if facts.has_ended_early { row.told_at_end() } else { row };
    let ReadRow { mut entry, is_titled, by, to, .. } = row;
    if !query.include_done.get() && entry.state.is_none_or(LedgerState::is_done) {
        return None;
    }
    let parties = match entry.row_type {
        LedgerRowType::Agreement => LedgerParties::Mutual(facts.contacts.clone()),
        LedgerRowType::Movement | LedgerRowType::Obligation => {
            LedgerParties::OneWay { by: facts.contacts_of(&by), to: facts.contacts_of(&to) }
        }
    };
    let is_named = |named: &HashSet<ContactId>| parties.counterparties(own).any(|contact| named.contains(&contact));
    if !is_titled && named.is_some_and(|named| !is_named(named)) {
        return None;
    }
    entry.parties = Some(parties);
    entry.is_agreed = facts.is_agreed;
    entry.payment = entry.payment.map(|payment| LedgerPayment { is_agreed: facts.is_agreed, ..payment });
    Some(entry)
}
