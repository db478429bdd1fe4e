//! Events, their deliveries, and the endpoints that get them.

use std::collections::BTreeSet;

use aws_sdk_dynamodb::types::AttributeValue;

use super::super::change::{Change, Update};
use super::super::deliveries;
use super::super::endpoints;
use super::super::endpoints::{IDS, Quarantined, Replay};
use super::super::events::StoredEvent;
use super::super::item::{Item, from_item, from_versioned_item};
use super::super::keys::{self, Due};
use super::super::record_kind::{Place, RecordKind};
use super::{Problem, Sight, unchanged};
use crate::domain::delivery::Delivery;
use crate::domain::endpoint::Endpoint;
use crate::domain::ids::{EndpointId, EventId, OrgId};
use crate::domain::time::Timestamp;
use crate::limits;

pub(super) fn look(sight: &mut Sight<'_>, org: OrgId, place: &Place) {
    let ids: [Option<uuid::Uuid>; 2] = [place.first_id(), place.ids.get(1).copied()];
    match (place.kind, ids) {
        (RecordKind::Event, _) => event(sight, org),
        (RecordKind::Delivery, [Some(endpoint), Some(event)]) => delivery(sight, org, endpoint.into(), event.into()),
        (RecordKind::Undelivered, [Some(endpoint), Some(event)]) => {
            let key = keys::delivery(org, endpoint.into(), event.into());
            sight.derives_from(key, Problem::RowWithoutRecord, "has no open delivery", |delivery| {
                from_item::<Delivery>(delivery.clone()).is_ok_and(|delivery| delivery.state().is_open())
            });
        }
        (RecordKind::Endpoint, _) => endpoint(sight, org),
        (RecordKind::EndpointIds, _) => endpoint_ids(sight, org),
        (RecordKind::EndpointReplay, [Some(endpoint), _]) => replay(sight, org, endpoint.into()),
        (RecordKind::Quarantined, [Some(endpoint), Some(event)]) => {
            if from_item::<Quarantined>(sight.item.clone()).is_err() {
                sight.unreadable();
            }
            let delivery = keys::delivery(org, endpoint.into(), event.into());
            of_endpoint(sight, org, endpoint.into());
            sight.refers(delivery, Problem::NoOwner, "its delivery");
        }
        _ => sight.unreadable(),
    }
}

/// The endpoint must exist, or its deletion must still be under way.
fn of_endpoint(sight: &mut Sight<'_>, org: OrgId, endpoint: EndpointId) {
    let key = keys::endpoint(org, endpoint);
    sight.check([key.clone()], move |known| {
        if known.has(&key) || known.underway.endpoints.contains(&(org, endpoint.uuid())) {
            return Vec::new();
        }
        // The relay deletes what is left of a deleted endpoint.
        let entry = keys::due(Timestamp::now(), Due::Endpoint, org, endpoint.uuid());
        let repair = vec![Change::Put(entry.into_item()), unchanged(key.clone(), None)];
        vec![(Problem::NoOwner, format!("its endpoint does not exist: {key}"), Some(repair))]
    });
}

/// The relay may have seen an endpoint otherwise if it was added or changed as the event happened.
fn is_surely_for(event: &StoredEvent, endpoint: &Endpoint) -> bool {
    let call_s = i64::try_from(limits::CALL_DEADLINE.as_secs()).unwrap_or_default();
    let is_older = endpoint.updated_at().plus_seconds(call_s) <= event.created_at;
    event.is_for(endpoint) && (is_older || event.only.is_some())
}

/// An event is on the due index until relayed; from then on each endpoint that gets it has a delivery.
fn event(sight: &mut Sight<'_>, org: OrgId) {
    let Ok(event) = from_item::<StoredEvent>(sight.item.clone()) else { return sight.unreadable() };
    if keys::event(org, event.id) != sight.key {
        return sight.wrong(Problem::Misplaced, "has the record of another event");
    }
    // Deliveries are dropped some time after they arrive.
    if event.created_at.plus_seconds(limits::DELIVERED_KEPT_S) <= sight.now {
        return;
    }
    let entry = keys::due(event.created_at, Due::Event, org, event.id.uuid());
    let guard = sight.guard();
    let ids = keys::endpoint_ids(org);
    let all = sight.endpoints(org);
    let reads = [entry.clone(), ids].into_iter();
    let deliveries: Vec<_> = all.iter().map(|endpoint| keys::delivery(org, endpoint.id(), event.id)).collect();
    sight.check(reads.chain(deliveries), move |known| {
        if known.has(&entry) {
            return Vec::new();
        }
        let is_missing = |endpoint: &&Endpoint| {
            is_surely_for(&event, endpoint) && !known.has(&keys::delivery(org, endpoint.id(), event.id))
        };
        let Some(missing) = all.iter().find(is_missing) else { return Vec::new() };
        let repair = vec![Change::Put(entry.into_item()), guard];
        let says = format!("was relayed, and has no delivery: {}", keys::delivery(org, missing.id(), event.id));
        vec![(Problem::NoDelivery, says, Some(repair))]
    });
}

fn delivery(sight: &mut Sight<'_>, org: OrgId, endpoint: EndpointId, event: EventId) {
    let Ok(delivery) = from_versioned_item::<Delivery>(sight.item.clone()) else { return sight.unreadable() };
    if (delivery.endpoint_id, delivery.event_id) != (endpoint, event) {
        return sight.wrong(Problem::Misplaced, "has the record of another delivery");
    }
    sight.refers(keys::event(org, event), Problem::BrokenReference, "its event");
    of_endpoint(sight, org, endpoint);
    if delivery.state().is_open() {
        let row = deliveries::open_row(deliveries::DeliveryKey { org, endpoint, event }, delivery.state());
        sight.derives(row, [Problem::NoRow, Problem::WrongRow], "row among the undelivered ones");
    }
    let Some(due_at) = delivery.due_at() else { return };
    let entry = keys::due_delivery(due_at, org, endpoint, event);
    let (quarantined, guard) = (keys::quarantined_delivery(org, endpoint, event), sight.guard());
    sight.check([entry.clone(), quarantined.clone()], move |known| {
        if known.has(&entry) || known.has(&quarantined) {
            return Vec::new();
        }
        let repair = vec![Change::Put(entry.clone().into_item()), guard];
        vec![(Problem::NoDueEntry, format!("is not on the due index for its next attempt: {entry}"), Some(repair))]
    });
}

fn endpoint(sight: &mut Sight<'_>, org: OrgId) {
    let Ok(endpoint) = from_versioned_item::<Endpoint>(sight.item.clone()) else { return sight.unreadable() };
    let (id, ids) = (endpoint.id(), keys::endpoint_ids(org));
    if keys::endpoint(org, id) != sight.key {
        return sight.wrong(Problem::Misplaced, "has the record of another endpoint");
    }
    let organization = keys::organization(org);
    let read = endpoint.clone();
    sight.check([organization.clone()], move |known| {
        let of = super::people::read_organization(known.get(&organization));
        let after = of.and_then(|of| read.with_suspension(of.suspended_at));
        let Some(after) = after else { return Vec::new() };
        let repair = endpoints::copy_suspension(org, Timestamp::now(), &read, &after).ok();
        let says = format!("says otherwise than its organization whether it is suspended: {organization}");
        vec![(Problem::Disagreement, says, repair)]
    });
    let guard = sight.guard();
    sight.check([ids.clone()], move |known| {
        if ids_of(known.get(&ids)).contains(&id.to_string()) {
            return Vec::new();
        }
        let repair = vec![change_ids(org, "ADD #ids :id", id.to_string()), guard];
        vec![(Problem::NoPointer, format!("is not in the set of endpoints: {ids}"), Some(repair))]
    });
}

fn ids_of(item: Option<&Item>) -> BTreeSet<String> {
    let ids = item.and_then(|item| item.get(IDS)?.as_ss().ok());
    ids.into_iter().flatten().cloned().collect()
}

fn change_ids(org: OrgId, expression: &'static str, id: String) -> Change {
    Change::Update(Update {
        key: keys::endpoint_ids(org),
        expression,
        condition: "",
        names: vec![("#ids", IDS)],
        values: vec![(":id", AttributeValue::Ss(vec![id]))],
    })
}

fn endpoint_ids(sight: &mut Sight<'_>, org: OrgId) {
    for id in ids_of(Some(sight.item)) {
        let Ok(endpoint) = id.parse::<EndpointId>() else { return sight.unreadable() };
        let key = keys::endpoint(org, endpoint);
        sight.check([key.clone()], move |known| {
            if known.has(&key) {
                return Vec::new();
            }
            let repair = vec![change_ids(org, "DELETE #ids :id", id), unchanged(key.clone(), None)];
            vec![(Problem::PointerWithoutRecord, format!("has an endpoint that does not exist: {key}"), Some(repair))]
        });
    }
}

fn replay(sight: &mut Sight<'_>, org: OrgId, endpoint: EndpointId) {
    if from_item::<Replay>(sight.item.clone()).is_err() {
        return sight.unreadable();
    }
    of_endpoint(sight, org, endpoint);
    let guard = sight.guard();
    sight.check([], move |known| {
        if known.underway.endpoints.contains(&(org, endpoint.uuid())) {
            return Vec::new();
        }
        let entry = keys::due(Timestamp::now(), Due::Endpoint, org, endpoint.uuid());
        let repair = vec![Change::Put(entry.into_item()), guard];
        vec![(Problem::NoDueEntry, "was requested, and is not on the due index".to_owned(), Some(repair))]
    });
}
