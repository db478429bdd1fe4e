use super::movements::{UNTITLED, exception};
use super::names::names;
use crate::domain::agreement::{Agreement, Lifecycle};
use crate::domain::contact::Contact;
use crate::domain::ids::ParticipantId;
use crate::domain::ledger::{LedgerDirection, LedgerProduct, LedgerRowType};
use crate::domain::money::in_app;
use crate::domain::movement::safe_text::SafeLine;
use crate::domain::movement::{Movement, Status};

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

/// The names of those who have declined a condition of the current step. None if nobody has.
#[must_use]
pub fn declined_by(agreement: &Agreement, contacts: &[Contact]) -> Option<String> {
    let by: Vec<ParticipantId> = agreement.declined_by().into_iter().collect();
    (!by.is_empty()).then(|| names(agreement, &by, contacts))
}

/// Whom or what a payment waits for, such as `Ada Okafor to pay`. Empty once nothing is left to do.
#[must_use]
pub fn payment_wait(movement: &Movement, agreement: &Agreement, contacts: &[Contact]) -> String {
    let name = |id: Option<ParticipantId>| names(agreement, id.as_slice(), contacts);
    let a_member = |act: &str| format!("A member to {act}");
    let lifecycle = agreement.lifecycle();
    // Nobody prepares it then, unless its money is at risk.
    let is_prepared = matches!(movement.status(), Status::Draft | Status::Authorized) && movement.risk().is_none();
    if let Some(names) = declined_by(agreement, contacts).filter(|_| is_prepared) {
        return format!("Declined by {names}");
    }
    match movement.status() {
        Status::Draft if lifecycle == Lifecycle::Draft => "Publication".to_owned(),
        Status::Draft | Status::Authorized if lifecycle != Lifecycle::Active => String::new(),
        Status::Draft if agreement.lets_authorize(movement.id()) => a_member("authorize it"),
        Status::Draft => "The steps before".to_owned(),
        Status::Authorized => match movement.instructions() {
            None => a_member("enter instructions"),
            Some(instructions) if instructions.has_verification_ended() => a_member("enter instructions"),
            Some(instructions) if instructions.verification.is_none() => a_member("verify instructions"),
            Some(_) if agreement.lets_release(movement.id()) => a_member("release instructions"),
            Some(_) => "The steps before".to_owned(),
        },
        Status::InstructionsReady => format!("{} to pay", name(movement.terms().sender)),
        Status::SenderReported | Status::ReceiptPending => match payment_rest(movement) {
            Some(rest) => format!("Proof of the other {rest}"),
            None => "Proof that it arrived".to_owned(),
        },
        Status::Processing => a_member("review proof"),
        Status::Exception(found) => a_member(&format!("decide: {}", exception(found.reason))),
        Status::Cancelled(_) if movement.has_undecided_receipt() => a_member("review proof"),
        Status::Reconciled(_) | Status::Returned(_) | Status::Cancelled(_) => String::new(),
    }
}

/// What is not proven yet of a payment of which a part is, such as `$25.00 USD`. None once nothing more happens to it.
#[must_use]
pub fn payment_rest(movement: &Movement) -> Option<String> {
    let (money, receipt) = (movement.terms().money?, movement.receipt()?);
    let rest = money.amount_minor() - receipt.received_minor;
    let is_partly_proven = receipt.received_minor > 0 && rest > 0 && !movement.state().is_done();
    is_partly_proven.then(|| in_app(rest, money.currency().code()))
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

/// Several of them.
#[must_use]
pub fn ledger_rows(row_type: LedgerRowType) -> &'static str {
    match row_type {
        LedgerRowType::Agreement => "Agreements",
        LedgerRowType::Movement => "Payments",
        LedgerRowType::Obligation => "Obligations",
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
