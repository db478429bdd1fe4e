//! Every limit of the service, in one place, each with its unit and the reason for its value.

use std::time::Duration;

/// Names and labels, in characters (contract, section 1).
pub const NAME_CHARS_MAX: usize = 200;
/// External references, in characters (contract, section 1).
pub const REFERENCE_CHARS_MAX: usize = 200;
/// E-mail addresses, in characters: what SMTP can carry (RFC 5321, section 4.5.3.1.3).
pub const EMAIL_CHARS_MAX: usize = 254;
/// `search` in contacts and workspaces, in characters as sent (specification, "Limits").
pub const SEARCH_CHARS_MAX: usize = 200;

/// Page size of lists (specification, "Limits").
pub const PAGE_LIMIT_DEFAULT: u32 = 50;
/// The largest page (specification, "Limits").
pub const PAGE_LIMIT_MAX: u32 = 200;

/// People of one workspace (contract, section 2).
pub const WORKSPACE_PEOPLE_MAX: usize = 500;

/// A request's body, in bytes (contract, section 1).
pub const BODY_BYTES_MAX: usize = 1024 * 1024;
/// How much of a body that is too large is read before it is refused, in bytes, so that an honest client gets to see
/// the refusal instead of a broken connection. Lambda's own limit is below it.
pub const BODY_BYTES_DISCARDED_MAX: usize = 8 * 1024 * 1024;

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
