//! Every limit of the service, in one place, each with its unit and the reason for its value.
//!
//! Decision: a page of more than 6.2 MB, as Lambda gets it, is refused with 422 `limit`, because Lambda refuses larger
//! responses without an envelope. No list gets there with what its rows hold today: long parts of a record are left out of
//! lists.
//!
//! Decision: a response has at most 100 field errors, with a last entry that counts the rest, for the same limit: a
//! body full of errors would make a response that Lambda refuses.
//!
//! Decision: bodies of up to 8 MiB are received before the 422, so that an honest client sees the refusal rather than a
//! broken connection.

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

/// Agreements that are read at once to see which of them keeps a contact among the people: one batch of keys, of which most
/// often the first is it.
pub const REFERRING_AGREEMENTS_READ: usize = 10;

/// Participants of one agreement (contract, section 2).
pub const AGREEMENT_PARTICIPANTS_MAX: usize = 100;
/// Participants whom the conditions of one agreement name, counted once for each condition. Each may leave a fact, and an
/// agreement with all its facts has to fit in an item (400 KB).
pub const NAMED_PARTICIPANTS_MAX: usize = 500;
/// How often one participant withdraws their consent in an agreement. Giving it is never refused, so nobody who had the link
/// before can keep them out.
pub const WITHDRAWALS_PER_PARTICIPANT_MAX: usize = 50;
/// Files that one participant uploads for one condition.
pub const UPLOADS_PER_CONDITION_MAX: usize = 10;
/// Bytes of the files that one participant's link stores, whatever became of them: 32 of the largest, three times what a
/// condition takes. Reissuing the link begins anew.
pub const PARTICIPANT_FILE_BYTES_MAX: u64 = 128 * 1024 * 1024;
/// What one participant does about the payments of an agreement.
pub const PAYMENT_ACTS_PER_PARTICIPANT_MAX: usize = 200;
/// What one participant does about the obligations of an agreement: 25 that are due monthly, for three years.
pub const OBLIGATION_ACTS_PER_PARTICIPANT_MAX: usize = 1000;
/// Most characters of an answer of one line.
pub const ANSWER_LINE_CHARS_MAX: usize = NAME_CHARS_MAX;
/// Most bytes of a participant's answers to one information request, as JSON. With what sealing adds they fit into an item.
pub const ANSWERS_BYTES_MAX: usize = 200 * 1024;
/// Half a year, after which a draft of answers that was not saved again is dropped, in seconds.
pub const ANSWER_DRAFT_LIFETIME_S: i64 = 180 * 24 * 3600;
/// Most bytes of one submission as they count in a response, its questions included: an item has up to 400 KB.
pub const SUBMISSION_BYTES_MAX: usize = 370_000;
/// Most bytes of all answers that were sent in an agreement, revisions and questions included, as they count in a response:
/// all are one response of the API, which is not paged. Less than [`RESPONSE_BYTES_MAX`], for the reasons of returns.
pub const INFORMATION_BYTES_MAX: usize = 5_000_000;
/// Acts of an agreement whose evidence is exported. Each is an item of the history and an audit row: so many are read by
/// some queries and a hundred batches of keys, within seconds.
pub const EVIDENCE_ACTS_MAX: usize = 10_000;
/// The files of an agreement whose evidence is exported, in bytes: all documents that an agreement can have (200 MiB),
/// uploads, and the evidence of payments. They are in memory twice while their bundle is made. A bundle has at most 300 MiB:
/// the rest is enough for 200 drawn signatures of 12,000 points (22 MB) and [`EVIDENCE_ACTS_MAX`] acts with receipts and
/// audit rows (45 MB).
pub const EVIDENCE_FILE_BYTES_MAX: u64 = 224 * 1024 * 1024;
/// Of [`EVIDENCE_FILE_BYTES_MAX`], what only members may fill: three files of [`FILE_BYTES_MAX`], and half of what an
/// agreement with the most and largest documents leaves. So no participant keeps the proof of a payment out.
pub const EVIDENCE_FILE_BYTES_OF_MEMBERS: u64 = 12 * 1024 * 1024;
/// Files that are read from the file store together: enough to hide its latency.
pub const EVIDENCE_FILES_AT_ONCE: usize = 8;
/// Payments whose evidence is read together. Each is a query; most agreements have fewer payments.
pub const EVIDENCE_PAYMENTS_AT_ONCE: usize = 25;
/// Attempts at reading the evidence of an agreement that changes meanwhile.
pub const EVIDENCE_ATTEMPTS_MAX: u32 = 5;
/// Points of a drawn signature. A long one has some hundred.
pub const DRAWING_POINTS_MAX: usize = 12_000;
/// Bytes to which the streams of a document unpack, its pictures not counted. Ordinary ones of [`FILE_BYTES_MAX`] come to a
/// third; a file made to exhaust its reader's memory comes to 4 GB.
pub const DOCUMENT_UNPACKED_BYTES_MAX: usize = 128 * 1024 * 1024;
/// Objects of a document, those in its object streams included. The tags of a long text come to half.
pub const DOCUMENT_OBJECTS_MAX: usize = 300_000;
/// Streams of a document: a thousand pages have some thousand.
pub const DOCUMENT_STREAMS_MAX: usize = 50_000;
/// Pages of a document that a signer's page shows at once, as pictures. It links to the others: a document has as many as
/// fit in its file.
pub const DOCUMENT_PAGES_AT_ONCE: usize = 50;
/// Width of the picture of a page, in pixels.
pub const PAGE_PICTURE_WIDTH: u16 = 1200;
/// Sessions of participants that one browser keeps. Their cookies have to fit in the headers of a request, which API
/// Gateway limits to 10 KB.
pub const PARTICIPANT_COOKIES_MAX: usize = 12;
/// Characters of what a browser says about itself that a receipt keeps.
pub const BROWSER_CHARS_MAX: usize = 300;
/// Recorded signatures on paper of one participant of an agreement, rejected ones included.
pub const PAPER_SIGNATURES_PER_PARTICIPANT_MAX: usize = 50;
/// The first day on which a signature on paper can have been given. An earlier one is a slip, such as 1926 for 2026.
pub const PAPER_SIGNATURE_DAY_MIN: &str = "2000-01-01";
/// Signatures on paper of one agreement that wait for a second member. The agreement's item names them.
pub const PAPER_SIGNATURES_PENDING_MAX: usize = 50;
/// Recorded verifications of one participant of an agreement.
pub const VERIFICATIONS_PER_PARTICIPANT_MAX: usize = 10;
/// Movements of one agreement. The agreement's item names each with its state, in some 60 bytes.
pub const AGREEMENT_MOVEMENTS_MAX: usize = 1000;
/// Payments that an agreement's page shows at once. Each takes some 1.2 KB of its 60.
pub const AGREEMENT_PAYMENTS_SHOWN: usize = 12;
/// The payments of an active agreement that the page of its cancellation reads: one read of the store has room for them.
pub const REVIEWED_PAYMENTS_MAX: usize = 100;
/// Payments that an agreement's page reads because its conditions name them: as many as one read gives.
pub const AGREEMENT_PAYMENTS_NAMED_MAX: usize = 88;
/// References of one claim.
pub const CLAIM_REFERENCES_MAX: usize = 5;
/// Payments that a participant's first page lists, those that wait for them first.
pub const OWN_PAYMENTS_SHOWN_MAX: usize = 50;
/// Claims of one movement: each attempt at sending the money after the first follows an exception.
pub const CLAIMS_PER_MOVEMENT_MAX: usize = 20;
/// The movements that wait for proof with which the entries of a statement are compared: those due first. With so many, and
/// as many entries as a file can have, comparing takes about a second.
pub const STATEMENT_MOVEMENTS_MAX: usize = 1000;
/// Entries of a statement on one page, and entries that one form files: each is filed in a transaction of its own, within the
/// time of one call.
pub const STATEMENT_ENTRIES_SHOWN: u32 = 15;
/// Payments that the page of a statement offers for one entry.
pub const STATEMENT_CANDIDATES_SHOWN: usize = 3;
/// The same for an entry that is shown alone.
pub const STATEMENT_CANDIDATES_OF_ONE_SHOWN: usize = 40;
/// Debits, reversals and pending entries with the reference of a payment that the page of a statement warns of.
pub const STATEMENT_WARNINGS_SHOWN: usize = 10;
/// Accounts of one statement file that are named by their last four characters.
pub const STATEMENT_ACCOUNTS_NAMED_MAX: usize = 10;
/// References of one entry that its evidence keeps, of each kind.
pub const STATEMENT_REFERENCES_KEPT: usize = 10;
/// Columns of a CSV file of which a member says which is which: each field offers all of them, and the page stays small.
pub const STATEMENT_COLUMNS_MAX: usize = 48;
/// Evidence of other movements that is looked at because it may be about an arrival that is accepted.
pub const SAME_ARRIVALS_MAX: usize = 20;
/// Evidence that was ever filed for one movement. The movement's item names what counts or is undecided, in some 300 bytes.
pub const EVIDENCE_PER_MOVEMENT_MAX: u32 = 50;
/// Evidence that one participant ever filed for one movement. What both parties may file is less than half of
/// [`EVIDENCE_PER_MOVEMENT_MAX`], so that members always have room for the proof.
pub const EVIDENCE_PER_PARTY_MAX: u32 = 10;
/// Changes of the instructions of one movement. More than a few mean that something is wrong.
pub const INSTRUCTIONS_CHANGES_MAX: usize = 50;
/// The time for which the page of a cancellation ends the agreement's movements itself. The clock ends the rest.
pub const ENDING_AT_ONCE: Duration = Duration::from_secs(2);
/// Instructions in free form, in characters.
pub const INSTRUCTIONS_CHARS_MAX: usize = 2000;
/// The time for which a member counts as one with another who let them in, or reset their password or second factor, in
/// seconds: a week, in which the person and the other members have the time to notice.
pub const SECOND_SELF_S: i64 = 7 * 24 * 60 * 60;
/// How often members may type other numbers than those of instructions that they verify. Typing is prone to a slip or two;
/// more means that the instructions are others than the payee's, or that someone tries.
pub const INSTRUCTION_TRIES_MAX: u32 = 5;
/// Numbers in instructions in free form: the second member types each of them.
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
/// An agreement as it is stored, in bytes: DynamoDB's items end at 400 KB (contract, section 2).
pub const AGREEMENT_BYTES_MAX: usize = 300 * 1024;
/// The snapshot of an agreement with a proposal, in bytes of JSON before compression: the agreement, and the names and
/// addresses of a hundred people, and the amounts of a thousand payments. It bounds decompression, and is larger than any
/// snapshot.
pub const PROPOSED_BYTES_MAX: usize = 1024 * 1024;
/// How much of a payment's purpose the snapshot of a proposal keeps, in characters: enough to know the payment by.
pub const PROPOSED_PURPOSE_CHARS_MAX: usize = 60;

/// How long a proposal waits for a decision, in seconds: 72 hours (specification, "Limits").
pub const PROPOSAL_LIFETIME_S: i64 = 72 * 3600;

/// The interval between sweeps of the clock. State that is computed on read is never late; events and other effects are at
/// most 90 s late (contract, section 3).
pub const SWEEP_INTERVAL: Duration = Duration::from_mins(1);
/// The time of one sweep. The next one, which a schedule starts a minute after it, processes the rest.
pub const SWEEP_DEADLINE: Duration = Duration::from_secs(45);
/// Due entries that are read at once.
pub const SWEEP_ENTRIES_MAX: i32 = 100;
/// Attempts at one due entry in one sweep while other calls change the same records.
pub const SWEEP_ATTEMPTS_MAX: u32 = 5;

/// A request's body, in bytes (contract, section 1).
pub const BODY_BYTES_MAX: usize = 1024 * 1024;
/// A message of the agent endpoint, in bytes: the largest body of an operation, and what is around it.
pub const MESSAGE_BYTES_MAX: usize = BODY_BYTES_MAX + 16 * 1024;
/// Rows of a page that an agent gets unless it asks for another number: what it reads takes room in its context.
pub const AGENT_PAGE_LIMIT_DEFAULT: u32 = 10;
/// Bytes of a too large body that are received before the refusal, so that an honest client sees the refusal instead of a
/// broken connection. Lambda's own limit is lower.
pub const BODY_BYTES_DISCARDED_MAX: usize = 8 * 1024 * 1024;

/// The time without a byte of a body after which the body counts as incomplete (contract, section 1).
pub const BODY_STALL_TIMEOUT: Duration = Duration::from_secs(10);
/// The time of receiving a body, however steadily it arrives: the rest of [`CALL_DEADLINE`] is for the call.
pub const BODY_DEADLINE: Duration = Duration::from_secs(11);

/// The time in which a connection of the local server must bring a request's head, from its start or from the response
/// before: a connection that sends nothing, dribbles or idles is closed then. The gateway does that in the cloud.
pub const REQUEST_HEAD_TIMEOUT: Duration = Duration::from_secs(20);
/// The time for which the local server receives and discards what a client still sends of a request that is answered, so
/// that an honest client sees the answer instead of a broken connection. Up to [`BODY_BYTES_DISCARDED_MAX`].
pub const DISCARD_TIMEOUT: Duration = Duration::from_secs(2);
/// The time without a byte after which such a client has stopped sending.
pub const DISCARD_STALL_TIMEOUT: Duration = Duration::from_millis(300);

/// Fields of one form of the app: an information request asks up to 50 questions with 50 options, a check box each.
pub const FORM_FIELDS_MAX: usize = GATE_FIELDS_MAX * FIELD_OPTIONS_MAX + 100;
/// Field errors of one response: a body full of errors must not make a response that Lambda refuses.
pub const FIELD_ERRORS_MAX: usize = 100;
/// The path of a field in an error, in characters. Longer ones are truncated.
pub const FIELD_PATH_CHARS_MAX: usize = 200;
/// A response's body, in bytes as Lambda gets it: as text in JSON, with every quotation mark escaped. Lambda refuses
/// more than 6,291,556 with the headers.
pub const RESPONSE_BYTES_MAX: usize = 6_200_000;

/// `Idempotency-Key`, in characters (contract, section 1).
pub const IDEMPOTENCY_KEY_CHARS_MAX: usize = 255;
/// The time for which the record of a form's copy is kept, in seconds: longer than any session whose pages have the copy.
pub const FORM_COPY_LIFETIME_S: i64 = 24 * 3600;
/// The lifetime of an idempotency key, in seconds (contract, section 1).
pub const IDEMPOTENCY_KEY_LIFETIME_S: i64 = 7 * 24 * 3600;

/// Proposals in the work queue of Home, those that expire first.
pub const HOME_PROPOSALS_MAX: usize = 10;
/// Payments in the work queue of Home, the most urgent first.
pub const HOME_PAYMENTS_MAX: usize = 10;
/// Agreements in each of the other sections of Home's work queue. Home reads them in full, and the contacts that take part.
pub const HOME_AGREEMENTS_MAX: usize = 5;
/// The same of the agreements that need attention, where a member asked for all of them.
pub const HOME_ATTENTION_MAX: usize = 50;
/// Obligations that are overdue on Home, and as many with claims to confirm.
pub const HOME_OBLIGATIONS_MAX: usize = 5;
/// Funding items on Home with proof that waits for a decision, those that wait longest first.
pub const HOME_PROOFS_MAX: usize = 5;
/// Tokens that end soon, and endpoints that fail, on Home. If all fail, they usually have one cause.
pub const HOME_WARNINGS_MAX: usize = 3;
/// The latest acts on Home.
pub const HOME_ACTS_MAX: usize = 8;
/// How long an active agreement waits for others until Home says that it is stuck, in seconds: 7 days.
pub const STUCK_AFTER_S: i64 = 7 * 24 * 3600;
/// The time before its expiry in which an agreement closes soon, in seconds: a week, so that a weekend is no surprise.
pub const CLOSES_SOON_S: i64 = 7 * 24 * 3600;

/// Rows of each kind that the search over everything shows. The lists have all.
pub const SEARCH_ROWS_MAX: u32 = 5;

/// Rows on a page of the audit log.
pub const AUDIT_PAGE_ROWS: usize = 50;
/// Audit rows that are read for a page without a filter, the page's own and the plain views among them: some 100 KB.
pub const AUDIT_ROWS_READ: i32 = 300;
/// Audit rows that are read for a page with a filter, which may match none of them: some 700 KB in one query.
pub const AUDIT_ROWS_READ_FILTERED: i32 = 2000;
/// Days that the audit log shows first.
pub const AUDIT_DAYS: i32 = 7;
/// Rows of one exported file of the audit log.
pub const AUDIT_EXPORT_ROWS_MAX: usize = 10_000;
/// Queries for one exported file, each of up to 1 MB.
pub const AUDIT_EXPORT_QUERIES_MAX: u32 = 20;
/// An exported file, in bytes. As text in JSON each byte takes up to two, and Lambda takes [`RESPONSE_BYTES_MAX`].
pub const AUDIT_EXPORT_BYTES_MAX: usize = 3_000_000;
/// Workspaces that the page of the ledger offers to filter by. Others are reached from their own pages.
pub const LEDGER_WORKSPACES_MAX: usize = 50;
/// Rows of the ledger that are read at a time for a file.
pub const LEDGER_EXPORT_STEP: usize = 200;
/// An exported file of the ledger, in bytes, as of [`AUDIT_EXPORT_BYTES_MAX`].
pub const LEDGER_EXPORT_BYTES_MAX: usize = 3_000_000;
/// Acts that the page of an agreement shows.
pub const ACTS_SHOWN_MAX: usize = 20;

/// Token lifetime, in seconds: ninety days (specification, "Limits").
pub const TOKEN_LIFETIME_S: i64 = 90 * 24 * 3600;
/// The time before its end in which a token ends soon, in seconds: enough to roll out another one.
pub const TOKEN_ENDS_SOON_S: i64 = 14 * 24 * 3600;
/// The largest number of valid tokens of an organization, so that an admin sees all of them on one page.
pub const VALID_TOKENS_MAX: usize = 100;
/// Tokens that are read at once for their page: one query, and one batch of keys.
pub const TOKENS_READ_AT_ONCE: i32 = 100;
/// The longest wait of a response for the record of its token's use, which is best effort.
pub const TOKEN_USE_WAIT: Duration = Duration::from_millis(500);
/// The largest number of expired and revoked tokens that the app shows, the newest ones. The audit log has them all.
pub const ENDED_TOKENS_SHOWN_MAX: usize = 20;
/// The lifetime of an entry of the trail of calls with unknown tokens, in seconds (contract, section 1).
pub const TRAIL_LIFETIME_S: i64 = 30 * 24 * 3600;
/// Partitions of a day's trail of unknown tokens, so that a flood of them makes no partition hot.
pub const TRAIL_SHARDS: u8 = 16;
/// The longest wait of a response to an unknown token for its trail entry, which is best effort.
pub const TRAIL_WAIT: Duration = Duration::from_millis(500);

/// The time for retries of a write while other calls change the same records: the last attempt has [`AWS_ATTEMPT_TIMEOUT`]
/// until [`CALL_DEADLINE`].
pub const WRITE_DEADLINE: Duration = Duration::from_secs(9);
/// The first and the longest pause between attempts at a contended write. Each pause is drawn evenly between zero and its
/// length. The longest one lets fifty writers of one record succeed: with a shorter one they keep conflicting.
pub const WRITE_BACKOFF_FIRST: Duration = Duration::from_millis(10);
/// See [`WRITE_BACKOFF_FIRST`].
pub const WRITE_BACKOFF_MAX: Duration = Duration::from_secs(2);
/// The time from the beginning of a call for its retries while the table throttles it: callers who pile up add to the load.
pub const THROTTLED_DEADLINE: Duration = Duration::from_secs(3);
/// The first and the longest pause between attempts that the table throttles.
pub const THROTTLED_BACKOFF_FIRST: Duration = Duration::from_millis(100);
/// See [`THROTTLED_BACKOFF_FIRST`].
pub const THROTTLED_BACKOFF_MAX: Duration = Duration::from_secs(1);
/// `Retry-After` of a call that failed because the table throttled it, in seconds.
pub const THROTTLED_RETRY_AFTER_S: u32 = 2;
/// The time for retries of a write of one item while a transaction holds the item. The audit row of a call that failed is
/// such an item when the call's own transaction is still under way: without the row, the transaction could take effect
/// after the call was answered. The last attempt begins before it ends, and may take [`AWS_CALL_TIMEOUT`] more:
/// writing the row late is better than leaving the fence away.
pub const HELD_ITEM_DEADLINE: Duration = Duration::from_secs(8);

/// The time of a call before it is answered as failed.
pub const CALL_DEADLINE: Duration = Duration::from_secs(12);
/// The time for the audit row of a call that changed nothing: [`HELD_ITEM_DEADLINE`], and [`AWS_CALL_TIMEOUT`] for the last
/// attempt. It begins at [`CALL_DEADLINE`] at the latest, and a function's time-out of 29 s leaves a second for the response;
/// the gateway ends a call at 30 s.
pub const AUDIT_DEADLINE: Duration = Duration::from_secs(16);

/// The timeout of connecting to an AWS service.
pub const AWS_CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// The timeout of one attempt at a call of an AWS service.
pub const AWS_ATTEMPT_TIMEOUT: Duration = Duration::from_secs(3);
/// The timeout of a call of an AWS service with its retries.
pub const AWS_CALL_TIMEOUT: Duration = Duration::from_secs(8);
/// Attempts at one call of an AWS service: the SDK retries timeouts, throttling and 5xx with jitter.
pub const AWS_ATTEMPTS_MAX: u32 = 5;

/// The longest wait for a new table to become active.
pub const TABLE_CREATION_WAIT: Duration = Duration::from_mins(1);

/// The first pause before a retry of a call of an AWS service. Each is up to twice as long as the one before.
pub const AWS_BACKOFF_FIRST: Duration = Duration::from_millis(100);

/// The time, after a commit, for what it could not do of those who join a workspace, and for showing in lists who joined or
/// left. What takes longer is left to the clock.
pub const PEOPLE_JOIN_TIMEOUT: Duration = Duration::from_secs(1);

/// Items in one `DynamoDB` transaction (the service's own limit).
pub const TRANSACTION_ITEMS_MAX: usize = 100;
/// Of these, what a call adds to the changes of its use case: its audit row, its entry in the history of an agreement, the
/// record of its idempotency key, and the check of its member.
pub const CALL_ITEMS_MAX: usize = 4;
/// Items of one event: the event, and its entry on the due index.
pub const EVENT_ITEMS: usize = 2;
/// Keys in one `BatchGetItem` (the service's own limit).
pub const BATCH_KEYS_MAX: usize = 100;
/// Batches of keys that one read has under way together.
pub const BATCHES_AT_ONCE: usize = 16;

/// The lifetime of a session, in seconds: 12 hours (a working day).
pub const SESSION_LIFETIME_S: i64 = 12 * 3600;
/// The idle timeout of a session, in seconds: 2 hours.
pub const SESSION_IDLE_S: i64 = 2 * 3600;
/// The precision of a session's last request, in seconds: not every page view is worth a write.
pub const SESSION_REFRESH_S: i64 = 60;
/// Sessions of an account that are read for the page that lists them: those that began last, in one batch of keys
/// with the account's second factor.
pub const SESSIONS_READ_MAX: i32 = 99;
/// A form's body, in bytes: room for the longest note, each of its characters percent-encoded.
pub const FORM_BYTES_MAX: usize = 64 * 1024;
/// A form with a file, in bytes: the largest file, and as much as any other form.
pub const UPLOAD_BYTES_MAX: usize = FILE_BYTES_MAX + FORM_BYTES_MAX;
/// The time for opening or drawing a PDF, from the start of the process that does it, and its time of the processor. A sound
/// one takes milliseconds, and the picture of a large scan a second.
pub const PDF_READ_TIMEOUT: Duration = Duration::from_secs(5);
/// The time for which a file waits until others are opened or drawn. With [`PDF_READ_TIMEOUT`] it ends before
/// [`CALL_DEADLINE`].
pub const PDF_TURN_TIMEOUT: Duration = Duration::from_secs(6);
/// The memory of the process that opens or draws a PDF, in bytes, the program's own code aside. A page scanned in color with
/// 600 dots per inch took 118 MB to draw.
pub const PDF_READ_MEMORY_BYTES: u64 = 300_000_000;
/// Of it, the stack, in bytes: `hayro` follows lists 512 levels deep and forms 50.
pub const PDF_READ_STACK_BYTES: usize = 64 * 1024 * 1024;
/// The most bytes that such a process answers: a picture of 4 MB, or the sizes of the pages of a document.
pub const PDF_ANSWER_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// A password, in bytes. A longer one is not hashed.
pub const PASSWORD_BYTES_MAX: usize = 1024;
/// A new password, in characters: long enough to withstand guessing, without rules on what it is made of.
pub const PASSWORD_CHARS_MIN: usize = 12;
/// Different characters of a new password: fewer are a key held down.
pub const PASSWORD_DIFFERENT_CHARS_MIN: usize = 5;
/// The lifetime of an invitation, in seconds: 7 days, so that it survives a weekend and a vacation of a few days.
pub const INVITATION_LIFETIME_S: i64 = 7 * 24 * 3600;
/// Pending invitations of one organization, so that an admin sees all of them on one page.
pub const PENDING_INVITATIONS_MAX: usize = 50;
/// The lifetime of a link to set a new password, in seconds: 24 hours. It opens an existing account, so it is shorter than
/// that of an invitation.
pub const PASSWORD_LINK_LIFETIME_S: i64 = 24 * 3600;
/// The lifetime of a code that a member reads out to a participant, in seconds: 15 minutes, enough for a call.
pub const LINK_CODE_LIFETIME_S: i64 = 15 * 60;
/// Tries at such a code. It has six digits, and only who has the link gets to guess.
pub const LINK_CODE_TRIES_MAX: u32 = 5;
/// Names that an organization had before its current one. Certificates of completed agreements need them.
pub const EARLIER_NAMES_MAX: usize = 50;
/// Names and addresses that a contact had before its current ones, the newest: its record keeps them, at most 3 KB each.
pub const FORMER_IDENTITIES_MAX: usize = 50;
/// Own contacts of one organization: the entities that it acts as.
pub const OWN_CONTACTS_MAX: usize = 50;
/// Accounts of one organization that its members call its own: they are in its record, which every page reads.
pub const OWN_ACCOUNTS_MAX: usize = 20;
/// The path to return to after signing in, in characters: a search of 200 characters has up to 2,400 in an address.
pub const NEXT_PATH_CHARS_MAX: usize = 3000;
/// Failed logins to one account, from devices that have not signed in to it before, until the next one must wait: as many
/// as NIST SP 800-63B (5.2.2) allows. It is more than the limit of one address, so that no single address can slow an
/// account down.
pub const LOGIN_ATTEMPTS_AT_ACCOUNT: u32 = 100;
/// Failed logins from one address until the next one must wait: an office has many people behind one address.
pub const LOGIN_ATTEMPTS_FROM_ADDRESS: u32 = 50;
/// Failed logins to one account on a device that has signed in to it before, until the next one must wait.
pub const LOGIN_ATTEMPTS_ON_DEVICE: u32 = 10;
/// Codes of a second factor that were wrong for one account, from devices that have not signed in to it before, until the
/// next one must wait. It is few, because a code has six digits, and only people who know the password get to guess one.
pub const LOGIN_CODES_AT_ACCOUNT: u32 = 10;
/// How long each code of an authenticator app is shown, in seconds (RFC 6238; every app knows this value).
pub const TOTP_STEP_S: i64 = 30;
/// The steps before and after the current one whose codes are accepted, for clocks that differ and for slow typing.
pub const TOTP_STEPS_AROUND: u64 = 1;
/// Recovery codes of a second factor.
pub const RECOVERY_CODES: usize = 10;
/// The number of recovery codes left at which the account's page asks for new ones.
pub const RECOVERY_CODES_FEW: usize = 3;
/// The time between the password and the code of a sign-in, in seconds ("5 minutes" in texts).
pub const SECOND_STEP_LIFETIME_S: i64 = 300;
/// The time for scanning a new second factor and typing its first code, in seconds: enough to install an app.
pub const SECOND_FACTOR_SET_UP_S: i64 = 900;
/// The lifetime of a device cookie, in seconds: half a year.
pub const DEVICE_COOKIE_LIFETIME_S: i64 = 180 * 24 * 3600;
/// Attempts at counting a login while others are counted at the same moment. So many at once are password guessing, and
/// are refused.
pub const LOGIN_COUNT_ATTEMPTS_MAX: u32 = 12;
/// The longest wait after a failed login, in seconds. The first is one, and each is twice the one before. It is bounded
/// because it also delays people who did not cause the failures.
pub const LOGIN_WAIT_MAX_S: i64 = 300;
/// The lifetime of a count of failed logins, in seconds.
pub const FAILED_LOGINS_FORGOTTEN_S: i64 = 3600;

/// Items that a walk over the whole table reads together. It tells its progress, and can go on, after each so many.
pub const TABLE_PAGE_ITEMS: i32 = 1000;
/// Records that a migration rewrites, and items that a restoration writes, at the same time: enough to hide the latency, and
/// less than a new table takes without throttling.
pub const REWRITES_AT_ONCE: usize = 16;

/// How many items an operator's check of the table looks at together: what they depend on is read with some batches.
pub const INSPECTED_AT_ONCE: usize = 200;

/// How many tokens and endpoints one step suspends: an endpoint that is resumed takes two items of a transaction.
pub const SUSPENDED_AT_ONCE: usize = 40;

/// Attempts at an operator's act while other calls change the same records.
pub const OPERATOR_ATTEMPTS_MAX: u32 = 5;

/// The lifetime of a flash cookie, in seconds: enough for the redirect, also on a slow connection, and for copying a new
/// signing secret, which the pages of its endpoint show for so long ("two minutes" in their text).
pub const FLASH_LIFETIME_S: i64 = 120;
/// How long a text is kept that was typed in a form whose session had ended, in seconds: enough to sign in again.
pub const KEPT_TEXT_LIFETIME_S: i64 = 1800;
/// The longest `Set-Cookie` header that every browser takes, in bytes.
pub const COOKIE_BYTES_MAX: usize = 4096;

/// A stored file, in bytes: it passes through a function, and Lambda's bodies end at 6 MB, encoded.
pub const FILE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// A day, after which the clock removes an uploaded file that nothing names, in seconds.
pub const UPLOAD_LIFETIME_S: i64 = 24 * 3600;
/// The calls that uploaded a file and of which it isn't known yet whether they took effect: more wait until the earlier ones
/// have ended.
pub const UPLOADS_OF_FILE_MAX: usize = 25;
/// The time after which a call without an audit row has ended, in seconds: it was killed. Calls end at [`CALL_DEADLINE`], and
/// functions soon after it. Never scaled.
pub const CALL_OVER_AFTER_S: i64 = 300;
/// How long a clock that removes a file has it for itself, in seconds: longer than a tick. Never scaled.
pub const FILE_REMOVAL_S: i64 = 300;
/// Attempts at noting an upload while the clock removes the file of an earlier one, or others upload the same.
pub const UPLOAD_ATTEMPTS_MAX: u32 = 8;

/// How long a link to an exported file works: it is followed at once, by a redirect.
pub const EXPORT_LINK_LIFETIME: Duration = Duration::from_mins(1);
/// The timeout of writing an exported file, in one attempt. Some hundred megabytes take seconds, and the call ends at
/// [`CALL_DEADLINE`].
pub const EXPORT_WRITE_TIMEOUT: Duration = Duration::from_secs(10);
/// The timeout of one attempt at writing or reading a file: 4 MB, however slow the network of a busy host is.
pub const FILE_CALL_TIMEOUT: Duration = Duration::from_millis(3500);
/// Attempts at writing or reading a file. Together they end before [`CALL_DEADLINE`].
pub const FILE_CALL_ATTEMPTS_MAX: u32 = 3;

/// The waits after failures 1 to 4 of a delivery, in seconds; after the fifth it waits for a manual replay
/// (specification, "Limits").
pub const RETRY_WAITS_S: [i64; 4] = [60, 300, 1800, 7200];
/// The lifetime of a claim on a delivery, in seconds: twice the deadline of an attempt. Never scaled.
pub const CLAIM_S: i64 = 30;
/// Entries of a stream batch that are relayed concurrently: enough to hide the store's latency, few enough to keep the
/// function's connections.
pub const RELAY_CONCURRENCY: usize = 32;
/// The shortest time between two successes of an endpoint that are recorded in its health: a busy endpoint would cost a
/// write for every delivery.
pub const HEALTH_SUCCESS_INTERVAL: Duration = Duration::from_secs(5);
/// Endpoints whose last recorded health a sender remembers: about 1 MB. Forgetting one costs one write.
pub const HEALTH_ENDPOINTS_MAX: usize = 10_000;
/// Stored attempts of one delivery: four rounds of the schedule, in a record that stays small.
pub const ATTEMPTS_KEPT_MAX: usize = 20;
/// The waits between the reads of a test event's delivery after `Send test event`, in milliseconds: at most 8 reads in 3 s.
/// Most deliveries are attempted within half a second; the page then says that the outcome is still to come.
pub const TEST_OUTCOME_WAITS_MS: [u64; 8] = [100, 150, 250, 350, 450, 500, 600, 600];
/// Endpoints of one organization: each gets a delivery of every event that it subscribes to.
pub const ENDPOINTS_MAX: usize = 20;
/// The time during which a replaced signing secret still signs, after an overlapping rotation, in seconds: 24 hours, so
/// that a subscriber can deploy the new one.
pub const SECRET_OVERLAP_S: i64 = 24 * 3600;
/// Replaced signing secrets of one endpoint that still sign. Each adds about 120 bytes of headers to every delivery, and
/// subscribers' servers take 8 KB of headers in all; nobody deploys more secrets than that in a day.
pub const PREVIOUS_SECRETS_MAX: usize = 5;
/// The lifetime of a delivery after its success, in seconds: 30 days. Others are kept until they succeed, or their endpoint
/// is deleted.
pub const DELIVERED_KEPT_S: i64 = 30 * 24 * 3600;
/// The age at which the clock relays an event that the stream has not, in seconds.
pub const RELAY_GRACE_S: i64 = 60;
/// The time for updating the deliveries of one changed endpoint before other entries have their turn. The clock processes
/// the rest.
pub const FOLLOW_UP_TIME: Duration = Duration::from_secs(5);
/// The pause after a failed look-up of encryption keys.
pub const KEYS_RETRY: Duration = Duration::from_secs(30);
/// The longest delay of a message, in seconds (SQS's own limit). A longer wait takes several messages.
pub const MESSAGE_DELAY_MAX_S: i64 = 900;
/// Messages in one call of a queue (SQS's own limit).
pub const MESSAGES_IN_BATCH_MAX: usize = 10;
/// Receives of a failing message before the queue moves it to the dead-letter queue. The template's queues and the local
/// one have the same number.
pub const MESSAGE_RECEIVES_MAX: u32 = 5;
/// The time for which encryption keys are cached.
pub const KEYS_KEPT: Duration = Duration::from_mins(5);
/// The shortest time between look-ups of encryption keys. Records whose key is not cached wait for the next one.
pub const KEYS_LOOKED_UP_EVERY: Duration = Duration::from_secs(1);
/// Queries for one page of deliveries: matches may be rare.
pub const DELIVERY_QUERIES_MAX: u32 = 10;
/// The time between the deliveries of a resumed endpoint, in milliseconds: they become due in the order of their events,
/// and not all at once.
pub const RESUME_SPACING_MS: i64 = 25;

// Webhooks

/// The deadline of an attempt at a delivery: resolving, connecting, TLS, the response and its body.
pub const WEBHOOK_DEADLINE: Duration = Duration::from_secs(15);
/// The timeout of resolving a name. It is shorter than the attempt's deadline, so that the failure names its cause.
pub const WEBHOOK_RESOLVE_TIMEOUT: Duration = Duration::from_secs(5);
/// The timeout of connecting to one address. It leaves time for the next address.
pub const WEBHOOK_CONNECT_TIMEOUT: Duration = Duration::from_secs(4);
/// Addresses of one name that an attempt dials: a name must not turn one event into connections to a thousand hosts.
pub const WEBHOOK_DIALS_MAX: usize = 3;
/// The status line and the headers of a subscriber's response, in bytes: more than any server or proxy adds, so that a
/// receiver is never at fault for what stands in front of it.
pub const WEBHOOK_HEAD_BYTES_MAX: usize = 256 * 1024;
/// The headers of a subscriber's response. See [`WEBHOOK_HEAD_BYTES_MAX`].
pub const WEBHOOK_HEADERS_MAX: usize = 1000;
/// Bytes of the body of a subscriber's response that are read.
pub const WEBHOOK_BODY_BYTES_MAX: usize = 64 * 1024;
/// Characters of that body that are stored for people.
pub const WEBHOOK_EXCERPT_CHARS_MAX: usize = 1000;
/// How far a signature's timestamp may be from the present, in seconds (specification, "Delivery").
pub const WEBHOOK_FRESHNESS_S: i64 = 300;
/// The URL of an endpoint, in characters: what common software takes.
pub const WEBHOOK_URL_CHARS_MAX: usize = 2000;

// Promises and obligations

/// Promises of one agreement: their obligations with their list rows are written in one transaction
/// ([`TRANSACTION_ITEMS_MAX`]) with the agreement, its events and its audit row.
pub const AGREEMENT_PROMISES_MAX: usize = 25;
/// Occurrences of a draft's promises, in all, that may be overdue when it is published without a word from the member.
/// Monthly for a year: beyond that a wrong year is likelier than a late signature.
pub const OVERDUE_AT_PUBLICATION_MAX: u32 = 12;
/// Days of one promise that is due on given days. As many occurrences as an obligation keeps in full.
pub const PROMISE_DATES_MAX: usize = 50;
/// Triggers of one promise.
pub const PROMISE_TRIGGERS_MAX: usize = 20;
/// The longest interval of a recurrence, in its own units: every 120 months are ten years.
pub const RECURRENCE_EVERY_MAX: u16 = 120;
/// Occurrences of a recurrence that ends after a count: monthly for a hundred years.
pub const RECURRENCE_COUNT_MAX: u32 = 1200;
/// The longest time from a trigger to its due day, and between two verifications of a standing promise, in days: ten years.
pub const PROMISE_DAYS_MAX: u16 = 3660;
/// How long before its due day an occurrence counts as due, in days: a month.
pub const DUE_AHEAD_DAYS: i32 = 30;
/// A note on what is said to be done, in characters.
pub const SATISFACTION_NOTE_CHARS_MAX: usize = 300;
/// How many days before an obligation came into force, or before an occurrence was due, it can be said to have been done, or
/// its trigger to have happened.
pub const DONE_AHEAD_DAYS_MAX: i32 = 366;
/// Occurrences to come that an obligation shows: a year of months.
pub const UPCOMING_SHOWN_MAX: usize = 12;
/// Confirmed occurrences of one obligation that its record keeps in full, with who said what. Of older ones it keeps that
/// they are confirmed; the audit log has the rest.
pub const OCCURRENCES_KEPT_MAX: usize = 50;
/// Occurrences of one obligation that may wait for confirmation. With [`OCCURRENCES_KEPT_MAX`] others, of up to 6 KB each,
/// they fit in an item (400 KB).
pub const OCCURRENCES_WAITING_MAX: usize = 20;

// Trusts and funding

/// Funding items of one workspace (contract, section 2). Each has one of so many places, so that the number is exact without
/// an item that all of them share.
pub const WORKSPACE_FUNDING_ITEMS_MAX: u16 = 1000;
/// Places of the ranges in which a funding schedule is read that is longer than one response of `DynamoDB` (1 MB). So many
/// items with all their facts ([`FACTS_BYTES_MAX`]) and 35 KB of notes each fit in one.
pub const FUNDING_PLACES_IN_RANGE: u16 = 25;
/// The facts of one funding item, in bytes of JSON (contract, section 2: 4 KB).
pub const FACTS_BYTES_MAX: usize = 4 * 1024;
/// Contacts of one kind that a trust or a funding item names: settlors, trustees, owners. An agreement that papers items has
/// at most [`AGREEMENT_PARTICIPANTS_MAX`] in all.
pub const FUNDING_CONTACTS_MAX: usize = 20;
/// Funding items of one agreement (contract, section 2). They change with it in one transaction, each with its event.
pub const PAPERED_ITEMS_MAX: usize = 25;
/// Claims of one funding item that members withdrew. Its record keeps them.
pub const CLAIMS_WITHDRAWN_MAX: usize = 10;
/// Proof of one funding item that waits for a member.
pub const PROOFS_WAITING_MAX: usize = 20;
/// Proof that was ever filed for one funding item. Its record keeps all of it, in some 600 bytes each, and its notes.
pub const PROOFS_PER_ITEM_MAX: usize = 100;
/// A funding item as it is stored, in bytes, up to which it takes more proof, with [`FUNDING_PROOF_DECISION_BYTES`] for each
/// that waits: `DynamoDB`'s items end at 400 KB.
pub const FUNDING_ITEM_BYTES_MAX: usize = 300 * 1024;
/// What the decision on proof adds to its item at most: a reason of 2,000 characters.
pub const FUNDING_PROOF_DECISION_BYTES: usize = 8 * 1024;
/// The facts of all items of a funding schedule, in bytes of JSON. Beyond it the schedule leaves them out, so that the
/// response stays below [`RESPONSE_BYTES_MAX`]: it has up to a thousand items with names and sentences of 1.5 KB, and
/// quotation marks count twice.
pub const SCHEDULE_FACTS_BYTES_MAX: usize = 1_500_000;
/// Funding items that one transaction creates: each is an item with its pointer, its reference and its event.
pub const FUNDING_ITEMS_CREATED_AT_ONCE: usize = 15;
/// Funding items that one transaction creates and sorts: each has an event more.
pub const FUNDING_ITEMS_SORTED_AT_ONCE: usize = 12;
/// Agreements whose documents the page of a trust shows, the newest first.
pub const TRUST_AGREEMENTS_SHOWN: usize = 20;
/// People of a workspace that forms offer as owners, settlors and trustees.
pub const FUNDING_PEOPLE_SHOWN: usize = 100;
