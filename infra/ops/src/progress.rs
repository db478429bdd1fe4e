//! Shows the progress of long work: a bar on a terminal, nothing elsewhere.

use std::io::{self, IsTerminal};

use indicatif::{ProgressBar, ProgressStyle};
use shared::store::Store;

pub async fn of_table(store: &Store) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    // DynamoDB updates its count every few hours, so the table may have more items.
    match store.approximate_items().await {
        Some(items) => styled(ProgressBar::new(items), "{bar:40} {human_pos} of about {human_len} items, {elapsed}"),
        None => styled(ProgressBar::new_spinner(), "{spinner} {human_pos} items, {elapsed}"),
    }
}

fn styled(bar: ProgressBar, template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.with_style(style)
}
