//! Sessions authenticate requests. Only this module and [`demo_call`](super::demo_call) make a [`Member`].
//!
//! A session is a secret in a cookie; the store has the secret's hash. A session ends twelve hours after the sign-in,
//! two hours after the last request, when the person signs out of it or everywhere, and when the member is removed.

use crate::crypto::CookieSecret;
use crate::domain::account::{Account, Membership};
use crate::domain::contact::Email;
use crate::domain::ids::{MemberId, OrgId, SessionId};
use crate::domain::member::Member;
use crate::domain::organization::Organization;
use crate::domain::session::{Session, SessionOwner};
use crate::error::Error;
use crate::service::call_record::CallRecord;
use crate::service::scope::{Plan, Scope};
use crate::store::sessions::{self, Person};

/// The signed-in member of a request, with their session.
#[derive(Debug, Clone)]
pub struct SignedIn {
    member: Member,
    organization: Organization,
    account: Account,
    secret: CookieSecret,
    session: Session,
    scope: Scope,
}

impl SignedIn {
    pub(super) fn new(
        record: &CallRecord,
        owner: Person,
        secret: CookieSecret,
        session: Session,
        path_record_ids: Vec<u8>,
    ) -> Self {
        let Person { account, organization, member } = owner;
        let member = Member::of_session(organization.id, &member);
        let scope = record.scope(organization.id, member.actor(), path_record_ids);
        Self { member, organization, account, secret, session, scope }
    }

    /// The member.
    #[must_use]
    pub fn member(&self) -> &Member {
        &self.member
    }

    /// The organization of the session.
    #[must_use]
    pub fn organization(&self) -> &Organization {
        &self.organization
    }

    /// The email address of the account.
    #[must_use]
    pub fn email(&self) -> &Email {
        &self.account.email
    }

    /// The scope of the request's use cases.
    #[must_use]
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// The CSRF token of the session's forms.
    #[must_use]
    pub fn form_token(&self) -> String {
        self.secret.form_token()
    }

    /// Whether the account has other organizations.
    #[must_use]
    pub fn has_more_organizations(&self) -> bool {
        self.account.memberships.len() > 1
    }

    /// All organizations of the account.
    pub async fn organizations(&self) -> Result<Vec<Organization>, Error> {
        let memberships = self.scope.store().table().memberships(&self.account).await?;
        Ok(memberships.into_iter().map(|(organization, _)| organization).collect())
    }

    pub(super) fn member_id_in(&self, org: OrgId) -> Option<MemberId> {
        let mut memberships = self.account.memberships.iter();
        memberships.find(|membership| membership.organization_id == org).map(|membership| membership.member_id)
    }

    pub(super) fn account(&self) -> &Account {
        &self.account
    }

    /// The secret of the session.
    #[must_use]
    pub fn secret(&self) -> &CookieSecret {
        &self.secret
    }

    pub(crate) fn session(&self) -> &Session {
        &self.session
    }

    /// Notes that the session was used, if that is due. A failed write only ends the session earlier.
    pub(crate) async fn refresh_session(&self) {
        if self.session.is_to_be_refreshed(self.scope.now()) {
            let refreshed = Session { seen_at: self.scope.now(), ..self.session.clone() };
            let _ = self.scope.store().table().refresh_session(self.secret.hash(), &refreshed).await;
        }
    }

    /// Reads the member again. [`Error::Unauthenticated`] if the session has ended since the request began.
    pub(crate) async fn reload_member(&self) -> Result<Member, Error> {
        let person = self.scope.store().table().person(&self.session.owner()).await?;
        let person = person.filter(|person| owns(person, &self.session));
        let Person { organization, member, .. } = person.ok_or(Error::Unauthenticated)?;
        Ok(Member::of_session(organization.id, &member))
    }
}

/// Authenticates a request by its session's secret. `None` without a session, or if it has ended. If the hint names its
/// owner, all records are read at once.
pub(crate) async fn find(
    record: &CallRecord,
    secret: Option<CookieSecret>,
    hint: Option<SessionOwner>,
    path_record_ids: Vec<u8>,
) -> Result<Option<SignedIn>, Error> {
    let Some(secret) = secret else { return Ok(None) };
    let (store, now) = (record.store(), record.now());
    let (session, hinted) = match &hint {
        Some(owner) => store.session_and_person(secret.hash(), owner).await?,
        None => (store.session(secret.hash()).await?, None),
    };
    let Some(session) = session.filter(|session| session.is_alive(now)) else { return Ok(None) };
    let person = if hint == Some(session.owner()) { hinted } else { store.person(&session.owner()).await? };
    let Some(owner) = person.filter(|person| owns(person, &session)) else { return Ok(None) };
    Ok(Some(SignedIn::new(record, owner, secret, session, path_record_ids)))
}

/// Whether a session is still its owner's: not if the member was removed, or the account has signed out everywhere.
fn owns(Person { account, .. }: &Person, session: &Session) -> bool {
    let is_member = |membership: &Membership| {
        membership.organization_id == session.organization_id && membership.member_id == session.member_id
    };
    account.epoch == session.epoch && account.memberships.iter().any(is_member)
}

/// Ends the session.
pub fn sign_out(signed_in: &SignedIn) -> Plan<()> {
    let scope = signed_in.scope();
    Plan::new(scope, ()).change([sessions::remove(scope.call(), signed_in.secret().hash())])
}

/// Ends all sessions of the account, in every organization.
pub fn sign_out_everywhere(signed_in: &SignedIn) -> Plan<()> {
    let scope = signed_in.scope();
    let end_all = sessions::end_all(scope.call(), signed_in.email());
    let end = sessions::remove(scope.call(), signed_in.secret().hash());
    Plan::new(scope, ()).change([end_all, end])
}

/// Ends one of the account's sessions, if it has not ended yet. [`Error::NotFound`] if the account had no such session.
pub async fn end(signed_in: &SignedIn, id: SessionId) -> Result<Plan<()>, Error> {
    let scope = signed_in.scope();
    let found = scope.store().table().session_key(signed_in.email(), id).await?;
    let end = sessions::remove_at(scope.call(), found.ok_or_else(Error::not_found)?);
    Ok(Plan::new(scope, ()).change([end]))
}
