//! Maps a CSV file's columns. Members choose the mapping once; callers remember it.

use serde::{Deserialize, Serialize};

use crate::currency::Currency;
use crate::model::ReferenceKind;

/// The meaning of each column. Callers keep it as JSON for the bank's next file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mapping {
    /// The column separator; detected in each file if none.
    #[serde(default)]
    pub delimiter: Option<Delimiter>,
    /// Whether a header row, the first with all named columns, precedes the entries. Rows before it are skipped.
    pub has_header: bool,
    /// The booking date.
    pub booked_on: Column,
    /// The order of day, month and year; if none, detected, which fails if dates are ambiguous.
    #[serde(default)]
    pub date_order: Option<DateOrder>,
    /// The value date.
    #[serde(default)]
    pub value_on: Option<Column>,
    /// The amount and its side.
    pub amount: Amount,
    /// What stands before the decimals.
    pub decimal_mark: DecimalMark,
    /// The currency.
    pub currency: CurrencySource,
    /// The references and their kinds.
    #[serde(default)]
    pub references: Vec<ReferenceColumn>,
    /// Who paid or was paid.
    #[serde(default)]
    pub counterparty: Option<Column>,
    /// What payer or bank wrote; several columns are joined.
    #[serde(default)]
    pub text: Vec<Column>,
    /// Booked or pending; without it, all entries are booked.
    #[serde(default)]
    pub status: Option<Column>,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Column {
    /// By its name in the header row, in any case: it may move from file to file.
    Named(String),
    /// By its number, from 1: without a header, or if two columns share a name.
    Numbered(usize),
}

/// Where amount and side are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Amount {
    /// One column; outgoing amounts have a minus.
    Signed(Column),
    /// Two columns. A minus is ignored among debits and refused among credits.
    CreditAndDebit {
        /// What came in.
        credit: Column,
        /// What went out.
        debit: Column,
    },
    /// The amount in one column and a word for the side in another.
    WithSide {
        /// The amount; only a debit may have a minus.
        amount: Column,
        /// `C`, `D`, `CR`, `DR`, `Credit`, `Haben`, `Soll`, … (see [`SIDE_WORDS`]).
        side: Column,
    },
}

/// Where the currency is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CurrencySource {
    /// In a column.
    Column(Column),
    /// The same for all entries.
    Fixed(Currency),
}

/// A column of references.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReferenceColumn {
    /// What they are.
    pub kind: ReferenceKind,
    /// The column.
    pub column: Column,
}

/// The order of day, month and year.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DateOrder {
    /// `31.01.2026`, `31/01/26`, `31 Jan 2026`.
    DayMonthYear,
    /// `01/31/2026`, `Jan 31, 2026`.
    MonthDayYear,
    /// `2026-01-31`, `20260131`.
    YearMonthDay,
}

/// The mark before the decimals. The other mark, apostrophes and blanks may separate groups of three digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecimalMark {
    /// `1250,50`
    Comma,
    /// `1250.50`
    Period,
}

impl DecimalMark {
    pub(crate) fn letter(self) -> char {
        match self {
            Self::Comma => ',',
            Self::Period => '.',
        }
    }
}

/// What separates columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delimiter {
    /// `,`
    Comma,
    /// `;`
    Semicolon,
    /// A tab.
    Tab,
}

impl Delimiter {
    /// All delimiters; if two fit equally well, the first wins.
    pub(crate) const ALL: [Self; 3] = [Self::Semicolon, Self::Tab, Self::Comma];

    pub(crate) fn byte(self) -> u8 {
        match self {
            Self::Comma => b',',
            Self::Semicolon => b';',
            Self::Tab => b'\t',
        }
    }
}

/// Words for credit, then for debit, in lower case: English, German, French, Dutch, Italian, Spanish.
pub const SIDE_WORDS: [&[&str]; 2] = [
    &[
        "c",
        "cr",
        "crdt",
        "credit",
        "in",
        "incoming",
        "deposit",
        "h",
        "haben",
        "gutschrift",
        "crédit",
        "bij",
        "bijschrijving",
        "avere",
        "abono",
        "haber",
        "+",
    ],
    &[
        "d",
        "dr",
        "dbit",
        "debit",
        "out",
        "outgoing",
        "withdrawal",
        "s",
        "soll",
        "lastschrift",
        "belastung",
        "débit",
        "af",
        "afschrijving",
        "dare",
        "cargo",
        "debe",
        "-",
    ],
];

/// Words for booked, then for anything else, in lower case.
pub const STATUS_WORDS: [&[&str]; 2] = [
    &[
        "booked",
        "book",
        "posted",
        "completed",
        "complete",
        "settled",
        "cleared",
        "executed",
        "gebucht",
        "umsatz gebucht",
        "verbucht",
        "comptabilisé",
        "comptabilisée",
        "exécuté",
    ],
    &[
        "pending",
        "pdng",
        "info",
        "processing",
        "authorized",
        "authorised",
        "scheduled",
        "declined",
        "failed",
        "cancelled",
        "canceled",
        "reverted",
        "vorgemerkt",
        "umsatz vorgemerkt",
        "en attente",
        "en cours",
    ],
];
