//! A person's own account: its sessions, and a change of its password.
//!
//! Decision: a new password ends every session, so no copied cookie outlives it; this browser gets a new session.

use crate::crypto::CookieSecret;
use crate::domain::ids::{OrgId, SessionId};
use crate::domain::organization::Organization;
use crate::domain::password::{NewPassword, WeakPassword};
use crate::domain::session::Session;
use crate::domain::time::Timestamp;
use crate::error::Error;
use crate::service::identity::call::BrowserCall;
use crate::service::identity::credentials::{Checked, hash_password};
use crate::service::identity::second_factors::Status;
use crate::service::identity::sessions::SignedIn;
use crate::service::identity::sign_in::device_key;
use crate::service::scope::Plan;
use crate::store::{password_links, sessions};

/// A session of the account that is valid now.
#[derive(Debug)]
pub struct OwnSession {
    /// Its id.
    pub id: SessionId,
    /// The organization that it is for.
    pub organization: OrgId,
    /// The browser and the system, if they are known.
    pub device: Option<String>,
    /// When the person signed in.
    pub signed_in_at: Timestamp,
    /// When it was last used, to the minute.
    pub last_used_at: Timestamp,
    /// Whether it is the session of this request.
    pub is_current: bool,
}

/// What the page of an account shows.
#[derive(Debug)]
pub struct Overview {
    /// The organizations of the account.
    pub organizations: Vec<Organization>,
    /// Its valid sessions: the current one first, then by last use.
    pub sessions: Vec<OwnSession>,
    /// Its second factor, if that is on.
    pub second_factor: Option<Status>,
}

/// What the page of an account shows.
pub async fn overview(signed_in: &SignedIn, now: Timestamp) -> Result<Overview, Error> {
    let (account, current) = (signed_in.account(), signed_in.session());
    let found = async { Ok(signed_in.scope().store().table().sessions_and_factor_of(&account.email).await?) };
    let (organizations, (found, factor)) = tokio::try_join!(signed_in.organizations(), found)?;
    // A member who was removed from an organization has no session there.
    let is_valid = |session: &Session| {
        session.is_alive(now)
            && session.epoch == account.epoch
            && organizations.iter().any(|organization| organization.id == session.organization_id)
    };
    let mut listed: Vec<OwnSession> = found
        .into_iter()
        .filter(is_valid)
        .map(|session| OwnSession {
            id: session.id,
            organization: session.organization_id,
            device: session.device,
            signed_in_at: session.created_at,
            last_used_at: session.seen_at,
            is_current: session.id == current.id,
        })
        .collect();
    listed.sort_by_key(|session| (session.is_current, session.last_used_at, session.id));
    listed.reverse();
    Ok(Overview { organizations, sessions: listed, second_factor: factor.as_deref().map(Status::of) })
}

/// Whether the sender of a form knows the password of the signed-in account. Wrong passwords count like failed logins.
///
/// Decision: an admin's password is asked before anyone gets a way in (invitation, password link, second factor's
/// reset): a browser left open, or a stolen cookie, must not make a second self. It suffices even with a second factor.
pub async fn knows_password(call: &BrowserCall<'_>, signed_in: &SignedIn, typed: &str) -> Result<bool, Error> {
    let Some(checked) = Checked::check(call, signed_in.email().as_str(), typed).await? else { return Ok(false) };
    checked.succeeded(call).await;
    Ok(true)
}

/// Why a password is not changed.
#[derive(Debug)]
pub enum NotChanged {
    /// The current password is wrong, or there were too many attempts.
    Wrong,
    /// The new password is the current one.
    Same,
    /// The new password is not accepted.
    Weak(WeakPassword),
}

/// A new password, with all but its commit done. It ends all sessions but the new one of this browser.
#[derive(Debug)]
pub struct NewOwnPassword<'a> {
    call: BrowserCall<'a>,
    signed_in: &'a SignedIn,
    checked: Checked,
    hash: String,
    /// The secret of the browser's new session.
    pub secret: CookieSecret,
    session: Session,
}

impl<'a> NewOwnPassword<'a> {
    /// Checks the current password and the new one. Wrong passwords count like failed logins.
    pub async fn prepare(
        call: BrowserCall<'a>,
        signed_in: &'a SignedIn,
        current: &str,
        new: &str,
    ) -> Result<Result<Self, NotChanged>, Error> {
        let (email, organization) = (signed_in.email().as_str(), signed_in.organization().name.as_str());
        let password = match NewPassword::check(new, email, organization) {
            Ok(password) => password,
            Err(weak) => return Ok(Err(NotChanged::Weak(weak))),
        };
        if new == current {
            return Ok(Err(NotChanged::Same));
        }
        let Some(checked) = Checked::check(&call, email, current).await? else { return Ok(Err(NotChanged::Wrong)) };
        let (hash, secret) = (hash_password(&password).await?, CookieSecret::new()?);
        // It keeps the twelve hours of the previous one.
        let epoch = signed_in.account().epoch + 1;
        let session = Session { id: SessionId::new(), epoch, seen_at: call.now(), ..signed_in.session().clone() };
        Ok(Ok(Self { call, signed_in, checked, hash, secret, session }))
    }

    /// Changes the password. [`Error::Unauthenticated`] if the password or sessions have changed since the request
    /// began.
    pub async fn change(&self) -> Result<Plan<()>, Error> {
        let (scope, before) = (self.signed_in.scope(), self.signed_in.session());
        let found = scope.store().table().account(self.signed_in.email()).await?;
        let is_as_checked = found
            .filter(|found| found.epoch == before.epoch && found.password_hash == self.checked.account.password_hash);
        let account = is_as_checked.ok_or(Error::Unauthenticated)?;
        let mut changes = vec![
            password_links::change_password(scope.call(), &account, &self.hash)?,
            sessions::create(scope.call(), self.secret.hash(), &self.session)?,
            sessions::remove(scope.call(), self.signed_in.secret().hash()),
        ];
        let device = self.call.device.as_ref().map(|device| device_key(&account, device, self.session.epoch));
        changes.extend(device.map(|device| sessions::remember_device(scope.call(), device)));
        Ok(Plan::new(scope, ()).change(changes))
    }

    /// Takes back the counted attempt, once the password is changed.
    pub async fn succeeded(&self) {
        self.checked.succeeded(&self.call).await;
    }
}
