//! Names to addresses.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::pin::Pin;

use tokio::net::lookup_host;
use tokio::time::timeout;

use crate::limits;

/// Looks names up.
pub trait Resolve: fmt::Debug + Send + Sync {
    /// All addresses of a host name, as they are now.
    fn resolve<'a>(&'a self, host: &'a str) -> Resolving<'a>;
}

/// A look-up under way.
pub type Resolving<'a> = Pin<Box<dyn Future<Output = Result<Vec<IpAddr>, ResolveError>> + Send + 'a>>;

/// Why a name has no addresses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// There is no such name, or it has no address.
    #[error("the name does not exist or has no address")]
    NoSuchName,
    /// No name server answered in time.
    #[error("no name server answered in time")]
    TimedOut,
    /// The system says that there is no such name, or that it can't tell.
    #[error("the name could not be looked up: {0}")]
    Failed(String),
}

/// The system's own way, which functions carry already: a library of our own for it is 290 KB of a zipped function.
/// What it answers is judged like any answer, so a hosts file can't lead further than a name server.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl SystemResolver {
    /// The system's resolver.
    #[must_use]
    pub fn new() -> Self {
        Self
    }

    async fn look_up(host: &str) -> Result<Vec<IpAddr>, ResolveError> {
        // Never a question for a name server (RFC 6761, section 6.3), and not all systems know it.
        if host == "localhost" || host.ends_with(".localhost") {
            return Ok(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]);
        }
        // With a point at its end a name is absolute: no search domain is tried.
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
    async fn localhost_is_this_machine() {
        for name in ["localhost", "hooks.localhost"] {
            let found = SystemResolver::new().resolve(name).await.unwrap();
            assert!(found.iter().all(IpAddr::is_loopback) && found.len() == 2, "{found:?}");
        }
    }

    #[tokio::test]
    async fn a_name_that_can_not_be_is_not_found() {
        // With a name server or without.
        assert!(SystemResolver::new().resolve("hooks.invalid").await.is_err());
    }
}
