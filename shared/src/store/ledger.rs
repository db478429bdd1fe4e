//! The ledger: no rows of its own, but one pass over the rows of agreements, of movements and of obligations, side by side.
//! The rows have ids, states, days and amounts; what a row shows is then read of the records of the page.
//!
//! Decision: it is derived from the lists' rows, which are written with their records already. Rows of its own would cost
//! two more write units with every change of an agreement, and what they copied of it (its kind, who takes part) would have
//! to be written again for each of its payments and obligations whenever it changes.
//!
//! Decision: a payment and an obligation name participants, and their agreement's row says which contacts these are. So one
//! row is enough to know the contacts, and a search reads the rows of contacts first: a new name finds at once what it is
//! about, as a new name of an agreement does.
//!
//! Decision: the three passes are not one moment. What was acknowledged before the call began is in all of them; of what is
//! added meanwhile, a payment without its agreement is left out.

use std::collections::{BTreeSet, HashMap, HashSet};

use uuid::Uuid;

use super::item::{Item, ids, number, text};
use super::keys::{self, Rows, SORT};
use super::list::{Order, TEXT};
use super::{OrgStore, StoreError, agreements, movements, obligations};
use crate::domain::agreement::{Agreement, AgreementKind, Lifecycle};
use crate::domain::day::Day;
use crate::domain::ids::{AgreementId, ContactId, MovementId, ParticipantId, WorkspaceId};
use crate::domain::ledger::{LedgerParties, LedgerPayment, LedgerProduct, LedgerRowType, LedgerState, is_agreed};
use crate::domain::money::{Currency, Money};
use crate::domain::movement::source::Side;
use crate::domain::movement::state::MovementState;
use crate::domain::sentences::movements::UNTITLED;
use crate::domain::time::Timestamp;
use crate::limits;
use crate::wire::page::{Flag, Search, list_query};
use crate::wire::text::Folded;

list_query! {
    /// Which rows of the ledger are listed.
    pub struct LedgerQuery {
        /// Of this product only.
        product: Option<LedgerProduct>,
        /// Of this workspace only.
        workspace_id: Option<WorkspaceId>,
        /// A part of the title, or of the name of a counterparty, whatever its case or composition.
        search: Search<{ limits::SEARCH_CHARS_MAX }>,
        /// Whether finished rows are listed too.
        include_done: Flag<true>,
    }
}

/// How much a pass reads of each row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LedgerDetail {
    /// What the filters look at.
    Filtered,
    /// That, and what orders and adds up the rows.
    Full,
}

/// A row of the ledger as the compact rows have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LedgerEntry {
    /// The id of the thing.
    pub id: Uuid,
    /// What it is.
    pub row_type: LedgerRowType,
    /// Its agreement, which may be the thing itself.
    pub agreement_id: AgreementId,
    /// Its state. None if nothing asked for it.
    pub state: Option<LedgerState>,
    /// Whether its agreement is in force or completed. False if nothing asked for it.
    pub is_agreed: bool,
    /// Who owes it to whom. None if nothing asked for it.
    pub parties: Option<LedgerParties>,
    /// When it is due.
    pub due: Option<LedgerDue>,
    /// What is to be paid, of a payment with an amount.
    pub payment: Option<LedgerPayment>,
}

/// When something is due, as rows have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LedgerDue {
    /// At this moment.
    At(Timestamp),
    /// By the end of this day, in the organization's zone.
    By(Day),
}

/// What one pass has read.
#[derive(Debug, Default)]
pub(crate) struct LedgerRows {
    rows: Vec<ReadRow>,
    agreements: HashMap<AgreementId, AgreementFacts>,
    /// The contacts that have the needle in their names. None if nothing is searched for.
    named: Option<HashSet<ContactId>>,
}

/// A row with the participants that it names. Their contacts are known once all agreements are.
#[derive(Debug)]
struct ReadRow {
    entry: LedgerEntry,
    workspace: Option<WorkspaceId>,
    /// Whether the title has the needle.
    is_titled: bool,
    by: Vec<ParticipantId>,
    to: Vec<ParticipantId>,
}

/// What the rows of the ledger need of their agreements.
#[derive(Debug)]
struct AgreementFacts {
    product: LedgerProduct,
    /// Whether it is in force or completed. False if nothing asked for it.
    is_agreed: bool,
    contacts: Vec<ContactId>,
    /// In the order of the contacts; none where no row names any.
    participants: Vec<ParticipantId>,
}

impl From<&Agreement> for AgreementFacts {
    fn from(agreement: &Agreement) -> Self {
        let all = || agreement.participants.iter();
        Self {
            product: agreement.kind.into(),
            is_agreed: is_agreed(agreement.lifecycle()),
            contacts: all().map(|participant| participant.contact_id).collect(),
            participants: all().map(|participant| participant.id).collect(),
        }
    }
}

impl AgreementFacts {
    /// The facts of a row. None if it was written before it had them.
    fn of(row: &Item) -> Option<Self> {
        let kind = text(row, agreements::KIND.name).and_then(AgreementKind::parse)?;
        let lifecycle = text(row, agreements::LIFECYCLE.name).and_then(Lifecycle::parse);
        Some(Self {
            product: kind.into(),
            is_agreed: lifecycle.is_some_and(is_agreed),
            contacts: ids(row, agreements::CONTACTS)?.into_iter().map(Into::into).collect(),
            participants: ids(row, agreements::PARTICIPANTS).unwrap_or_default().into_iter().map(Into::into).collect(),
        })
    }

    fn contacts_of(&self, participants: &[ParticipantId]) -> Vec<ContactId> {
        let contact = |id: &ParticipantId| {
            let at = self.participants.iter().position(|participant| participant == id)?;
            self.contacts.get(at).copied()
        };
        participants.iter().filter_map(contact).collect()
    }
}

/// Which attributes a pass reads.
struct Wanted<'a> {
    query: &'a LedgerQuery,
    detail: LedgerDetail,
}

impl Wanted<'_> {
    /// Whether contacts or products are needed, which only the rows of agreements know.
    fn needs_agreements(&self) -> bool {
        self.detail == LedgerDetail::Full || self.query.product.is_some() || self.query.search.needle().is_some()
    }

    /// The attributes of a list's rows, by what asks for them.
    fn attributes(&self, [workspace, state]: [&'static str; 2], more: MoreAttributes<'_>) -> Vec<&'static str> {
        let (is_full, query) = (self.detail == LedgerDetail::Full, self.query);
        let mut names = vec![SORT];
        names.extend(query.search.needle().map(|_| TEXT));
        names.extend((is_full || query.workspace_id.is_some()).then_some(workspace));
        names.extend((is_full || !query.include_done.get()).then_some(state));
        names.extend(more.always);
        names.extend(more.with_agreements.iter().filter(|_| self.needs_agreements()));
        names.extend(more.in_full.iter().filter(|_| is_full));
        names
    }
}

/// Attributes that only the rows of one list have.
#[derive(Clone, Copy)]
struct MoreAttributes<'a> {
    always: Option<&'static str>,
    with_agreements: &'a [&'static str],
    in_full: &'a [&'static str],
}

/// A movement that waits for proof, and who pays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AwaitedMovement {
    /// The movement.
    pub id: MovementId,
    /// Who pays, if the row of the agreement knows.
    pub payer: Option<ContactId>,
    /// The day by which it is due.
    pub due_on: Option<Day>,
}

impl OrgStore {
    /// The movements to the receiving side that take evidence of an arrival now, from one pass over the rows of movements and
    /// one over those of agreements, side by side.
    pub(crate) async fn awaited_movements(&self) -> Result<Vec<AwaitedMovement>, StoreError> {
        let (mut found, mut facts) = (Vec::new(), HashMap::new());
        let movements =
            [SORT, movements::STATE.name, movements::AGREEMENT.name, movements::SENDER, movements::DUE.name];
        let agreements =
            [SORT, agreements::KIND.name, agreements::LIFECYCLE.name, agreements::CONTACTS, agreements::PARTICIPANTS];
        let (of_movements, of_agreements) =
            (keys::rows(self.org, Rows::Movements), keys::rows(self.org, Rows::Agreements));
        tokio::try_join!(
            self.store.scan_partition(&of_movements, Order::OldestFirst, &movements, |row| found.extend(awaited(&row))),
            self.store.scan_partition(&of_agreements, Order::OldestFirst, &agreements, |row| {
                let id = text(&row, SORT).and_then(|id| id.parse::<AgreementId>().ok());
                facts.extend(id.zip(AgreementFacts::of(&row)));
            }),
        )?;
        let with_payer = |(mut movement, agreement, payer): (AwaitedMovement, AgreementId, Vec<ParticipantId>)| {
            movement.payer = facts.get(&agreement).and_then(|facts| facts.contacts_of(&payer).first().copied());
            movement
        };
        Ok(found.into_iter().map(with_payer).collect())
    }
}

/// A movement that waits for proof, its agreement and its payer, of its row.
fn awaited(row: &Item) -> Option<(AwaitedMovement, AgreementId, Vec<ParticipantId>)> {
    let state = MovementState::parse(text(row, movements::STATE.name)?)?;
    if !state.takes_evidence_of(Side::Receiver) {
        return None;
    }
    let due_on = text(row, movements::DUE.name).and_then(Day::parse);
    let movement = AwaitedMovement { id: text(row, SORT)?.parse().ok()?, payer: None, due_on };
    let payer = ids(row, movements::SENDER).unwrap_or_default().into_iter().map(Into::into).collect();
    Some((movement, text(row, movements::AGREEMENT.name)?.parse().ok()?, payer))
}

impl OrgStore {
    /// Reads the rows of the ledger, and of what a query needs beside them.
    pub(crate) async fn ledger_rows(
        &self,
        query: &LedgerQuery,
        detail: LedgerDetail,
    ) -> Result<LedgerRows, StoreError> {
        let wanted = Wanted { query, detail };
        let (found, movements, obligations, named) = tokio::try_join!(
            self.agreement_rows(&wanted),
            self.movement_rows(&wanted),
            self.obligation_rows(&wanted),
            self.contacts_named(query.search.needle()),
        )?;
        let (mut rows, mut agreements) = found;
        if wanted.needs_agreements() {
            let unknown = rows.iter().map(|row| row.entry.agreement_id).filter(|id| !agreements.contains_key(id));
            let unknown: Vec<AgreementId> = unknown.collect();
            let read = self.agreements(unknown).await?;
            agreements.extend(read.iter().map(|agreement| (agreement.id(), AgreementFacts::from(&**agreement))));
        }
        rows.extend(movements);
        rows.extend(obligations);
        Ok(LedgerRows { rows, agreements, named })
    }

    async fn agreement_rows(
        &self,
        wanted: &Wanted<'_>,
    ) -> Result<(Vec<ReadRow>, HashMap<AgreementId, AgreementFacts>), StoreError> {
        let attributes = MoreAttributes {
            always: None,
            with_agreements: &[agreements::KIND.name, agreements::CONTACTS, agreements::PARTICIPANTS],
            in_full: &[agreements::EXPIRES],
        };
        let mut facts = HashMap::new();
        let rows = self
            .read_rows((Rows::Agreements, LedgerRowType::Agreement), attributes, wanted, |item, row| {
                row.entry.agreement_id = row.entry.id.into();
                let expires_ms = number(item, agreements::EXPIRES);
                row.entry.due = expires_ms.and_then(|ms| Timestamp::from_unix_ms(ms).ok()).map(LedgerDue::At);
                facts.extend(AgreementFacts::of(item).map(|found| (row.entry.agreement_id, found)));
                Some(())
            })
            .await?;
        Ok((rows, facts))
    }

    async fn movement_rows(&self, wanted: &Wanted<'_>) -> Result<Vec<ReadRow>, StoreError> {
        let attributes = MoreAttributes {
            always: Some(movements::AGREEMENT.name),
            with_agreements: &[movements::SENDER, movements::RECEIVER],
            in_full: &[
                movements::DUE.name,
                movements::AMOUNT,
                movements::CURRENCY.name,
                movements::CLAIMED,
                movements::PROVEN,
            ],
        };
        self.read_rows((Rows::Movements, LedgerRowType::Movement), attributes, wanted, |item, row| {
            row.entry.agreement_id = text(item, movements::AGREEMENT.name)?.parse().ok()?;
            row.entry.due = text(item, movements::DUE.name).and_then(Day::parse).map(LedgerDue::By);
            row.entry.payment = payment(item);
            (row.by, row.to) = (participants(item, movements::SENDER), participants(item, movements::RECEIVER));
            Some(())
        })
        .await
    }

    async fn obligation_rows(&self, wanted: &Wanted<'_>) -> Result<Vec<ReadRow>, StoreError> {
        let attributes = MoreAttributes {
            always: Some(obligations::AGREEMENT.name),
            with_agreements: &[obligations::PROMISORS, obligations::PROMISEES],
            in_full: &[obligations::NEXT_DUE],
        };
        self.read_rows((Rows::Obligations, LedgerRowType::Obligation), attributes, wanted, |item, row| {
            row.entry.agreement_id = text(item, obligations::AGREEMENT.name)?.parse().ok()?;
            let due_ms = number(item, obligations::NEXT_DUE);
            row.entry.due = due_ms.and_then(|ms| Timestamp::from_unix_ms(ms).ok()).map(LedgerDue::At);
            (row.by, row.to) = (participants(item, obligations::PROMISORS), participants(item, obligations::PROMISEES));
            Some(())
        })
        .await
    }

    /// Reads the rows of a list. `complete` adds what only rows of the list have.
    async fn read_rows(
        &self,
        (list, row_type): (Rows, LedgerRowType),
        attributes: MoreAttributes<'_>,
        wanted: &Wanted<'_>,
        mut complete: impl FnMut(&Item, &mut ReadRow) -> Option<()>,
    ) -> Result<Vec<ReadRow>, StoreError> {
        let (workspace, state) = match list {
            Rows::Movements => (movements::WORKSPACE.name, movements::STATE.name),
            Rows::Obligations => (obligations::WORKSPACE.name, obligations::STATE.name),
            _ => (agreements::WORKSPACE.name, agreements::LIFECYCLE.name),
        };
        let attributes = wanted.attributes([workspace, state], attributes);
        let needle = wanted.query.search.needle();
        let read = |item: &Item| {
            let id: Uuid = text(item, SORT)?.parse().ok()?;
            let entry = LedgerEntry {
                id,
                row_type,
                agreement_id: id.into(),
                state: text(item, state).and_then(LedgerState::parse),
                is_agreed: false,
                parties: None,
                due: None,
                payment: None,
            };
            let is_titled = needle.is_some_and(|needle| has_title(item, row_type, needle));
            let workspace = text(item, workspace).and_then(|id| id.parse().ok());
            Some(ReadRow { entry, workspace, is_titled, by: Vec::new(), to: Vec::new() })
        };
        let (mut rows, mut unreadable) = (Vec::new(), 0_u64);
        self.store
            .scan_partition(&keys::rows(self.org, list), Order::OldestFirst, &attributes, |item| {
                let mut row = read(&item);
                match row.as_mut().and_then(|row| complete(&item, row)) {
                    Some(()) => rows.extend(row),
                    None => unreadable += 1,
                }
            })
            .await?;
        if unreadable > 0 {
            return Err(StoreError::Failed(format!("{unreadable} rows of {row_type}s that can't be read")));
        }
        Ok(rows)
    }

    /// The contacts that have the folded needle in their names, from one pass over the rows. None without a needle.
    async fn contacts_named(&self, needle: Option<&str>) -> Result<Option<HashSet<ContactId>>, StoreError> {
        let Some(needle) = needle else { return Ok(None) };
        let mut found = HashSet::new();
        let partition = keys::rows(self.org, Rows::Contacts);
        self.store
            .scan_partition(&partition, Order::OldestFirst, &[SORT, TEXT], |row| {
                if first_line(&row).contains(needle) {
                    found.extend(text(&row, SORT).and_then(|id| id.parse::<ContactId>().ok()));
                }
            })
            .await?;
        Ok(Some(found))
    }
}

/// The first line of a row's text: the name of a contact, without its email address, or the purpose of a payment, without its
/// reference.
fn first_line(row: &Item) -> &str {
    text(row, TEXT).and_then(|text| text.split('\n').next()).unwrap_or_default()
}

/// Whether the title of a row has a folded needle.
fn has_title(row: &Item, row_type: LedgerRowType, needle: &str) -> bool {
    let title = first_line(row);
    if row_type == LedgerRowType::Movement && title.is_empty() {
        return Folded::new(UNTITLED).as_str().contains(needle);
    }
    title.contains(needle)
}

fn participants(row: &Item, name: &str) -> Vec<ParticipantId> {
    ids(row, name).unwrap_or_default().into_iter().map(Into::into).collect()
}

/// The payment of a movement's row, as if nobody had agreed to it: its agreement knows. None if it has no amount, or nothing
/// asked for it.
pub(super) fn payment(row: &Item) -> Option<LedgerPayment> {
    let currency = text(row, movements::CURRENCY.name).and_then(Currency::parse)?;
    Some(LedgerPayment {
        money: Money::new(number(row, movements::AMOUNT)?, currency).ok()?,
        state: text(row, movements::STATE.name).and_then(MovementState::parse)?,
        is_agreed: false,
        is_claimed: number::<i64>(row, movements::CLAIMED).is_some(),
        proven_minor: number(row, movements::PROVEN).unwrap_or_default(),
    })
}

impl LedgerRows {
    /// The workspaces of all rows, whatever is asked for, the newest first.
    pub(crate) fn workspaces(&self) -> BTreeSet<std::cmp::Reverse<WorkspaceId>> {
        self.rows.iter().filter_map(|row| row.workspace).map(std::cmp::Reverse).collect()
    }

    /// The rows that a query asks for, in the order of their ids. The organization's own contacts are no counterparties.
    pub(crate) fn select(self, query: &LedgerQuery, own: &BTreeSet<ContactId>) -> Vec<LedgerEntry> {
        let Self { rows, agreements, named } = self;
        let needs_agreement = !agreements.is_empty() || query.product.is_some() || named.is_some();
        let fits = |row: ReadRow| -> Option<LedgerEntry> {
            let ReadRow { mut entry, workspace, is_titled, by, to } = row;
            if query.workspace_id.is_some_and(|wanted| workspace != Some(wanted)) {
                return None;
            }
            if !query.include_done.get() && entry.state.is_none_or(LedgerState::is_done) {
                return None;
            }
            if !needs_agreement {
                return Some(entry);
            }
            let facts = agreements.get(&entry.agreement_id)?;
            if query.product.is_some_and(|wanted| facts.product != wanted) {
                return None;
            }
            let parties = match entry.row_type {
                LedgerRowType::Agreement => LedgerParties::Mutual(facts.contacts.clone()),
                LedgerRowType::Movement | LedgerRowType::Obligation => {
                    LedgerParties::OneWay { by: facts.contacts_of(&by), to: facts.contacts_of(&to) }
                }
            };
            if let Some(named) = &named
                && !is_titled
                && !parties.counterparties(own).any(|contact| named.contains(&contact))
            {
                return None;
            }
            entry.parties = Some(parties);
            entry.is_agreed = facts.is_agreed;
            entry.payment = entry.payment.map(|payment| LedgerPayment { is_agreed: facts.is_agreed, ..payment });
            Some(entry)
        };
        let mut entries: Vec<LedgerEntry> = rows.into_iter().filter_map(fits).collect();
        // Of each list they are in this order already.
        entries.sort_by_key(|entry| entry.id);
        entries
    }
}
