//! The URL of a subscriber's endpoint. `webhook::guard` decides which hosts are public.

use std::fmt;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use url::{Host, Url};

use crate::limits;

/// The scheme of an endpoint's URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// Plain HTTP, only on developers' machines.
    Http,
    /// HTTP over TLS.
    Https,
}

/// Decides which hosts deliveries may go to. Deployed functions only use `webhook::guard::PublicOnly`.
pub trait Guard: fmt::Debug + Send + Sync {
    /// Whether endpoints may have this scheme.
    fn allows_scheme(&self, scheme: Scheme) -> bool;
    /// Whether they may have this host name, in lower case without a final dot.
    fn allows_name(&self, scheme: Scheme, name: &str) -> bool;
    /// Whether connections may go to this address.
    fn allows_address(&self, scheme: Scheme, address: IpAddr) -> bool;
}

/// The URL of an endpoint: absolute, with a host, without user info or fragment. A [`Guard`] has allowed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct EndpointUrl(Url);

pub(crate) const NOT_PUBLIC: &str = "must lead to a public host; names and addresses of private networks are refused";

/// Why a text can't be an endpoint's URL, for a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidUrl {
    /// Not an absolute URL.
    #[error("must be a whole URL such as https://hooks.example.com/countersign")]
    NotAbsolute,
    /// Longer than the limit.
    #[error("must have at most {} characters", limits::WEBHOOK_URL_CHARS_MAX)]
    TooLong,
    /// A scheme other than `https`.
    #[error("must begin with https://")]
    NotHttps,
    /// A user name or password before the host.
    #[error("must not contain a user name or a password")]
    UserInfo,
    /// A fragment, which would never be sent.
    #[error("must not contain a fragment (#…)")]
    Fragment,
    /// The host is neither a name nor an address.
    #[error("must have a valid host name")]
    Host,
    /// The port is not from 1 to 65535.
    #[error("must have a port from 1 to 65535, or none")]
    Port,
    /// The host is not public.
    #[error("{NOT_PUBLIC}")]
    NotPublic,
}

impl EndpointUrl {
    /// Parses a URL as typed, if `guard` allows it; `webhook::guard::check` resolves its name. Names become ASCII.
    pub fn parse(text: &str, guard: &dyn Guard) -> Result<Self, InvalidUrl> {
        let url = Self::read(text.trim())?;
        if !guard.allows_scheme(url.scheme()) {
            return Err(InvalidUrl::NotHttps);
        }
        match url.scheme() {
            _ if url.is_allowed(guard) => Ok(url),
            Scheme::Http => Err(InvalidUrl::NotHttps),
            Scheme::Https => Err(InvalidUrl::NotPublic),
        }
    }

    pub(crate) fn read(text: &str) -> Result<Self, InvalidUrl> {
        if text.chars().count() > limits::WEBHOOK_URL_CHARS_MAX {
            return Err(InvalidUrl::TooLong);
        }
        // The parser also accepts missing slashes, backslashes and line breaks.
        let (scheme, rest) = text.split_once("://").ok_or(InvalidUrl::NotAbsolute)?;
        if text.contains(|c: char| c.is_whitespace() || c.is_control() || c == '\\') {
            return Err(InvalidUrl::NotAbsolute);
        }
        if !["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
            return Err(InvalidUrl::NotHttps);
        }
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if authority.contains('@') {
            return Err(InvalidUrl::UserInfo);
        }
        if authority.is_empty() {
            return Err(InvalidUrl::Host);
        }
        let mut url = Url::parse(text).map_err(|error| match error {
            url::ParseError::InvalidPort => InvalidUrl::Port,
            _ => InvalidUrl::Host,
        })?;
        if url.port() == Some(0) {
            return Err(InvalidUrl::Port);
        }
        if url.fragment().is_some() {
            return Err(InvalidUrl::Fragment);
        }
        if let Some(Host::Domain(name)) = url.host() {
            // Certificates and `Host` headers omit the final dot of an absolute name.
            let name = name.strip_suffix('.').unwrap_or(name).to_owned();
            if !is_host_name(&name) || url.set_host(Some(&name)).is_err() {
                return Err(InvalidUrl::Host);
            }
        }
        // A name or path in another script is longer in ASCII.
        if url.as_str().len() > limits::WEBHOOK_URL_CHARS_MAX { Err(InvalidUrl::TooLong) } else { Ok(Self(url)) }
    }

    /// The URL as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Its scheme.
    #[must_use]
    pub fn scheme(&self) -> Scheme {
        if self.0.scheme() == "https" { Scheme::Https } else { Scheme::Http }
    }

    pub(crate) fn host(&self) -> Host<&str> {
        // Every parsed URL has a host.
        self.0.host().unwrap_or(Host::Domain(""))
    }

    pub(crate) fn authority(&self) -> &str {
        &self.0[url::Position::BeforeHost..url::Position::AfterPort]
    }

    pub(crate) fn path_and_query(&self) -> &str {
        &self.0[url::Position::BeforePath..url::Position::AfterQuery]
    }

    pub(crate) fn port(&self) -> u16 {
        self.0.port_or_known_default().unwrap_or_default()
    }

    pub(crate) fn is_allowed(&self, guard: &dyn Guard) -> bool {
        guard.allows_scheme(self.scheme())
            && match self.host() {
                Host::Domain(name) => guard.allows_name(self.scheme(), name),
                Host::Ipv4(address) => guard.allows_address(self.scheme(), address.into()),
                Host::Ipv6(address) => guard.allows_address(self.scheme(), address.into()),
            }
    }
}

fn is_host_name(name: &str) -> bool {
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    };
    name.len() <= 253 && name.split('.').all(is_label)
}

impl fmt::Display for EndpointUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl TryFrom<String> for EndpointUrl {
    type Error = InvalidUrl;

    /// Parses a stored URL without a guard: every attempt applies its own, possibly stricter one.
    fn try_from(text: String) -> Result<Self, InvalidUrl> {
        Self::read(&text)
    }
}

impl From<EndpointUrl> for String {
    fn from(url: EndpointUrl) -> Self {
        url.0.into()
    }
}
