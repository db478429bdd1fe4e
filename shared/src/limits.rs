//! Every limit of the service, each with its unit and reason.
//!
//! - Decision: a page of more than 6.2 MB is refused with 422 `limit`, since Lambda refuses it without an envelope.
//! - Decision: a response has at most 100 field errors, the last of which counts the rest, for the same limit.
//! - Decision: bodies of up to 8 MiB are received before the 422: an honest client sees it, not a broken connection.

use std::time::Duration;

/// Names and labels, in characters (contract, section 1).
pub const NAME_CHARS_MAX: usize = 200;
/// Agreement names, in characters (contract, section 1).
pub const AGREEMENT_NAME_CHARS_MAX: usize = 250;
/// Notes and other long texts, in characters (contract, section 1).
pub const NOTE_CHARS_MAX: usize = 2000;
/// External references, in characters (contract, section 1).
pub const REFERENCE_CHARS_MAX: usize = 200;
/// Email addresses, in characters: what SMTP can carry (RFC 5321, section 4.5.3.1.3).
pub const EMAIL_CHARS_MAX: usize = 254;
/// The part of an email address before the `@`, in bytes (RFC 5321, section 4.5.3.1.1).
pub const EMAIL_LOCAL_BYTES_MAX: usize = 64;
/// A label of a domain, in characters (RFC 1035, section 2.3.4).
pub const DOMAIN_LABEL_CHARS_MAX: usize = 63;
/// `search` in contacts and workspaces, in characters as sent (specification, "Limits").
pub const SEARCH_CHARS_MAX: usize = 200;

/// `search` in agreements, in characters as sent (specification, "Limits").
pub const AGREEMENT_SEARCH_CHARS_MAX: usize = 250;

/// Page size of lists (specification, "Limits").
pub const PAGE_LIMIT_DEFAULT: u32 = 50;
/// The largest page (specification, "Limits").
pub const PAGE_LIMIT_MAX: u32 = 200;

/// People of one workspace (contract, section 2).
pub const WORKSPACE_PEOPLE_MAX: usize = 500;

/// Agreements read at once to see which keeps a contact among the people: one batch of keys; most need one.
pub const REFERRING_AGREEMENTS_READ: usize = 10;

/// Participants of one agreement (contract, section 2).
pub const AGREEMENT_PARTICIPANTS_MAX: usize = 100;
/// Participants named by one agreement's conditions, counted per condition: each may leave a fact in the item (400 KB).
pub const NAMED_PARTICIPANTS_MAX: usize = 500;
/// Withdrawals of one participant's consent in an agreement. Giving it is never refused: nobody can keep them out.
pub const WITHDRAWALS_PER_PARTICIPANT_MAX: usize = 50;
/// Files that one participant uploads for one condition.
pub const UPLOADS_PER_CONDITION_MAX: usize = 10;
/// Bytes of files that one participant's link stores in all: three times what a condition takes. Reissuing begins anew.
pub const PARTICIPANT_FILE_BYTES_MAX: u64 = 128 * 1024 * 1024;
/// Acts of one participant on the payments of an agreement.
pub const PAYMENT_ACTS_PER_PARTICIPANT_MAX: usize = 200;
/// Acts of one participant on an agreement's obligations: 25 that are due monthly, for three years.
pub const OBLIGATION_ACTS_PER_PARTICIPANT_MAX: usize = 1000;
/// Most characters of an answer of one line.
pub const ANSWER_LINE_CHARS_MAX: usize = NAME_CHARS_MAX;
/// Bytes of a participant's answers to one information request, as JSON. Sealed, they still fit into an item.
pub const ANSWERS_BYTES_MAX: usize = 200 * 1024;
/// Half a year in seconds, after which an unsaved draft of answers is dropped.
pub const ANSWER_DRAFT_LIFETIME_S: i64 = 180 * 24 * 3600;
/// Bytes of one submission in a response, with its questions: an item has up to 400 KB.
pub const SUBMISSION_BYTES_MAX: usize = 370_000;
/// Bytes of all answers sent in an agreement, one unpaged response below [`RESPONSE_BYTES_MAX`] with returns' reasons.
pub const INFORMATION_BYTES_MAX: usize = 5_000_000;
/// Acts of an agreement whose evidence is exported: read within seconds by some queries and a hundred batches.
pub const EVIDENCE_ACTS_MAX: usize = 10_000;
/// Bytes of the files of an agreement whose evidence is exported: all documents it can have (200 MiB), uploads, and the
/// evidence of payments. They are in memory twice while the bundle is made. A bundle has at most 300 MiB: the rest
/// suffices for 200 drawn signatures of 12,000 points (22 MB) and [`EVIDENCE_ACTS_MAX`] acts (45 MB).
pub const EVIDENCE_FILE_BYTES_MAX: u64 = 224 * 1024 * 1024;
/// The part of [`EVIDENCE_FILE_BYTES_MAX`] that only members may fill: three files of [`FILE_BYTES_MAX`], half of what
/// an agreement with the most and largest documents leaves. So no participant can keep out the proof of a payment.
pub const EVIDENCE_FILE_BYTES_OF_MEMBERS: u64 = 12 * 1024 * 1024;
/// Files read from the file store together: enough to hide its latency.
pub const EVIDENCE_FILES_AT_ONCE: usize = 8;
/// Payments whose evidence is read together, a query each. Most agreements have fewer.
pub const EVIDENCE_PAYMENTS_AT_ONCE: usize = 25;
/// Attempts at reading the evidence of an agreement that changes meanwhile.
pub const EVIDENCE_ATTEMPTS_MAX: u32 = 5;
/// Points of a drawn signature. A long one has some hundred.
pub const DRAWING_POINTS_MAX: usize = 12_000;
/// Bytes to which a document's streams unpack, without pictures: ordinarily a third of this; a hostile file, 4 GB.
pub const DOCUMENT_UNPACKED_BYTES_MAX: usize = 128 * 1024 * 1024;
/// Objects of a document, including those in object streams. The tags of a long text come to half.
pub const DOCUMENT_OBJECTS_MAX: usize = 300_000;
/// Streams of a document: a thousand pages have some thousand.
pub const DOCUMENT_STREAMS_MAX: usize = 50_000;
/// Pages of a document that a signer's page shows at once as pictures, with links to the others.
pub const DOCUMENT_PAGES_AT_ONCE: usize = 50;
/// Width of the picture of a page, in pixels.
pub const PAGE_PICTURE_WIDTH: u16 = 1200;
/// Participant sessions of one browser. Their cookies must fit in headers, which API Gateway limits to 10 KB.
pub const PARTICIPANT_COOKIES_MAX: usize = 12;
/// Characters of what a browser says about itself that a receipt keeps.
pub const BROWSER_CHARS_MAX: usize = 300;
/// Recorded signatures on paper of one participant of an agreement, rejected ones included.
pub const PAPER_SIGNATURES_PER_PARTICIPANT_MAX: usize = 50;
/// The first possible day of a paper signature. An earlier one is a slip, such as 1926 for 2026.
pub const PAPER_SIGNATURE_DAY_MIN: &str = "2000-01-01";
/// Paper signatures of one agreement that wait for a second member. The agreement's item names them.
pub const PAPER_SIGNATURES_PENDING_MAX: usize = 50;
/// Recorded verifications of one participant of an agreement.
pub const VERIFICATIONS_PER_PARTICIPANT_MAX: usize = 10;
/// Movements of one agreement. The agreement's item names each with its state, in some 60 bytes.
pub const AGREEMENT_MOVEMENTS_MAX: usize = 1000;
/// Payments that an agreement's page shows at once. Each takes some 1.2 KB of its 60.
pub const AGREEMENT_PAYMENTS_SHOWN: usize = 12;
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
/// Stages of one agreement (contract, section 2).
pub const AGREEMENT_STAGES_MAX: usize = 50;
/// Gates of one stage (contract, section 2).
pub const STAGE_GATES_MAX: usize = 20;
/// Documents of one agreement (contract, section 2).
pub const AGREEMENT_DOCUMENTS_MAX: usize = 50;
/// Signature blocks of one agreement (contract, section 2).
pub const AGREEMENT_BLOCKS_MAX: usize = 200;
/// Questions of one information request: people would not fill in a longer form.
pub const GATE_FIELDS_MAX: usize = 50;
/// Options of one question.
pub const FIELD_OPTIONS_MAX: usize = 50;
/// The longest countdown, in hours: ten years.
pub const COUNTDOWN_HOURS_MAX: u32 = 10 * 366 * 24;
/// Bytes of a stored agreement: DynamoDB's items end at 400 KB (contract, section 2).
pub const AGREEMENT_BYTES_MAX: usize = 300 * 1024;
/// Bytes of JSON of an agreement's snapshot in a proposal, before compression: the agreement, a hundred people's names
/// and addresses, and a thousand payments' amounts. It bounds decompression, and exceeds any snapshot.
pub const PROPOSED_BYTES_MAX: usize = 1024 * 1024;
/// Characters of a payment's purpose in a proposal's snapshot: enough to recognize the payment.
pub const PROPOSED_PURPOSE_CHARS_MAX: usize = 60;

/// How long a proposal waits for a decision, in seconds: 72 hours (specification, "Limits").
pub const PROPOSAL_LIFETIME_S: i64 = 72 * 3600;

/// The interval between sweeps of the clock: effects of time are at most 90 s late (contract, section 3).
pub const SWEEP_INTERVAL: Duration = Duration::from_mins(1);
/// The time of one sweep. The next one, scheduled a minute later, processes the rest.
pub const SWEEP_DEADLINE: Duration = Duration::from_secs(45);
/// Due entries that are read at once.
pub const SWEEP_ENTRIES_MAX: i32 = 100;
/// Attempts at one due entry in one sweep while other calls change the same records.
pub const SWEEP_ATTEMPTS_MAX: u32 = 5;

/// A request's body, in bytes (contract, section 1).
pub const BODY_BYTES_MAX: usize = 1024 * 1024;
/// Bytes of a message to the agent endpoint: an operation's largest body and its envelope.
pub const MESSAGE_BYTES_MAX: usize = BODY_BYTES_MAX + 16 * 1024;
/// Rows of a page that an agent gets by default: what it reads takes room in its context.
pub const AGENT_PAGE_LIMIT_DEFAULT: u32 = 10;
/// Bytes of a too large body received before the refusal, so that an honest client sees it. Lambda's limit is lower.
pub const BODY_BYTES_DISCARDED_MAX: usize = 8 * 1024 * 1024;

/// How long a body may stall before it counts as incomplete (contract, section 1).
pub const BODY_STALL_TIMEOUT: Duration = Duration::from_secs(10);
/// The time for receiving a body, however steadily it arrives: the rest of [`CALL_DEADLINE`] is for the call.
pub const BODY_DEADLINE: Duration = Duration::from_secs(11);

/// The time for a request's head at the local server, from its start or the previous response.
pub const REQUEST_HEAD_TIMEOUT: Duration = Duration::from_secs(20);
/// How long the local server discards the rest of an answered request, up to [`BODY_BYTES_DISCARDED_MAX`].
pub const DISCARD_TIMEOUT: Duration = Duration::from_secs(2);
/// How long such a client may stall before it counts as done.
pub const DISCARD_STALL_TIMEOUT: Duration = Duration::from_millis(300);

/// Fields of one form: an information request has up to 50 questions with 50 options, a check box each.
pub const FORM_FIELDS_MAX: usize = GATE_FIELDS_MAX * FIELD_OPTIONS_MAX + 100;
/// Field errors of one response: a body full of errors must not make a response that Lambda refuses.
pub const FIELD_ERRORS_MAX: usize = 100;
/// Characters of a field's path in an error. Longer paths are truncated.
pub const FIELD_PATH_CHARS_MAX: usize = 200;
/// Bytes of a response's body as text in JSON, with escaped quotes: Lambda refuses more than 6,291,556 with headers.
pub const RESPONSE_BYTES_MAX: usize = 6_200_000;

/// `Idempotency-Key`, in characters (contract, section 1).
pub const IDEMPOTENCY_KEY_CHARS_MAX: usize = 255;
/// How long a form copy's record is kept, in seconds: longer than any session whose pages have the copy.
pub const FORM_COPY_LIFETIME_S: i64 = 24 * 3600;
/// The lifetime of an idempotency key, in seconds (contract, section 1).
pub const IDEMPOTENCY_KEY_LIFETIME_S: i64 = 7 * 24 * 3600;

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
/// Days that the audit log shows first.
pub const AUDIT_DAYS: i32 = 7;
/// Rows of one exported file of the audit log.
pub const AUDIT_EXPORT_ROWS_MAX: usize = 10_000;
/// Queries for one exported file, each of up to 1 MB.
pub const AUDIT_EXPORT_QUERIES_MAX: u32 = 20;
/// Bytes of an exported file. As text in JSON each byte takes up to two, and Lambda takes [`RESPONSE_BYTES_MAX`].
pub const AUDIT_EXPORT_BYTES_MAX: usize = 3_000_000;
/// Workspaces offered as filters on the ledger page. Others are reached from their own pages.
pub const LEDGER_WORKSPACES_MAX: usize = 50;
/// Rows of the ledger that are read at a time for a file.
pub const LEDGER_EXPORT_STEP: usize = 200;
/// Bytes of an exported file of the ledger, for the reason of [`AUDIT_EXPORT_BYTES_MAX`].
pub const LEDGER_EXPORT_BYTES_MAX: usize = 3_000_000;
/// Acts that the page of an agreement shows.
pub const ACTS_SHOWN_MAX: usize = 20;

/// Token lifetime, in seconds: ninety days (specification, "Limits").
pub const TOKEN_LIFETIME_S: i64 = 90 * 24 * 3600;
/// When a token ends soon, in seconds before its end: enough to roll out another one.
pub const TOKEN_ENDS_SOON_S: i64 = 14 * 24 * 3600;
/// Valid tokens of an organization, so that an admin sees all of them on one page.
pub const VALID_TOKENS_MAX: usize = 100;
/// Tokens that are read at once for their page: one query, and one batch of keys.
pub const TOKENS_READ_AT_ONCE: i32 = 100;
/// The longest wait of a response for recording its token's use, which is best effort.
pub const TOKEN_USE_WAIT: Duration = Duration::from_millis(500);
/// Expired and revoked tokens that the app shows, newest first. The audit log has them all.
pub const ENDED_TOKENS_SHOWN_MAX: usize = 20;
/// The lifetime of an entry in the trail of unknown tokens, in seconds (contract, section 1).
pub const TRAIL_LIFETIME_S: i64 = 30 * 24 * 3600;
/// Partitions of a day's trail of unknown tokens, so that a flood of them makes no partition hot.
pub const TRAIL_SHARDS: u8 = 16;
/// The longest wait of a response to an unknown token for its trail entry, which is best effort.
pub const TRAIL_WAIT: Duration = Duration::from_millis(500);

/// The time for retrying a contended write; the last attempt has [`AWS_ATTEMPT_TIMEOUT`] until [`CALL_DEADLINE`].
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
/// `Retry-After` of a call that failed because the table throttled it, in seconds.
pub const THROTTLED_RETRY_AFTER_S: u32 = 2;
/// The time for retrying a write of one item while a transaction holds it. A failed call's audit row is such an item
/// while the call's own transaction is under way: without the row, the transaction could take effect after the answer.
/// The last attempt begins before it ends, and may take [`AWS_CALL_TIMEOUT`] more: a late row is better than no fence.
pub const HELD_ITEM_DEADLINE: Duration = Duration::from_secs(8);

/// The time of a call before it is answered as failed.
pub const CALL_DEADLINE: Duration = Duration::from_secs(12);
/// When a call stops reading files, so that it can say so before [`CALL_DEADLINE`].
pub const READING_DEADLINE: Duration = Duration::from_secs(11);
/// The time for the audit row of a call that changed nothing: [`HELD_ITEM_DEADLINE`], and [`AWS_CALL_TIMEOUT`] for the
/// last attempt. It begins at [`CALL_DEADLINE`] at the latest, and a function's time-out of 29 s leaves a second for
/// the response; the gateway ends a call at 30 s.
pub const AUDIT_DEADLINE: Duration = Duration::from_secs(16);

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

/// The time after a commit for adding people and showing them in lists. The clock does what takes longer.
pub const PEOPLE_JOIN_TIMEOUT: Duration = Duration::from_secs(1);

/// Items in one `DynamoDB` transaction (the service's own limit).
pub const TRANSACTION_ITEMS_MAX: usize = 100;
/// Of these, a call's own: audit row, entry in an agreement's history, idempotency key, check of its member.
pub const CALL_ITEMS_MAX: usize = 4;
/// Items of one event: the event, and its entry on the due index.
pub const EVENT_ITEMS: usize = 2;
/// Keys in one `BatchGetItem` (the service's own limit).
pub const BATCH_KEYS_MAX: usize = 100;
/// Batches of keys that one read runs together.
pub const BATCHES_AT_ONCE: usize = 16;

/// The lifetime of a session, in seconds: 12 hours (a working day).
pub const SESSION_LIFETIME_S: i64 = 12 * 3600;
/// The idle timeout of a session, in seconds: 2 hours.
pub const SESSION_IDLE_S: i64 = 2 * 3600;
/// The precision of a session's last request, in seconds: not every page view is worth a write.
pub const SESSION_REFRESH_S: i64 = 60;
/// Sessions of an account read for the page that lists them: the latest, in one batch of keys with the second factor.
pub const SESSIONS_READ_MAX: i32 = 99;
/// Bytes of a form's body: room for the longest note, with each character percent-encoded.
pub const FORM_BYTES_MAX: usize = 64 * 1024;
/// Bytes of a form with a file: the largest file, and as much as any other form.
pub const UPLOAD_BYTES_MAX: usize = FILE_BYTES_MAX + FORM_BYTES_MAX;
/// The time, also of the processor, for opening or drawing a PDF. The picture of a large scan takes a second.
pub const PDF_READ_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a file waits while others are opened or drawn. With [`PDF_READ_TIMEOUT`] it ends by [`READING_DEADLINE`].
pub const PDF_TURN_TIMEOUT: Duration = Duration::from_secs(6);
/// Bytes of memory of the process that draws a PDF, without its code. A page in color at 600 dpi took 118 MB.
pub const PDF_READ_MEMORY_BYTES: u64 = 300_000_000;
/// Bytes of stack, as part of it: `hayro` follows lists 512 levels deep and forms 50.
pub const PDF_READ_STACK_BYTES: usize = 64 * 1024 * 1024;
/// Bytes of such a process's answer: a picture of 4 MB, or the page sizes of a document.
pub const PDF_ANSWER_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// A password, in bytes. A longer one is not hashed.
pub const PASSWORD_BYTES_MAX: usize = 1024;
/// Characters of a new password: long enough to withstand guessing, without rules on what it contains.
pub const PASSWORD_CHARS_MIN: usize = 12;
/// Different characters of a new password: fewer are a key held down.
pub const PASSWORD_DIFFERENT_CHARS_MIN: usize = 5;
/// The lifetime of an invitation, in seconds: 7 days, to survive a weekend or a short vacation.
pub const INVITATION_LIFETIME_S: i64 = 7 * 24 * 3600;
/// Pending invitations of one organization, so that an admin sees all of them on one page.
pub const PENDING_INVITATIONS_MAX: usize = 50;
/// The lifetime of a password link, in seconds: 24 hours, less than an invitation's, since it opens an account.
pub const PASSWORD_LINK_LIFETIME_S: i64 = 24 * 3600;
/// The lifetime of a code that a member reads out to a participant, in seconds: 15 minutes, enough for a call.
pub const LINK_CODE_LIFETIME_S: i64 = 15 * 60;
/// Tries at such a code. It has six digits, and only the link's holder can guess.
pub const LINK_CODE_TRIES_MAX: u32 = 5;
/// Names that an organization had before its current one. Certificates of completed agreements need them.
pub const EARLIER_NAMES_MAX: usize = 50;
/// Former names and addresses of a contact, newest first, that its record keeps, at most 3 KB each.
pub const FORMER_IDENTITIES_MAX: usize = 50;
/// Own contacts of one organization: the entities that it acts as.
pub const OWN_CONTACTS_MAX: usize = 50;
/// Accounts that an organization's members call its own: they are in its record, which every page reads.
pub const OWN_ACCOUNTS_MAX: usize = 20;
/// Characters of the path to return to after signing in: a search of 200 characters takes up to 2,400 in an address.
pub const NEXT_PATH_CHARS_MAX: usize = 3000;
/// Failed logins to an account from unknown devices before a wait (NIST SP 800-63B, 5.2.2): above one address's limit.
pub const LOGIN_ATTEMPTS_AT_ACCOUNT: u32 = 100;
/// Failed logins from one address before the next must wait: an office has many people behind one address.
pub const LOGIN_ATTEMPTS_FROM_ADDRESS: u32 = 50;
/// Failed logins to one account on a device that has signed in to it before the next must wait.
pub const LOGIN_ATTEMPTS_ON_DEVICE: u32 = 10;
/// Wrong codes for one account from unknown devices before the next must wait: few, because a code has six digits.
pub const LOGIN_CODES_AT_ACCOUNT: u32 = 10;
/// How long each code of an authenticator app is shown, in seconds (RFC 6238; every app knows this value).
pub const TOTP_STEP_S: i64 = 30;
/// Steps around the current one whose codes are accepted, for clocks that differ and for slow typing.
pub const TOTP_STEPS_AROUND: u64 = 1;
/// Recovery codes of a second factor.
pub const RECOVERY_CODES: usize = 10;
/// The number of recovery codes left at which the account's page asks for new ones.
pub const RECOVERY_CODES_FEW: usize = 3;
/// The time between password and code of a sign-in, in seconds ("5 minutes" in texts).
pub const SECOND_STEP_LIFETIME_S: i64 = 300;
/// The time for scanning a new second factor and typing its first code, in seconds: enough to install an app.
pub const SECOND_FACTOR_SET_UP_S: i64 = 900;
/// The lifetime of a device cookie, in seconds: half a year.
pub const DEVICE_COOKIE_LIFETIME_S: i64 = 180 * 24 * 3600;
/// Attempts at counting a login while others are counted at the same moment. More are guesses, and are refused.
pub const LOGIN_COUNT_ATTEMPTS_MAX: u32 = 12;
/// The longest wait after a failed login, in seconds: the first is one, and each doubles. It delays owners too.
pub const LOGIN_WAIT_MAX_S: i64 = 300;
/// The lifetime of a count of failed logins, in seconds.
pub const FAILED_LOGINS_FORGOTTEN_S: i64 = 3600;

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

/// The lifetime of a flash cookie, in seconds: enough to copy a new signing secret ("two minutes" in pages' text).
pub const FLASH_LIFETIME_S: i64 = 120;
/// How long a text typed in a form whose session had ended is kept, in seconds: enough to sign in again.
pub const KEPT_TEXT_LIFETIME_S: i64 = 1800;
/// The longest `Set-Cookie` header that every browser takes, in bytes.
pub const COOKIE_BYTES_MAX: usize = 4096;

/// Bytes of a stored file: it passes through a function, and Lambda's bodies end at 6 MB, encoded.
pub const FILE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// A day in seconds, after which the clock removes an uploaded file that nothing names.
pub const UPLOAD_LIFETIME_S: i64 = 24 * 3600;
/// Calls that uploaded a file and may yet take effect: more wait until earlier ones have ended.
pub const UPLOADS_OF_FILE_MAX: usize = 25;
/// When a call without an audit row counts as killed, in seconds: calls end at [`CALL_DEADLINE`]. Never scaled.
pub const CALL_OVER_AFTER_S: i64 = 300;
/// How long a clock that removes a file has it for itself, in seconds: longer than a tick. Never scaled.
pub const FILE_REMOVAL_S: i64 = 300;
/// Attempts at noting an upload while the clock removes the same file, or others upload it.
pub const UPLOAD_ATTEMPTS_MAX: u32 = 8;

/// How long a link to an exported file works: a redirect follows it at once.
pub const EXPORT_LINK_LIFETIME: Duration = Duration::from_mins(1);
/// The time-out of writing an exported file, in one attempt: some hundred megabytes take seconds.
pub const EXPORT_WRITE_TIMEOUT: Duration = Duration::from_secs(10);
/// The time-out of one attempt at writing or reading a file: 4 MB on a busy host's slow network.
pub const FILE_CALL_TIMEOUT: Duration = Duration::from_millis(3500);
/// Attempts at writing or reading a file. Together they end before [`CALL_DEADLINE`].
pub const FILE_CALL_ATTEMPTS_MAX: u32 = 3;

/// The waits after failures 1 to 4 of a delivery, in seconds; the fifth waits for a replay (specification, "Limits").
pub const RETRY_WAITS_S: [i64; 4] = [60, 300, 1800, 7200];
/// The lifetime of a claim on a delivery, in seconds: twice an attempt's deadline. Never scaled.
pub const CLAIM_S: i64 = 30;
/// Stream entries relayed concurrently: enough to hide latency, few enough to keep the function's connections.
pub const RELAY_CONCURRENCY: usize = 32;
/// The shortest time between two recorded successes of an endpoint: each would cost a busy endpoint a write.
pub const HEALTH_SUCCESS_INTERVAL: Duration = Duration::from_secs(5);
/// Endpoints whose last recorded health a sender remembers: about 1 MB. Forgetting one costs one write.
pub const HEALTH_ENDPOINTS_MAX: usize = 10_000;
/// Stored attempts of one delivery: four rounds of the schedule, in a record that stays small.
pub const ATTEMPTS_KEPT_MAX: usize = 20;
/// The waits between reads of a test event's delivery, in milliseconds: at most 8 reads in 3 s.
pub const TEST_OUTCOME_WAITS_MS: [u64; 8] = [100, 150, 250, 350, 450, 500, 600, 600];
/// Endpoints of one organization: each gets a delivery of every event that it subscribes to.
pub const ENDPOINTS_MAX: usize = 20;
/// How long a replaced signing secret still signs, in seconds: 24 hours, in which a subscriber deploys the new one.
pub const SECRET_OVERLAP_S: i64 = 24 * 3600;
/// Replaced signing secrets of one endpoint that still sign: each adds 120 bytes of headers, of 8 KB that servers take.
pub const PREVIOUS_SECRETS_MAX: usize = 5;
/// The lifetime of a delivery after its success, in seconds: 30 days. Others stay until then, or with their endpoint.
pub const DELIVERED_KEPT_S: i64 = 30 * 24 * 3600;
/// The age at which the clock relays an event that the stream missed, in seconds.
pub const RELAY_GRACE_S: i64 = 60;
/// The time for updating one changed endpoint's deliveries before other entries. The clock processes the rest.
pub const FOLLOW_UP_TIME: Duration = Duration::from_secs(5);
/// The pause after a failed look-up of encryption keys.
pub const KEYS_RETRY: Duration = Duration::from_secs(30);
/// The longest delay of a message, in seconds (SQS's own limit). A longer wait takes several messages.
pub const MESSAGE_DELAY_MAX_S: i64 = 900;
/// Messages in one call of a queue (SQS's own limit).
pub const MESSAGES_IN_BATCH_MAX: usize = 10;
/// Receives of a failing message before it moves to the dead-letter queue, in the template and locally.
pub const MESSAGE_RECEIVES_MAX: u32 = 5;
/// The time for which encryption keys are cached.
pub const KEYS_KEPT: Duration = Duration::from_mins(5);
/// The shortest time between look-ups of encryption keys. Records with an uncached key wait for the next one.
pub const KEYS_LOOKED_UP_EVERY: Duration = Duration::from_secs(1);
/// Queries for one page of deliveries: matches may be rare.
pub const DELIVERY_QUERIES_MAX: u32 = 10;
/// The time between a resumed endpoint's deliveries, in milliseconds: in their events' order, not all at once.
pub const RESUME_SPACING_MS: i64 = 25;

// Webhooks

/// The deadline of an attempt at a delivery: resolving, connecting, TLS, the response and its body.
pub const WEBHOOK_DEADLINE: Duration = Duration::from_secs(15);
/// The time-out of resolving a name: shorter than the attempt's deadline, so that the failure names its cause.
pub const WEBHOOK_RESOLVE_TIMEOUT: Duration = Duration::from_secs(5);
/// The time-out of connecting to one address. It leaves time for the next address.
pub const WEBHOOK_CONNECT_TIMEOUT: Duration = Duration::from_secs(4);
/// Addresses of one name that an attempt dials: a name must not turn one event into connections to a thousand hosts.
pub const WEBHOOK_DIALS_MAX: usize = 3;
/// Bytes of a subscriber's status line and headers: more than any server adds, so that no receiver is at fault.
pub const WEBHOOK_HEAD_BYTES_MAX: usize = 256 * 1024;
/// The headers of a subscriber's response. See [`WEBHOOK_HEAD_BYTES_MAX`].
pub const WEBHOOK_HEADERS_MAX: usize = 1000;
/// Bytes read of a subscriber's response body.
pub const WEBHOOK_BODY_BYTES_MAX: usize = 64 * 1024;
/// Characters of that body stored for people.
pub const WEBHOOK_EXCERPT_CHARS_MAX: usize = 1000;
/// How far a signature's timestamp may be from the present, in seconds (specification, "Delivery").
pub const WEBHOOK_FRESHNESS_S: i64 = 300;
/// The URL of an endpoint, in characters: what common software takes.
pub const WEBHOOK_URL_CHARS_MAX: usize = 2000;

// Promises and obligations

/// Promises of one agreement: one transaction ([`TRANSACTION_ITEMS_MAX`]) writes their obligations and list rows.
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

// Trusts and funding

/// Funding items of one workspace (contract, section 2). Each takes a place: the number is exact without a shared item.
pub const WORKSPACE_FUNDING_ITEMS_MAX: u16 = 1000;
/// Places in each range of a long funding schedule: so many items of most facts and notes fit in one response (1 MB).
pub const FUNDING_PLACES_IN_RANGE: u16 = 25;
/// The facts of one funding item, in bytes of JSON (contract, section 2: 4 KB).
pub const FACTS_BYTES_MAX: usize = 4 * 1024;
/// Contacts in each role of a trust or funding item. What papers items has [`AGREEMENT_PARTICIPANTS_MAX`] in all.
pub const FUNDING_CONTACTS_MAX: usize = 20;
/// Funding items of one agreement (contract, section 2). They change with it in one transaction, each with its event.
pub const PAPERED_ITEMS_MAX: usize = 25;
/// Withdrawn claims of one funding item. Its record keeps them.
pub const CLAIMS_WITHDRAWN_MAX: usize = 10;
/// Proof of one funding item that waits for a member.
pub const PROOFS_WAITING_MAX: usize = 20;
/// Proof ever filed for one funding item. Its record keeps all of it, in some 600 bytes each, and its notes.
pub const PROOFS_PER_ITEM_MAX: usize = 100;
/// Bytes of a funding item up to which it takes proof, plus [`FUNDING_PROOF_DECISION_BYTES`] for each that waits.
pub const FUNDING_ITEM_BYTES_MAX: usize = 300 * 1024;
/// Bytes that the decision on proof adds to its item at most: a reason of 2,000 characters.
pub const FUNDING_PROOF_DECISION_BYTES: usize = 8 * 1024;
/// Bytes of JSON of all facts of a funding schedule. Beyond it the schedule omits them, so that the response stays
/// below [`RESPONSE_BYTES_MAX`]: a thousand items have 1.5 KB each besides, and quotation marks count twice.
pub const SCHEDULE_FACTS_BYTES_MAX: usize = 1_500_000;
/// Funding items that one transaction creates: each is an item with its pointer, reference and event.
pub const FUNDING_ITEMS_CREATED_AT_ONCE: usize = 15;
/// Funding items that one transaction creates and sorts: each has one more event.
pub const FUNDING_ITEMS_SORTED_AT_ONCE: usize = 12;
/// Agreements whose documents the page of a trust shows, the newest first.
pub const TRUST_AGREEMENTS_SHOWN: usize = 20;
/// People of a workspace that forms offer as owners, settlors and trustees.
pub const FUNDING_PEOPLE_SHOWN: usize = 100;
