//! An in-process API client with the organization's real token: its integration.

use axum::Router;
use axum::body::Body;
use http::{Request, StatusCode, header};
use http_body_util::BodyExt;
use serde_json::Value;
use tower::ServiceExt;

use crate::error::in_one_line;

pub(crate) struct ApiClient<'a> {
    pub(crate) router: &'a Router,
    pub(crate) token: &'a str,
}

impl ApiClient<'_> {
    pub(crate) async fn create(&self, path: &str, body: &Value) -> Result<String, String> {
        let record = self.post(path, body).await?;
        record["id"].as_str().map(str::to_owned).ok_or_else(|| format!("a record without an id: {record}"))
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Result<Value, String> {
        self.expect(StatusCode::CREATED, "POST", path, body).await
    }

    /// Sends a change that must answer 200.
    pub(crate) async fn send(&self, method: &str, path: &str, body: &Value) -> Result<Value, String> {
        self.expect(StatusCode::OK, method, path, body).await
    }

    async fn expect(&self, expected: StatusCode, method: &str, path: &str, body: &Value) -> Result<Value, String> {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::AUTHORIZATION, format!("Bearer {}", self.token))
            .header(header::CONTENT_TYPE, "application/json")
            .body(Body::from(body.to_string()))
            .map_err(|error| in_one_line(&error))?;
        let response = match self.router.clone().oneshot(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        };
        let status = response.status();
        let bytes = response.into_body().collect().await.map_err(|error| in_one_line(&error))?.to_bytes();
        if status != expected {
            return Err(format!("{method} {path} answered {status}: {}", String::from_utf8_lossy(&bytes)));
        }
        serde_json::from_slice(&bytes).map_err(|error| in_one_line(&error))
    }
}
