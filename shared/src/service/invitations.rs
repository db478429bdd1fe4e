//! Invitations: admins make and revoke them. `web::link_holder` accepts them, which takes no member.

use std::fmt;

use crate::crypto::LinkSecret;
use crate::domain::ids::InvitationId;
use crate::domain::invitation::{Invitation, NewInvitation};
use crate::domain::member::Admin;
use crate::error::Error;
use crate::limits;
use crate::service::scope::{Plan, Scope};
use crate::store::invitations as stored;
use crate::wire::text::Folded;

/// The organization's pending invitations, oldest first.
pub async fn pending(scope: &Scope) -> Result<Vec<Invitation>, Error> {
    let all = scope.store().invitations().await?.into_iter().map(|stored| stored.into_inner().invitation);
    let mut pending: Vec<_> = all.filter(|invitation| invitation.is_valid_at(scope.now())).collect();
    pending.sort_by_key(|invitation| invitation.id);
    Ok(pending)
}

/// A new invitation with its secret, generated once for all attempts to commit it, so the page shows the right link.
pub struct GeneratedInvitation {
    invitation: Invitation,
    secret: LinkSecret,
}

impl fmt::Debug for GeneratedInvitation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GeneratedInvitation").field("invitation", &self.invitation).finish_non_exhaustive()
    }
}

impl GeneratedInvitation {
    /// Generates the secret.
    pub fn generate(scope: &Scope, admin: Admin<'_>, new: NewInvitation) -> Result<Self, Error> {
        Ok(Self { invitation: Invitation::create(admin, new, scope.now()), secret: LinkSecret::new()? })
    }

    /// The invitation's id.
    #[must_use]
    pub fn id(&self) -> InvitationId {
        self.invitation.id
    }

    /// The secret, shown once.
    #[must_use]
    pub fn secret(&self) -> &LinkSecret {
        &self.secret
    }
}

/// Why nobody was invited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotInvited {
    /// The address is a member's.
    Member,
    /// The organization has [`limits::PENDING_INVITATIONS_MAX`] pending invitations.
    NoRoom,
}

/// Invites an address. Ends an earlier invitation of the address, and returns it if it worked until now.
pub async fn invite(
    scope: &Scope,
    admin: Admin<'_>,
    new: &GeneratedInvitation,
) -> Result<Plan<Result<Option<Invitation>, NotInvited>>, Error> {
    let address = Folded::new(new.invitation.email.as_str());
    let is_same = |email: &str| Folded::new(email).as_str() == address.as_str();
    if scope.store().members().await?.iter().any(|member| is_same(member.email.as_str())) {
        return Ok(Plan::new(scope, Err(NotInvited::Member)));
    }
    let all = scope.store().invitations().await?;
    let earlier = all.iter().find(|stored| is_same(stored.invitation.email.as_str()));
    let others = all.iter().filter(|stored| stored.invitation.is_valid_at(scope.now()) && Some(*stored) != earlier);
    // Two admins at the same moment may exceed the limit by one: it only keeps the list readable.
    if others.count() >= limits::PENDING_INVITATIONS_MAX {
        return Ok(Plan::new(scope, Err(NotInvited::NoRoom)));
    }
    let changes = stored::put(scope.call(), admin, &new.invitation, new.secret.hash(), earlier)?;
    // A second attempt finds what the first may have made.
    let replaced = earlier.map(|stored| stored.invitation.clone());
    let replaced = replaced.filter(|earlier| earlier.is_valid_at(scope.now()) && earlier.id != new.id());
    Ok(Plan::new(scope, Ok(replaced)).change([changes]).showing([new.id().uuid()]))
}

/// Revokes an invitation, unless it was accepted: its link stops working.
pub async fn revoke(scope: &Scope, admin: Admin<'_>, id: InvitationId) -> Result<Plan<()>, Error> {
    let all = scope.store().invitations().await?;
    let found = all.iter().find(|stored| stored.invitation.id == id).ok_or_else(Error::not_found)?;
    Ok(Plan::new(scope, ()).change([stored::revoke(scope.call(), admin, found)]).showing([id.uuid()]))
}
