//! Webhooks: endpoints, deliveries and their attempts.

use std::time::Duration;

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
/// The time for updating the deliveries of changed endpoints in one batch of the stream, whose other entries wait for
/// its end. The clock does the rest.
pub const FOLLOW_UP_IN_BATCH: Duration = Duration::from_secs(1);
/// The time in which the clock updates one changed endpoint's deliveries before it is another's turn.
pub const FOLLOW_UP_TURN: Duration = Duration::from_secs(5);
/// Changed endpoints whose deliveries are updated at a time. With [`FOLLOW_UP_DELIVERIES`] of each and 10 ms a write,
/// they put at most 3,200 write units a second into the due index: four tenths of what its fewest shards take together,
/// so that nobody's backlog throttles the calls of others.
pub const FOLLOW_UP_ENDPOINTS: usize = 2;
/// Deliveries of one changed endpoint that are updated at a time: 400 a second, of the 500 that its partitions of the
/// table take, and 100,000 within 6 minutes of the clock. Their events' order holds unless one of these writes fails.
pub const FOLLOW_UP_DELIVERIES: usize = 4;
/// Quarantined deliveries of an endpoint that pages count: of more they say so.
pub const QUARANTINED_COUNTED_MAX: i32 = 1000;
/// The pause after a failed look-up of encryption keys.
pub const KEYS_RETRY: Duration = Duration::from_secs(30);
/// The longest delay of a message, in seconds (SQS's own limit). A longer wait takes several messages.
pub const MESSAGE_DELAY_MAX_S: i64 = 900;
/// Messages in one call of a queue (SQS's own limit).
pub const MESSAGES_IN_BATCH_MAX: usize = 10;
/// How long a received message stays hidden, in seconds: more than six times the sender's time-out, as AWS recommends.
/// The template sets it for both queues. Never scaled.
///
/// The clock sends the message of a due delivery again after as long: by then, one that a sender took along into its
/// end has shown again, so that a backlog has a copy of each message per ten minutes and not one per tick.
pub const MESSAGE_VISIBILITY_S: i64 = 600;
/// The wait before a delivery whose attempt could not be made is tried again, in seconds, scaled on the local stack:
/// within the 60 s by which an attempt may be late (goals, R4).
pub const PUT_BACK_S: i64 = 30;
/// Attempts that a process has under way at one endpoint: half a batch of a queue. Messages of all endpoints of an
/// organization are one group, so one that hangs must leave room to the others in each batch. Decision: processes don't
/// count together, which would take a write more per attempt, of an item that all attempts at the endpoint share.
pub const ENDPOINT_ATTEMPTS_MAX: usize = 5;
/// How often a sender looks for room at an endpoint before it puts the message back: for a second, in which an endpoint
/// that answers has ended several attempts.
pub const ENDPOINT_ROOM_CHECKS_MAX: u32 = 40;
/// See [`ENDPOINT_ROOM_CHECKS_MAX`].
pub const ENDPOINT_ROOM_CHECK_INTERVAL: Duration = Duration::from_millis(25);
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
/// The time between deliveries that are due this much later, in milliseconds: 100,000 are due within 9 minutes.
pub const RESUME_SPACING_AHEAD_MS: i64 = 5;
/// See [`RESUME_SPACING_AHEAD_MS`].
pub const RESUME_IN_ORDER_MS: i64 = 10_000;
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
