//! Attempts deliveries (specification, "Delivery"). A message says which one to look at; the delivery's record says
//! whether it is due, and is claimed before anything is sent, so that two copies of a message make one attempt.
//!
//! Whatever is interrupted anywhere is done again: a claim ends by itself, and the clock wakes what is still due.

mod port;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use serde::Serialize;
use shared::crypto::keyring::SealError;
use shared::crypto::signing_secret::SigningSecret;
use shared::domain::delivery::{Attempt, Claim, Delivery, Outcome, Schedule};
use shared::domain::endpoint::Endpoint;
use shared::domain::ids::{EndpointId, EventId, OrgId};
use shared::domain::time::Timestamp;
use shared::domain::time_scale::TimeScale;
use shared::limits;
use shared::platform::secrets::Keys;
use shared::platform::telemetry::{Log, Metric, metrics};
use shared::retry::{Backoff, Budget, Obstacle, Transient};
use shared::store::events::StoredEvent;
use shared::store::{StoreError, Versioned};
use shared::webhook::client::Client;
use shared::webhook::queue::{DeliveryMessage, Queue};
use shared::webhook::signature;

use port::SystemTime;
pub use port::{Deliveries, Post, Time};

/// Attempts deliveries.
#[derive(Debug)]
pub struct Sender<D, P = Client> {
    deliveries: D,
    queue: Arc<dyn Queue>,
    keys: Arc<dyn Keys>,
    client: P,
    time_scale: TimeScale,
    log: Log,
    time: Arc<dyn Time>,
    noted: Noted,
}

/// What became of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handled {
    /// An attempt was made, and this is how it ended.
    Attempted(Outcome),
    /// It came before its time, and is on its way again.
    SentOn,
    /// There was nothing to do: done, not due any more, or somebody else is at it.
    Passed,
    /// The endpoint is paused.
    Held,
    /// The endpoint is gone, and so is the delivery.
    Dropped,
}

/// What a look at a delivery that is claimed has shown.
#[derive(Debug)]
enum Prepared {
    /// There is nothing to send.
    Already(Handled),
    /// This is to be sent, signed with these.
    ToSend(Box<Endpoint>, StoredEvent, Vec<SigningSecret>),
}

/// Why a message could not be handled.
#[derive(Debug)]
pub enum Failure {
    /// For now: it is worth another try.
    Passing(String),
    /// For good: the delivery has been put aside, where the organization sees it, and the message goes where an operator
    /// does.
    Poison(String),
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unreadable(cause) => Self::Poison(cause),
            error => Self::Passing(error.to_string()),
        }
    }
}

impl From<SealError> for Failure {
    fn from(error: SealError) -> Self {
        match error {
            SealError::NoKeys(_) | SealError::NoRandomness => Self::Passing(error.to_string()),
            SealError::NoSuchKey(_) | SealError::Broken => Self::Poison(error.to_string()),
        }
    }
}

impl<D: Deliveries, P: Post> Sender<D, P> {
    /// A sender.
    #[must_use]
    pub fn new(
        deliveries: D,
        queue: Arc<dyn Queue>,
        keys: Arc<dyn Keys>,
        client: P,
        time_scale: TimeScale,
        log: Log,
    ) -> Self {
        Self { deliveries, queue, keys, client, time_scale, log, time: Arc::new(SystemTime), noted: Noted::default() }
    }

    /// The same in another time, for those who simulate one.
    #[must_use]
    pub fn in_time(self, time: Arc<dyn Time>) -> Self {
        Self { time, ..self }
    }

    /// Handles a message as it stands in a queue. Tells whether it is done with; else the queue shows it again, and in
    /// the end sets it aside.
    pub async fn receive(&self, message: &str) -> bool {
        if let Ok(wake) = serde_json::from_str(message) {
            return self.handle(wake).await.is_ok();
        }
        // Not quoted: nobody knows what it is.
        self.log.line(&serde_json::json!({
            "_aws": metrics(&[Metric::count("faults")]),
            "operation": "attempt_delivery",
            "faults": 1,
            "cause": format!("a message of {} bytes that names no delivery", message.len()),
        }));
        false
    }

    /// Handles a message.
    ///
    /// # Errors
    /// [`Failure`]: the message is to be seen again, or set aside by the queue.
    pub async fn handle(&self, wake: DeliveryMessage) -> Result<Handled, Failure> {
        let handled = self.attempt(wake).await;
        if let Err(failure) = &handled {
            let (is_poison, cause) = match failure {
                Failure::Passing(cause) => (false, cause),
                Failure::Poison(cause) => (true, cause),
            };
            self.log.line(&FailureLine::new(wake, is_poison, cause));
            if is_poison {
                // If this fails too, the message comes again.
                self.deliveries.quarantine(wake, self.time.now()).await?;
            }
        }
        handled
    }

    async fn attempt(&self, wake: DeliveryMessage) -> Result<Handled, Failure> {
        let now = self.time.now();
        if now < wake.due_at {
            self.queue.send(&[wake]).await.map_err(|error| Failure::Passing(error.to_string()))?;
            return Ok(Handled::SentOn);
        }
        let claim = Claim::begin(now);
        let Some(mut delivery) = self.claimed(wake, claim, now).await? else { return Ok(Handled::Passed) };
        match self.prepare(wake, claim, &mut delivery).await {
            Ok(Prepared::Already(handled)) => Ok(handled),
            Ok(Prepared::ToSend(endpoint, event, secrets)) => {
                self.send(wake, claim, delivery, &endpoint, event, &secrets).await
            }
            Err(failure) => {
                if matches!(failure, Failure::Passing(_)) && delivery.is_claimed_by(claim) {
                    // Nothing was sent: whoever sees the message next need not wait for the end of the claim.
                    let _ = self.deliveries.settle(wake, &delivery, &delivery.released(), None).await;
                }
                Err(failure)
            }
        }
    }

    /// What there is to send of a delivery that is claimed, if there is anything.
    async fn prepare(
        &self,
        wake: DeliveryMessage,
        claim: Claim,
        delivery: &mut Versioned<Delivery>,
    ) -> Result<Prepared, Failure> {
        loop {
            let (endpoint, event) = self.deliveries.load(wake).await?;
            let Some(endpoint) = endpoint else {
                self.deliveries.forget(wake, delivery.due_at()).await?;
                return Ok(Prepared::Already(Handled::Dropped));
            };
            if endpoint.lets_out(delivery.event_type) {
                let event = event.ok_or_else(|| Failure::Poison("a delivery without its event".to_owned()))?;
                let secrets = self.secrets(wake, &endpoint).await?;
                // Whoever was held up until here may find somebody else at it, or the next attempt not due yet.
                if !claim.has_time_for_attempt(self.time.now()) {
                    return Err(Failure::Passing("the claim was nearly over before the attempt".to_owned()));
                }
                return Ok(Prepared::ToSend(Box::new(endpoint.into_inner()), event, secrets));
            }
            // Only while the endpoint is as it was read: if it is resumed at this moment, this one goes out.
            let held = delivery.held(self.time.now());
            match self.deliveries.settle(wake, delivery, &held, Some(&endpoint)).await {
                Ok(true) => return Ok(Prepared::Already(Handled::Held)),
                Ok(false) => {}
                // Others of the same endpoint are held at the same time.
                Err(StoreError::Conflict) => {
                    tokio::time::sleep(limits::WRITE_BACKOFF_FIRST.mul_f64(fastrand::f64())).await;
                }
                Err(error) => return Err(error.into()),
            }
            match self.deliveries.find(wake).await? {
                Some(found) if found.is_claimed_by(claim) && self.time.now() < claim.until => *delivery = found,
                _ => return Ok(Prepared::Already(Handled::Passed)),
            }
        }
    }

    /// The secrets that sign, opened.
    async fn secrets(&self, wake: DeliveryMessage, endpoint: &Endpoint) -> Result<Vec<SigningSecret>, Failure> {
        let (keyring, now) = (self.keys.keyring().await?, self.time.now());
        match endpoint.secrets(wake.org(), &keyring, now) {
            // Sealed with a key that is newer than those that are kept here.
            Err(SealError::NoSuchKey(_)) => Ok(endpoint.secrets(wake.org(), &*self.keys.newest().await?, now)?),
            opened => Ok(opened?),
        }
    }

    /// Claims the delivery, if it is due and nobody else has it.
    async fn claimed(
        &self,
        wake: DeliveryMessage,
        claim: Claim,
        now: Timestamp,
    ) -> Result<Option<Versioned<Delivery>>, Failure> {
        let ended = match self.deliveries.claim(wake, claim, now).await {
            Ok(Some(delivery)) => return Ok(Some(delivery)),
            ended => ended,
        };
        let found = self.deliveries.find(wake).await?;
        if found.as_ref().is_some_and(|found| found.is_claimed_by(claim)) {
            // It was this one, and the answer was lost on the way; a second try then met the first.
            return Ok(found);
        }
        ended?;
        if found.is_none_or(|found| found.due_at() != Some(wake.due_at)) {
            // What woke it is of no delivery any more.
            self.deliveries.forget_due(wake).await?;
        }
        Ok(None)
    }

    async fn send(
        &self,
        wake: DeliveryMessage,
        claim: Claim,
        delivery: Versioned<Delivery>,
        endpoint: &Endpoint,
        event: StoredEvent,
        secrets: &[SigningSecret],
    ) -> Result<Handled, Failure> {
        let begun_at = self.time.now();
        let headers = signature::headers(secrets, event.id, begun_at.unix_s(), event.body.as_bytes());
        let attempted = self.client.post(endpoint.url(), headers, Bytes::from(event.body)).await;
        let ended_at = self.time.now();
        let attempt = Attempt {
            number: 0,
            at: begun_at,
            duration_ms: attempted.duration_ms,
            outcome: attempted.outcome,
            dialled: attempted.dialled,
            excerpt: attempted.excerpt,
        };
        let schedule = Schedule { time_scale: self.time_scale, jitter: fastrand::f64() };
        let (after, is_there) = self.settle(wake, claim, delivery, &attempt, ended_at, schedule).await?;
        self.log.line(&AttemptLine::new(wake, &event.id, &after, &attempt, event.created_at));
        let is_success = matches!(attempt.outcome, Outcome::Delivered { .. });
        // Of an endpoint that is gone nothing is noted: nobody would remove it.
        if is_there && self.noted.is_news(wake.delivery.endpoint, is_success) {
            // What people see of an endpoint's health may miss an attempt; the delivery does not.
            let _ = self.deliveries.note(wake, is_success, ended_at).await;
        }
        Ok(Handled::Attempted(attempt.outcome))
    }

    /// Writes down what an attempt made of a delivery, whatever else has happened to it meanwhile. Tells whether it is
    /// still there.
    async fn settle(
        &self,
        wake: DeliveryMessage,
        claim: Claim,
        mut before: Versioned<Delivery>,
        attempt: &Attempt,
        ended_at: Timestamp,
        schedule: Schedule,
    ) -> Result<(Delivery, bool), Failure> {
        let mut backoff = Backoff::new(Budget::until(Instant::now() + limits::WRITE_DEADLINE));
        loop {
            let after = before.settled(claim, attempt.clone(), ended_at, schedule);
            let obstacle = match self.deliveries.settle(wake, &before, &after, None).await {
                Ok(true) => return Ok((after, true)),
                // Replayed, or claimed anew, or written down by a call that was answered as if it had not been. Or gone
                // with its endpoint: then there is nothing to write down.
                Ok(false) => match self.deliveries.find(wake).await? {
                    Some(found) if found.has(attempt) => return Ok((found.into_inner(), true)),
                    Some(found) => {
                        before = found;
                        StoreError::Conflict
                    }
                    None => return Ok((after, false)),
                },
                Err(StoreError::Unreadable(cause)) => return Err(Failure::Poison(cause)),
                Err(error @ StoreError::Failed(_)) => {
                    // The store's answer was lost.
                    match self.deliveries.find(wake).await {
                        Ok(Some(found)) if found.has(attempt) => return Ok((found.into_inner(), true)),
                        Ok(Some(found)) => before = found,
                        Ok(None) => return Ok((after, false)),
                        Err(_) => {}
                    }
                    error
                }
                Err(error) => error,
            };
            let Some(pause) = backoff.next(obstacle.obstacle().unwrap_or(Obstacle::Conflict)) else {
                return Err(obstacle.into());
            };
            self.time.pause(pause).await;
        }
    }
}

/// When each endpoint's health was last noted, so that a storm of successes writes one item now and then.
#[derive(Debug, Default)]
struct Noted(Mutex<HashMap<EndpointId, (Instant, bool)>>);

impl Noted {
    /// How often a success is noted after another one.
    const SUCCESS_EVERY: Duration = Duration::from_secs(5);
    /// How many endpoints are remembered. Forgetting one costs a write.
    const ENDPOINTS_MAX: usize = 10_000;

    fn is_news(&self, endpoint: EndpointId, is_success: bool) -> bool {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_old = noted.get(&endpoint).is_some_and(|(at, was)| *was && at.elapsed() < Self::SUCCESS_EVERY);
        if is_success && is_old {
            return false;
        }
        if noted.len() >= Self::ENDPOINTS_MAX {
            noted.clear();
        }
        noted.insert(endpoint, (Instant::now(), is_success));
        true
    }
}

/// One attempt, as the log tells it: never a body, a secret or an address's path.
#[derive(Debug, Serialize)]
struct AttemptLine {
    #[serde(rename = "_aws")]
    metrics: serde_json::Value,
    operation: &'static str,
    organization_id: OrgId,
    endpoint_id: EndpointId,
    event_id: EventId,
    event_type: &'static str,
    attempt: u32,
    outcome: &'static str,
    status: Option<u16>,
    state: &'static str,
    duration_ms: u64,
    delivered: u8,
    failed: u8,
    exhausted: u8,
    /// From the commit to the first attempt's end, of a first attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    since_commit_ms: Option<i64>,
}

impl AttemptLine {
    fn new(
        wake: DeliveryMessage,
        event: &EventId,
        after: &Delivery,
        attempt: &Attempt,
        happened_at: Timestamp,
    ) -> Self {
        let (outcome, status) = match attempt.outcome {
            Outcome::Delivered { status } => ("delivered", Some(status)),
            Outcome::Failed { class, status } => (class.as_str(), status),
        };
        let is_first = after.attempted == 1;
        let mut measured = vec![
            Metric::ms("duration_ms"),
            Metric::count("delivered"),
            Metric::count("failed"),
            Metric::count("exhausted"),
        ];
        measured.extend(is_first.then_some(Metric::ms("since_commit_ms")));
        let state = after.state().as_str();
        Self {
            metrics: metrics(&measured),
            operation: "attempt_delivery",
            organization_id: wake.org(),
            endpoint_id: wake.delivery.endpoint,
            event_id: *event,
            event_type: after.event_type.as_str(),
            attempt: after.attempted,
            outcome,
            status,
            state,
            duration_ms: attempt.duration_ms,
            delivered: u8::from(outcome == "delivered"),
            failed: u8::from(outcome != "delivered"),
            exhausted: u8::from(state == "exhausted"),
            since_commit_ms: is_first.then(|| attempt.at.unix_ms() - happened_at.unix_ms()),
        }
    }
}

/// A message that could not be handled, as the log tells it.
#[derive(Debug, Serialize)]
struct FailureLine<'a> {
    #[serde(rename = "_aws")]
    metrics: serde_json::Value,
    operation: &'static str,
    organization_id: OrgId,
    endpoint_id: EndpointId,
    event_id: EventId,
    quarantine: bool,
    faults: u8,
    cause: &'a str,
}

impl<'a> FailureLine<'a> {
    fn new(wake: DeliveryMessage, quarantine: bool, cause: &'a str) -> Self {
        Self {
            metrics: metrics(&[Metric::count("faults")]),
            operation: "attempt_delivery",
            organization_id: wake.org(),
            endpoint_id: wake.delivery.endpoint,
            event_id: wake.delivery.event,
            quarantine,
            faults: 1,
            cause,
        }
    }
}
