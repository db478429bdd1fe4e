//! What can be wrong with one value of a file.

use std::fmt;

use crate::currency::Currency;
use crate::limits;

/// What is wrong with one value. Displayed, it follows the name of the field or column: "Amount is missing".
///
/// Quotes have at most [`limits::QUOTE_CHARS_MAX`] characters, and only the last four of a possible account number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// It has to be there.
    Missing,
    /// It may be there once only.
    Repeated,
    /// It is not written as amounts are.
    NotAnAmount {
        /// What is there.
        value: String,
        /// The decimal mark that is expected.
        mark: char,
    },
    /// The amount has more decimals than its currency.
    TooManyDecimals {
        /// What is there.
        value: String,
        /// The currency.
        currency: Currency,
    },
    /// The amount has more digits than any payment.
    AmountTooLarge {
        /// What is there.
        value: String,
    },
    /// The amount has a sign, and its side stands elsewhere.
    SignedAmount {
        /// What is there.
        value: String,
    },
    /// The amount's sign and its side contradict each other.
    SignAgainstSide {
        /// The amount.
        value: String,
    },
    /// An amount as credit and another one as debit.
    TwoAmounts,
    /// It is not a currency of ISO 4217.
    NotACurrency {
        /// What is there.
        value: String,
    },
    /// The currency is not that of the rest.
    OtherCurrency {
        /// The currency that is there.
        found: Currency,
        /// The currency of the rest.
        expected: Currency,
    },
    /// It is not a date that exists, or not one that is written as it has to be.
    NotADate {
        /// What is there.
        value: String,
        /// A date as it has to be written.
        example: &'static str,
    },
    /// It says neither credit nor debit.
    NotASide {
        /// What is there.
        value: String,
        /// What it may say.
        expected: &'static str,
    },
    /// It says neither yes nor no.
    NotAFlag {
        /// What is there.
        value: String,
    },
    /// It says neither that an entry is booked nor that it is pending.
    NotAStatus {
        /// What is there.
        value: String,
        /// What it may say.
        expected: &'static str,
    },
    /// The text is longer than it may be.
    TooLong {
        /// The most characters.
        most: usize,
    },
    /// The row has another number of columns than the header.
    Columns {
        /// The columns of this row.
        found: usize,
        /// The columns of the header or of the first row.
        expected: usize,
    },
    /// Something else is there than what the format has.
    Malformed {
        /// What is there.
        value: String,
        /// What would be right.
        expected: &'static str,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("is missing"),
            Self::Repeated => f.write_str("is there more than once"),
            Self::NotAnAmount { value, mark } => {
                write!(f, "must be an amount such as 1250{mark}50, not {value}")
            }
            Self::TooManyDecimals { value, currency } => {
                let decimals = match currency.decimals() {
                    0 => "no decimals".to_owned(),
                    decimals => format!("no more than {decimals} decimals"),
                };
                write!(f, "must have {decimals} in {currency}, not {value}")
            }
            Self::AmountTooLarge { value } => write!(f, "has more digits than an amount can have: {value}"),
            Self::SignedAmount { value } => {
                write!(f, "must have no sign, since another field says credit or debit: {value}")
            }
            Self::SignAgainstSide { value } => {
                write!(f, "has the sign of a debit, but stands as a credit: {value}")
            }
            Self::TwoAmounts => f.write_str("has an amount, and so has the column for the other side"),
            Self::NotACurrency { value } => {
                write!(f, "must be the three letters of a currency such as EUR, not {value}")
            }
            Self::OtherCurrency { found, expected } => write!(f, "is in {found}, but must be in {expected}"),
            Self::NotADate { value, example } => write!(f, "must be a date such as {example}, not {value}"),
            Self::NotASide { value, expected } | Self::NotAStatus { value, expected } => {
                write!(f, "must be {expected}, not {value}")
            }
            Self::NotAFlag { value } => write!(f, "must be true or false, not {value}"),
            Self::TooLong { most } => write!(f, "has more than {most} characters"),
            Self::Columns { found, expected } => write!(f, "has {found} columns, but must have {expected}"),
            Self::Malformed { value, expected } => write!(f, "must be {expected}, not {value}"),
        }
    }
}

/// A row of a CSV file that can't be read. Displayed, it is a sentence without its period: "Row 5: Amount is missing".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowProblem {
    /// The row as spreadsheets number them: from 1, with blank rows and the header.
    pub row: usize,
    /// The column, by its header or its number; none if it is the row as a whole.
    pub column: Option<String>,
    /// What is wrong.
    pub problem: Problem,
}

impl fmt::Display for RowProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let column = self.column.as_deref().unwrap_or("The row");
        write!(f, "Row {}: {column} {}", self.row, self.problem)
    }
}

/// The first problems of rows, and how many there are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RowProblems {
    /// At most [`limits::ROW_PROBLEMS_MAX`], in the order of the file.
    pub first: Vec<RowProblem>,
    /// All of them.
    pub count: usize,
}

impl RowProblems {
    pub(crate) fn add(&mut self, row: usize, column: Option<String>, problem: Problem) {
        self.count = self.count.saturating_add(1);
        if self.first.len() < limits::ROW_PROBLEMS_MAX {
            self.first.push(RowProblem { row, column, problem });
        }
    }
}
