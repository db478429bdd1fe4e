use super::{Admin, Member};
use crate::domain::ids::MemberId;
use crate::domain::organization::{MemberRecord, Role};

/// Why an admin did not remove a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotRemoved {
    /// Admins can't remove themselves, so an admin always remains.
    Oneself,
    /// The organization has no such member.
    Unknown,
}

/// Why an operator did not remove a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotRemovedByOperator {
    /// The organization has no such member.
    #[error("the organization has no such member")]
    Unknown,
    /// The organization would have no admin left to change its settings.
    #[error("the last admin stays")]
    LastAdmin,
}

/// A member to remove, and the admin who must remain: an organization always keeps one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removal {
    removed: MemberRecord,
    remaining_admin: Option<MemberId>,
    by: Option<Member>,
}

impl Removal {
    /// The member to remove.
    #[must_use]
    pub fn removed(&self) -> &MemberRecord {
        &self.removed
    }

    /// The admin who must still be one at the commit. None if one remains anyway, such as the acting admin.
    #[must_use]
    pub fn remaining_admin(&self) -> Option<MemberId> {
        self.remaining_admin
    }

    /// The removing admin, who must make the call that commits it. None for an operator.
    pub(crate) fn by(&self) -> Option<&Member> {
        self.by.as_ref()
    }

    pub(crate) fn by_operator(members: &[MemberRecord], who: MemberId) -> Result<Self, NotRemovedByOperator> {
        let removed = members.iter().find(|member| member.id == who).ok_or(NotRemovedByOperator::Unknown)?;
        let remaining_admin = match removed.role {
            Role::Member => None,
            Role::Admin => {
                let other = members.iter().find(|member| member.id != who && member.role == Role::Admin);
                Some(other.ok_or(NotRemovedByOperator::LastAdmin)?.id)
            }
        };
        Ok(Self { removed: removed.clone(), remaining_admin, by: None })
    }
}

/// Removes a member of the organization, if `found`. Only an admin can.
pub fn remove(by: Admin<'_>, found: Option<MemberRecord>) -> Result<Removal, NotRemoved> {
    let removed = found.ok_or(NotRemoved::Unknown)?;
    if removed.id == by.member().id {
        return Err(NotRemoved::Oneself);
    }
    Ok(Removal { removed, remaining_admin: None, by: Some(by.member().clone()) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::agreement::fixtures::noon;
    use crate::domain::contact::{DisplayName, Email};
    use crate::domain::ids::OrgId;

    fn member(name: &str, role: Role) -> MemberRecord {
        let email = Email::parse(&format!("{name}@example.org")).unwrap();
        MemberRecord { id: MemberId::new(), name: DisplayName::parse(name).unwrap(), email, role, created_at: noon() }
    }

    #[test]
    fn an_admin_removes_others_and_an_admin_always_stays() {
        let (ada, ben, eve) = (member("ada", Role::Admin), member("ben", Role::Member), member("eve", Role::Admin));
        let by = |record: &MemberRecord| Member::of_session(OrgId::new(), record);
        assert!(by(&ben).as_admin().is_none());
        let ada_signed_in = by(&ada);
        let by_ada = ada_signed_in.as_admin().unwrap();
        for removed in [&ben, &eve] {
            let removal = remove(by_ada, Some(removed.clone())).unwrap();
            assert_eq!((removal.removed(), removal.remaining_admin()), (removed, None));
        }
        assert_eq!(remove(by_ada, Some(ada.clone())), Err(NotRemoved::Oneself));
        assert_eq!(remove(by_ada, None), Err(NotRemoved::Unknown));
    }

    #[test]
    fn an_operator_leaves_an_admin_too() {
        let (ada, ben, eve) = (member("ada", Role::Admin), member("ben", Role::Member), member("eve", Role::Admin));
        let all = [ada.clone(), ben.clone(), eve.clone()];
        assert_eq!(Removal::by_operator(&all, ada.id).unwrap().remaining_admin(), Some(eve.id));
        assert_eq!(Removal::by_operator(&all, ben.id).unwrap().remaining_admin(), None);
        assert_eq!(Removal::by_operator(&all[..2], ada.id), Err(NotRemovedByOperator::LastAdmin));
        assert_eq!(Removal::by_operator(&all, MemberId::new()), Err(NotRemovedByOperator::Unknown));
    }
}
