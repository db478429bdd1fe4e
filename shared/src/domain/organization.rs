//! Organizations and their members.

use serde::{Deserialize, Serialize};

use super::contact::{DisplayName, Email};
use super::ids::{MemberId, OrgId};
use super::time::Timestamp;
use crate::wire::enums::text_enum;

/// An organization: the tenant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Organization {
    /// Its id.
    pub id: OrgId,
    /// Its name.
    pub name: DisplayName,
    /// When it was created.
    pub created_at: Timestamp,
}

text_enum! {
    /// The rights of a member in the app.
    pub enum Role {
        /// Everything, settings included.
        Admin = "admin",
        /// Everything but settings.
        Member = "member",
    }
}

/// A member as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberRecord {
    /// The member's id in this organization.
    pub id: MemberId,
    /// The member's name.
    pub name: DisplayName,
    /// The email address of the member's account.
    pub email: Email,
    /// The member's role.
    pub role: Role,
    /// When the member joined.
    pub created_at: Timestamp,
}
