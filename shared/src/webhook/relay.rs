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
use crate::domain::ids::{EndpointId, OrgId};
use crate::domain::time::Timestamp;
use crate::error::Error;
use crate::limits;
use crate::retry::{Budget, retry_on_conflict};
use crate::store::Store;
use crate::store::deliveries::{DeliveryKey, first_id_at, undelivered};
use crate::store::due::DueEntry;
use crate::store::endpoints::{Quarantined, Replay};
use crate::store::keys::Due;

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

    /// Does what an entry stands for, as far as there is time; an endpoint's deliveries have some seconds at a time, so
    /// that many of them don't hold up what else has to follow.
    ///
    /// # Errors
    /// When the store or the queue can't be reached: the entry stays.
    pub async fn pass_on(&self, entry: DueEntry, until: Instant) -> Result<Passed, Error> {
        match entry.what {
            Due::Event => self.pass_event(entry).await,
            Due::Delivery => self.wake([&entry]).await,
            Due::Endpoint => self.follow_endpoint(entry, until.min(Instant::now() + limits::FOLLOW_UP_TIME)).await,
            Due::Proposal | Due::Agreement => Ok(Passed::By),
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
            let wanting = endpoints.iter().map(|state| &*state.endpoint).filter(|endpoint| event.is_for(endpoint));
            try_join_all(wanting.map(|endpoint| {
                let key = DeliveryKey { org, endpoint: endpoint.id(), event: event.id };
                let delivery = Delivery::new(endpoint.id(), event.id, event.event_type, event.created_at, now);
                async move { retry_on_conflict(budget(), || self.store.create_delivery(key, &delivery, now)).await }
            }))
            .await?;
        }
        self.store.forget(entry).await?;
        Ok(Passed::On)
    }

    /// Lets an endpoint's deliveries follow what was done to it: deleted, resumed, or asked to be replayed.
    async fn follow_endpoint(&self, entry: DueEntry, until: Instant) -> Result<Passed, Error> {
        let (org, id) = (entry.org, EndpointId::from(entry.id));
        let Some(endpoint) = self.store.endpoint(org, id).await? else {
            if !self.forget_deliveries(org, id, until).await? {
                return Ok(Passed::InPart);
            }
            self.store.forget_endpoint(org, id).await?;
            self.store.forget(entry).await?;
            return Ok(Passed::On);
        };
        if let Some(replay) = self.store.endpoint_replay(org, id).await? {
            if !self.take_up(org, id, &replay, until).await?
                || !self.walk(org, id, &Follow::Replayed(replay.clone()), until).await?
            {
                return Ok(Passed::InPart);
            }
            self.store.end_endpoint_replay(org, id, &replay).await?;
        }
        if endpoint.paused_at().is_none() && !self.walk(org, id, &Follow::Resumed, until).await? {
            return Ok(Passed::InPart);
        }
        self.store.forget(entry).await?;
        Ok(Passed::On)
    }

    /// Replays what had been put aside. Tells whether it came to the end in time.
    async fn take_up(&self, org: OrgId, id: EndpointId, replay: &Replay, until: Instant) -> Result<bool, Error> {
        let endpoints = self.store.endpoints(org).await?;
        let quarantined = endpoints.into_iter().find(|state| state.endpoint.id() == id).map(|state| state.quarantined);
        let wanted = |quarantined: &Quarantined| {
            first_id_at(replay.since) <= quarantined.event_id.uuid() && quarantined.at <= replay.asked_at
        };
        let mut due_at = Timestamp::now();
        for quarantined in quarantined.into_iter().flatten().filter(wanted) {
            if until <= Instant::now() {
                return Ok(false);
            }
            let key = DeliveryKey { org, endpoint: id, event: quarantined.event_id };
            retry_on_conflict(budget(), || self.store.release_delivery(key, due_at)).await?;
            due_at = later(due_at);
        }
        Ok(true)
    }

    /// Lets each of an endpoint's deliveries follow, in the order of their events. Tells whether it came to the end in
    /// time: what has followed is not found again.
    async fn walk(&self, org: OrgId, endpoint: EndpointId, what: &Follow, until: Instant) -> Result<bool, Error> {
        let (from, states) = match what {
            Follow::Resumed => (Uuid::nil(), vec![DeliveryState::Held]),
            Follow::Replayed(replay) => (first_id_at(replay.since), undelivered().collect()),
        };
        let mut due_at = Timestamp::now();
        let mut from = Some(from);
        while let Some(at) = from {
            let (deliveries, next) = self.store.open_deliveries_from(org, endpoint, at, &states).await?;
            for delivery in deliveries {
                let after = match what {
                    Follow::Resumed => delivery.resumed(due_at),
                    Follow::Replayed(replay) => delivery.replayed_as_asked(replay.asked_at, due_at, Timestamp::now()),
                };
                if let Some(after) = after {
                    // One that has changed meanwhile has moved on by itself.
                    retry_on_conflict(budget(), || self.store.settle_delivery(org, &delivery, &after, None)).await?;
                    due_at = later(due_at);
                }
            }
            if until <= Instant::now() {
                return Ok(next.is_none());
            }
            from = next;
        }
        Ok(true)
    }

    /// Forgets the deliveries of an endpoint that is gone. Tells whether it came to the end in time.
    async fn forget_deliveries(&self, org: OrgId, endpoint: EndpointId, until: Instant) -> Result<bool, Error> {
        let mut from = Some(Uuid::nil());
        while let Some(at) = from {
            let (keys, next) = self.store.delivery_keys_from(org, endpoint, at).await?;
            for (key, due_at) in keys {
                retry_on_conflict(budget(), || self.store.drop_delivery(key, due_at)).await?;
            }
            if until <= Instant::now() {
                return Ok(next.is_none());
            }
            from = next;
        }
        Ok(true)
    }
}

/// What an endpoint's deliveries follow.
#[derive(Debug)]
enum Follow {
    /// It was resumed: what is held goes out, in the order of the events, a little apart.
    Resumed,
    /// A member asked for what it has not got.
    Replayed(Replay),
}

fn later(due_at: Timestamp) -> Timestamp {
    Timestamp::from_unix_ms(due_at.unix_ms() + limits::RESUME_SPACING_MS).unwrap_or(due_at)
}

/// How often a write is attempted that meets another one.
fn budget() -> Budget {
    Budget::attempts(limits::SWEEP_ATTEMPTS_MAX)
}
