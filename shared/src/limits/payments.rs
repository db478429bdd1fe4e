//! Payments: movements, instructions, claims, evidence and bank statements.

use std::time::Duration;

/// Movements of one agreement. The agreement's item names each with its state, in some 60 bytes.
pub const AGREEMENT_MOVEMENTS_MAX: usize = 1000;
/// Payments that an agreement's page shows at once. Each takes some 1.2 KB of its 60.
pub const AGREEMENT_PAYMENTS_SHOWN: usize = 12;
/// Those of them that stand open; the others are behind a disclosure.
pub const AGREEMENT_PAYMENTS_OPEN: usize = 5;
/// Payments of an active agreement that its cancellation page reads: they fit in one read of the store.
pub const REVIEWED_PAYMENTS_MAX: usize = 100;
/// Payments that an agreement's page reads because its conditions name them: as many as fit in one read.
pub const AGREEMENT_PAYMENTS_NAMED_MAX: usize = 88;
/// References of one claim.
pub const CLAIM_REFERENCES_MAX: usize = 5;
/// Payments that a participant's first page lists, those that wait for them first.
pub const OWN_PAYMENTS_SHOWN_MAX: usize = 50;
/// Claims of one movement: each attempt at sending the money after the first follows an exception.
pub const CLAIMS_PER_MOVEMENT_MAX: usize = 20;
/// Movements that a statement's entries are compared with, those due first: about a second for the most entries.
pub const STATEMENT_MOVEMENTS_MAX: usize = 1000;
/// Entries of a statement on one page and in one form, each filed in a transaction of its own, within one call.
pub const STATEMENT_ENTRIES_SHOWN: u32 = 15;
/// Payments that the page of a statement offers for one entry.
pub const STATEMENT_CANDIDATES_SHOWN: usize = 3;
/// [`STATEMENT_CANDIDATES_SHOWN`], for an entry that is shown alone.
pub const STATEMENT_CANDIDATES_OF_ONE_SHOWN: usize = 40;
/// Debits, reversals and pending entries with a payment's reference that a statement's page warns of.
pub const STATEMENT_WARNINGS_SHOWN: usize = 10;
/// Accounts of one statement file that are named by their last four characters.
pub const STATEMENT_ACCOUNTS_NAMED_MAX: usize = 10;
/// References of one entry that its evidence keeps, of each kind.
pub const STATEMENT_REFERENCES_KEPT: usize = 10;
/// Columns of a CSV file that a member can map: each field offers all of them, and the page must stay small.
pub const STATEMENT_COLUMNS_MAX: usize = 48;
/// Evidence of other movements examined because it may be about an arrival that is being accepted.
pub const SAME_ARRIVALS_MAX: usize = 20;
/// Evidence ever filed for one movement. The movement's item names what counts or is undecided, in some 300 bytes.
pub const EVIDENCE_PER_MOVEMENT_MAX: u32 = 50;
/// Evidence that one party ever filed for one movement: both leave half of [`EVIDENCE_PER_MOVEMENT_MAX`] to members.
pub const EVIDENCE_PER_PARTY_MAX: u32 = 10;
/// Changes of the instructions of one movement. More than a few mean that something is wrong.
pub const INSTRUCTIONS_CHANGES_MAX: usize = 50;
/// Exceptions that ended, as one movement keeps them with their notes.
pub const PAST_EXCEPTIONS_KEPT: usize = 10;
/// How long a cancellation page ends the agreement's movements itself. The clock ends the rest.
pub const ENDING_AT_ONCE: Duration = Duration::from_secs(2);
/// Instructions in free form, in characters.
pub const INSTRUCTIONS_CHARS_MAX: usize = 2000;
/// A week, in seconds, for which a member counts as one with whoever let them in or reset their password.
pub const SECOND_SELF_S: i64 = 7 * 24 * 60 * 60;
/// Wrong tries at verifying instructions: a slip or two happens; more means other instructions, or guessing.
pub const INSTRUCTION_TRIES_MAX: u32 = 5;
/// Numbers in free-form instructions: the second member types each of them.
pub const INSTRUCTIONS_NUMBERS_MAX: usize = 20;
/// Accounts that an organization's members call its own: they are in its record, which every page reads.
pub const OWN_ACCOUNTS_MAX: usize = 20;
