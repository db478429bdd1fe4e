//! What ends with an agreement that was cancelled or has expired: its open movements (architecture, section 4).
//!
//! The act that ends the agreement commits with an entry of the due index. Each movement is then cancelled in a transaction
//! of its own, with its own audit row. If that is interrupted, the entry is still there, and the next one who takes it up
//! goes on with what is left. Until then every act looks at the agreement, which says already that the movement is cancelled.

use crate::domain::agreement::Agreement;
use crate::domain::ids::{AgreementId, MovementId};
use crate::error::Error;
use crate::service::due::Settlement;
use crate::service::scope::{Plan, Scope, Writer};
use crate::service::system::SystemContext;
use crate::store::movements as stored;

/// The operation that cancels a movement with its agreement, in audit rows and log lines.
pub const END_MOVEMENT: &str = "end_movement";

/// An agreement that has ended, with the movements that have yet to end with it. None if there is nothing to do.
pub async fn left_to_end(scope: &Scope, id: AgreementId) -> Result<Option<(Agreement, Vec<MovementId>)>, Error> {
    let Some(agreement) = scope.store().agreement(id).await? else { return Ok(None) };
    if !agreement.has_ended_early() {
        return Ok(None);
    }
    let movements = scope.store().movements(agreement.movements().keys().copied()).await?;
    let left = movements.iter().filter(|movement| movement.ended_with(&agreement, scope.moment()).is_some());
    let left: Vec<MovementId> = left.map(|movement| movement.id()).collect();
    Ok((!left.is_empty()).then(|| (agreement.into_inner(), left)))
}

/// Cancels a movement with its agreement, unless that was done before.
pub async fn end_movement(
    system: &SystemContext,
    agreement: &Agreement,
    id: MovementId,
) -> Result<Plan<Settlement>, Error> {
    let scope = system.scope();
    let Some(before) = scope.store().movement(id).await? else { return Ok(Plan::new(scope, Settlement::Stale)) };
    let Some(after) = before.ended_with(agreement, scope.moment()) else {
        return Ok(Plan::new(scope, Settlement::Stale));
    };
    let changes = stored::end(scope.call(), &before, &after)?;
    Ok(Plan::new(scope, Settlement::Settled).change([changes]).showing([agreement.id().uuid(), id.uuid()]))
}
