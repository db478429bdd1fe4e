//! Deliveries: replaying one.

use crate::domain::ids::{EndpointId, EventId};
use crate::domain::member::Admin;
use crate::error::Error;
use crate::service::scope::{Plan, Scope};
use crate::store::deliveries;

/// Sends a delivery again, and takes it out of quarantine.
///
/// # Errors
/// [`Error::NotFound`] when there is none.
pub async fn replay(scope: &Scope, admin: Admin<'_>, endpoint: EndpointId, event: EventId) -> Result<Plan<()>, Error> {
    let before = scope.store().delivery(endpoint, event).await?.ok_or_else(Error::not_found)?;
    let after = before.replayed(scope.now());
    let changes = deliveries::replay(scope.call(), admin, &before, &after)?;
    Ok(Plan::new(scope, ()).change([changes]).showing([endpoint.uuid(), event.uuid()]))
}
