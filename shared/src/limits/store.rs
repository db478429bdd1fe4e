//! The table: writes and their retries, batches, sweeps of the clock, and what operators run.

use std::time::Duration;

/// The interval between sweeps of the clock: effects of time are at most 90 s late (contract, section 3).
pub const SWEEP_INTERVAL: Duration = Duration::from_mins(1);
/// The time of one sweep. The next one, scheduled a minute later, processes the rest.
pub const SWEEP_DEADLINE: Duration = Duration::from_secs(45);
/// Shards of the due index from which one sweep takes a page of entries of a kind and applies it at a time: each takes
/// connections, of which a function has 1,024.
pub const SWEEP_PAGES_AT_ONCE: usize = 8;
/// Due entries that are read at once.
pub const SWEEP_ENTRIES_MAX: i32 = 100;
/// Attempts at one due entry in one sweep while other calls change the same records.
pub const SWEEP_ATTEMPTS_MAX: u32 = 5;
/// The time for retrying a contended write; the last attempt has [`AWS_ATTEMPT_TIMEOUT`] until
/// [`CALL_DEADLINE`](super::CALL_DEADLINE).
pub const WRITE_DEADLINE: Duration = Duration::from_secs(9);
/// The first and the longest pause between attempts at a contended write, each drawn evenly between zero and its
/// length. The longest lets fifty writers of one record succeed: with a shorter one they keep conflicting.
pub const WRITE_BACKOFF_FIRST: Duration = Duration::from_millis(10);
/// See [`WRITE_BACKOFF_FIRST`].
pub const WRITE_BACKOFF_MAX: Duration = Duration::from_secs(2);
/// The time from a call's beginning for its retries while the table throttles it: callers who pile up add to the load.
pub const THROTTLED_DEADLINE: Duration = Duration::from_secs(3);
/// The first and the longest pause between attempts that the table throttles.
pub const THROTTLED_BACKOFF_FIRST: Duration = Duration::from_millis(100);
/// See [`THROTTLED_BACKOFF_FIRST`].
pub const THROTTLED_BACKOFF_MAX: Duration = Duration::from_secs(1);
/// How long a process leaves out the due entries of an organization after the table throttled one of them: shorter than
/// the time between ticks of the clock, so that each tick tries again.
pub const THROTTLED_ORG_PAUSE: Duration = Duration::from_secs(10);
/// `Retry-After` of a call that failed because the table throttled it, in seconds.
pub const THROTTLED_RETRY_AFTER_S: u32 = 2;
/// The time for retrying a write of one item while a transaction holds it. A failed call's audit row is such an item
/// while the call's own transaction is under way: without the row, the transaction could take effect after the answer.
/// The last attempt begins before it ends, and may take [`AWS_CALL_TIMEOUT`] more: a late row is better than no fence.
pub const HELD_ITEM_DEADLINE: Duration = Duration::from_secs(8);
/// The timeout of connecting to an AWS service.
pub const AWS_CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// The timeout of one attempt at a call of an AWS service.
pub const AWS_ATTEMPT_TIMEOUT: Duration = Duration::from_secs(3);
/// The timeout of a call of an AWS service with its retries.
pub const AWS_CALL_TIMEOUT: Duration = Duration::from_secs(8);
/// Attempts at one call of an AWS service: the SDK retries time-outs, throttling and 5xx with jitter.
pub const AWS_ATTEMPTS_MAX: u32 = 5;
/// The longest wait for a new table to become active.
pub const TABLE_CREATION_WAIT: Duration = Duration::from_mins(1);
/// The first pause before retrying a call of an AWS service. Each pause is up to twice as long as the last.
pub const AWS_BACKOFF_FIRST: Duration = Duration::from_millis(100);
/// Items in one `DynamoDB` transaction (the service's own limit).
pub const TRANSACTION_ITEMS_MAX: usize = 100;
/// Of these, a call's own: audit row, entry in an agreement's history, idempotency key, check of its member, and the
/// entries in the logs of six lists (agreements, their documents, proposals, movements, obligations, funding items).
pub const CALL_ITEMS_MAX: usize = 10;
/// Items of one event: the event, and its entry on the due index. Decision: events of a transaction don't share an entry,
/// since each is relayed, throttled and taken off on its own, and the largest transactions have room.
pub const EVENT_ITEMS: usize = 2;
/// Keys in one `BatchGetItem` (the service's own limit).
pub const BATCH_KEYS_MAX: usize = 100;
/// Batches of keys that one read runs together.
pub const BATCHES_AT_ONCE: usize = 16;
/// Items that a walk over the whole table reads together. It reports its progress, and can resume, after each batch.
pub const TABLE_PAGE_ITEMS: i32 = 1000;
/// Records that a migration or restoration writes concurrently: less than a new table takes without throttling.
pub const REWRITES_AT_ONCE: usize = 16;
/// Items that an operator's check of the table inspects together, with what they depend on read in batches.
pub const INSPECTED_AT_ONCE: usize = 200;
/// Tokens and endpoints that one step suspends: resuming an endpoint takes two items of a transaction.
pub const SUSPENDED_AT_ONCE: usize = 40;
/// Attempts at an operator's act while other calls change the same records.
pub const OPERATOR_ATTEMPTS_MAX: u32 = 5;
/// The longest time from the stamp of a listed record's write to its effect, if its call acknowledges the write: the call's
/// own time, then that of the audit row of its failure, which may find that the write took effect after all.
pub const COMMIT_MAX: Duration = super::CALL_DEADLINE.saturating_add(super::AUDIT_DEADLINE);
/// How far the clock of a function may be from the true time, in either direction.
pub const CLOCK_SKEW_MAX: Duration = Duration::from_secs(5);
/// How much of a list's log each list reads again. A write that took effect after the last reading began has a stamp of
/// at most [`COMMIT_MAX`] before that, by a clock that may be [`CLOCK_SKEW_MAX`] behind the reader's own, which may be as
/// much ahead.
pub const LOG_WINDOW: Duration = COMMIT_MAX.saturating_add(CLOCK_SKEW_MAX).saturating_add(CLOCK_SKEW_MAX);
/// How much of the log a list reads again once in [`LATE_WRITES_INTERVAL`], for writes that hung in the network for
/// longer than [`COMMIT_MAX`] and were answered as failed: AWS refuses a request whose signature is 5 min old.
pub const LATE_WRITES_WINDOW: Duration = Duration::from_mins(10);
/// See [`LATE_WRITES_WINDOW`].
pub const LATE_WRITES_INTERVAL: Duration = Duration::from_mins(1);
/// Entries of the log are kept this long, and rows in memory are read anew well before.
pub const LOG_KEPT: Duration = Duration::from_hours(24);
/// See [`LOG_KEPT`].
pub const LISTED_ROWS_AGE_MAX: Duration = Duration::from_hours(20);
/// Partitions over which the rows and the log of a busy list are spread, each for some 500 transactions a second.
pub const LIST_PARTS: u8 = 8;
/// Rows of a list from which on who passes over them all stores them in a file, from which others begin.
pub const STORED_ROWS_MIN: usize = 20_000;
/// The first rows of a pass. If there are more, it looks for a file with all of them before it goes on.
pub const FIRST_ROWS_MAX: usize = 1_000;
/// Who begins from a file and finds more than this part of its rows in the log stores the rows anew.
pub const STORED_ROWS_LOG_PART: usize = 4;
/// Ranges of rows that a pass reads side by side, 1 MB at a time: a partition gives some 11 MB a second.
pub const ROW_RANGES_AT_ONCE: usize = 4;
/// Responses that a range of a pass is meant to take, by the width of the one before it.
pub const ROW_RANGE_RESPONSES: u32 = 4;
/// The time for reading a file with rows, beyond which they are passed over: 10 MB at 5 MB a second.
pub const ROWS_FILE_READ_TIMEOUT: Duration = Duration::from_secs(2);
/// The time for storing rows after an answer, for all lists together: the instance answers nothing meanwhile.
pub const ROWS_FILE_WRITE_TIMEOUT: Duration = Duration::from_secs(8);
/// How long files with rows are kept: none is used beyond [`LISTED_ROWS_AGE_MAX`]. A rule of the bucket counts whole days.
pub const ROWS_FILE_KEPT: Duration = Duration::from_hours(24);
/// The part of a function's memory that rows of lists take at most; those that were listed longest ago go first. A
/// contact's row takes about 200 bytes.
pub const LISTED_ROWS_MEMORY_PART: usize = 4;
/// The same of a process that is no function, in bytes.
pub const LISTED_ROWS_BYTES_MAX: usize = 256 << 20;
/// What a list in memory counts besides its rows: its place, and what it knows of the log.
pub const HELD_LIST_BYTES: usize = 1024;
/// A list of more than what may be kept is read anew each time, up to this many times as much. A longer one is refused
/// before it takes all memory.
pub const PASSED_ROWS_FACTOR: usize = 2;
