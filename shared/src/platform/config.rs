//! Settings from the environment.

use std::fmt;

/// The origin of links, such as `https://countersign.example`. Links are never stored, so the service can move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl(String);

/// The text isn't a base URL.
#[derive(Debug, thiserror::Error)]
#[error("a base URL is http:// or https:// with a host and no path, such as https://countersign.example")]
pub struct InvalidBaseUrl;

impl BaseUrl {
    /// Reads an origin, dropping a trailing slash.
    ///
    /// # Errors
    /// If the text isn't an absolute `http` or `https` origin.
    pub fn parse(text: &str) -> Result<Self, InvalidBaseUrl> {
        let origin = text.strip_suffix('/').unwrap_or(text);
        let uri: http::Uri = origin.parse().map_err(|_| InvalidBaseUrl)?;
        let scheme_fits = matches!(uri.scheme_str(), Some("http" | "https"));
        let is_origin = uri.path() == "/" && uri.query().is_none() && uri.host().is_some_and(|host| !host.is_empty());
        if scheme_fits && is_origin { Ok(Self(origin.to_owned())) } else { Err(InvalidBaseUrl) }
    }

    /// A link to a path of the service.
    #[must_use]
    pub fn link(&self, path: impl fmt::Display) -> String {
        format!("{}{path}", self.0)
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A required setting is missing or invalid.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The environment variable isn't set.
    #[error("the environment variable {0} is not set")]
    Missing(&'static str),
    /// The environment variable has an invalid value.
    #[error("the environment variable {name} is unusable: {why}")]
    Invalid {
        /// The variable.
        name: &'static str,
        /// What is valid.
        why: String,
    },
}

/// Reads an optional setting. None if the variable is unset or empty.
#[must_use]
pub fn optional(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Reads a required setting.
///
/// # Errors
/// If the variable is unset or empty.
pub fn required(name: &'static str) -> Result<String, ConfigError> {
    optional(name).ok_or(ConfigError::Missing(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_url_is_an_origin() {
        assert_eq!(BaseUrl::parse("http://localhost:8080/").unwrap().link("/app"), "http://localhost:8080/app");
        for text in ["", "localhost", "ftp://a.example", "https://", "https://a.example/x", "https://a.example?x"] {
            assert!(BaseUrl::parse(text).is_err(), "{text}");
        }
    }
}
