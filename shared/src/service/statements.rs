//! Bank statements: what members upload, and what the page of a statement compares its entries with.
//! [`movements::file_evidence`](super::movements::file_evidence) files an entry, like all evidence.

use std::collections::{BTreeSet, HashMap};

use crate::crypto::keyring::Keyring;
use crate::domain::bank_account::AccountDigest;
use crate::domain::contact::DisplayName;
use crate::domain::ids::{ContactId, MovementId, StatementId};
use crate::domain::member::Member;
use crate::domain::movement::Movement;
use crate::domain::movement::evidence::{Evidence, EvidenceFile, EvidenceKey};
use crate::domain::movement::source::Side;
use crate::domain::movement::terms::Direction;
use crate::domain::statement::{FiledEntry, RememberedColumns, Statement, StatementFacts, StatementFormat};
use crate::error::Error;
use crate::limits;
use crate::service::movements::{EvidenceHolder, instructed_accounts};
use crate::service::scope::{Plan, Scope};
use crate::store::statements as stored;
use crate::store::{OrgStore, Versioned};
use crate::wire::page::{Page, PageRequest};

/// A statement to be uploaded.
#[derive(Debug, Clone)]
pub struct NewStatement {
    /// Its id, from the form.
    pub id: StatementId,
    /// The file.
    pub file: EvidenceFile,
    /// What was read. None for a CSV file without mapped columns.
    pub facts: Option<StatementFacts>,
}

/// A statement.
pub async fn get(scope: &Scope, id: StatementId) -> Result<Statement, Error> {
    found(scope, id).await.map(Versioned::into_inner)
}

async fn found(scope: &Scope, id: StatementId) -> Result<Versioned<Statement>, Error> {
    scope.store().statement(id).await?.ok_or_else(Error::not_found)
}

/// A page of the statements, newest first.
pub async fn list(scope: &Scope, page: PageRequest) -> Result<Page<Statement>, Error> {
    Ok(scope.store().list_statements(page).await?)
}

/// The column mapping that the organization remembers for CSV files with a header.
pub async fn remembered_columns(scope: &Scope, header: &str) -> Result<Option<String>, Error> {
    Ok(scope.store().remembered_columns(header).await?.map(|remembered| remembered.columns))
}

/// Uploads a statement, with the id from the form. Refused with the statement that has the same file.
pub async fn upload(
    scope: &Scope,
    by: &Member,
    NewStatement { id, file, facts }: NewStatement,
) -> Result<Plan<Result<(), StatementId>>, Error> {
    if let Some(standing) = scope.store().statement_of_file(&file.content.sha256).await? {
        let output = if standing == id { Ok(()) } else { Err(standing) };
        return Ok(Plan::new(scope, output).showing([standing.uuid()]));
    }
    let uploaded_by = scope.actor().clone();
    let uploaded_at = scope.now();
    let statement = Statement { id, file, uploaded_by, uploaded_at, facts, was_filed: false };
    let changes = stored::create(scope.call(), by, &statement)?;
    Ok(Plan::new(scope, Ok(())).change([changes]).showing([id.uuid()]))
}

/// Discards a statement unless an entry was ever filed. True also if it is already discarded.
pub async fn discard(scope: &Scope, by: &Member, id: StatementId) -> Result<Plan<bool>, Error> {
    let plan = |output| Plan::new(scope, output).showing([id.uuid()]);
    let (statement, filed) = tokio::try_join!(scope.store().statement(id), scope.store().filed_entries(id))?;
    let Some(statement) = statement else { return Ok(plan(true)) };
    if statement.was_filed || !filed.is_empty() {
        return Ok(plan(false));
    }
    Ok(plan(true).change([stored::discard(scope.call(), by, &statement)]))
}

/// Whether a member may map the columns of a CSV file: only until an entry is filed, which was read with them.
pub async fn takes_columns(scope: &Scope, statement: &Statement) -> Result<bool, Error> {
    let Some(facts) = &statement.facts else { return Ok(true) };
    Ok(facts.format == StatementFormat::Csv && scope.store().filed_entries(statement.id).await?.is_empty())
}

/// Reads a CSV file with the chosen columns, and remembers them by header. False if an entry is filed by now.
pub async fn read_columns(
    scope: &Scope,
    by: &Member,
    id: StatementId,
    facts: StatementFacts,
    columns: RememberedColumns,
) -> Result<Plan<bool>, Error> {
    let before = found(scope, id).await?;
    let plan = |output| Plan::new(scope, output).showing([id.uuid()]);
    if before.facts.as_ref() == Some(&facts) {
        return Ok(plan(true));
    }
    if !takes_columns(scope, &before).await? {
        return Ok(plan(false));
    }
    let after = Statement { facts: Some(facts), ..(*before).clone() };
    Ok(plan(true).change([stored::read(scope.call(), by, &before, &after, &columns)?]))
}

/// A movement that waits for proof of its arrival, and who pays.
#[derive(Debug, Clone)]
pub struct Awaited {
    /// The movement.
    pub movement: Movement,
    /// The payer's name.
    pub payer: Option<DisplayName>,
}

/// An entry that is filed as evidence.
#[derive(Debug, Clone)]
pub struct FiledEvidence {
    /// Which entry.
    pub number: u32,
    /// The evidence.
    pub evidence: Evidence,
    /// Its movement.
    pub movement: Movement,
}

/// A statement with what its entries are compared with.
#[derive(Debug)]
pub struct StatementReview {
    /// The statement.
    pub statement: Statement,
    /// The filed entries, by number.
    pub filed: Vec<FiledEntry>,
    /// The filed entries that the page shows.
    pub shown: Vec<FiledEvidence>,
    /// The movements to the receiving side that wait for proof.
    pub awaited: Vec<Awaited>,
    /// How many more there are than were read.
    pub more_awaited: usize,
}

/// A statement, with the filed entries of one page, and the movements that wait for proof, those due first.
pub async fn review(scope: &Scope, id: StatementId, page: PageRequest) -> Result<StatementReview, Error> {
    let store = scope.store();
    let (filed, awaited) =
        (async { Ok(store.filed_entries(id).await?) }, async { Ok(store.awaited_movements().await?) });
    let (statement, filed, mut awaited) = tokio::try_join!(found(scope, id), filed, awaited)?;
    awaited.sort_by_key(|movement| (movement.is_over, movement.due_on.is_none(), movement.due_on, movement.id));
    let more_awaited = awaited.len().saturating_sub(limits::STATEMENT_MOVEMENTS_MAX);
    awaited.truncate(limits::STATEMENT_MOVEMENTS_MAX);
    let payers: HashMap<MovementId, ContactId> =
        awaited.iter().filter_map(|movement| Some((movement.id, movement.payer?))).collect();
    let over: BTreeSet<MovementId> =
        awaited.iter().filter(|movement| movement.is_over).map(|movement| movement.id).collect();
    let on_page = Page::slice(filed.clone(), page).data;
    let contacts: BTreeSet<ContactId> = payers.values().copied().collect();
    let (movements, contacts, shown) = tokio::try_join!(
        async { Ok::<_, Error>(store.movements(awaited.iter().map(|movement| movement.id)).await?) },
        async { Ok(store.contacts(contacts).await?) },
        filed_evidence(store, &on_page),
    )?;
    let names: HashMap<ContactId, DisplayName> =
        contacts.into_iter().map(|contact| (contact.id, contact.display_name.clone())).collect();
    // Its own record may not say yet that it ended with its agreement.
    let told = |movement: Versioned<Movement>| {
        if over.contains(&movement.id()) { movement.told_at_end().into_owned() } else { movement.into_inner() }
    };
    let awaited = movements.into_iter().map(told).filter(is_awaited).map(|movement| {
        let payer = payers.get(&movement.id()).and_then(|payer| names.get(payer)).cloned();
        Awaited { movement, payer }
    });
    let awaited = awaited.collect();
    Ok(StatementReview { statement: statement.into_inner(), filed, shown, awaited, more_awaited })
}

/// Whether a statement of the receiving side may show its arrival: not if the organization itself pays.
fn may_arrive(movement: &Movement) -> bool {
    movement.terms().direction != Direction::Outgoing
}

/// Whether entries are offered for a movement: it takes evidence, or is an exception because it did not arrive. One
/// that ended with its agreement must have instructions, by which anyone could have paid.
fn is_awaited(movement: &Movement) -> bool {
    let is_open = movement.is_not_received() || movement.takes_evidence_of(Side::Receiver);
    may_arrive(movement) && is_open && (!movement.ended_with_its_agreement() || movement.instructions().is_some())
}

/// The movements whose arrival no statement of the receiving side shows, because the organization itself pays.
pub async fn not_arriving(
    scope: &Scope,
    movements: impl IntoIterator<Item = MovementId>,
) -> Result<Vec<Movement>, Error> {
    let movements: BTreeSet<MovementId> = movements.into_iter().collect();
    let found = scope.store().movements(movements).await?;
    Ok(found.into_iter().map(Versioned::into_inner).filter(|movement| !may_arrive(movement)).collect())
}

/// Digests of the accounts in movements' released instructions, to compare with statements' accounts.
pub async fn instructed(
    scope: &Scope,
    keys: &Keyring,
    awaited: &[Awaited],
) -> Result<HashMap<MovementId, Vec<AccountDigest>>, Error> {
    let mut instructed = HashMap::new();
    for Awaited { movement, .. } in awaited {
        // The stored digests suffice, unless a key was retired since.
        if let Some(accounts) = instructed_accounts(scope, keys, movement).await? {
            instructed.insert(movement.id(), accounts);
        }
    }
    Ok(instructed)
}

async fn filed_evidence(store: &OrgStore, filed: &[FiledEntry]) -> Result<Vec<FiledEvidence>, Error> {
    let movements: BTreeSet<MovementId> = filed.iter().map(|entry| entry.movement_id).collect();
    let (evidence, movements) = tokio::try_join!(store.evidence_of_entries(filed), store.movements(movements))?;
    let movements: HashMap<MovementId, Movement> =
        movements.into_iter().map(|movement| (movement.id(), movement.into_inner())).collect();
    let show = |evidence: Evidence| {
        let number = evidence.entry()?.number;
        let movement = movements.get(&evidence.movement_id())?.clone();
        Some(FiledEvidence { number, evidence, movement })
    };
    Ok(evidence.into_iter().filter_map(show).collect())
}

/// The movements for which entries already count, by key.
pub async fn holders(scope: &Scope, keys: &[EvidenceKey]) -> Result<HashMap<EvidenceKey, EvidenceHolder>, Error> {
    Ok(scope.store().holders_by_key(keys).await?)
}
