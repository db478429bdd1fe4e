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
    /// The time zone in which its members enter and read local times.
    pub time_zone: TimeZone,
    /// Whether opening a participant's link also requires a code, which a member reads out by phone.
    pub asks_for_codes: bool,
    /// The contacts that it acts as: "we" in a deal.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub own_contact_ids: BTreeSet<ContactId>,
    /// The bank accounts that members marked as its own, in that order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own_accounts: Vec<OwnAccount>,
    /// Its earlier names, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier_names: Vec<EarlierName>,
    /// When it was suspended, if it is: nobody gets in, and nothing leaves it.
    ///
    /// Decision: sessions and links check this field. Tokens and endpoints hold a copy, because API calls don't read
    /// the organization: `ops suspend` writes them, `ops verify` repairs them, and none is added meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspended_at: Option<Timestamp>,
    /// When it was created.
    pub created_at: Timestamp,
}

/// An earlier name. The organization keeps it, since the rules that complete an agreement don't know organizations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EarlierName {
    /// The name.
    pub name: DisplayName,
    /// When it was replaced.
    pub until: Timestamp,
}

impl Organization {
    /// Its name at a moment.
    #[must_use]
    pub fn name_at(&self, at: Timestamp) -> &DisplayName {
        self.earlier_names.iter().find(|earlier| at < earlier.until).map_or(&self.name, |earlier| &earlier.name)
    }

    /// A new organization, in UTC until an admin changes that.
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

/// The organization settings in one form.
#[derive(Debug, Clone, Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub struct OrganizationSettings {
    /// Its name.
    pub name: DisplayName,
    /// Its time zone.
    pub time_zone: TimeZone,
}

/// The contact to add to an organization's own contacts.
#[derive(Debug, Clone, Copy, Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub struct NewOwnContact {
    /// A contact of the organization.
    pub contact_id: ContactId,
}

/// A member's new name.
#[derive(Debug, Clone, Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub struct NewName {
    /// The name.
    pub name: DisplayName,
}

/// A member's new role.
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

/// A member as stored.
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
    /// Whether the member may change the organization's settings.
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
