//! The ledger: for clients a page in the order of ids; for the app lists of one kind of row in any order, and totals.
//!
//! - Decision: the page and its export order and total all rows by the compact ones, and read only the shown records.
//! - Decision: what belongs to an archived draft is in no list and no file of the app, and in the client's page. Totals are
//!   the same with and without it: nobody owes yet what is in a draft.
//! - Decision: what ends with an agreement shows as cancelled at once, although its own record follows a little later.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use uuid::Uuid;

use crate::domain::agreement::{Agreement, AgreementName};
use crate::domain::contact::{Contact, DisplayName};
use crate::domain::day::Day;
use crate::domain::ids::{AgreementId, ContactId, MovementId, ObligationId, ParticipantId, WorkspaceId};
use crate::domain::ledger::{
    AgreementMoney, LedgerDirection, LedgerParties, LedgerPayment, LedgerProduct, LedgerRowType, LedgerState,
    LedgerTotals, is_agreed, place_of,
};
use crate::domain::movement::{Movement, Risk};
use crate::domain::obligation::Obligation;
use crate::domain::organization::Organization;
use crate::domain::time::Timestamp;
use crate::domain::time_zone::TimeZone;
use crate::domain::workspace::Workspace;
use crate::error::Error;
use crate::limits;
use crate::service::agreements::AgreementRows;
use crate::service::scope::Scope;
use crate::store::Versioned;
use crate::store::ledger::{LedgerDetail, LedgerDue, LedgerEntry};
use crate::text;
use crate::wire::page::{Order, Page, Pagination, Shelf};

pub use crate::store::ledger::LedgerQuery;

/// A row of the ledger.
#[derive(Debug)]
pub struct LedgerRow {
    /// What it is about.
    pub thing: LedgerThing,
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The agreement.
    pub agreement_id: AgreementId,
    /// The agreement's name.
    pub agreement: AgreementName,
    /// The agreement's product.
    pub product: LedgerProduct,
    /// What it is called.
    pub title: String,
    /// The participants, without the organization's own contacts.
    pub counterparties: Vec<NamedContact>,
    /// Who owes it to whom, including the organization's own contacts. None for an agreement, which binds all.
    pub owing: Option<Owing>,
    /// Who owes it. None for an agreement, which binds all.
    pub direction: Option<LedgerDirection>,
    /// The amount of a payment, if it has one.
    pub payment: Option<LedgerPayment>,
    /// Where it is.
    pub state: LedgerState,
    /// What puts the money of a payment at risk, if anything.
    pub risk: Option<Risk>,
    /// Its state for a person.
    pub status_sentence: String,
    /// Whom or what a payment or an obligation waits for. Empty for an agreement, and for what is done.
    pub waits_for: String,
    /// When it is due.
    pub due_at: Option<Timestamp>,
    /// Whether it is past due and still owed.
    pub is_overdue: bool,
}

/// A contact with its name.
pub type NamedContact = (ContactId, DisplayName);

/// Who owes something to whom. A side of a draft may still be empty.
#[derive(Debug)]
pub struct Owing {
    /// Who owes it.
    pub by: Vec<NamedContact>,
    /// To whom it is owed.
    pub to: Vec<NamedContact>,
}

/// What a row is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LedgerThing {
    /// An agreement.
    Agreement(AgreementId),
    /// A payment.
    Movement(MovementId),
    /// An obligation.
    Obligation(ObligationId),
}

impl LedgerThing {
    /// Its id.
    #[must_use]
    pub fn uuid(self) -> Uuid {
        match self {
            Self::Agreement(id) => id.uuid(),
            Self::Movement(id) => id.uuid(),
            Self::Obligation(id) => id.uuid(),
        }
    }

    /// What it is.
    #[must_use]
    pub fn row_type(self) -> LedgerRowType {
        match self {
            Self::Agreement(_) => LedgerRowType::Agreement,
            Self::Movement(_) => LedgerRowType::Movement,
            Self::Obligation(_) => LedgerRowType::Obligation,
        }
    }

    /// The path of its page in the app.
    #[must_use]
    pub fn app_path(self) -> String {
        match self {
            Self::Agreement(id) => format!("/app/agreements/{id}"),
            Self::Movement(id) => format!("/app/money/movements/{id}"),
            Self::Obligation(id) => format!("/app/obligations/{id}"),
        }
    }
}

/// A page of the rows that match a query, ordered by id.
pub async fn list(scope: &Scope, query: &LedgerQuery) -> Result<Page<LedgerRow>, Error> {
    let (rows, organization) =
        tokio::try_join!(scope.store().ledger_rows(query, LedgerDetail::Filtered), scope.store().organization())?;
    let Page { data, pagination } =
        Page::slice(rows.select(query, Shelf::All, &organization.own_contact_ids), query.page());
    Ok(Page { data: show(scope, &organization, &data).await?, pagination })
}

/// What the page of the ledger shows.
#[derive(Debug)]
pub struct Ledger {
    /// The rows of the page, all of one kind.
    pub listed: Listed,
    /// How many rows of each kind match.
    pub counts: BTreeMap<LedgerRowType, usize>,
    /// How many of the listed kind are overdue.
    pub overdue: usize,
    /// The totals of all matching payments.
    pub totals: LedgerTotals,
    /// Workspaces to filter by: the newest, and the one of the filter.
    pub workspaces: Vec<Workspace>,
    /// The organization's own contacts.
    pub own: Vec<Contact>,
}

/// The rows of a page of the ledger.
#[derive(Debug)]
pub enum Listed {
    /// Agreements, as other lists have them, with what all payments of each come to, by currency.
    Agreements(Box<AgreementRows>, HashMap<AgreementId, Vec<AgreementMoney>>),
    /// Payments or obligations.
    Owed(Page<LedgerRow>),
}

impl Listed {
    /// Where the page is in the list.
    #[must_use]
    pub fn pagination(&self) -> Pagination {
        match self {
            Self::Agreements(rows, _) => rows.page.page.pagination,
            Self::Owed(page) => page.pagination,
        }
    }

    /// The ids of its rows.
    #[must_use]
    pub fn ids(&self) -> Vec<Uuid> {
        match self {
            Self::Agreements(rows, _) => rows.page.page.data.iter().map(|agreement| agreement.id().uuid()).collect(),
            Self::Owed(page) => page.data.iter().map(|row| row.thing.uuid()).collect(),
        }
    }

    async fn load(
        scope: &Scope,
        organization: &Organization,
        row_type: LedgerRowType,
        page: Page<LedgerEntry>,
        mut payments: HashMap<AgreementId, Vec<LedgerPayment>>,
    ) -> Result<Self, Error> {
        let Page { data, pagination } = page;
        if row_type != LedgerRowType::Agreement {
            return Ok(Self::Owed(Page { data: show(scope, organization, &data).await?, pagination }));
        }
        let found = scope.store().agreements(data.iter().map(|entry| entry.agreement_id)).await?;
        let found: Vec<Agreement> = found.into_iter().map(Versioned::into_inner).collect();
        let money = |agreement: &Agreement| {
            let payments = payments.remove(&agreement.id()).unwrap_or_default();
            (agreement.id(), AgreementMoney::of(agreement.lifecycle(), payments))
        };
        let money = found.iter().map(money).collect();
        let rows = Box::new(AgreementRows::load(scope, Page { data: found, pagination }).await?);
        Ok(Self::Agreements(rows, money))
    }
}

/// A page of the rows of one kind that match a query, and the totals of all matching payments.
pub async fn overview(
    scope: &Scope,
    organization: &Organization,
    query: &LedgerQuery,
    row_type: LedgerRowType,
    order: Order,
) -> Result<Ledger, Error> {
    let rows = scope.store().ledger_rows(query, detail(order)).await?;
    let mut workspaces: BTreeSet<WorkspaceId> =
        rows.workspaces().into_iter().take(limits::LEDGER_WORKSPACES_MAX).map(|Reverse(id)| id).collect();
    workspaces.extend(query.workspace_id);
    let is_of_agreements = row_type == LedgerRowType::Agreement;
    let payments = if is_of_agreements { rows.payments() } else { HashMap::new() };
    let own_ids = &organization.own_contact_ids;
    let mut entries = ordered(scope, organization, rows.select(query, Shelf::Current, own_ids), order);
    let totals = totals(&entries, own_ids);
    let mut counts = BTreeMap::new();
    for dated in &entries {
        *counts.entry(dated.entry.row_type).or_insert(0) += 1;
    }
    entries.retain(|dated| dated.entry.row_type == row_type);
    let overdue = entries.iter().filter(|dated| dated.is_overdue).count();
    let page = Page::slice(entries, query.page()).map(|dated| dated.entry);
    let listed = Box::pin(Listed::load(scope, organization, row_type, page, payments));
    let own = async { Ok(scope.store().contacts(organization.own_contact_ids.iter().copied()).await?) };
    let workspaces = async { Ok(scope.store().workspaces(workspaces).await?) };
    let (listed, own, workspaces) = tokio::try_join!(listed, own, workspaces)?;
    Ok(Ledger {
        listed,
        counts,
        overdue,
        totals,
        workspaces: workspaces.into_iter().map(Versioned::into_inner).collect(),
        own: own.into_iter().map(Versioned::into_inner).collect(),
    })
}

/// All rows that match a query, read a few at a time.
#[derive(Debug)]
pub struct LedgerExport {
    scope: Scope,
    organization: Organization,
    rest: std::vec::IntoIter<DatedEntry>,
}

/// The rows of a file, of all kinds or of one, from the offset of the query on.
pub async fn export(
    scope: &Scope,
    organization: &Organization,
    query: &LedgerQuery,
    row_type: Option<LedgerRowType>,
    order: Order,
) -> Result<LedgerExport, Error> {
    let rows = scope.store().ledger_rows(query, detail(order)).await?;
    let selected = rows.select(query, Shelf::Current, &organization.own_contact_ids);
    let mut entries = ordered(scope, organization, selected, order);
    entries.retain(|dated| row_type.is_none_or(|wanted| dated.entry.row_type == wanted));
    let before = usize::try_from(query.page().positions().start).unwrap_or(usize::MAX).min(entries.len());
    let rest = entries.split_off(before).into_iter();
    Ok(LedgerExport { scope: scope.clone(), organization: organization.clone(), rest })
}

impl LedgerExport {
    /// The next rows. None at the end.
    pub async fn next(&mut self) -> Result<Option<Vec<LedgerRow>>, Error> {
        let entries: Vec<LedgerEntry> =
            self.rest.by_ref().take(limits::LEDGER_EXPORT_STEP).map(|dated| dated.entry).collect();
        if entries.is_empty() {
            return Ok(None);
        }
        show(&self.scope, &self.organization, &entries).await.map(Some)
    }

    /// How many rows are left.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.rest.len()
    }
}

#[derive(Debug)]
struct DatedEntry {
    entry: LedgerEntry,
    is_overdue: bool,
}

fn detail(order: Order) -> LedgerDetail {
    if order == Order::ByName { LedgerDetail::Titled } else { LedgerDetail::Full }
}

/// The rows in an order. Without one of its own: longest overdue first, then by due time, then those without one, then
/// the done ones, newest first.
fn ordered(scope: &Scope, organization: &Organization, entries: Vec<LedgerEntry>, order: Order) -> Vec<DatedEntry> {
    let mut days = Days::of(&organization.time_zone);
    let mut dated: Vec<_> = entries
        .into_iter()
        .map(|entry| {
            let due_at = entry.due.map(|due| days.due_at(due));
            let (is_done, is_overdue) = entry.state.map_or((false, false), |state| {
                (state.is_done(), state.is_overdue(entry.is_agreed, due_at, scope.now()))
            });
            let place = if is_done {
                (3, None, u128::MAX - entry.id.as_u128())
            } else {
                let group = if is_overdue { 0 } else { 1 + u8::from(due_at.is_none()) };
                (group, due_at, entry.id.as_u128())
            };
            (place, DatedEntry { entry, is_overdue })
        })
        .collect();
    match order {
        // They are in the order of ids.
        Order::OldestFirst => {}
        Order::NewestFirst => dated.reverse(),
        Order::ByName => dated.sort_by(|one, other| one.1.entry.title.cmp(&other.1.entry.title)),
        Order::ByDue => dated.sort_by_key(|(place, _)| *place),
        Order::ByAmount => dated.sort_by_cached_key(|(_, dated)| {
            let amount = dated.entry.payment.map(|payment| payment.money);
            let amounts = amount.map(|money| (money.currency().code(), i128::from(money.amount_minor())));
            (place_of(amounts.as_slice()), Reverse(dated.entry.id))
        }),
    }
    dated.into_iter().map(|(_, entry)| entry).collect()
}

fn totals(entries: &[DatedEntry], own: &BTreeSet<ContactId>) -> LedgerTotals {
    let mut totals = LedgerTotals::default();
    for DatedEntry { entry, .. } in entries {
        let direction = entry.parties.as_ref().and_then(|parties| parties.direction(own));
        if let (Some(direction), Some(payment)) = (direction, entry.payment) {
            totals.add(direction, payment);
        }
    }
    totals
}

/// When days end in a zone. Many rows have the same few days.
struct Days<'a> {
    zone: &'a TimeZone,
    ends: BTreeMap<Day, Timestamp>,
}

impl<'a> Days<'a> {
    fn of(zone: &'a TimeZone) -> Self {
        Self { zone, ends: BTreeMap::new() }
    }

    fn due_at(&mut self, due: LedgerDue) -> Timestamp {
        match due {
            LedgerDue::At(at) => at,
            LedgerDue::By(day) => *self.ends.entry(day).or_insert_with(|| self.zone.end_of(day)),
        }
    }
}

struct Records {
    agreements: BTreeMap<AgreementId, Agreement>,
    movements: HashMap<MovementId, Movement>,
    obligations: HashMap<ObligationId, Obligation>,
    contacts: Vec<Contact>,
}

impl Records {
    /// Reads the records of rows concurrently. Contacts are read with them if the rows name them, otherwise afterwards.
    async fn load(scope: &Scope, entries: &[LedgerEntry]) -> Result<Self, Error> {
        let store = scope.store();
        let ids = |row_type| entries.iter().filter(move |entry| entry.row_type == row_type).map(|entry| entry.id);
        let agreements: BTreeSet<AgreementId> = entries.iter().map(|entry| entry.agreement_id).collect();
        let parties = entries.iter().filter_map(|entry| entry.parties.as_ref());
        let known: BTreeSet<ContactId> = parties.flat_map(LedgerParties::all).collect();
        let (agreements, movements, obligations, contacts) = tokio::try_join!(
            store.agreements(agreements),
            store.movements(ids(LedgerRowType::Movement).map(MovementId::from)),
            store.obligations(ids(LedgerRowType::Obligation).map(ObligationId::from)),
            store.contacts(known.iter().copied()),
        )?;
        let agreements = agreements.into_iter().map(Versioned::into_inner);
        let agreements: BTreeMap<_, _> = agreements.map(|agreement| (agreement.id(), agreement)).collect();
        let movements: HashMap<_, _> =
            movements.into_iter().map(|movement| (movement.id(), movement.into_inner())).collect();
        let obligations: HashMap<_, _> =
            obligations.into_iter().map(|obligation| (obligation.id(), obligation.into_inner())).collect();
        let mut contacts: Vec<Contact> = contacts.into_iter().map(Versioned::into_inner).collect();
        let mut records = Self { agreements, movements, obligations, contacts: Vec::new() };
        let missing: BTreeSet<ContactId> = records.contacts_of(entries).difference(&known).copied().collect();
        contacts.extend(store.contacts(missing).await?.into_iter().map(Versioned::into_inner));
        records.contacts = contacts;
        Ok(records)
    }

    fn contacts_of(&self, entries: &[LedgerEntry]) -> BTreeSet<ContactId> {
        let shown = entries.iter().filter_map(|entry| self.parties_of(entry));
        // A payment's row names them, too.
        let declined = |agreement: &Agreement| {
            let contact = |id| Some(agreement.participant(id)?.contact_id);
            agreement.declined_by().into_iter().filter_map(contact).collect::<Vec<_>>()
        };
        let declined = self.agreements.values().flat_map(declined);
        shown.flat_map(|parties| parties.all().collect::<Vec<_>>()).chain(declined).collect()
    }

    fn parties_of(&self, entry: &LedgerEntry) -> Option<LedgerParties> {
        let agreement = self.agreements.get(&entry.agreement_id)?;
        let contacts = |ids: Vec<ParticipantId>| -> Vec<ContactId> {
            ids.into_iter().filter_map(|id| Some(agreement.participant(id)?.contact_id)).collect()
        };
        Some(match entry.row_type {
            LedgerRowType::Agreement => {
                LedgerParties::Mutual(agreement.participants.iter().map(|participant| participant.contact_id).collect())
            }
            LedgerRowType::Movement => {
                let terms = self.movements.get(&entry.id.into())?.terms();
                let side = |participant: Option<ParticipantId>| contacts(participant.into_iter().collect());
                LedgerParties::OneWay { by: side(terms.sender), to: side(terms.receiver) }
            }
            LedgerRowType::Obligation => {
                let parties = self.obligations.get(&entry.id.into())?.parties();
                let side = |participants: &BTreeSet<ParticipantId>| contacts(participants.iter().copied().collect());
                LedgerParties::OneWay { by: side(parties.promisors()), to: side(parties.promisees()) }
            }
        })
    }
}

struct Shown {
    thing: LedgerThing,
    title: String,
    state: LedgerState,
    risk: Option<Risk>,
    status_sentence: String,
    waits_for: String,
    due_at: Option<Timestamp>,
    payment: Option<LedgerPayment>,
}

impl Shown {
    fn of(entry: &LedgerEntry, records: &Records, days: &mut Days<'_>, now: Timestamp) -> Option<Self> {
        let agreement = records.agreements.get(&entry.agreement_id)?;
        Some(match entry.row_type {
            LedgerRowType::Agreement => Self {
                thing: LedgerThing::Agreement(agreement.id()),
                title: agreement.name.as_str().to_owned(),
                state: agreement.lifecycle().into(),
                risk: None,
                status_sentence: text::agreement_status(agreement, false),
                waits_for: String::new(),
                due_at: agreement.expires_at,
                payment: None,
            },
            LedgerRowType::Movement => {
                let movement = &*records.movements.get(&entry.id.into())?.as_told(agreement);
                Self {
                    thing: LedgerThing::Movement(movement.id()),
                    title: text::payment_title(movement).to_owned(),
                    state: movement.state().into(),
                    risk: movement.risk(),
                    status_sentence: text::movements::movement_sentence(movement),
                    waits_for: text::payment_wait(movement, agreement, &records.contacts),
                    due_at: movement.terms().due_on.map(|day| days.due_at(LedgerDue::By(day))),
                    payment: LedgerPayment::of(movement, agreement),
                }
            }
            LedgerRowType::Obligation => {
                let obligation = &*records.obligations.get(&entry.id.into())?.as_told(agreement);
                Self {
                    thing: LedgerThing::Obligation(obligation.id()),
                    title: obligation.name().as_str().to_owned(),
                    state: obligation.state().into(),
                    risk: None,
                    status_sentence: text::obligation_state(obligation, now),
                    waits_for: text::obligation_wait(obligation, agreement, &records.contacts),
                    due_at: obligation.next_due_at(),
                    payment: None,
                }
            }
        })
    }
}

/// Rows with their content, without payments of drafts that were deleted since their row was read.
async fn show(scope: &Scope, organization: &Organization, entries: &[LedgerEntry]) -> Result<Vec<LedgerRow>, Error> {
    let (records, own) = (Records::load(scope, entries).await?, &organization.own_contact_ids);
    let names: HashMap<ContactId, &DisplayName> =
        records.contacts.iter().map(|contact| (contact.id, &contact.display_name)).collect();
    let mut days = Days::of(&organization.time_zone);
    let row = |entry: &LedgerEntry| {
        let (agreement, parties) = (records.agreements.get(&entry.agreement_id)?, records.parties_of(entry)?);
        let Shown { thing, title, state, risk, status_sentence, waits_for, due_at, payment } =
            Shown::of(entry, &records, &mut days, scope.now())?;
        let with_name = |id: ContactId| Some((id, (*names.get(&id)?).clone()));
        Some(LedgerRow {
            thing,
            workspace_id: agreement.workspace_id,
            agreement_id: agreement.id(),
            agreement: agreement.name.clone(),
            product: agreement.kind.into(),
            title,
            counterparties: parties.counterparties(own).filter_map(with_name).collect(),
            direction: parties.direction(own),
            owing: match &parties {
                LedgerParties::Mutual(_) => None,
                LedgerParties::OneWay { by, to } => {
                    let side = |ids: &[ContactId]| ids.iter().copied().filter_map(with_name).collect();
                    Some(Owing { by: side(by), to: side(to) })
                }
            },
            payment,
            state,
            risk,
            status_sentence,
            waits_for,
            is_overdue: state.is_overdue(is_agreed(agreement.lifecycle()), due_at, scope.now()),
            due_at,
        })
    };
    Ok(entries.iter().filter_map(row).collect())
}
