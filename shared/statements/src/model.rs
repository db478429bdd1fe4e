//! Statements and entries, the same for every format.

use std::fmt;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::account::Account;
use crate::currency::Currency;
use crate::limits;

/// The format of a file, recognized by its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Bank to customer account report (ISO 20022), of the running day.
    Camt052,
    /// Bank to customer statement (ISO 20022).
    Camt053,
    /// Bank to customer debit credit notification (ISO 20022).
    Camt054,
    /// Customer statement message (SWIFT).
    Mt940,
    /// Interim transaction report (SWIFT). Its entries aren't final, so none is booked.
    Mt942,
    /// Cash management balance report (Bank Administration Institute, version 2).
    Bai2,
    /// Open Financial Exchange, in SGML or XML.
    Ofx,
    /// Columns of text, read with a [`Mapping`](crate::Mapping).
    Csv,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Camt052 => "camt.052",
            Self::Camt053 => "camt.053",
            Self::Camt054 => "camt.054",
            Self::Mt940 => "MT940",
            Self::Mt942 => "MT942",
            Self::Bai2 => "BAI2",
            Self::Ofx => "OFX",
            Self::Csv => "CSV",
        })
    }
}

/// One statement of one account. A file may have several, for different days or accounts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// The format of the file.
    pub format: Format,
    /// The account, if the file names one. Nothing else in the result has its number.
    pub account: Option<Account>,
    /// The balance before the entries.
    pub opening: Option<Balance>,
    /// The balance after the entries.
    pub closing: Option<Balance>,
    /// In the order of the file.
    pub entries: Vec<Entry>,
    /// How many entries of amount 0 were left out. Banks use them as messages; no money moved.
    pub entries_of_zero: usize,
}

impl Statement {
    /// The last four characters of the account number, unless missing or most of it.
    #[must_use]
    pub fn account_ending(&self) -> Option<String> {
        self.account.as_ref().and_then(Account::ending)
    }
}

/// A balance of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Balance {
    /// In minor units; negative if overdrawn.
    pub amount_minor: i64,
    /// The currency.
    pub currency: Currency,
    /// The day.
    pub on: Option<Date>,
}

/// Where an entry is in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Position {
    /// The line where the entry begins, from 1.
    Line(usize),
    /// The row as spreadsheets number them: from 1, counting blank rows and the header.
    Row(usize),
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Row(row) => write!(f, "row {row}"),
        }
    }
}

/// The direction of an entry, as the account holder sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// Money came in.
    Credit,
    /// Money went out.
    Debit,
}

/// Money that came in or went out, or is going to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Where it is in the file. Several transactions of a batch may begin on one line.
    pub position: Position,
    /// Its effect on the account: a reversal has its own side, not that of what it reverses.
    pub side: Side,
    /// Whether it reverses an entry or returns a payment.
    pub is_reversal: bool,
    /// Whether it is final: not pending, expected or merely informing.
    pub is_booked: bool,
    /// In minor units, above 0.
    pub amount_minor: i64,
    /// The currency.
    pub currency: Currency,
    /// When the bank booked it.
    pub booked_on: Option<Date>,
    /// The value date.
    pub value_on: Option<Date>,
    /// In the order of the file, without duplicates and placeholders such as "not provided".
    pub references: Vec<Reference>,
    /// Who paid or was paid.
    pub counterparty: Option<String>,
    /// What payer or bank wrote about it, on one line.
    pub text: Option<String>,
}

impl Entry {
    pub(crate) fn new(position: Position, side: Side, amount_minor: i64, currency: Currency) -> Self {
        Self {
            position,
            side,
            is_reversal: false,
            is_booked: true,
            amount_minor,
            currency,
            booked_on: None,
            value_on: None,
            references: Vec::new(),
            counterparty: None,
            text: None,
        }
    }

    pub(crate) fn refer(&mut self, reference: Reference) {
        if self.references.len() < limits::REFERENCES_PER_ENTRY_MAX && !self.references.contains(&reference) {
            self.references.push(reference);
        }
    }
}

/// A reference of an entry.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Reference {
    /// What it is.
    pub kind: ReferenceKind,
    /// As in the file, on one line.
    pub value: String,
}

/// The kind of a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReferenceKind {
    /// The payer's reference, which the receiver sees (`EndToEndId`, `EREF`).
    EndToEndId,
    /// SWIFT's unique end-to-end transaction reference.
    Uetr,
    /// The receiving bank's reference of the entry (`AcctSvcrRef`).
    AccountServicerReference,
    /// The receiving bank's reference of a batch, shared by all its transactions.
    BatchReference,
    /// The first bank's id of the transaction (`TxId`).
    TransactionId,
    /// The bank's reference (`:61:` after `//`, or a column).
    BankReference,
    /// The customer's reference (`:61:`, `KREF`).
    CustomerReference,
    /// The id of the instruction (`InstrId`).
    InstructionId,
    /// The id of the payment order (`PmtInfId`).
    PaymentInformationId,
    /// The id of the message (`MsgId`).
    MessageId,
    /// The clearing system's reference (`ClrSysRef`): the IMAD of Fedwire, the trace number of ACH.
    ClearingSystemReference,
    /// The id of the mandate (`MndtId`, `MREF`).
    MandateId,
    /// The number of the check.
    CheckNumber,
    /// The receiver's structured reference (`CdtrRefInf`), such as one that begins with `RF`.
    CreditorReference,
    /// The bank's number of the entry in the statement or account (`NtryRef`, `FITID`).
    EntryReference,
    /// Any other reference.
    Other,
}
