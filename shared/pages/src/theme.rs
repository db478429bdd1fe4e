//! The choice between light and dark, which a cookie of the browser keeps. Without one, pages follow the system.

use http::{HeaderMap, HeaderValue};
use shared::AppState;
use shared::web::cookies;

/// A theme that was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Theme {
    /// Light.
    Light,
    /// Dark.
    Dark,
}

impl Theme {
    /// The value of the form, of the cookie, and of the attribute `data-theme` of pages.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    /// The theme of a form or a cookie.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Light, Self::Dark].into_iter().find(|theme| theme.as_str() == text)
    }

    /// The theme that a browser has chosen.
    pub fn of(headers: &HeaderMap) -> Option<Self> {
        cookies::value(headers, COOKIE).and_then(Self::parse)
    }

    /// The `Set-Cookie` header that keeps a choice, or the removal of one.
    #[must_use]
    pub fn set_cookie(chosen: Option<Self>, app: &AppState) -> Option<HeaderValue> {
        let (value, max_age_s) = chosen.map_or(("", 0), |theme| (theme.as_str(), COOKIE_LIFETIME_S));
        let secure = if app.insecure_cookies { "" } else { "; Secure" };
        let cookie = format!("{COOKIE}={value}; Path=/app; Max-Age={max_age_s}; HttpOnly; SameSite=Lax{secure}");
        HeaderValue::try_from(cookie).ok()
    }
}

/// The cookie is no secret, and need not be from this host: the worst that a wrong one does is another color.
const COOKIE: &str = "theme";
const COOKIE_LIFETIME_S: u32 = 365 * 24 * 3600;
