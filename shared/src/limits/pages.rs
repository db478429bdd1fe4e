//! Pages of the app: what they list, and what they export.

/// Proposals in the work queue of Home, those that expire first.
pub const HOME_PROPOSALS_MAX: usize = 10;
/// Payments in the work queue of Home, the most urgent first.
pub const HOME_PAYMENTS_MAX: usize = 10;
/// Agreements in each other section of Home's work queue. Home reads them in full, with their contacts.
pub const HOME_AGREEMENTS_MAX: usize = 5;
/// Agreements that need attention, if a member asks for all of them.
pub const HOME_ATTENTION_MAX: usize = 50;
/// Obligations that are overdue on Home, and as many with claims to confirm.
pub const HOME_OBLIGATIONS_MAX: usize = 5;
/// Funding items on Home with proof that waits for a decision, longest waiting first.
pub const HOME_PROOFS_MAX: usize = 5;
/// Tokens that end soon, and failing endpoints, on Home. If all fail, they usually have one cause.
pub const HOME_WARNINGS_MAX: usize = 3;
/// The latest acts on Home.
pub const HOME_ACTS_MAX: usize = 8;
/// How long an active agreement waits for others before Home calls it stuck, in seconds: 7 days.
pub const STUCK_AFTER_S: i64 = 7 * 24 * 3600;
/// When an agreement closes soon, in seconds before its expiry: a week, so that a weekend is no surprise.
pub const CLOSES_SOON_S: i64 = 7 * 24 * 3600;
/// Rows of each kind that the search over everything shows. The lists have all.
pub const SEARCH_ROWS_MAX: u32 = 5;
/// Rows on a page of the audit log.
pub const AUDIT_PAGE_ROWS: usize = 50;
/// Audit rows read for a page without a filter, including plain views: some 100 KB.
pub const AUDIT_ROWS_READ: i32 = 300;
/// Audit rows read for a page with a filter, which may match none of them: some 700 KB in one query.
pub const AUDIT_ROWS_READ_FILTERED: i32 = 2000;
/// Audit rows read of one of several shards at once at least: few rounds find those that are all in one of them.
pub const AUDIT_ROWS_OF_SHARD_MIN: i32 = 50;
/// Days that the audit log shows first.
pub const AUDIT_DAYS: i32 = 7;
/// Rows of one exported file of the audit log.
pub const AUDIT_EXPORT_ROWS_MAX: usize = 10_000;
/// Queries for one exported file, each of up to 1 MB.
pub const AUDIT_EXPORT_QUERIES_MAX: u32 = 20;
/// Bytes of an exported file. As text in JSON each byte takes up to two, and Lambda takes
/// [`RESPONSE_BYTES_MAX`](super::RESPONSE_BYTES_MAX).
pub const AUDIT_EXPORT_BYTES_MAX: usize = 3_000_000;
/// Workspaces offered as filters on the ledger page. Others are reached from their own pages.
pub const LEDGER_WORKSPACES_MAX: usize = 50;
/// Rows of the ledger that are read at a time for a file.
pub const LEDGER_EXPORT_STEP: usize = 200;
/// Bytes of an exported file of the ledger, for the reason of [`AUDIT_EXPORT_BYTES_MAX`].
pub const LEDGER_EXPORT_BYTES_MAX: usize = 3_000_000;
/// Acts that the page of an agreement shows.
pub const ACTS_SHOWN_MAX: usize = 20;
