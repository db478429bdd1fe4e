//! Proposals that nobody decided in time.

use shared::api::caller::SystemContext;
use shared::domain::proposal::Decision;
use shared::error::Error;
use shared::store::due::DueEntry;
use shared::store::proposals as stored;

use crate::Done;

/// Writes down that a proposal has expired, and tells subscribers, if nobody decided it meanwhile.
///
/// # Errors
/// [`Error::Conflict`] when it changed meanwhile: decide anew. Otherwise when the store can't be read or written.
pub(crate) async fn expire(act: &SystemContext, entry: &DueEntry) -> Result<Done, Error> {
    let Some(found) = act.store().proposal(entry.id.into()).await? else { return Ok(Done::Stale) };
    let Some(settled) = found.value.settled(act.moment()) else {
        // Its own entry stays while it is pending: this act's clock may be behind the one that found it.
        let is_its_own = entry.at == found.value.expires_at && *found.value.decision() == Decision::Pending;
        return Ok(if is_its_own { Done::Early } else { Done::Stale });
    };
    let changes = stored::settle(act.org(), &found, &settled, false)?;
    let objects = [settled.id().uuid(), settled.agreement_id.uuid()];
    act.commit().with(changes).emit([stored::expired_event(&settled)])?.done(&objects).await?;
    Ok(Done::Settled)
}
