//! Entries of camt files.
//!
//! - Decision: a batch becomes one entry per transaction if their signed amounts, in its currency, add up to it.
//!   Otherwise it stays one entry with all references, so that no more shows than was booked.
//! - Decision: a returned payment (`RtrInf`) counts as a reversal: getting one's own money back is no payment.

use crate::collect::Collector;
use crate::currency::Currency;
use crate::limits;
use crate::model::{Entry, Position, ReferenceKind, Side};
use crate::problem::Problem;
use crate::refusal::Refusal;
use crate::text::quoted;
use crate::xml::Element;

use super::{amount, day, flag, side};

const REFERENCES: [(&str, ReferenceKind); 12] = [
    ("EndToEndId", ReferenceKind::EndToEndId),
    ("UETR", ReferenceKind::Uetr),
    ("AcctSvcrRef", ReferenceKind::AccountServicerReference),
    ("TxId", ReferenceKind::TransactionId),
    ("InstrId", ReferenceKind::InstructionId),
    ("PmtInfId", ReferenceKind::PaymentInformationId),
    ("MsgId", ReferenceKind::MessageId),
    ("ClrSysRef", ReferenceKind::ClearingSystemReference),
    ("MndtId", ReferenceKind::MandateId),
    ("ChqNb", ReferenceKind::CheckNumber),
    ("AcctSvcrTxId", ReferenceKind::BankReference),
    ("MktInfrstrctrTxId", ReferenceKind::Other),
];

struct Transaction<'a> {
    element: &'a Element,
    amount: Option<(i64, Side)>,
}

pub(super) fn read(element: &Element, collector: &mut Collector) -> Result<(), Refusal> {
    let (minor, currency) = amount(element.needed("Amt")?)?;
    let entry_side = side(element.needed("CdtDbtInd")?)?;
    let mut whole = Entry::new(Position::Line(element.line), entry_side, minor, currency);
    whole.is_reversal = element.one("RvslInd")?.map(flag).transpose()?.unwrap_or(false);
    whole.is_booked = is_booked(element.needed("Sts")?)?;
    whole.booked_on = day(element.one("BookgDt")?)?;
    whole.value_on = day(element.one("ValDt")?)?;
    let mut transactions = Vec::new();
    for element in element.all("NtryDtls").flat_map(|details| details.all("TxDtls")) {
        transactions.push(Transaction { element, amount: own_amount(element, entry_side, currency)? });
    }
    if let [_, _, ..] = transactions.as_slice()
        && let Some(amounts) = split(&transactions, minor, entry_side)
    {
        // Read once, not once per transaction.
        let mut level = whole.clone();
        add_entry_level(&mut level, element, ReferenceKind::BatchReference, collector)?;
        for (transaction, (minor, side)) in transactions.iter().zip(amounts) {
            let mut part = whole.clone();
            (part.amount_minor, part.side) = (minor, side);
            part.position = Position::Line(transaction.element.line);
            describe(&mut part, transaction.element, collector)?;
            for reference in &level.references {
                part.refer(reference.clone());
            }
            part.text = part.text.or_else(|| level.text.clone());
            collector.add(part)?;
        }
        return Ok(());
    }
    let own = ReferenceKind::AccountServicerReference;
    if let [_, _, ..] = transactions.as_slice() {
        // First, because not all references are kept.
        add_entry_level(&mut whole, element, own, collector)?;
        let text = whole.text.clone();
        for transaction in &transactions {
            describe(&mut whole, transaction.element, collector)?;
        }
        // The first transaction's values would be wrong for the rest.
        (whole.counterparty, whole.text) = (None, text);
        return collector.add(whole);
    }
    for transaction in &transactions {
        describe(&mut whole, transaction.element, collector)?;
    }
    add_entry_level(&mut whole, element, own, collector)?;
    collector.add(whole)
}

/// Reads the status: text up to version 07, a code from version 08.
fn is_booked(status: &Element) -> Result<bool, Refusal> {
    let code = match (status.one("Cd")?, status.one("Prtry")?) {
        (Some(code), None) => code,
        (None, None) => status,
        // A bank's own status may not be final.
        (None, Some(_)) => return Ok(false),
        (Some(_), Some(second)) => return Err(second.refused(Problem::Repeated)),
    };
    match code.value() {
        "BOOK" => Ok(true),
        "PDNG" | "INFO" | "FUTR" => Ok(false),
        other => {
            let expected = "BOOK, PDNG, INFO or FUTR";
            Err(status.refused(Problem::NotAStatus { value: quoted(other), expected }))
        }
    }
}

fn own_amount(element: &Element, entry_side: Side, currency: Currency) -> Result<Option<(i64, Side)>, Refusal> {
    let own_side = element.one("CdtDbtInd")?.map(side).transpose()?.unwrap_or(entry_side);
    let Some(found) = element.one("Amt")?.or_else(|| element.first(&["AmtDtls", "TxAmt", "Amt"])) else {
        return Ok(None);
    };
    let (minor, own_currency) = amount(found)?;
    Ok((own_currency == currency).then_some((minor, own_side)))
}

/// The transactions' amounts, if each has one and they add up to the entry.
fn split(transactions: &[Transaction<'_>], minor: i64, entry_side: Side) -> Option<Vec<(i64, Side)>> {
    let amounts: Vec<(i64, Side)> = transactions.iter().map(|transaction| transaction.amount).collect::<Option<_>>()?;
    let signed = |(minor, side): &(i64, Side)| match side {
        Side::Credit => i128::from(*minor),
        Side::Debit => -i128::from(*minor),
    };
    let sum: i128 = amounts.iter().map(signed).sum();
    (sum == signed(&(minor, entry_side))).then_some(amounts)
}

fn describe(found: &mut Entry, transaction: &Element, collector: &Collector) -> Result<(), Refusal> {
    found.is_reversal |= transaction.all("RtrInf").next().is_some();
    if let Some(refs) = transaction.one("Refs")? {
        for (name, kind) in REFERENCES {
            for value in refs.all(name) {
                collector.reference(found, kind, value.value()).map_err(|problem| value.refused(problem))?;
            }
        }
        for other in refs.all("Prtry").filter_map(|other| other.first(&["Ref"])) {
            collector
                .reference(found, ReferenceKind::Other, other.value())
                .map_err(|problem| other.refused(problem))?;
        }
    }
    let mut words = Vec::new();
    for remittance in transaction.all("RmtInf") {
        words.extend(remittance.all("Ustrd").map(Element::value));
        for reference in remittance.all("Strd").filter_map(|part| part.first(&["CdtrRefInf", "Ref"])) {
            let refused = |problem| reference.refused(problem);
            collector.reference(found, ReferenceKind::CreditorReference, reference.value()).map_err(refused)?;
        }
    }
    if words.is_empty() {
        words.extend(transaction.all("AddtlTxInf").map(Element::value));
    }
    collector.text(found, &words.join(" "));
    // A reversal keeps its parties: for a reversed credit, the debtor is still the other side.
    let is_from_debtor = (found.side == Side::Credit) != found.is_reversal;
    let names: [&'static str; 2] = if is_from_debtor { ["Dbtr", "UltmtDbtr"] } else { ["Cdtr", "UltmtCdtr"] };
    let parties = transaction.all("RltdPties");
    let name = parties.flat_map(|parties| names.into_iter().filter_map(|name| party(parties, name))).next();
    collector.counterparty(found, name.unwrap_or_default());
    Ok(())
}

/// The party's name: in the element itself up to version 07, in `Pty` from version 08.
fn party<'a>(parties: &'a Element, name: &'static str) -> Option<&'a str> {
    let party = parties.first(&[name])?;
    party.first(&["Pty", "Nm"]).or_else(|| party.first(&["Nm"])).map(Element::value)
}

fn add_entry_level(
    found: &mut Entry,
    entry: &Element,
    own: ReferenceKind,
    collector: &Collector,
) -> Result<(), Refusal> {
    for (name, kind) in [("AcctSvcrRef", own), ("NtryRef", ReferenceKind::EntryReference)] {
        if let Some(value) = entry.one(name)? {
            collector.reference(found, kind, value.value()).map_err(|problem| value.refused(problem))?;
        }
    }
    if found.text.is_none() {
        let words = entry.all("AddtlNtryInf").map(Element::value).take(limits::REFERENCES_PER_ENTRY_MAX);
        collector.text(found, &words.collect::<Vec<_>>().join(" "));
    }
    Ok(())
}
