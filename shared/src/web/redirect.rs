//! The redirect that answers a form whose changes took effect.

use http::HeaderValue;

/// Where a form leads once its changes have taken effect.
#[derive(Debug, Clone)]
pub struct Redirect {
    /// The path of the page that shows the outcome.
    pub location: String,
    /// The `Set-Cookie` header of a flash for that page.
    pub cookie: Option<HeaderValue>,
}
