//! Deliveries in memory, with the store's own conditions: for the sender by itself, simulated or measured.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::json;
use shared::crypto::keyring::Keyring;
use shared::crypto::signing_secret::SigningSecret;
use shared::domain::delivery::{Claim, Delivery};
use shared::domain::endpoint::Endpoint;
use shared::domain::event::EventType;
use shared::domain::ids::{EndpointId, EventId, OrgId};
use shared::domain::time::Timestamp;
use shared::store::deliveries::DeliveryKey;
use shared::store::events::StoredEvent;
use shared::store::{StoreError, Versioned};
use shared::webhook::queue::DeliveryMessage;
use webhook_sender::DeliveryStore;

/// The deliveries of one organization.
#[derive(Debug, Clone)]
pub struct Memory {
    /// Whose they are.
    pub org: OrgId,
    kept: Arc<Mutex<Kept>>,
}

#[derive(Debug, Default)]
struct Kept {
    endpoints: HashMap<EndpointId, Versioned<Endpoint>>,
    events: HashMap<EventId, StoredEvent>,
    deliveries: HashMap<DeliveryKey, Versioned<Delivery>>,
    due: BTreeSet<(Timestamp, EventId, EndpointId)>,
    aside: HashSet<DeliveryKey>,
    health: HashMap<EndpointId, (u64, u64)>,
    /// The deliveries that have become due since the last question.
    heard: Vec<DeliveryMessage>,
}

impl Default for Memory {
    fn default() -> Self {
        Self { org: OrgId::new(), kept: Arc::default() }
    }
}

impl Memory {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An endpoint that is told everything. It is read as the store would, since only members make new ones.
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
        self.kept().endpoints.insert(id, Versioned::new(value, 1));
        id
    }

    /// An event, on its way to an endpoint from now on.
    #[must_use]
    pub fn add_delivery(&self, endpoint: EndpointId, body: String, now: Timestamp) -> DeliveryKey {
        let (event, event_type) = (EventId::new(), EventType::ProposalCreated);
        let key = DeliveryKey { org: self.org, endpoint, event };
        let mut kept = self.kept();
        kept.events.insert(event, StoredEvent { id: event, event_type, created_at: now, body, only: None });
        let value = Delivery::new(endpoint, event, event_type, now, now);
        kept.put(key, value, 1);
        key
    }

    /// Loses an event, which must not happen.
    pub fn lose_event(&self, event: EventId) {
        self.kept().events.remove(&event);
    }

    /// A delivery.
    #[must_use]
    pub fn delivery(&self, key: DeliveryKey) -> Option<Delivery> {
        self.kept().deliveries.get(&key).map(|found| Delivery::clone(found))
    }

    /// Whether a delivery was put aside.
    #[must_use]
    pub fn is_aside(&self, key: DeliveryKey) -> bool {
        self.kept().aside.contains(&key)
    }

    /// The messages that the clock would send: those of due deliveries.
    #[must_use]
    pub fn due(&self, now: Timestamp) -> Vec<DeliveryMessage> {
        let kept = self.kept();
        let due = kept.due.iter().take_while(|(at, ..)| *at <= now);
        let wake = |(due_at, event, endpoint): &(Timestamp, EventId, EndpointId)| DeliveryMessage {
            delivery: DeliveryKey { org: self.org, endpoint: *endpoint, event: *event },
            due_at: *due_at,
        };
        due.map(wake).collect()
    }

    /// When the next delivery is due.
    #[must_use]
    pub fn next_due(&self) -> Option<Timestamp> {
        self.kept().due.first().map(|(at, ..)| *at)
    }

    /// What was written down as due since the last call: what the table's stream tells of.
    #[must_use]
    pub fn heard(&self) -> Vec<DeliveryMessage> {
        std::mem::take(&mut self.kept().heard)
    }

    /// Attempts at an endpoint that have succeeded and failed, as far as they were noted.
    #[must_use]
    pub fn health(&self, endpoint: EndpointId) -> (u64, u64) {
        self.kept().health.get(&endpoint).copied().unwrap_or_default()
    }
}

impl Kept {
    /// Writes a delivery and its place in what is due.
    fn put(&mut self, key: DeliveryKey, value: Delivery, version: u64) {
        let due_at = value.due_at();
        let before = self.deliveries.insert(key, Versioned::new(value, version)).and_then(|before| before.due_at());
        if before == due_at {
            return;
        }
        if let Some(at) = before {
            self.due.remove(&(at, key.event, key.endpoint));
        }
        if let Some(due_at) = due_at {
            self.due.insert((due_at, key.event, key.endpoint));
            self.heard.push(DeliveryMessage { delivery: key, due_at });
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
        let mut kept = self.kept();
        let Some(found) = kept.deliveries.get_mut(&wake.delivery) else { return Ok(None) };
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
        let kept = self.kept();
        let (endpoint, event) = (kept.endpoints.get(&wake.delivery.endpoint), kept.events.get(&wake.delivery.event));
        Ok((endpoint.cloned(), event.cloned()))
    }

    async fn get(&self, wake: DeliveryMessage) -> Result<Option<Versioned<Delivery>>, StoreError> {
        Ok(self.kept().deliveries.get(&wake.delivery).cloned())
    }

    async fn update(
        &self,
        wake: DeliveryMessage,
        before: &Versioned<Delivery>,
        after: &Delivery,
        decided_from: Option<&Versioned<Endpoint>>,
    ) -> Result<bool, StoreError> {
        let mut kept = self.kept();
        let is_current = kept.deliveries.get(&wake.delivery).is_some_and(|found| found.version() == before.version());
        let is_decided = decided_from.is_none_or(|endpoint| {
            kept.endpoints.get(&endpoint.id()).is_some_and(|found| found.version() == endpoint.version())
        });
        if !(is_current && is_decided) {
            return Ok(false);
        }
        kept.put(wake.delivery, after.clone(), before.version() + 1);
        Ok(true)
    }

    async fn delete(&self, wake: DeliveryMessage, due_at: Option<Timestamp>) -> Result<bool, StoreError> {
        let mut kept = self.kept();
        if let Some(at) = due_at {
            kept.due.remove(&(at, wake.delivery.event, wake.delivery.endpoint));
        }
        Ok(kept.deliveries.remove(&wake.delivery).is_some())
    }

    async fn delete_due_entry(&self, wake: DeliveryMessage) -> Result<(), StoreError> {
        self.kept().due.remove(&(wake.due_at, wake.delivery.event, wake.delivery.endpoint));
        Ok(())
    }

    async fn quarantine(&self, wake: DeliveryMessage, _now: Timestamp) -> Result<(), StoreError> {
        let mut kept = self.kept();
        kept.aside.insert(wake.delivery);
        kept.due.remove(&(wake.due_at, wake.delivery.event, wake.delivery.endpoint));
        Ok(())
    }

    async fn record_health(&self, wake: DeliveryMessage, is_success: bool, _at: Timestamp) -> Result<(), StoreError> {
        let mut kept = self.kept();
        let (arrived, failed) = kept.health.entry(wake.delivery.endpoint).or_default();
        *(if is_success { arrived } else { failed }) += 1;
        Ok(())
    }
}
