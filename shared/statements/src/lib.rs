//! Reads bank statements uploaded on the receiving side, and finds open movements that entries may belong to.
//!
//! Bytes in, statements or a clear refusal out: no I/O, no clock, no file names. [`read`] recognizes camt.052,
//! camt.053, camt.054, MT940, MT942, BAI2, OFX and CSV by content. CSV needs a [`Mapping`], which [`suggest`] proposes.
//! [`OpenMovements`] finds candidates for an entry and says why; it accepts nothing.
//!
//! - Decision: a file is read completely or not at all. Nobody would see the payments in omitted entries.
//! - Decision: we wrote the readers. `camt053` (0.4) knows two of the twelve versions, by one country's guidelines, and
//!   no camt.054; `mt940` (1.1) takes only SWIFT's letters. Both bring `rust_decimal` and `chrono`, which `deny.toml`
//!   refuses, as does `swift-mt-message`. `bai2` (0.4) is a command-line tool; `ofx-rs` (0.2) brings `time`,
//!   `rust_decimal` and a second `quick-xml`; neither knows banks' deviations. Crates do what is hard: XML
//!   (`quick-xml`), CSV (`csv`), encodings (`encoding_rs`), currencies (`iso_currency`), IBAN check digits
//!   (`iban_validate`), similar names (`strsim`).

mod account;
mod amount;
mod bai;
mod balance;
mod camt;
mod collect;
mod currency;
mod dates;
mod encoding;
pub mod limits;
mod matching;
mod model;
mod mt;
mod ofx;
mod problem;
mod refusal;
mod table;
mod text;
mod xml;

pub use account::Account;
pub use currency::Currency;
pub use matching::{Match, Open, OpenMovements, Place, Reason, Strength};
pub use model::{Balance, Entry, Format, Position, Reference, ReferenceKind, Side, Statement};
pub use problem::{Problem, RowProblem, RowProblems};
pub use refusal::{MappingProblem, NotText, Refusal, XmlProblem};
pub use table::{
    Amount, Column, CurrencySource, DateOrder, DecimalMark, Delimiter, Mapping, ReferenceColumn, SIDE_WORDS,
    STATUS_WORDS, Suggested, Suggestion,
};

/// Reads a file's statements, at least one. Only CSV uses `mapping`. A file is read completely or not at all.
pub fn read(bytes: &[u8], mapping: Option<&Mapping>) -> Result<Vec<Statement>, Refusal> {
    let text = encoding::decode(bytes)?;
    match shape(&text) {
        Shape::Xml => camt::read(&text),
        Shape::Mt => mt::read(&text),
        Shape::Bai => bai::read(&text),
        Shape::Ofx => ofx::read(&text),
        Shape::Table => table::read(&text, mapping.ok_or(Refusal::MappingNeeded)?).map(|statement| vec![statement]),
        Shape::Other => Err(Refusal::UnknownFormat),
    }
}

/// Describes a CSV file, for the page where a member maps its columns. Fails for other files: [`read`] handles them.
pub fn suggest(bytes: &[u8]) -> Result<Suggestion, Refusal> {
    let text = encoding::decode(bytes)?;
    match shape(&text) {
        Shape::Table => table::suggest(&text),
        Shape::Xml | Shape::Mt | Shape::Bai | Shape::Ofx | Shape::Other => Err(Refusal::UnknownFormat),
    }
}

enum Shape {
    Xml,
    Mt,
    Bai,
    Ofx,
    Table,
    Other,
}

fn shape(text: &str) -> Shape {
    if ofx::is_ofx(text) {
        Shape::Ofx
    } else if text.trim_start().starts_with('<') {
        Shape::Xml
    } else if mt::is_mt(text) {
        Shape::Mt
    } else if bai::is_bai(text) {
        Shape::Bai
    } else if table::is_table(text) {
        Shape::Table
    } else {
        Shape::Other
    }
}

/// Up to `rows_max` non-blank rows of any CSV file: row number as spreadsheets count, and trimmed cells.
pub fn rows(bytes: &[u8], rows_max: usize) -> Result<Vec<(usize, Vec<String>)>, Refusal> {
    let text = encoding::decode(bytes)?;
    Ok(table::cells(&text, rows_max))
}
