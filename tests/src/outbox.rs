//! Writes events and deliveries directly: many at once, for any time, without telling the relay.

use aws_sdk_dynamodb::types::{PutRequest, WriteRequest};
use shared::domain::delivery::Delivery;
use shared::domain::event::{Authorization, Event, EventKind, WorkspaceData};
use shared::domain::ids::{EndpointId, EventId, WorkspaceId};
use shared::domain::shards::DueShards;
use shared::domain::time::Timestamp;
use shared::store::Item;
use shared::store::deliveries::DeliveryKey;
use shared::store::events::StoredEvent;
use shared::store::keys::{self, Due};
use uuid::Uuid;

use crate::org::Org;

/// An event of now, with a matching id.
#[must_use]
pub fn event() -> StoredEvent {
    let now = Timestamp::now();
    stored(&Event::new(activation(), now, DueShards::FEWEST))
}

/// An event of another time.
#[must_use]
pub fn event_at(at: Timestamp) -> StoredEvent {
    let ms = u64::try_from(at.unix_ms()).expect("a time since 1970");
    let mut random: [u8; 10] = *Uuid::new_v4().as_bytes().first_chunk().expect("16 bytes");
    random[9] = EventId::in_any_of(DueShards::FEWEST).due_shard();
    let id: EventId = uuid::Builder::from_unix_timestamp_millis(ms, &random).into_uuid().into();
    let mut event = Event::new(activation(), at, DueShards::FEWEST);
    event.id = id;
    stored(&event)
}

fn activation() -> EventKind {
    let authorization = Authorization::Direct;
    EventKind::WorkspaceActivated(WorkspaceData { workspace_id: WorkspaceId::new(), authorization })
}

fn stored(event: &Event) -> StoredEvent {
    let body = serde_json::to_string(event).expect("an event as JSON");
    StoredEvent { id: event.id, event_type: event.event_type(), created_at: event.created_at, body, only: None }
}

/// Writes events into the outbox without telling the relay.
pub async fn emit(org: &Org, events: &[StoredEvent]) {
    insert_relayed(org, events).await;
    let due = |event: &StoredEvent| keys::due(event.created_at, Due::Event, org.id, event.id.uuid()).into_item();
    put(org, events.iter().map(due)).await;
}

/// Writes events as relayed, without deliveries.
pub async fn insert_relayed(org: &Org, events: &[StoredEvent]) {
    let row = |event: &StoredEvent| {
        let mut item: Item = serde_dynamo::aws_sdk_dynamodb_1::to_item(event).expect("an event as an item");
        keys::event(org.id, event.id).insert_into(&mut item);
        item
    };
    put(org, events.iter().map(row)).await;
}

/// Deletes an event but not its deliveries.
pub async fn delete_event(org: &Org, event: &StoredEvent) {
    let table = org.stack().table();
    let key = Some(keys::event(org.id, event.id).into_item());
    table.client().delete_item().table_name(&table.name).set_key(key).send().await.expect("it goes");
}

/// `DynamoDB`'s limit on items per batch.
const BATCH: usize = 25;

pub(crate) async fn put(org: &Org, items: impl IntoIterator<Item = Item>) {
    let (table, client) = (org.stack().table(), org.stack().table().client());
    let put = |item| PutRequest::builder().set_item(Some(item)).build().expect("an item");
    let puts: Vec<WriteRequest> =
        items.into_iter().map(|item| WriteRequest::builder().put_request(put(item)).build()).collect();
    for batch in puts.chunks(BATCH) {
        let written = client.batch_write_item().request_items(&table.name, batch.to_vec()).send().await;
        let left = written.expect("the table takes it").unprocessed_items.unwrap_or_default();
        assert!(left.is_empty(), "the table has left something out");
    }
}

/// Writes a delivery in any state.
pub async fn deliver(
    org: &Org,
    endpoint: EndpointId,
    event: &StoredEvent,
    change: impl FnOnce(&mut Delivery),
) -> Delivery {
    let (store, now) = (org.store(), Timestamp::now());
    let key = DeliveryKey { org: org.id, endpoint, event: event.id };
    let new = Delivery::new(endpoint, event.id, event.event_type, event.created_at, now);
    store.create_delivery(key, &new, now).await.expect("the table takes it");
    let mut after = new.clone();
    change(&mut after);
    if after != new {
        let before = store.delivery(key).await.expect("the table answers").expect("a delivery");
        assert!(store.settle_delivery(org.id, &before, &after).await.expect("the table takes it"));
    }
    after
}
