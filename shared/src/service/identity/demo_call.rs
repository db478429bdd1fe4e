//! Calls of people without a browser, for the local stack's demo. They use the same use cases as the pages.

use http::StatusCode;
use uuid::Uuid;

use crate::crypto::keyring::Keyring;
use crate::domain::contact::Email;
use crate::domain::member::{Admin, Member};
use crate::domain::participant::{ActingParticipant, ParticipantLink};
use crate::domain::time_scale::TimeScale;
use crate::error::Error;
use crate::service::call_record::CallRecord;
use crate::service::identity::credentials::check_password;
use crate::service::identity::participant_links::find;
use crate::service::scope::{Plan, Scope};
use crate::service::submitter::Submitter;
use crate::store::Store;

/// A call of a person without a browser.
#[derive(Debug)]
pub struct DemoCall<P> {
    person: P,
    scope: Scope,
}

/// A call of a member whose password was checked.
pub type MemberCall = DemoCall<Member>;

/// A call of a participant with their link.
pub type ParticipantCall = DemoCall<ActingParticipant>;

impl<P> DemoCall<P>
where
    for<'a> &'a P: Submitter,
{
    /// The same call about records, as the path of a page names them.
    #[must_use]
    pub fn about(mut self, ids: &[Uuid]) -> Self {
        self.scope.call_mut().name(ids);
        self
    }

    /// The scope of its use cases.
    #[must_use]
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Commits a plan, unless it changes nothing, and returns its output. Fails if a member has been removed.
    pub async fn commit<T>(&self, plan: Plan<T>) -> Result<T, Error> {
        self.commit_as(&self.person, plan).await
    }

    async fn commit_as<T>(&self, by: impl Submitter, plan: Plan<T>) -> Result<T, Error> {
        plan.under(by.role_check(self.scope.call())).commit(&self.scope, StatusCode::OK, None).await
    }
}

impl MemberCall {
    /// Begins a call in the account's first organization. `None` if the password is wrong, or a second factor is on.
    pub async fn begin(
        store: &Store,
        time_scale: TimeScale,
        operation: &'static str,
        email: &Email,
        password: &str,
    ) -> Result<Option<Self>, Error> {
        let record = CallRecord::begin(store, time_scale, operation);
        let (account, factor) = record.store().account_with_factor(email).await?.unzip();
        if !check_password(account.as_ref(), password).await? {
            return Ok(None);
        }
        let (Some(account), None) = (account, factor.flatten()) else { return Ok(None) };
        let first = record.store().memberships(&account).await?.into_iter().next();
        Ok(first.map(|(organization, member)| {
            let person = Member::of_session(organization.id, &member);
            let scope = record.scope(organization.id, person.actor(), Vec::new());
            Self { person, scope }
        }))
    }

    /// The member.
    #[must_use]
    pub fn member(&self) -> &Member {
        &self.person
    }

    /// Decides as an admin and commits as [`DemoCall::commit`] does. Fails if the member is no admin.
    pub async fn commit_as_admin<T>(
        &self,
        decide: impl AsyncFnOnce(&Scope, Admin<'_>) -> Result<Plan<T>, Error>,
    ) -> Result<T, Error> {
        let admin = self.person.as_admin().ok_or(Error::AdminsOnly)?;
        self.commit_as(admin, decide(&self.scope, admin).await?).await
    }
}

impl ParticipantCall {
    /// Begins a call with a participant's link. `None` if the link does not work.
    pub async fn begin(
        store: &Store,
        time_scale: TimeScale,
        operation: &'static str,
        keyring: &Keyring,
        link: &ParticipantLink,
    ) -> Result<Option<Self>, Error> {
        let record = CallRecord::begin(store, time_scale, operation);
        let Some(open) = find(keyring, record.store(), link).await? else { return Ok(None) };
        record.store().note_visit(link.part(), open.generation(), record.now()).await?;
        let person = open.holder();
        let scope = record.scope(person.org(), person.actor(), Vec::new());
        Ok(Some(Self { person, scope }.about(&[link.part().participant_id.uuid()])))
    }

    /// The participant.
    #[must_use]
    pub fn participant(&self) -> &ActingParticipant {
        &self.person
    }
}
