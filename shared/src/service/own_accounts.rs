//! The accounts that an organization calls its own: members mark them, agree, and remove them.

use crate::crypto::keyring::Keyring;
use crate::domain::bank_account::{AccountDigest, AccountKeys, BankAccount};
use crate::domain::ids::OwnAccountId;
use crate::domain::member::Member;
use crate::domain::own_account::agreeing::{self, NotOwned};
use crate::domain::own_account::{self, OwnAccount};
use crate::error::Error;
use crate::service::scope::{Plan, Scope};
use crate::service::second_members;
use crate::store::organizations as stored;

/// The digests of the organization's accounts: those that a second member agreed to.
pub async fn counted(scope: &Scope) -> Result<Vec<AccountDigest>, Error> {
    let organization = scope.store().organization().await?;
    Ok(own_account::counted(&organization.own_accounts).cloned().collect())
}

/// Marks an account as the organization's own, with the id from the form.
pub async fn say(
    scope: &Scope,
    by: &Member,
    keys: &Keyring,
    id: OwnAccountId,
    account: &BankAccount,
) -> Result<Plan<Result<(), NotOwned>>, Error> {
    let before = scope.store().organization().await?.own_accounts;
    if before.iter().any(|own| own.id == id) {
        return Ok(plan(scope, id, Ok(())));
    }
    let counting = second_members::load(scope).await?.counting(by.id(), None);
    let new = OwnAccount {
        id,
        ending: account.ending(),
        digest: AccountKeys::new(keys, scope.org()).digest(account),
        said_by: by.actor(),
        said_at: scope.now(),
        agreed: None,
    };
    changed(scope, by, id, &before, agreeing::said(&before, new, counting))
}

/// Agrees that an account is the organization's own.
pub async fn agree(scope: &Scope, by: &Member, id: OwnAccountId) -> Result<Plan<Result<(), NotOwned>>, Error> {
    let before = scope.store().organization().await?.own_accounts;
    let first = before.iter().find(|own| own.id == id).and_then(OwnAccount::said_by_member);
    let counting = second_members::load(scope).await?.counting(by.id(), first);
    let after = agreeing::agreed(&before, id, &by.actor(), scope.now(), counting);
    changed(scope, by, id, &before, after)
}

/// Removes an account from the organization's own. Nothing changes if it is already gone.
pub async fn remove(scope: &Scope, by: &Member, id: OwnAccountId) -> Result<Plan<Result<(), NotOwned>>, Error> {
    let before = scope.store().organization().await?.own_accounts;
    let after = before.iter().filter(|own| own.id != id).cloned().collect();
    changed(scope, by, id, &before, Ok(after))
}

fn plan<T>(scope: &Scope, id: OwnAccountId, output: T) -> Plan<T> {
    Plan::new(scope, output).showing([id.uuid()])
}

fn changed(
    scope: &Scope,
    by: &Member,
    id: OwnAccountId,
    before: &[OwnAccount],
    after: Result<Vec<OwnAccount>, NotOwned>,
) -> Result<Plan<Result<(), NotOwned>>, Error> {
    let after = match after {
        Ok(after) => after,
        Err(refused) => return Ok(plan(scope, id, Err(refused))),
    };
    if after == before {
        return Ok(plan(scope, id, Ok(())));
    }
    Ok(plan(scope, id, Ok(())).change([stored::change_own_accounts(scope.call(), by, before, &after)?]))
}
