//! From where the endpoint may be called: the hosts that requests name, and the origins of browsers.
//!
//! A page of another origin could otherwise call an endpoint that only its visitor can reach (DNS rebinding). Requests
//! without an origin come from no page.

use http::header::{HOST, HeaderName, ORIGIN};
use http::{HeaderMap, Uri};
use shared::platform::config::BaseUrl;

/// The variable with further hosts, separated by commas: a CDN in front of the gateway may call it by another name.
const HOSTS: &str = "MCP_HOSTS";
/// The variable with further origins, separated by commas, such as that of an agent that runs in a browser.
const ORIGINS: &str = "MCP_ORIGINS";

/// The allowed hosts and origins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    hosts: Vec<String>,
    origins: Vec<String>,
}

impl Access {
    /// The host and the origin of the service's own address.
    #[must_use]
    pub fn of(base_url: &BaseUrl) -> Self {
        let origin = normal(&base_url.to_string());
        let host = origin.split_once("://").map_or(origin.as_str(), |(_, host)| host).to_owned();
        Self { hosts: vec![host], origins: vec![origin] }
    }

    /// The same with further hosts and origins, separated by commas.
    #[must_use]
    pub fn with(mut self, hosts: &str, origins: &str) -> Self {
        let listed = |text: &str| -> Vec<String> {
            text.split(',').map(str::trim).filter(|entry| !entry.is_empty()).map(normal).collect()
        };
        self.hosts.extend(listed(hosts));
        self.origins.extend(listed(origins));
        self
    }

    /// Those of the service's own address, and those that the environment adds.
    #[must_use]
    pub fn from_env(base_url: &BaseUrl) -> Self {
        let read = |name| std::env::var(name).unwrap_or_default();
        Self::of(base_url).with(&read(HOSTS), &read(ORIGINS))
    }

    /// Whether a request names an allowed host, and an allowed origin if it names one.
    pub(crate) fn allows(&self, headers: &HeaderMap, uri: &Uri) -> bool {
        let (Ok(host), Ok(origin)) = (only(headers, HOST), only(headers, ORIGIN)) else { return false };
        let host = host.or_else(|| uri.authority().map(http::uri::Authority::as_str));
        let is_host = host.is_some_and(|host| self.hosts.contains(&normal(host)));
        is_host && origin.is_none_or(|origin| self.origins.contains(&normal(origin)))
    }
}

/// The one value of a header. A header that came twice, or is no text, is an error.
pub(crate) fn only(headers: &HeaderMap, name: HeaderName) -> Result<Option<&str>, ()> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(());
    }
    value.to_str().map(Some).map_err(|_| ())
}

/// A host or an origin in one spelling: in lower case, without the port that its scheme has anyway.
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
        // Collected one by one, so that a name can come twice.
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
