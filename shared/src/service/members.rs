//! Removing members: the reading around the pure rules of `domain::member`. Their sessions in the organization are dead
//! from that moment on: each request looks whether its member is there, and each act's transaction does again.

use http::StatusCode;
use uuid::Uuid;

use crate::api::caller::{CallContext, SystemContext};
use crate::domain::ids::MemberId;
use crate::domain::member::{self, Admin, NotRemoved, NotRemovedByOperator, Removal};
use crate::domain::organization::MemberRecord;
use crate::error::Error;
use crate::limits;
use crate::store::commit::Change;
use crate::store::members;
use crate::store::table::jittered;
use crate::web::request::SubmittedForm;

/// Removes a member, as an admin does: one attempt, for [`SubmittedForm::retry_on_conflict`]. Gives who is gone.
///
/// # Errors
/// [`Error::Conflict`] when something has changed meanwhile; otherwise when the store can't be read or written.
pub async fn remove(
    posted: &SubmittedForm<'_, Admin<'_>>,
    who: MemberId,
) -> Result<Result<MemberRecord, NotRemoved>, Error> {
    let found = posted.act().store().member(who).await?;
    let removal = match member::remove(posted.by(), found) {
        Ok(removal) => removal,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let changes = changes(posted.act(), &removal).await?;
    posted.commit().with(changes).done_as(StatusCode::SEE_OTHER, &[who.uuid()]).await?;
    Ok(Ok(removal.gone().clone()))
}

/// Removes a member, as an operator does, on record as the service's own act. Decides anew a few times where somebody
/// joins or leaves at the same moment.
///
/// # Errors
/// [`Error::Conflict`] when that did not end; otherwise when the store can't be read or written.
pub async fn remove_as_operator(act: &SystemContext, who: MemberId) -> Result<Result<(), NotRemovedByOperator>, Error> {
    for _ in 1..limits::REMOVAL_ATTEMPTS_MAX {
        match try_as_operator(act, who).await {
            Err(Error::Conflict) => tokio::time::sleep(jittered(limits::WRITE_BACKOFF_FIRST)).await,
            ended => return ended,
        }
    }
    try_as_operator(act, who).await
}

async fn try_as_operator(act: &SystemContext, who: MemberId) -> Result<Result<(), NotRemovedByOperator>, Error> {
    let all = act.store().members().await?;
    let removal = match Removal::by_operator(&all, who) {
        Ok(removal) => removal,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let objects: [Uuid; 1] = [who.uuid()];
    act.commit().with(changes(act, &removal).await?).done(&objects).await?;
    Ok(Ok(()))
}

async fn changes(act: &CallContext, removal: &Removal) -> Result<Vec<Change>, Error> {
    let account = act.store().account_of(removal.gone()).await?;
    Ok(members::remove(act.org(), removal, account.as_ref())?)
}
