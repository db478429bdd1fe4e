//! Requests and responses of the API, the agent endpoint and the app.

use std::time::Duration;

use super::{FIELD_OPTIONS_MAX, FILE_BYTES_MAX, GATE_FIELDS_MAX};

/// Page size of lists (specification, "Limits").
pub const PAGE_LIMIT_DEFAULT: u32 = 50;
/// The largest page (specification, "Limits").
pub const PAGE_LIMIT_MAX: u32 = 200;
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
/// `Retry-After` of a call beyond its organization's budget, in seconds: the budget is per second.
pub const RATE_LIMITED_RETRY_AFTER_S: u32 = 1;
/// Organizations whose calls of this second a process remembers: some 500 KB. Those of earlier seconds are forgotten then.
pub const CALL_BUDGET_ORGANIZATIONS_MAX: usize = 10_000;
/// The time of a call before it is answered as failed.
pub const CALL_DEADLINE: Duration = Duration::from_secs(12);
/// When a call stops reading files, so that it can say so before [`CALL_DEADLINE`].
pub const READING_DEADLINE: Duration = Duration::from_secs(11);
/// The time for the audit row of a call that changed nothing: [`HELD_ITEM_DEADLINE`](super::HELD_ITEM_DEADLINE), and
/// [`AWS_CALL_TIMEOUT`](super::AWS_CALL_TIMEOUT) for the last attempt. It begins at [`CALL_DEADLINE`] at the latest,
/// and a function's time-out of 29 s leaves a second for the response; the gateway ends a call at 30 s.
pub const AUDIT_DEADLINE: Duration = Duration::from_secs(16);
/// Bytes of a form's body: room for the longest note, with each character percent-encoded.
pub const FORM_BYTES_MAX: usize = 64 * 1024;
/// Bytes of a form with a file: the largest file, and as much as any other form.
pub const UPLOAD_BYTES_MAX: usize = FILE_BYTES_MAX + FORM_BYTES_MAX;
