//! Attempts deliveries (specification, "Delivery"). A message names a delivery, whose record says whether an attempt is
//! due. The sender claims it first, so duplicates make one attempt; after an interruption, the clock sends another.

mod health;
mod port;
mod room;

use std::sync::Arc;

use bytes::Bytes;
use shared::crypto::keyring::SealError;
use shared::crypto::keys::{Keys, open_with};
use shared::crypto::signing_secret::SigningSecret;
use shared::domain::delivery::{Attempt, Claim, Delivery, DeliveryState, Outcome, Schedule};
use shared::domain::endpoint::Endpoint;
use shared::domain::event::EventType;
use shared::domain::ids::EndpointId;
use shared::domain::time::Timestamp;
use shared::domain::time_scale::TimeScale;
use shared::limits;
use shared::retry::{Backoff, Budget, Obstacle, Transient};
use shared::store::events::StoredEvent;
use shared::store::{StoreError, Versioned};
use shared::webhook::client::Client;
use shared::webhook::queue::{DeliveryMessage, Queue};
use shared::webhook::signature;
use tokio::time::Instant;
use tracing::Instrument;

use health::HealthThrottle;
use port::SystemClock;
pub use port::{Clock, DeliveryStore, HttpClient};
use room::{Room, UnderWay};

const OPERATION: &str = "attempt_delivery";

/// Attempts deliveries.
#[derive(Debug)]
pub struct Sender<D, C = Client> {
    deliveries: D,
    queue: Arc<dyn Queue>,
    keys: Arc<dyn Keys>,
    client: C,
    time_scale: TimeScale,
    clock: Arc<dyn Clock>,
    health_throttle: HealthThrottle,
    under_way: UnderWay,
}

/// The result of handling a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handled {
    /// An attempt was made, with this outcome.
    Attempted(Outcome),
    /// The message was put back until this moment: it came early, or the attempt can't be made now.
    PutBack(Timestamp),
    /// No attempt was due, or another sender has claimed it.
    Skipped,
    /// The endpoint is paused; the delivery is held.
    Held,
    /// The endpoint and the delivery are deleted.
    Dropped,
}

#[derive(Debug)]
enum Claimed {
    /// The delivery, with the claim.
    Delivery(Versioned<Delivery>),
    /// Another sender's claim holds until then.
    Until(Timestamp),
    /// It is held, and its due entry may still be there.
    Held(EventType),
    /// No attempt is due.
    Not,
}

#[derive(Debug)]
enum Prepared {
    Done(Handled),
    /// The event to send to the endpoint, signed with the secrets.
    Ready(Box<Endpoint>, StoredEvent, Vec<SigningSecret>),
}

/// Why a message couldn't be handled.
#[derive(Debug)]
pub enum Failure {
    /// Handling the message again may succeed.
    Retryable(String),
    /// No attempt can succeed. The delivery is quarantined, and its message goes to the dead-letter queue.
    Permanent(String),
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unreadable(cause) => Self::Permanent(cause),
            error => Self::Retryable(error.to_string()),
        }
    }
}

impl From<SealError> for Failure {
    fn from(error: SealError) -> Self {
        match error {
            // A failed look-up says nothing about the secret's key.
            SealError::NoKeys(_) | SealError::NoRandomness => Self::Retryable(error.to_string()),
            SealError::NoSuchKey(_) | SealError::Broken => Self::Permanent(error.to_string()),
        }
    }
}

impl<D: DeliveryStore, C: HttpClient> Sender<D, C> {
    /// Creates a sender.
    #[must_use]
    pub fn new(deliveries: D, queue: Arc<dyn Queue>, keys: Arc<dyn Keys>, client: C, time_scale: TimeScale) -> Self {
        let (clock, health_throttle, under_way) =
            (Arc::new(SystemClock), HealthThrottle::default(), UnderWay::default());
        Self { deliveries, queue, keys, client, time_scale, clock, health_throttle, under_way }
    }

    /// Replaces the clock, for simulations.
    #[must_use]
    pub fn with_clock(self, clock: Arc<dyn Clock>) -> Self {
        Self { clock, ..self }
    }

    /// Handles a message's body. False if the queue must keep the message, or move it to the dead-letter queue.
    pub async fn handle_message(&self, body: &str) -> bool {
        if let Ok(wake) = serde_json::from_str(body) {
            return self.handle(wake).await.is_ok();
        }
        // Don't log the body: its content is unknown.
        let cause = format!("a message of {} bytes that names no delivery", body.len());
        tracing::error!(operation = OPERATION, faults = 1, cause);
        false
    }

    /// Handles a message, and quarantines the delivery if no attempt can succeed.
    ///
    /// A message goes only if its delivery is settled or another attempt has it; otherwise it is put back. The queue alone
    /// would show it again later than an attempt may be late, and after some receives put it among the dead letters:
    /// a backlog that slows the table must not do that. So dead letters are what can't succeed, or ended its process.
    pub async fn handle(&self, wake: DeliveryMessage) -> Result<Handled, Failure> {
        let span = tracing::info_span!(
            "delivery",
            operation = OPERATION,
            organization_id = %wake.org(),
            endpoint_id = %wake.delivery.endpoint,
            event_id = %wake.delivery.event,
        );
        let handled = async {
            match self.attempt_or_quarantine(wake).await {
                Err(Failure::Retryable(_)) => self.put_back(wake, self.time_scale.next_try(self.clock.now())).await,
                handled => handled,
            }
        };
        handled.instrument(span).await
    }

    async fn put_back(&self, wake: DeliveryMessage, at: Timestamp) -> Result<Handled, Failure> {
        self.queue.put_back(wake, at).await.map_err(|error| Failure::Retryable(error.to_string()))?;
        Ok(Handled::PutBack(at))
    }

    async fn attempt_or_quarantine(&self, wake: DeliveryMessage) -> Result<Handled, Failure> {
        let result = self.attempt(wake).await;
        if let Err(failure) = &result {
            let (is_permanent, cause) = match failure {
                Failure::Retryable(cause) => (false, cause),
                Failure::Permanent(cause) => (true, cause),
            };
            tracing::error!(quarantine = is_permanent, faults = 1, cause);
            if is_permanent {
                // If this fails too, the message becomes visible again.
                self.deliveries.quarantine(wake, self.clock.now()).await?;
            }
        }
        result
    }

    async fn attempt(&self, wake: DeliveryMessage) -> Result<Handled, Failure> {
        let (now, begun) = (self.clock.now(), self.clock.instant());
        if now < wake.due_at {
            return self.put_back(wake, wake.due_at).await;
        }
        let Some(_room) = self.room_at(wake.delivery.endpoint).await else {
            // By then, the attempts that are under way have ended.
            let at =
                self.clock.now().unix_ms() + i64::try_from(limits::WEBHOOK_DEADLINE.as_millis()).unwrap_or_default();
            return self.put_back(wake, Timestamp::from_unix_ms(at).unwrap_or(wake.due_at)).await;
        };
        let claim = Claim::begin(now);
        let delivery = match self.claim(wake, claim, now).await? {
            Claimed::Delivery(delivery) => delivery,
            Claimed::Until(at) => return self.put_back(wake, at).await,
            Claimed::Held(event_type) => return self.settle_held(wake, event_type).await,
            Claimed::Not => return Ok(Handled::Skipped),
        };
        match self.prepare(wake, claim, begun, &delivery).await {
            Ok(Prepared::Done(handled)) => Ok(handled),
            Ok(Prepared::Ready(endpoint, event, secrets)) => {
                self.send(wake, claim, delivery, &endpoint, event, &secrets).await
            }
            Err(failure) => {
                if matches!(failure, Failure::Retryable(_)) && delivery.is_claimed_by(claim) {
                    // Nothing was sent: releasing the claim spares the next attempt the wait for its expiry.
                    let _ = self.deliveries.update(wake, &delivery, &delivery.released()).await;
                }
                Err(failure)
            }
        }
    }

    /// Room for one more attempt at the endpoint, before anything is claimed. An endpoint that answers soon has some,
    /// so that a burst of its events is not spread over seconds; one that hangs has none.
    async fn room_at(&self, endpoint: EndpointId) -> Option<Room<'_>> {
        for _ in 0..limits::ENDPOINT_ROOM_CHECKS_MAX {
            if let Some(room) = self.under_way.room_at(endpoint) {
                return Some(room);
            }
            self.clock.sleep(limits::ENDPOINT_ROOM_CHECK_INTERVAL).await;
        }
        self.under_way.room_at(endpoint)
    }

    async fn claim(&self, wake: DeliveryMessage, claim: Claim, now: Timestamp) -> Result<Claimed, Failure> {
        let result = match self.deliveries.claim(wake, claim, now).await {
            Ok(Some(delivery)) => return Ok(Claimed::Delivery(delivery)),
            result => result,
        };
        match self.deliveries.get(wake).await? {
            // The claim succeeded but its response was lost, and the SDK's retry failed on its own claim.
            Some(found) if found.is_claimed_by(claim) => return Ok(Claimed::Delivery(found)),
            Some(found) if found.due_at() == Some(wake.due_at) => {
                result?;
                // If that sender has died, its own message is hidden for longer than its claim holds.
                return Ok(found.claimed_until().filter(|until| now < *until).map_or(Claimed::Not, Claimed::Until));
            }
            Some(found) if found.state() == DeliveryState::Held => return Ok(Claimed::Held(found.event_type)),
            _ => {}
        }
        result?;
        self.deliveries.delete_due_entry(wake).await?;
        Ok(Claimed::Not)
    }

    /// Loads what a claimed delivery sends, or holds or deletes the delivery.
    async fn prepare(
        &self,
        wake: DeliveryMessage,
        claim: Claim,
        begun: Instant,
        delivery: &Versioned<Delivery>,
    ) -> Result<Prepared, Failure> {
        let (endpoint, event) = self.deliveries.load(wake).await?;
        let Some(endpoint) = endpoint else {
            self.deliveries.delete(wake, delivery.due_at()).await?;
            return Ok(Prepared::Done(Handled::Dropped));
        };
        if !endpoint.may_send(delivery.event_type) {
            return self.hold(wake, delivery).await.map(Prepared::Done);
        }
        let event = event.ok_or_else(|| Failure::Permanent("a delivery without its event".to_owned()))?;
        let secrets = self.open_secrets(wake, &endpoint).await?;
        // After a delay, another sender may have claimed the attempt.
        let spent = self.clock.instant().saturating_duration_since(begun);
        if !claim.has_time_for_attempt(self.clock.now(), spent) {
            return Err(Failure::Retryable("the claim was nearly over before the attempt".to_owned()));
        }
        Ok(Prepared::Ready(Box::new(endpoint.into_inner()), event, secrets))
    }

    /// Holds a delivery of a paused endpoint.
    ///
    /// The transaction has no condition on the endpoint: deliveries would conflict with each other there, and with
    /// `Resume`. Instead, the due entry outlives it until the endpoint was found paused after it: a resume that follows
    /// looks for held deliveries after its own commit, and so finds this one. If the endpoint was resumed meanwhile, the
    /// search may have passed, and the delivery takes the hold back. If this process ends in between, the entry is still
    /// there, and the clock wakes the delivery again. It costs three write units less than the condition did, and a read.
    async fn hold(&self, wake: DeliveryMessage, delivery: &Versioned<Delivery>) -> Result<Handled, Failure> {
        if !self.deliveries.update(wake, delivery, &delivery.held(self.clock.now())).await? {
            // It was replayed, claimed again or deleted, with a message or an end of its own.
            return Ok(Handled::Skipped);
        }
        let due_at = delivery.due_at().unwrap_or(wake.due_at);
        self.settle_held(DeliveryMessage { due_at, ..wake }, delivery.event_type).await
    }

    /// Ends the due entry of a held delivery, or takes the hold back if its endpoint is not paused.
    async fn settle_held(&self, entry: DeliveryMessage, event_type: EventType) -> Result<Handled, Failure> {
        let (Some(endpoint), _) = self.deliveries.load(entry).await? else {
            self.deliveries.delete(entry, Some(entry.due_at)).await?;
            return Ok(Handled::Dropped);
        };
        if !endpoint.may_send(event_type) {
            self.deliveries.delete_due_entry(entry).await?;
            return Ok(Handled::Held);
        }
        // Due as before, so that it keeps its entry. If another call was faster, the message finds what it left.
        let found = self.deliveries.get(entry).await?;
        if let Some((resumed, held)) = found.and_then(|held| Some((held.resumed(entry.due_at)?, held))) {
            self.deliveries.update(entry, &held, &resumed).await?;
        }
        self.put_back(entry, self.clock.now()).await
    }

    async fn open_secrets(&self, wake: DeliveryMessage, endpoint: &Endpoint) -> Result<Vec<SigningSecret>, Failure> {
        let now = self.clock.now();
        Ok(open_with(&*self.keys, |keyring| endpoint.secrets(wake.org(), keyring, now)).await?)
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
        let begun_at = self.clock.now();
        let headers = signature::headers(secrets, event.id, begun_at.unix_s(), event.body.as_bytes());
        let attempted = self.client.post(endpoint.url(), headers, Bytes::from(event.body)).await;
        let ended_at = self.clock.now();
        let attempt = Attempt {
            number: 0,
            replays: 0,
            at: begun_at,
            duration_ms: attempted.duration_ms,
            outcome: attempted.outcome,
            dialled: attempted.dialled,
            excerpt: attempted.excerpt,
        };
        let schedule = Schedule { time_scale: self.time_scale, jitter: fastrand::f64() };
        let (after, still_exists) = self.record_attempt(wake, claim, delivery, &attempt, ended_at, schedule).await?;
        log_attempt(&after, &attempt, event.created_at);
        let is_success = matches!(attempt.outcome, Outcome::Delivered { .. });
        // Nothing would delete a deleted endpoint's health record.
        if still_exists && self.health_throttle.should_record(wake.delivery.endpoint, is_success) {
            // Ignore errors: health is only displayed.
            let _ = self.deliveries.record_health(wake, is_success, ended_at).await;
        }
        Ok(Handled::Attempted(attempt.outcome))
    }

    /// Records an attempt, retrying conflicts. Returns the new state, and false if the delivery was deleted.
    async fn record_attempt(
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
            let after = before.after_attempt(claim, attempt.clone(), ended_at, schedule);
            let error = match self.deliveries.update(wake, &before, &after).await {
                Ok(true) => return Ok((after, true)),
                // The delivery was replayed, reclaimed or deleted, or this update succeeded and its response was lost.
                Ok(false) => match self.deliveries.get(wake).await? {
                    Some(found) if found.has(attempt) => return Ok((found.into_inner(), true)),
                    Some(found) => {
                        before = found;
                        StoreError::Conflict
                    }
                    None => return Ok((after, false)),
                },
                Err(StoreError::Unreadable(cause)) => return Err(Failure::Permanent(cause)),
                Err(error @ StoreError::Failed(_)) => {
                    // The update may have succeeded and its response been lost.
                    match self.deliveries.get(wake).await {
                        Ok(Some(found)) if found.has(attempt) => return Ok((found.into_inner(), true)),
                        Ok(Some(found)) => before = found,
                        Ok(None) => return Ok((after, false)),
                        Err(_) => {}
                    }
                    error
                }
                Err(error) => error,
            };
            let Some(pause) = backoff.next(error.obstacle().unwrap_or(Obstacle::Conflict)) else {
                return Err(error.into());
            };
            self.clock.sleep(pause).await;
        }
    }
}

/// Writes an attempt's line, without bodies, secrets or URL. Operators' queries and filters use its field names.
fn log_attempt(after: &Delivery, attempt: &Attempt, event_created_at: Timestamp) {
    let (outcome, status) = match attempt.outcome {
        Outcome::Delivered { status } => ("delivered", Some(status)),
        Outcome::Failed { class, status } => (class.as_str(), status),
    };
    let (is_first, state) = (after.attempted == 1, after.state().as_str());
    tracing::info!(
        event_type = after.event_type.as_str(),
        attempt = after.attempted,
        outcome,
        status,
        state,
        duration_ms = attempt.duration_ms,
        delivered = u8::from(outcome == "delivered"),
        failed = u8::from(outcome != "delivered"),
        exhausted = u8::from(state == "exhausted"),
        // From the event's commit to its first attempt's start.
        since_commit_ms = is_first.then(|| attempt.at.unix_ms() - event_created_at.unix_ms()),
    );
}
