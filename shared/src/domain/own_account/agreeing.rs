//! One member marks an account as the organization's own, and a second member agrees.

use super::{Agreed, OwnAccount};
use crate::domain::actor::Actor;
use crate::domain::bank_account::Compared;
use crate::domain::ids::OwnAccountId;
use crate::domain::member::Counting;
use crate::domain::time::Timestamp;
use crate::limits;

/// Why an act on an own account was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotOwned {
    /// There is no such account anymore.
    Unknown,
    /// A member has already marked the account as the organization's own.
    SaidAlready,
    /// The limit of own accounts is reached.
    Full,
    /// The member marked it themselves, and another one can agree.
    Own,
    /// The member and the one who marked it count as one.
    OneSelf,
}

/// The own accounts with one more, marked by a member. Without a second member it counts at once.
pub fn said(before: &[OwnAccount], new: OwnAccount, counting: Counting) -> Result<Vec<OwnAccount>, NotOwned> {
    if before.iter().any(|own| own.digest.compare(&new.digest) == Compared::Same) {
        return Err(NotOwned::SaidAlready);
    }
    if before.len() >= limits::OWN_ACCOUNTS_MAX {
        return Err(NotOwned::Full);
    }
    let alone = Agreed { by: new.said_by.clone(), at: new.said_at, is_alone: true };
    let agreed = (counting == Counting::Alone).then_some(alone);
    Ok(before.iter().cloned().chain([OwnAccount { agreed, ..new }]).collect())
}

/// The own accounts after a member agrees to one.
pub fn agreed(
    before: &[OwnAccount],
    id: OwnAccountId,
    by: &Actor,
    at: Timestamp,
    counting: Counting,
) -> Result<Vec<OwnAccount>, NotOwned> {
    let found = before.iter().find(|own| own.id == id).ok_or(NotOwned::Unknown)?;
    if found.agreed.is_some() {
        return Ok(before.to_vec());
    }
    let is_alone = counting == Counting::Alone;
    let is_own = by.member().is_some_and(|member| found.said_by.is_member(member));
    match counting {
        Counting::OneSelf => return Err(NotOwned::OneSelf),
        Counting::Confirmed if is_own => return Err(NotOwned::Own),
        Counting::Confirmed | Counting::Alone => {}
    }
    let agreed = Agreed { by: by.clone(), at, is_alone };
    let agree = |own: &OwnAccount| {
        if own.id == id { OwnAccount { agreed: Some(agreed.clone()), ..own.clone() } } else { own.clone() }
    };
    Ok(before.iter().map(agree).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crypto::keyring::Keyring;
    use crate::domain::actor::ActorType;
    use crate::domain::agreement::fixtures::noon;
    use crate::domain::bank_account::{AccountKeys, BankAccount};
    use crate::domain::ids::{MemberId, OrgId};
    use crate::domain::own_account::counted;

    fn member(name: &str) -> Actor {
        let id = Some(MemberId::new().uuid());
        Actor { actor_type: ActorType::Member, id, display_name: name.to_owned() }
    }

    #[test]
    fn an_account_counts_once_a_second_member_agrees_or_at_once_without_one() {
        let keys = AccountKeys::new(&Keyring::new("one").unwrap(), OrgId::new());
        let (maren, kim) = (member("Maren"), member("Kim"));
        let new = |number: &str| OwnAccount {
            id: OwnAccountId::new(),
            ending: String::new(),
            digest: keys.digest(&BankAccount::new(number, None).unwrap()),
            said_by: maren.clone(),
            said_at: noon(),
            agreed: None,
        };
        let all = said(&[], new("000123456789"), Counting::Confirmed).unwrap();
        assert_eq!(counted(&all).count(), 0);
        assert_eq!(said(&all, new("123456789"), Counting::Confirmed), Err(NotOwned::SaidAlready));
        let agree = |by: &Actor, counting| agreed(&all, all[0].id, by, noon(), counting);
        assert_eq!(agree(&maren, Counting::Confirmed), Err(NotOwned::Own));
        assert_eq!(agree(&kim, Counting::OneSelf), Err(NotOwned::OneSelf));
        let after = agree(&kim, Counting::Confirmed).unwrap();
        assert_eq!(counted(&after).count(), 1);
        assert_eq!(agreed(&after, OwnAccountId::new(), &kim, noon(), Counting::Confirmed), Err(NotOwned::Unknown));
        // A member who is alone by now agrees to their own earlier word.
        assert!(agree(&maren, Counting::Alone).unwrap()[0].agreed.as_ref().unwrap().is_alone);
        assert_eq!(counted(&said(&[], new("1234567"), Counting::Alone).unwrap()).count(), 1);
        let full: Vec<OwnAccount> = (0..limits::OWN_ACCOUNTS_MAX).map(|n| new(&format!("55500{n}"))).collect();
        assert_eq!(said(&full, new("1234567"), Counting::Alone), Err(NotOwned::Full));
    }
}
