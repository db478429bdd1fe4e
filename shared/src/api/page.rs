//! A public page, such as the documentation: written by `make generate`, stored compressed, the same for everyone.
//!
//! Decision: it is one file without references to other hosts. Its policy allows only its own style and script, each by
//! hash. Browsers keep it and revalidate it by its tag.

use axum::body::Body;
use axum::response::Response;
use http::{HeaderMap, HeaderName, HeaderValue, Request, StatusCode, header};

use crate::api::gzip::{self, decompressed};
use crate::api::response::REQUEST_ID;
use crate::crypto;
use crate::error::Error;
use crate::platform::app_state::AppState;

/// The documentation's path.
pub const DOCS: &str = "/docs";

/// A stored page.
#[derive(Debug, Clone, Copy)]
pub struct PublicPage {
    /// Its path.
    pub path: &'static str,
    /// Its operation in the log.
    pub operation: &'static str,
    /// Compressed by [`crate::api::gzip::compressed`].
    pub compressed: &'static [u8],
    /// Its Content Security Policy.
    pub policy: &'static str,
}

impl PublicPage {
    /// The version's tag. It is weak, since compression changes the bytes.
    fn tag(&self) -> String {
        let hash = crypto::fingerprint(&[self.compressed, self.policy.as_bytes()]);
        format!("W/\"{}\"", crypto::hex(&hash[..8]))
    }
}

/// Answers a request for a page, ignoring query parameters like those of a browser's search. Writes no audit row.
pub(super) fn show(page: &PublicPage, app: &AppState, request: &Request<Body>) -> Response {
    let record = app.begin_call(page.operation);
    let (status, mut response) = match answer(page, request.headers()) {
        Ok(response) => (response.status(), response),
        Err(error) => {
            let (status, code) = error.status();
            record.log(None, status, code.as_str(), error.cause());
            let mut response = Response::new(Body::empty());
            *response.status_mut() = status;
            return response;
        }
    };
    if !app.insecure_cookies {
        let one_year = HeaderValue::from_static("max-age=31536000");
        response.headers_mut().insert(header::STRICT_TRANSPORT_SECURITY, one_year);
    }
    if let Ok(id) = HeaderValue::try_from(record.request_id().to_string()) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    record.log(None, status, "ok", None);
    response
}

fn answer(page: &PublicPage, asked: &HeaderMap) -> Result<Response, Error> {
    let tag = page.tag();
    let is_compressed = gzip::is_accepted(asked);
    let mut response = if knows(asked, &tag) {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else if is_compressed {
        let mut response = Response::new(Body::from(page.compressed));
        response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        response
    } else {
        let body = decompressed(page.compressed).ok_or_else(|| Error::Internal("a page is damaged".to_owned()))?;
        Response::new(Body::from(body))
    };
    let headers = response.headers_mut();
    headers.extend([
        (header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(page.policy)),
        (header::CACHE_CONTROL, HeaderValue::from_static("public, no-cache")),
        (header::VARY, HeaderValue::from_static("accept-encoding")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
    ]);
    if let Ok(tag) = HeaderValue::try_from(tag) {
        headers.insert(header::ETAG, tag);
    }
    Ok(response)
}

/// Whether the caller has this version (RFC 9110, section 13.1.2): weak and strong tags compare equal.
fn knows(asked: &HeaderMap, tag: &str) -> bool {
    let strong = tag.trim_start_matches("W/");
    let values = asked.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    values
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .any(|one| one == "*" || one.trim_start_matches("W/") == strong)
}
