//! Endpoints: an organization has few, so they are in one partition, with how each has done lately beside it.

use aws_sdk_dynamodb::types::AttributeValue;
use serde::{Deserialize, Serialize};

use super::change::{Change, Changes, Update};
use super::item::{Item, from_item, from_versioned_item, text, to_versioned_item};
use super::keys::{self, Due, HEALTH, QUARANTINED, REPLAY, SORT};
use super::list::Order;
use super::{OrgStore, Store, StoreError, Versioned};
use crate::domain::call_context::CallContext;
use crate::domain::endpoint::{Endpoint, Health};
use crate::domain::ids::{EndpointId, EventId, OrgId};
use crate::domain::member::Admin;
use crate::domain::time::Timestamp;
use crate::limits;

/// The attribute of the set of endpoints.
const IDS: &str = "ids";

/// An endpoint with how it does.
#[derive(Debug, Clone)]
pub struct EndpointState {
    /// The endpoint.
    pub endpoint: Versioned<Endpoint>,
    /// How it has done lately.
    pub health: Health,
    /// The replay that goes on, if one does.
    pub replay: Option<Replay>,
    /// Deliveries that could not be processed: the service is at fault.
    pub quarantined: Vec<Quarantined>,
}

impl EndpointState {
    /// Whether somebody should look at it: it is not paused, and its last attempt failed or the service has stumbled
    /// over a delivery.
    #[must_use]
    pub fn is_failing(&self) -> bool {
        let has_trouble = self.health.failures_in_a_row > 0 || !self.quarantined.is_empty();
        has_trouble && self.endpoint.paused_at().is_none()
    }
}

/// A replay of what an endpoint has not got, as a member asked for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replay {
    /// Of events from this moment on.
    pub since: Timestamp,
    /// Asked for then: what has been attempted later is left alone.
    pub asked_at: Timestamp,
}

impl Replay {
    /// What tells it from a later one.
    fn version(&self) -> u64 {
        u64::try_from(self.asked_at.unix_ms()).unwrap_or_default()
    }
}

/// A delivery that could not be processed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quarantined {
    /// Of which event.
    pub event_id: EventId,
    /// Since when.
    pub at: Timestamp,
}

impl Store {
    /// The endpoints of an organization, the oldest first.
    pub async fn endpoints(&self, org: OrgId) -> Result<Vec<EndpointState>, StoreError> {
        let mut items = Vec::new();
        self.scan_partition(&keys::endpoints(org), Order::OldestFirst, &[], |item| items.push(item)).await?;
        assemble(items)
    }

    /// An endpoint.
    pub async fn endpoint(&self, org: OrgId, id: EndpointId) -> Result<Option<Versioned<Endpoint>>, StoreError> {
        self.get(keys::endpoint(org, id)).await?.map(from_versioned_item).transpose()
    }

    /// The replay of an endpoint that goes on.
    pub async fn endpoint_replay(&self, org: OrgId, id: EndpointId) -> Result<Option<Replay>, StoreError> {
        self.get(keys::endpoint_replay(org, id)).await?.map(from_item).transpose()
    }

    /// Ends the replay of an endpoint, unless another one was asked for meanwhile.
    pub async fn end_endpoint_replay(&self, org: OrgId, id: EndpointId, replay: &Replay) -> Result<(), StoreError> {
        let ended = Change::DeleteVersion(keys::endpoint_replay(org, id), replay.version());
        self.transact(vec![ended.into_write(self.table())?]).await.map(|_| ())
    }

    /// Notes how an attempt has ended. Not in the transaction of its delivery, so that attempts don't meet there.
    pub async fn note_health(
        &self,
        org: OrgId,
        id: EndpointId,
        is_success: bool,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let at = AttributeValue::S(at.to_string());
        let number = |number: &str| AttributeValue::N(number.to_owned());
        let key = keys::endpoint_health(org, id);
        let update = if is_success {
            Update {
                key,
                expression: "SET #success = :at, #row = :none",
                condition: "",
                names: vec![("#success", "last_success_at"), ("#row", "failures_in_a_row")],
                values: vec![(":at", at), (":none", number("0"))],
            }
        } else {
            Update {
                key,
                expression: "SET #failure = :at ADD #row :one",
                condition: "",
                names: vec![("#failure", "last_failure_at"), ("#row", "failures_in_a_row")],
                values: vec![(":at", at), (":one", number("1"))],
            }
        };
        self.update(update).await.map(|_| ())
    }
}

impl OrgStore {
    /// The organization's endpoints with how they do, the oldest first.
    pub async fn endpoints(&self) -> Result<Vec<EndpointState>, StoreError> {
        self.store.endpoints(self.org).await
    }
}

/// Puts the items of the partition together. They come in order: an endpoint before what belongs to it. What belongs to
/// none (a note of an attempt that ended after its endpoint was deleted) is left out.
fn assemble(items: Vec<Item>) -> Result<Vec<EndpointState>, StoreError> {
    let mut found: Vec<EndpointState> = Vec::new();
    for item in items {
        let sort = text(&item, SORT).unwrap_or_default().to_owned();
        let Some((id, _)) = sort.split_once('#') else {
            let endpoint = from_versioned_item(item)?;
            found.push(EndpointState { endpoint, health: Health::default(), replay: None, quarantined: Vec::new() });
            continue;
        };
        let last = found.last_mut().filter(|state| state.endpoint.id().to_string() == id);
        let Some(state) = last else { continue };
        if sort.ends_with(HEALTH) {
            state.health = from_item(item)?;
        } else if sort.ends_with(REPLAY) {
            state.replay = Some(from_item(item)?);
        } else if sort.contains(QUARANTINED) {
            state.quarantined.push(from_item(item)?);
        }
    }
    Ok(found)
}

/// The changes that add an endpoint. They hold only while there is room for one.
pub fn create(call: &CallContext, _by: Admin<'_>, endpoint: &Endpoint) -> Result<Changes, StoreError> {
    let org = call.org();
    let item = to_versioned_item(keys::endpoint(org, endpoint.id()), endpoint, 1)?;
    Ok(Changes::of(call, [Change::Create(item), join(org, endpoint.id())]))
}

/// The changes that give an endpoint its next state. Deliveries that have to follow it do so afterwards.
pub fn replace(
    call: &CallContext,
    _by: Admin<'_>,
    before: &Versioned<Endpoint>,
    after: &Endpoint,
) -> Result<Changes, StoreError> {
    let org = call.org();
    let item = to_versioned_item(keys::endpoint(org, after.id()), after, before.version() + 1)?;
    let mut changes = vec![Change::Replace(item, before.version())];
    if before.paused_at().is_some() && after.paused_at().is_none() {
        changes.push(follow_up(org, after.id(), after.updated_at()));
    }
    Ok(Changes::of(call, changes))
}

/// The changes that delete an endpoint. Its deliveries go afterwards.
pub fn delete(call: &CallContext, _by: Admin<'_>, before: &Versioned<Endpoint>) -> Changes {
    let (org, id) = (call.org(), before.id());
    let deleted = Change::DeleteVersion(keys::endpoint(org, id), before.version());
    Changes::of(call, [deleted, leave(org, id), follow_up(org, id, call.now())])
}

/// The endpoints are a set too, for the limit: admins who add one at the same moment meet there.
fn join(org: OrgId, id: EndpointId) -> Change {
    Change::Update(Update {
        key: keys::endpoint_ids(org),
        expression: "ADD #ids :id",
        condition: "attribute_not_exists(#ids) OR size(#ids) < :max",
        names: vec![("#ids", IDS)],
        values: vec![
            (":id", AttributeValue::Ss(vec![id.to_string()])),
            (":max", AttributeValue::N(limits::ENDPOINTS_MAX.to_string())),
        ],
    })
}

/// The change that takes an endpoint out of the set.
fn leave(org: OrgId, id: EndpointId) -> Change {
    Change::Update(Update {
        key: keys::endpoint_ids(org),
        expression: "DELETE #ids :id",
        condition: "",
        names: vec![("#ids", IDS)],
        values: vec![(":id", AttributeValue::Ss(vec![id.to_string()]))],
    })
}

/// The changes that ask for a replay of what an endpoint has not received.
pub fn request_replay(
    call: &CallContext,
    _by: Admin<'_>,
    id: EndpointId,
    replay: &Replay,
) -> Result<Changes, StoreError> {
    let org = call.org();
    let item = to_versioned_item(keys::endpoint_replay(org, id), replay, replay.version())?;
    Ok(Changes::of(call, [Change::Put(item), follow_up(org, id, replay.asked_at)]))
}

/// What has to follow is on the due index until it has.
fn follow_up(org: OrgId, id: EndpointId, now: Timestamp) -> Change {
    Change::Put(keys::due_anew(now, Due::Endpoint, org, id.uuid()).into_item())
}
