//! A person's own account: lists and ends its sessions, and changes its password.
//!
//! Decision: a new password ends every session, so no copied cookie outlives it; this browser gets a new session.

use crate::crypto::CookieSecret;
use crate::domain::ids::{OrgId, SessionId};
use crate::domain::organization::Organization;
use crate::domain::password::{NewPassword, WeakPassword};
use crate::domain::session::Session;
use crate::domain::time::Timestamp;
use crate::error::Error;
use crate::service::scope::Plan;
use crate::store::{password_links, sessions};
use crate::web::cookies::Cookie;
use crate::web::credentials::{Checked, hash_password};
use crate::web::login::device_key;
use crate::web::redirect::Redirect;
use crate::web::request::Request;
use crate::web::second_factor::Status;
use crate::web::session::SignedIn;
use crate::web::submitted_form::SubmittedForm;

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

/// Ends one of the account's sessions, if it has not ended yet. [`Error::NotFound`] if the account had no such session.
pub async fn end_session(submitted: &SubmittedForm<'_>, id: SessionId) -> Result<(), Error> {
    let scope = submitted.scope();
    let found = scope.store().table().session_key(submitted.signed_in()?.email(), id).await?;
    let end = sessions::remove_at(scope.call(), found.ok_or_else(Error::not_found)?);
    submitted.run(|| std::future::ready(Ok(Plan::new(scope, ()).change([end.clone()])))).await
}

/// Whether the sender of a form knows the password of the signed-in account. Wrong passwords count like failed logins.
///
/// Decision: an admin's password is asked before anyone gets a way in (invitation, password link, second factor's
/// reset): a browser left open, or a stolen cookie, must not make a second self. It suffices even with a second factor.
pub async fn knows_password(request: &Request, typed: &str) -> Result<bool, Error> {
    let Some(checked) = Checked::check(request, request.signed_in()?.email().as_str(), typed).await? else {
        return Ok(false);
    };
    checked.succeeded(request).await;
    Ok(true)
}

/// The outcome of changing the password.
#[derive(Debug)]
pub enum PasswordChanged {
    /// The account has the new password. The redirect has the cookie of the new session.
    Done(Redirect),
    /// The current password is wrong, or there were too many attempts.
    Wrong,
    /// The new password is the current one.
    Same,
    /// The new password is not accepted.
    Weak(WeakPassword),
}

/// Changes the password, and ends all sessions but the new one of this browser. Wrong passwords count like failed
/// logins. [`Error::Unauthenticated`] if the password or sessions have changed since the request began.
pub async fn change_password(
    request: &Request,
    current: &str,
    new: &str,
    location: &str,
) -> Result<PasswordChanged, Error> {
    let submitted = request.submitted_form()?;
    let (scope, signed_in) = (submitted.scope(), submitted.signed_in()?);
    let (account, before) = (signed_in.account(), signed_in.session());
    let password = match NewPassword::check(new, account.email.as_str(), signed_in.organization().name.as_str()) {
        Ok(password) => password,
        Err(weak) => return Ok(PasswordChanged::Weak(weak)),
    };
    if new == current {
        return Ok(PasswordChanged::Same);
    }
    let Some(checked) = Checked::check(request, account.email.as_str(), current).await? else {
        return Ok(PasswordChanged::Wrong);
    };
    let password_hash = hash_password(&password).await?;
    let secret = CookieSecret::new()?;
    let redirect =
        Redirect { location: location.to_owned(), cookie: Cookie::Session.set(request.app(), Some(&secret)) };
    submitted.redirect_if_committed(&redirect);
    // It keeps the twelve hours of the previous one.
    let epoch = account.epoch + 1;
    let session = Session { id: SessionId::new(), epoch, seen_at: scope.now(), ..before.clone() };
    let (password_hash, session, secret, checked) = (&password_hash, &session, &secret, &checked);
    let change = || async move {
        let found = scope.store().table().account(&account.email).await?;
        let is_as_checked =
            found.filter(|found| found.epoch == before.epoch && found.password_hash == checked.account.password_hash);
        let account = is_as_checked.ok_or(Error::Unauthenticated)?;
        let mut changes = vec![
            password_links::change_password(scope.call(), &account, password_hash)?,
            sessions::create(scope.call(), secret.hash(), session)?,
            sessions::remove(scope.call(), signed_in.secret().hash()),
        ];
        let device = request.cookie(Cookie::Device).map(|device| device_key(&account, &device, epoch));
        changes.extend(device.map(|device| sessions::remember_device(scope.call(), device)));
        Ok(Plan::new(scope, ()).change(changes))
    };
    submitted.run(change).await?;
    checked.succeeded(request).await;
    Ok(PasswordChanged::Done(redirect))
}
