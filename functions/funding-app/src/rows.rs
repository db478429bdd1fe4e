//! Lists of items, and the progress of a workspace or trust.

use pages::labels::Badge;

pub(crate) struct ItemRow {
    pub url: String,
    pub label: String,
    pub about: String,
    pub next: String,
    pub badge: Badge,
    pub on_hold: Option<String>,
}

/// The progress of a workspace or trust. Only confirmed or closed items count.
pub(crate) struct Progress {
    pub done: u32,
    pub total: u32,
    pub claimed: u32,
}

impl Progress {
    pub fn text(&self) -> String {
        let items = if self.total == 1 { "item" } else { "items" };
        format!("{} of {} {items}", self.done, self.total)
    }
}
