//! Bank statements uploaded by members. One alone proves nothing: members file entries as
//! [evidence](super::movement::evidence). Entries stay in the file and are parsed again whenever shown or filed.
//!
//! - Decision: a CSV file whose columns are not mapped yet is stored as a statement too, so no upload is lost.
//! - Decision: a statement can be discarded until its first entry is filed; from then on evidence names it, even if
//!   rejected or withdrawn. Filing makes a new version, so a concurrent discard is decided again.

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
        /// Bank to customer debit/credit notification (ISO 20022).
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

/// A bank statement as stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statement {
    /// Its id.
    pub id: StatementId,
    /// The file. An organization has each content once.
    pub file: EvidenceFile,
    /// Who uploaded it.
    pub uploaded_by: Actor,
    /// When.
    pub uploaded_at: Timestamp,
    /// A summary of its content. None for a CSV file without mapped columns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts: Option<StatementFacts>,
    /// Whether an entry was ever filed as evidence. Evidence then names the statement permanently.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub was_filed: bool,
}

/// A summary of a statement's content, without account numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatementFacts {
    /// The format.
    pub format: StatementFormat,
    /// The last four characters of account numbers, up to `limits::STATEMENT_ACCOUNTS_NAMED_MAX`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub account_endings: Vec<String>,
    /// The first booking day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_day: Option<Day>,
    /// The last booking day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_day: Option<Day>,
    /// The number of entries.
    pub entries: u32,
    /// The number of booked incoming entries that aren't reversals.
    pub arrivals: u32,
    /// The column mapping, as the statement reader writes it. CSV only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<String>,
}

/// The column mapping that the organization remembers for files with the same header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RememberedColumns {
    /// The header's fingerprint.
    pub header: String,
    /// The column mapping, as the statement reader writes it.
    pub columns: String,
}

/// A statement entry filed as evidence, undecided or accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FiledEntry {
    /// The entry's number, from 1.
    pub number: u32,
    /// The movement it was filed for.
    pub movement_id: MovementId,
    /// The evidence.
    pub evidence_id: EvidenceId,
}
