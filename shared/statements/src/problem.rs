use std::fmt;

use crate::currency::Currency;
use crate::limits;

/// What is wrong with a value. `Display` completes the name of the field or column: "Amount is missing".
///
/// Quotes have at most [`limits::QUOTE_CHARS_MAX`] characters, and only the last four of a possible account number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// It is required.
    Missing,
    /// It may occur only once.
    Repeated,
    /// It isn't an amount.
    NotAnAmount {
        /// The quoted value.
        value: String,
        /// The expected decimal mark.
        mark: char,
    },
    /// The amount has more decimals than its currency.
    TooManyDecimals {
        /// The quoted value.
        value: String,
        /// The currency.
        currency: Currency,
    },
    /// The amount has more digits than any payment.
    AmountTooLarge {
        /// The quoted value.
        value: String,
    },
    /// The amount has a sign, but its side is given elsewhere.
    SignedAmount {
        /// The quoted value.
        value: String,
    },
    /// The amount's sign contradicts its side.
    SignAgainstSide {
        /// The amount.
        value: String,
    },
    /// The entry has a credit and a debit amount.
    TwoAmounts,
    /// It isn't a currency of ISO 4217.
    NotACurrency {
        /// The quoted value.
        value: String,
    },
    /// The currency differs from the rest.
    OtherCurrency {
        /// The currency of this value.
        found: Currency,
        /// The currency of the rest.
        expected: Currency,
    },
    /// It isn't an existing date in the expected form.
    NotADate {
        /// The quoted value.
        value: String,
        /// A date in the expected form.
        example: &'static str,
    },
    /// It is neither credit nor debit.
    NotASide {
        /// The quoted value.
        value: String,
        /// The allowed values.
        expected: &'static str,
    },
    /// It is neither yes nor no.
    NotAFlag {
        /// The quoted value.
        value: String,
    },
    /// It is neither booked nor pending.
    NotAStatus {
        /// The quoted value.
        value: String,
        /// The allowed values.
        expected: &'static str,
    },
    /// The text is too long.
    TooLong {
        /// The most characters allowed.
        most: usize,
    },
    /// The row and the header differ in their number of columns.
    Columns {
        /// The columns of this row.
        found: usize,
        /// The columns of the header, or of the first row.
        expected: usize,
    },
    /// It doesn't have the form that the format requires.
    Malformed {
        /// The quoted value.
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

/// A row of a CSV file that can't be read. `Display` is a sentence without its period: "Row 5: Amount is missing".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowProblem {
    /// As spreadsheets number rows: from 1, counting blank rows and the header.
    pub row: usize,
    /// The column's header or number; none if the row as a whole is wrong.
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

/// The first row problems, and how many there are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RowProblems {
    /// At most [`limits::ROW_PROBLEMS_MAX`], in the order of the file.
    pub first: Vec<RowProblem>,
    /// How many there are in total.
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
