//! Endpoints. An organization has few, so they share one partition with their health.

use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::future::try_join_all;
use futures_util::try_join;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::change::{Change, Changes, Update};
use super::item::{Item, from_item, from_versioned_item, to_versioned_item};
use super::keys::{self, Due, Key};
use super::query::{Query, QueryPage, after};
use super::record_kind::{Place, RecordKind};
use super::{OrgStore, Store, StoreError, Versioned, organizations};
use crate::domain::call_context::CallContext;
use crate::domain::endpoint::{Endpoint, Health};
use crate::domain::ids::{EndpointId, EventId, OrgId};
use crate::domain::member::Admin;
use crate::domain::time::Timestamp;
use crate::limits;

pub(super) const IDS: &str = "ids";

/// An endpoint with its health.
#[derive(Debug, Clone)]
pub struct EndpointState {
    /// The endpoint.
    pub endpoint: Versioned<Endpoint>,
    /// The results of its latest attempts.
    pub health: Health,
    /// The replay in progress, if there is one.
    pub replay: Option<Replay>,
    /// Deliveries that could not be processed: the service is at fault. At most [`limits::QUARANTINED_COUNTED_MAX`].
    pub quarantined: Vec<Quarantined>,
    /// Whether there may be more of these.
    pub has_more_quarantined: bool,
}

impl EndpointState {
    /// Whether it needs attention: it is not paused, and its last attempt failed or a delivery is quarantined.
    #[must_use]
    pub fn is_failing(&self) -> bool {
        let has_trouble = self.health.failures_in_a_row > 0 || !self.quarantined.is_empty();
        has_trouble && self.endpoint.paused_at().is_none()
    }
}

/// A replay of what an endpoint has not received, as an admin requested it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replay {
    /// The moment from which on events are replayed.
    pub since: Timestamp,
    /// The moment of the request. Deliveries that were attempted later are left alone.
    pub asked_at: Timestamp,
}

impl Replay {
    /// The item's version, which tells this replay from a later one.
    fn version(&self) -> u64 {
        u64::try_from(self.asked_at.unix_ms()).unwrap_or_default()
    }
}

/// A delivery that could not be processed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quarantined {
    /// Its event.
    pub event_id: EventId,
    /// When it was quarantined.
    pub at: Timestamp,
}

impl Store {
    /// The endpoints of an organization with their states, the oldest first.
    pub async fn endpoints(&self, org: OrgId) -> Result<Vec<EndpointState>, StoreError> {
        let of_endpoints = self.all(Query::of(keys::endpoints(org)));
        let first = Query::of(keys::quarantine(org)).limit(limits::QUARANTINED_COUNTED_MAX);
        let (items, quarantined) = try_join!(of_endpoints, self.page_of(&first, None))?;
        if quarantined.next.is_none() {
            return assemble(items.into_iter().chain(quarantined.items));
        }
        let mut states = assemble(items.into_iter())?;
        let of_each = states.iter().map(|state| self.quarantined_from(org, state.endpoint.id(), Uuid::nil()));
        let of_each = try_join_all(of_each).await?;
        for (state, (quarantined, next)) in states.iter_mut().zip(of_each) {
            (state.quarantined, state.has_more_quarantined) = (quarantined, next.is_some());
        }
        Ok(states)
    }

    /// The endpoints of an organization, the oldest first: what an event reads.
    pub async fn subscriptions(&self, org: OrgId) -> Result<Vec<Versioned<Endpoint>>, StoreError> {
        let items = self.all(Query::of(keys::endpoints(org))).await?;
        let is_endpoint = |item: &Item| Key::of(item).is_some_and(|key| RecordKind::Endpoint.is_of(&key));
        items.into_iter().filter(is_endpoint).map(from_versioned_item).collect()
    }

    /// The next quarantined deliveries of an endpoint, in the order of their events, and the event to continue from.
    pub(crate) async fn quarantined_from(
        &self,
        org: OrgId,
        id: EndpointId,
        from: Uuid,
    ) -> Result<(Vec<Quarantined>, Option<Uuid>), StoreError> {
        let all = Query::of(keys::quarantine(org)).between(format!("{id}#{from}"), format!("{id}#{}", Uuid::max()));
        let QueryPage { items, next, .. } = self.page_of(&all.limit(limits::QUARANTINED_COUNTED_MAX), None).await?;
        let found: Vec<Quarantined> = items.into_iter().map(from_item).collect::<Result<_, _>>()?;
        let last = found.last().filter(|_| next.is_some()).map(|last| last.event_id);
        Ok((found, last.map(|last| after(last.uuid()))))
    }

    /// An endpoint.
    pub async fn endpoint(&self, org: OrgId, id: EndpointId) -> Result<Option<Versioned<Endpoint>>, StoreError> {
        self.get(keys::endpoint(org, id)).await?.map(from_versioned_item).transpose()
    }

    /// The replay of an endpoint that is in progress.
    pub async fn endpoint_replay(&self, org: OrgId, id: EndpointId) -> Result<Option<Replay>, StoreError> {
        self.get(keys::endpoint_replay(org, id)).await?.map(from_item).transpose()
    }

    /// Ends the replay of an endpoint, unless another one has been requested since.
    pub async fn end_endpoint_replay(&self, org: OrgId, id: EndpointId, replay: &Replay) -> Result<(), StoreError> {
        let ended = Change::DeleteVersion(keys::endpoint_replay(org, id), replay.version());
        self.transact(vec![ended]).await.map(|_| ())
    }

    /// Records how an attempt ended, outside the delivery's transaction so that attempts don't conflict.
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
    /// The organization's endpoints with their health, oldest first.
    pub async fn endpoints(&self) -> Result<Vec<EndpointState>, StoreError> {
        self.store.endpoints(self.org).await
    }
}

/// Groups items by endpoint, its own first. Skips those without one, such as the health of a late attempt.
fn assemble(items: impl Iterator<Item = Item>) -> Result<Vec<EndpointState>, StoreError> {
    let mut found: Vec<EndpointState> = Vec::new();
    for item in items {
        let Some(place) = Key::of(&item).as_ref().and_then(Place::of) else { continue };
        if place.kind == RecordKind::Endpoint {
            let (endpoint, quarantined, has_more_quarantined) = (from_versioned_item(item)?, Vec::new(), false);
            found.push(EndpointState {
                endpoint,
                health: Health::default(),
                replay: None,
                quarantined,
                has_more_quarantined,
            });
            continue;
        }
        let of_item = found.iter_mut().find(|state| Some(state.endpoint.id().uuid()) == place.first_id());
        let Some(state) = of_item else { continue };
        match place.kind {
            RecordKind::EndpointHealth => state.health = from_item(item)?,
            RecordKind::EndpointReplay => state.replay = Some(from_item(item)?),
            RecordKind::Quarantined => state.quarantined.push(from_item(item)?),
            _ => {}
        }
    }
    Ok(found)
}

/// Adds an endpoint, if the organization is below the limit and not suspended.
pub fn create(call: &CallContext, admin: Admin<'_>, endpoint: &Endpoint) -> Result<Changes, StoreError> {
    let org = call.org();
    let item = to_versioned_item(keys::endpoint(org, endpoint.id()), endpoint, 1)?;
    let added = [Change::Create(item), add_id(org, endpoint.id()), organizations::is_not_suspended(org)];
    Ok(Changes::by_admin(call, admin, added))
}

/// Gives an endpoint its next state. Its deliveries are updated afterwards.
pub fn replace(
    call: &CallContext,
    admin: Admin<'_>,
    before: &Versioned<Endpoint>,
    after: &Endpoint,
) -> Result<Changes, StoreError> {
    let org = call.org();
    let item = to_versioned_item(keys::endpoint(org, after.id()), after, before.version() + 1)?;
    let mut changes = vec![Change::Replace(item, before.version())];
    if before.paused_at().is_some() && after.paused_at().is_none() {
        changes.push(follow_up(org, after.id(), after.updated_at()));
    }
    Ok(Changes::by_admin(call, admin, changes))
}

/// Copies the organization's suspension to an endpoint. Its deliveries are updated afterwards, unless they stay held.
pub(crate) fn suspend(
    call: &CallContext,
    before: &Versioned<Endpoint>,
    after: &Endpoint,
) -> Result<Changes, StoreError> {
    Ok(Changes::of(call, copy_suspension(call.org(), call.now(), before, after)?))
}

pub(super) fn copy_suspension(
    org: OrgId,
    now: Timestamp,
    before: &Versioned<Endpoint>,
    after: &Endpoint,
) -> Result<Vec<Change>, StoreError> {
    let item = to_versioned_item(keys::endpoint(org, after.id()), after, before.version() + 1)?;
    let follow_up = (!after.holds_deliveries()).then(|| follow_up(org, after.id(), now));
    Ok([Change::Replace(item, before.version())].into_iter().chain(follow_up).collect())
}

/// Deletes an endpoint. Its deliveries are deleted afterwards.
pub fn delete(call: &CallContext, admin: Admin<'_>, before: &Versioned<Endpoint>) -> Changes {
    let (org, id) = (call.org(), before.id());
    let deleted = Change::DeleteVersion(keys::endpoint(org, id), before.version());
    Changes::by_admin(call, admin, [deleted, remove_id(org, id), follow_up(org, id, call.now())])
}

/// Adds an id to the set that holds the limit: concurrent additions conflict there.
fn add_id(org: OrgId, id: EndpointId) -> Change {
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

fn remove_id(org: OrgId, id: EndpointId) -> Change {
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
    admin: Admin<'_>,
    id: EndpointId,
    replay: &Replay,
) -> Result<Changes, StoreError> {
    let org = call.org();
    let item = to_versioned_item(keys::endpoint_replay(org, id), replay, replay.version())?;
    Ok(Changes::by_admin(call, admin, [Change::Put(item), follow_up(org, id, replay.asked_at)]))
}

/// Adds a due entry that stays until the endpoint's deliveries have been updated.
fn follow_up(org: OrgId, id: EndpointId, now: Timestamp) -> Change {
    Change::Put(keys::due_unique(now, Due::Endpoint, org, id.uuid()).into_item())
}
