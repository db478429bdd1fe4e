//! The outbox: a change's transaction writes its event, due until relayed, with the bytes that every attempt sends.
//!
//! Decision: each event is due for itself, also where a transaction writes several. Its entry says whether it was relayed,
//! and leaves with its deliveries. One entry for all could leave only after the last, so something would have to keep
//! which of them were relayed; it would save papering 25 items 48 write units, and most transactions nothing.

use serde::{Deserialize, Serialize};

use super::change::Change;
use super::item::{from_item, to_item};
use super::keys::{self, Due};
use super::{OrgStore, Store, StoreError};
use crate::domain::endpoint::Endpoint;
use crate::domain::event::{Event, EventType};
use crate::domain::ids::{EndpointId, EventId, OrgId};
use crate::domain::time::Timestamp;

/// An event as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredEvent {
    /// Its id.
    pub id: EventId,
    /// Its type.
    #[serde(rename = "type")]
    pub event_type: EventType,
    /// When it happened.
    pub created_at: Timestamp,
    /// The body of its deliveries.
    pub body: String,
    /// The only endpoint that gets it, if it is a test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<EndpointId>,
}

impl StoredEvent {
    /// Whether an endpoint gets it.
    #[must_use]
    pub fn is_for(&self, endpoint: &Endpoint) -> bool {
        match self.only {
            Some(only) => endpoint.id() == only,
            None => endpoint.wants(self.event_type, self.created_at),
        }
    }
}

impl Store {
    /// An event.
    pub async fn event(&self, org: OrgId, id: EventId) -> Result<Option<StoredEvent>, StoreError> {
        self.get(keys::event(org, id)).await?.map(from_item).transpose()
    }
}

impl OrgStore {
    /// An event.
    pub async fn event(&self, id: EventId) -> Result<Option<StoredEvent>, StoreError> {
        self.store.event(self.org, id).await
    }

    /// Whether an event is on the due index: the relay has not made its deliveries yet.
    pub(crate) async fn is_to_be_relayed(&self, event: &StoredEvent) -> Result<bool, StoreError> {
        let due = keys::due(event.created_at, Due::Event, self.org, event.id.uuid());
        Ok(self.store.get(due).await?.is_some())
    }

    /// The events with these ids. Skips missing ones.
    pub async fn events(&self, ids: impl IntoIterator<Item = EventId>) -> Result<Vec<StoredEvent>, StoreError> {
        let keys: Vec<_> = ids.into_iter().map(|id| keys::event(self.org, id)).collect();
        self.store.get_all(&keys).await?.into_iter().map(from_item).collect()
    }
}

pub(super) fn emit(org: OrgId, event: &Event, only: Option<EndpointId>) -> Result<[Change; 2], StoreError> {
    let body =
        serde_json::to_string(event).map_err(|error| StoreError::Failed(format!("encoding an event: {error}")))?;
    let stored = StoredEvent { id: event.id, event_type: event.event_type(), created_at: event.created_at, body, only };
    let item = to_item(keys::event(org, event.id), &stored)?;
    let due = keys::due(event.created_at, Due::Event, org, event.id.uuid());
    Ok([Change::Create(item), Change::Put(due.into_item())])
}
