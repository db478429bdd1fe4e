//! Secrets of links that people hand over: invitations and password links.

use std::fmt;

use super::{CookieSecret, NoRandomness, SecretHash};

/// The secret in a link: 256 bits, in hexadecimal.
#[derive(Clone, PartialEq, Eq)]
pub struct LinkSecret(CookieSecret);

impl LinkSecret {
    /// A new secret.
    pub fn new() -> Result<Self, NoRandomness> {
        CookieSecret::new().map(Self)
    }

    /// Reads a link's secret, or `None` if it isn't one.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        CookieSecret::parse(text).map(Self)
    }

    /// The secret in clear, for its link only.
    #[must_use]
    pub fn reveal(&self) -> &str {
        self.0.reveal()
    }

    /// The hash for the store.
    #[must_use]
    pub fn hash(&self) -> SecretHash {
        self.0.hash()
    }
}

impl std::str::FromStr for LinkSecret {
    type Err = InvalidLinkSecret;

    fn from_str(text: &str) -> Result<Self, InvalidLinkSecret> {
        Self::parse(text).ok_or(InvalidLinkSecret)
    }
}

/// The text isn't a link's secret.
#[derive(Debug, thiserror::Error)]
#[error("not a secret of a link")]
pub struct InvalidLinkSecret;

impl fmt::Debug for LinkSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LinkSecret")
    }
}
