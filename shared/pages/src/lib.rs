//! What the pages of the app share: their layout, their parts, their addresses, and the way from a request to a response. The
//! pages are server-rendered, and work without JavaScript. Every change is a form submission with the CSRF token of the session.
//!
//! Each page is a file of the function that has it. `shared::web` has the session, the form checks and the audit row.

// Templates that several crates use name what is here by the name of this crate.
extern crate self as pages;

pub mod acts;
pub mod agreement_payments;
pub mod agreement_rows;
pub mod agreement_summary;
pub mod answer_rows;
pub mod api_description;
pub mod assets;
pub mod audit_rows;
pub mod blockers;
pub mod csv;
pub mod deal;
pub mod done;
pub mod fields;
pub mod in_person;
pub mod labels;
pub mod layout;
pub mod masked;
pub mod obligation_record;
pub mod pager;
pub mod payment_list;
pub mod prose;
pub mod receipts;
mod repeats;
pub mod response;
pub mod routes;
pub mod satisfaction;
pub mod second_members;
pub mod statement_file;
#[cfg(any(test, feature = "fixtures"))]
pub mod statement_fixtures;
pub mod tasks;
pub mod theme;
pub mod unsent;
pub mod uploads;
pub mod urls;
pub mod warnings;

/// The beginning of the stylesheet: fonts, colors and plain elements, for a page beside the app that is to look like it.
#[must_use]
pub fn style_head() -> String {
    assets::STYLE.head()
}
