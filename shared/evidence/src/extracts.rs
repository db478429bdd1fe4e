//! The entries of bank statements that prove accepted payments, as they were read.
//!
//! Decision: only those entries. The rest of a statement is about others, and its file names the account in full.

use serde::Serialize;
use shared::domain::day::Day;
use shared::domain::ids::{EvidenceId, MovementId};
use shared::domain::money::Money;

/// A line of `statement_extracts.jsonl`: an entry with the statement that it is of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StatementExtract {
    /// The evidence that it is, in `receiver_evidence.jsonl`.
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
    /// The last characters of the account's number, if the file has it.
    pub account_ending: Option<String>,
    /// Which of the file's entries it is, from 1.
    pub number: u32,
    /// Where it stands in the file, such as `line 12`.
    pub position: String,
    /// The amount. It came in, and was booked.
    pub amount: Money,
    /// The day on which the bank booked it.
    pub booked_on: Option<Day>,
    /// The day from which on it counts.
    pub value_on: Option<Day>,
    /// Its references, without those that are account numbers.
    pub references: Vec<ExtractReference>,
    /// Who paid.
    pub counterparty: Option<String>,
    /// What the payer or the bank wrote.
    pub text: Option<String>,
}

/// A reference of an entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExtractReference {
    /// What it is, such as `account_servicer_reference`.
    pub kind: String,
    /// The reference.
    pub value: String,
}
