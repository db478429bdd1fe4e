//! One call of a member without a browser. The local stack's demo has members decide with it, by the same use cases as
//! the app's forms.

use http::StatusCode;

use crate::domain::contact::Email;
use crate::domain::member::Member;
use crate::error::Error;
use crate::platform::app_state::AppState;
use crate::platform::call_record::CallRecord;
use crate::service::scope::{Plan, Scope};
use crate::store::members;
use crate::web::login::is_password_of;

/// One call of a member, who was checked by their password.
#[derive(Debug)]
pub struct MemberCall {
    member: Member,
    scope: Scope,
}

impl MemberCall {
    /// A call in the account's first organization that begins now. Nothing when the password is not the account's.
    pub async fn begin(
        app: &AppState,
        operation: &'static str,
        email: &Email,
        password: &str,
    ) -> Result<Option<Self>, Error> {
        let record = CallRecord::begin(app, operation);
        let account = record.store().account(email).await?;
        if !is_password_of(account.as_ref(), password).await? {
            return Ok(None);
        }
        let Some(account) = account else { return Ok(None) };
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

    /// What use cases work in.
    #[must_use]
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Commits a plan that changes something, and gives its output. It holds only while the member is one still.
    ///
    /// # Errors
    /// [`Error::Conflict`] if something has changed since it was read: nothing is done.
    pub async fn commit<T>(&self, plan: Plan<T>) -> Result<T, Error> {
        if plan.is_empty() {
            return Ok(plan.into_output());
        }
        let (commit, shown, output) = plan.into_commit(&self.scope);
        let is_member = members::check_member(self.scope.call(), self.member.id());
        commit.with([is_member]).done(StatusCode::OK, &shown).await?;
        Ok(output)
    }
}
