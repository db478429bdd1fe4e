//! The field names of a statement’s form, by entry and payment.

use pages::form;
use shared::domain::ids::MovementId;
use shared::domain::movement::Movement;

/// The prefix of checkboxes: `pair.<entry>.<payment>`.
pub(super) const PAIR: &str = "pair.";

/// The prefix of checkboxes if filing first resolves that the payment didn't arrive.
pub(super) const RESOLVING: &str = "resolve.";

form! {
    /// Entries that are filed as evidence.
    pub(crate) FILING: FilingForm {
        pairs: Field::choice(PAIR, "Entry"),
        resolving: Field::choice(RESOLVING, "Entry"),
        reason: Field::line("reason.", "Why it counts", 2000),
    }
}

pub(super) const ENTRY: &str = "entry";

pub(super) fn box_of(number: u32, movement: &Movement) -> String {
    let prefix = if movement.is_not_received() { RESOLVING } else { PAIR };
    format!("{prefix}{number}.{}", movement.id())
}

pub(super) fn reason_of(number: u32, movement: MovementId) -> String {
    FILING.reason.member(format_args!("{number}.{movement}"))
}
