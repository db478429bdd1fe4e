//! Agreements that time takes further.

use shared::api::caller::SystemContext;
use shared::domain::agreement::progress::Facts;
use shared::domain::time_scale::TimeScale;
use shared::error::Error;
use shared::store::agreements as stored;
use shared::store::due::DueEntry;

use crate::Done;

/// Writes down how far an agreement went on: countdowns that ended, stages that are done, its completion or expiry. Tells
/// subscribers.
///
/// # Errors
/// [`Error::Conflict`] when it changed meanwhile: decide anew. Otherwise when the store can't be read or written.
pub(crate) async fn proceed(act: &SystemContext, time_scale: TimeScale, entry: &DueEntry) -> Result<Done, Error> {
    let Some(found) = act.store().agreement(entry.id.into()).await? else { return Ok(Done::Stale) };
    let Some(after) = found.value.proceeded(&Facts::none(), time_scale, act.moment()) else {
        // Its own entry stays while it waits: this act's clock may be behind the one that found it.
        let is_its_own = found.value.next_due() == Some(entry.at);
        return Ok(if is_its_own { Done::Early } else { Done::Stale });
    };
    let changes = stored::proceed(act.org(), &found, &after)?;
    act.commit().with(changes).emit(after.events())?.done(&[after.id().uuid()]).await?;
    Ok(Done::Settled)
}
