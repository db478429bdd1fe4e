//! Whose session it is, as the browser remembers it.
//!
//! Decision: a session's record names its account, organization and member; reading them after it would make each page
//! wait once more. So the browser keeps the three in a cookie, and all four records are read at once. The cookie
//! decides nothing: what it leads to counts only if the session's own record names the same.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use http::{HeaderMap, HeaderValue};

use crate::domain::contact::Email;
use crate::domain::session::SessionOwner;
use crate::limits;
use crate::platform::app_state::AppState;
use crate::web::cookies;

fn name(app: &AppState) -> &'static str {
    if app.insecure_cookies { "owner" } else { "__Host-owner" }
}

pub(super) fn read(app: &AppState, headers: &HeaderMap) -> Option<SessionOwner> {
    let mut parts = cookies::value(headers, name(app))?.splitn(3, '.');
    let (organization, member, email) = (parts.next()?, parts.next()?, parts.next()?);
    let email = String::from_utf8(BASE64.decode(email).ok()?).ok()?;
    Some(SessionOwner {
        organization_id: organization.parse().ok()?,
        member_id: member.parse().ok()?,
        email: Email::parse(&email).ok()?,
    })
}

/// Names the owner of the request's session, or removes the cookie without one. `None` if it is already right.
pub(super) fn update(app: &AppState, headers: &HeaderMap, owner: Option<&SessionOwner>) -> Option<HeaderValue> {
    let text = owner.map(|owner| {
        let email = BASE64.encode(owner.email.as_str());
        format!("{}.{}.{email}", owner.organization_id, owner.member_id)
    });
    if cookies::value(headers, name(app)) == text.as_deref() {
        return None;
    }
    cookies::set(app, name(app), text.as_deref().map(|text| (text, limits::SESSION_LIFETIME_S)))
}
