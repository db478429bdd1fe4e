//! A call of a member without a browser, for the local stack's demo. It uses the same use cases as the app's forms.

use http::StatusCode;

use crate::domain::contact::Email;
use crate::domain::member::{Admin, Member};
use crate::error::Error;
use crate::platform::app_state::AppState;
use crate::platform::call_record::CallRecord;
use crate::service::scope::{Plan, Scope};
use crate::store::change::Changes;
use crate::store::members;
use crate::web::credentials::check_password;

/// A call of a member whose password was checked.
#[derive(Debug)]
pub struct MemberCall {
    member: Member,
    scope: Scope,
}

impl MemberCall {
    /// Begins a call in the account's first organization. `None` if the password is wrong, or a second factor is on.
    pub async fn begin(
        app: &AppState,
        operation: &'static str,
        email: &Email,
        password: &str,
    ) -> Result<Option<Self>, Error> {
        let record = CallRecord::begin(app, operation);
        let (account, factor) = record.store().account_with_factor(email).await?.unzip();
        if !check_password(account.as_ref(), password).await? {
            return Ok(None);
        }
        let (Some(account), None) = (account, factor.flatten()) else { return Ok(None) };
        let first = record.store().memberships(&account).await?.into_iter().next();
        Ok(first.map(|(organization, member)| {
            let member = Member::of_session(organization.id, &member);
            let scope = record.scope(app, organization.id, member.actor(), Vec::new());
            Self { member, scope }
        }))
    }

    /// The member.
    #[must_use]
    pub fn member(&self) -> &Member {
        &self.member
    }

    /// The scope of its use cases.
    #[must_use]
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Commits a plan, unless it changes nothing, and returns its output. Fails if the member has been removed.
    pub async fn commit<T>(&self, plan: Plan<T>) -> Result<T, Error> {
        self.commit_with(plan, members::check_member(self.scope.call(), self.member.id())).await
    }

    /// Decides as an admin and commits as [`MemberCall::commit`] does. Fails if the member is no admin.
    pub async fn commit_as_admin<T>(
        &self,
        decide: impl AsyncFnOnce(&Scope, Admin<'_>) -> Result<Plan<T>, Error>,
    ) -> Result<T, Error> {
        let plan = decide(&self.scope, self.member.as_admin().ok_or(Error::AdminsOnly)?).await?;
        self.commit_with(plan, members::check_admin(self.scope.call(), self.member.id())).await
    }

    async fn commit_with<T>(&self, plan: Plan<T>, check: Changes) -> Result<T, Error> {
        if plan.is_empty() {
            return Ok(plan.into_output());
        }
        let (commit, shown, output) = plan.into_commit(&self.scope);
        commit.with([check]).done(StatusCode::OK, &shown).await?;
        Ok(output)
    }
}
