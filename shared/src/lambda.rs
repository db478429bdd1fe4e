//! The Lambda function around a router. No other file of this crate knows Lambda's runtime.
//!
//! Every function has one thread: an instance handles one invocation at a time, and more threads start slower.

use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;

use axum::Router;
use http::header::{ACCEPT_ENCODING, CONTENT_TYPE, HeaderName};
use http::uri::PathAndQuery;
use http::{HeaderMap, Uri};
use http_body_util::{BodyExt, Collected};
use lambda_http::request::{LambdaRequest, RequestContext};
use lambda_http::{Adapter, Body, IntoResponse, Request, RequestExt};
use lambda_runtime::layers::TracingLayer;
use lambda_runtime::{LambdaEvent, LambdaInvocation, Runtime};
use subtle::ConstantTimeEq;
use tower::layer::layer_fn;
use tower::{Layer, Service, ServiceExt};

use crate::api::pipeline::Routes;
use crate::domain::audit::Via;
use crate::platform::app_state::{AppState, Webhooks};
use crate::platform::config::{self, ConfigError};
use crate::platform::secrets_manager::SecretsManagerKeys;
use crate::store::Store;
use crate::web::client_address::ClientAddress;
use crate::webhook::guard::PublicOnly;
use crate::webhook::resolve::SystemResolver;
use crate::wire::path::{normalize, set_path_and_query};

const DEFAULT_STAGE: &str = "$default";

/// Runs a function until Lambda ends it: settings from the environment, clients built once.
pub async fn run(routes: Routes) -> Result<(), lambda_http::Error> {
    serve(|app| Ok(routes.into_router(Arc::new(app)))).await
}

/// Runs a function whose router is not made of operations: the app's.
pub async fn serve(router: impl FnOnce(AppState) -> Result<Router, ConfigError>) -> Result<(), lambda_http::Error> {
    let app = AppState::from_env()?;
    let store = app.store.clone();
    let router = router(app)?;
    let front = Front::from_env()?;
    let service = router.map_request(move |request| with_via(with_address(with_one_path(request), front.as_ref())));
    let service = service.map_response(Answer);
    let service = Adapter::from(service);
    let runtime = Runtime::new(service.map_request(as_sent)).layer(TracingLayer::new());
    runtime.layer(storing_rows(store)).run().await
}

/// After each answer stores the rows of lists that should be: the caller has the answer, and Lambda stops the process only
/// once it asks for the next event.
fn storing_rows<S>(
    store: Store,
) -> impl Layer<S, Service = impl Service<LambdaInvocation, Response = (), Error = lambda_runtime::Error>>
where
    S: Service<LambdaInvocation, Response = (), Error = lambda_runtime::Error>,
{
    layer_fn(move |answering: S| {
        let store = store.clone();
        ServiceExt::<LambdaInvocation>::then(answering, move |answered| async move {
            store.store_rows().await;
            answered
        })
    })
}

/// A response to Lambda. `lambda_http` would decode it from any of forty encodings, 120 KB zipped; ours is UTF-8.
struct Answer(http::Response<axum::body::Body>);

impl IntoResponse for Answer {
    fn into_response(self) -> Pin<Box<dyn Future<Output = http::Response<Body>> + Send>> {
        let (parts, body) = self.0.into_parts();
        Box::pin(async move {
            // Bodies are in memory: collecting them can't fail.
            let bytes = body.collect().await.map(Collected::to_bytes).unwrap_or_default();
            let content_type =
                parts.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
            let is_text = TEXT_TYPES.iter().any(|text| content_type.starts_with(text));
            let body = match String::from_utf8(bytes.into()) {
                Ok(text) if is_text => Body::Text(text),
                Ok(text) if text.is_empty() => Body::Empty,
                Ok(text) => Body::Binary(text.into_bytes()),
                Err(other) => Body::Binary(other.into_bytes()),
            };
            http::Response::from_parts(parts, body)
        })
    }
}

/// Lambda passes on content types with these prefixes as text, all others as base64.
const TEXT_TYPES: [&str; 2] = ["text/", "application/json"];

impl Webhooks {
    /// A function's dependencies on Lambda: public hosts only, and the keys that the environment names.
    pub fn from_env() -> Result<Self, ConfigError> {
        let keys = SecretsManagerKeys::from_env()?;
        Ok(Self { keys, guard: Arc::new(PublicOnly), resolver: Arc::new(SystemResolver::new()) })
    }
}

/// Names the header in which a CDN or balancer before the gateway gives the client's address.
const ADDRESS_HEADER: &str = "CLIENT_ADDRESS_HEADER";
/// Holds the secret with which that CDN identifies itself.
const ADDRESS_SECRET: &str = "CLIENT_ADDRESS_SECRET";
const SECRET_HEADER: HeaderName = HeaderName::from_static("x-client-address-secret");

/// The CDN or balancer before the gateway, identified by a secret: the gateway can be reached without it.
struct Front {
    address: HeaderName,
    secret: String,
}

impl Front {
    fn from_env() -> Result<Option<Self>, ConfigError> {
        let Ok(name) = config::required(ADDRESS_HEADER) else { return Ok(None) };
        let invalid = |_| ConfigError::Invalid { name: ADDRESS_HEADER, why: "it is no name of a header".to_owned() };
        let address = name.parse().map_err(invalid)?;
        Ok(Some(Self { address, secret: config::required(ADDRESS_SECRET)? }))
    }

    fn named(&self, headers: &HeaderMap) -> Option<IpAddr> {
        let sent = headers.get(SECRET_HEADER)?;
        let is_proven = bool::from(sent.as_bytes().ct_eq(self.secret.as_bytes()));
        is_proven.then(|| named_address(headers, &self.address)).flatten()
    }
}

/// Adds the client's address: what the CDN says if the settings name it, else what the gateway saw: headers can lie.
fn with_address(mut request: Request, front: Option<&Front>) -> Request {
    let seen = match request.request_context_ref() {
        Some(RequestContext::ApiGatewayV1(context)) => context.identity.source_ip.as_deref(),
        Some(RequestContext::ApiGatewayV2(context)) => context.http.source_ip.as_deref(),
        _ => None,
    };
    let seen = seen.and_then(|text| text.parse().ok());
    let named = front.and_then(|front| front.named(request.headers()));
    if let Some(address) = named.or(seen) {
        request.extensions_mut().insert(ClientAddress(address));
    }
    request
}

/// The route key of events that the agent endpoint's function makes. No client can choose it.
pub const MCP_ROUTE: &str = "mcp";

fn with_via(mut request: Request) -> Request {
    let route = match request.request_context_ref() {
        Some(RequestContext::ApiGatewayV2(context)) => context.route_key.as_deref(),
        _ => None,
    };
    if route == Some(MCP_ROUTE) {
        request.extensions_mut().insert(Via::Mcp);
    }
    request
}

/// A header's only address, with or without a port. A list counts as none: anyone may have written its first entry.
fn named_address(headers: &HeaderMap, header: &HeaderName) -> Option<IpAddr> {
    let mut values = headers.get_all(header).iter();
    let text = values.next()?.to_str().ok()?.trim();
    if values.next().is_some() {
        return None;
    }
    let with_port = || text.parse().ok().map(|address: SocketAddr| address.ip());
    // CloudFront appends the port to an IPv6 address without brackets.
    let behind_port = || text.rsplit_once(':').and_then(|(address, _)| address.parse().ok());
    text.parse().ok().or_else(with_port).or_else(behind_port)
}

/// Restores an event to what the client sent. A REST API's event has two maps of headers: `lambda_http` would prefer
/// the one without repeated headers, and add the stage to the path. Drops only `Accept-Encoding`: a REST API passes a
/// compressed body, base64 to Lambda, on as it is unless configured for binary types.
fn as_sent(mut event: LambdaEvent<LambdaRequest>) -> LambdaEvent<LambdaRequest> {
    if let LambdaRequest::ApiGatewayV1(request) = &mut event.payload {
        if !request.multi_value_headers.is_empty() {
            request.headers.clear();
        }
        request.headers.remove(ACCEPT_ENCODING);
        request.multi_value_headers.remove(ACCEPT_ENCODING);
        request.request_context.stage = None;
    }
    event
}

/// In one spelling, and without the named stage that HTTP API events contain.
fn with_one_path(mut request: Request) -> Request {
    let stage = match request.request_context_ref() {
        Some(RequestContext::ApiGatewayV2(context)) => context.stage.as_deref().filter(|stage| *stage != DEFAULT_STAGE),
        _ => None,
    };
    let path = stage.and_then(|stage| path_behind(stage, request.uri()));
    if let Some(path) = path {
        set_path_and_query(request.uri_mut(), path);
    }
    normalize(request.uri_mut());
    request
}

fn path_behind(stage: &str, uri: &Uri) -> Option<PathAndQuery> {
    let path = uri.path_and_query()?.as_str().strip_prefix('/')?.strip_prefix(stage)?;
    path.starts_with('/').then(|| path.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use http::header::HeaderName;
    use http::{HeaderMap, HeaderValue};

    use super::{Front, PathAndQuery, SECRET_HEADER, named_address, path_behind};

    #[test]
    fn a_header_names_one_address_or_none() {
        let header = HeaderName::from_static("x-client");
        let named = |texts: &[&str]| {
            let values = texts.iter().map(|text| (header.clone(), HeaderValue::from_str(text).unwrap()));
            named_address(&values.collect::<HeaderMap>(), &header).map(|address| address.to_string())
        };
        for (text, expected) in [
            ("203.0.113.7", Some("203.0.113.7")),
            (" 203.0.113.7 ", Some("203.0.113.7")),
            ("203.0.113.7:46532", Some("203.0.113.7")),
            ("2001:db8::9", Some("2001:db8::9")),
            ("[2001:db8::9]:443", Some("2001:db8::9")),
            ("2001:db8:0:0:0:0:0:9:46532", Some("2001:db8::9")),
            ("203.0.113.7, 198.51.100.2", None),
            ("203.0.113.7,198.51.100.2:80", None),
            ("unknown", None),
            ("", None),
        ] {
            assert_eq!(named(&[text]).as_deref(), expected, "{text}");
        }
        assert_eq!(named(&[]), None);
        assert_eq!(named(&["203.0.113.7", "198.51.100.2"]), None, "a header that came twice");
    }

    #[test]
    fn an_address_counts_only_beside_the_secret() {
        let front = Front { address: HeaderName::from_static("x-client"), secret: "s".repeat(32) };
        let named = |secrets: &[&str]| {
            let secrets = secrets.iter().map(|text| (SECRET_HEADER, HeaderValue::from_str(text).unwrap()));
            let address = (front.address.clone(), HeaderValue::from_static("203.0.113.7"));
            front.named(&std::iter::once(address).chain(secrets).collect()).map(|address| address.to_string())
        };
        assert_eq!(named(&[&front.secret]).as_deref(), Some("203.0.113.7"));
        let other = "S".repeat(32);
        for wrong in [&[][..], &[""], &["sss"], &[other.as_str()], &["", front.secret.as_str()]] {
            assert_eq!(named(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn only_a_whole_first_segment_is_the_stage() {
        for (stage, uri, expected) in [
            ("prod", "https://api.example/prod/api/v1/me?limit=1", Some("/api/v1/me?limit=1")),
            ("prod", "/prod/prod/x", Some("/prod/x")),
            ("prod", "/production/x", None),
            ("prod", "/api/v1/prod/x", None),
            ("$default", "/api/v1/me", None),
        ] {
            let path = path_behind(stage, &uri.parse().unwrap());
            assert_eq!(path.as_ref().map(PathAndQuery::as_str), expected, "{stage} {uri}");
        }
    }
}
