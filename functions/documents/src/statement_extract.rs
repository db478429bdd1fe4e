//! The statement entries that prove accepted payments, for an agreement's bundle, with apparent account numbers masked.

use std::collections::HashMap;

use bundle::agreement::{ExtractReference, StatementExtract};
use pages::masked::masked;
use pages::statement_file as read;
use shared::domain::bundle::{AgreementRecord, BundleContents};
use shared::domain::ids::{EvidenceId, MovementId, OrgId};
use shared::domain::money::Money;
use shared::domain::statement::Statement;
use shared::error::Error;
use shared::platform::files::FilesError;
use shared::web::Request;
use statements::{Account, ReferenceKind};

const TEXT_CHARS_MAX: usize = statements::limits::TEXT_CHARS_MAX;

pub(crate) enum Unread {
    File(FilesError),
    Other(Error),
}

struct Wanted {
    evidence: EvidenceId,
    movement: MovementId,
    number: u32,
    money: Money,
}

/// Ordered by payment. Statements may be large, so they are read one by one.
pub(crate) async fn extracts(
    request: &Request,
    org: OrgId,
    found: &BundleContents,
) -> Result<Vec<StatementExtract>, Unread> {
    let store = request.app().files().map_err(Unread::Other)?;
    let mut extracts = HashMap::new();
    for statement in &found.statements {
        let file = store.get(org, &statement.file.content).await.map_err(Unread::File)?;
        let (statement, wanted) = (statement.clone(), wanted(&found.record, statement));
        let read = read::apart(move || of_statement(&statement, &file, &wanted)).await.and_then(|read| read);
        extracts.extend(read.map_err(Unread::Other)?.into_iter().map(|extract| (extract.evidence_id, extract)));
    }
    Ok(found.record.proving_entries().filter_map(|(evidence, _)| extracts.remove(&evidence.id())).collect())
}

fn wanted(record: &AgreementRecord, statement: &Statement) -> Vec<Wanted> {
    let entries = record.proving_entries().filter(|(_, entry)| entry.statement_id == statement.id);
    let wanted = entries.map(|(evidence, entry)| Wanted {
        evidence: evidence.id(),
        movement: evidence.movement_id(),
        number: entry.number,
        money: evidence.facts().money,
    });
    wanted.collect()
}

fn of_statement(statement: &Statement, file: &[u8], wanted: &[Wanted]) -> Result<Vec<StatementExtract>, Error> {
    let read = read::entries_again(statement, file)?;
    let all = read::numbered(&read);
    wanted.iter().map(|wanted| extract(statement, &all, wanted)).collect()
}

fn extract(statement: &Statement, all: &[read::Numbered<'_>], wanted: &Wanted) -> Result<StatementExtract, Error> {
    let found = all.iter().find(|one| one.number == wanted.number);
    // It was read before, so a different amount means a different entry.
    let found = found.filter(|one| read::money(one.entry) == Some(wanted.money)).ok_or_else(|| {
        Error::Internal(format!("evidence: entry {} of the statement {} is another one", wanted.number, statement.id))
    })?;
    let entry = found.entry;
    let shown = |text: &str| masked(text, TEXT_CHARS_MAX, &[]);
    let reference =
        |found: &statements::Reference| ExtractReference { kind: kind(found.kind), value: shown(&found.value) };
    Ok(StatementExtract {
        evidence_id: wanted.evidence,
        movement_id: wanted.movement,
        file_name: statement.file.name.as_str().to_owned(),
        file_sha256: statement.file.content.sha256.clone(),
        size_bytes: statement.file.content.size_bytes,
        format: statement.facts.as_ref().map_or("", |facts| facts.format.as_str()),
        account_ending: found.account.and_then(Account::ending),
        number: wanted.number,
        position: entry.position.to_string(),
        amount: wanted.money,
        booked_on: read::day(entry.booked_on),
        value_on: read::day(entry.value_on),
        references: entry.references.iter().map(reference).collect(),
        counterparty: entry.counterparty.as_deref().map(shown),
        text: entry.text.as_deref().map(shown),
    })
}

fn kind(kind: ReferenceKind) -> String {
    serde_json::to_value(kind).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
}
