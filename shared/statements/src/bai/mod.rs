//! BAI2 (Cash Management Balance Reporting, version 2), the statement format of banks in the United States.
//!
//! A file has groups (a day and bank each), a group accounts, an account transactions. Amounts are in minor units.
//!
//! - Decision: a file needs all trailers and matching control totals, so that omissions show. Records aren't counted,
//!   since banks count differently, and transactions needn't lead to the closing balance: a report may omit some.
//! - Decision: a file is BAI2 if it begins with a file header and a group header, one with a slash or a day in place.
//! - Decision: an interim report (as-of-date modifier 1 or 3) may change, so nothing in it counts as booked, as with
//!   MT942. Neither do parts of a deposit (“item in …”), which the deposit counts, nor loan transactions.
//! - Decision: only the transaction's own line has references: text mistaken for one would claim a payment.

mod records;
mod transaction;

use jiff::civil::Date;

use crate::account::Account;
use crate::collect::Collector;
use crate::currency::Currency;
use crate::dates;
use crate::limits;
use crate::model::{Balance, Format, Statement};
use crate::problem::Problem;
use crate::refusal::Refusal;
use crate::text::quoted;

use records::{Fields, Record};

/// Index of the version in a file header, not counting the code.
const VERSION_AT: usize = 7;
/// Indexes of the days in file and group headers, counting the code.
const DAYS_AT: [usize; 2] = [3, 4];
const VERSION: &str = "2";
const DEFAULT_CURRENCY: &str = "USD";
const OPENING: u16 = 10;
const CLOSING: u16 = 15;

pub(crate) fn is_bai(text: &str) -> bool {
    let lines = records::lines(text).map(str::trim);
    let mut heads = lines.filter(|line| !line.is_empty() && !line.starts_with("88,"));
    let heads = [heads.next().unwrap_or_default(), heads.next().unwrap_or("02,")];
    let is_day = |(head, at): (&str, usize)| {
        head.split(',').nth(at).is_some_and(|field| dates::yymmdd(field.trim().trim_end_matches('/')).is_some())
    };
    let [file, group] = heads;
    file.starts_with("01,")
        && group.starts_with("02,")
        && (heads.iter().any(|head| head.ends_with('/')) || heads.into_iter().zip(DAYS_AT).any(is_day))
}

pub(crate) fn read(text: &str) -> Result<Vec<Statement>, Refusal> {
    let mut reader = Reader::default();
    for record in &records::records(text)? {
        reader.take(record)?;
    }
    reader.finish()
}

#[derive(Debug, Clone, Copy)]
struct Part {
    name: &'static str,
    trailer: &'static str,
    line: usize,
    sum: i128,
}

impl Part {
    fn new(name: &'static str, trailer: &'static str, line: usize) -> Self {
        Self { name, trailer, line, sum: 0 }
    }

    /// Compares the amounts with the trailer's control total, unless that is blank.
    fn close(self, trailer: &Record<'_>) -> Result<i128, Refusal> {
        let total = trailer.fields().next().unwrap_or_default();
        let found = signed(total).map_err(|problem| trailer.refused("The control total", problem))?;
        match found {
            Some(found) if i128::from(found) != self.sum => {
                let (part, line, expected, found) = (self.name, self.line, self.sum, found.into());
                Err(Refusal::ControlTotal { part, line, expected, found })
            }
            _ => Ok(self.sum),
        }
    }

    fn missing(self) -> Refusal {
        Refusal::Field { line: self.line, field: self.trailer, problem: Problem::Missing }
    }
}

#[derive(Debug)]
struct Group {
    part: Part,
    on: Date,
    currency: Currency,
    is_final: bool,
    originator: String,
}

#[derive(Debug)]
struct Open {
    part: Part,
    account: Option<Account>,
    currency: Currency,
    opening: Option<Balance>,
    closing: Option<Balance>,
}

#[derive(Debug, Default)]
struct Reader {
    collector: Collector,
    statements: Vec<Statement>,
    file: Option<Part>,
    group: Option<Group>,
    account: Option<Open>,
    is_closed: bool,
}

impl Reader {
    fn take(&mut self, record: &Record<'_>) -> Result<(), Refusal> {
        match record.code {
            "01" => self.open_file(record),
            "02" => self.open_group(record),
            "03" => self.open_account(record),
            "16" => self.transaction(record),
            "49" => self.close_account(record),
            "98" => self.close_group(record),
            _ => self.close_file(record),
        }
    }

    fn open_file(&mut self, record: &Record<'_>) -> Result<(), Refusal> {
        if let Some(file) = self.file {
            return Err(file.missing());
        }
        match record.fields().nth(VERSION_AT).unwrap_or_default() {
            VERSION => {}
            "" => return Err(record.refused("The version in the file’s header (01)", Problem::Missing)),
            other => return Err(Refusal::OtherMessage { found: format!("a BAI file of version {}", quoted(other)) }),
        }
        self.file = Some(Part::new("file", "The file’s trailer (99)", record.line));
        Ok(())
    }

    fn open_group(&mut self, record: &Record<'_>) -> Result<(), Refusal> {
        if let Some(group) = &self.group {
            return Err(group.part.missing());
        }
        if self.file.is_none() {
            return Err(record.refused("The file’s header (01)", Problem::Missing));
        }
        let fields: Vec<&str> = record.fields().collect();
        let field = |at: usize| fields.get(at).copied().unwrap_or_default();
        let expected = "1 (new) or 3 (corrected)";
        match field(2) {
            "" | "1" | "3" => {}
            other => {
                return Err(record.refused("The group’s status", Problem::Malformed { value: quoted(other), expected }));
            }
        }
        let on = day(field(3)).map_err(|problem| record.refused("The group’s date", problem))?;
        let currency = currency(field(5), None).map_err(|problem| record.refused("The group’s currency", problem))?;
        self.group = Some(Group {
            part: Part::new("group", "The group’s trailer (98)", record.line),
            on,
            currency,
            is_final: !matches!(field(6), "1" | "3"),
            originator: field(1).to_owned(),
        });
        Ok(())
    }

    fn open_account(&mut self, record: &Record<'_>) -> Result<(), Refusal> {
        if let Some(account) = &self.account {
            return Err(account.part.missing());
        }
        let Some(group) = &self.group else {
            return Err(record.refused("The group’s header (02)", Problem::Missing));
        };
        if self.statements.len() == limits::STATEMENTS_MAX {
            return Err(Refusal::TOO_MANY_STATEMENTS);
        }
        let mut fields = record.fields();
        let number = fields.next().unwrap_or_default();
        let code = fields.next().unwrap_or_default();
        let currency = currency(code, Some(group.currency))
            .map_err(|problem| record.refused("The account’s currency", problem))?;
        let mut open = Open {
            part: Part::new("account", "The account’s trailer (49)", record.line),
            account: account(number, &group.originator),
            currency,
            opening: None,
            closing: None,
        };
        open.summaries(fields, group.on).map_err(|problem| record.refused("The account’s summary", problem))?;
        self.collector.begin(Some(parts_of(number).0));
        self.account = Some(open);
        Ok(())
    }

    fn transaction(&mut self, record: &Record<'_>) -> Result<(), Refusal> {
        let (Some(group), Some(open)) = (&self.group, &mut self.account) else {
            return Err(record.refused("The account’s header (03)", Problem::Missing));
        };
        let amount = transaction::read(record, group, open.currency, &mut self.collector)?;
        open.part.sum += i128::from(amount);
        Ok(())
    }

    fn close_account(&mut self, record: &Record<'_>) -> Result<(), Refusal> {
        let (Some(group), Some(open)) = (&mut self.group, self.account.take()) else {
            return Err(record.refused("The account’s header (03)", Problem::Missing));
        };
        group.part.sum += open.part.close(record)?;
        let (entries, entries_of_zero) = self.collector.take();
        let Open { account, opening, closing, .. } = open;
        let format = Format::Bai2;
        self.statements.push(Statement { format, account, opening, closing, entries, entries_of_zero });
        Ok(())
    }

    fn close_group(&mut self, record: &Record<'_>) -> Result<(), Refusal> {
        if let Some(open) = &self.account {
            return Err(open.part.missing());
        }
        let (Some(file), Some(group)) = (&mut self.file, self.group.take()) else {
            return Err(record.refused("The group’s header (02)", Problem::Missing));
        };
        file.sum += group.part.close(record)?;
        Ok(())
    }

    fn close_file(&mut self, record: &Record<'_>) -> Result<(), Refusal> {
        if let Some(group) = &self.group {
            return Err(group.part.missing());
        }
        let Some(file) = self.file.take() else {
            return Err(record.refused("The file’s header (01)", Problem::Missing));
        };
        file.close(record)?;
        self.is_closed = true;
        Ok(())
    }

    fn finish(self) -> Result<Vec<Statement>, Refusal> {
        let account = self.account.map(|open| (open.part, "trailer of an account (49)"));
        let group = self.group.map(|group| (group.part, "trailer of a group (98)"));
        let file = self.file.map(|file| (file, "trailer (99)"));
        if let Some((part, missing)) = account.or(group).or(file) {
            return Err(Refusal::CutOff { line: part.line, missing });
        }
        if self.statements.is_empty() { Err(Refusal::NoStatement) } else { Ok(self.statements) }
    }
}

impl Open {
    /// Reads balances and totals: type code, amount, count, availability each. Banks end lines with extra commas.
    fn summaries(&mut self, mut fields: Fields<'_, '_>, on: Date) -> Result<(), Problem> {
        while let Some(code) = fields.next() {
            if code.is_empty() {
                continue;
            }
            let code = type_code(code)?;
            let amount = signed(fields.next().unwrap_or_default())?;
            let _count = fields.next();
            let availability = fields.next().unwrap_or_default();
            transaction::value_day(availability, &mut fields)?;
            let Some(amount_minor) = amount else { continue };
            self.part.sum += i128::from(amount_minor);
            let balance = Some(Balance { amount_minor, currency: self.currency, on: Some(on) });
            match code {
                OPENING if self.opening.is_none() => self.opening = balance,
                CLOSING if self.closing.is_none() => self.closing = balance,
                _ => {}
            }
        }
        Ok(())
    }
}

/// Splits off the sort code that UK banks append to an account number.
fn parts_of(number: &str) -> (&str, &str) {
    number.split_once(' ').filter(|(number, code)| number.len() == 8 && code.len() == 6).unwrap_or((number, ""))
}

/// Takes the group's sender as the bank only if its code has the form of a bank's: anyone may send a group.
fn account(number: &str, originator: &str) -> Option<Account> {
    let (number, sort_code) = parts_of(number);
    let account = Account::new(number)?.at_bank(sort_code);
    Some(if Account::is_bank(originator) { account.at_bank(originator) } else { account })
}

fn type_code(text: &str) -> Result<u16, Problem> {
    let is_code = text.len() <= 3 && text.bytes().all(|byte| byte.is_ascii_digit());
    let malformed = || Problem::Malformed { value: quoted(text), expected: "a type code such as 195" };
    is_code.then(|| text.parse().ok()).flatten().ok_or_else(malformed)
}

fn signed(text: &str) -> Result<Option<i64>, Problem> {
    if text.is_empty() {
        return Ok(None);
    }
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let expected = "an amount in the smallest unit of its currency, such as 125050";
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Problem::Malformed { value: quoted(text), expected });
    }
    text.parse().map(Some).map_err(|_| Problem::AmountTooLarge { value: quoted(text) })
}

fn day(text: &str) -> Result<Date, Problem> {
    dates::yymmdd(text).ok_or_else(|| Problem::NotADate { value: quoted(text), example: "260131" })
}

fn currency(code: &str, inherited: Option<Currency>) -> Result<Currency, Problem> {
    let is_blank = code.is_empty();
    let code = if is_blank { DEFAULT_CURRENCY } else { code };
    let read = Currency::parse(code).ok_or_else(|| Problem::NotACurrency { value: quoted(code) });
    inherited.filter(|_| is_blank).map_or(read, Ok)
}
