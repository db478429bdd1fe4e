//! CSV files, read with a mapping.
//!
//! - Decision: a file is read only if every row is: guessing which rows don't count would one day drop a payment.
//! - Decision: cells are text. Formulas are kept and never run; code that writes them to a CSV file must escape them.

mod cells;
mod mapping;
mod names;
mod rows;
mod suggest;

pub use mapping::{
    Amount, Column, CurrencySource, DateOrder, DecimalMark, Delimiter, Mapping, ReferenceColumn, SIDE_WORDS,
    STATUS_WORDS,
};
pub(crate) use suggest::suggest;
pub use suggest::{Suggested, Suggestion};

use std::borrow::Cow;

use jiff::civil::Date;

use crate::collect::Collector;
use crate::currency::Currency;
use crate::limits;
use crate::model::{Entry, Format, Position, ReferenceKind, Side, Statement};
use crate::problem::{Problem, RowProblems};
use crate::refusal::{MappingProblem, Refusal};
use crate::text::quoted;

use rows::{Header, Row, Rows};

pub(crate) fn is_table(text: &str) -> bool {
    rows::sniff(&ended(text)).is_ok()
}

pub(crate) fn read(text: &str, mapping: &Mapping) -> Result<Statement, Refusal> {
    let text = ended(text);
    let delimiter = mapping.delimiter.map_or_else(|| rows::sniff(&text), Ok)?;
    let mut rows = Rows::new(&text, delimiter);
    let mut first = None;
    let header = if mapping.has_header {
        Header::find(&mut rows, &named(mapping))?
    } else {
        first = rows.next();
        Header::none(first.as_ref().ok_or(Refusal::NoStatement)?)
    };
    let columns = Columns::find(mapping, &header)?;
    let mut problems = RowProblems::default();
    let mut kept: Vec<Row> = Vec::new();
    for row in first.into_iter().chain(rows) {
        if kept.len() + problems.count >= limits::ENTRIES_MAX {
            return Err(Refusal::TOO_MANY_ENTRIES);
        }
        if header.check(&row, &mut problems) {
            kept.push(row);
        }
    }
    let order = match mapping.date_order {
        Some(order) => order,
        None => detected_order(&kept, &columns)?,
    };
    let mut collector = Collector::default();
    for row in &kept {
        let reader = Cells { row, columns: &columns, mapping, order };
        match reader.entry(&collector) {
            Ok(entry) => collector.add(entry)?,
            Err((at, problem)) => problems.add(row.number, Some(header.name(at)), problem),
        }
    }
    if problems.count > 0 {
        // Rows of a wrong length were found first.
        problems.first.sort_by_key(|problem| problem.row);
        return Err(Refusal::Rows(problems));
    }
    let (entries, entries_of_zero) = collector.take();
    let format = Format::Csv;
    Ok(Statement { format, account: None, opening: None, closing: None, entries, entries_of_zero })
}

fn ended(text: &str) -> Cow<'_, str> {
    if text.ends_with('\n') { Cow::Borrowed(text) } else { Cow::Owned(format!("{text}\n")) }
}

fn all(mapping: &Mapping) -> Vec<&Column> {
    let mut columns = vec![&mapping.booked_on];
    columns.extend(&mapping.value_on);
    match &mapping.amount {
        Amount::Signed(column) => columns.push(column),
        Amount::CreditAndDebit { credit, debit } => columns.extend([credit, debit]),
        Amount::WithSide { amount, side } => columns.extend([amount, side]),
    }
    if let CurrencySource::Column(column) = &mapping.currency {
        columns.push(column);
    }
    columns.extend(mapping.references.iter().map(|reference| &reference.column));
    columns.extend(&mapping.counterparty);
    columns.extend(&mapping.text);
    columns.extend(&mapping.status);
    columns
}

fn named(mapping: &Mapping) -> Vec<&str> {
    let name = |column: &'_ Column| matches!(column, Column::Named(_));
    let columns = all(mapping).into_iter().filter(|column| name(column));
    columns.map(|column| if let Column::Named(name) = column { name.as_str() } else { "" }).collect()
}

struct Columns {
    booked_on: usize,
    value_on: Option<usize>,
    amount: AmountAt,
    currency: Option<usize>,
    references: Vec<(ReferenceKind, usize)>,
    counterparty: Option<usize>,
    text: Vec<usize>,
    status: Option<usize>,
}

enum AmountAt {
    Signed(usize),
    CreditAndDebit(usize, usize),
    WithSide(usize, usize),
}

impl Columns {
    fn find(mapping: &Mapping, header: &Header) -> Result<Self, Refusal> {
        let at = |column: &Column| header.at(column);
        let optional = |column: &Option<Column>| column.as_ref().map(at).transpose();
        let references = mapping.references.iter().map(|reference| Ok((reference.kind, at(&reference.column)?)));
        Ok(Self {
            booked_on: at(&mapping.booked_on)?,
            value_on: optional(&mapping.value_on)?,
            amount: match &mapping.amount {
                Amount::Signed(column) => AmountAt::Signed(at(column)?),
                Amount::CreditAndDebit { credit, debit } => AmountAt::CreditAndDebit(at(credit)?, at(debit)?),
                Amount::WithSide { amount, side } => AmountAt::WithSide(at(amount)?, at(side)?),
            },
            currency: match &mapping.currency {
                CurrencySource::Column(column) => Some(at(column)?),
                CurrencySource::Fixed(_) => None,
            },
            references: references.collect::<Result<_, Refusal>>()?,
            counterparty: optional(&mapping.counterparty)?,
            text: mapping.text.iter().map(at).collect::<Result<_, Refusal>>()?,
            status: optional(&mapping.status)?,
        })
    }
}

fn detected_order(rows: &[Row], columns: &Columns) -> Result<DateOrder, Refusal> {
    let mut possible = vec![DateOrder::DayMonthYear, DateOrder::MonthDayYear, DateOrder::YearMonthDay];
    let mut example = "";
    let places = [Some(columns.booked_on), columns.value_on];
    for cell in
        rows.iter().flat_map(|row| places.iter().flatten().map(|at| row.cell(*at))).filter(|cell| !cell.is_empty())
    {
        if example.is_empty() {
            example = cell;
        }
        let orders = cells::orders(cell);
        // A date that fits no order is its row's problem.
        if !orders.is_empty() {
            possible.retain(|order| orders.contains(order));
        }
    }
    match possible.as_slice() {
        [order] => Ok(*order),
        _ if rows.is_empty() => Ok(DateOrder::YearMonthDay),
        _ => Err(MappingProblem::DateOrderUnclear { example: quoted(example) }.into()),
    }
}

/// A row and what is needed to read it. Errors come with their column.
struct Cells<'a> {
    row: &'a Row,
    columns: &'a Columns,
    mapping: &'a Mapping,
    order: DateOrder,
}

impl Cells<'_> {
    fn entry(&self, collector: &Collector) -> Result<Entry, (usize, Problem)> {
        let columns = self.columns;
        let currency = self.currency()?;
        let (side, minor) = self.amount(currency)?;
        let mut entry = Entry::new(Position::Row(self.row.number), side, minor, currency);
        entry.booked_on = self.date(columns.booked_on)?;
        entry.value_on = columns.value_on.map_or(Ok(None), |at| self.date(at))?;
        if let Some(at) = columns.status {
            let booked = cells::is_first(self.row.cell(at), STATUS_WORDS);
            let value = || quoted(self.row.cell(at));
            let expected = "a word such as booked or pending";
            entry.is_booked = booked.ok_or_else(|| (at, Problem::NotAStatus { value: value(), expected }))?;
        }
        if entry.is_booked && entry.booked_on.is_none() {
            return Err((columns.booked_on, Problem::Missing));
        }
        for (kind, at) in &columns.references {
            collector.reference(&mut entry, *kind, self.row.cell(*at)).map_err(|problem| (*at, problem))?;
        }
        if let Some(at) = columns.counterparty {
            collector.counterparty(&mut entry, self.row.cell(at));
        }
        let words: Vec<&str> = columns.text.iter().map(|at| self.row.cell(*at)).collect();
        collector.text(&mut entry, &words.join(" "));
        Ok(entry)
    }

    fn currency(&self) -> Result<Currency, (usize, Problem)> {
        match (self.columns.currency, &self.mapping.currency) {
            (Some(at), _) => {
                let cell = self.row.cell(at);
                Currency::parse(cell).ok_or_else(|| (at, Problem::NotACurrency { value: quoted(cell) }))
            }
            (None, CurrencySource::Fixed(currency)) => Ok(*currency),
            (None, CurrencySource::Column(_)) => Err((0, Problem::Missing)),
        }
    }

    fn date(&self, at: usize) -> Result<Option<Date>, (usize, Problem)> {
        let cell = self.row.cell(at);
        if cell.is_empty() {
            return Ok(None);
        }
        let problem = || (at, Problem::NotADate { value: quoted(cell), example: cells::example(self.order) });
        cells::date(cell, self.order).map(Some).ok_or_else(problem)
    }

    fn amount(&self, currency: Currency) -> Result<(Side, i64), (usize, Problem)> {
        let read = |at: usize| -> Result<Option<(bool, i64)>, (usize, Problem)> {
            let cell = self.row.cell(at);
            if cell.is_empty() {
                return Ok(None);
            }
            cells::amount(cell, self.mapping.decimal_mark, currency).map(Some).map_err(|problem| (at, problem))
        };
        let against = |at: usize| (at, Problem::SignAgainstSide { value: quoted(self.row.cell(at)) });
        match self.columns.amount {
            AmountAt::Signed(at) => {
                let (is_negative, minor) = read(at)?.ok_or((at, Problem::Missing))?;
                Ok((if is_negative { Side::Debit } else { Side::Credit }, minor))
            }
            AmountAt::CreditAndDebit(credit, debit) => match (read(credit)?, read(debit)?) {
                (Some((true, 1..)), _) => Err(against(credit)),
                (Some((_, 1..)), Some((_, 1..))) => Err((credit, Problem::TwoAmounts)),
                (_, Some((_, minor @ 1..))) | (None, Some((_, minor))) => Ok((Side::Debit, minor)),
                (Some((_, minor)), _) => Ok((Side::Credit, minor)),
                (None, None) => Err((credit, Problem::Missing)),
            },
            AmountAt::WithSide(at, side) => {
                let (is_negative, minor) = read(at)?.ok_or((at, Problem::Missing))?;
                let word = self.row.cell(side);
                let expected = "a word such as credit or debit";
                let problem = || (side, Problem::NotASide { value: quoted(word), expected });
                let is_credit = cells::is_first(word, SIDE_WORDS).ok_or_else(problem)?;
                match (is_credit, is_negative) {
                    (true, true) => Err(against(at)),
                    (true, false) => Ok((Side::Credit, minor)),
                    (false, _) => Ok((Side::Debit, minor)),
                }
            }
        }
    }
}

/// The cells of the first rows. A single column has no delimiter, but is read too.
pub(crate) fn cells(text: &str, rows_max: usize) -> Vec<(usize, Vec<String>)> {
    let text = if text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") };
    let delimiter = rows::sniff(&text).unwrap_or(Delimiter::Comma);
    let cells = |row: rows::Row| (row.number, row.cells().map(str::to_owned).collect());
    rows::Rows::new(&text, delimiter).take(rows_max).map(cells).collect()
}
