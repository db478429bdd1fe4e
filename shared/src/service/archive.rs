//! Archiving: contacts, workspaces and drafts that the app's lists hide and clients see as before.

use uuid::Uuid;

use crate::domain::call_context::CallContext;
use crate::domain::ids::{AgreementId, ContactId, WorkspaceId};
use crate::error::Error;
use crate::service::scope::{Plan, Writer};
use crate::service::{agreements, contacts, workspaces};
use crate::store::change::Changes;
use crate::store::{
    StoreError, Versioned, agreements as stored_agreements, contacts as stored_contacts,
    workspaces as stored_workspaces,
};

/// A record that members archive and bring back.
#[derive(Debug, Clone, Copy)]
pub enum Archivable {
    /// A contact.
    Contact(ContactId),
    /// A workspace. Its agreements, payments and people stay as they are.
    Workspace(WorkspaceId),
    /// An agreement while it is a draft on which nobody has to decide.
    Draft(AgreementId),
}

impl Archivable {
    fn uuid(self) -> Uuid {
        match self {
            Self::Contact(id) => id.uuid(),
            Self::Workspace(id) => id.uuid(),
            Self::Draft(id) => id.uuid(),
        }
    }
}

/// Archives a record, or brings it back. False for an agreement that is no draft any more, and for a draft that would be
/// archived while a member has yet to decide on a proposal for it.
pub async fn set_archived(by: &impl Writer, record: Archivable, is_archived: bool) -> Result<Plan<bool>, Error> {
    let (scope, now) = (by.scope(), by.scope().now());
    let plan = |is_done| Plan::new(scope, is_done).showing([record.uuid()]);
    let changes = match record {
        Archivable::Contact(id) => {
            let before = contacts::get(scope, id).await?;
            changes(scope.call(), &before, &before.archived(is_archived, now), stored_contacts::replace)?
        }
        Archivable::Workspace(id) => {
            let before = workspaces::get_without_people(scope, id).await?;
            changes(scope.call(), &before, &before.archived(is_archived, now), stored_workspaces::archive)?
        }
        Archivable::Draft(id) => {
            let before = agreements::found(scope, id).await?;
            let Ok(draft) = before.archived(is_archived, now).as_draft() else { return Ok(plan(false)) };
            let is_archived_now = is_archived && *draft != *before;
            if is_archived_now && !scope.store().pending_proposals(id, now).await?.is_empty() {
                return Ok(plan(false));
            }
            changes(scope.call(), &before, &draft, |call, before, _| stored_agreements::edit(call, before, &draft))?
        }
    };
    Ok(plan(true).change(changes))
}

/// None if nothing changes.
fn changes<T: PartialEq>(
    call: &CallContext,
    before: &Versioned<T>,
    after: &T,
    replace: impl FnOnce(&CallContext, &Versioned<T>, &T) -> Result<Changes, StoreError>,
) -> Result<Option<Changes>, StoreError> {
    if *after == **before { Ok(None) } else { replace(call, before, after).map(Some) }
}
