//! camt.052, camt.053 and camt.054 (ISO 20022): banks' reports, statements and notifications in XML.
//!
//! Versions 02 to 13 differ by namespace. Two things moved (status and parties in 08, amounts in 03): both are read.
//!
//! - Decision: if a single page has both balances, its entries must lead from one to the other: a misread shows.
//! - Decision: a camt.052, the running day's report, may call entries booked. An MT942 can't ([`super::mt`]).

mod entry;

use jiff::civil::Date;

use crate::account::Account;
use crate::amount::minor_units;
use crate::balance;
use crate::collect::Collector;
use crate::currency::Currency;
use crate::dates;
use crate::limits;
use crate::model::{Balance, Format, Side, Statement};
use crate::problem::Problem;
use crate::refusal::Refusal;
use crate::text::quoted;
use crate::xml::{self, Element};

struct Message {
    namespace: &'static str,
    format: Format,
    body: &'static str,
    part: &'static str,
}

const MESSAGES: [Message; 3] = [
    Message { namespace: ":camt.052.001.", format: Format::Camt052, body: "BkToCstmrAcctRpt", part: "Rpt" },
    Message { namespace: ":camt.053.001.", format: Format::Camt053, body: "BkToCstmrStmt", part: "Stmt" },
    Message { namespace: ":camt.054.001.", format: Format::Camt054, body: "BkToCstmrDbtCdtNtfctn", part: "Ntfctn" },
];

pub(crate) fn read(text: &str) -> Result<Vec<Statement>, Refusal> {
    let document = xml::parse(text)?;
    let message = MESSAGES.iter().find(|message| document.namespace.contains(message.namespace));
    let Some(&Message { format, body, part, .. }) = message else {
        let namespace = document.namespace.rsplit([':', '/']).next().unwrap_or_default();
        let found = if namespace.is_empty() { format!("<{}>", document.name) } else { namespace.to_owned() };
        return Err(Refusal::OtherMessage { found: quoted(&found) });
    };
    let root = Element { name: "Document", line: 1, currency: None, text: String::new(), children: document.children };
    if document.name != root.name {
        return Err(Refusal::OtherMessage { found: quoted(&format!("<{}>", document.name)) });
    }
    let mut collector = Collector::default();
    let mut statements = Vec::new();
    for element in root.needed(body)?.all(part) {
        if statements.len() == limits::STATEMENTS_MAX {
            return Err(Refusal::TOO_MANY_STATEMENTS);
        }
        statements.push(statement(element, format, &mut collector)?);
    }
    if statements.is_empty() { Err(Refusal::NoStatement) } else { Ok(statements) }
}

fn statement(element: &Element, format: Format, collector: &mut Collector) -> Result<Statement, Refusal> {
    let id = element.first(&["Acct", "Id"]);
    let number = id.and_then(|id| id.first(&["IBAN"]).or_else(|| id.first(&["Othr", "Id"]))).map(Element::value);
    collector.begin(number);
    for entry in element.all("Ntry") {
        entry::read(entry, collector)?;
    }
    let (entries, entries_of_zero) = collector.take();
    let opening = balance_of(element, &["OPBD", "PRCD"])?;
    let closing = balance_of(element, &["CLBD"])?;
    if format == Format::Camt053 && is_whole(element)? {
        balance::check(element.line, opening, closing, &entries)?;
    }
    Ok(Statement { format, account: account(element, number), opening, closing, entries, entries_of_zero })
}

/// The statement's account and bank: `BIC` up to version 03, `BICFI` from 04, and the clearing system's code.
fn account(element: &Element, number: Option<&str>) -> Option<Account> {
    let account = Account::new(number?)?;
    let bank = element.first(&["Acct", "Svcr", "FinInstnId"]);
    let code = |path: &[&'static str]| bank.and_then(|bank| bank.first(path)).map_or("", Element::value);
    Some(account.at_bank(code(&["BICFI"])).at_bank(code(&["BIC"])).at_bank(code(&["ClrSysMmbId", "MmbId"])))
}

/// False for one of several pages.
fn is_whole(element: &Element) -> Result<bool, Refusal> {
    let Some(page) = element.one("StmtPgntn")? else { return Ok(true) };
    let number = page.first(&["PgNb"]).map_or("1", Element::value).trim_start_matches('0');
    let last = page.one("LastPgInd")?.map(flag).transpose()?.unwrap_or(true);
    Ok(number == "1" && last)
}

fn balance_of(element: &Element, types: &[&str]) -> Result<Option<Balance>, Refusal> {
    for wanted in types {
        let kind =
            |balance: &&Element| balance.first(&["Tp", "CdOrPrtry", "Cd"]).is_some_and(|code| code.value() == *wanted);
        let mut found = element.all("Bal").filter(kind);
        let Some(balance) = found.next() else { continue };
        // A second one is in another currency or interim; nothing tells them apart.
        if found.next().is_some() {
            return Ok(None);
        }
        let (amount, currency) = amount(balance.needed("Amt")?)?;
        let amount_minor = match side(balance.needed("CdtDbtInd")?)? {
            Side::Credit => amount,
            Side::Debit => -amount,
        };
        return Ok(Some(Balance { amount_minor, currency, on: day(balance.one("Dt")?)? }));
    }
    Ok(None)
}

fn amount(element: &Element) -> Result<(i64, Currency), Refusal> {
    let code = element.currency.as_deref().unwrap_or_default();
    let currency =
        Currency::parse(code).ok_or_else(|| element.refused(Problem::NotACurrency { value: quoted(code) }))?;
    let minor = minor_units(element.value(), '.', currency).map_err(|problem| element.refused(problem))?;
    Ok((minor, currency))
}

fn side(element: &Element) -> Result<Side, Refusal> {
    match element.value() {
        "CRDT" => Ok(Side::Credit),
        "DBIT" => Ok(Side::Debit),
        other => Err(element.refused(Problem::NotASide { value: quoted(other), expected: "CRDT or DBIT" })),
    }
}

fn flag(element: &Element) -> Result<bool, Refusal> {
    match element.value() {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        other => Err(element.refused(Problem::NotAFlag { value: quoted(other) })),
    }
}

/// The day of a date or date and time, as the bank wrote it.
fn day(element: Option<&Element>) -> Result<Option<Date>, Refusal> {
    let Some(element) = element else { return Ok(None) };
    let value = match (element.one("Dt")?, element.one("DtTm")?) {
        (Some(date), _) => date,
        (None, Some(moment)) => moment,
        (None, None) => return Err(element.refused(Problem::Missing)),
    };
    let problem = || value.refused(Problem::NotADate { value: quoted(value.value()), example: "2026-01-31" });
    dates::iso(value.value()).map(Some).ok_or_else(problem)
}
