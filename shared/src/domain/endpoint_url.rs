//! The URL of a subscriber's endpoint. Which hosts are public is for `webhook::guard` to say.

use std::fmt;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use url::{Host, Url};

use crate::limits;

/// How an endpoint is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// Plain; never outside of a developer's machine.
    Http,
    /// Over TLS.
    Https,
}

/// Which endpoints deliveries may go to. Functions are only built with `webhook::guard::PublicOnly`.
pub trait Guard: fmt::Debug + Send + Sync {
    /// Whether endpoints may be spoken to like this.
    fn allows_scheme(&self, scheme: Scheme) -> bool;
    /// Whether a name, in lower case and without a point at its end, may be one of an endpoint.
    fn allows_name(&self, name: &str) -> bool;
    /// Whether an address may be connected to like this.
    fn allows_address(&self, scheme: Scheme, address: IpAddr) -> bool;
}

/// Where an endpoint is: an absolute URL with a host, and without user info or fragment. Whether deliveries may go
/// there is for a [`Guard`] to say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct EndpointUrl(Url);

/// Whether it shows in the URL itself or in where its name leads.
pub(crate) const NOT_PUBLIC: &str = "must lead to a public host; names and addresses of private networks are refused";

/// Why a text can't be an endpoint's URL, in words for a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidUrl {
    /// Not a whole URL.
    #[error("must be a whole URL such as https://hooks.example.com/countersign")]
    NotAbsolute,
    /// More than people or software would take.
    #[error("must have at most {} characters", limits::WEBHOOK_URL_CHARS_MAX)]
    TooLong,
    /// Plain HTTP, or none of the web.
    #[error("must begin with https://")]
    NotHttps,
    /// A name or password before the host.
    #[error("must not contain a user name or a password")]
    UserInfo,
    /// What comes after `#` is never sent.
    #[error("must not contain a fragment (#…)")]
    Fragment,
    /// The host is neither a name nor an address.
    #[error("must have a valid host name")]
    Host,
    /// The port is not from 1 to 65535.
    #[error("must have a port from 1 to 65535, or none")]
    Port,
    /// The host is not a public one.
    #[error("{NOT_PUBLIC}")]
    NotPublic,
}

impl EndpointUrl {
    /// Reads a URL as a person enters it: with a name in any script, which becomes ASCII.
    ///
    /// # Errors
    /// When it is none, or `guard` does not allow it. Where its name leads to is for `webhook::guard::check`.
    pub fn parse(text: &str, guard: &dyn Guard) -> Result<Self, InvalidUrl> {
        let url = Self::read(text.trim())?;
        if !guard.allows_scheme(url.scheme()) {
            return Err(InvalidUrl::NotHttps);
        }
        if url.is_allowed(guard) { Ok(url) } else { Err(InvalidUrl::NotPublic) }
    }

    /// Reads a URL of any host.
    pub(crate) fn read(text: &str) -> Result<Self, InvalidUrl> {
        if text.chars().count() > limits::WEBHOOK_URL_CHARS_MAX {
            return Err(InvalidUrl::TooLong);
        }
        // The parser forgives more than whoever reads the URL would guess: missing slashes, backslashes, line breaks.
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
        // The parser would look for a host in the path.
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
            // The point that makes a name absolute is no part of it in a certificate or a `Host` header.
            let name = name.strip_suffix('.').unwrap_or(name).to_owned();
            if !is_host_name(&name) || url.set_host(Some(&name)).is_err() {
                return Err(InvalidUrl::Host);
            }
        }
        // A name or a path in another script is longer in ASCII.
        if url.as_str().len() > limits::WEBHOOK_URL_CHARS_MAX { Err(InvalidUrl::TooLong) } else { Ok(Self(url)) }
    }

    /// The URL, as it is shown and kept.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// How it is spoken to.
    #[must_use]
    pub fn scheme(&self) -> Scheme {
        if self.0.scheme() == "https" { Scheme::Https } else { Scheme::Http }
    }

    /// The host: a name in lower-case ASCII, or an address.
    pub(crate) fn host(&self) -> Host<&str> {
        // There is one: a URL without is not read.
        self.0.host().unwrap_or(Host::Domain(""))
    }

    /// The host with its port where it is not the usual one, as a `Host` header names it.
    pub(crate) fn authority(&self) -> &str {
        &self.0[url::Position::BeforeHost..url::Position::AfterPort]
    }

    /// What is asked of the host.
    pub(crate) fn path_and_query(&self) -> &str {
        &self.0[url::Position::BeforePath..url::Position::AfterQuery]
    }

    /// The port; the usual one where the URL names none.
    pub(crate) fn port(&self) -> u16 {
        self.0.port_or_known_default().unwrap_or_default()
    }

    /// Whether a guard allows the URL; where its name leads to is another question.
    pub(crate) fn is_allowed(&self, guard: &dyn Guard) -> bool {
        guard.allows_scheme(self.scheme())
            && match self.host() {
                Host::Domain(name) => guard.allows_name(name),
                Host::Ipv4(address) => guard.allows_address(self.scheme(), address.into()),
                Host::Ipv6(address) => guard.allows_address(self.scheme(), address.into()),
            }
    }
}

/// Whether a name in lower-case ASCII can be one of a host.
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

    /// Reads one that was kept. Guards may have become stricter since: every attempt asks its own.
    fn try_from(text: String) -> Result<Self, InvalidUrl> {
        Self::read(&text)
    }
}

impl From<EndpointUrl> for String {
    fn from(url: EndpointUrl) -> Self {
        url.0.into()
    }
}
