//! Deliveries: listing, reviewing and replaying them.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use serde::Deserialize;

use crate::domain::agreement::AgreementName;
use crate::domain::delivery::{Attempt, Delivery};
use crate::domain::ids::{EndpointId, EventId, ProposalId, WorkspaceId};
use crate::domain::member::Admin;
use crate::domain::time::Timestamp;
use crate::error::Error;
use crate::limits;
use crate::service::endpoints::{self, EndpointState};
use crate::service::scope::{Plan, Scope};
use crate::store::events::StoredEvent;
use crate::store::{Versioned, deliveries as stored};

pub use crate::store::deliveries::{DeliveryFilter, DeliveryPage, Undelivered};

/// A page of an endpoint's matching deliveries, at most `count`, newest first, continuing before an event.
pub async fn list(
    scope: &Scope,
    endpoint: EndpointId,
    filter: DeliveryFilter,
    before: Option<EventId>,
    count: usize,
) -> Result<DeliveryPage, Error> {
    Ok(scope.store().deliveries(endpoint, filter, before, count).await?)
}

/// The names of the agreements or workspaces that deliveries are about, if any, in two consecutive reads.
pub async fn subjects(scope: &Scope, deliveries: &[Delivery]) -> Result<HashMap<EventId, String>, Error> {
    let store = scope.store();
    let events = store.events(deliveries.iter().map(|delivery| delivery.event_id)).await?;
    let referred: Vec<(EventId, Reference)> = events.iter().map(|event| (event.id, Reference::of(event))).collect();
    let proposals: BTreeSet<ProposalId> = referred.iter().filter_map(|(_, about)| about.proposal_id).collect();
    let workspaces: BTreeSet<WorkspaceId> = referred.iter().filter_map(|(_, about)| about.workspace_id).collect();
    let (proposals, workspaces) = tokio::try_join!(store.proposals(proposals), store.workspaces(workspaces))?;
    let proposed: HashMap<_, _> =
        proposals.iter().map(|proposal| (proposal.id(), proposal.subject.name.as_str())).collect();
    let workspaces: HashMap<_, _> =
        workspaces.iter().map(|workspace| (workspace.id(), workspace.name.as_str())).collect();
    let name = |about: &Reference| {
        let of_proposal = || proposed.get(&about.proposal_id?).copied();
        let of_workspace = || workspaces.get(&about.workspace_id?).copied();
        about.name.as_ref().map(AgreementName::as_str).or_else(of_proposal).or_else(of_workspace).map(str::to_owned)
    };
    Ok(referred.iter().filter_map(|(event, about)| Some((*event, name(about)?))).collect())
}

#[derive(Debug, Default, Deserialize)]
struct Reference {
    name: Option<AgreementName>,
    proposal_id: Option<ProposalId>,
    workspace_id: Option<WorkspaceId>,
}

impl Reference {
    fn of(event: &StoredEvent) -> Self {
        #[derive(Deserialize)]
        struct Body {
            data: Reference,
        }
        serde_json::from_str(&event.body).map_or_else(|_| Self::default(), |Body { data }| data)
    }
}

/// The first attempt at a delivery. None after 3 s and 8 reads ([`limits::TEST_OUTCOME_WAITS_MS`]) or a failed read.
pub async fn wait_for_attempt(scope: &Scope, endpoint: EndpointId, event: EventId) -> Option<Attempt> {
    let look = async {
        for wait_ms in limits::TEST_OUTCOME_WAITS_MS {
            tokio::time::sleep(Duration::from_millis(wait_ms)).await;
            let delivery = scope.store().delivery(endpoint, event).await.ok().flatten();
            if let Some(attempt) = delivery.and_then(|delivery| delivery.attempts.first().cloned()) {
                return Some(attempt);
            }
        }
        None
    };
    let wait = Duration::from_millis(limits::TEST_OUTCOME_WAITS_MS.iter().sum());
    tokio::time::timeout(wait, look).await.ok().flatten()
}

/// How many held deliveries of a resumed endpoint the relay has yet to make due. 0 while the endpoint holds them.
pub async fn left_to_send(scope: &Scope, endpoint: &EndpointState) -> Result<u64, Error> {
    if endpoint.endpoint.holds_deliveries() {
        return Ok(0);
    }
    Ok(scope.store().held(endpoint.endpoint.id()).await?)
}

/// The events since a moment that an endpoint has not received: what a replay would send.
pub async fn undelivered(scope: &Scope, endpoint: &EndpointState, since: Timestamp) -> Result<Undelivered, Error> {
    Ok(scope.store().undelivered(endpoint.endpoint.id(), since).await?)
}

/// A delivery with its endpoint and event.
#[derive(Debug)]
pub struct DeliveryReview {
    /// The endpoint, with its health and quarantined deliveries.
    pub endpoint: EndpointState,
    /// The delivery.
    pub delivery: Delivery,
    /// The event.
    pub event: StoredEvent,
}

impl DeliveryReview {
    /// Whether the delivery is quarantined.
    #[must_use]
    pub fn is_quarantined(&self) -> bool {
        self.delivery.is_quarantined
    }
}

/// What the page of a delivery shows, if a delivery of the event to the endpoint was or will be made.
pub async fn review(scope: &Scope, endpoint: EndpointId, event: EventId) -> Result<DeliveryReview, Error> {
    let state = endpoints::get(scope, endpoint).await?;
    let event = scope.store().event(event).await?.ok_or_else(Error::not_found)?;
    let delivery = made_or_due(scope, &state, &event).await?.ok_or_else(Error::not_found)?;
    Ok(DeliveryReview { endpoint: state, delivery, event })
}

/// The delivery of an event to an endpoint, as stored or, before the event is relayed, as the relay will make it.
async fn made_or_due(scope: &Scope, to: &EndpointState, event: &StoredEvent) -> Result<Option<Delivery>, Error> {
    let (store, endpoint) = (scope.store(), to.endpoint.id());
    if let Some(made) = store.delivery(endpoint, event.id).await? {
        return Ok(Some(made.into_inner()));
    }
    if !event.is_for(&to.endpoint) {
        return Ok(None);
    }
    if store.is_to_be_relayed(event).await? {
        return Ok(Some(Delivery::new(endpoint, event.id, event.event_type, event.created_at, scope.now())));
    }
    // The relay may have made it between the two reads. It takes the event off the due index afterwards.
    Ok(store.delivery(endpoint, event.id).await?.map(Versioned::into_inner))
}

/// Sends a delivery again, and takes it out of quarantine.
pub async fn replay(scope: &Scope, admin: Admin<'_>, endpoint: EndpointId, event: EventId) -> Result<Plan<()>, Error> {
    let before = scope.store().delivery(endpoint, event).await?.ok_or_else(Error::not_found)?;
    let after = before.replayed(scope.now());
    let changes = stored::replay(scope.call(), admin, &before, &after)?;
    Ok(Plan::new(scope, ()).change([changes]).showing([endpoint.uuid(), event.uuid()]))
}
