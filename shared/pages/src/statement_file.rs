//! Reads statement files into the service's types.
//!
//! - Decision: an entry counts once for the organization. Files overlap: a month contains its days, and a notification
//!   precedes the statement. So an entry is identified by its content, not its file and place: account, days, amount,
//!   names, text and references, and a counter for entries with the same content, since a file may have two. It is also
//!   identified by the banks' own references, which other formats have too.
//! - Decision: a payer's reference (`EndToEndId`, `EREF`) never identifies an entry: a standing order has the same one
//!   each month. Neither does any reference that two arrivals of a file share.
//! - Decision: statements are read on a thread of this process, not in one of their own as PDFs are. The readers are
//!   ours, and their limits end every reading and what it nests: the longest of the tests takes 0.4 s. A process of its
//!   own (3 ms to start) would need a way to hand over 50,000 entries.

use std::collections::BTreeSet;

use axum::body::Bytes;
use shared::crypto::{fingerprint, hex};
use shared::domain::day::Day;
use shared::domain::ids::{EvidenceId, StatementId};
use shared::domain::money::{Currency, Money};
use shared::domain::movement::evidence::{BankReference, EvidenceFacts, EvidenceFile, NewEvidence, StatementEntry};
use shared::domain::movement::evidence_account::SpokenAccount;
use shared::domain::statement::{Statement, StatementFacts, StatementFormat};
use shared::error::Error;
use shared::limits;
use statements::{
    Account, Entry, Format, Mapping, Reference, ReferenceKind, Refusal, Side, Statement as Read, Suggestion,
};

/// Runs CPU-bound work on a blocking thread.
pub async fn apart<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Error> {
    tokio::task::spawn_blocking(work).await.map_err(|error| Error::Internal(error.to_string()))
}

/// The totals of a file. `columns` is the mapping, for CSV.
pub async fn facts(file: Bytes, columns: Option<String>) -> Result<Result<StatementFacts, Refusal>, Error> {
    apart(move || Ok(entries(&file, columns.as_deref())?.map(|read| facts_of(&read, columns)))).await?
}

/// Suggests a mapping for a CSV file.
pub async fn suggestion(file: Bytes) -> Result<Result<Suggestion, Refusal>, Error> {
    apart(move || statements::suggest(&file)).await
}

/// Reads a file's statements.
pub fn entries(file: &[u8], columns: Option<&str>) -> Result<Result<Vec<Read>, Refusal>, Error> {
    let mapping = columns.map(serde_json::from_str::<Mapping>).transpose();
    let mapping = mapping.map_err(|_| Error::Internal("columns of a statement that can't be read".to_owned()))?;
    Ok(statements::read(file, mapping.as_ref()))
}

/// The statements of a stored file, which was read before.
pub fn entries_again(statement: &Statement, file: &[u8]) -> Result<Vec<Read>, Error> {
    let columns = statement.facts.as_ref().and_then(|facts| facts.columns.as_deref());
    entries(file, columns)?.map_err(|refusal| Error::Internal(format!("a statement that was read before {refusal}")))
}

/// Identifies the header of a CSV file.
pub fn header(suggestion: &Suggestion) -> String {
    let names = suggestion.headers.iter().map(|name| name.trim().to_lowercase());
    let mut parts: Vec<String> = vec![suggestion.has_header.to_string()];
    parts.extend(names);
    hex(&fingerprint(&parts.iter().map(String::as_bytes).collect::<Vec<_>>()))
}

fn facts_of(read: &[Read], columns: Option<String>) -> StatementFacts {
    let all = numbered(read);
    let days = || all.iter().filter_map(|one| day(one.entry.booked_on.or(one.entry.value_on)));
    let mut endings = BTreeSet::new();
    endings.extend(read.iter().filter_map(Read::account_ending));
    let count = |entries: usize| u32::try_from(entries).unwrap_or(u32::MAX);
    StatementFacts {
        format: read.first().map_or(StatementFormat::Csv, |statement| format(statement.format)),
        account_endings: endings.into_iter().take(limits::STATEMENT_ACCOUNTS_NAMED_MAX).collect(),
        first_day: days().min(),
        last_day: days().max(),
        entries: count(all.len()),
        arrivals: count(all.iter().filter(|one| is_arrival(one.entry)).count()),
        columns,
    }
}

fn format(format: Format) -> StatementFormat {
    match format {
        Format::Camt052 => StatementFormat::Camt052,
        Format::Camt053 => StatementFormat::Camt053,
        Format::Camt054 => StatementFormat::Camt054,
        Format::Mt940 => StatementFormat::Mt940,
        Format::Mt942 => StatementFormat::Mt942,
        Format::Bai2 => StatementFormat::Bai2,
        Format::Ofx => StatementFormat::Ofx,
        Format::Csv => StatementFormat::Csv,
    }
}

/// Converts a date to the service's type.
pub fn day(date: Option<impl ToString>) -> Option<Day> {
    Day::parse(&date?.to_string())
}

/// An entry with its number in the file.
#[derive(Debug, Clone, Copy)]
pub struct Numbered<'a> {
    /// Its number among the file's entries, from 1.
    pub number: u32,
    /// The entry.
    pub entry: &'a Entry,
    /// The index of its statement in the file.
    pub statement: usize,
    /// Its account.
    pub account: Option<&'a Account>,
}

/// A file's entries in their order.
#[must_use]
pub fn numbered(read: &[Read]) -> Vec<Numbered<'_>> {
    let entries = read
        .iter()
        .enumerate()
        .flat_map(|(at, statement)| statement.entries.iter().map(move |entry| (at, entry, statement.account.as_ref())));
    let numbered = |(number, (statement, entry, account))| Numbered { number, entry, statement, account };
    (1..).zip(entries).map(numbered).collect()
}

/// Whether money came in: booked, a credit, and no reversal.
#[must_use]
pub fn is_arrival(entry: &Entry) -> bool {
    entry.side == Side::Credit && !entry.is_reversal && entry.is_booked
}

/// The amount of an entry.
#[must_use]
pub fn money(entry: &Entry) -> Option<Money> {
    Money::new(entry.amount_minor, Currency::parse(entry.currency.code())?).ok()
}

/// An entry as evidence, given all entries of its file.
#[must_use]
pub fn entry_of(statement_id: StatementId, all: &[Numbered<'_>], one: Numbered<'_>) -> StatementEntry {
    let (unique, other) = references(all, one.entry);
    StatementEntry {
        statement_id,
        number: one.number,
        fingerprint: fingerprint_of(all, one),
        unique_references: unique,
        other_references: other,
    }
}

/// An entry as evidence, with its statement's account. None if the service has no such amount, or the entry has no day.
#[must_use]
pub fn evidence_of(
    id: EvidenceId,
    file: &EvidenceFile,
    entry: StatementEntry,
    read: &Entry,
    account: SpokenAccount,
) -> Option<NewEvidence> {
    let reference = entry.unique_references.first().or_else(|| entry.other_references.first()).cloned();
    let value_day = day(read.value_on.or(read.booked_on))?;
    let facts = EvidenceFacts { money: money(read)?, value_day, reference, file: Some(file.clone()) };
    Some(NewEvidence::of_entry(id, entry, facts, account))
}

/// The entry's content, with a counter for entries with the same content.
fn fingerprint_of(all: &[Numbered<'_>], one: Numbered<'_>) -> String {
    let said = said(one);
    let earlier = all.iter().take_while(|other| other.number < one.number);
    let same =
        earlier.filter(|other| other.entry.amount_minor == one.entry.amount_minor && self::said(**other) == said);
    let which = same.count().to_string();
    let parts: Vec<&[u8]> = said.iter().map(String::as_bytes).chain([which.as_bytes()]).collect();
    hex(&fingerprint(&parts))
}

fn said(Numbered { entry, account, .. }: Numbered<'_>) -> Vec<String> {
    let date = |date: Option<String>| date.unwrap_or_default();
    let mut said = vec![
        account.and_then(Account::ending).unwrap_or_default(),
        format!("{:?} {} {}", entry.side, entry.is_reversal, entry.is_booked),
        entry.amount_minor.to_string(),
        entry.currency.code().to_owned(),
        date(entry.booked_on.map(|date| date.to_string())),
        date(entry.value_on.map(|date| date.to_string())),
        entry.counterparty.clone().unwrap_or_default(),
        entry.text.clone().unwrap_or_default(),
    ];
    said.extend(entry.references.iter().map(|reference| format!("{:?} {}", reference.kind, reference.value)));
    said
}

fn references(all: &[Numbered<'_>], entry: &Entry) -> (Vec<BankReference>, Vec<BankReference>) {
    let shares = |reference: &Reference| {
        let has_it = |other: &&Numbered<'_>| is_arrival(other.entry) && other.entry.references.contains(reference);
        all.iter().filter(has_it).count() > 1
    };
    let of_banks = entry.references.iter().filter(|found| is_of_a_bank(found.kind));
    let unique: Vec<&Reference> = of_banks.filter(|found| !shares(found)).collect();
    let others = entry.references.iter().filter(|found| !unique.contains(found)).collect();
    (kept(unique), kept(others))
}

/// Whether a bank or its network gives such a reference to one transfer.
fn is_of_a_bank(kind: ReferenceKind) -> bool {
    matches!(
        kind,
        ReferenceKind::Uetr
            | ReferenceKind::AccountServicerReference
            | ReferenceKind::TransactionId
            | ReferenceKind::BankReference
            | ReferenceKind::ClearingSystemReference
    )
}

fn kept(references: Vec<&Reference>) -> Vec<BankReference> {
    let mut kept: Vec<BankReference> = Vec::new();
    for found in references.into_iter().filter_map(|found| BankReference::parse(&found.value).ok()) {
        if kept.len() < limits::STATEMENT_REFERENCES_KEPT && !kept.contains(&found) {
            kept.push(found);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statement_fixtures::{Lines, statement};

    fn entries_of(read: &[Read]) -> Vec<StatementEntry> {
        let all = numbered(read);
        all.iter().map(|one| entry_of(StatementId::new(), &all, *one)).collect()
    }

    #[test]
    fn an_entry_is_the_same_in_a_file_that_overlaps_and_no_other() {
        let [first, twice, last] = [
            ("100.00", "CRDT", "", "Invoice 17"),
            ("250.00", "CRDT", "", "Deposit"),
            ("100.00", "CRDT", "", "Invoice 17"),
        ];
        let month = entries_of(&statement(&[first, twice, twice, last]));
        let week = entries_of(&statement(&[first, twice, twice]));
        let prints =
            |entries: &[StatementEntry]| entries.iter().map(|entry| entry.fingerprint.clone()).collect::<Vec<_>>();
        let (month, week) = (prints(&month), prints(&week));
        assert_eq!(month[..3], week[..]);
        assert_eq!(month.iter().collect::<BTreeSet<_>>().len(), 4, "those that say the same are several");
        let other = prints(&entries_of(&statement(&[("100.00", "CRDT", "", "Invoice 18")])));
        assert!(!month.contains(&other[0]));
    }

    fn credit(more: &str) -> Lines<'_> {
        ("1.00", "CRDT", more, "")
    }

    #[test]
    fn only_what_a_bank_gives_to_one_transfer_makes_an_entry_unique() {
        let unique = |entries: &[Lines<'_>]| {
            let texts = |entry: StatementEntry| {
                entry.unique_references.iter().map(|found| found.as_str().to_owned()).collect::<Vec<_>>()
            };
            entries_of(&statement(entries)).into_iter().map(texts).collect::<Vec<_>>()
        };
        let [a, b] = ["BANK-1", "BANK-2"].map(|bank| format!("<AcctSvcrRef>{bank}</AcctSvcrRef>"));
        let rent = |bank: &str| {
            format!("{bank}<NtryDtls><TxDtls><Refs><EndToEndId>RENT</EndToEndId></Refs></TxDtls></NtryDtls>")
        };
        let (one, other, none) = (rent(&a), rent(&b), rent(""));
        assert_eq!(unique(&[credit(&one), credit(&other)]), [["BANK-1"], ["BANK-2"]], "not the payer’s");
        assert_eq!(unique(&[credit(&a), credit(&a)]), [[""; 0], [""; 0]], "what two have is unique to none");
        assert_eq!(unique(&[credit(&a), ("1.00", "DBIT", &a, "")])[0], ["BANK-1"], "what takes it back has it too");
        let numbered = "<NtryRef>20260302-1</NtryRef>";
        assert_eq!(unique(&[credit(numbered)]), [[""; 0]], "another account has the same number");
        assert_eq!(unique(&[credit(&none)]), [[""; 0]], "the payer’s comes again next month");
    }
}
