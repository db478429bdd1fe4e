//! Links to set a new password, which admins make for members. `web::link_holder` uses them.

use crate::crypto::LinkSecret;
use crate::domain::ids::MemberId;
use crate::domain::member::Admin;
use crate::domain::organization::MemberRecord;
use crate::domain::password_link::{NotLinked, PasswordLink};
use crate::error::Error;
use crate::service::scope::{Plan, Scope};
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
