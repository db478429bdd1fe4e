//! Stylesheet, script and fonts. Their URLs have a hash of the content, so that browsers can keep them forever.
//!
//! Decision: one small script, without a build step. All pages work without it; it copies, and shows local times. Only the
//! page that verifies bundles has another, which no other page loads.

use std::sync::LazyLock;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::response::Response;
use axum::routing::{MethodRouter, get};
use http::{HeaderValue, Request, header};
use shared::api::gzip;
use shared::api::response::REQUEST_ID;
use shared::crypto;
use shared::domain::ids::RequestId;

/// A file that pages refer to.
#[derive(Debug)]
pub struct Asset {
    /// The path without version.
    pub path: &'static str,
    content_type: &'static str,
    content: Bytes,
    /// Compressed by gzip. None for a font, which is compressed already.
    compressed: Option<Bytes>,
    version: String,
}

impl Asset {
    fn new(path: &'static str, content_type: &'static str, content: Bytes) -> Self {
        let version = crypto::hex(&crypto::fingerprint(&[&content])[..8]);
        let compressed = if content_type == WOFF2 { None } else { gzip::compressed(&content).ok().map(Bytes::from) };
        Self { path, content_type, content, compressed, version }
    }

    /// The URL of the current version.
    pub fn url(&self) -> String {
        format!("{}?v={}", self.path, self.version)
    }

    /// The stylesheet's part before the frame.
    pub fn head(&self) -> String {
        let text = String::from_utf8_lossy(&self.content);
        text.split("/* Frame */").next().unwrap_or_default().to_owned()
    }

    fn serve(&self, request: &Request<Body>) -> Response {
        let is_current = request.uri().query().and_then(|query| query.strip_prefix("v=")) == Some(&self.version);
        let cache = if is_current { "public, max-age=31536000, immutable" } else { "no-cache" };
        let compressed = self.compressed.clone().filter(|_| gzip::is_accepted(request.headers()));
        let is_compressed = compressed.is_some();
        let mut response = Response::new(Body::from(compressed.unwrap_or_else(|| self.content.clone())));
        let headers = response.headers_mut();
        if self.compressed.is_some() {
            gzip::describe(headers, is_compressed);
        }
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        if let Ok(id) = HeaderValue::try_from(RequestId::new().to_string()) {
            headers.insert(REQUEST_ID, id);
        }
        response
    }
}

/// The font for text.
pub static SANS: LazyLock<Asset> = LazyLock::new(|| {
    Asset::new("/app/fonts/sans.woff2", WOFF2, Bytes::from_static(include_bytes!("../assets/fonts/sans.woff2")))
});

/// The font for headings.
pub static SERIF: LazyLock<Asset> = LazyLock::new(|| {
    Asset::new("/app/fonts/serif.woff2", WOFF2, Bytes::from_static(include_bytes!("../assets/fonts/serif.woff2")))
});

const WOFF2: &str = "font/woff2";

/// The stylesheet, with the fonts' current URLs.
pub static STYLE: LazyLock<Asset> = LazyLock::new(|| {
    let fonts = [&SANS, &SERIF];
    let style = fonts
        .iter()
        .fold(include_str!("../assets/style.css").to_owned(), |style, font| style.replace(font.path, &font.url()));
    Asset::new("/app/style.css", "text/css; charset=utf-8", style.into())
});

/// The script.
pub static SCRIPT: LazyLock<Asset> = LazyLock::new(|| {
    Asset::new("/app/app.js", "text/javascript; charset=utf-8", Bytes::from_static(include_bytes!("../assets/app.js")))
});

/// The script of the page that verifies evidence bundles.
pub static VERIFY_SCRIPT: LazyLock<Asset> = LazyLock::new(|| {
    let script = Bytes::from_static(include_bytes!("../assets/verify.js"));
    Asset::new("/app/verify.js", "text/javascript; charset=utf-8", script)
});

/// The verifier for the command line, with the name that it has in the service's source.
pub static VERIFIER: LazyLock<Asset> = LazyLock::new(|| {
    let program = Bytes::from_static(include_bytes!("../../../events/verify/verify_bundle.py"));
    Asset::new("/app/verify_bundle.py", "text/x-python; charset=utf-8", program)
});

/// An asset's route: public, and not audited.
pub fn route<S: Clone + Send + Sync + 'static>(asset: &'static LazyLock<Asset>) -> MethodRouter<S> {
    get(move |_: State<S>, request: Request<Body>| std::future::ready(asset.serve(&request)))
}

#[cfg(test)]
mod tests {
    use super::{SANS, SCRIPT, SERIF, STYLE, VERIFY_SCRIPT};

    #[test]
    fn the_script_is_small() {
        let compressed = SCRIPT.compressed.as_ref().unwrap();
        assert!(SCRIPT.content.len() < 13 * 1024, "{} bytes", SCRIPT.content.len());
        assert!(compressed.len() < 5 * 1024, "{} bytes", compressed.len());
    }

    #[test]
    fn the_fonts_are_small_and_the_stylesheet_refers_to_their_current_versions() {
        assert!(SANS.content.len() + SERIF.content.len() <= 60 * 1024);
        let style = std::str::from_utf8(&STYLE.content).unwrap();
        for font in [&SANS, &SERIF] {
            assert!(style.contains(&format!("url(\"{}\")", font.url())), "{}", font.path);
        }
    }

    #[test]
    fn a_url_has_the_version_of_the_content() {
        for asset in [&STYLE, &SCRIPT, &VERIFY_SCRIPT, &SANS, &SERIF] {
            let url = asset.url();
            assert!(url.starts_with(&format!("{}?v=", asset.path)) && url.len() == asset.path.len() + 19, "{url}");
        }
        assert_ne!(STYLE.version, SCRIPT.version);
    }
}
