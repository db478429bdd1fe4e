//! The cookies of participants' sessions, each named after its participant.

use http::{HeaderMap, HeaderValue, header};

use crate::crypto::CookieSecret;
use crate::domain::ids::ParticipantId;
use crate::limits;
use crate::platform::app_state::AppState;
use crate::web::cookies;

fn prefix(app: &AppState) -> &'static str {
    if app.insecure_cookies { "part-" } else { "__Host-part-" }
}

/// Over https the name begins with `__Host-`, so browsers accept the cookie from this host only.
fn name(app: &AppState, participant: ParticipantId) -> String {
    format!("{}{participant}", prefix(app))
}

pub(super) fn read(app: &AppState, headers: &HeaderMap, participant: ParticipantId) -> Option<CookieSecret> {
    cookies::value(headers, &name(app, participant)).and_then(CookieSecret::parse)
}

/// The `Set-Cookie` headers of a new session, and those that remove the oldest cookies if a browser has too many.
pub(super) fn set(
    app: &AppState,
    headers: &HeaderMap,
    participant: ParticipantId,
    secret: &CookieSecret,
) -> Vec<HeaderValue> {
    let name = name(app, participant);
    let own = cookies::set(app, &name, Some((secret.reveal(), limits::SESSION_LIFETIME_S)));
    let surplus = surplus(headers, prefix(app), &name);
    own.into_iter().chain(surplus.iter().filter_map(|name| cookies::set(app, name, None))).collect()
}

pub(super) fn remove(app: &AppState, participant: ParticipantId) -> Option<HeaderValue> {
    cookies::set(app, &name(app, participant), None)
}

/// A browser's surplus participant cookies beside a new one: the first sent, which are the oldest.
fn surplus(headers: &HeaderMap, prefix: &str, new: &str) -> Vec<String> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let names: Vec<&str> =
        pairs.map(|(name, _)| name).filter(|name| name.starts_with(prefix) && *name != new).collect();
    let surplus = (names.len() + 1).saturating_sub(limits::PARTICIPANT_COOKIES_MAX);
    names.into_iter().take(surplus).map(str::to_owned).collect()
}
