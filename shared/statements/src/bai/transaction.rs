//! `16`, a transaction: type code, amount, availability of funds, bank's reference, customer's reference, text.

use jiff::civil::Date;

use crate::collect::Collector;
use crate::currency::Currency;
use crate::model::{Entry, Position, ReferenceKind, Side};
use crate::problem::Problem;
use crate::refusal::Refusal;
use crate::text::quoted;

use super::records::{Fields, Record};
use super::{Group, day, signed, type_code};

/// Type codes that reverse a transaction or return a payment.
const REVERSALS: [u16; 21] =
    [123, 252, 254, 255, 257, 258, 261, 266, 268, 395, 423, 468, 552, 554, 555, 557, 558, 561, 566, 568, 694];
/// Type codes of parts of a deposit or disbursement, which is itself a transaction.
const ITEMS: [u16; 6] = [116, 136, 143, 156, 345, 452];
const DISTRIBUTIONS_MAX: usize = 99;

struct Kind {
    side: Side,
    is_booked: bool,
}

pub(super) fn read(
    record: &Record<'_>,
    group: &Group,
    currency: Currency,
    collector: &mut Collector,
) -> Result<i64, Refusal> {
    let mut fields = record.fields();
    let code = fields.next().unwrap_or_default();
    let refused = |field| move |problem| record.refused(field, problem);
    let code = type_code(code).map_err(refused("The type code"))?;
    let kind = kind(code).ok_or_else(|| {
        let expected = "the type code of a credit, of a debit, or 890";
        record.refused("The type code", Problem::Malformed { value: quoted(&code.to_string()), expected })
    })?;
    let written = fields.next().unwrap_or_default();
    let minor = amount(written).map_err(refused("The amount"))?;
    let mut entry = Entry::new(Position::Line(record.line), kind.side, minor, currency);
    entry.is_booked = kind.is_booked && group.is_final;
    entry.is_reversal = REVERSALS.contains(&code);
    entry.booked_on = Some(group.on);
    let funds = fields.next_of_line().unwrap_or_default();
    entry.value_on = value_day(funds, &mut fields).map_err(refused("The funds type"))?;
    for kind in [ReferenceKind::BankReference, ReferenceKind::CustomerReference] {
        let value = fields.next_of_line().unwrap_or_default();
        collector.reference(&mut entry, kind, value).map_err(refused("The reference"))?;
    }
    collector.text(&mut entry, &fields.text());
    collector.add(entry)?;
    Ok(minor)
}

/// The unsigned amount: the type code gives the side. A blank amount is 0: the transaction only informs.
fn amount(text: &str) -> Result<i64, Problem> {
    if text.starts_with('-') {
        return Err(Problem::SignedAmount { value: quoted(text) });
    }
    Ok(signed(text)?.unwrap_or(0))
}

/// Maps a type code: 100–399 credits, 400–699 debits, 700–799 loans, 920–959 the bank's own credits, 960–999 its own
/// debits. Balances and totals of all credits or debits aren't transactions.
fn kind(code: u16) -> Option<Kind> {
    let (side, is_booked) = match code {
        101..=399 | 920..=959 => (Side::Credit, true),
        401..=699 | 960..=999 => (Side::Debit, true),
        700..=759 | 890 => (Side::Credit, false),
        760..=799 => (Side::Debit, false),
        _ => return None,
    };
    Some(Kind { side, is_booked: is_booked && !ITEMS.contains(&code) })
}

/// Reads a funds type's fields: `S` has three amounts, `V` a day and a time, `D` a count of pairs of day and amount.
pub(super) fn value_day(funds: &str, fields: &mut Fields<'_, '_>) -> Result<Option<Date>, Problem> {
    let malformed = |value: &str, expected| Problem::Malformed { value: quoted(value), expected };
    match funds {
        "" | "Z" | "0" | "1" | "2" => Ok(None),
        "S" => {
            fields.by_ref().take(3).for_each(drop);
            Ok(None)
        }
        "V" => {
            let on = fields.next().unwrap_or_default();
            fields.next();
            if on.is_empty() { Ok(None) } else { day(on).map(Some) }
        }
        "D" => {
            let count = fields.next().unwrap_or_default();
            let pairs = count.parse::<usize>().ok().filter(|count| *count <= DISTRIBUTIONS_MAX);
            let pairs = pairs.ok_or_else(|| malformed(count, "a number of days, up to 99"))?;
            fields.by_ref().take(2 * pairs).for_each(drop);
            Ok(None)
        }
        other => Err(malformed(other, "Z, 0, 1, 2, S, V or D")),
    }
}
