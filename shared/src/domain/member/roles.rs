use super::{Admin, Member};
use crate::domain::organization::{MemberRecord, Role};

/// Why an admin did not change a role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoleNotChanged {
    /// Admins can't change their own role, so that two who demote each other at once leave one admin.
    Oneself,
    /// The organization has no such member.
    Unknown,
}

/// A member and their new role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleChange {
    before: MemberRecord,
    role: Role,
    by: Member,
}

impl RoleChange {
    /// The member before the change.
    #[must_use]
    pub fn before(&self) -> &MemberRecord {
        &self.before
    }

    /// The new role.
    #[must_use]
    pub fn role(&self) -> Role {
        self.role
    }

    /// Whether they already have the role.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.before.role == self.role
    }

    pub(crate) fn by(&self) -> &Member {
        &self.by
    }
}

/// Sets the role of a member of the organization, if `found`. Only an admin can.
pub fn change_role(by: Admin<'_>, found: Option<MemberRecord>, role: Role) -> Result<RoleChange, RoleNotChanged> {
    let before = found.ok_or(RoleNotChanged::Unknown)?;
    if before.id == by.member().id {
        return Err(RoleNotChanged::Oneself);
    }
    Ok(RoleChange { before, role, by: by.member().clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::agreement::fixtures::noon;
    use crate::domain::contact::{DisplayName, Email};
    use crate::domain::ids::{MemberId, OrgId};

    #[test]
    fn an_admin_changes_the_role_of_others_only() {
        let member = |name: &str, role| {
            let email = Email::parse(&format!("{name}@example.org")).unwrap();
            let name = DisplayName::parse(name).unwrap();
            MemberRecord { id: MemberId::new(), name, email, role, created_at: noon() }
        };
        let (ada, ben) = (member("ada", Role::Admin), member("ben", Role::Member));
        let signed_in = Member::of_session(OrgId::new(), &ada);
        let by = signed_in.as_admin().unwrap();
        let change = change_role(by, Some(ben.clone()), Role::Admin).unwrap();
        assert_eq!((change.before(), change.role(), change.is_none()), (&ben, Role::Admin, false));
        assert!(change_role(by, Some(ben), Role::Member).unwrap().is_none());
        for role in Role::ALL {
            assert_eq!(change_role(by, Some(ada.clone()), role), Err(RoleNotChanged::Oneself));
            assert_eq!(change_role(by, None, role), Err(RoleNotChanged::Unknown));
        }
    }
}
