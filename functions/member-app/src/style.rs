//! The stylesheet.

use std::sync::LazyLock;

use axum::body::Body;
use axum::response::Response;
use http::{HeaderValue, Request, header};
use shared::api::pipeline::REQUEST_ID;
use shared::crypto;
use shared::domain::ids::RequestId;

const STYLE: &str = include_str!("../assets/style.css");

/// A hash of the content, so that browsers can cache the stylesheet forever.
static VERSION: LazyLock<String> = LazyLock::new(|| crypto::hex(&crypto::fingerprint(&[STYLE.as_bytes()])[..8]));

/// The URL of the current version.
pub(crate) fn url() -> String {
    format!("/app/style.css?v={}", *VERSION)
}

/// Serves the stylesheet. It is public, and requests for it are not audited.
pub(crate) async fn serve(request: Request<Body>) -> Response {
    let is_current = request.uri().query().and_then(|query| query.strip_prefix("v=")) == Some(VERSION.as_str());
    let cache = if is_current { "public, max-age=31536000, immutable" } else { "no-cache" };
    let mut response = Response::new(Body::from(STYLE));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/css; charset=utf-8"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if let Ok(id) = HeaderValue::try_from(RequestId::new().to_string()) {
        headers.insert(REQUEST_ID, id);
    }
    response
}
