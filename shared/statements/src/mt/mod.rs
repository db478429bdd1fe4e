//! MT940 and MT942 (SWIFT), statements in lines.
//!
//! Decision: an MT942's entries may still change, so none counts as booked. The statement will have them.
//!
//! Decision: the pages of a statement (`:60M:`, `:62M:`) stay separate statements, each with its own balances to check.

mod details;
mod fields;
mod line;

pub(crate) use fields::is_mt;

use crate::account::Account;
use crate::amount::minor_units;
use crate::balance;
use crate::collect::Collector;
use crate::currency::Currency;
use crate::dates;
use crate::model::{Balance, Entry, Format, Side, Statement};
use crate::problem::Problem;
use crate::refusal::Refusal;
use crate::text::quoted;

use fields::{Field, Message};

pub(crate) fn read(text: &str) -> Result<Vec<Statement>, Refusal> {
    let mut collector = Collector::default();
    fields::messages(text)?.iter().map(|message| statement(message, &mut collector)).collect()
}

fn statement(message: &Message<'_>, collector: &mut Collector) -> Result<Statement, Refusal> {
    let opening = one(message, &["60F", "60M"], ":60F:")?;
    let floor = message.fields.iter().find(|field| field.tag == "34F");
    let (format, currency, opening) = match (opening, floor) {
        (Some(field), _) => {
            let opening = balance_of(field, ":60F:")?;
            (Format::Mt940, opening.currency, Some(opening))
        }
        (None, Some(floor)) => (Format::Mt942, currency_of(floor)?, None),
        (None, None) => return Err(missing(message.line, ":60F:")),
    };
    let account = one(message, &["25", "25P"], ":25:")?.map(Named::of);
    collector.begin(account.as_ref().map(|account| account.number));
    let closing_field = one(message, &["62F", "62M"], ":62F:")?;
    let closing = closing_field.map(|field| balance_of(field, ":62F:")).transpose()?;
    if let (Some(field), Some(closing)) = (closing_field, closing)
        && closing.currency != currency
    {
        let problem = Problem::OtherCurrency { found: closing.currency, expected: currency };
        return Err(Refusal::Field { line: field.line, field: ":62F:", problem });
    }
    if format == Format::Mt940 && closing.is_none() {
        return Err(Refusal::CutOff { line: message.line, missing: "closing balance (:62F:)" });
    }
    read_entries(message, format, currency, collector)?;
    let (entries, entries_of_zero) = collector.take();
    balance::check(message.line, opening, closing, &entries)?;
    Ok(Statement {
        format,
        account: account.as_ref().and_then(Named::account),
        opening,
        closing,
        entries,
        entries_of_zero,
    })
}

fn read_entries(
    message: &Message<'_>,
    format: Format,
    currency: Currency,
    collector: &mut Collector,
) -> Result<(), Refusal> {
    let mut open: Option<(Entry, &Field<'_>)> = None;
    let mut is_between = false;
    for field in &message.fields {
        let refused = |name| move |problem| Refusal::Field { line: field.line, field: name, problem };
        match field.tag {
            "60F" | "60M" | "34F" => is_between = true,
            "61" if is_between => {
                finish(open.take(), collector)?;
                let mut entry = line::read(field.line, field.value(), currency, collector).map_err(refused(":61:"))?;
                entry.is_booked &= format == Format::Mt940;
                open = Some((entry, field));
            }
            "61" => return Err(missing(field.line, ":60F:")),
            "86" => {
                if let Some((entry, _)) = &mut open {
                    details::read(entry, &field.lines, collector).map_err(refused(":86:"))?;
                }
            }
            "62F" | "62M" | "90C" | "90D" => {
                finish(open.take(), collector)?;
                is_between = false;
            }
            _ => {}
        }
    }
    finish(open, collector)
}

/// Adds a complete entry. If it has no `:86:`, its details are those of its own line.
fn finish(open: Option<(Entry, &Field<'_>)>, collector: &mut Collector) -> Result<(), Refusal> {
    let Some((mut entry, field)) = open else { return Ok(()) };
    collector.text(&mut entry, &field.lines.iter().skip(1).copied().collect::<Vec<_>>().join(" "));
    collector.add(entry)
}

/// The only field with one of these tags; an error if there are more.
fn one<'a>(message: &'a Message<'a>, tags: &[&str], name: &'static str) -> Result<Option<&'a Field<'a>>, Refusal> {
    let mut found = message.fields.iter().filter(|field| tags.contains(&field.tag));
    let first = found.next();
    match found.next() {
        None => Ok(first),
        Some(second) => Err(Refusal::Field { line: second.line, field: name, problem: Problem::Repeated }),
    }
}

fn balance_of(field: &Field<'_>, name: &'static str) -> Result<Balance, Refusal> {
    let read = || {
        let value = field.value();
        let expected = "a balance such as C260131EUR1250,50";
        let malformed = || Problem::Malformed { value: quoted(value), expected };
        let (mark, rest) = value.split_at_checked(1).ok_or_else(malformed)?;
        let (day, rest) = rest.split_at_checked(6).ok_or_else(malformed)?;
        let (code, amount) = rest.split_at_checked(3).ok_or_else(malformed)?;
        let on = dates::yymmdd(day).ok_or_else(|| Problem::NotADate { value: quoted(day), example: "260131" })?;
        let currency = Currency::parse(code).ok_or_else(|| Problem::NotACurrency { value: quoted(code) })?;
        let amount = minor_units(amount, ',', currency)?;
        let side = match mark {
            "C" => Side::Credit,
            "D" => Side::Debit,
            _ => return Err(malformed()),
        };
        let amount_minor = if side == Side::Credit { amount } else { -amount };
        Ok(Balance { amount_minor, currency, on: Some(on) })
    };
    read().map_err(|problem| Refusal::Field { line: field.line, field: name, problem })
}

fn currency_of(floor: &Field<'_>) -> Result<Currency, Refusal> {
    let code = floor.value().get(..3).unwrap_or_default();
    let problem = Problem::NotACurrency { value: quoted(code) };
    Currency::parse(code).ok_or(Refusal::Field { line: floor.line, field: ":34F:", problem })
}

/// `:25:` has a number, or the bank's code, a slash and the number, then maybe a currency. `:25P:` adds the BIC.
struct Named<'a> {
    number: &'a str,
    bank: &'a str,
    bic: &'a str,
}

impl<'a> Named<'a> {
    fn of(field: &'a Field<'a>) -> Self {
        let value = field.value();
        let value = match value.rsplit_once('/') {
            Some((before, code)) if is_currency(code) => before,
            _ => value,
        };
        let (bank, number) = value.rsplit_once('/').unwrap_or(("", value));
        let bic = field.lines.get(1).filter(|_| field.tag == "25P").map_or("", |line| line.trim());
        Self { number: without_currency(number.trim()), bank, bic }
    }

    fn account(&self) -> Option<Account> {
        Account::new(self.number).map(|account| account.at_bank(self.bank).at_bank(self.bic))
    }
}

fn without_currency(number: &str) -> &str {
    let split = number.len().checked_sub(3).and_then(|at| number.split_at_checked(at));
    match split {
        Some((digits, code))
            if is_currency(code) && digits.ends_with(|last: char| last == ' ' || last.is_ascii_digit()) =>
        {
            digits.trim_end()
        }
        _ => number,
    }
}

fn is_currency(code: &str) -> bool {
    code.len() == 3 && Currency::parse(code).is_some()
}

fn missing(line: usize, field: &'static str) -> Refusal {
    Refusal::Field { line, field, problem: Problem::Missing }
}
