//! The hosts and browser origins that may call the endpoint. Without this check, a foreign page could call an endpoint
//! that only its visitor can reach (DNS rebinding). Requests without an origin don't come from pages.

use axum::body::Body;
use axum::response::Response;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, HOST, HeaderName, ORIGIN,
    VARY,
};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use shared::api::response::REQUEST_ID;
use shared::domain::ids::RequestId;
use shared::platform::config::BaseUrl;

/// The variable with additional hosts, separated by commas, such as a CDN in front of the gateway.
const HOSTS: &str = "MCP_HOSTS";
/// The variable with additional origins, separated by commas, such as an agent in a browser.
const ORIGINS: &str = "MCP_ORIGINS";

/// The allowed hosts and origins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    hosts: Vec<String>,
    origins: Vec<String>,
}

impl Access {
    /// The host and origin of the service's own URL.
    #[must_use]
    pub fn of(base_url: &BaseUrl) -> Self {
        let origin = normal(&base_url.to_string());
        let host = origin.split_once("://").map_or(origin.as_str(), |(_, host)| host).to_owned();
        Self { hosts: vec![host], origins: vec![origin] }
    }

    /// Adds hosts and origins, separated by commas.
    #[must_use]
    pub fn with(mut self, hosts: &str, origins: &str) -> Self {
        let listed = |text: &str| -> Vec<String> {
            text.split(',').map(str::trim).filter(|entry| !entry.is_empty()).map(normal).collect()
        };
        self.hosts.extend(listed(hosts));
        self.origins.extend(listed(origins));
        self
    }

    /// The service's own host and origin, and those from the environment.
    #[must_use]
    pub fn from_env(base_url: &BaseUrl) -> Self {
        let read = |name| std::env::var(name).unwrap_or_default();
        Self::of(base_url).with(&read(HOSTS), &read(ORIGINS))
    }

    pub(crate) fn allows(&self, headers: &HeaderMap, uri: &Uri) -> bool {
        let (Ok(host), Ok(origin)) = (only(headers, HOST), only(headers, ORIGIN)) else { return false };
        let host = host.or_else(|| uri.authority().map(http::uri::Authority::as_str));
        let is_host = host.is_some_and(|host| self.hosts.contains(&normal(host)));
        is_host && origin.is_none_or(|origin| self.origins.contains(&normal(origin)))
    }
}

impl Access {
    /// The origin of the requesting page, if both it and the host are allowed.
    pub(crate) fn origin_of_page(&self, headers: &HeaderMap, uri: &Uri) -> Option<HeaderValue> {
        headers.get(ORIGIN).filter(|_| self.allows(headers, uri)).cloned()
    }
}

/// Request headers that a page may send in addition: the token and the protocol's headers.
const SENT: &str = "authorization, content-type, mcp-protocol-version, mcp-method, mcp-name";
const READ: &str = "x-request-id, www-authenticate";
/// How long a browser caches a preflight's answer: a day, which browsers shorten.
const REMEMBERED_S: &str = "86400";

pub(crate) fn is_preflight(parts: &Parts) -> bool {
    parts.method == Method::OPTIONS && parts.headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

/// Answers a preflight. It has no token and does nothing, so it leaves no audit row.
pub(crate) fn answer_preflight(origin: &HeaderValue) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("POST"));
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(SENT));
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(REMEMBERED_S));
    if let Ok(id) = HeaderValue::try_from(RequestId::new().to_string()) {
        headers.insert(REQUEST_ID, id);
    }
    let_page_read(&mut response, origin.clone());
    response
}

/// Lets a page of an allowed origin read a response. The endpoint has no cookies, so credentials aren't allowed.
pub(crate) fn let_page_read(response: &mut Response, origin: HeaderValue) {
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(READ));
    headers.append(VARY, HeaderValue::from_static("origin"));
}

/// The only value of a header. A repeated or non-text header is an error.
pub(crate) fn only(headers: &HeaderMap, name: HeaderName) -> Result<Option<&str>, ()> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(());
    }
    value.to_str().map(Some).map_err(|_| ())
}

/// Normalizes a host or origin: lower case, without the scheme's default port.
fn normal(text: &str) -> String {
    let lower = text.trim().trim_end_matches('/').to_ascii_lowercase();
    let without = match lower.split_once("://") {
        Some(("http", _)) => lower.strip_suffix(":80"),
        _ => lower.strip_suffix(":443"),
    };
    without.map_or(lower.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn access() -> Access {
        Access::of(&BaseUrl::parse("https://Countersign.example").unwrap())
            .with("d111.cloudfront.example, 10.0.0.1:8443", "https://agent.example")
    }

    fn allows(sent: &[(HeaderName, &str)]) -> bool {
        let headers = sent.iter().map(|(name, text)| (name.clone(), HeaderValue::from_str(text).unwrap()));
        // Collected one by one, so that a name can occur twice.
        let mut map = HeaderMap::new();
        headers.for_each(|(name, value)| {
            map.append(name, value);
        });
        access().allows(&map, &Uri::from_static("/mcp"))
    }

    #[test]
    fn a_host_is_the_services_own_or_a_configured_one() {
        for host in ["countersign.example", "COUNTERSIGN.example:443", "d111.cloudfront.example", "10.0.0.1:8443"] {
            assert!(allows(&[(HOST, host)]), "{host}");
        }
        for host in ["countersign.example:8443", "evil.example", "localhost", "127.0.0.1", "10.0.0.1", ""] {
            assert!(!allows(&[(HOST, host)]), "{host}");
        }
        assert!(!allows(&[]) && !allows(&[(HOST, "countersign.example"), (HOST, "countersign.example")]));
    }

    #[test]
    fn an_origin_is_the_services_own_or_a_configured_one_or_none() {
        let from = |origin| allows(&[(HOST, "countersign.example"), (ORIGIN, origin)]);
        assert!(
            ["https://countersign.example", "https://agent.example", "https://Agent.example:443"]
                .map(from)
                .iter()
                .all(|it| *it)
        );
        for origin in ["http://countersign.example", "https://evil.example", "null", "https://agent.example.evil", ""] {
            assert!(!from(origin), "{origin}");
        }
    }
}
