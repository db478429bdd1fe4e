//! Suggests a mapping, for the page where a member maps the columns.

use crate::limits;
use crate::model::ReferenceKind;
use crate::refusal::Refusal;
use crate::text::{account_ending, clean, masked, shortened};

use super::cells;
use super::ended;
use super::mapping::{
    Amount, Column, CurrencySource, DateOrder, DecimalMark, Delimiter, Mapping, ReferenceColumn, SIDE_WORDS,
    STATUS_WORDS,
};
use super::names::{Meaning, meaning};
use super::rows::{Row, Rows, normalized, sniff};

/// The layout of a CSV file, and what its columns may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    /// The column separator.
    pub delimiter: Delimiter,
    /// Whether there seems to be a header row.
    pub has_header: bool,
    /// Column names, or `Column 1`, … without a header.
    pub headers: Vec<String>,
    /// Each column as a mapping has it, in the same order: by name if the name is unique.
    pub columns: Vec<Column>,
    /// The first rows, at most [`limits::CSV_SAMPLE_ROWS`], as wide as the headers and without account numbers.
    pub sample_rows: Vec<Vec<String>>,
    /// The suggested meanings.
    pub mapping: Suggested,
}

/// A mapping that may lack parts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Suggested {
    /// See [`Mapping::booked_on`].
    pub booked_on: Option<Column>,
    /// See [`Mapping::date_order`]: none if the dates are ambiguous.
    pub date_order: Option<DateOrder>,
    /// See [`Mapping::value_on`].
    pub value_on: Option<Column>,
    /// See [`Mapping::amount`].
    pub amount: Option<Amount>,
    /// See [`Mapping::decimal_mark`].
    pub decimal_mark: Option<DecimalMark>,
    /// See [`Mapping::currency`].
    pub currency: Option<CurrencySource>,
    /// See [`Mapping::references`].
    pub references: Vec<ReferenceColumn>,
    /// See [`Mapping::counterparty`].
    pub counterparty: Option<Column>,
    /// See [`Mapping::text`].
    pub text: Vec<Column>,
    /// See [`Mapping::status`].
    pub status: Option<Column>,
}

impl Suggestion {
    /// The mapping, if it lacks nothing required.
    #[must_use]
    pub fn complete(&self) -> Option<Mapping> {
        let Suggested {
            booked_on,
            date_order,
            value_on,
            amount,
            decimal_mark,
            currency,
            references,
            counterparty,
            text,
            status,
        } = self.mapping.clone();
        Some(Mapping {
            delimiter: Some(self.delimiter),
            has_header: self.has_header,
            booked_on: booked_on?,
            date_order,
            value_on,
            amount: amount?,
            decimal_mark: decimal_mark?,
            currency: currency?,
            references,
            counterparty,
            text,
            status,
        })
    }
}

pub(crate) fn suggest(text: &str) -> Result<Suggestion, Refusal> {
    let text = ended(text);
    let delimiter = sniff(&text)?;
    let rows: Vec<Row> =
        Rows::new(&text, delimiter).take(limits::CSV_PREAMBLE_ROWS_MAX + limits::CSV_SAMPLE_ROWS).collect();
    let known = |row: &Row| row.cells().filter(|cell| meaning(cell).is_some()).count();
    // Two, since a word such as "Name" or "Date" may stand alone above the table.
    let header = rows.iter().take(limits::CSV_PREAMBLE_ROWS_MAX).position(|row| known(row) >= 2);
    let data = rows.get(header.map_or(0, |at| at + 1)..).unwrap_or_default();
    let width =
        header.and_then(|at| rows.get(at)).map_or_else(|| data.iter().map(Row::len).max().unwrap_or(0), Row::len);
    let width = width.min(limits::CSV_COLUMNS_MAX);
    let names: Vec<String> = (0..width)
        .map(|at| header.and_then(|row| rows.get(row)).map_or_else(String::new, |row| clean(row.cell(at))))
        .collect();
    let columns = columns(&names);
    let meanings: Vec<Option<Meaning>> = names.iter().map(|name| meaning(name)).collect();
    let data: Vec<&Row> = data.iter().take(limits::CSV_SAMPLE_ROWS).collect();
    let mapping = Guess { meanings: &meanings, columns: &columns, rows: &data }.mapping();
    let is_account = |at: usize| meanings.get(at) == Some(&Some(Meaning::Account));
    let sample_rows =
        data.iter().map(|row| (0..width).map(|at| shown(row.cell(at), is_account(at))).collect()).collect();
    let numbered = |(at, name): (usize, &String)| {
        if name.is_empty() { format!("Column {}", at + 1) } else { shortened(name, limits::NAME_CHARS_MAX) }
    };
    let headers = names.iter().enumerate().map(numbered).collect();
    Ok(Suggestion { delimiter, has_header: header.is_some(), headers, columns, sample_rows, mapping })
}

fn columns(names: &[String]) -> Vec<Column> {
    let compared: Vec<String> = names.iter().map(|name| normalized(name)).collect();
    let is_alone = |name: &String| compared.iter().filter(|other| *other == name).count() == 1;
    let column = |(at, (name, compared)): (usize, (&String, &String))| {
        if !name.is_empty() && is_alone(compared) { Column::Named(name.clone()) } else { Column::Numbered(at + 1) }
    };
    names.iter().zip(&compared).enumerate().map(column).collect()
}

fn shown(cell: &str, is_account: bool) -> String {
    let cell = clean(cell);
    if is_account && !cell.is_empty() {
        return account_ending(&cell).map_or("…".to_owned(), |ending| format!("…{ending}"));
    }
    shortened(&masked(&cell, None), limits::NAME_CHARS_MAX)
}

struct Guess<'a> {
    meanings: &'a [Option<Meaning>],
    columns: &'a [Column],
    rows: &'a [&'a Row],
}

impl Guess<'_> {
    fn at(&self, meaning: Meaning) -> Option<usize> {
        self.meanings.iter().position(|other| *other == Some(meaning))
    }

    fn column(&self, meaning: Meaning) -> Option<Column> {
        self.at(meaning).and_then(|at| self.columns.get(at)).cloned()
    }

    fn cells(&self, at: Option<usize>) -> impl Iterator<Item = &str> {
        at.into_iter().flat_map(|at| self.rows.iter().map(move |row| row.cell(at))).filter(|cell| !cell.is_empty())
    }

    fn mapping(&self) -> Suggested {
        let columns_of = |wanted: fn(&Meaning) -> Option<ReferenceKind>| {
            let meanings = self.meanings.iter().zip(self.columns);
            meanings.filter_map(move |(meaning, column)| Some((wanted(meaning.as_ref()?)?, column.clone())))
        };
        let reference = |meaning: &Meaning| if let Meaning::Reference(kind) = meaning { Some(*kind) } else { None };
        let text = |meaning: &Meaning| (*meaning == Meaning::Text).then_some(ReferenceKind::Other);
        Suggested {
            booked_on: self.column(Meaning::BookedOn),
            date_order: self.date_order(),
            value_on: self.column(Meaning::ValueOn),
            amount: self.amount(),
            decimal_mark: self.decimal_mark(),
            currency: self.column(Meaning::Currency).map(CurrencySource::Column),
            references: columns_of(reference).map(|(kind, column)| ReferenceColumn { kind, column }).collect(),
            counterparty: self.column(Meaning::Counterparty),
            text: columns_of(text).map(|(_, column)| column).collect(),
            status: self.status(),
        }
    }

    fn amount(&self) -> Option<Amount> {
        let side = self
            .at(Meaning::Side)
            .filter(|at| self.cells(Some(*at)).all(|cell| cells::is_first(cell, SIDE_WORDS).is_some()));
        match (self.column(Meaning::Amount), self.column(Meaning::Credit), self.column(Meaning::Debit)) {
            (Some(amount), _, _) => Some(match side.and_then(|at| self.columns.get(at)) {
                Some(side) => Amount::WithSide { amount, side: side.clone() },
                None => Amount::Signed(amount),
            }),
            (None, Some(credit), Some(debit)) => Some(Amount::CreditAndDebit { credit, debit }),
            _ => None,
        }
    }

    /// A column with that name may say something else.
    fn status(&self) -> Option<Column> {
        let at = self.at(Meaning::Status)?;
        let are_known = self.cells(Some(at)).all(|cell| cells::is_first(cell, STATUS_WORDS).is_some());
        self.columns.get(at).filter(|_| are_known).cloned()
    }

    fn date_order(&self) -> Option<DateOrder> {
        let mut possible = vec![DateOrder::DayMonthYear, DateOrder::MonthDayYear, DateOrder::YearMonthDay];
        let dates = self.cells(self.at(Meaning::BookedOn)).chain(self.cells(self.at(Meaning::ValueOn)));
        for orders in dates.map(cells::orders) {
            possible.retain(|order| orders.contains(order));
        }
        if let [order] = possible.as_slice() { Some(*order) } else { None }
    }

    /// The mark before one or two digits at the end of an amount.
    fn decimal_mark(&self) -> Option<DecimalMark> {
        let places = [Meaning::Amount, Meaning::Credit, Meaning::Debit].map(|meaning| self.at(meaning));
        let marks = places.into_iter().flat_map(|at| self.cells(at)).filter_map(|cell| {
            let number = cell.trim_matches(|letter: char| !letter.is_ascii_digit());
            let mark = number.rfind([',', '.'])?;
            let decimals = number.len() - mark - 1;
            let mark = if number.get(mark..)?.starts_with(',') { DecimalMark::Comma } else { DecimalMark::Period };
            (decimals < 3).then_some(mark)
        });
        let marks: Vec<DecimalMark> = marks.collect();
        let first = marks.first().copied()?;
        marks.iter().all(|mark| *mark == first).then_some(first)
    }
}
