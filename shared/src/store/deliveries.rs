//! Deliveries: one partition per endpoint, sorted by event. An endpoint and an event name a delivery.

use std::collections::BTreeSet;

use aws_sdk_dynamodb::types::AttributeValue;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::change::{Change, Changes, Update};
use super::failure::TransactionOutcome;
use super::item::{Item, VERSION, from_item, from_versioned_item, number, text, to_item, to_versioned_item};
use super::keys::{self, DROP_AT, PARTITION, SORT};
use super::query::{Query, QueryPage, after};
use super::table::PutIf;
use super::{OrgStore, Store, StoreError, Versioned};
use crate::domain::call_context::CallContext;
use crate::domain::delivery::{Claim, Delivery, DeliveryState, Progress};
use crate::domain::endpoint::Endpoint;
use crate::domain::event::EventType;
use crate::domain::ids::{EndpointId, EventId, OrgId};
use crate::domain::member::Admin;
use crate::domain::time::Timestamp;
use crate::limits;
use crate::store::endpoints::Quarantined;
use crate::store::events::StoredEvent;

const STATE: &str = "state";
const DUE_AT: &str = "due_at";
const TYPE: &str = "event_type";
const IS_QUARANTINED: &str = "is_quarantined";

/// What names a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DeliveryKey {
    /// The organization.
    pub org: OrgId,
    /// The endpoint.
    pub endpoint: EndpointId,
    /// The event.
    pub event: EventId,
}

impl DeliveryKey {
    fn key(self) -> keys::Key {
        keys::delivery(self.org, self.endpoint, self.event)
    }

    fn due(self, at: Timestamp) -> keys::Key {
        keys::due_delivery(at, self.org, self.endpoint, self.event)
    }
}

impl Store {
    /// Creates a delivery of an event to an endpoint, unless it exists.
    pub async fn create_delivery(
        &self,
        key: DeliveryKey,
        delivery: &Delivery,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let item = to_versioned_item(key.key(), delivery, 1)?;
        let due = key.due(delivery.due_at().unwrap_or(now)).into_item();
        self.change(vec![Change::Create(item), Change::Put(due)]).await.map(|_| ())
    }

    /// Claims the next attempt at a delivery, if one is due and not claimed.
    pub async fn claim_delivery(
        &self,
        key: DeliveryKey,
        claim: Claim,
        now: Timestamp,
    ) -> Result<Option<Versioned<Delivery>>, StoreError> {
        let encoded = serde_dynamo::to_attribute_value(claim)
            .map_err(|error| StoreError::Failed(format!("encoding a claim: {error}")))?;
        let string = |text: &str| AttributeValue::S(text.to_owned());
        // Timestamps sort as text in the order of time.
        let update = Update {
            key: key.key(),
            expression: "SET #claim = :claim ADD #version :one",
            condition: "#state IN (:queued, :waiting) AND #due <= :now AND (attribute_not_exists(#claim) OR #claim.#until <= :now)",
            names: vec![
                ("#claim", "claim"),
                ("#version", VERSION),
                ("#state", STATE),
                ("#due", DUE_AT),
                ("#until", "until"),
            ],
            values: vec![
                (":claim", encoded),
                (":one", AttributeValue::N("1".to_owned())),
                (":queued", string(DeliveryState::Queued.as_str())),
                (":waiting", string(DeliveryState::Waiting.as_str())),
                (":now", string(&now.to_string())),
            ],
        };
        self.update(update).await?.map(from_versioned_item).transpose()
    }

    /// A delivery.
    pub async fn delivery(&self, key: DeliveryKey) -> Result<Option<Versioned<Delivery>>, StoreError> {
        self.get(key.key()).await?.map(from_versioned_item).transpose()
    }

    /// What an attempt needs: the endpoint and the event.
    pub async fn endpoint_and_event(
        &self,
        key: DeliveryKey,
    ) -> Result<(Option<Versioned<Endpoint>>, Option<StoredEvent>), StoreError> {
        let keys = [keys::endpoint(key.org, key.endpoint), keys::event(key.org, key.event)];
        let (mut endpoint, mut event) = (None, None);
        for item in self.get_all(&keys).await? {
            if keys::Key::of(&item).as_ref() == Some(&keys[0]) {
                endpoint = Some(from_versioned_item(item)?);
            } else {
                event = Some(from_item(item)?);
            }
        }
        Ok((endpoint, event))
    }

    /// Writes a delivery's next state. False if it has changed since it was read.
    ///
    /// Decision: a success is no transaction, which would cost twice its two write units. If the due entry
    /// can't be removed, or this process ends before, the clock wakes the delivery again, and the sender finds it
    /// delivered and removes the entry.
    pub async fn settle_delivery(
        &self,
        org: OrgId,
        before: &Versioned<Delivery>,
        after: &Delivery,
    ) -> Result<bool, StoreError> {
        let mut changes = next_state(org, before, after)?;
        let was_due = before.due_at().is_some() && !before.is_quarantined;
        if let [Change::Replace(delivered, version), Change::Delete(due)] = &mut changes[..]
            && was_due
            && after.state() == DeliveryState::Delivered
        {
            let is_written = self.put(std::mem::take(delivered), PutIf::Version(*version)).await?;
            if is_written {
                let _ = self.delete(due.clone()).await;
            }
            return Ok(is_written);
        }
        self.change(changes).await
    }

    /// Deletes a delivery of a deleted endpoint, whatever its state.
    pub async fn delete_delivery(&self, key: DeliveryKey, due_at: Option<Timestamp>) -> Result<bool, StoreError> {
        let row = keys::undelivered_row(key.org, key.endpoint, key.event);
        let mut changes = vec![Change::Delete(key.key()), Change::Delete(row), out_of_quarantine(key)];
        changes.extend(due_at.map(|at| Change::Delete(key.due(at))));
        self.change(changes).await
    }

    /// Deletes a stale entry of a delivery from the due index.
    pub async fn delete_due_delivery(&self, key: DeliveryKey, due_at: Timestamp) -> Result<(), StoreError> {
        self.delete(key.due(due_at)).await
    }

    /// Takes a delivery out of quarantine and makes it due again.
    pub async fn release_delivery(&self, key: DeliveryKey, due_at: Timestamp) -> Result<(), StoreError> {
        let is_open = |state| !matches!(state, DeliveryState::Delivered | DeliveryState::Held);
        let changes = match self.delivery(key).await?.filter(|before| is_open(before.state())) {
            Some(before) => next_state(key.org, &before, &before.replayed(due_at))?,
            None => vec![out_of_quarantine(key)],
        };
        self.change(changes).await.map(|_| ())
    }

    /// Quarantines a delivery that can't be processed: the organization sees it, and it is no longer due. Its message
    /// returns a few more times; any later write of the delivery takes it out of quarantine.
    ///
    /// Does nothing if the record no longer waits for the message's subject: it compares state, time and version.
    pub async fn quarantine_delivery(
        &self,
        key: DeliveryKey,
        due_at: Timestamp,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let Some(stored) = self.get(key.key()).await? else { return Ok(()) };
        let waits = [DeliveryState::Queued, DeliveryState::Waiting].map(|state| Some(state.as_str()));
        let is_due_then = text(&stored, DUE_AT) == Some(due_at.to_string().as_str());
        let Some(version) = number::<u64>(&stored, VERSION) else { return Ok(()) };
        if !is_due_then || !waits.contains(&text(&stored, STATE)) {
            return Ok(());
        }
        let quarantined = to_item(
            keys::quarantined_delivery(key.org, key.endpoint, key.event),
            &Quarantined { event_id: key.event, at: now },
        )?;
        let mark = Update {
            key: key.key(),
            expression: "SET #quarantined = :true ADD #version :one",
            condition: "#version = :version",
            names: vec![("#quarantined", IS_QUARANTINED), ("#version", VERSION)],
            values: vec![
                (":true", AttributeValue::Bool(true)),
                (":one", AttributeValue::N("1".to_owned())),
                (":version", AttributeValue::N(version.to_string())),
            ],
        };
        let changes = vec![Change::Put(quarantined), Change::Delete(key.due(due_at)), Change::Update(mark)];
        self.change(changes).await.map(|_| ())
    }

    /// An endpoint's next undelivered deliveries in some states, in events' order, and the event to continue from.
    pub async fn open_deliveries_from(
        &self,
        org: OrgId,
        endpoint: EndpointId,
        from: Uuid,
        states: &[DeliveryState],
    ) -> Result<(Vec<Versioned<Delivery>>, Option<Uuid>), StoreError> {
        let names: Vec<&str> = states.iter().map(|state| state.as_str()).collect();
        let query = Query::of(keys::undelivered(org, endpoint)).between(from, LAST).one_of(STATE, &names);
        let query = query.only(&[SORT]).limit(limits::SWEEP_ENTRIES_MAX);
        let QueryPage { items: rows, next, .. } = self.page_of(&query, None).await?;
        let events = rows.iter().filter_map(event_of);
        let keys: Vec<_> = events.map(|event| keys::delivery(org, endpoint, event)).collect();
        // Skips an unreadable delivery so that the others are found.
        let found = self.get_all(&keys).await?.into_iter().filter_map(|item| from_versioned_item(item).ok());
        Ok((found.collect(), next.as_ref().and_then(event_of).map(|event| after(event.uuid()))))
    }

    /// When the delivery before that of an event is due, if queued.
    pub async fn queued_before(
        &self,
        org: OrgId,
        endpoint: EndpointId,
        event: EventId,
    ) -> Result<Option<Timestamp>, StoreError> {
        let query = Query::of(keys::deliveries(org, endpoint)).between(Uuid::nil(), event).backward().limit(2);
        let QueryPage { items, .. } = self.page_of(&query, None).await?;
        let found = items.into_iter().filter_map(|item| from_versioned_item::<Delivery>(item).ok());
        let before = found.map(Versioned::into_inner).find(|delivery| delivery.event_id != event);
        Ok(before.filter(|before| before.state() == DeliveryState::Queued).and_then(|before| before.due_at()))
    }

    /// The keys and due times of an endpoint's next deliveries, from an event on.
    pub async fn delivery_keys_from(
        &self,
        org: OrgId,
        endpoint: EndpointId,
        from: Uuid,
    ) -> Result<(Vec<(DeliveryKey, Option<Timestamp>)>, Option<Uuid>), StoreError> {
        let query = Query::of(keys::deliveries(org, endpoint)).between(from, LAST).only(&[SORT, DUE_AT]);
        let QueryPage { items: rows, next, .. } = self.page_of(&query.limit(limits::SWEEP_ENTRIES_MAX), None).await?;
        let found = rows.iter().filter_map(|row| {
            let due_at = row.get(DUE_AT).and_then(|due| due.as_s().ok()?.parse().ok());
            Some((DeliveryKey { org, endpoint, event: event_of(row)? }, due_at))
        });
        Ok((found.collect(), next.as_ref().and_then(event_of).map(|event| after(event.uuid()))))
    }

    /// Deletes the remaining items of an endpoint that is deleted.
    pub async fn delete_endpoint_items(&self, org: OrgId, endpoint: EndpointId) -> Result<(), StoreError> {
        let query = Query::of(keys::endpoints(org)).beginning(format!("{endpoint}#")).only(&[PARTITION, SORT]);
        for key in self.all(query).await?.iter().filter_map(keys::Key::of) {
            self.delete(key).await?;
        }
        Ok(())
    }

    /// Makes changes without an audit row: deliveries derive from a change that has one.
    async fn change(&self, changes: Vec<Change>) -> Result<bool, StoreError> {
        Ok(self.transact(changes).await? == TransactionOutcome::Committed)
    }
}

/// The filter of a page of deliveries.
#[derive(Debug, Clone, Copy, Default)]
pub struct DeliveryFilter {
    /// Deliveries in this state.
    pub state: Option<DeliveryState>,
    /// Deliveries of events of this type.
    pub event_type: Option<EventType>,
}

/// A page of an endpoint's deliveries.
#[derive(Debug, Clone, Default)]
pub struct DeliveryPage {
    /// The deliveries, the newest first.
    pub deliveries: Vec<Delivery>,
    /// The event behind which to go on, if there may be more.
    pub next: Option<EventId>,
}

impl OrgStore {
    /// A delivery.
    pub async fn delivery(
        &self,
        endpoint: EndpointId,
        event: EventId,
    ) -> Result<Option<Versioned<Delivery>>, StoreError> {
        self.store.delivery(DeliveryKey { org: self.org, endpoint, event }).await
    }

    /// An endpoint's matching deliveries, newest first, before an event: maybe fewer than `count` although more follow.
    pub async fn deliveries(
        &self,
        endpoint: EndpointId,
        filter: DeliveryFilter,
        before: Option<EventId>,
        count: usize,
    ) -> Result<DeliveryPage, StoreError> {
        let to = before.map_or_else(|| LAST.to_owned(), |before| before_id(before.uuid()).to_string());
        let states = filter.state.map(|state| [state.as_str()]);
        let wanted_type = filter.event_type.map(EventType::as_str);
        let mut query = Query::of(keys::deliveries(self.org, endpoint)).between(FIRST, to).backward();
        if let Some(states) = &states {
            query = query.one_of(STATE, states);
        }
        let mut page = DeliveryPage::default();
        let mut start = None;
        for _ in 0..limits::DELIVERY_QUERIES_MAX {
            let QueryPage { items, next, .. } = self.store.page_of(&query, start).await?;
            for item in items {
                if wanted_type.is_some_and(|wanted| text(&item, TYPE) != Some(wanted)) {
                    continue;
                }
                if page.deliveries.len() == count {
                    page.next = page.deliveries.last().map(|last: &Delivery| last.event_id);
                    return Ok(page);
                }
                // Skips an unreadable delivery so that the page is shown.
                page.deliveries.extend(from_item::<Delivery>(item).ok());
            }
            if next.is_none() {
                page.next = None;
                return Ok(page);
            }
            page.next = next.as_ref().and_then(|key| key.get(SORT)?.as_s().ok()?.parse().ok());
            start = next;
        }
        Ok(page)
    }

    /// The number of deliveries that wait for an endpoint to be resumed, or to be sent since it was.
    pub async fn held(&self, endpoint: EndpointId) -> Result<u64, StoreError> {
        let query = Query::of(keys::undelivered(self.org, endpoint));
        self.store.count(query.one_of(STATE, &[DeliveryState::Held.as_str()])).await
    }

    /// Events since a moment that an endpoint has not received: their deliveries failed or are quarantined.
    pub async fn undelivered(&self, endpoint: EndpointId, since: Timestamp) -> Result<Undelivered, StoreError> {
        let states: Vec<&str> = undelivered().map(DeliveryState::as_str).collect();
        let (mut quarantined, mut from) = (BTreeSet::new(), Some(first_id_at(since)));
        while let Some(at) = from {
            let (some, next) = self.store.quarantined_from(self.org, endpoint, at).await?;
            quarantined.extend(some.into_iter().map(|quarantined| quarantined.event_id.uuid()));
            from = next;
        }
        let mut found = Undelivered::default();
        let query = Query::of(keys::undelivered(self.org, endpoint)).between(first_id_at(since), LAST);
        let visit = |item: Item| {
            found.count += 1;
            if let Some(id) = text(&item, SORT).and_then(|id| id.parse::<Uuid>().ok()) {
                found.earliest = found.earliest.or_else(|| moment_of(id));
                quarantined.remove(&id);
            }
        };
        self.store.each(query.one_of(STATE, &states).only(&[SORT]), visit).await?;
        found.count += quarantined.len() as u64;
        found.earliest = found.earliest.into_iter().chain(quarantined.first().copied().and_then(moment_of)).min();
        Ok(found)
    }
}

/// The events that an endpoint has not received.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Undelivered {
    /// The number of events.
    pub count: u64,
    /// The moment of the first one.
    pub earliest: Option<Timestamp>,
}

pub(crate) fn undelivered() -> impl Iterator<Item = DeliveryState> {
    DeliveryState::ALL.into_iter().filter(|state| state.is_undelivered())
}

/// The changes that send a delivery again, and take it out of quarantine.
pub fn replay(
    call: &CallContext,
    admin: Admin<'_>,
    before: &Versioned<Delivery>,
    after: &Delivery,
) -> Result<Changes, StoreError> {
    Ok(Changes::by_admin(call, admin, next_state(call.org(), before, after)?))
}

fn out_of_quarantine(key: DeliveryKey) -> Change {
    Change::Delete(keys::quarantined_delivery(key.org, key.endpoint, key.event))
}

/// Gives a delivery its next state, moves its due entry, and takes it out of quarantine. The due entry of one that is
/// held stays until its endpoint was found paused after that (`webhook-sender`).
fn next_state(org: OrgId, before: &Versioned<Delivery>, after: &Delivery) -> Result<Vec<Change>, StoreError> {
    let key = key_of(org, after);
    let after = &Delivery { is_quarantined: false, ..after.clone() };
    let mut item = to_versioned_item(key.key(), after, before.version() + 1)?;
    if let Progress::Delivered { at } = after.progress {
        let drop_at = at.plus_seconds(limits::DELIVERED_KEPT_S).unix_s();
        item.insert(DROP_AT.to_owned(), AttributeValue::N(drop_at.to_string()));
    }
    let mut changes = vec![Change::Replace(item, before.version())];
    let (was_open, is_open) = (before.state().is_open(), after.state().is_open());
    if is_open {
        changes.push(Change::Put(open_row(key, after.state())));
    } else if was_open {
        changes.push(Change::Delete(keys::undelivered_row(org, key.endpoint, key.event)));
    }
    if before.is_quarantined {
        changes.push(out_of_quarantine(key));
    }
    // A quarantined delivery has no due entry.
    let was_due = before.due_at().filter(|_| !before.is_quarantined);
    let is_due = if after.state() == DeliveryState::Held { before.due_at() } else { after.due_at() };
    if was_due != is_due {
        changes.extend(was_due.map(|at| Change::Delete(key.due(at))));
        changes.extend(is_due.map(|at| Change::Put(key.due(at).into_item())));
    }
    Ok(changes)
}

pub(super) fn open_row(key: DeliveryKey, state: DeliveryState) -> Item {
    let mut row = keys::undelivered_row(key.org, key.endpoint, key.event).into_item();
    row.insert(STATE.to_owned(), AttributeValue::S(state.as_str().to_owned()));
    row
}

fn event_of(row: &Item) -> Option<EventId> {
    row.get(SORT)?.as_s().ok()?.parse().ok()
}

fn key_of(org: OrgId, delivery: &Delivery) -> DeliveryKey {
    DeliveryKey { org, endpoint: delivery.endpoint_id, event: delivery.event_id }
}

/// These texts sort before and after every id.
const FIRST: &str = "0";
const LAST: &str = "g";

pub(crate) fn first_id_at(at: Timestamp) -> Uuid {
    let ms = u64::try_from(at.unix_ms()).unwrap_or_default();
    Uuid::from_u128(u128::from(ms) << 80)
}

fn moment_of(id: Uuid) -> Option<Timestamp> {
    let ms = i64::try_from(id.as_u128() >> 80).ok()?;
    Timestamp::from_unix_ms(ms).ok()
}

fn before_id(id: Uuid) -> Uuid {
    Uuid::from_u128(id.as_u128().saturating_sub(1))
}
