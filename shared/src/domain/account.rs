//! Accounts: a person's sign-in to the app, one per email address, with memberships in organizations.

use serde::{Deserialize, Serialize};

use crate::domain::contact::Email;
use crate::domain::ids::{MemberId, OrgId};
use crate::domain::time::Timestamp;

/// An account as stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// The address to sign in with.
    pub email: Email,
    /// argon2id, in the PHC string format.
    pub password_hash: String,
    /// The organizations that the person belongs to.
    pub memberships: Vec<Membership>,
    /// When the account was created.
    pub created_at: Timestamp,
    /// How often the person has signed out everywhere. Sessions of an earlier epoch are invalid.
    pub epoch: u64,
}

impl Account {
    /// Whether no other organization uses the account.
    #[must_use]
    pub fn is_used_only_by(&self, org: OrgId) -> bool {
        self.memberships.iter().all(|membership| membership.organization_id == org)
    }
}

/// One organization that an account belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Membership {
    /// The organization.
    pub organization_id: OrgId,
    /// The person's member id in it.
    pub member_id: MemberId,
}
