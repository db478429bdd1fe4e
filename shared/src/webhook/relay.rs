//! Turns due entries into work: an event into deliveries, a due one into a message, an endpoint's change into updates.
//!
//! An entry is written in the transaction that causes it and stays until processed, which may happen twice. It comes
//! from the table's stream in the cloud, from the process on the local stack, or from the clock.

use std::sync::Arc;
use std::time::Instant;

use futures_util::future::try_join_all;
use futures_util::try_join;
use uuid::Uuid;

use super::queue::{DeliveryMessage, Queue, QueueError};
use crate::domain::delivery::{AsAsked, Delivery, DeliveryState};
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

/// Processes due entries.
#[derive(Debug, Clone)]
pub struct Relay {
    store: Store,
    queue: Arc<dyn Queue>,
}

/// The result of processing an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelayOutcome {
    /// Everything is done.
    Done,
    /// The entry isn't for the relay.
    NotRelayed,
    /// Time ran out, or a replay waits for attempts that began before it. The entry stays for the clock.
    Partial,
}

impl Relay {
    /// Connects a table and a queue.
    #[must_use]
    pub fn new(store: Store, queue: Arc<dyn Queue>) -> Self {
        Self { store, queue }
    }

    /// Processes an entry until `until`, a few seconds per endpoint. If the store or the queue fails, the entry stays.
    pub async fn process(&self, entry: DueEntry, until: Instant) -> Result<RelayOutcome, Error> {
        match entry.what {
            Due::Event => self.fan_out(entry).await,
            Due::Delivery => {
                self.enqueue([&entry]).await?;
                Ok(RelayOutcome::Done)
            }
            Due::Endpoint => self.update_deliveries(entry, until.min(Instant::now() + limits::FOLLOW_UP_TIME)).await,
            Due::Proposal | Due::Agreement | Due::Ending | Due::People | Due::Upload => Ok(RelayOutcome::NotRelayed),
        }
    }

    /// Sends a message for each delivery's entry.
    pub async fn enqueue(&self, entries: impl IntoIterator<Item = &DueEntry>) -> Result<(), QueueError> {
        let messages: Vec<DeliveryMessage> = entries.into_iter().filter_map(DeliveryMessage::of).collect();
        self.queue.send(&messages).await
    }

    async fn fan_out(&self, entry: DueEntry) -> Result<RelayOutcome, Error> {
        let org = entry.org;
        let (event, endpoints) = try_join!(self.store.event(org, entry.id.into()), self.store.endpoints(org))?;
        if let Some(event) = event {
            let now = Timestamp::now();
            let subscribed = endpoints.iter().map(|state| &*state.endpoint).filter(|endpoint| event.is_for(endpoint));
            try_join_all(subscribed.map(|endpoint| {
                let key = DeliveryKey { org, endpoint: endpoint.id(), event: event.id };
                let delivery = Delivery::new(endpoint.id(), event.id, event.event_type, event.created_at, now);
                async move { retry_on_conflict(budget(), || self.store.create_delivery(key, &delivery, now)).await }
            }))
            .await?;
        }
        self.store.delete_due_entry(entry).await?;
        Ok(RelayOutcome::Done)
    }

    /// Updates the deliveries of an endpoint that was deleted, resumed (itself or its organization) or asked to replay.
    async fn update_deliveries(&self, entry: DueEntry, until: Instant) -> Result<RelayOutcome, Error> {
        let (org, id) = (entry.org, EndpointId::from(entry.id));
        let Some(endpoint) = self.store.endpoint(org, id).await? else {
            if !self.delete_deliveries(org, id, until).await? {
                return Ok(RelayOutcome::Partial);
            }
            self.store.delete_endpoint_items(org, id).await?;
            self.store.delete_due_entry(entry).await?;
            return Ok(RelayOutcome::Done);
        };
        let mut is_replayed = true;
        if let Some(replay) = self.store.endpoint_replay(org, id).await? {
            is_replayed = self.replay_quarantined(org, id, &replay, until).await?
                && self.requeue(org, id, &Requeue::Replay(replay.clone()), until).await?;
            if is_replayed {
                self.store.end_endpoint_replay(org, id, &replay).await?;
            }
        }
        let is_resumed = endpoint.holds_deliveries() || self.requeue(org, id, &Requeue::Held, until).await?;
        if !is_replayed || !is_resumed {
            return Ok(RelayOutcome::Partial);
        }
        self.store.delete_due_entry(entry).await?;
        Ok(RelayOutcome::Done)
    }

    async fn replay_quarantined(
        &self,
        org: OrgId,
        id: EndpointId,
        replay: &Replay,
        until: Instant,
    ) -> Result<bool, Error> {
        let endpoints = self.store.endpoints(org).await?;
        let quarantined = endpoints.into_iter().find(|state| state.endpoint.id() == id).map(|state| state.quarantined);
        let is_included = |quarantined: &Quarantined| {
            first_id_at(replay.since) <= quarantined.event_id.uuid() && quarantined.at <= replay.asked_at
        };
        let mut due_at = Timestamp::now();
        for quarantined in quarantined.into_iter().flatten().filter(is_included) {
            if until <= Instant::now() {
                return Ok(false);
            }
            let key = DeliveryKey { org, endpoint: id, event: quarantined.event_id };
            retry_on_conflict(budget(), || self.store.release_delivery(key, due_at)).await?;
            due_at = later(due_at);
        }
        Ok(true)
    }

    /// Makes deliveries due again, spaced in their events' order, after those of an earlier or concurrent call.
    ///
    /// False if time ran out (the next call finds the rest), or a delivery being attempted may join the replay later.
    async fn requeue(&self, org: OrgId, endpoint: EndpointId, which: &Requeue, until: Instant) -> Result<bool, Error> {
        let (from, states) = match which {
            Requeue::Held => (Uuid::nil(), vec![DeliveryState::Held]),
            Requeue::Replay(replay) => (first_id_at(replay.since), undelivered().collect()),
        };
        let mut due_at = None;
        let mut from = Some(from);
        let mut is_complete = true;
        while let Some(at) = from {
            let (deliveries, next) = self.store.open_deliveries_from(org, endpoint, at, &states).await?;
            for delivery in deliveries {
                if until <= Instant::now() {
                    return Ok(false);
                }
                let due_at = match &mut due_at {
                    Some(due_at) => due_at,
                    first => {
                        let before = self.store.queued_before(org, endpoint, delivery.event_id).await?;
                        let now = Timestamp::now();
                        first.insert(before.map_or(now, |before| now.max(later(before))))
                    }
                };
                let after = match which {
                    Requeue::Held => delivery.resumed(*due_at),
                    Requeue::Replay(replay) => {
                        match delivery.replayed_as_asked(replay.asked_at, *due_at, Timestamp::now()) {
                            AsAsked::Replayed(after) => Some(*after),
                            AsAsked::UnderAttempt => {
                                is_complete = false;
                                None
                            }
                            AsAsked::NoPart => None,
                        }
                    }
                };
                if let Some(after) = after {
                    // A delivery changed since it was read needs no update.
                    retry_on_conflict(budget(), || self.store.settle_delivery(org, &delivery, &after)).await?;
                    *due_at = later(*due_at);
                }
            }
            from = next;
        }
        Ok(is_complete)
    }

    /// Deletes a deleted endpoint's deliveries. False if time ran out.
    async fn delete_deliveries(&self, org: OrgId, endpoint: EndpointId, until: Instant) -> Result<bool, Error> {
        let mut from = Some(Uuid::nil());
        while let Some(at) = from {
            let (keys, next) = self.store.delivery_keys_from(org, endpoint, at).await?;
            for (key, due_at) in keys {
                if until <= Instant::now() {
                    return Ok(false);
                }
                retry_on_conflict(budget(), || self.store.delete_delivery(key, due_at)).await?;
            }
            from = next;
        }
        Ok(true)
    }
}

#[derive(Debug)]
enum Requeue {
    Held,
    Replay(Replay),
}

fn later(due_at: Timestamp) -> Timestamp {
    Timestamp::from_unix_ms(due_at.unix_ms() + limits::RESUME_SPACING_MS).unwrap_or(due_at)
}

fn budget() -> Budget {
    Budget::attempts(limits::SWEEP_ATTEMPTS_MAX)
}
