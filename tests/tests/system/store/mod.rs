//! The table: each call's cost, what calls leave behind, and what happens when calls collide or the store fails.

pub(crate) mod capacity;
mod concurrency;
mod endings;
pub(crate) mod faults;
mod files;
mod full;
mod funding;
mod histories;
mod interleavings;
mod late_repeats;
mod load;
mod migration;
mod papering;
mod races;
mod restart;
mod restored;
mod spread_lists;
mod stored_rows;
mod waits;
