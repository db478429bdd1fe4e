//! The stylesheet and the script. Their addresses carry a hash of the content, so that browsers can keep them forever.
//!
//! Decision: one small script for all pages, from the app's own host, without a build step. Each page works without it:
//! it copies, shows times in the reader's zone, and opens the search page by keyboard.

use std::sync::LazyLock;

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{MethodRouter, get};
use http::{HeaderValue, Request, header};
use shared::api::pipeline::REQUEST_ID;
use shared::crypto;
use shared::domain::ids::RequestId;

/// A file that pages refer to.
#[derive(Debug)]
pub(crate) struct Asset {
    /// Its path.
    pub path: &'static str,
    content_type: &'static str,
    content: &'static [u8],
    /// A hash of the content.
    version: String,
}

impl Asset {
    fn new(path: &'static str, content_type: &'static str, content: &'static [u8]) -> Self {
        let version = crypto::hex(&crypto::fingerprint(&[content])[..8]);
        Self { path, content_type, content, version }
    }

    /// The URL of the current version.
    pub fn url(&self) -> String {
        format!("{}?v={}", self.path, self.version)
    }

    /// The response to a request for it.
    fn serve(&self, request: &Request<Body>) -> Response {
        let is_current = request.uri().query().and_then(|query| query.strip_prefix("v=")) == Some(&self.version);
        let cache = if is_current { "public, max-age=31536000, immutable" } else { "no-cache" };
        let mut response = Response::new(Body::from(self.content));
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        if let Ok(id) = HeaderValue::try_from(RequestId::new().to_string()) {
            headers.insert(REQUEST_ID, id);
        }
        response
    }
}

/// The stylesheet.
pub(crate) static STYLE: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("/app/style.css", "text/css; charset=utf-8", include_bytes!("../assets/style.css")));

/// The script.
pub(crate) static SCRIPT: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("/app/app.js", "text/javascript; charset=utf-8", include_bytes!("../assets/app.js")));

/// The route of an asset. It is public, and requests for it are not audited.
pub(crate) fn route<S: Clone + Send + Sync + 'static>(asset: &'static LazyLock<Asset>) -> MethodRouter<S> {
    get(move |_: State<S>, request: Request<Body>| std::future::ready(asset.serve(&request)))
}

#[cfg(test)]
mod tests {
    use super::{SCRIPT, STYLE};

    #[test]
    fn the_script_is_small() {
        assert!(SCRIPT.content.len() < 4096, "{} bytes", SCRIPT.content.len());
    }

    #[test]
    fn a_url_has_the_version_of_the_content() {
        for asset in [&STYLE, &SCRIPT] {
            let url = asset.url();
            assert!(url.starts_with(&format!("{}?v=", asset.path)) && url.len() == asset.path.len() + 19, "{url}");
        }
        assert_ne!(STYLE.version, SCRIPT.version);
    }
}
