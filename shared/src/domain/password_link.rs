//! Links for members who forgot their password. An admin makes one and hands it over, since Countersign sends no email.
//!
//! Decision: the link's holder can take over the account. So an admin gets one only for an account that no other
//! organization uses, checked when the link is made and used; operators' links need neither. A link also ends when its
//! admin is removed or demoted, when the member is removed, and on any password change.

use serde::{Deserialize, Serialize};

use super::account::{Account, Membership};
use super::contact::Email;
use super::ids::{MemberId, OrgId};
use super::member::{Admin, Member};
use super::organization::MemberRecord;
use super::time::Timestamp;
use crate::crypto::{fingerprint, hex};
use crate::limits;

/// A link as stored, without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PasswordLink {
    /// The organization of the admin who made it, or one of the member's organizations if an operator did.
    pub organization_id: OrgId,
    /// The member it is for.
    pub member_id: MemberId,
    /// The address of the member's account.
    pub email: Email,
    /// The admin who made it. None if an operator did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<MemberId>,
    /// When it stops working.
    pub expires_at: Timestamp,
    /// A fingerprint of the password hash that it replaces.
    replaces: String,
}

/// Why an admin can't make a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotLinked {
    /// Admins change their own password differently: a stolen session must not suffice to take over an account.
    Oneself,
    /// No such member, or the member has no account.
    Unknown,
    /// Another organization uses the account.
    UsedElsewhere,
}

impl PasswordLink {
    /// A new link for a member.
    pub fn create(
        by: Admin<'_>,
        member: Option<&MemberRecord>,
        account: Option<&Account>,
        now: Timestamp,
    ) -> Result<Self, NotLinked> {
        let (Some(member), Some(account)) = (member, account) else { return Err(NotLinked::Unknown) };
        let admin: &Member = by.member();
        if member.id == admin.id() {
            return Err(NotLinked::Oneself);
        }
        if !account.is_used_only_by(admin.org()) {
            return Err(NotLinked::UsedElsewhere);
        }
        let membership = Membership { organization_id: admin.org(), member_id: member.id };
        Ok(Self { created_by: Some(admin.id()), ..Self::by_operator(membership, account, now) })
    }

    /// An operator's new link for an account with this membership. The operator verifies who asks.
    #[must_use]
    pub fn by_operator(membership: Membership, account: &Account, now: Timestamp) -> Self {
        Self {
            organization_id: membership.organization_id,
            member_id: membership.member_id,
            email: account.email.clone(),
            created_by: None,
            expires_at: now.plus_seconds(limits::PASSWORD_LINK_LIFETIME_S),
            replaces: fingerprint_of(account),
        }
    }

    /// Whether it works now, given the account and its creator's current record, if any.
    #[must_use]
    pub fn is_valid_at(&self, now: Timestamp, account: &Account, created_by: Option<&MemberRecord>) -> bool {
        let is_of_member = account.memberships.iter().any(|membership| membership.member_id == self.member_id);
        let may_be_made = self.created_by.is_none()
            || (account.is_used_only_by(self.organization_id) && created_by.is_some_and(MemberRecord::is_admin));
        now < self.expires_at && is_of_member && self.replaces == fingerprint_of(account) && may_be_made
    }
}

fn fingerprint_of(account: &Account) -> String {
    hex(&fingerprint(&[account.password_hash.as_bytes()]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::contact::DisplayName;
    use crate::domain::organization::Role;

    fn member(name: &str, role: Role, now: Timestamp) -> MemberRecord {
        let email = Email::parse(&format!("{name}@example.org")).unwrap();
        MemberRecord { id: MemberId::new(), name: DisplayName::parse(name).unwrap(), email, role, created_at: now }
    }

    fn account(org: OrgId, member: &MemberRecord) -> Account {
        Account {
            email: member.email.clone(),
            password_hash: "before".to_owned(),
            memberships: vec![Membership { organization_id: org, member_id: member.id }],
            created_at: member.created_at,
            epoch: 0,
        }
    }

    #[test]
    fn a_link_is_for_an_account_that_only_its_organization_uses() {
        let (org, now) = (OrgId::new(), Timestamp::from_unix_ms(1_800_000_000_000).unwrap());
        let (ada, ben) = (member("ada", Role::Admin, now), member("ben", Role::Member, now));
        let signed_in = Member::of_session(org, &ada);
        let by = signed_in.as_admin().unwrap();
        let bens = account(org, &ben);
        let elsewhere = Membership { organization_id: OrgId::new(), member_id: MemberId::new() };
        let shared = Account { memberships: vec![bens.memberships[0], elsewhere], ..bens.clone() };
        assert_eq!(PasswordLink::create(by, Some(&ada), Some(&account(org, &ada)), now), Err(NotLinked::Oneself));
        assert_eq!(PasswordLink::create(by, None, None, now), Err(NotLinked::Unknown));
        assert_eq!(PasswordLink::create(by, Some(&ben), None, now), Err(NotLinked::Unknown));
        assert_eq!(PasswordLink::create(by, Some(&ben), Some(&shared), now), Err(NotLinked::UsedElsewhere));

        let link = PasswordLink::create(by, Some(&ben), Some(&bens), now).unwrap();
        let last = now.plus_seconds(24 * 3600 - 1);
        let demoted = MemberRecord { role: Role::Member, ..ada.clone() };
        let changed = Account { password_hash: "after".to_owned(), ..bens.clone() };
        let removed = Account { memberships: Vec::new(), ..bens.clone() };
        for (at, account, admin, is_valid) in [
            (now, &bens, Some(&ada), true),
            (last, &bens, Some(&ada), true),
            (last.plus_seconds(1), &bens, Some(&ada), false),
            (now, &bens, Some(&demoted), false),
            (now, &bens, None, false),
            (now, &shared, Some(&ada), false),
            (now, &changed, Some(&ada), false),
            (now, &removed, Some(&ada), false),
        ] {
            assert_eq!(link.is_valid_at(at, account, admin), is_valid, "{at} {account:?} {admin:?}");
        }

        let link = PasswordLink::by_operator(bens.memberships[0], &bens, now);
        for (at, account, is_valid) in [
            (now, &bens, true),
            (last, &shared, true),
            (last.plus_seconds(1), &bens, false),
            (now, &changed, false),
            (now, &removed, false),
        ] {
            assert_eq!(link.is_valid_at(at, account, None), is_valid, "{at} {account:?}");
        }
    }
}
