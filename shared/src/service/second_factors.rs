//! Second factors of members, which admins and operators reset. `web::second_factor` has what people do with their own.

use std::collections::HashSet;

use crate::domain::contact::Email;
use crate::domain::ids::MemberId;
use crate::domain::member::Admin;
use crate::domain::member::second::{Tie, TieKind};
use crate::domain::organization::MemberRecord;
use crate::domain::second_factor::{self, NotReset};
use crate::error::Error;
use crate::service::scope::{Plan, Scope, Writer};
use crate::service::system::SystemContext;
use crate::store::{member_ties, second_factors};

/// The members among these whose second factor is on.
pub async fn turned_on(scope: &Scope, members: &[&MemberRecord]) -> Result<HashSet<MemberId>, Error> {
    Ok(scope.store().members_with_factor(members).await?)
}

/// Resets the second factor of a member, which ends all their sessions, and returns the member.
pub async fn reset(
    scope: &Scope,
    admin: Admin<'_>,
    id: MemberId,
) -> Result<Plan<Result<MemberRecord, NotReset>>, Error> {
    let member = scope.store().member(id).await?;
    let account = match &member {
        Some(member) => scope.store().account_with_factor_of(member).await?,
        None => None,
    };
    Ok(match second_factor::reset(admin, member, account) {
        Ok((member, account, factor)) => {
            let changes = second_factors::reset(scope.call(), admin, &account, &factor)?;
            let kind = TieKind::SecondFactorReset;
            let tie = Tie { member_id: id, by: admin.member().id(), kind, at: scope.now() };
            let tied = member_ties::tie(scope.call(), &tie)?;
            Plan::new(scope, Ok(member)).change([changes, tied]).showing([id.uuid()])
        }
        Err(refusal) => Plan::new(scope, Err(refusal)),
    })
}

/// Resets the second factor of an account by an operator, recorded as the service's own call. False if it is off.
pub async fn reset_as_operator(system: &SystemContext, email: &Email) -> Result<Plan<bool>, Error> {
    let scope = system.scope();
    let Some((account, Some(factor))) = scope.store().table().account_with_factor(email).await? else {
        return Ok(Plan::new(scope, false));
    };
    let here = account.memberships.iter().filter(|membership| membership.organization_id == scope.call().org());
    let members = here.map(|membership| membership.member_id.uuid());
    let changes = second_factors::reset_as_operator(scope.call(), &account, &factor)?;
    Ok(Plan::new(scope, true).change([changes]).showing(members))
}
