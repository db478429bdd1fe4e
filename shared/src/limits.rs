//! Every limit of the service, in one place, each with its unit and the reason for its value.
//!
//! Decision: a page of more than 6.2 MB, as Lambda gets it, is refused with 422 `limit`, because Lambda refuses larger
//! responses without an envelope. Only pages of workspaces with hundreds of people each get there.
//!
//! Decision: a response has at most 100 field errors, with a last entry that counts the rest, for the same limit: a
//! body of nothing but errors would make a response that Lambda refuses.
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
/// E-mail addresses, in characters: what SMTP can carry (RFC 5321, section 4.5.3.1.3).
pub const EMAIL_CHARS_MAX: usize = 254;
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

/// Participants of one agreement (contract, section 2).
pub const AGREEMENT_PARTICIPANTS_MAX: usize = 100;
/// Stages of one agreement (contract, section 2).
pub const AGREEMENT_STAGES_MAX: usize = 50;
/// Gates of one stage (contract, section 2).
pub const STAGE_GATES_MAX: usize = 20;
/// Documents of one agreement (contract, section 2).
pub const AGREEMENT_DOCUMENTS_MAX: usize = 50;
/// Signature blocks of one agreement (contract, section 2).
pub const AGREEMENT_BLOCKS_MAX: usize = 200;
/// Questions of one information request: more would be a form that nobody fills in.
pub const GATE_FIELDS_MAX: usize = 50;
/// What can be chosen as the answer to one question.
pub const FIELD_OPTIONS_MAX: usize = 50;
/// The longest countdown, in hours: ten years.
pub const COUNTDOWN_HOURS_MAX: u32 = 10 * 366 * 24;
/// An agreement as it is stored, in bytes: DynamoDB's items end at 400 KB (contract, section 2).
pub const AGREEMENT_BYTES_MAX: usize = 300 * 1024;
/// The copy of an agreement that is kept with a proposal, in bytes of JSON before it is compressed: the agreement, and
/// the names and addresses of a hundred people. A bound for reading it, with room to spare.
pub const PROPOSED_BYTES_MAX: usize = 1024 * 1024;

/// How long a proposal waits for a decision, in seconds: 72 hours (specification, "Limits").
pub const PROPOSAL_LIFETIME_S: i64 = 72 * 3600;

/// How often the clock looks for what is due. What is decided on read is never late; events and what else follows are
/// at most 90 s late (contract, section 3).
pub const SWEEP_INTERVAL: Duration = Duration::from_mins(1);
/// How long one sweep goes on. What is left then is for the next, which a schedule begins a minute after this one.
pub const SWEEP_DEADLINE: Duration = Duration::from_secs(45);
/// How many due entries are read at once.
pub const SWEEP_ENTRIES_MAX: i32 = 100;
/// How often one due entry is decided anew in one sweep while others change the same records.
pub const SWEEP_ATTEMPTS_MAX: u32 = 5;

/// A request's body, in bytes (contract, section 1).
pub const BODY_BYTES_MAX: usize = 1024 * 1024;
/// How much of a body that is too large is read before it is refused, in bytes, so that an honest client gets to see
/// the refusal instead of a broken connection. Lambda's own limit is below it.
pub const BODY_BYTES_DISCARDED_MAX: usize = 8 * 1024 * 1024;

/// Fields of one form of the app: no page has as many.
pub const FORM_FIELDS_MAX: usize = 32;
/// Field errors of one response, so that a body of nothing but errors does not make a response that Lambda refuses.
pub const FIELD_ERRORS_MAX: usize = 100;
/// The path of a field in an error, in characters; longer ones are cut.
pub const FIELD_PATH_CHARS_MAX: usize = 200;
/// A response's body, in bytes as Lambda gets it: as text in JSON, with every quotation mark escaped. Lambda refuses
/// more than 6,291,556 with the headers.
pub const RESPONSE_BYTES_MAX: usize = 6_200_000;

/// `Idempotency-Key`, in characters (contract, section 1).
pub const IDEMPOTENCY_KEY_CHARS_MAX: usize = 255;
/// How long an idempotency key is remembered, in seconds (contract, section 1).
pub const IDEMPOTENCY_KEY_LIFETIME_S: i64 = 7 * 24 * 3600;

/// Token lifetime, in seconds: ninety days (specification, "Limits").
pub const TOKEN_LIFETIME_S: i64 = 90 * 24 * 3600;
/// How long the trail of calls with unknown tokens is kept, in seconds (contract, section 1).
pub const TRAIL_LIFETIME_S: i64 = 30 * 24 * 3600;
/// Over how many partitions a day's trail of unknown tokens is spread, so that a flood of them meets no hot partition.
pub const TRAIL_SHARDS: u8 = 16;
/// How long the answer to an unknown token waits for its trail entry, which is best effort.
pub const TRAIL_WAIT: Duration = Duration::from_millis(500);

/// How long a write keeps deciding anew while others change the same records. The gateway gives up after 30 s.
pub const WRITE_DEADLINE: Duration = Duration::from_secs(15);
/// The first and the longest pause between two attempts at a contended write; each pause is drawn evenly from zero up.
/// The longest is what lets fifty writers of one record pass: a shorter one keeps them meeting.
pub const WRITE_BACKOFF_FIRST: Duration = Duration::from_millis(10);
/// See [`WRITE_BACKOFF_FIRST`].
pub const WRITE_BACKOFF_MAX: Duration = Duration::from_secs(2);
/// How long a call is attempted while the table refuses because it is too busy: callers who pile up make it worse.
pub const THROTTLED_DEADLINE: Duration = Duration::from_secs(3);
/// The first and the longest pause between two attempts while the table is too busy.
pub const THROTTLED_BACKOFF_FIRST: Duration = Duration::from_millis(100);
/// See [`THROTTLED_BACKOFF_FIRST`].
pub const THROTTLED_BACKOFF_MAX: Duration = Duration::from_secs(1);
/// What `Retry-After` tells a client whose call was given up because the table was too busy, in seconds.
pub const THROTTLED_RETRY_AFTER_S: u32 = 2;

/// How long a call may take in all, before it is answered as failed. What is left of the gateway's 30 s is for its
/// audit row.
pub const CALL_DEADLINE: Duration = Duration::from_secs(20);

/// Connecting to an AWS service.
pub const AWS_CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// One attempt at a call of an AWS service.
pub const AWS_ATTEMPT_TIMEOUT: Duration = Duration::from_secs(3);
/// One call of an AWS service with its retries.
pub const AWS_CALL_TIMEOUT: Duration = Duration::from_secs(8);
/// Attempts at one call of an AWS service: time-outs, throttling and 5xx are tried again with jitter.
pub const AWS_ATTEMPTS_MAX: u32 = 5;

/// How long a new table may take to become active.
pub const TABLE_CREATION_WAIT: Duration = Duration::from_mins(1);

/// The first pause before a call of an AWS service is tried again; each is up to twice as long as the one before.
pub const AWS_BACKOFF_FIRST: Duration = Duration::from_millis(100);

/// Items in one `DynamoDB` transaction (the service's own limit).
pub const TRANSACTION_ITEMS_MAX: usize = 100;
/// Keys in one `BatchGetItem` (the service's own limit).
pub const BATCH_KEYS_MAX: usize = 100;

/// How long a session lasts at most, in seconds: 12 hours (a working day).
pub const SESSION_LIFETIME_S: i64 = 12 * 3600;
/// How long a session lasts without a request, in seconds: 2 hours.
pub const SESSION_IDLE_S: i64 = 2 * 3600;
/// How exactly a session's last request is kept, in seconds: not every page view is worth a write.
pub const SESSION_REFRESH_S: i64 = 60;
/// A form's body, in bytes: room for the longest note, each of its characters percent-encoded.
pub const FORM_BYTES_MAX: usize = 64 * 1024;
/// A password, in bytes: more is not hashed.
pub const PASSWORD_BYTES_MAX: usize = 1024;
/// The path to come back to after signing in, in characters: a search of 200 characters has up to 2,400 in an address.
pub const NEXT_PATH_CHARS_MAX: usize = 3000;
/// Wrong passwords for one account, from browsers that have not signed in to it before, until the next has to wait: what
/// NIST SP 800-63B (5.2.2) allows. More than one address has, so that no single one can keep an account slow.
pub const LOGIN_ATTEMPTS_AT_ACCOUNT: u32 = 100;
/// Wrong passwords from one address before the next has to wait: an office has many people behind one.
pub const LOGIN_ATTEMPTS_FROM_ADDRESS: u32 = 50;
/// Wrong passwords for one account in a browser that has signed in to it before, until the next has to wait.
pub const LOGIN_ATTEMPTS_ON_DEVICE: u32 = 10;
/// How long a browser is known after signing in, in seconds: half a year.
pub const DEVICE_COOKIE_LIFETIME_S: i64 = 180 * 24 * 3600;
/// How often counting a guess is tried while others are counted at the same moment. More of them than get through are
/// guessing, and are refused.
pub const LOGIN_COUNT_ATTEMPTS_MAX: u32 = 12;
/// The longest wait after a wrong password, in seconds; the first is one, and each is twice the one before. No longer,
/// since it keeps out people too who have nothing to do with the guesses.
pub const LOGIN_WAIT_MAX_S: i64 = 300;
/// After how long wrong passwords are forgotten, in seconds.
pub const FAILED_LOGINS_FORGOTTEN_S: i64 = 3600;

/// How often an operator's removal of a member is decided anew while others change the same records.
pub const REMOVAL_ATTEMPTS_MAX: u32 = 5;

/// How long what a page shows once may take from the act that made it to the page, in seconds: a redirect, also when
/// the connection is slow.
pub const FLASH_LIFETIME_S: i64 = 120;

/// A stored file, in bytes: it comes and goes through a function, and Lambda's bodies stop at 6 MB, encoded.
pub const FILE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The waits after failures 1 to 4 of a delivery, in seconds; after the fifth it waits for a manual replay
/// (specification, "Limits").
pub const RETRY_WAITS_S: [i64; 4] = [60, 300, 1800, 7200];
/// How long whoever attempts a delivery has it for themselves, in seconds: twice what an attempt may take. Never scaled.
pub const CLAIM_S: i64 = 30;
/// The attempts of one delivery that are kept: four rounds of the schedule, in a record that stays small.
pub const ATTEMPTS_KEPT_MAX: usize = 20;
/// Endpoints of one organization: each gets a delivery of every event that it wants.
pub const ENDPOINTS_MAX: usize = 20;
/// How long a signing secret that was replaced goes on signing where that was asked for, in seconds: 24 hours, so that
/// a subscriber can deploy the new one.
pub const SECRET_OVERLAP_S: i64 = 24 * 3600;
/// How long deliveries are kept after they have arrived, in seconds: 30 days. Others are kept until they do, or their
/// endpoint is deleted.
pub const DELIVERED_KEPT_S: i64 = 30 * 24 * 3600;
/// How long an event waits for whoever relays it at once, before the clock does.
pub const RELAY_GRACE_S: i64 = 60;
/// How long the deliveries of one endpoint may follow what was done to it before others have their turn; the clock goes
/// on with the rest.
pub const FOLLOW_UP_TIME: Duration = Duration::from_secs(5);
/// How soon keys that could not be looked up are looked up again.
pub const KEYS_RETRY: Duration = Duration::from_secs(30);
/// The longest delay of a message, in seconds (SQS's own limit): longer waits hop.
pub const MESSAGE_DELAY_MAX_S: i64 = 900;
/// Messages in one call of a queue (SQS's own limit).
pub const MESSAGES_IN_BATCH_MAX: usize = 10;
/// How often a message that fails is seen before the queue sets it aside. The template's queues and the local one have
/// the same.
pub const MESSAGE_RECEIVES_MAX: u32 = 5;
/// How long encryption keys are used before they are looked up again.
pub const KEYS_KEPT: Duration = Duration::from_mins(5);
/// How often encryption keys are looked up again at most, for a record whose key is not among them.
pub const KEYS_LOOKED_UP_EVERY: Duration = Duration::from_secs(1);
/// How many queries one page of deliveries may take: what is looked for may be rare.
pub const DELIVERY_QUERIES_MAX: u32 = 10;
/// How far apart the deliveries of an endpoint that is resumed become due, in milliseconds: in the order of their
/// events, and not all at once.
pub const RESUME_SPACING_MS: i64 = 25;

// Webhooks

/// An attempt at a delivery in all: the name, connecting, TLS, the response and its body.
pub const WEBHOOK_DEADLINE: Duration = Duration::from_secs(15);
/// Looking a name up. Less than the whole, so that the attempt can say what it failed at.
pub const WEBHOOK_RESOLVE_TIMEOUT: Duration = Duration::from_secs(5);
/// Connecting to one address, so that there is time left for the next.
pub const WEBHOOK_CONNECT_TIMEOUT: Duration = Duration::from_secs(4);
/// Addresses of one name that an attempt dials: a name must not turn one event into connections to a thousand hosts.
pub const WEBHOOK_DIALS_MAX: usize = 3;
/// The status line and the headers of a subscriber's response, in bytes.
pub const WEBHOOK_HEAD_BYTES_MAX: usize = 32 * 1024;
/// What is read of the body of a subscriber's response, in bytes.
pub const WEBHOOK_BODY_BYTES_MAX: usize = 64 * 1024;
/// What is kept of that for people, in characters.
pub const WEBHOOK_EXCERPT_CHARS_MAX: usize = 1000;
/// How far a signature's timestamp may be from the present, in seconds (specification, "Delivery").
pub const WEBHOOK_FRESHNESS_S: i64 = 300;
/// The URL of an endpoint, in characters: what common software takes.
pub const WEBHOOK_URL_CHARS_MAX: usize = 2000;
