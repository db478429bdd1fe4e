//! Why a file isn't read.

use crate::currency::Currency;
use crate::limits;
use crate::problem::{Problem, RowProblems};

/// Why a file isn't read. `Display` completes "The file …", without a period.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It is empty.
    #[error("is empty")]
    Empty,
    /// It has more than [`limits::FILE_BYTES_MAX`].
    #[error("is larger than {} MiB. Export a shorter period", limits::FILE_BYTES_MAX / 1024 / 1024)]
    TooLarge,
    /// It isn't text.
    #[error("{0}")]
    NotText(NotText),
    /// Its encoding isn't supported.
    #[error("is in the encoding {name}, or says so. Export it as UTF-8")]
    Encoding {
        /// The encoding it declares.
        name: String,
    },
    /// It isn't in the encoding it declares.
    #[error("says that it is in {name}, but line {line} is not. Export it again")]
    BrokenEncoding {
        /// The declared encoding.
        name: &'static str,
        /// The first line that isn't in it.
        line: usize,
    },
    /// It has no known format.
    #[error("is not a bank statement in camt.052, camt.053, camt.054, MT940, MT942, BAI2, OFX or CSV with columns")]
    UnknownFormat,
    /// It is a message of another kind.
    #[error("is {found}, not a bank statement in camt.052, camt.053, camt.054, MT940, MT942, BAI2 or OFX")]
    OtherMessage {
        /// The kind it claims to be.
        found: String,
    },
    /// It is broken or unsupported XML.
    #[error("can't be read at line {line}: {problem}")]
    Xml {
        /// The line.
        line: usize,
        /// What is wrong.
        problem: XmlProblem,
    },
    /// A field is wrong or missing.
    #[error("can't be read at line {line}: {field} {problem}")]
    Field {
        /// The line where the field, or its parent, begins.
        line: usize,
        /// The field's name in the format: `Amt`, `:61:`.
        field: &'static str,
        /// What is wrong.
        problem: Problem,
    },
    /// It ends within a statement.
    #[error("ends before the statement that begins at line {line} does: it has no {missing}. Export it again")]
    CutOff {
        /// The line where the statement begins.
        line: usize,
        /// What is missing.
        missing: &'static str,
    },
    /// It has no statement.
    #[error("has no statement in it")]
    NoStatement,
    /// It has more than [`limits::ENTRIES_MAX`], [`limits::STATEMENTS_MAX`] or [`limits::LINES_MAX`].
    #[error("has more than {most} {what}. Export a shorter period")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// The limit.
        most: usize,
    },
    /// The entries of a statement don't lead from its opening to its closing balance.
    #[error(
        "doesn't add up: opening balance and entries of the statement at line {line} come to {}, but its closing balance is \
         {}, a difference of {}",
        currency.written(*expected), currency.written(*found), currency.written(found - expected)
    )]
    Balance {
        /// The line where the statement begins.
        line: usize,
        /// Opening balance plus entries, in minor units.
        expected: i128,
        /// The closing balance, in minor units.
        found: i128,
        /// The currency of both.
        currency: Currency,
    },
    /// The amounts in a part of a BAI2 file differ from its control total.
    #[error(
        "doesn't add up: the amounts of the {part} that begins at line {line} come to {expected}, but its control total is {found}. \
         Export it again"
    )]
    ControlTotal {
        /// The part: account, group or file.
        part: &'static str,
        /// The line where it begins.
        line: usize,
        /// The sum of the amounts, in minor units of whatever currencies.
        expected: i128,
        /// The control total.
        found: i128,
    },
    /// It is CSV, which needs a mapping.
    #[error("is a CSV file. Say which column is which")]
    MappingNeeded,
    /// The mapping doesn't fit.
    #[error("{0}")]
    Mapping(#[from] MappingProblem),
    /// Some rows are wrong.
    #[error("{}", rows(.0))]
    Rows(RowProblems),
}

impl Refusal {
    pub(crate) const TOO_MANY_ENTRIES: Self = Self::TooMany { what: "entries", most: limits::ENTRIES_MAX };
    pub(crate) const TOO_MANY_STATEMENTS: Self = Self::TooMany { what: "statements", most: limits::STATEMENTS_MAX };
    pub(crate) const TOO_MANY_LINES: Self = Self::TooMany { what: "lines", most: limits::LINES_MAX };
}

/// The kind of a file that isn't text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotText {
    /// A PDF.
    #[error("is a PDF. Export the statement as camt.053, MT940, BAI2, OFX or CSV")]
    Pdf,
    /// A zip archive; new spreadsheets are zips too.
    #[error("is a zip archive or a spreadsheet. Upload the files in it one by one, or save the spreadsheet as CSV")]
    Zip,
    /// An old spreadsheet.
    #[error("is a spreadsheet. Save it as CSV")]
    Spreadsheet,
    /// Any other binary file.
    #[error("is not text: line {line} has characters that no statement has")]
    Binary {
        /// The first line with binary content.
        line: usize,
    },
}

/// What is wrong with XML.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum XmlProblem {
    /// It has a document type definition, which could define entities.
    #[error("it has a DOCTYPE, which no bank statement needs. Export it again without one")]
    Doctype,
    /// It has an entity that isn't XML's own.
    #[error("&{name}; means nothing in a bank statement")]
    Entity {
        /// The name.
        name: String,
    },
    /// It isn't well-formed: for example, an element or comment isn't closed.
    #[error("the XML is broken ({detail}). Export it again")]
    Broken {
        /// The parser's message.
        detail: String,
    },
    /// It ends early.
    #[error("the file is cut off. Export it again")]
    CutOff,
    /// Nested deeper than [`limits::XML_DEPTH_MAX`].
    #[error("elements are nested deeper than {} levels", limits::XML_DEPTH_MAX)]
    TooDeep,
    /// More than [`limits::XML_ELEMENTS_MAX`].
    #[error("the file has more than {} elements", limits::XML_ELEMENTS_MAX)]
    TooManyElements,
    /// More than [`limits::XML_ATTRIBUTES_BYTES_MAX`].
    #[error("an element has more than {} bytes of attributes", limits::XML_ATTRIBUTES_BYTES_MAX)]
    TooManyAttributes,
}

/// Why a mapping doesn't fit a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MappingProblem {
    /// None of the first rows has all columns that the mapping names.
    #[error(
        "has no row with all the column names of the mapping among its first {}: {} is missing",
        limits::CSV_PREAMBLE_ROWS_MAX,
        column
    )]
    HeaderMissing {
        /// The first named column missing from the most similar row.
        column: String,
    },
    /// A column name that the mapping uses occurs twice.
    #[error("has two columns with the name {column}. Choose the column by its number")]
    HeaderTwice {
        /// The name.
        column: String,
    },
    /// The mapping has a column number that the file doesn't have.
    #[error("has {columns} columns, but the mapping uses column {column}")]
    NoSuchColumn {
        /// The number, from 1.
        column: usize,
        /// The columns of the file.
        columns: usize,
    },
    /// The mapping names a column, but says that there is no header.
    #[error("is read without a header row, so the mapping can't use the column name {column}. Use its number")]
    NameWithoutHeader {
        /// The name.
        column: String,
    },
    /// The dates fit several orders of day, month and year, or none fits all.
    #[error("has dates such as {example}, which don't say whether the day or the month comes first. Choose the order")]
    DateOrderUnclear {
        /// The first date.
        example: String,
    },
    /// No delimiter is given, and none makes columns.
    #[error("has no columns: no row is separated by commas, semicolons or tabs")]
    NoColumns,
}

fn rows(problems: &RowProblems) -> String {
    let first = problems.first.first().map_or_else(String::new, ToString::to_string);
    match problems.count {
        0 | 1 => format!("has a row that can't be read. {first}"),
        count => format!("has {count} values that can't be read. {first}"),
    }
}
