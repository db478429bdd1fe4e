//! The choice between light and dark, kept in a cookie. Without it, pages follow the system.

use http::{HeaderMap, HeaderValue};
use shared::AppState;
use shared::web::cookies;

/// A chosen theme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Theme {
    /// Light.
    Light,
    /// Dark.
    Dark,
}

impl Theme {
    /// Its value in forms, in the cookie, and in the attribute `data-theme`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    /// Parses a form's or cookie's value.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Light, Self::Dark].into_iter().find(|theme| theme.as_str() == text)
    }

    /// The theme chosen in the browser.
    pub fn of(headers: &HeaderMap) -> Option<Self> {
        cookies::value(headers, COOKIE).and_then(Self::parse)
    }

    /// The `Set-Cookie` header that stores a choice, or removes it.
    #[must_use]
    pub fn set_cookie(chosen: Option<Self>, app: &AppState) -> Option<HeaderValue> {
        let (value, max_age_s) = chosen.map_or(("", 0), |theme| (theme.as_str(), COOKIE_LIFETIME_S));
        let secure = if app.insecure_cookies { "" } else { "; Secure" };
        let cookie = format!("{COOKIE}={value}; Path=/app; Max-Age={max_age_s}; HttpOnly; SameSite=Lax{secure}");
        HeaderValue::try_from(cookie).ok()
    }
}

/// Neither secret nor bound to this host: a wrong value only changes colors.
const COOKIE: &str = "theme";
const COOKIE_LIFETIME_S: u32 = 365 * 24 * 3600;
