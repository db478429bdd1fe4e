//! The names of the fields of a statement’s form: those of an entry, and of a payment that it may be for.

use shared::domain::ids::MovementId;
use shared::domain::movement::Movement;

/// The beginning of the names of check boxes: `pair.<entry>.<payment>`, with the id of the evidence as the value.
pub(super) const PAIR: &str = "pair.";

/// The same where filing resolves first that the payment did not arrive.
pub(super) const RESOLVING: &str = "resolve.";

/// The beginning of the names of fields in which a member says why an entry of another account counts.
pub(super) const REASON: &str = "reason.";

/// The field with the number of the one entry that the page showed.
pub(super) const ENTRY: &str = "entry";

/// The name of the check box of an entry and a payment.
pub(super) fn box_of(number: u32, movement: &Movement) -> String {
    let prefix = if movement.is_not_received() { RESOLVING } else { PAIR };
    format!("{prefix}{number}.{}", movement.id())
}

/// The name of the field in which a member says why an entry counts for a payment, though it is on another account.
pub(super) fn reason_of(number: u32, movement: MovementId) -> String {
    format!("{REASON}{number}.{movement}")
}
