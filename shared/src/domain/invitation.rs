//! Invitations: an admin gives a person a link, with which the person becomes a member.
//!
//! - Decision: inviting an address again makes a new link and invalidates the old one, so an admin who lost a link
//!   needn't revoke it first.
//! - Decision: an invitation outlives its admin's membership: it belongs to the organization, and any admin can revoke
//!   it. Removing a member deletes the invitation for their address.

use deserr::Deserr;
use serde::{Deserialize, Serialize};

use super::actor::Actor;
use super::contact::Email;
use super::ids::{InvitationId, OrgId};
use super::member::Admin;
use super::organization::Role;
use super::time::Timestamp;
use crate::limits;
use crate::wire::fields::FieldErrors;

/// An invitation as stored, without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invitation {
    /// Its id.
    pub id: InvitationId,
    /// The organization that the person joins.
    pub organization_id: OrgId,
    /// The person's email address.
    pub email: Email,
    /// The role that the person gets.
    pub role: Role,
    /// When it was made.
    pub created_at: Timestamp,
    /// When its link stops working.
    pub expires_at: Timestamp,
    /// The admin who made it. None if an operator did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<Actor>,
}

/// An invitation to be made.
#[derive(Debug, Clone, Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub struct NewInvitation {
    /// The person's email address.
    pub email: Email,
    /// The role that the person gets.
    pub role: Role,
}

impl Invitation {
    /// A new invitation, by an operator.
    #[must_use]
    pub fn issue(organization_id: OrgId, new: NewInvitation, now: Timestamp) -> Self {
        let NewInvitation { email, role } = new;
        let expires_at = now.plus_seconds(limits::INVITATION_LIFETIME_S);
        let id = InvitationId::new();
        Self { id, organization_id, email, role, created_at: now, expires_at, created_by: None }
    }

    /// A new invitation to the admin's organization.
    #[must_use]
    pub fn create(admin: Admin<'_>, new: NewInvitation, now: Timestamp) -> Self {
        let issued = Self::issue(admin.member().org(), new, now);
        Self { created_by: Some(admin.member().actor()), ..issued }
    }

    /// Whether its link works at a moment.
    #[must_use]
    pub fn is_valid_at(&self, now: Timestamp) -> bool {
        now < self.expires_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invitation_ends_after_seven_days() {
        let now = Timestamp::from_unix_ms(1_800_000_000_000).unwrap();
        let new = NewInvitation { email: Email::parse("ada@okafor.example").unwrap(), role: Role::Admin };
        let invitation = Invitation::issue(OrgId::new(), new, now);
        let last = now.plus_seconds(7 * 24 * 3600 - 1);
        assert!(invitation.is_valid_at(now) && invitation.is_valid_at(last));
        assert!(!invitation.is_valid_at(last.plus_seconds(1)));
    }
}
