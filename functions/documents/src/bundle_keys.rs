//! The public keys that verify evidence bundles. Their URL is permanent: outsiders may need them years later.
//!
//! Decision: they are read afresh, at most once a second: another instance may have signed with a newer key.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{MethodRouter, get};
use http::{HeaderValue, StatusCode, header};
use shared::AppState;
use shared::api::response::REQUEST_ID;
use shared::domain::ids::RequestId;
use shared::error::Error;

pub(crate) fn route() -> MethodRouter<Arc<AppState>> {
    get(|State(app): State<Arc<AppState>>| async move { serve(&app).await })
}

async fn serve(app: &AppState) -> Response {
    let (status, body, cache) = match document(app).await {
        Ok(json) => (StatusCode::OK, json, "public, max-age=60"),
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE, UNAVAILABLE.to_owned(), "no-store"),
    };
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if let Ok(id) = HeaderValue::try_from(RequestId::new().to_string()) {
        headers.insert(REQUEST_ID, id);
    }
    response
}

/// The body while the keys can't be read. It isn't a key document, so no verifier takes it for one.
const UNAVAILABLE: &str = "{\"message\":\"The keys can’t be read at the moment. Try again in a minute.\"}\n";

async fn document(app: &AppState) -> Result<String, Error> {
    let keys = &app.webhooks()?.keys;
    let keyring = match keys.newest().await {
        Ok(keyring) => keyring,
        Err(_) => keys.keyring().await?,
    };
    let document = bundle::keyring::key_document(&keyring).map_err(|error| Error::Internal(error.to_string()))?;
    let json = serde_json::to_string(&document).map_err(|error| Error::Internal(error.to_string()))?;
    Ok(format!("{json}\n"))
}
