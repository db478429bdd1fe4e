//! Deliveries in memory, under the store's conditions, to simulate or measure the sender alone.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::json;
use shared::crypto::keyring::Keyring;
use shared::crypto::signing_secret::SigningSecret;
use shared::domain::delivery::{Claim, Delivery, DeliveryState};
use shared::domain::endpoint::Endpoint;
use shared::domain::event::EventType;
use shared::domain::ids::{EndpointId, EventId, OrgId};
use shared::domain::time::Timestamp;
use shared::store::deliveries::DeliveryKey;
use shared::store::events::StoredEvent;
use shared::store::{StoreError, Versioned};
use shared::webhook::queue::DeliveryMessage;
use webhook_sender::DeliveryStore;

/// One organization's deliveries.
#[derive(Debug, Clone)]
pub struct Memory {
    /// The organization.
    pub org: OrgId,
    records: Arc<Mutex<Records>>,
}

#[derive(Debug, Default)]
struct Records {
    endpoints: HashMap<EndpointId, Versioned<Endpoint>>,
    events: HashMap<EventId, StoredEvent>,
    deliveries: HashMap<DeliveryKey, Versioned<Delivery>>,
    /// With the moment when a delivery's message is sent again.
    due: BTreeMap<(Timestamp, EventId, EndpointId), Option<Timestamp>>,
    quarantined: HashSet<DeliveryKey>,
    health: HashMap<EndpointId, (u64, u64)>,
    due_messages: Vec<DeliveryMessage>,
}

impl Default for Memory {
    fn default() -> Self {
        Self { org: OrgId::new(), records: Arc::default() }
    }
}

impl Memory {
    fn records(&self) -> MutexGuard<'_, Records> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an endpoint that subscribes to all events. Deserialized, since only members create endpoints.
    #[must_use]
    pub fn add_endpoint(&self, url: &str, keys: &Keyring) -> EndpointId {
        let id = EndpointId::new();
        let secret = SigningSecret::generate().expect("randomness").expose();
        let secret = keys.seal(&secret, &format!("signing secret of {id} of {}", self.org)).expect("a sealed secret");
        let at = Timestamp::from_unix_ms(0).expect("a moment");
        let written = json!({
            "id": id, "url": url, "events": "all", "secret": secret, "created_at": at, "updated_at": at,
            "created_by": {"type": "member", "id": uuid::Uuid::now_v7(), "display_name": "Ines Duarte"},
        });
        let value = serde_json::from_value(written).expect("an endpoint");
        self.records().endpoints.insert(id, Versioned::new(value, 1));
        id
    }

    /// Adds an event on its way to an endpoint.
    #[must_use]
    pub fn add_delivery(&self, endpoint: EndpointId, body: String, now: Timestamp) -> DeliveryKey {
        let (event, event_type) = (EventId::new(), EventType::ProposalCreated);
        let key = DeliveryKey { org: self.org, endpoint, event };
        let mut records = self.records();
        records.events.insert(event, StoredEvent { id: event, event_type, created_at: now, body, only: None });
        let value = Delivery::new(endpoint, event, event_type, now, now);
        records.put(key, value, 1);
        key
    }

    /// Pauses an endpoint at a moment, or resumes it.
    pub fn set_paused(&self, id: EndpointId, at: Option<Timestamp>) {
        let mut records = self.records();
        let endpoint = records.endpoints.get_mut(&id).expect("an endpoint");
        let mut written = serde_json::to_value(&**endpoint).expect("an endpoint");
        written["paused_at"] = json!(at);
        *endpoint = Versioned::new(serde_json::from_value(written).expect("an endpoint"), endpoint.version() + 1);
    }

    /// Queues the held deliveries of an endpoint again, unless it is paused: what the relay does after a resume.
    pub fn resume_held(&self, id: EndpointId, now: Timestamp) {
        let mut records = self.records();
        if records.endpoints[&id].holds_deliveries() {
            return;
        }
        let held: Vec<_> = records.deliveries.iter().filter(|(key, _)| key.endpoint == id).collect();
        let resumed = held.into_iter().filter_map(|(key, held)| Some((*key, held.resumed(now)?, held.version() + 1)));
        for (key, after, version) in resumed.collect::<Vec<_>>() {
            records.put(key, after, version);
        }
    }

    /// Deletes an event but not its deliveries, which the service never does.
    pub fn delete_event(&self, event: EventId) {
        self.records().events.remove(&event);
    }

    /// A delivery.
    #[must_use]
    pub fn delivery(&self, key: DeliveryKey) -> Option<Delivery> {
        self.records().deliveries.get(&key).map(|found| Delivery::clone(found))
    }

    /// Whether a delivery was quarantined.
    #[must_use]
    pub fn is_quarantined(&self, key: DeliveryKey) -> bool {
        self.records().quarantined.contains(&key)
    }

    /// The messages that the clock would send, for due deliveries.
    #[must_use]
    pub fn due(&self, now: Timestamp) -> Vec<DeliveryMessage> {
        let records = self.records();
        let due = records.due.iter().take_while(|((at, ..), _)| *at <= now);
        let unsent = due.filter(|(_, resend_at)| resend_at.is_none_or(|at| at <= now));
        let wake = |(due_at, event, endpoint): &(Timestamp, EventId, EndpointId)| DeliveryMessage {
            delivery: DeliveryKey { org: self.org, endpoint: *endpoint, event: *event },
            due_at: *due_at,
        };
        unsent.map(|(entry, _)| wake(entry)).collect()
    }

    /// Notes, as the clock does, that a message is on its way.
    pub fn set_resend_at(&self, wake: DeliveryMessage, at: Timestamp) {
        if let Some(entry) = self.records().due.get_mut(&(wake.due_at, wake.delivery.event, wake.delivery.endpoint)) {
            *entry = Some(at);
        }
    }

    /// When the next delivery is due.
    #[must_use]
    pub fn next_due(&self) -> Option<Timestamp> {
        self.records().due.first_key_value().map(|((at, ..), _)| *at)
    }

    /// The messages that became due since the last call, as the table's stream reports them.
    #[must_use]
    pub fn take_due_messages(&self) -> Vec<DeliveryMessage> {
        std::mem::take(&mut self.records().due_messages)
    }

    /// Counts of successful and failed attempts at an endpoint.
    #[must_use]
    pub fn health(&self, endpoint: EndpointId) -> (u64, u64) {
        self.records().health.get(&endpoint).copied().unwrap_or_default()
    }
}

impl Records {
    fn put(&mut self, key: DeliveryKey, value: Delivery, version: u64) {
        let (due_at, is_held) = (value.due_at(), value.state() == DeliveryState::Held);
        let before = self.deliveries.insert(key, Versioned::new(value, version)).and_then(|before| before.due_at());
        // The entry of one that is held stays.
        let due_at = if is_held { before } else { due_at };
        if before == due_at {
            return;
        }
        if let Some(at) = before {
            self.due.remove(&(at, key.event, key.endpoint));
        }
        if let Some(due_at) = due_at {
            self.due.insert((due_at, key.event, key.endpoint), None);
            self.due_messages.push(DeliveryMessage { delivery: key, due_at });
        }
    }
}

impl DeliveryStore for Memory {
    async fn claim(
        &self,
        wake: DeliveryMessage,
        claim: Claim,
        now: Timestamp,
    ) -> Result<Option<Versioned<Delivery>>, StoreError> {
        let mut records = self.records();
        let Some(found) = records.deliveries.get_mut(&wake.delivery) else { return Ok(None) };
        if !found.is_claimable(now) {
            return Ok(None);
        }
        *found = Versioned::new(found.claimed(claim), found.version() + 1);
        Ok(Some(found.clone()))
    }

    async fn load(
        &self,
        wake: DeliveryMessage,
    ) -> Result<(Option<Versioned<Endpoint>>, Option<StoredEvent>), StoreError> {
        let records = self.records();
        let (endpoint, event) =
            (records.endpoints.get(&wake.delivery.endpoint), records.events.get(&wake.delivery.event));
        Ok((endpoint.cloned(), event.cloned()))
    }

    async fn get(&self, wake: DeliveryMessage) -> Result<Option<Versioned<Delivery>>, StoreError> {
        Ok(self.records().deliveries.get(&wake.delivery).cloned())
    }

    async fn update(
        &self,
        wake: DeliveryMessage,
        before: &Versioned<Delivery>,
        after: &Delivery,
    ) -> Result<bool, StoreError> {
        let mut records = self.records();
        let is_current =
            records.deliveries.get(&wake.delivery).is_some_and(|found| found.version() == before.version());
        if !is_current {
            return Ok(false);
        }
        records.put(wake.delivery, after.clone(), before.version() + 1);
        Ok(true)
    }

    async fn delete(&self, wake: DeliveryMessage, due_at: Option<Timestamp>) -> Result<bool, StoreError> {
        let mut records = self.records();
        if let Some(at) = due_at {
            records.due.remove(&(at, wake.delivery.event, wake.delivery.endpoint));
        }
        Ok(records.deliveries.remove(&wake.delivery).is_some())
    }

    async fn delete_due_entry(&self, wake: DeliveryMessage) -> Result<(), StoreError> {
        self.records().due.remove(&(wake.due_at, wake.delivery.event, wake.delivery.endpoint));
        Ok(())
    }

    async fn quarantine(&self, wake: DeliveryMessage, _now: Timestamp) -> Result<(), StoreError> {
        let mut records = self.records();
        records.quarantined.insert(wake.delivery);
        records.due.remove(&(wake.due_at, wake.delivery.event, wake.delivery.endpoint));
        Ok(())
    }

    async fn record_health(&self, wake: DeliveryMessage, is_success: bool, _at: Timestamp) -> Result<(), StoreError> {
        let mut records = self.records();
        let (arrived, failed) = records.health.entry(wake.delivery.endpoint).or_default();
        *(if is_success { arrived } else { failed }) += 1;
        Ok(())
    }
}
