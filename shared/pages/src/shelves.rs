//! Where records are, for the app's lists: current ones, archived ones, and those merged into another one.

use shared::wire::page::Shelf;

use crate::labels::Badge;
use crate::layout::Notice;

/// One of several pages, for `tabs.html`.
pub struct Tab {
    /// Its address.
    pub url: String,
    /// Its name.
    pub name: &'static str,
    /// Whether it is shown.
    pub is_current: bool,
}

/// The tabs of a list, one per shelf. `page_url` returns the address of the first page of one.
pub fn tabs(shelves: &[Shelf], current: Shelf, page_url: impl Fn(Shelf) -> String) -> Vec<Tab> {
    let tab = |shelf: Shelf| Tab { url: page_url(shelf), name: name(shelf), is_current: shelf == current };
    shelves.iter().copied().map(tab).collect()
}

fn name(shelf: Shelf) -> &'static str {
    match shelf {
        Shelf::Current => "Current",
        Shelf::Archived => "Archived",
        Shelf::Merged => "Merged",
        Shelf::All => "All",
    }
}

/// The end of a list's address that says which shelf it shows. Empty for current records.
#[must_use]
pub fn parameter(shelf: Shelf) -> String {
    if shelf == Shelf::Current { String::new() } else { format!("&show={shelf}") }
}

/// The badge of a record that is archived or merged. None for current ones.
#[must_use]
pub fn badge(shelf: Shelf) -> Option<Badge> {
    let is_aside = matches!(shelf, Shelf::Archived | Shelf::Merged);
    is_aside.then(|| Badge { text: name(shelf), class: "quiet" })
}

/// After archiving a record or bringing it back.
#[must_use]
pub fn notice(is_archived: bool) -> Notice {
    if is_archived {
        Notice::good("Archived", "Lists no longer show it. It is under Archived there, and can be brought back.")
    } else {
        Notice::good("Brought back", "Lists show it again.")
    }
}
