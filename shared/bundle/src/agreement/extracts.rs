//! The statement entries that prove accepted payments, as they were read.
//!
//! Decision: only those entries. The rest of a statement is about others, and its file names the account in full.

use serde::Serialize;
use shared::domain::day::Day;
use shared::domain::ids::{EvidenceId, MovementId};
use shared::domain::money::Money;

/// A line of `statement_extracts.jsonl`: an entry and its statement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StatementExtract {
    /// Its evidence in `receiver_evidence.jsonl`.
    pub evidence_id: EvidenceId,
    /// The payment that it proves.
    pub movement_id: MovementId,
    /// The name of the statement's file.
    pub file_name: String,
    /// The SHA-256 of the whole file.
    pub file_sha256: String,
    /// Its size.
    pub size_bytes: u64,
    /// Its format, such as `camt.053`.
    pub format: &'static str,
    /// The last characters of the account's number, if in the file.
    pub account_ending: Option<String>,
    /// The entry's number in the file, from 1.
    pub number: u32,
    /// Its position in the file, such as `line 12`.
    pub position: String,
    /// The incoming, booked amount.
    pub amount: Money,
    /// The booking day.
    pub booked_on: Option<Day>,
    /// The value day.
    pub value_on: Option<Day>,
    /// Its references, without account numbers.
    pub references: Vec<ExtractReference>,
    /// Who paid.
    pub counterparty: Option<String>,
    /// What the payer or the bank wrote.
    pub text: Option<String>,
}

/// A reference of an entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExtractReference {
    /// Its kind, such as `account_servicer_reference`.
    pub kind: String,
    /// The reference.
    pub value: String,
}
