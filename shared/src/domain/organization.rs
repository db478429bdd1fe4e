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
    /// What a member may do in the app.
    pub enum Role {
        /// Everything, settings included.
        Admin = "admin",
        /// Everything but settings.
        Member = "member",
    }
}

/// Somebody who belongs to an organization.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberRecord {
    /// Their id in this organization.
    pub id: MemberId,
    /// Their name.
    pub name: DisplayName,
    /// The e-mail address of their account.
    pub email: Email,
    /// What they may do.
    pub role: Role,
    /// Since when they belong to it.
    pub created_at: Timestamp,
}
