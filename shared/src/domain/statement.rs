//! Bank statements that members uploaded on the receiving side. A statement proves nothing by itself: members file the
//! entries that they choose as [evidence](super::movement::evidence), and decide about each.
//!
//! The record says which file it is and what was read from it in all. The entries stay in the file, which the record names by
//! its hash: they are read from it again whenever they are shown or filed, in the same way.
//!
//! Decision: a CSV file whose columns nobody has named yet is a statement too, and waits for its columns. What was uploaded is
//! never lost on the way, and none of its entries is shown before all of them can be read.
//!
//! Decision: a statement can be discarded until the first of its entries is filed. From then on evidence names it, whatever
//! became of that evidence. Filing writes so to the statement, with a new version: of discarding and filing at the same moment
//! one is decided again.

use serde::{Deserialize, Serialize};

use super::actor::Actor;
use super::day::Day;
use super::ids::{EvidenceId, MovementId, StatementId};
use super::movement::evidence::EvidenceFile;
use super::time::Timestamp;
use crate::wire::enums::text_enum;

text_enum! {
    /// The format of a statement file.
    pub enum StatementFormat {
        /// Bank to customer account report (ISO 20022).
        Camt052 = "camt.052",
        /// Bank to customer statement (ISO 20022).
        Camt053 = "camt.053",
        /// Bank to customer debit credit notification (ISO 20022).
        Camt054 = "camt.054",
        /// Customer statement message (SWIFT).
        Mt940 = "MT940",
        /// Interim transaction report (SWIFT).
        Mt942 = "MT942",
        /// Cash management balance report (Bank Administration Institute).
        Bai2 = "BAI2",
        /// Open Financial Exchange.
        Ofx = "OFX",
        /// Text in columns.
        Csv = "CSV",
    }
}

/// A bank statement as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statement {
    /// Its id.
    pub id: StatementId,
    /// The file. The organization has each content once.
    pub file: EvidenceFile,
    /// Who uploaded it.
    pub uploaded_by: Actor,
    /// When.
    pub uploaded_at: Timestamp,
    /// What was read. None of a CSV file that waits for its columns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts: Option<StatementFacts>,
    /// Whether an entry of it was ever filed as evidence. That evidence names the statement for good.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub was_filed: bool,
}

/// What was read from a statement in all. No account number is in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatementFacts {
    /// The format.
    pub format: StatementFormat,
    /// The last four characters of the account numbers, each once, at most
    /// [`STATEMENT_ACCOUNTS_NAMED_MAX`](crate::limits::STATEMENT_ACCOUNTS_NAMED_MAX).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub account_endings: Vec<String>,
    /// The first day on which an entry was booked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_day: Option<Day>,
    /// The last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_day: Option<Day>,
    /// How many entries there are.
    pub entries: u32,
    /// How many of them are money that came in, booked and no reversal.
    pub arrivals: u32,
    /// Which column is which, as the reader of statements writes it. None but for CSV.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<String>,
}

/// Which column is which, as the organization remembers it for the next file with the same header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RememberedColumns {
    /// What tells the header from others.
    pub header: String,
    /// Which column is which, as the reader of statements writes it.
    pub columns: String,
}

/// An entry of a statement that is filed as evidence, undecided or accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FiledEntry {
    /// Which of the entries, from 1.
    pub number: u32,
    /// The movement that it was filed for.
    pub movement_id: MovementId,
    /// The evidence.
    pub evidence_id: EvidenceId,
}
