//! Who may remove a member, and that an admin always stays.

use super::Admin;
use crate::domain::ids::MemberId;
use crate::domain::organization::{MemberRecord, Role};

/// Why an admin did not remove a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotRemoved {
    /// Nobody removes themselves: so whoever removes somebody stays, and is an admin.
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
    /// Nobody would be left who can change the organization's settings.
    #[error("the last admin stays")]
    LastAdmin,
}

/// A member who is to go, and an admin who stays: there is always one left who can change the organization's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removal {
    gone: MemberRecord,
    stays: Option<MemberId>,
}

impl Removal {
    /// Whoever goes.
    #[must_use]
    pub fn gone(&self) -> &MemberRecord {
        &self.gone
    }

    /// An admin who must still be one when the other goes. None where somebody stays in any case: with an admin's own
    /// act, which holds only while they are one, and where it is no admin that goes.
    #[must_use]
    pub fn stays(&self) -> Option<MemberId> {
        self.stays
    }

    /// A removal by an operator, from among all members.
    pub(crate) fn by_operator(members: &[MemberRecord], who: MemberId) -> Result<Self, NotRemovedByOperator> {
        let gone = members.iter().find(|member| member.id == who).ok_or(NotRemovedByOperator::Unknown)?;
        let stays = match gone.role {
            Role::Member => None,
            Role::Admin => {
                let other = members.iter().find(|member| member.id != who && member.role == Role::Admin);
                Some(other.ok_or(NotRemovedByOperator::LastAdmin)?.id)
            }
        };
        Ok(Self { gone: gone.clone(), stays })
    }
}

/// Removes whoever was found among the organization's members: an admin's act.
///
/// # Errors
/// [`NotRemoved`].
pub fn remove(by: Admin<'_>, found: Option<MemberRecord>) -> Result<Removal, NotRemoved> {
    let gone = found.ok_or(NotRemoved::Unknown)?;
    if gone.id == by.member().id { Err(NotRemoved::Oneself) } else { Ok(Removal { gone, stays: None }) }
}

#[cfg(test)]
mod tests {
    use super::super::Member;
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
        for gone in [&ben, &eve] {
            let removal = remove(by_ada, Some(gone.clone())).unwrap();
            assert_eq!((removal.gone(), removal.stays()), (gone, None));
        }
        assert_eq!(remove(by_ada, Some(ada.clone())), Err(NotRemoved::Oneself));
        assert_eq!(remove(by_ada, None), Err(NotRemoved::Unknown));
    }

    #[test]
    fn an_operator_leaves_an_admin_too() {
        let (ada, ben, eve) = (member("ada", Role::Admin), member("ben", Role::Member), member("eve", Role::Admin));
        let all = [ada.clone(), ben.clone(), eve.clone()];
        assert_eq!(Removal::by_operator(&all, ada.id).unwrap().stays(), Some(eve.id));
        assert_eq!(Removal::by_operator(&all, ben.id).unwrap().stays(), None);
        assert_eq!(Removal::by_operator(&all[..2], ada.id), Err(NotRemovedByOperator::LastAdmin));
        assert_eq!(Removal::by_operator(&all, MemberId::new()), Err(NotRemovedByOperator::Unknown));
    }
}
