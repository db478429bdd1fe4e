//! OFX (Open Financial Exchange), versions 1 (SGML) and 2 (XML): downloads of US banks, also called QFX and QBO.
//!
//! - Decision: an amount's sign is its side. A contradicting type or a correction (`CORRECTFITID`) proves no arrival.
//! - Decision: `FITID` is unique only within its account, so it identifies no transfer across accounts.
//! - Decision: only bank accounts are read; a file with entries of a card or investment account is refused as a whole.
//! - Decision: descriptions may repeat (all memo lines count, and the first name); an amount, a day or an id must not.

mod tree;

use jiff::civil::Date;

use crate::account::Account;
use crate::amount::{GROUP, minor_units, without_separators};
use crate::collect::Collector;
use crate::currency::Currency;
use crate::dates;
use crate::limits;
use crate::model::{Balance, Entry, Format, Position, ReferenceKind, Side, Statement};
use crate::problem::Problem;
use crate::refusal::Refusal;
use crate::text::quoted;
use crate::xml::Element;

const REFERENCES: [(&str, ReferenceKind); 4] = [
    ("FITID", ReferenceKind::EntryReference),
    ("SRVRTID", ReferenceKind::BankReference),
    ("CHECKNUM", ReferenceKind::CheckNumber),
    ("REFNUM", ReferenceKind::Other),
];
/// Messages of accounts that aren't read, and how a refusal names the file.
const OTHERS: [(&str, &str); 2] = [
    ("CREDITCARDMSGSRSV1", "an OFX file of a credit card"),
    ("INVSTMTMSGSRSV1", "an OFX file of an investment account"),
];

/// Elements of entries in such messages. Investments have their own names.
const OTHER_ENTRIES: [&str; 3] = ["STMTTRN", "STMTTRNP", "INVSTMTRS"];
const DECIMALS_BYTES: usize = 3;

pub(crate) fn is_ofx(text: &str) -> bool {
    text.trim_start().starts_with("OFXHEADER") || tree::start(text).is_some()
}

pub(crate) fn read(text: &str) -> Result<Vec<Statement>, Refusal> {
    let start = tree::start(text).ok_or(Refusal::CutOff { line: 1, missing: "root (<OFX>)" })?;
    let root = tree::parse(text, start)?;
    let others = || OTHERS.into_iter().flat_map(|(name, found)| root.all(name).map(move |messages| (messages, found)));
    if let Some((_, found)) = others().find(|(messages, _)| has_entries(messages)) {
        return Err(Refusal::OtherMessage { found: found.to_owned() });
    }
    let mut collector = Collector::default();
    let mut statements = Vec::new();
    let responses = root.all("BANKMSGSRSV1").flat_map(|messages| messages.all("STMTTRNRS"));
    for element in responses.flat_map(|response| response.all("STMTRS")) {
        if statements.len() == limits::STATEMENTS_MAX {
            return Err(Refusal::TOO_MANY_STATEMENTS);
        }
        statements.push(statement(element, &mut collector)?);
    }
    match others().next() {
        _ if !statements.is_empty() => Ok(statements),
        Some((_, found)) => Err(Refusal::OtherMessage { found: found.to_owned() }),
        None => Err(Refusal::NoStatement),
    }
}

fn has_entries(messages: &Element) -> bool {
    messages.children.iter().any(|child| OTHER_ENTRIES.contains(&child.name) || has_entries(child))
}

fn statement(element: &Element, collector: &mut Collector) -> Result<Statement, Refusal> {
    let currency = currency(element.needed("CURDEF")?)?;
    let from = element.needed("BANKACCTFROM")?;
    let number = from.needed("ACCTID")?.value();
    let bank = from.one("BANKID")?.map_or("", Element::value);
    collector.begin(Some(number));
    for (list, entry, is_booked) in [("BANKTRANLIST", "STMTTRN", true), ("BANKTRANLISTP", "STMTTRNP", false)] {
        for element in element.all(list).flat_map(|list| list.all(entry)) {
            collector.add(transaction(element, currency, is_booked, collector)?)?;
        }
    }
    let closing = element.one("LEDGERBAL")?.map(|balance| balance_of(balance, currency)).transpose()?;
    let (entries, entries_of_zero) = collector.take();
    let account = Account::new(number).map(|account| account.at_bank(bank));
    Ok(Statement { format: Format::Ofx, account, opening: None, closing, entries, entries_of_zero })
}

fn transaction(
    element: &Element,
    currency: Currency,
    is_booked: bool,
    collector: &Collector,
) -> Result<Entry, Refusal> {
    // Its own currency, if any. An amount in `ORIGCURRENCY` was already exchanged.
    let own = element.one("CURRENCY")?.map(|own| own.needed("CURSYM")).transpose()?;
    let currency = own.map_or(Ok(currency), self::currency)?;
    let (side, minor) = amount(element.needed("TRNAMT")?, currency)?;
    let kind = element.needed("TRNTYPE")?.value();
    let mut entry = Entry::new(Position::Line(element.line), side, minor, currency);
    entry.is_booked = is_booked && kind != "HOLD";
    entry.is_reversal = matches!((kind, side), ("DEBIT", Side::Credit) | ("CREDIT", Side::Debit))
        || element.all("CORRECTFITID").next().is_some();
    let posted = if is_booked { "DTPOSTED" } else { "DTTRAN" };
    entry.booked_on = Some(day(element.needed(posted)?)?);
    entry.value_on = element.one("DTAVAIL")?.map(day).transpose()?;
    for (name, kind) in REFERENCES {
        if let Some(value) = element.one(name)? {
            collector.reference(&mut entry, kind, value.value()).map_err(|problem| value.refused(problem))?;
        }
    }
    let payee = element.one("PAYEE")?.and_then(|payee| payee.first(&["NAME"]));
    for name in element.all("EXTDNAME").chain(element.all("NAME")).chain(payee) {
        collector.counterparty(&mut entry, name.value());
    }
    collector.text(&mut entry, &element.all("MEMO").map(Element::value).collect::<Vec<_>>().join(" "));
    Ok(entry)
}

fn balance_of(element: &Element, currency: Currency) -> Result<Balance, Refusal> {
    let (side, amount) = amount(element.needed("BALAMT")?, currency)?;
    let amount_minor = if side == Side::Credit { amount } else { -amount };
    Ok(Balance { amount_minor, currency, on: element.one("DTASOF")?.map(day).transpose()? })
}

/// Reads a signed amount. Also takes nonstandard group separators before a mark (point or comma) and two decimals.
fn amount(element: &Element, currency: Currency) -> Result<(Side, i64), Refusal> {
    let value = element.value();
    let (side, number) = match value.strip_prefix('-') {
        Some(number) => (Side::Debit, number),
        None => (Side::Credit, value.strip_prefix('+').unwrap_or(value)),
    };
    let ungrouped = ungrouped(number);
    let bare = ungrouped.as_deref().unwrap_or(number);
    let mark = if bare.contains(',') { ',' } else { '.' };
    // `1,250` is ambiguous: a bank that separates groups writes commas between them.
    let is_group = mark == ',' && bare.split_once(mark).is_some_and(|(_, fraction)| fraction.len() == GROUP);
    if is_group && currency.decimals() < GROUP {
        return Err(element.refused(Problem::TooManyDecimals { value: quoted(number), currency }));
    }
    let minor = minor_units(bare, mark, currency).map_err(|problem| match problem {
        Problem::NotAnAmount { value, .. } => element.refused(Problem::NotAnAmount { value, mark: '.' }),
        other => element.refused(other),
    })?;
    Ok((side, minor))
}

fn ungrouped(number: &str) -> Option<String> {
    let (whole, decimals) = number.split_at_checked(number.len().checked_sub(DECIMALS_BYTES)?)?;
    let mark = decimals.chars().next().filter(|mark| matches!(mark, '.' | ','))?;
    Some(without_separators(whole, mark)? + decimals)
}

fn currency(element: &Element) -> Result<Currency, Refusal> {
    let code = element.value();
    Currency::parse(code).ok_or_else(|| element.refused(Problem::NotACurrency { value: quoted(code) }))
}

/// Reads a day such as `20260131`, also with time and zone: `20260131120000.000[-5:EST]`.
fn day(element: &Element) -> Result<Date, Refusal> {
    let value = element.value();
    let read = || {
        let (day, rest) = value.split_at_checked(8)?;
        let (year, day) = day.split_at_checked(4)?;
        let (month, day) = day.split_at_checked(2)?;
        let time = rest.split_once('[').map_or(rest, |(time, _)| time).trim();
        let is_time = time.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        is_time.then(|| dates::from_digits(year, month, day)).flatten()
    };
    read().ok_or_else(|| element.refused(Problem::NotADate { value: quoted(value), example: "20260131" }))
}
