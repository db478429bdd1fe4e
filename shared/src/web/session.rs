//! Sessions: how the app recognizes a signed-in person in each request. The only place that makes a [`Member`].
//!
//! A session is a secret in a cookie; the store has its hash. It ends after twelve hours, after two without a request,
//! when the person signs out here or everywhere, and when they are no member any more.

use http::HeaderMap;

use crate::crypto::CookieSecret;
use crate::domain::account::{Account, Membership};
use crate::domain::contact::Email;
use crate::domain::member::Member;
use crate::domain::organization::{MemberRecord, Organization};
use crate::domain::session::Session;
use crate::error::Error;
use crate::platform::app_state::AppState;
use crate::platform::call_record::CallRecord;
use crate::service::scope::Scope;
use crate::store::Store;
use crate::web::cookies::Cookie;

/// A person who is signed in, in one request.
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
        (app, record): (&AppState, &CallRecord),
        (account, organization, member): (Account, Organization, &MemberRecord),
        secret: CookieSecret,
        session: Session,
        named: Vec<u8>,
    ) -> Self {
        let member = Member::of_session(organization.id, member);
        let scope = record.scope(app, organization.id, member.actor(), named);
        Self { member, organization, account, secret, session, scope }
    }

    /// The member.
    #[must_use]
    pub fn member(&self) -> &Member {
        &self.member
    }

    /// The organization that the session is in.
    #[must_use]
    pub fn organization(&self) -> &Organization {
        &self.organization
    }

    /// The address that the person signs in with.
    #[must_use]
    pub fn email(&self) -> &Email {
        &self.account.email
    }

    /// What use cases work in.
    #[must_use]
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// What every form carries.
    #[must_use]
    pub fn form_token(&self) -> String {
        self.secret.form_token()
    }

    /// The organizations that the person belongs to.
    pub async fn organizations(&self) -> Result<Vec<Organization>, Error> {
        let found = self.scope.store().table().memberships(&self.account).await?;
        Ok(found.into_iter().map(|(organization, _)| organization).collect())
    }

    pub(super) fn account(&self) -> &Account {
        &self.account
    }

    pub(super) fn secret(&self) -> &CookieSecret {
        &self.secret
    }

    pub(super) fn session(&self) -> &Session {
        &self.session
    }

    /// Looks again who the person is, who was signed in when the request came.
    ///
    /// # Errors
    /// [`Error::Unauthenticated`] when they are signed out by now.
    pub(super) async fn member_now(&self) -> Result<Member, Error> {
        let found = person_of(self.scope.store().table(), &self.session).await?;
        let (_, organization, record) = found.ok_or(Error::Unauthenticated)?;
        Ok(Member::of_session(organization.id, &record))
    }
}

/// Finds out who a request is from, by its session's cookie. Nobody, if the session has ended in any way.
pub(super) async fn recognize(
    app: &AppState,
    record: &CallRecord,
    headers: &HeaderMap,
    named: Vec<u8>,
) -> Result<Option<SignedIn>, Error> {
    let (store, now) = (record.store(), record.now());
    let Some(secret) = Cookie::Session.read(app, headers) else { return Ok(None) };
    let Some(session) = store.session(secret.hash()).await? else { return Ok(None) };
    if !session.is_alive(now) {
        return Ok(None);
    }
    let Some((account, organization, member)) = person_of(store, &session).await? else { return Ok(None) };
    if session.is_to_be_refreshed(now) {
        let seen = Session { seen_at: now, ..session.clone() };
        // If it can't be written that the session is used, it ends earlier, and nothing else.
        let _ = store.refresh_session(secret.hash(), &seen).await;
    }
    Ok(Some(SignedIn::new((app, record), (account, organization, &member), secret, session, named)))
}

/// Who a session is of, unless they have been removed or signed out everywhere.
async fn person_of(store: &Store, session: &Session) -> Result<Option<(Account, Organization, MemberRecord)>, Error> {
    let is_member = |membership: &Membership| {
        membership.organization_id == session.organization_id && membership.member_id == session.member_id
    };
    let found = store.person(session).await?;
    Ok(found.filter(|(account, ..)| account.epoch == session.epoch && account.memberships.iter().any(is_member)))
}
