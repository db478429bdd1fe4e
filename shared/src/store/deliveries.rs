//! Deliveries: in a partition per endpoint, in the order of their events, each named by what it is of.

use std::collections::BTreeSet;

use aws_sdk_dynamodb::types::AttributeValue;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::change::{Change, Changes, Update};
use super::failure::Transacted;
use super::item::{Item, VERSION, from_item, from_versioned_item, text, to_item, to_versioned_item};
use super::keys::{self, DROP_AT, PARTITION, SORT};
use super::table::{OneOf, PartitionQuery};
use super::{OrgStore, Store, StoreError, Versioned};
use crate::domain::call_context::CallContext;
use crate::domain::delivery::{Claim, Delivery, DeliveryState, Progress};
use crate::domain::endpoint::Endpoint;
use crate::domain::event::EventType;
use crate::domain::ids::{EndpointId, EventId, OrgId};
use crate::domain::time::Timestamp;
use crate::limits;
use crate::store::endpoints::Quarantined;
use crate::store::events::StoredEvent;

/// The attribute of a delivery that holds its state.
const STATE: &str = "state";
/// The attribute of a delivery that holds when its next attempt is due.
const DUE_AT: &str = "due_at";
/// The attribute of a delivery that holds the type of its event.
const TYPE: &str = "event_type";

/// Which delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DeliveryKey {
    /// Whose.
    pub org: OrgId,
    /// Where to.
    pub endpoint: EndpointId,
    /// Of what.
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
    /// Makes a delivery of an event to an endpoint, unless there is one.
    pub async fn create_delivery(
        &self,
        key: DeliveryKey,
        delivery: &Delivery,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let item = to_versioned_item(key.key(), delivery, 1)?;
        let due = key.due(delivery.due_at().unwrap_or(now)).into_item();
        self.change([Change::Create(item), Change::Put(due)]).await.map(|_| ())
    }

    /// Claims the next attempt at a delivery, if one is due and nobody else has it.
    pub async fn claim_delivery(
        &self,
        key: DeliveryKey,
        claim: Claim,
        now: Timestamp,
    ) -> Result<Option<Versioned<Delivery>>, StoreError> {
        let encoded = serde_dynamo::to_attribute_value(claim)
            .map_err(|error| StoreError::Failed(format!("encoding a claim: {error}")))?;
        let string = |text: &str| AttributeValue::S(text.to_owned());
        // Moments are written so that their texts are in their order.
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

    /// What an attempt needs: where to, and what.
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

    /// Writes a delivery's next state. Tells whether it did: not if it has changed meanwhile, or the endpoint that it was
    /// decided from.
    pub async fn settle_delivery(
        &self,
        org: OrgId,
        before: &Versioned<Delivery>,
        after: &Delivery,
        decided_from: Option<&Versioned<Endpoint>>,
    ) -> Result<bool, StoreError> {
        let unchanged = |endpoint: &Versioned<Endpoint>| {
            Change::CheckVersion(keys::endpoint(org, endpoint.id()), endpoint.version())
        };
        self.change(next_state(org, before, after)?.into_iter().chain(decided_from.map(unchanged))).await
    }

    /// Forgets a delivery whose endpoint is gone, whatever state it is in.
    pub async fn drop_delivery(&self, key: DeliveryKey, due_at: Option<Timestamp>) -> Result<bool, StoreError> {
        let rest = [Change::Delete(key.key()), Change::Delete(keys::undelivered_row(key.org, key.endpoint, key.event))];
        self.change(rest.into_iter().chain(due_at.map(|at| Change::Delete(key.due(at))))).await
    }

    /// Takes an entry off the due index that no delivery has any more.
    pub async fn forget_due(&self, key: DeliveryKey, due_at: Timestamp) -> Result<(), StoreError> {
        self.remove(key.due(due_at)).await
    }

    /// Takes a delivery out of quarantine, to be attempted again.
    pub async fn release_delivery(&self, key: DeliveryKey, due_at: Timestamp) -> Result<(), StoreError> {
        let quarantined = Change::Delete(keys::quarantined_delivery(key.org, key.endpoint, key.event));
        let mut changes = vec![quarantined];
        let is_open = |state| !matches!(state, DeliveryState::Delivered | DeliveryState::Held);
        if let Some(before) = self.delivery(key).await?.filter(|before| is_open(before.state())) {
            let after = before.replayed(due_at);
            changes.extend(next_state(key.org, &before, &after)?);
        }
        self.change(changes).await.map(|_| ())
    }

    /// Quarantines a delivery that can't be processed: the organization sees it, and it is due no more.
    pub async fn quarantine_delivery(
        &self,
        key: DeliveryKey,
        due_at: Timestamp,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let quarantined = to_item(
            keys::quarantined_delivery(key.org, key.endpoint, key.event),
            &Quarantined { event_id: key.event, at: now },
        )?;
        self.change([Change::Put(quarantined), Change::Delete(key.due(due_at))]).await.map(|_| ())
    }

    /// The next of an endpoint's deliveries that have not arrived and are not on their way, from an event on, of those in
    /// some states; in the order of the events, with the event to go on from, if there are more.
    pub async fn open_deliveries_from(
        &self,
        org: OrgId,
        endpoint: EndpointId,
        from: Uuid,
        states: &[DeliveryState],
    ) -> Result<(Vec<Versioned<Delivery>>, Option<Uuid>), StoreError> {
        let partition = keys::undelivered(org, endpoint);
        let names: Vec<&str> = states.iter().map(|state| state.as_str()).collect();
        let query = PartitionQuery {
            partition: &partition,
            from: &from.to_string(),
            to: LAST,
            condition: Some(OneOf { name: STATE, values: &names }),
            attributes: &[SORT],
            limit: Some(limits::SWEEP_ENTRIES_MAX),
            ..PartitionQuery::default()
        };
        let (rows, more) = self.items_between(query).await?;
        let events = rows.iter().filter_map(event_of);
        let keys: Vec<_> = events.map(|event| keys::delivery(org, endpoint, event)).collect();
        // One that can't be read does not keep the others.
        let found = self.get_all(&keys).await?.into_iter().filter_map(|item| from_versioned_item(item).ok());
        Ok((found.collect(), more.as_ref().and_then(event_of).map(|event| after(event.uuid()))))
    }

    /// The next of all of an endpoint's deliveries from an event on: which, and when each is due.
    pub async fn delivery_keys_from(
        &self,
        org: OrgId,
        endpoint: EndpointId,
        from: Uuid,
    ) -> Result<(Vec<(DeliveryKey, Option<Timestamp>)>, Option<Uuid>), StoreError> {
        let partition = keys::deliveries(org, endpoint);
        let query = PartitionQuery {
            partition: &partition,
            from: &from.to_string(),
            to: LAST,
            attributes: &[SORT, DUE_AT],
            limit: Some(limits::SWEEP_ENTRIES_MAX),
            ..PartitionQuery::default()
        };
        let (rows, more) = self.items_between(query).await?;
        let found = rows.iter().filter_map(|row| {
            let due_at = row.get(DUE_AT).and_then(|due| due.as_s().ok()?.parse().ok());
            Some((DeliveryKey { org, endpoint, event: event_of(row)? }, due_at))
        });
        Ok((found.collect(), more.as_ref().and_then(event_of).map(|event| after(event.uuid()))))
    }

    /// Removes what belongs to an endpoint that is gone.
    pub async fn forget_endpoint(&self, org: OrgId, endpoint: EndpointId) -> Result<(), StoreError> {
        let partition = keys::endpoints(org);
        let (from, to) = (format!("{endpoint}#"), format!("{endpoint}$"));
        let mut start = None;
        loop {
            let attributes = [PARTITION, SORT];
            let query = PartitionQuery {
                partition: &partition,
                from: &from,
                to: &to,
                attributes: &attributes,
                start,
                ..PartitionQuery::default()
            };
            let (items, more) = self.items_between(query).await?;
            for key in items.iter().filter_map(keys::Key::of) {
                self.remove(key).await?;
            }
            if more.is_none() {
                return Ok(());
            }
            start = more;
        }
    }

    /// Makes changes by themselves, without an audit row: only for deliveries, which follow from what was recorded.
    async fn change(&self, changes: impl IntoIterator<Item = Change>) -> Result<bool, StoreError> {
        let items = changes.into_iter().map(|change| change.into_write(self.table())).collect::<Result<_, _>>()?;
        Ok(self.transact(items).await? == Transacted::Committed)
    }
}

/// What a page of deliveries shows.
#[derive(Debug, Clone, Copy, Default)]
pub struct DeliveryFilter {
    /// In this state.
    pub state: Option<DeliveryState>,
    /// Of events of this type.
    pub event_type: Option<EventType>,
}

/// A page of an endpoint's deliveries.
#[derive(Debug, Clone, Default)]
pub struct DeliveryPage {
    /// The newest first.
    pub deliveries: Vec<Delivery>,
    /// The event to go on behind, if there may be more.
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

    /// The newest deliveries of an endpoint that fit, from before an event on. It looks at a bounded number of them: a
    /// page can have fewer than asked for, and more behind it.
    pub async fn deliveries(
        &self,
        endpoint: EndpointId,
        filter: DeliveryFilter,
        before: Option<EventId>,
        count: usize,
    ) -> Result<DeliveryPage, StoreError> {
        let partition = keys::deliveries(self.org, endpoint);
        let to = before.map_or_else(|| LAST.to_owned(), |before| before_id(before.uuid()).to_string());
        let states = filter.state.map(|state| [state.as_str()]);
        let wanted_type = filter.event_type.map(EventType::as_str);
        let mut page = DeliveryPage::default();
        let mut start = None;
        for _ in 0..limits::DELIVERY_QUERIES_MAX {
            let query = PartitionQuery {
                partition: &partition,
                from: FIRST,
                to: &to,
                backward: true,
                condition: states.as_ref().map(|values| OneOf { name: STATE, values }),
                start,
                ..PartitionQuery::default()
            };
            let (items, more) = self.store.items_between(query).await?;
            for item in items {
                if wanted_type.is_some_and(|wanted| text(&item, TYPE) != Some(wanted)) {
                    continue;
                }
                if page.deliveries.len() == count {
                    page.next = page.deliveries.last().map(|last: &Delivery| last.event_id);
                    return Ok(page);
                }
                // One that can't be read does not keep the page.
                page.deliveries.extend(from_item::<Delivery>(item).ok());
            }
            if more.is_none() {
                page.next = None;
                return Ok(page);
            }
            page.next = more.as_ref().and_then(|key| key.get(SORT)?.as_s().ok()?.parse().ok());
            start = more;
        }
        Ok(page)
    }

    /// What of events since a moment an endpoint has not got, though it was attempted, or could not be processed.
    pub async fn undelivered(
        &self,
        endpoint: EndpointId,
        quarantined: &[Quarantined],
        since: Timestamp,
    ) -> Result<Undelivered, StoreError> {
        let partition = keys::undelivered(self.org, endpoint);
        let from = first_id_at(since).to_string();
        let states: Vec<&str> = undelivered().map(DeliveryState::as_str).collect();
        let mut quarantined: BTreeSet<Uuid> = quarantined
            .iter()
            .map(|quarantined| quarantined.event_id.uuid())
            .filter(|id| first_id_at(since) <= *id)
            .collect();
        let mut found = Undelivered::default();
        let mut start = None;
        loop {
            let query = PartitionQuery {
                partition: &partition,
                from: &from,
                to: LAST,
                condition: Some(OneOf { name: STATE, values: &states }),
                attributes: &[SORT],
                start,
                ..PartitionQuery::default()
            };
            let (items, more) = self.store.items_between(query).await?;
            found.count += items.len() as u64;
            let mut ids = items.iter().filter_map(|item| item.get(SORT)?.as_s().ok()?.parse::<Uuid>().ok()).peekable();
            found.earliest = found.earliest.or(ids.peek().copied().and_then(moment_of));
            ids.for_each(|id| {
                quarantined.remove(&id);
            });
            if more.is_none() {
                found.count += quarantined.len() as u64;
                found.earliest =
                    found.earliest.into_iter().chain(quarantined.first().copied().and_then(moment_of)).min();
                return Ok(found);
            }
            start = more;
        }
    }
}

/// What an endpoint has not got.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Undelivered {
    /// How many events.
    pub count: u64,
    /// When the first of them happened.
    pub earliest: Option<Timestamp>,
}

/// The states that a replay of what is undelivered is for.
pub(crate) fn undelivered() -> impl Iterator<Item = DeliveryState> {
    DeliveryState::ALL.into_iter().filter(|state| state.is_undelivered())
}

/// The changes that send a delivery again, and take it out of quarantine.
pub fn replay(call: &CallContext, before: &Versioned<Delivery>, after: &Delivery) -> Result<Changes, StoreError> {
    let org = call.org();
    let mut changes = next_state(org, before, after)?;
    changes.push(Change::Delete(keys::quarantined_delivery(org, after.endpoint_id, after.event_id)));
    Ok(Changes::of(call, changes))
}

/// The changes that give a delivery its next state, with its place on the due index.
fn next_state(org: OrgId, before: &Versioned<Delivery>, after: &Delivery) -> Result<Vec<Change>, StoreError> {
    let key = key_of(org, after);
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
    let (was_due, is_due) = (before.due_at(), after.due_at());
    if was_due != is_due {
        changes.extend(was_due.map(|at| Change::Delete(key.due(at))));
        changes.extend(is_due.map(|at| Change::Put(key.due(at).into_item())));
    }
    Ok(changes)
}

/// The row of a delivery that has not arrived and is not on its way.
fn open_row(key: DeliveryKey, state: DeliveryState) -> Item {
    let mut row = keys::undelivered_row(key.org, key.endpoint, key.event).into_item();
    row.insert(STATE.to_owned(), AttributeValue::S(state.as_str().to_owned()));
    row
}

/// The event that a row is of.
fn event_of(row: &Item) -> Option<EventId> {
    row.get(SORT)?.as_s().ok()?.parse().ok()
}

fn key_of(org: OrgId, delivery: &Delivery) -> DeliveryKey {
    DeliveryKey { org, endpoint: delivery.endpoint_id, event: delivery.event_id }
}

/// Less and greater than every id.
const FIRST: &str = "0";
const LAST: &str = "g";

/// The least id of a moment: ids begin with their time.
pub(crate) fn first_id_at(at: Timestamp) -> Uuid {
    let ms = u64::try_from(at.unix_ms()).unwrap_or_default();
    Uuid::from_u128(u128::from(ms) << 80)
}

/// The moment of an id.
fn moment_of(id: Uuid) -> Option<Timestamp> {
    let ms = i64::try_from(id.as_u128() >> 80).ok()?;
    Timestamp::from_unix_ms(ms).ok()
}

fn after(id: Uuid) -> Uuid {
    Uuid::from_u128(id.as_u128().saturating_add(1))
}

fn before_id(id: Uuid) -> Uuid {
    Uuid::from_u128(id.as_u128().saturating_sub(1))
}
