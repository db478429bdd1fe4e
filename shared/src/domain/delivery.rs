//! Deliveries: one event on its way to one endpoint (specification, "Delivery").
//!
//! The record is the truth; a message only wakes the sender, whose claim keeps duplicates from attempting twice.
//!
//! Decision: a replay restarts the schedule of retries. Attempts keep counting up, and store the replays before them.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::event::EventType;
use super::ids::{EndpointId, EventId};
use super::time::Timestamp;
use crate::limits;
use crate::wire::enums::text_enum;

/// One event on its way to one endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// The endpoint.
    pub endpoint_id: EndpointId,
    /// The event.
    pub event_id: EventId,
    /// The type of the event.
    pub event_type: EventType,
    /// When the event happened.
    pub created_at: Timestamp,
    /// Its state and the data of that state.
    #[serde(flatten)]
    pub progress: Progress,
    /// Failed attempts since it was queued or replayed.
    pub failures: u32,
    /// The number of all attempts.
    pub attempted: u32,
    /// The number of replays.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub replays: u32,
    /// Whether it is quarantined: no attempt could be made, and none has been made since.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_quarantined: bool,
    /// The last attempts, oldest first.
    pub attempts: Vec<Attempt>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !*value
}

/// The state of a delivery and its data (architecture, section 5).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "lowercase")]
pub enum Progress {
    /// Due at once: new, replayed or resumed.
    Queued {
        /// When it became due.
        due_at: Timestamp,
        /// The claim of the current sender.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        claim: Option<Claim>,
    },
    /// An attempt failed, and another is scheduled.
    Waiting {
        /// When the next attempt is due.
        due_at: Timestamp,
        /// The claim of the current sender.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        claim: Option<Claim>,
    },
    /// The subscriber acknowledged it.
    Delivered {
        /// When the last attempt ended.
        at: Timestamp,
    },
    /// All scheduled attempts failed: it waits for a manual replay.
    Exhausted {
        /// When the last attempt ended.
        at: Timestamp,
    },
    /// The endpoint is paused.
    Held {
        /// When it was held.
        at: Timestamp,
    },
}

text_enum! {
    /// The state of a delivery.
    pub enum DeliveryState {
        /// To be attempted at once.
        Queued = "queued",
        /// Waits for its next attempt.
        Waiting = "waiting",
        /// Acknowledged.
        Delivered = "delivered",
        /// Waits for a manual replay.
        Exhausted = "exhausted",
        /// Waits for its endpoint to be resumed.
        Held = "held",
    }
}

impl DeliveryState {
    /// Whether it is neither delivered nor queued.
    #[must_use]
    pub fn is_open(self) -> bool {
        matches!(self, Self::Waiting | Self::Exhausted | Self::Held)
    }

    /// Whether an attempt has failed and none has succeeded. A replay resends these.
    #[must_use]
    pub fn is_undelivered(self) -> bool {
        matches!(self, Self::Waiting | Self::Exhausted)
    }
}

/// The right to make one attempt. It expires in case its sender has died; the lost attempt doesn't count as a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// Its id.
    pub id: Uuid,
    /// When it expires.
    pub until: Timestamp,
}

impl Claim {
    /// A claim that begins now.
    #[must_use]
    pub fn begin(now: Timestamp) -> Self {
        Self { id: Uuid::now_v7(), until: now.plus_seconds(limits::CLAIM_S) }
    }

    fn began_by(self, at: Timestamp) -> bool {
        self.until <= at.plus_seconds(limits::CLAIM_S)
    }

    /// Whether an attempt that begins now would end before the claim expires. The monotonic clock measures `spent`, the time
    /// since the claim began: the wall clock may have been set back since, and another sender may hold the claim by now.
    #[must_use]
    pub fn has_time_for_attempt(self, now: Timestamp, spent: Duration) -> bool {
        let left_ms = self.until.unix_ms() - now.unix_ms();
        let has_time = u128::try_from(left_ms).is_ok_and(|left_ms| limits::WEBHOOK_DEADLINE.as_millis() <= left_ms);
        has_time
            && spent.saturating_add(limits::WEBHOOK_DEADLINE) <= Duration::from_secs(limits::CLAIM_S.unsigned_abs())
    }
}

/// One attempt, as the app shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// Counted from 1.
    pub number: u32,
    /// The number of replays before the attempt.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub replays: u32,
    /// When it began.
    pub at: Timestamp,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// How it ended.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// The address dialed, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialled: Option<std::net::SocketAddr>,
    /// The beginning of the response, as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<String>,
}

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum Outcome {
    /// Acknowledged: a status of 2xx, with a body that was complete or exceeded the read limit.
    Delivered {
        /// The status.
        status: u16,
    },
    /// Not acknowledged. The subscriber may still have received the event.
    Failed {
        /// The class of the failure.
        class: FailureClass,
        /// The status, if there was a response.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        status: Option<u16>,
    },
}

text_enum! {
    /// Why an attempt failed. The texts are stable: subscribers and alarms depend on them.
    pub enum FailureClass {
        /// The name was not found or the lookup failed.
        DnsError = "dns_error",
        /// The host is not public.
        AddressRefused = "address_refused",
        /// No connection.
        ConnectError = "connect_error",
        /// TLS failed, or the certificate is not for this host.
        TlsError = "tls_error",
        /// The deadline passed.
        Timeout = "timeout",
        /// A status of 3xx, which is never followed.
        Redirect = "redirect",
        /// Any other status outside 2xx.
        HttpError = "http_error",
        /// The response is not HTTP, or its headers are too large.
        InvalidResponse = "invalid_response",
        /// The connection ended before the response did.
        ConnectionClosed = "connection_closed",
    }
}

/// What a replay of all undelivered events does with a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AsAsked {
    /// It is queued again.
    Replayed(Box<Delivery>),
    /// An attempt that began before the request is still running; decide when it ends.
    UnderAttempt,
    /// The replay doesn't include it.
    NoPart,
}

/// The waits after failed attempts: the specification's schedule plus jitter.
#[derive(Debug, Clone, Copy)]
pub struct Schedule {
    /// The divisor of the waits on the local stack.
    pub time_scale: crate::domain::time_scale::TimeScale,
    /// The jitter, from 0 to 1; 1 adds a tenth of the wait.
    pub jitter: f64,
}

impl Schedule {
    /// When the next attempt is due after `failures` failures. None at the end of the schedule.
    #[must_use]
    pub fn next(self, failures: u32, ended_at: Timestamp) -> Option<Timestamp> {
        let after = usize::try_from(failures).ok()?.checked_sub(1)?;
        let wait_ms = self.time_scale.scaled_ms(limits::RETRY_WAITS_S.get(after)?.saturating_mul(1000));
        // In integers, so that more jitter never yields an earlier time.
        let part = (self.jitter.clamp(0.0, 1.0) * 1000.0).round();
        #[allow(clippy::cast_possible_truncation, reason = "from 0 to 1000")]
        let later_ms = wait_ms / 10 * (part as i64) / 1000;
        Timestamp::from_unix_ms(ended_at.unix_ms() + wait_ms + later_ms).ok()
    }
}

impl Delivery {
    /// A new delivery, due at once.
    #[must_use]
    pub fn new(
        endpoint_id: EndpointId,
        event_id: EventId,
        event_type: EventType,
        created_at: Timestamp,
        now: Timestamp,
    ) -> Self {
        let progress = Progress::Queued { due_at: now, claim: None };
        Self {
            endpoint_id,
            event_id,
            event_type,
            created_at,
            progress,
            failures: 0,
            attempted: 0,
            replays: 0,
            is_quarantined: false,
            attempts: Vec::new(),
        }
    }

    /// Its state.
    #[must_use]
    pub fn state(&self) -> DeliveryState {
        match self.progress {
            Progress::Queued { .. } => DeliveryState::Queued,
            Progress::Waiting { .. } => DeliveryState::Waiting,
            Progress::Delivered { .. } => DeliveryState::Delivered,
            Progress::Exhausted { .. } => DeliveryState::Exhausted,
            Progress::Held { .. } => DeliveryState::Held,
        }
    }

    /// When the next attempt is due, if any.
    #[must_use]
    pub fn due_at(&self) -> Option<Timestamp> {
        match self.progress {
            Progress::Queued { due_at, .. } | Progress::Waiting { due_at, .. } => Some(due_at),
            _ => None,
        }
    }

    fn claim(&self) -> Option<Claim> {
        match self.progress {
            Progress::Queued { claim, .. } | Progress::Waiting { claim, .. } => claim,
            _ => None,
        }
    }

    /// When its last claim expires, if no attempt has ended since.
    #[must_use]
    pub fn claimed_until(&self) -> Option<Timestamp> {
        self.claim().map(|claim| claim.until)
    }

    /// Whether this is the current claim.
    #[must_use]
    pub fn is_claimed_by(&self, by: Claim) -> bool {
        self.claim().is_some_and(|claim| claim.id == by.id)
    }

    /// Whether it can be claimed: it is due, and no claim is active.
    #[must_use]
    pub fn is_claimable(&self, now: Timestamp) -> bool {
        self.due_at().is_some_and(|due_at| due_at <= now) && self.claimed_until().is_none_or(|until| until <= now)
    }

    /// The delivery with a claim.
    #[must_use]
    pub fn claimed(&self, by: Claim) -> Self {
        let progress = match &self.progress {
            Progress::Queued { due_at, .. } => Progress::Queued { due_at: *due_at, claim: Some(by) },
            Progress::Waiting { due_at, .. } => Progress::Waiting { due_at: *due_at, claim: Some(by) },
            ended => ended.clone(),
        };
        Self { progress, ..self.clone() }
    }

    /// The delivery without its claim, after a temporary problem prevented the attempt.
    #[must_use]
    pub fn released(&self) -> Self {
        let progress = match &self.progress {
            Progress::Queued { due_at, .. } => Progress::Queued { due_at: *due_at, claim: None },
            Progress::Waiting { due_at, .. } => Progress::Waiting { due_at: *due_at, claim: None },
            ended => ended.clone(),
        };
        Self { progress, ..self.clone() }
    }

    /// Whether an attempt is already recorded: the store's response to an earlier write may have been lost.
    #[must_use]
    pub fn has(&self, attempt: &Attempt) -> bool {
        let Attempt { number, replays, .. } = *attempt;
        self.attempts.iter().any(|kept| Attempt { number, replays, ..kept.clone() } == *attempt)
    }

    /// The delivery after an attempt. An attempt under an outdated claim is recorded but doesn't change the state.
    #[must_use]
    pub fn after_attempt(&self, by: Claim, attempt: Attempt, ended_at: Timestamp, schedule: Schedule) -> Self {
        let mut after = self.clone();
        let is_delivered = matches!(attempt.outcome, Outcome::Delivered { .. });
        after.attempted += 1;
        after.attempts.push(Attempt { number: after.attempted, replays: self.replays, ..attempt });
        let surplus = after.attempts.len().saturating_sub(limits::ATTEMPTS_KEPT_MAX);
        after.attempts.drain(..surplus);
        if !self.is_claimed_by(by) {
            return after;
        }
        if is_delivered {
            after.failures = 0;
            after.progress = Progress::Delivered { at: ended_at };
        } else {
            after.failures += 1;
            after.progress = match schedule.next(after.failures, ended_at) {
                Some(due_at) => Progress::Waiting { due_at, claim: None },
                None => Progress::Exhausted { at: ended_at },
            };
        }
        after
    }

    /// The delivery, held without an attempt because its endpoint is paused.
    #[must_use]
    pub fn held(&self, now: Timestamp) -> Self {
        Self { progress: Progress::Held { at: now }, ..self.clone() }
    }

    /// A held delivery, queued again. None for other states.
    #[must_use]
    pub fn resumed(&self, due_at: Timestamp) -> Option<Self> {
        let is_held = matches!(self.progress, Progress::Held { .. });
        is_held.then(|| Self { progress: Progress::Queued { due_at, claim: None }, ..self.clone() })
    }

    /// The delivery's part in a requested replay. Attempts since the request exclude it; an earlier one must end first.
    #[must_use]
    pub fn replayed_as_asked(&self, asked_at: Timestamp, due_at: Timestamp, now: Timestamp) -> AsAsked {
        let is_newer = self.attempts.last().is_some_and(|last| asked_at < last.at);
        if !self.state().is_undelivered() || is_newer {
            return AsAsked::NoPart;
        }
        match self.claim().filter(|claim| now < claim.until) {
            None => AsAsked::Replayed(Box::new(self.replayed(due_at))),
            Some(claim) if claim.began_by(asked_at) => AsAsked::UnderAttempt,
            Some(_) => AsAsked::NoPart,
        }
    }

    /// The delivery, queued with a fresh schedule.
    #[must_use]
    pub fn replayed(&self, due_at: Timestamp) -> Self {
        let replays = self.replays.saturating_add(1);
        Self { progress: Progress::Queued { due_at, claim: None }, failures: 0, replays, ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::time_scale::TimeScale;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_unix_ms(1_800_000_000_000 + seconds * 1000).unwrap()
    }

    fn delivery() -> Delivery {
        Delivery::new(EndpointId::new(), EventId::new(), EventType::ProposalCreated, at(0), at(0))
    }

    fn attempt(outcome: Outcome) -> Attempt {
        Attempt { number: 0, replays: 0, at: at(0), duration_ms: 7, outcome, dialled: None, excerpt: None }
    }

    fn failed() -> Attempt {
        attempt(Outcome::Failed { class: FailureClass::Timeout, status: None })
    }

    fn delivered() -> Attempt {
        attempt(Outcome::Delivered { status: 204 })
    }

    fn schedule(jitter: f64) -> Schedule {
        Schedule { time_scale: TimeScale::default(), jitter }
    }

    fn try_once(before: &Delivery, outcome: Attempt, now: Timestamp, jitter: f64) -> Delivery {
        let claim = Claim::begin(now);
        before.claimed(claim).after_attempt(claim, outcome, now, schedule(jitter))
    }

    #[test]
    fn five_attempts_on_the_schedule_then_it_waits_for_a_replay() {
        let mut delivery = delivery();
        for wait_s in [60, 300, 1800, 7200] {
            let now = delivery.due_at().unwrap();
            assert!(
                delivery.is_claimable(now)
                    && !delivery.is_claimable(Timestamp::from_unix_ms(now.unix_ms() - 1).unwrap())
            );
            delivery = try_once(&delivery, failed(), now, 0.0);
            assert_eq!(delivery.progress, Progress::Waiting { due_at: now.plus_seconds(wait_s), claim: None });
        }
        let now = delivery.due_at().unwrap();
        delivery = try_once(&delivery, failed(), now, 0.0);
        assert_eq!(delivery.progress, Progress::Exhausted { at: now });
        assert_eq!((delivery.failures, delivery.attempted), (5, 5));
        assert_eq!(delivery.attempts.iter().map(|attempt| attempt.number).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);

        let again = delivery.replayed(at(100_000));
        assert!(again.is_claimable(at(100_000)));
        let failed_again = try_once(&again, failed(), at(100_000), 0.0);
        assert_eq!(failed_again.due_at(), Some(at(100_060)), "the schedule begins anew");
        let arrived = try_once(&again, delivered(), at(100_000), 0.0);
        assert_eq!((arrived.state(), arrived.attempts.last().unwrap().number), (DeliveryState::Delivered, 6));
        assert_eq!(arrived.attempts.iter().map(|attempt| attempt.replays).collect::<Vec<_>>(), [0, 0, 0, 0, 0, 1]);
    }

    #[test]
    fn what_was_overtaken_changes_nothing_but_the_record() {
        let (early, late) = (Claim::begin(at(0)), Claim::begin(at(40)));
        let claimed_again = delivery().claimed(early).claimed(late);
        for outcome in [failed(), delivered()] {
            let after = claimed_again.after_attempt(early, outcome, at(41), schedule(0.0));
            assert_eq!(
                (after.progress.clone(), after.failures, after.attempted),
                (claimed_again.progress.clone(), 0, 1)
            );
        }
        let replayed = delivery().claimed(early).replayed(at(5));
        assert!(replayed.is_claimable(at(5)), "a replay takes the claim away");
        assert_eq!(replayed.after_attempt(early, delivered(), at(6), schedule(0.0)).progress, replayed.progress);
    }

    #[test]
    fn a_claim_ends_by_itself() {
        let claimed = delivery().claimed(Claim::begin(at(0)));
        assert!(!claimed.is_claimable(at(29)));
        assert!(claimed.is_claimable(at(30)));
    }

    #[test]
    fn no_attempt_outlives_its_claim() {
        let claim = Claim::begin(at(0));
        let has_time = |now, spent| claim.has_time_for_attempt(at(now), Duration::from_secs(spent));
        assert!(has_time(0, 0) && has_time(15, 15) && has_time(15, 0));
        assert!(!has_time(16, 0) && !has_time(40, 40));
        assert!(!has_time(-600, 16), "the clock was set back");
    }

    #[test]
    fn a_replay_waits_for_the_attempt_that_began_before_it() {
        let failed_at = |begun_at, before: &Delivery| {
            let claim = Claim::begin(begun_at);
            let attempt = Attempt { at: begun_at, ..failed() };
            before.claimed(claim).after_attempt(claim, attempt, begun_at.plus_seconds(5), schedule(0.0))
        };
        let waiting = failed_at(at(0), &delivery());
        let (asked_at, due_at) = (at(70), at(71));
        let asked = |delivery: &Delivery, now| delivery.replayed_as_asked(asked_at, due_at, now);
        assert_eq!(asked(&waiting, at(71)), AsAsked::Replayed(Box::new(waiting.replayed(due_at))));

        let under_attempt = waiting.claimed(Claim::begin(at(68)));
        assert_eq!(asked(&under_attempt, at(71)), AsAsked::UnderAttempt);
        let settled = failed_at(at(68), &waiting);
        assert_eq!(asked(&settled, at(80)), AsAsked::Replayed(Box::new(settled.replayed(due_at))), "it failed");
        let arrived = try_once(&waiting, delivered(), at(68), 0.0);
        assert_eq!(asked(&arrived, at(80)), AsAsked::NoPart, "it arrived");
        let lapsed = AsAsked::Replayed(Box::new(under_attempt.replayed(due_at)));
        assert_eq!(asked(&under_attempt, at(98)), lapsed, "its sender has died");

        let later = waiting.claimed(Claim::begin(at(71)));
        assert_eq!(asked(&later, at(72)), AsAsked::NoPart);
        assert_eq!(asked(&failed_at(at(71), &waiting), at(80)), AsAsked::NoPart);
        assert_eq!(asked(&delivery(), at(80)), AsAsked::NoPart, "it is on its way");
    }

    #[test]
    fn only_what_is_held_is_resumed() {
        assert!(delivery().resumed(at(1)).is_none());
        let held = delivery().held(at(1));
        assert!(!held.is_claimable(at(2)));
        assert_eq!(held.resumed(at(3)).unwrap().due_at(), Some(at(3)));
    }

    #[test]
    fn the_attempts_kept_have_an_end_and_their_count_goes_on() {
        let mut delivery = delivery();
        for _ in 0..50 {
            delivery = try_once(&delivery.replayed(at(0)), failed(), at(0), 0.0);
        }
        assert_eq!(delivery.attempts.len(), limits::ATTEMPTS_KEPT_MAX);
        assert_eq!((delivery.attempted, delivery.attempts.last().unwrap().number), (50, 50));
    }

    #[test]
    fn a_delivery_is_kept_as_it_was() {
        let claimed = delivery().claimed(Claim::begin(at(0)));
        let waiting = Attempt {
            dialled: Some("[2606:4700::1111]:443".parse().unwrap()),
            excerpt: Some("busy".to_owned()),
            ..attempt(Outcome::Failed { class: FailureClass::HttpError, status: Some(503) })
        };
        let waiting = try_once(&delivery(), waiting, at(0), 0.5);
        for kept in
            [delivery(), claimed, waiting, try_once(&delivery(), delivered(), at(9), 0.0), delivery().held(at(1))]
        {
            let item = serde_dynamo::aws_sdk_dynamodb_1::to_item(&kept).unwrap();
            assert_eq!(item["state"].as_s().unwrap(), kept.state().as_str());
            assert_eq!(
                item.get("due_at").map(|due| due.as_s().unwrap().clone()),
                kept.due_at().map(|due| due.to_string())
            );
            assert_eq!(serde_dynamo::aws_sdk_dynamodb_1::from_item::<Delivery>(item).unwrap(), kept);
        }
    }

    proptest! {
        #[test]
        fn never_early_and_at_most_a_tenth_late(failures in 0_u32..8, jitter in -1.0_f64..2.0, scale in 0_u32..100_000) {
            let schedule = Schedule { time_scale: TimeScale::scaled(scale), jitter };
            let next = schedule.next(failures, at(0));
            prop_assert_eq!(next.is_some(), (1..=4).contains(&failures));
            if let Some(next) = next {
                let exact = TimeScale::scaled(scale).scaled_ms([60, 300, 1800, 7200][failures as usize - 1] * 1000);
                let waited = next.unix_ms() - at(0).unix_ms();
                prop_assert!(waited >= exact && waited <= exact + exact / 10, "{} of {}", waited, exact);
            }
        }
    }
}
