//! The rows of a CSV file: delimiter, header, cells.

use csv::{ReaderBuilder, StringRecord};

use crate::limits;
use crate::problem::{Problem, RowProblems};
use crate::refusal::{MappingProblem, Refusal};
use crate::text::{clean, quoted};

use super::mapping::{Column, Delimiter};

const SNIFFED_ROWS: usize = 60;

#[derive(Debug)]
pub(super) struct Row {
    /// As spreadsheets count: from 1, with blank rows.
    pub number: usize,
    record: StringRecord,
}

impl Row {
    pub fn len(&self) -> usize {
        self.record.len()
    }

    pub fn cell(&self, at: usize) -> &str {
        self.record.get(at).unwrap_or_default().trim()
    }

    pub fn cells(&self) -> impl Iterator<Item = &str> {
        self.record.iter().take(limits::CSV_COLUMNS_MAX).map(str::trim)
    }

    /// Columns up to the last non-blank one.
    fn used(&self) -> usize {
        self.record
            .iter()
            .enumerate()
            .filter(|(_, cell)| !cell.trim().is_empty())
            .map(|(at, _)| at + 1)
            .last()
            .unwrap_or(0)
    }
}

/// Reads rows lazily. Each line must end in `\n`, the last one too.
pub(super) struct Rows<'a> {
    reader: csv::Reader<&'a [u8]>,
    inner_lines: usize,
}

impl<'a> Rows<'a> {
    pub fn new(text: &'a str, delimiter: Delimiter) -> Self {
        let mut builder = ReaderBuilder::new();
        let reader = builder.delimiter(delimiter.byte()).has_headers(false).flexible(true).from_reader(text.as_bytes());
        Self { reader, inner_lines: 0 }
    }
}

impl Iterator for Rows<'_> {
    type Item = Row;

    fn next(&mut self) -> Option<Row> {
        loop {
            let mut record = StringRecord::new();
            // The text is UTF-8 and rows may have any length: reading can't fail.
            if !self.reader.read_record(&mut record).unwrap_or(false) {
                return None;
            }
            let inner: usize = record.iter().map(|cell| cell.matches('\n').count()).sum();
            // The reader is at the next line. It can't say where the row began: it counts the blank lines before.
            let next = usize::try_from(self.reader.position().line()).unwrap_or(usize::MAX);
            self.inner_lines += inner;
            let number = next.saturating_sub(1 + self.inner_lines);
            let row = Row { number, record };
            if row.used() > 0 {
                return Some(row);
            }
        }
    }
}

/// The delimiter with which most rows have the same number of columns, at least two.
pub(super) fn sniff(text: &str) -> Result<Delimiter, Refusal> {
    let score = |delimiter: Delimiter| {
        let lengths: Vec<usize> = Rows::new(text, delimiter).take(SNIFFED_ROWS).map(|row| row.len()).collect();
        let rows = |length: usize| lengths.iter().filter(|other| **other == length).count();
        lengths.iter().filter(|length| **length > 1).map(|length| (rows(*length), *length)).max()
    };
    // Among equals, the first.
    let best = Delimiter::ALL.into_iter().rev().filter_map(|delimiter| Some((score(delimiter)?, delimiter)));
    let best = best.max_by_key(|(score, _)| *score).map(|(_, delimiter)| delimiter);
    best.ok_or(Refusal::Mapping(MappingProblem::NoColumns))
}

/// The form in which column names are compared.
pub(super) fn normalized(name: &str) -> String {
    clean(name).to_lowercase()
}

pub(super) struct Header {
    /// As in the file; empty without a header.
    names: Vec<String>,
    /// Columns that a row must have: all but blank ones at the end.
    columns: usize,
    most: usize,
}

impl Header {
    /// The first row with all these names; without names, the first row.
    pub fn find(rows: &mut Rows<'_>, named: &[&str]) -> Result<Self, Refusal> {
        let mut most: Option<(usize, &str)> = None;
        for row in rows.take(limits::CSV_PREAMBLE_ROWS_MAX) {
            let cells: Vec<String> = row.cells().map(normalized).collect();
            let missing: Vec<&str> = named.iter().copied().filter(|name| !cells.contains(&normalized(name))).collect();
            let Some(first) = missing.first() else {
                return Ok(Self { names: row.cells().map(clean).collect(), columns: row.used(), most: row.len() });
            };
            if most.is_none_or(|(count, _)| missing.len() < count) {
                most = Some((missing.len(), first));
            }
        }
        let column = most.map_or("", |(_, name)| name);
        Err(MappingProblem::HeaderMissing { column: quoted(column) }.into())
    }

    pub fn none(first: &Row) -> Self {
        Self { names: Vec::new(), columns: first.len(), most: first.len() }
    }

    pub fn at(&self, column: &Column) -> Result<usize, Refusal> {
        match column {
            Column::Numbered(number) => {
                let at = number.checked_sub(1).filter(|at| *at < self.columns);
                at.ok_or(MappingProblem::NoSuchColumn { column: *number, columns: self.columns }.into())
            }
            Column::Named(name) if self.names.is_empty() => {
                Err(MappingProblem::NameWithoutHeader { column: quoted(name) }.into())
            }
            Column::Named(name) => {
                let wanted = normalized(name);
                let mut found = self.names.iter().enumerate().filter(|(_, name)| normalized(name) == wanted);
                match (found.next(), found.next()) {
                    (Some((at, _)), None) => Ok(at),
                    (Some(_), Some(_)) => Err(MappingProblem::HeaderTwice { column: quoted(name) }.into()),
                    (None, _) => Err(MappingProblem::HeaderMissing { column: quoted(name) }.into()),
                }
            }
        }
    }

    pub fn name(&self, at: usize) -> String {
        match self.names.get(at).filter(|name| !name.is_empty()) {
            Some(name) => quoted(name),
            None => format!("Column {}", at + 1),
        }
    }

    /// Checks that a row has the header's columns. Blank ones at the end may be missing or in excess.
    pub fn check(&self, row: &Row, problems: &mut RowProblems) -> bool {
        let before = problems.count;
        if row.used() > self.most || row.len() < self.columns {
            problems.add(row.number, None, Problem::Columns { found: row.len(), expected: self.columns });
        } else if row.len() > limits::CSV_COLUMNS_MAX {
            problems.add(row.number, None, Problem::Columns { found: row.len(), expected: limits::CSV_COLUMNS_MAX });
        }
        for (at, cell) in row.cells().enumerate() {
            if cell.len() > limits::CSV_CELL_CHARS_MAX && cell.chars().count() > limits::CSV_CELL_CHARS_MAX {
                problems.add(row.number, Some(self.name(at)), Problem::TooLong { most: limits::CSV_CELL_CHARS_MAX });
            }
        }
        problems.count == before
    }
}
