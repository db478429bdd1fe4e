//! The simulated world: time, queue, subscribers and store, each of which may fail.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::HeaderMap;
use shared::crypto::keyring::{Keyring, SealError};
use shared::crypto::keys::Keys;
use shared::domain::delivery::{Claim, Delivery, FailureClass, Outcome};
use shared::domain::endpoint::Endpoint;
use shared::domain::ids::EventId;
use shared::domain::time::Timestamp;
use shared::limits;
use shared::store::deliveries::DeliveryKey;
use shared::store::events::StoredEvent;
use shared::store::{StoreError, Versioned};
use shared::webhook::client::AttemptResult;
use shared::webhook::guard::EndpointUrl;
use shared::webhook::queue::{DeliveryMessage, Queue, QueueError};
use tests::memory::Memory;
use tokio::time::Instant;
use webhook_sender::{Clock, DeliveryStore, HttpClient};

use super::{BEGIN, CLAIM, MINUTE, SECOND, VISIBILITY, WAITS};

#[derive(Debug, Clone, Copy, Default)]
pub struct Trouble {
    /// A message is lost, doubled, up to ten minutes late, or early.
    pub messages: f64,
    /// The process ends at a step.
    pub crash: f64,
    /// The process freezes at a step for longer than its claim holds.
    pub freeze: f64,
    /// A call of the store or the queue fails, half of them after taking effect.
    pub store: f64,
    /// The clock is set forward or back.
    pub jump: f64,
    pub keys: f64,
    /// An endpoint is paused when one is chosen, which is every few seconds. A paused one is resumed.
    pub pauses: f64,
}

#[derive(Debug, Clone)]
pub struct World(pub Arc<Mutex<State>>);

#[derive(Debug)]
pub struct State {
    pub random: fastrand::Rng,
    pub trouble: Trouble,
    pub now: i64,
    pub begun: Instant,
    pub skew: i64,
    pub messages: Vec<Message>,
    pub subscribers: HashMap<EventId, Subscriber>,
    /// Until when the last polled future rests.
    pub resting_until: Option<i64>,
    /// The last loaded event, for which the keys are looked up.
    pub loaded: Option<EventId>,
}

#[derive(Debug, Clone, Copy)]
pub struct Message {
    pub at: i64,
    pub wake: DeliveryMessage,
    pub receives: u32,
}

#[derive(Debug)]
pub struct Subscriber {
    pub key: DeliveryKey,
    /// Refused attempts before one is accepted.
    pub refusals: usize,
    pub latency: i64,
    pub arrivals: usize,
    pub taken: usize,
    pub troubles: usize,
    /// The service's clock when the last attempt was claimed. It may be set back before the attempt.
    pub claimed_at: i64,
    pub earliest: i64,
    pub latest: i64,
}

impl World {
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets others continue: the history decides when this one does.
    pub fn step(&self, wake: DeliveryMessage) -> Rest {
        let mut state = self.state();
        let freezes = state.trouble.freeze;
        let until = if state.draw(freezes) {
            state.note_trouble(wake.delivery.event, CLAIM + 10 * SECOND);
            state.now + CLAIM + 10 * SECOND
        } else if state.trouble.pauses > 0.0 {
            // So that an endpoint is paused and resumed between two steps.
            state.now + state.random.i64(0..SECOND)
        } else {
            state.now
        };
        drop(state);
        self.rest(until)
    }

    pub fn rest(&self, until: i64) -> Rest {
        Rest { world: self.clone(), until, has_rested: false }
    }

    pub async fn store<T>(
        &self,
        wake: DeliveryMessage,
        call: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        self.step(wake).await;
        let fault = {
            let mut state = self.state();
            let store = state.trouble.store;
            let fault = state.draw(store).then(|| state.random.u8(..3));
            if fault.is_some() {
                state.note_trouble(wake.delivery.event, 0);
            }
            fault
        };
        match fault {
            None => call.await,
            Some(0) => Err(StoreError::Failed("no answer".to_owned())),
            Some(1) => Err(StoreError::Conflict),
            Some(_) => {
                call.await?;
                Err(StoreError::Failed("the answer was lost".to_owned()))
            }
        }
    }
}

impl State {
    pub fn draw(&mut self, probability: f64) -> bool {
        self.random.f64() < probability
    }

    pub fn clock(&self) -> i64 {
        self.now + self.skew
    }

    /// An attempt was interrupted: its claim expires, and the clock's next tick wakes the delivery.
    pub fn note_trouble(&mut self, event: EventId, rest: i64) {
        self.note_delay(event, rest);
        let subscriber = self.subscribers.get_mut(&event).expect("a delivery of the history");
        subscriber.troubles += 1;
    }

    /// An attempt was not made: it comes later, and doesn't count.
    pub fn note_delay(&mut self, event: EventId, rest: i64) {
        let latest = self.now + rest + CLAIM + MINUTE;
        let subscriber = self.subscribers.get_mut(&event).expect("a delivery of the history");
        subscriber.latest = subscriber.latest.max(latest);
    }

    pub fn put(&mut self, wake: DeliveryMessage) {
        let messages = self.trouble.messages;
        let copies = match self.random.u8(..8) {
            0 if self.draw(messages) => 0,
            1 if self.draw(messages) => 2,
            _ => 1,
        };
        for _ in 0..copies {
            let wait = (wake.due_at.unix_ms() - self.clock()).clamp(0, limits::MESSAGE_DELAY_MAX_S * SECOND);
            let at = match self.random.u8(..4) {
                0 if self.draw(messages) => self.now + self.random.i64(0..=wait),
                1 if self.draw(messages) => self.now + wait + self.random.i64(0..10 * MINUTE),
                _ => self.now + wait,
            };
            self.messages.push(Message { at, wake, receives: 0 });
        }
    }
}

/// Pending at least once, and until a time.
pub struct Rest {
    pub world: World,
    pub until: i64,
    pub has_rested: bool,
}

impl Future for Rest {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        let mut state = self.world.state();
        if self.has_rested && self.until <= state.now {
            return Poll::Ready(());
        }
        state.resting_until = Some(self.until);
        drop(state);
        self.has_rested = true;
        Poll::Pending
    }
}

impl Clock for World {
    fn now(&self) -> Timestamp {
        moment(self.state().clock())
    }

    fn instant(&self) -> Instant {
        let state = self.state();
        let passed = u64::try_from(state.now - BEGIN).expect("time passes");
        state.begun + Duration::from_millis(passed)
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'_, ()> {
        let until = self.state().now + i64::try_from(duration.as_millis()).expect("a short sleep");
        Box::pin(self.rest(until))
    }
}

impl Queue for World {
    fn send<'a>(&'a self, wakes: &'a [DeliveryMessage]) -> BoxFuture<'a, Result<(), QueueError>> {
        Box::pin(async move {
            for wake in wakes {
                self.state().put(*wake);
            }
            Ok(())
        })
    }

    /// A queue keeps what it took: only the relay's messages get lost.
    fn put_back(&self, wake: DeliveryMessage, at: Timestamp) -> BoxFuture<'_, Result<(), QueueError>> {
        Box::pin(async move {
            self.step(wake).await;
            let mut state = self.state();
            let store = state.trouble.store;
            if state.draw(store) {
                state.note_trouble(wake.delivery.event, VISIBILITY);
                return Err(QueueError { untaken: vec![wake], cause: "no answer".to_owned() });
            }
            let wait = (at.unix_ms() - state.clock()).clamp(0, limits::MESSAGE_DELAY_MAX_S * SECOND);
            let at = state.now + wait;
            state.messages.push(Message { at, wake, receives: 0 });
            Ok(())
        })
    }
}

impl HttpClient for World {
    async fn post(&self, _: &EndpointUrl, headers: HeaderMap, _: Bytes) -> AttemptResult {
        let event: EventId = headers["webhook-id"].to_str().expect("a text").parse().expect("an event's id");
        let (begun, until, is_taken) = {
            let mut state = self.state();
            let (now, clock) = (state.now, state.clock());
            let (keeps_time, is_paused) = (state.trouble.jump <= 0.0, state.trouble.pauses > 0.0);
            let subscriber = state.subscribers.get_mut(&event).expect("a delivery of the history");
            let clock = if keeps_time { clock } else { clock.max(subscriber.claimed_at) };
            assert!(
                subscriber.earliest <= clock,
                "attempt {} came {} ms early",
                subscriber.arrivals + 1,
                subscriber.earliest - clock
            );
            assert!(
                !keeps_time || is_paused || now <= subscriber.latest,
                "attempt {} came {} ms late",
                subscriber.arrivals + 1,
                now - subscriber.latest
            );
            subscriber.arrivals += 1;
            let is_taken = subscriber.refusals < subscriber.arrivals;
            subscriber.taken += usize::from(is_taken);
            (now, now + subscriber.latency, is_taken)
        };
        self.rest(until).await;
        let outcome = if is_taken {
            Outcome::Delivered { status: 204 }
        } else {
            Outcome::Failed { class: FailureClass::HttpError, status: Some(503) }
        };
        let duration_ms = u64::try_from(self.state().now - begun).expect("time passes");
        AttemptResult { duration_ms, dialled: None, outcome, excerpt: None }
    }
}

#[derive(Debug, Clone)]
pub struct Shaken {
    pub memory: Memory,
    pub world: World,
}

impl DeliveryStore for Shaken {
    async fn claim(
        &self,
        wake: DeliveryMessage,
        claim: Claim,
        now: Timestamp,
    ) -> Result<Option<Versioned<Delivery>>, StoreError> {
        // Also of a claim whose answer is lost: the sender finds that it has it.
        let claiming = async {
            let claimed = self.memory.claim(wake, claim, now).await?;
            if claimed.is_some() {
                let mut state = self.world.state();
                let subscriber = state.subscribers.get_mut(&wake.delivery.event).expect("a delivery of the history");
                subscriber.claimed_at = now.unix_ms();
            }
            Ok(claimed)
        };
        self.world.store(wake, claiming).await
    }

    async fn load(
        &self,
        wake: DeliveryMessage,
    ) -> Result<(Option<Versioned<Endpoint>>, Option<StoredEvent>), StoreError> {
        let loaded = self.world.store(wake, self.memory.load(wake)).await;
        self.world.state().loaded = Some(wake.delivery.event);
        loaded
    }

    async fn get(&self, wake: DeliveryMessage) -> Result<Option<Versioned<Delivery>>, StoreError> {
        self.world.store(wake, self.memory.get(wake)).await
    }

    async fn update(
        &self,
        wake: DeliveryMessage,
        before: &Versioned<Delivery>,
        after: &Delivery,
    ) -> Result<bool, StoreError> {
        let settling = async {
            let is_settled = self.memory.update(wake, before, after).await?;
            // What is held and queued again has made no attempt: its times stay.
            if is_settled && before.failures < after.failures {
                self.schedule(wake, after);
            }
            Ok(is_settled)
        };
        self.world.store(wake, settling).await
    }

    async fn delete(&self, wake: DeliveryMessage, due_at: Option<Timestamp>) -> Result<bool, StoreError> {
        self.world.store(wake, self.memory.delete(wake, due_at)).await
    }

    async fn delete_due_entry(&self, wake: DeliveryMessage) -> Result<(), StoreError> {
        self.world.store(wake, self.memory.delete_due_entry(wake)).await
    }

    async fn quarantine(&self, wake: DeliveryMessage, now: Timestamp) -> Result<(), StoreError> {
        self.world.store(wake, self.memory.quarantine(wake, now)).await
    }

    async fn record_health(&self, wake: DeliveryMessage, is_success: bool, at: Timestamp) -> Result<(), StoreError> {
        self.world.store(wake, self.memory.record_health(wake, is_success, at)).await
    }
}

#[derive(Debug)]
pub struct ShakenKeys {
    pub keyring: Arc<Keyring>,
    pub world: World,
}

impl Keys for ShakenKeys {
    fn keyring(&self) -> BoxFuture<'_, Result<Arc<Keyring>, SealError>> {
        let mut state = self.world.state();
        let keys = state.trouble.keys;
        let is_down = state.draw(keys);
        if is_down {
            let event = state.loaded.expect("the endpoint is loaded before its secrets are opened");
            state.note_delay(event, 0);
        }
        let looked_up = if is_down { Err(SealError::NoKeys("an outage".to_owned())) } else { Ok(self.keyring.clone()) };
        Box::pin(std::future::ready(looked_up))
    }
}

impl Shaken {
    /// Sets when the next attempt may come, after recording a failed one.
    pub fn schedule(&self, wake: DeliveryMessage, after: &Delivery) {
        let (Some(_), Some(last)) = (after.due_at(), after.attempts.last()) else { return };
        let wait = WAITS[after.failures as usize - 1];
        let took = i64::try_from(last.duration_ms).expect("a short attempt");
        let mut state = self.world.state();
        let keeps_time = state.trouble.jump <= 0.0;
        let (now, skew) = (state.now, state.skew);
        let subscriber = state.subscribers.get_mut(&wake.delivery.event).expect("a delivery of the history");
        // If the clock is set meanwhile, an attempt may seem longer or shorter than it was.
        let ended = last.at.unix_ms() + if keeps_time { took } else { 0 };
        subscriber.earliest = if keeps_time { ended + wait } else { after.due_at().expect("it waits").unix_ms() };
        // What was recorded late, by a process that stood still, may be due already.
        subscriber.latest = (ended - skew + wait + wait / 10).max(now) + MINUTE;
    }
}

pub fn moment(ms: i64) -> Timestamp {
    Timestamp::from_unix_ms(ms).expect("a moment")
}
