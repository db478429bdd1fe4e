//! Removing members: the reading around the pure rules of `domain::member`. Their sessions in the organization are dead
//! from that moment on: each request looks whether its member is there, and each act's transaction does again.

use http::StatusCode;
use uuid::Uuid;

use crate::caller::{Act, ServiceAct};
use crate::domain::ids::MemberId;
use crate::domain::member::{self, Admin, NotRemoved, Removal};
use crate::domain::organization::MemberRecord;
use crate::error::Error;
use crate::store::commit::Change;
use crate::store::members;
use crate::visit::Posted;

/// Removes a member, as an admin does: one attempt, for [`Posted::until_settled`]. Gives who is gone.
///
/// # Errors
/// [`Error::Raced`] when something has changed meanwhile; otherwise when the store can't be read or written.
pub async fn remove(posted: &Posted<'_, Admin<'_>>, who: MemberId) -> Result<Result<MemberRecord, NotRemoved>, Error> {
    let all = posted.act().store().members().await?;
    let removal = match member::remove(posted.by(), &all, who) {
        Ok(removal) => removal,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let changes = changes(posted.act(), &removal).await?;
    posted.commit().with(changes).done_as(StatusCode::SEE_OTHER, &[who.uuid()]).await?;
    Ok(Ok(removal.gone().clone()))
}

/// Removes a member, as an operator does, on record as the service's own act: one attempt.
///
/// # Errors
/// [`Error::Raced`] when something has changed meanwhile; otherwise when the store can't be read or written.
pub async fn remove_as_operator(act: &ServiceAct, who: MemberId) -> Result<Result<(), NotRemoved>, Error> {
    let all = act.store().members().await?;
    let removal = match Removal::by_operator(&all, who) {
        Ok(removal) => removal,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let objects: [Uuid; 1] = [who.uuid()];
    act.commit().with(changes(act, &removal).await?).done(&objects).await?;
    Ok(Ok(()))
}

async fn changes(act: &Act, removal: &Removal) -> Result<Vec<Change>, Error> {
    let account = act.store().account_of(removal.gone()).await?;
    Ok(members::remove(act.org(), removal, account.as_ref())?)
}
