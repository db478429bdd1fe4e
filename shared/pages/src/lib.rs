//! What the app's pages share: layout, parts, addresses, and the way from request to response. Pages are rendered on
//! the server and work without JavaScript. Every change is a form submission with the session's CSRF token.
//!
//! Each page is a file in its function. `shared::web` has sessions, form checks and audit rows.

// Templates used in several crates refer to this crate by name.
extern crate self as pages;

pub mod acts;
pub mod agreement_payments;
pub mod agreement_rows;
pub mod agreement_summary;
pub mod answer_rows;
pub mod assets;
pub mod audit_rows;
pub mod blockers;
pub mod chosen;
pub mod csv;
pub mod deal;
pub mod document_pages;
pub mod done;
pub mod fields;
pub mod form;
pub mod in_person;
pub mod labels;
pub mod layout;
pub mod masked;
pub mod obligation_record;
pub mod pager;
pub mod paper_refusals;
pub mod payment_list;
pub mod pickers;
pub mod receipts;
mod repeats;
pub mod response;
pub mod routes;
pub mod satisfaction;
pub mod second_members;
pub mod shelves;
pub mod sorting;
pub mod statement_file;
#[cfg(any(test, feature = "fixtures"))]
pub mod statement_fixtures;
pub mod tasks;
pub mod theme;
pub mod unsent;
pub mod uploads;
pub mod urls;
pub mod warnings;

/// The beginning of the stylesheet (fonts, colors, plain elements), for look-alike pages outside the app.
#[must_use]
pub fn style_head() -> String {
    assets::STYLE.head()
}
