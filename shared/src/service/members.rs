//! Members: listing and removing them, and changing their roles and their own names. A removed member's sessions in the
//! organization end at once: each request checks that its member exists, and the transaction of each form checks again.

use crate::domain::contact::DisplayName;
use crate::domain::ids::MemberId;
use crate::domain::member::{self, Admin, Member, NotRemoved, NotRemovedByOperator, Removal, RoleNotChanged};
use crate::domain::organization::{MemberRecord, Role};
use crate::error::Error;
use crate::service::scope::{Plan, Scope, Writer};
use crate::service::system::SystemContext;
use crate::store::change::Changes;
use crate::store::members;
use crate::wire::page::Search;
use crate::wire::text::Folded;

/// The organization's members, oldest first.
pub async fn list(scope: &Scope) -> Result<Vec<MemberRecord>, Error> {
    Ok(scope.store().members().await?)
}

/// Whether a search finds a member, by name or email address.
#[must_use]
pub fn is_found<const CHARS_MAX: usize>(member: &MemberRecord, search: &Search<CHARS_MAX>) -> bool {
    let text = Folded::join([member.name.as_str(), member.email.as_str()]);
    search.needle().is_none_or(|needle| text.as_str().contains(needle))
}

/// Removes a member by an admin, and returns the removed member.
pub async fn remove(
    scope: &Scope,
    admin: Admin<'_>,
    id: MemberId,
) -> Result<Plan<Result<MemberRecord, NotRemoved>>, Error> {
    let found = scope.store().member(id).await?;
    match member::remove(admin, found) {
        Ok(removal) => {
            let changes = changes(scope, &removal).await?;
            Ok(Plan::new(scope, Ok(removal.removed().clone())).change([changes]).showing([id.uuid()]))
        }
        Err(refusal) => Ok(Plan::new(scope, Err(refusal))),
    }
}

/// Removes a member by an operator, recorded as the service's own call.
pub async fn remove_as_operator(
    system: &SystemContext,
    id: MemberId,
) -> Result<Plan<Result<(), NotRemovedByOperator>>, Error> {
    let scope = system.scope();
    let all = scope.store().members().await?;
    match Removal::by_operator(&all, id) {
        Ok(removal) => {
            let changes = changes(scope, &removal).await?;
            Ok(Plan::new(scope, Ok(())).change([changes]).showing([id.uuid()]))
        }
        Err(refusal) => Ok(Plan::new(scope, Err(refusal))),
    }
}

/// Gives a member a role, and returns the member as they were. Nothing changes if they already have it.
pub async fn change_role(
    scope: &Scope,
    admin: Admin<'_>,
    id: MemberId,
    role: Role,
) -> Result<Plan<Result<MemberRecord, RoleNotChanged>>, Error> {
    Ok(match member::change_role(admin, scope.store().member(id).await?, role) {
        Ok(change) => {
            let changes = (!change.is_none()).then(|| members::change_role(scope.call(), &change));
            Plan::new(scope, Ok(change.before().clone())).change(changes).showing([id.uuid()])
        }
        Err(refusal) => Plan::new(scope, Err(refusal)),
    })
}

/// Gives a member another name. Nothing changes if they already have it.
pub fn rename(scope: &Scope, member: &Member, name: &DisplayName) -> Plan<()> {
    let changes = (member.name() != name).then(|| members::rename(scope.call(), member, name));
    Plan::new(scope, ()).change(changes).showing([member.id().uuid()])
}

async fn changes(scope: &Scope, removal: &Removal) -> Result<Changes, Error> {
    let account = scope.store().account_of(removal.removed()).await?;
    Ok(members::remove(scope.call(), removal, account.as_ref())?)
}
