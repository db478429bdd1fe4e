//! Hands papering of funding items on to another function.
//!
//! Decision: `documents` runs it here too, since its fonts take 6.9 MB zipped, more than twice this function's limit.
//! It is invoked with an event like the gateway's, with the caller's token: permission and audit row are decided there,
//! and this function's role needs no access to files. The event's route key marks the call, since clients can't choose
//! it. It takes one signed call; retries are left to the caller, who may have sent a key.
//!
//! Decision: the call is signed here. `aws-sdk-lambda` would save some 25 lines, and takes two minutes of a processor to
//! compile, since it has every operation of Lambda.

use std::sync::Arc;
use std::time::SystemTime;

use aws_credential_types::provider::ProvideCredentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4;
use aws_smithy_http_client::Connector;
use aws_smithy_runtime_api::client::http::HttpConnector;
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_types::body::SdkBody;
use aws_smithy_types::byte_stream::ByteStream;
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use axum::routing::post;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Map, Value, json};
use shared::AppState;
use shared::api::entrance::{self, Misread};
use shared::domain::time::Timestamp;
use shared::error::Error;
use shared::lambda::MCP_ROUTE;
use shared::limits;
use shared::platform::aws::{self, AwsSettings};

const PATH: &str = "/api/v1/funding-items/paper";
const OPERATION: &str = "paper_funding_items";

pub(crate) struct Function {
    url: String,
    settings: AwsSettings,
    connector: Connector,
}

pub(crate) fn papering(operations: Router, app: Arc<AppState>, function: Function) -> Router {
    let hand_on = |State((app, function)): State<(Arc<AppState>, Arc<Function>)>, request: Request<Body>| async move {
        let headers = request.headers().clone();
        // Refuses here what the event can't carry.
        if let Some(Misread(errors)) = request.extensions().get().filter(|Misread(errors)| !errors.is_empty()) {
            return entrance::refuse_write(app, OPERATION, &headers, errors.clone()).await;
        }
        match function.invoke(request).await {
            Ok(response) => response,
            // That function audits a call that ran. The row written here says that the outcome is unknown.
            Err(NoAnswer::NotRun(cause)) => {
                entrance::answer(app, OPERATION, &headers, Err(Error::Unavailable(cause))).await
            }
            Err(NoAnswer::Lost(cause)) => {
                entrance::answer(app, OPERATION, &headers, Err(Error::Unanswered(cause))).await
            }
        }
    };
    Router::new().route(PATH, post(hand_on)).with_state((app, Arc::new(function))).fallback_service(operations)
}

#[derive(Debug)]
enum NoAnswer {
    NotRun(String),
    /// It was sent and may have run, but its answer was late, lost or unreadable.
    Lost(String),
}

impl Function {
    pub(crate) fn new(name: &str, settings: AwsSettings) -> Self {
        let origin = if let Some(endpoint) = &settings.endpoint_url {
            endpoint.trim_end_matches('/').to_owned()
        } else {
            let region = &settings.region;
            let suffix = if region.starts_with("cn-") { ".cn" } else { "" };
            format!("https://lambda.{region}.amazonaws.com{suffix}")
        };
        let url = format!("{origin}/2015-03-31/functions/{name}/invocations");
        Self { url, settings, connector: aws::connector() }
    }

    async fn invoke(&self, request: Request<Body>) -> Result<Response, NoAnswer> {
        let event = event(request).await.map_err(NoAnswer::NotRun)?.to_string();
        let signed = self.signed(event).await.map_err(NoAnswer::NotRun)?;
        let lost = |error: &dyn std::fmt::Display| NoAnswer::Lost(told(error));
        let call = async {
            let response = self.connector.call(signed).await.map_err(|error| lost(&error))?;
            let status = response.status();
            // Lambda refuses with 4xx, such as 429, what it doesn't run. A function that failed may have committed.
            if status.is_client_error() {
                let cause = format!("documents could not be invoked: Lambda answered {}", status.as_u16());
                return Err(NoAnswer::NotRun(cause));
            }
            if !status.is_success() || response.headers().get("x-amz-function-error").is_some() {
                return Err(lost(&format_args!("Lambda answered {} and an error", status.as_u16())));
            }
            ByteStream::new(response.into_body()).collect().await.map_err(|error| lost(&error))
        };
        // The function keeps its own deadline; starting and connecting take a moment more.
        let answered = tokio::time::timeout(limits::CALL_DEADLINE + limits::AWS_CONNECT_TIMEOUT, call).await;
        let answered = answered.map_err(|_| lost(&"no answer in time"))??;
        let answer: Value = serde_json::from_slice(&answered.into_bytes()).map_err(|error| lost(&error))?;
        response(&answer).ok_or_else(|| lost(&"the answer is no response"))
    }

    async fn signed(&self, event: String) -> Result<HttpRequest, String> {
        let identity = self.settings.credentials.provide_credentials().await.map_err(told)?.into();
        let params = v4::SigningParams::builder()
            .identity(&identity)
            .region(&self.settings.region)
            .name("lambda")
            .time(SystemTime::now())
            .settings(SigningSettings::default())
            .build()
            .map_err(told)?
            .into();
        let body = SignableBody::Bytes(event.as_bytes());
        let signable = SignableRequest::new("POST", &self.url, std::iter::empty(), body).map_err(told)?;
        let instructions = sign(signable, &params).map_err(told)?.into_parts().0;
        let request = http::Request::builder().method("POST").uri(&self.url);
        let request = request.header(http::header::CONTENT_LENGTH, event.len());
        let mut request = request.body(SdkBody::from(event)).map_err(told)?;
        instructions.apply_to_request_http1x(&mut request);
        HttpRequest::try_from(request).map_err(told)
    }
}

async fn event(request: Request<Body>) -> Result<Value, String> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.map_err(told)?.to_bytes();
    let body = std::str::from_utf8(&body).map_err(told)?;
    let (method, path) = (parts.method.as_str(), parts.uri.path());
    let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let mut headers: Map<String, Value> =
        parts.headers.iter().map(|(name, value)| (name.to_string(), json!(text(value)))).collect();
    // An event needs a host; nothing depends on it.
    headers.insert("host".to_owned(), json!(MCP_ROUTE));
    let now = Timestamp::now();
    Ok(json!({
        "version": "2.0",
        "routeKey": MCP_ROUTE,
        "rawPath": path,
        "rawQueryString": "",
        "headers": headers,
        "requestContext": {
            "accountId": "",
            "apiId": "",
            "domainName": MCP_ROUTE,
            "domainPrefix": MCP_ROUTE,
            "http": {"method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "", "userAgent": ""},
            "requestId": "",
            "routeKey": MCP_ROUTE,
            "stage": "$default",
            "time": now.to_string(),
            "timeEpoch": now.unix_ms(),
        },
        "body": body,
        "isBase64Encoded": false,
    }))
}

fn response(answer: &Value) -> Option<Response> {
    let status = u16::try_from(answer["statusCode"].as_u64()?).ok()?;
    let body = answer["body"].as_str().unwrap_or_default();
    let body = if answer["isBase64Encoded"] == true { STANDARD.decode(body).ok()? } else { body.as_bytes().to_vec() };
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = StatusCode::from_u16(status).ok()?;
    let headers: &mut HeaderMap = response.headers_mut();
    for (name, value) in answer["headers"].as_object().into_iter().flatten() {
        headers.insert(http::HeaderName::try_from(name).ok()?, http::HeaderValue::from_str(value.as_str()?).ok()?);
    }
    Some(response)
}

fn told(error: impl std::fmt::Display) -> String {
    format!("invoking documents: {error}")
}
