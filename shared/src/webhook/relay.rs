//! From what is written to what follows: an event becomes a delivery per endpoint that wants it, a delivery that is due
//! becomes a message, and deliveries follow what was done to their endpoint.
//!
//! What has to follow is on the due index from the transaction that causes it until it is done. Whoever hears of an
//! entry passes it on: the table's stream in the cloud, the process itself on the local stack, and the clock what
//! nobody heard of. Doing it twice does no harm.

use std::sync::Arc;
use std::time::Instant;

use futures_util::future::try_join_all;
use futures_util::try_join;
use uuid::Uuid;

use super::queue::{Queue, Wake};
use crate::domain::delivery::{Delivery, DeliveryState};
use crate::domain::endpoint::Endpoint;
use crate::domain::ids::{EndpointId, OrgId};
use crate::domain::time::Timestamp;
use crate::error::Error;
use crate::limits;
use crate::store::deliveries::{DeliveryKey, first_id_at, undelivered};
use crate::store::due::DueEntry;
use crate::store::keys::Due;
use crate::store::table::jittered;
use crate::store::{Store, StoreError, Versioned};

/// Passes on what has to follow.
#[derive(Debug, Clone)]
pub struct Relay {
    store: Store,
    queue: Arc<dyn Queue>,
}

/// Whether all that an entry stands for has been done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passed {
    /// Yes.
    On,
    /// It is not for the relay.
    By,
    /// There was no time for all of it: the entry stays, and the clock goes on with it.
    InPart,
}

impl Relay {
    /// A relay between a table and a queue.
    #[must_use]
    pub fn new(store: Store, queue: Arc<dyn Queue>) -> Self {
        Self { store, queue }
    }

    /// Does what an entry stands for, as far as there is time.
    ///
    /// # Errors
    /// When the store or the queue can't be reached: the entry stays.
    pub async fn pass_on(&self, entry: DueEntry, until: Instant) -> Result<Passed, Error> {
        match entry.what {
            Due::Event => self.pass_event(entry).await,
            Due::Delivery => self.wake([&entry]).await,
            Due::Endpoint => self.follow_endpoint(entry, until).await,
            Due::Proposal => Ok(Passed::By),
        }
    }

    /// Sends a message for each entry of a delivery.
    ///
    /// # Errors
    /// When the queue can't be reached.
    pub async fn wake(&self, entries: impl IntoIterator<Item = &DueEntry>) -> Result<Passed, Error> {
        let wakes: Vec<Wake> = entries.into_iter().filter_map(Wake::of).collect();
        self.queue.send(&wakes).await.map_err(|error| Error::Internal(error.to_string()))?;
        Ok(Passed::On)
    }

    /// Makes the deliveries of an event. They are on the due index themselves then, and the event is off it.
    async fn pass_event(&self, entry: DueEntry) -> Result<Passed, Error> {
        let org = entry.org;
        let (event, endpoints) = try_join!(self.store.event(org, entry.id.into()), self.store.endpoints(org))?;
        if let Some(event) = event {
            let now = Timestamp::now();
            let wanting = endpoints.iter().map(|state| &state.endpoint.value).filter(|endpoint| event.is_for(endpoint));
            try_join_all(wanting.map(|endpoint| {
                let key = DeliveryKey { org, endpoint: endpoint.id(), event: event.id };
                let delivery = Delivery::new(endpoint.id(), event.id, event.event_type, event.created_at, now);
                async move { patiently(async || self.store.create_delivery(key, &delivery, now).await).await }
            }))
            .await?;
        }
        self.store.forget(entry).await?;
        Ok(Passed::On)
    }

    /// Lets an endpoint's deliveries follow what was done to it: deleted, resumed, or asked to be replayed.
    async fn follow_endpoint(&self, entry: DueEntry, until: Instant) -> Result<Passed, Error> {
        let (org, id) = (entry.org, EndpointId::from(entry.id));
        let is_done = match self.store.endpoint(org, id).await? {
            None => self.forget_deliveries(org, id, until).await?,
            Some(endpoint) => {
                self.replay_deliveries(org, id, until).await?
                    && self.resume_deliveries(org, &endpoint.value, until).await?
            }
        };
        if !is_done {
            return Ok(Passed::InPart);
        }
        self.store.forget(entry).await?;
        Ok(Passed::On)
    }

    async fn forget_deliveries(&self, org: OrgId, id: EndpointId, until: Instant) -> Result<bool, Error> {
        let forget = async |delivery: Versioned<Delivery>| {
            patiently(async || self.store.drop_delivery(org, &delivery).await).await.map(|_| ())
        };
        if !self.walk(org, id, Uuid::nil(), None, until, forget).await? {
            return Ok(false);
        }
        self.store.forget_endpoint(org, id).await?;
        Ok(true)
    }

    /// Resumes what is held, in the order of the events, a little apart.
    async fn resume_deliveries(&self, org: OrgId, endpoint: &Endpoint, until: Instant) -> Result<bool, Error> {
        if endpoint.paused_at().is_some() {
            return Ok(true);
        }
        let mut due_at = Timestamp::now();
        let resume = async |held: Versioned<Delivery>| {
            let Some(resumed) = held.value.resumed(due_at) else { return Ok(()) };
            due_at = later(due_at);
            patiently(async || self.store.settle_delivery(org, &held, &resumed, None).await).await.map(|_| ())
        };
        self.walk(org, endpoint.id(), Uuid::nil(), Some(&[DeliveryState::Held]), until, resume).await
    }

    async fn replay_deliveries(&self, org: OrgId, id: EndpointId, until: Instant) -> Result<bool, Error> {
        let Some(replay) = self.store.endpoint_replay(org, id).await? else { return Ok(true) };
        let states: Vec<DeliveryState> = undelivered().collect();
        let mut due_at = Timestamp::now();
        let again = async |delivery: Versioned<Delivery>| {
            let attempted_since = delivery.value.attempts.last().is_some_and(|last| replay.asked_at < last.at);
            if attempted_since || delivery.value.is_claimed(Timestamp::now()) {
                return Ok(());
            }
            let replayed = delivery.value.replayed(due_at);
            due_at = later(due_at);
            patiently(async || self.store.settle_delivery(org, &delivery, &replayed, None).await).await.map(|_| ())
        };
        if !self.walk(org, id, first_id_at(replay.since), Some(&states), until, again).await? {
            return Ok(false);
        }
        self.store.end_endpoint_replay(org, id, &replay).await?;
        Ok(true)
    }

    /// Does something with each of an endpoint's deliveries, in the order of their events. Tells whether it came to the
    /// end in time.
    async fn walk(
        &self,
        org: OrgId,
        endpoint: EndpointId,
        from: Uuid,
        states: Option<&[DeliveryState]>,
        until: Instant,
        mut with: impl AsyncFnMut(Versioned<Delivery>) -> Result<(), StoreError>,
    ) -> Result<bool, Error> {
        let mut from = Some(from);
        while let Some(at) = from {
            let (deliveries, next) = self.store.deliveries_from(org, endpoint, at, states).await?;
            for delivery in deliveries {
                if until <= Instant::now() {
                    return Ok(false);
                }
                with(delivery).await?;
            }
            from = next;
        }
        Ok(true)
    }
}

fn later(due_at: Timestamp) -> Timestamp {
    Timestamp::from_unix_ms(due_at.unix_ms() + limits::RESUME_SPACING_MS).unwrap_or(due_at)
}

/// Tries a write again that met another one.
async fn patiently<T>(mut write: impl AsyncFnMut() -> Result<T, StoreError>) -> Result<T, StoreError> {
    let mut pause = limits::WRITE_BACKOFF_FIRST;
    for _ in 1..limits::SWEEP_ATTEMPTS_MAX {
        match write().await {
            Err(StoreError::Raced) => {
                tokio::time::sleep(jittered(pause)).await;
                pause = (pause * 2).min(limits::WRITE_BACKOFF_MAX);
            }
            ended => return ended,
        }
    }
    write().await
}
