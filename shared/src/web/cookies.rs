//! The cookies of the app.

use http::{HeaderMap, HeaderValue, header};

use crate::crypto::CookieSecret;
use crate::limits;
use crate::platform::app_state::AppState;

/// A cookie of the app that holds a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cookie {
    /// The session.
    Session,
    /// The sign-in form, whose CSRF token depends on it.
    Form,
    /// The device that has signed in. Signing out keeps it.
    Device,
}

impl Cookie {
    /// Over https the name begins with `__Host-`, so browsers accept the cookie from this host only.
    fn name(self, app: &AppState) -> &'static str {
        match (self, app.insecure_cookies) {
            (Self::Session, false) => "__Host-session",
            (Self::Session, true) => "session",
            (Self::Form, false) => "__Host-form",
            (Self::Form, true) => "form",
            (Self::Device, false) => "__Host-browser",
            (Self::Device, true) => "browser",
        }
    }

    /// The cookie's secret in a request.
    #[must_use]
    pub fn read(self, app: &AppState, headers: &HeaderMap) -> Option<CookieSecret> {
        value(headers, self.name(app)).and_then(CookieSecret::parse)
    }

    /// The `Set-Cookie` header that sets the secret, or removes the cookie without one.
    #[must_use]
    pub fn set(self, app: &AppState, secret: Option<&CookieSecret>) -> Option<HeaderValue> {
        let lifetime_s = match self {
            Self::Session | Self::Form => limits::SESSION_LIFETIME_S,
            Self::Device => limits::DEVICE_COOKIE_LIFETIME_S,
        };
        set(app, self.name(app), secret.map(|secret| (secret.reveal(), lifetime_s)))
    }
}

/// The value of a cookie in a request.
#[must_use]
pub fn value<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(cookie, _)| *cookie == name).map(|(_, value)| value)
}

/// The `Set-Cookie` header that sets a cookie for some seconds, or removes it without a value.
pub(super) fn set(app: &AppState, name: &str, value: Option<(&str, i64)>) -> Option<HeaderValue> {
    let (value, max_age_s) = value.unwrap_or(("", 0));
    let secure = if app.insecure_cookies { "" } else { "; Secure" };
    let text = format!("{name}={value}; Path=/; Max-Age={max_age_s}; HttpOnly; SameSite=Lax{secure}");
    HeaderValue::try_from(text).ok()
}
