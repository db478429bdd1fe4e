//! The field names of a statement’s form, by entry and payment.

use shared::domain::ids::MovementId;
use shared::domain::movement::Movement;

/// The prefix of checkboxes: `pair.<entry>.<payment>`.
pub(super) const PAIR: &str = "pair.";

/// The prefix of checkboxes if filing first resolves that the payment didn't arrive.
pub(super) const RESOLVING: &str = "resolve.";

/// The prefix of fields for the reason why an entry of another account counts.
pub(super) const REASON: &str = "reason.";

pub(super) const ENTRY: &str = "entry";

pub(super) fn box_of(number: u32, movement: &Movement) -> String {
    let prefix = if movement.is_not_received() { RESOLVING } else { PAIR };
    format!("{prefix}{number}.{}", movement.id())
}

pub(super) fn reason_of(number: u32, movement: MovementId) -> String {
    format!("{REASON}{number}.{movement}")
}
