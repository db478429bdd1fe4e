//! Turns due entries into work: an event into deliveries, a due one into a message, an endpoint's change into updates.
//!
//! An entry is written in the transaction that causes it and stays until processed, which may happen twice. It comes
//! from the table's stream in the cloud, from the process on the local stack, or from the clock.

use std::sync::Arc;

use futures_util::future::try_join_all;
use futures_util::try_join;
use tokio::time::Instant;
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
use crate::store::endpoints::Replay;
use crate::store::keys::Due;
use crate::store::throttled_orgs::ThrottledOrgs;

/// Processes due entries.
#[derive(Debug, Clone)]
pub struct Relay {
    store: Store,
    queue: Arc<dyn Queue>,
    throttled: Arc<ThrottledOrgs>,
}

/// The result of processing an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelayOutcome {
    /// Everything is done.
    Done,
    /// The entry isn't for the relay.
    NotRelayed,
    /// Time ran out. The entry stays for the next call, which finds what is left.
    OutOfTime,
    /// A replay waits for attempts that began before it. The entry stays for the clock.
    Waiting,
}

impl Relay {
    /// Connects a table and a queue.
    #[must_use]
    pub fn new(store: Store, queue: Arc<dyn Queue>) -> Self {
        Self { store, queue, throttled: Arc::default() }
    }

    /// The organizations whose entries this process leaves out for a while.
    #[must_use]
    pub fn throttled_orgs(&self) -> &ThrottledOrgs {
        &self.throttled
    }

    /// Processes an entry, that of an endpoint until a moment at most. If the store or the queue fails, the entry stays.
    pub async fn process(&self, entry: DueEntry, until: Instant) -> Result<RelayOutcome, Error> {
        match entry.what {
            Due::Event => self.fan_out(entry).await,
            Due::Delivery => {
                self.enqueue([&entry]).await?;
                Ok(RelayOutcome::Done)
            }
            Due::Endpoint => self.update_deliveries(entry, until).await,
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
        let (event, endpoints) = try_join!(self.store.event(org, entry.id.into()), self.store.subscriptions(org))?;
        if let Some(event) = event {
            let now = Timestamp::now();
            let subscribed = endpoints.iter().map(|endpoint| &**endpoint).filter(|endpoint| event.is_for(endpoint));
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
                return Ok(RelayOutcome::OutOfTime);
            }
            self.store.delete_endpoint_items(org, id).await?;
            self.store.delete_due_entry(entry).await?;
            return Ok(RelayOutcome::Done);
        };
        let mut replayed = RelayOutcome::Done;
        if let Some(replay) = self.store.endpoint_replay(org, id).await? {
            replayed = self.replay_quarantined(org, id, &replay, until).await?;
            if replayed == RelayOutcome::Done {
                replayed = self.requeue(org, id, &Requeue::Replay(replay.clone()), until).await?;
            }
            if replayed == RelayOutcome::Done {
                self.store.end_endpoint_replay(org, id, &replay).await?;
            }
        }
        let mut resumed = RelayOutcome::Done;
        if !endpoint.holds_deliveries() {
            resumed = self.requeue(org, id, &Requeue::Held, until).await?;
        }
        let unfinished = [resumed, replayed].into_iter().find(|outcome| *outcome != RelayOutcome::Done);
        if let Some(unfinished) = unfinished {
            return Ok(unfinished);
        }
        self.store.delete_due_entry(entry).await?;
        Ok(RelayOutcome::Done)
    }

    async fn replay_quarantined(
        &self,
        org: OrgId,
        endpoint: EndpointId,
        replay: &Replay,
        until: Instant,
    ) -> Result<RelayOutcome, Error> {
        let now = Timestamp::now();
        let (mut due_at, mut from) = (now, Some(first_id_at(replay.since)));
        while let Some(at) = from {
            let (quarantined, next) = self.store.quarantined_from(org, endpoint, at).await?;
            let included = quarantined.into_iter().filter(|quarantined| quarantined.at <= replay.asked_at);
            for some in included.collect::<Vec<_>>().chunks(limits::FOLLOW_UP_DELIVERIES) {
                if until <= Instant::now() {
                    return Ok(RelayOutcome::OutOfTime);
                }
                let released = some.iter().map(|quarantined| {
                    let key = DeliveryKey { org, endpoint, event: quarantined.event_id };
                    let at = due_at;
                    due_at = after(at, now);
                    retry_on_conflict(budget(), move || self.store.release_delivery(key, at))
                });
                try_join_all(released).await?;
            }
            from = next;
        }
        Ok(RelayOutcome::Done)
    }

    /// Makes deliveries due again, spaced in their events' order, after those of an earlier or concurrent call. A
    /// delivery that is being attempted may join a replay later: the call waits for it.
    async fn requeue(
        &self,
        org: OrgId,
        endpoint: EndpointId,
        which: &Requeue,
        until: Instant,
    ) -> Result<RelayOutcome, Error> {
        let (from, states) = match which {
            Requeue::Held => (Uuid::nil(), vec![DeliveryState::Held]),
            Requeue::Replay(replay) => (first_id_at(replay.since), undelivered().collect()),
        };
        let mut last_due = None;
        let mut from = Some(from);
        let mut outcome = RelayOutcome::Done;
        while let Some(at) = from {
            if until <= Instant::now() {
                return Ok(RelayOutcome::OutOfTime);
            }
            let (deliveries, next) = self.store.open_deliveries_from(org, endpoint, at, &states).await?;
            if last_due.is_none()
                && let Some(first) = deliveries.first()
            {
                last_due = self.store.queued_before(org, endpoint, first.event_id).await?;
            }
            let now = Timestamp::now();
            let mut changed = Vec::with_capacity(deliveries.len());
            for delivery in deliveries {
                let due_at = last_due.map_or(now, |last| after(last, now).max(now));
                let next = match which {
                    Requeue::Held => delivery.resumed(due_at),
                    Requeue::Replay(replay) => match delivery.replayed_as_asked(replay.asked_at, due_at, now) {
                        AsAsked::Replayed(next) => Some(*next),
                        AsAsked::UnderAttempt => {
                            outcome = RelayOutcome::Waiting;
                            None
                        }
                        AsAsked::NoPart => None,
                    },
                };
                if let Some(next) = next {
                    last_due = Some(due_at);
                    changed.push((delivery, next));
                }
            }
            // A delivery that has changed since it was read needs no update.
            for some in changed.chunks(limits::FOLLOW_UP_DELIVERIES) {
                let settled = some.iter().map(|(before, next)| {
                    retry_on_conflict(budget(), move || self.store.settle_delivery(org, before, next))
                });
                try_join_all(settled).await?;
            }
            from = next;
        }
        Ok(outcome)
    }

    /// Deletes a deleted endpoint's deliveries. False if time ran out.
    async fn delete_deliveries(&self, org: OrgId, endpoint: EndpointId, until: Instant) -> Result<bool, Error> {
        let mut from = Some(Uuid::nil());
        while let Some(at) = from {
            if until <= Instant::now() {
                return Ok(false);
            }
            let (keys, next) = self.store.delivery_keys_from(org, endpoint, at).await?;
            for some in keys.chunks(limits::FOLLOW_UP_DELIVERIES) {
                let deleted = some.iter().map(|(key, due_at)| {
                    retry_on_conflict(budget(), move || self.store.delete_delivery(*key, *due_at))
                });
                try_join_all(deleted).await?;
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

/// When the delivery after one that is due at a moment is due: the first ones in their events' order, further ahead at
/// the pace at which a backlog drains.
fn after(due_at: Timestamp, now: Timestamp) -> Timestamp {
    let is_ahead = due_at.unix_ms() - now.unix_ms() >= limits::RESUME_IN_ORDER_MS;
    let spacing_ms = if is_ahead { limits::RESUME_SPACING_AHEAD_MS } else { limits::RESUME_SPACING_MS };
    Timestamp::from_unix_ms(due_at.unix_ms() + spacing_ms).unwrap_or(due_at)
}

fn budget() -> Budget {
    Budget::attempts(limits::SWEEP_ATTEMPTS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_a_backlog_keep_their_order_and_100_000_are_due_within_9_minutes() {
        let now = Timestamp::now();
        let (mut due_at, mut spacings) = (now, Vec::new());
        for _ in 0..100_000 {
            let next = after(due_at, now);
            spacings.push(next.unix_ms() - due_at.unix_ms());
            due_at = next;
        }
        assert!(spacings[..400].iter().all(|ms| *ms == limits::RESUME_SPACING_MS));
        assert!(spacings[400..].iter().all(|ms| *ms == limits::RESUME_SPACING_AHEAD_MS));
        assert!(due_at.unix_ms() - now.unix_ms() < 9 * 60 * 1000);
    }
}
