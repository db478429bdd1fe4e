//! Name resolution.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::pin::Pin;

use tokio::net::lookup_host;
use tokio::time::timeout;

use crate::limits;

/// Resolves host names.
pub trait Resolve: fmt::Debug + Send + Sync {
    /// All current addresses of a host name.
    fn resolve<'a>(&'a self, host: &'a str) -> Resolving<'a>;
}

/// A look-up in progress.
pub type Resolving<'a> = Pin<Box<dyn Future<Output = Result<Vec<IpAddr>, ResolveError>> + Send + 'a>>;

/// Why a look-up failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// The name doesn't exist, or has no address.
    #[error("the name does not exist or has no address")]
    NoSuchName,
    /// No name server answered in time.
    #[error("no name server answered in time")]
    TimedOut,
    /// The system found no such name, or couldn't look it up.
    #[error("the name could not be looked up: {0}")]
    Failed(String),
}

/// The operating system's resolver. It needs no trust: the guard checks each answer.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl SystemResolver {
    /// The system's resolver.
    #[must_use]
    pub fn new() -> Self {
        Self
    }

    async fn look_up(host: &str) -> Result<Vec<IpAddr>, ResolveError> {
        // Name servers must not be asked for this name (RFC 6761, section 6.3), and not all systems resolve it.
        if host == "localhost" || host.ends_with(".localhost") {
            return Ok(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]);
        }
        // The final dot makes the name absolute: no search domain is tried.
        let name = format!("{host}.");
        match timeout(limits::WEBHOOK_RESOLVE_TIMEOUT, lookup_host((name.as_str(), 0))).await {
            Ok(Ok(addresses)) => Ok(addresses.map(|address| address.ip()).collect()),
            Ok(Err(error)) => Err(ResolveError::Failed(error.to_string())),
            Err(_) => Err(ResolveError::TimedOut),
        }
    }
}

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str) -> Resolving<'a> {
        Box::pin(Self::look_up(host))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn localhost_resolves_to_loopback() {
        for name in ["localhost", "hooks.localhost"] {
            let found = SystemResolver::new().resolve(name).await.unwrap();
            assert!(found.iter().all(IpAddr::is_loopback) && found.len() == 2, "{found:?}");
        }
    }

    #[tokio::test]
    async fn an_invalid_name_is_not_found() {
        assert!(SystemResolver::new().resolve("hooks.invalid").await.is_err());
    }
}
