use super::movements::UNTITLED;
use crate::domain::ledger::{LedgerDirection, LedgerProduct, LedgerRowType};
use crate::domain::movement::Movement;
use crate::domain::movement::safe_text::SafeLine;

/// The title of a payment: its purpose.
#[must_use]
pub fn payment_title(movement: &Movement) -> &str {
    movement.terms().purpose.as_ref().map_or(UNTITLED, SafeLine::as_str)
}

/// A payment's title and amount, such as `Closing payment, $1,200.00 USD`.
#[must_use]
pub fn payment_with_amount(movement: &Movement) -> String {
    let title = payment_title(movement);
    let amount = movement.terms().money.map(|money| format!(", {}", money.for_people()));
    format!("{title}{}", amount.unwrap_or_default())
}

/// Who owes it.
#[must_use]
pub fn ledger_direction(direction: LedgerDirection) -> &'static str {
    match direction {
        LedgerDirection::OwedToUs => "Owed to us",
        LedgerDirection::OwedByUs => "Owed by us",
        LedgerDirection::BetweenOthers => "Between others",
    }
}

/// What a row is about.
#[must_use]
pub fn ledger_row_type(row_type: LedgerRowType) -> &'static str {
    match row_type {
        LedgerRowType::Agreement => "Agreement",
        LedgerRowType::Movement => "Payment",
        LedgerRowType::Obligation => "Obligation",
    }
}

/// The product of a row.
#[must_use]
pub fn ledger_product(product: LedgerProduct) -> &'static str {
    match product {
        LedgerProduct::Safe => "SAFE",
        LedgerProduct::Agreement => "Agreement",
    }
}
