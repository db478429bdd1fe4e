//! Proposals that nobody decided in time.

use shared::caller::ServiceAct;
use shared::domain::ids::ProposalId;
use shared::error::Error;
use shared::store::proposals as stored;

use crate::Done;

/// What the audit row and the log line of an expiry say.
pub const OPERATION: &str = "expire_proposal";

/// Writes down that a proposal has expired, and tells subscribers, if nobody decided it meanwhile.
///
/// # Errors
/// [`Error::Raced`] when it changed meanwhile: decide anew. Otherwise when the store can't be read or written.
pub(crate) async fn expire(act: &ServiceAct, id: ProposalId) -> Result<Done, Error> {
    let Some(found) = act.store().proposal(id).await? else { return Ok(Done::Stale) };
    if !found.value.is_to_be_settled(act.now()) {
        return Ok(Done::Stale);
    }
    let settled = found.value.settled(act.now());
    let changes = stored::end(act.org(), &found, &settled, false)?;
    let objects = [settled.id.uuid(), settled.agreement_id.uuid()];
    act.commit().with(changes).tell([stored::expired_event(&settled)])?.done(&objects).await?;
    Ok(Done::Settled)
}
