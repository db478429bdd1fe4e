//! The choice between light and dark, which a cookie of the browser keeps. Without one, pages follow the system.

use http::{HeaderMap, HeaderValue};
use shared::error::Error;
use shared::web::{Request, cookies};

use crate::Handler;
use crate::response::PageResponse;

/// A theme that was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Theme {
    Light,
    Dark,
}

impl Theme {
    /// The value of the form, of the cookie, and of the attribute `data-theme` of pages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        [Self::Light, Self::Dark].into_iter().find(|theme| theme.as_str() == text)
    }

    /// The theme that a browser has chosen.
    pub fn of(headers: &HeaderMap) -> Option<Self> {
        cookies::value(headers, COOKIE).and_then(Self::parse)
    }
}

/// The cookie is no secret, and need not be from this host: the worst that a wrong one does is another color.
const COOKIE: &str = "theme";
const COOKIE_LIFETIME_S: u32 = 365 * 24 * 3600;

/// Keeps the theme that was chosen.
pub struct Choose;

impl Handler for Choose {
    fn operation(_: &Request) -> &'static str {
        "choose_theme"
    }

    async fn handle(request: &mut Request) -> Result<PageResponse, Error> {
        let chosen = Theme::parse(request.submitted_form()?.form().get("theme"));
        let (value, max_age_s) = chosen.map_or(("", 0), |theme| (theme.as_str(), COOKIE_LIFETIME_S));
        let secure = if request.app().insecure_cookies { "" } else { "; Secure" };
        let cookie = format!("{COOKIE}={value}; Path=/app; Max-Age={max_age_s}; HttpOnly; SameSite=Lax{secure}");
        Ok(PageResponse::see_other("/app/account").with_cookie(HeaderValue::try_from(cookie).ok()))
    }
}
