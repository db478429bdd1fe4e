//! Organizations and their members.

use std::collections::BTreeSet;

use deserr::Deserr;
use serde::{Deserialize, Serialize};

use super::contact::{DisplayName, Email};
use super::ids::{ContactId, MemberId, OrgId};
use super::time::Timestamp;
use super::time_zone::TimeZone;
use crate::wire::enums::text_enum;
use crate::wire::fields::FieldErrors;

/// An organization: the tenant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Organization {
    /// Its id.
    pub id: OrgId,
    /// Its name.
    pub name: DisplayName,
    /// The zone in which its members type and read local times.
    #[serde(default)]
    pub time_zone: TimeZone,
    /// Whether a participant's link opens a session only with a code, which a member reads out by phone.
    #[serde(default)]
    pub asks_for_codes: bool,
    /// The contacts that it acts as: "we" in a deal.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub own_contact_ids: BTreeSet<ContactId>,
    /// When it was created.
    pub created_at: Timestamp,
}

impl Organization {
    /// A new organization, in UTC until an admin says otherwise.
    #[must_use]
    pub fn create(name: DisplayName, created_at: Timestamp) -> Self {
        let id = OrgId::new();
        Self {
            id,
            name,
            time_zone: TimeZone::default(),
            asks_for_codes: false,
            own_contact_ids: BTreeSet::new(),
            created_at,
        }
    }
}

/// The settings of an organization that one form changes.
#[derive(Debug, Clone, Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub struct OrganizationSettings {
    /// Its name.
    pub name: DisplayName,
    /// Its time zone.
    pub time_zone: TimeZone,
}

/// The contact that becomes one of an organization's own.
#[derive(Debug, Clone, Copy, Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub struct NewOwnContact {
    /// A contact of the organization.
    pub contact_id: ContactId,
}

/// The name that a member gives themselves.
#[derive(Debug, Clone, Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub struct NewName {
    /// The name.
    pub name: DisplayName,
}

/// The role that a member gets.
#[derive(Debug, Clone, Copy, Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub struct NewRole {
    /// The role.
    pub role: Role,
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

impl MemberRecord {
    /// Whether they may change the organization's settings.
    #[must_use]
    pub fn is_admin(&self) -> bool {
        self.role == Role::Admin
    }
}
