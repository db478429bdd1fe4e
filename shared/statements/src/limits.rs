//! The crate's limits, each with its unit and reason.

/// Most bytes of a file, 4 MiB: a request to a function carries 6 MB as base64, less the rest of its form.
pub const FILE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Most entries of a file: a release build reads so many in 0.1 to 0.4 s on two busy cores, and compares them with
/// 1,000 movements in 0.9 s. [`FILE_BYTES_MAX`] of XML holds some 4,000; a busy account has a few thousand a month.
pub const ENTRIES_MAX: usize = 50_000;

/// Most statements of a file: one a day for nearly three years.
pub const STATEMENTS_MAX: usize = 1000;

/// Most lines of an MT940 or BAI2 file: eight per entry, the entry itself and seven of details.
pub const LINES_MAX: usize = 8 * ENTRIES_MAX;

/// Most references of an entry; more are dropped: one of so many says nothing about the amount.
pub const REFERENCES_PER_ENTRY_MAX: usize = 40;

/// Most characters of a reference (standards: 35). Longer ones are refused, not cut: half is another reference.
pub const REFERENCE_CHARS_MAX: usize = 200;

/// Most characters of a name; longer ones are shortened and end in `…`. ISO 20022 has 140.
pub const NAME_CHARS_MAX: usize = 200;

/// Most characters of a text for people, cut with `…`. ISO 20022 has 140 per line, and 500 for additional information.
pub const TEXT_CHARS_MAX: usize = 1000;

/// OFX identifies itself within this many characters: its headers have some 300.
pub const OFX_HEADER_CHARS_MAX: usize = 4096;

/// Deepest nesting of elements. A camt file has about 16 levels.
pub const XML_DEPTH_MAX: usize = 32;

/// Most elements of an XML or OFX file: one per 16 bytes of [`FILE_BYTES_MAX`]; camt has at most one per 20.
pub const XML_ELEMENTS_MAX: usize = FILE_BYTES_MAX / 16;

/// Most bytes of an element's attributes. Namespaces take some hundred; the duplicate check is quadratic.
pub const XML_ATTRIBUTES_BYTES_MAX: usize = 4096;

/// Most columns of a CSV file. The widest bank exports have about 60.
pub const CSV_COLUMNS_MAX: usize = 200;

/// Most characters of a cell. An unclosed quote makes longer ones.
pub const CSV_CELL_CHARS_MAX: usize = 10_000;

/// Rows searched for the header row: banks put account and period before it.
pub const CSV_PREAMBLE_ROWS_MAX: usize = 30;

/// Rows shown in a suggestion.
pub const CSV_SAMPLE_ROWS: usize = 10;

/// Row problems that are named; more are only counted.
pub const ROW_PROBLEMS_MAX: usize = 100;

/// Most characters quoted from a file in a message.
pub const QUOTE_CHARS_MAX: usize = 40;

/// Most open movements of one amount or reference that an entry is compared with. With more, it distinguishes nothing.
pub const CANDIDATES_MAX: usize = 100;

/// A payment within this many days of its due date is near it: a week covers weekends and holidays.
pub const DUE_DAYS_NEAR: i32 = 7;
