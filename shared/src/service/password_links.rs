//! Links to set a new password, which admins make for members. `web::link_holder` uses them.

use crate::crypto::LinkSecret;
use crate::domain::contact::Email;
use crate::domain::ids::MemberId;
use crate::domain::member::Admin;
use crate::domain::organization::MemberRecord;
use crate::domain::password_link::{NotLinked, PasswordLink};
use crate::error::Error;
use crate::service::scope::{Plan, Scope, Writer};
use crate::service::system::SystemContext;
use crate::store::password_links as stored;

/// Makes a link for a member, and returns the member. The caller shows the secret once.
pub async fn create(
    scope: &Scope,
    admin: Admin<'_>,
    id: MemberId,
    secret: &LinkSecret,
) -> Result<Plan<Result<MemberRecord, NotLinked>>, Error> {
    let Some(member) = scope.store().member(id).await? else {
        return Ok(Plan::new(scope, Err(NotLinked::Unknown)));
    };
    let account = scope.store().account_of(&member).await?;
    Ok(match PasswordLink::create(admin, Some(&member), account.as_ref(), scope.now()) {
        Ok(link) => {
            let changes = stored::create(scope.call(), admin, &link, secret.hash())?;
            Plan::new(scope, Ok(member)).change([changes]).showing([id.uuid()])
        }
        Err(refusal) => Plan::new(scope, Err(refusal)),
    })
}

/// Makes a link for an account by an operator, recorded as the service's own call. False if the account has left.
pub async fn create_as_operator(
    system: &SystemContext,
    email: &Email,
    secret: &LinkSecret,
) -> Result<Plan<bool>, Error> {
    let scope = system.scope();
    let Some(account) = scope.store().table().account(email).await? else { return Ok(Plan::new(scope, false)) };
    let mut memberships = account.memberships.iter();
    let Some(membership) = memberships.find(|membership| membership.organization_id == scope.call().org()) else {
        return Ok(Plan::new(scope, false));
    };
    let link = PasswordLink::by_operator(*membership, &account, scope.now());
    let changes = stored::create_as_operator(scope.call(), &link, secret.hash())?;
    Ok(Plan::new(scope, true).change([changes]).showing([membership.member_id.uuid()]))
}
