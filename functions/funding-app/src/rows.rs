//! Items in a list of their own, and how far those of a workspace or a trust are.

use pages::labels::Badge;

/// An item in a list of its own.
pub(crate) struct ItemRow {
    pub url: String,
    pub label: String,
    pub about: String,
    pub next: String,
    pub badge: Badge,
    pub on_hold: Option<String>,
}

/// How far the items of a workspace or a trust are. Only what is confirmed or closed counts.
pub(crate) struct Progress {
    pub done: u32,
    pub total: u32,
    /// Those that only a claim says are done.
    pub claimed: u32,
}

impl Progress {
    /// What it says in words.
    pub fn text(&self) -> String {
        format!("{} of {}", self.done, self.total)
    }
}
