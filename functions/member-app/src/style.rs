//! The one stylesheet.

use std::sync::LazyLock;

use axum::body::Body;
use axum::response::Response;
use http::{HeaderValue, Request, header};
use shared::api::pipeline::REQUEST_ID;
use shared::crypto;
use shared::domain::ids::RequestId;

const STYLE: &str = include_str!("../assets/style.css");

/// Changes with the content, so that browsers can keep it for good.
static VERSION: LazyLock<String> = LazyLock::new(|| crypto::hex(&crypto::fingerprint(&[STYLE.as_bytes()])[..8]));

/// Where pages find it.
pub(crate) fn link() -> String {
    format!("/app/style.css?v={}", *VERSION)
}

/// The stylesheet itself: public, and not audited.
pub(crate) async fn answer(request: Request<Body>) -> Response {
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
