//! The limits of the crate, each with its unit and its reason.

/// Most bytes of a file, 4 MiB: what a request to a function can carry (6 MB as base64), less the rest of its form.
pub const FILE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Most entries of a file. Measured on two busy cores in a release build, reading this many takes 0.1 to 0.4 s, and
/// comparing them with 1,000 open movements 0.9 s. A full camt entry takes about a kilobyte, so [`FILE_BYTES_MAX`] of
/// XML holds some 4,000 unless they are a batch. A busy business account has some thousand a month.
pub const ENTRIES_MAX: usize = 50_000;

/// Most statements of a file: one for each day of nearly three years.
pub const STATEMENTS_MAX: usize = 1000;

/// Most lines of an MT940 or BAI2 file, eight for each of [`ENTRIES_MAX`]: the entry and its seven lines of details.
pub const LINES_MAX: usize = 8 * ENTRIES_MAX;

/// Most references of an entry; further ones are dropped. Only an entry for many payments has more, and one of their
/// references says nothing about its amount.
pub const REFERENCES_PER_ENTRY_MAX: usize = 40;

/// Most characters of a reference. Standards allow 35, CSV cells may have more. A longer one is refused, not shortened:
/// half a reference is another reference.
pub const REFERENCE_CHARS_MAX: usize = 200;

/// Most characters of a name; a longer one is shortened and ends in `…`. ISO 20022 has 140.
pub const NAME_CHARS_MAX: usize = 200;

/// Most characters of a text; a longer one is shortened and ends in `…`, since only people read it. ISO 20022 has 140
/// for a line of remittance information and 500 for additional information.
pub const TEXT_CHARS_MAX: usize = 1000;

/// The characters within which OFX identifies itself: its headers have some 300.
pub const OFX_HEADER_CHARS_MAX: usize = 4096;

/// Deepest nesting of elements. A camt file has about 16 levels.
pub const XML_DEPTH_MAX: usize = 32;

/// Most elements of an XML or OFX file, one per 16 bytes of [`FILE_BYTES_MAX`]. The densest camt entries have 20 bytes
/// each.
pub const XML_ELEMENTS_MAX: usize = FILE_BYTES_MAX / 16;

/// Most bytes of one element's attributes. The namespaces of a camt file have some hundred; checking for duplicates
/// takes quadratic time.
pub const XML_ATTRIBUTES_BYTES_MAX: usize = 4096;

/// Most columns of a CSV file. The widest exports of banks have about 60.
pub const CSV_COLUMNS_MAX: usize = 200;

/// Most characters of a cell. A longer one comes from an unclosed quote.
pub const CSV_CELL_CHARS_MAX: usize = 10_000;

/// The rows searched for the header row. Banks put account and period before it.
pub const CSV_PREAMBLE_ROWS_MAX: usize = 30;

/// The rows that a suggestion shows.
pub const CSV_SAMPLE_ROWS: usize = 10;

/// The problems of rows that are named; further ones are counted.
pub const ROW_PROBLEMS_MAX: usize = 100;

/// Most characters that a message quotes from a file.
pub const QUOTE_CHARS_MAX: usize = 40;

/// The most open movements of one amount or reference that an entry is compared with. Beyond that, it distinguishes
/// nothing.
pub const CANDIDATES_MAX: usize = 100;

/// The days from its due date within which a payment counts as near it: a week covers weekends and holidays.
pub const DUE_DAYS_NEAR: i32 = 7;
