//! Promises and obligations.

/// Promises of one agreement: one transaction ([`TRANSACTION_ITEMS_MAX`](super::TRANSACTION_ITEMS_MAX)) writes their
/// obligations and list rows.
pub const AGREEMENT_PROMISES_MAX: usize = 25;
/// Overdue occurrences at publication without a warning: monthly for a year; more are likelier a wrong year.
pub const OVERDUE_AT_PUBLICATION_MAX: u32 = 12;
/// Days of one promise that is due on given days: as many occurrences as an obligation keeps in full.
pub const PROMISE_DATES_MAX: usize = 50;
/// Triggers of one promise.
pub const PROMISE_TRIGGERS_MAX: usize = 20;
/// The longest interval of a recurrence, in its own units: every 120 months are ten years.
pub const RECURRENCE_EVERY_MAX: u16 = 120;
/// Occurrences of a recurrence that ends after a count: monthly for a hundred years.
pub const RECURRENCE_COUNT_MAX: u32 = 1200;
/// The longest time from a trigger to its due day, and between two verifications of a promise, in days: ten years.
pub const PROMISE_DAYS_MAX: u16 = 3660;
/// How long before its due day an occurrence counts as due, in days: a month.
pub const DUE_AHEAD_DAYS: i32 = 30;
/// Characters of a note on what is said to be done.
pub const SATISFACTION_NOTE_CHARS_MAX: usize = 300;
/// Days before an obligation's start, or an occurrence's due day, on which it can be said to have happened.
pub const DONE_AHEAD_DAYS_MAX: i32 = 366;
/// Upcoming occurrences that an obligation shows: a year of months.
pub const UPCOMING_SHOWN_MAX: usize = 12;
/// Confirmed occurrences that an obligation's record keeps in full, with who said what. Older ones are items beside it.
pub const OCCURRENCES_KEPT_MAX: usize = 50;
/// Occurrences that may wait for confirmation: of 6 KB each, with [`OCCURRENCES_KEPT_MAX`], they fit in 400 KB.
pub const OCCURRENCES_WAITING_MAX: usize = 20;
