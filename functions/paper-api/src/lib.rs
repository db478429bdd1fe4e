//! The operation that papers funding items. It is apart from the other write operations, which stay small without what
//! writes documents.

mod funding_items;

use shared::api::operation::Register;

/// Registers this function's operations.
pub fn operations(routes: &mut impl Register) {
    routes.write::<funding_items::PaperFundingItems>();
}
