//! Checks that a statement's entries lead from its opening to its closing balance.

use crate::model::{Balance, Entry, Side};
use crate::refusal::Refusal;

/// Skips the check if a balance is missing or currencies differ. `line` is where the statement begins.
pub(crate) fn check(
    line: usize,
    opening: Option<Balance>,
    closing: Option<Balance>,
    entries: &[Entry],
) -> Result<(), Refusal> {
    let (Some(opening), Some(closing)) = (opening, closing) else { return Ok(()) };
    let booked = || entries.iter().filter(|entry| entry.is_booked);
    let currency = opening.currency;
    if closing.currency != currency || booked().any(|entry| entry.currency != currency) {
        return Ok(());
    }
    let sum: i128 = booked().map(signed).sum();
    let (expected, found) = (i128::from(opening.amount_minor) + sum, i128::from(closing.amount_minor));
    if expected == found { Ok(()) } else { Err(Refusal::Balance { line, expected, found, currency }) }
}

fn signed(entry: &Entry) -> i128 {
    match entry.side {
        Side::Credit => i128::from(entry.amount_minor),
        Side::Debit => -i128::from(entry.amount_minor),
    }
}
