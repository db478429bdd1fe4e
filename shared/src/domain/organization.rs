//! Organizations and their members.

use std::collections::BTreeSet;

use deserr::Deserr;
use serde::{Deserialize, Serialize};

use super::contact::{DisplayName, Email};
use super::ids::{ContactId, MemberId, OrgId};
use super::own_account::OwnAccount;
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
    pub time_zone: TimeZone,
    /// Whether a participant's link opens a session only with a code, which a member reads out by phone.
    pub asks_for_codes: bool,
    /// The contacts that it acts as: "we" in a deal.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub own_contact_ids: BTreeSet<ContactId>,
    /// The accounts at banks that members called its own, in the order in which they did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own_accounts: Vec<OwnAccount>,
    /// The names that it had before, the oldest first. Organizations that were never renamed have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier_names: Vec<EarlierName>,
    /// Since when it is suspended, if it is: nobody gets in, and nothing leaves it.
    ///
    /// Decision: sessions and links are refused by this, which they read in any case. Tokens and endpoints have a copy: a call
    /// of the API reads the token and no organization, so a check there would cost every call a read. `ops suspend` writes
    /// the copies, `ops verify` finds and repairs one that is missing, and no token or endpoint is added while it is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspended_at: Option<Timestamp>,
    /// When it was created.
    pub created_at: Timestamp,
}

/// A name that an organization had.
///
/// Decision: an organization keeps its names, rather than each completed agreement the one of its day. Time completes an
/// agreement too, for every reader and by rules that know no organization.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EarlierName {
    /// The name.
    pub name: DisplayName,
    /// Since when it has another one.
    pub until: Timestamp,
}

impl Organization {
    /// The name that it had at a moment.
    #[must_use]
    pub fn name_at(&self, at: Timestamp) -> &DisplayName {
        self.earlier_names.iter().find(|earlier| at < earlier.until).map_or(&self.name, |earlier| &earlier.name)
    }

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
            own_accounts: Vec::new(),
            earlier_names: Vec::new(),
            suspended_at: None,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_organization_had_the_name_of_its_day() {
        let name = |text: &str| DisplayName::parse(text).unwrap();
        let at = |minutes: i64| "2026-03-14T12:00:00.000Z".parse::<Timestamp>().unwrap().plus_seconds(60 * minutes);
        let mut organization = Organization::create(name("Third"), at(0));
        let stored = serde_json::to_value(&organization).unwrap();
        assert!(stored.get("earlier_names").is_none(), "as it was stored before there were any: {stored}");
        assert_eq!(serde_json::from_value::<Organization>(stored).unwrap(), organization);
        assert_eq!(organization.name_at(at(-5)), &name("Third"));
        let earlier = [("First", 10), ("Second", 20)];
        organization.earlier_names =
            earlier.map(|(text, until)| EarlierName { name: name(text), until: at(until) }).into();
        for (minutes, expected) in [(0, "First"), (9, "First"), (10, "Second"), (19, "Second"), (20, "Third")] {
            assert_eq!(organization.name_at(at(minutes)), &name(expected), "{minutes}");
        }
        let stored = serde_json::to_value(&organization).unwrap();
        assert_eq!(serde_json::from_value::<Organization>(stored).unwrap(), organization);
    }
}
