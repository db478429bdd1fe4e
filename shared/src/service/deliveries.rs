//! Deliveries: listing them, what their page shows, and the replay.

use crate::domain::delivery::Delivery;
use crate::domain::ids::{EndpointId, EventId};
use crate::domain::member::Admin;
use crate::domain::time::Timestamp;
use crate::error::Error;
use crate::service::endpoints::{self, EndpointState};
use crate::service::scope::{Plan, Scope};
use crate::store::deliveries as stored;
use crate::store::events::StoredEvent;

pub use crate::store::deliveries::{DeliveryFilter, DeliveryPage, Undelivered};

/// A page of the deliveries of an endpoint that match, at most `count`, the newest first, from before an event on.
pub async fn list(
    scope: &Scope,
    endpoint: EndpointId,
    filter: DeliveryFilter,
    before: Option<EventId>,
    count: usize,
) -> Result<DeliveryPage, Error> {
    Ok(scope.store().deliveries(endpoint, filter, before, count).await?)
}

/// The events since a moment that an endpoint has not received: what a replay would send.
pub async fn undelivered(scope: &Scope, endpoint: &EndpointState, since: Timestamp) -> Result<Undelivered, Error> {
    Ok(scope.store().undelivered(endpoint.endpoint.id(), &endpoint.quarantined, since).await?)
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
        self.endpoint.quarantined.iter().any(|quarantined| quarantined.event_id == self.event.id)
    }
}

/// What the page of a delivery shows.
///
/// # Errors
/// [`Error::NotFound`] when the endpoint or the event does not exist, or the event is not for the endpoint.
pub async fn review(scope: &Scope, endpoint: EndpointId, event: EventId) -> Result<DeliveryReview, Error> {
    let state = endpoints::get(scope, endpoint).await?;
    let event = scope.store().event(event).await?.ok_or_else(Error::not_found)?;
    let delivery = match scope.store().delivery(endpoint, event.id).await? {
        Some(found) => found.into_inner(),
        // The relay has not created the delivery of a new event yet.
        None if event.is_for(&state.endpoint) => {
            Delivery::new(endpoint, event.id, event.event_type, event.created_at, scope.now())
        }
        None => return Err(Error::not_found()),
    };
    Ok(DeliveryReview { endpoint: state, delivery, event })
}

/// Sends a delivery again, and takes it out of quarantine.
///
/// # Errors
/// [`Error::NotFound`] when there is none.
pub async fn replay(scope: &Scope, admin: Admin<'_>, endpoint: EndpointId, event: EventId) -> Result<Plan<()>, Error> {
    let before = scope.store().delivery(endpoint, event).await?.ok_or_else(Error::not_found)?;
    let after = before.replayed(scope.now());
    let changes = stored::replay(scope.call(), admin, &before, &after)?;
    Ok(Plan::new(scope, ()).change([changes]).showing([endpoint.uuid(), event.uuid()]))
}
