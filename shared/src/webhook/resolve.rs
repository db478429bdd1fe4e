//! Names to addresses.

use std::fmt;
use std::net::IpAddr;

use futures_util::future::BoxFuture;
use hickory_resolver::TokioResolver;
use hickory_resolver::config::{LookupIpStrategy, ResolveHosts};
use hickory_resolver::net::NetError;
use hickory_resolver::proto::rr::Name;

use crate::limits;

/// Looks names up.
pub trait Resolve: fmt::Debug + Send + Sync {
    /// All addresses of a host name, as they are now.
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, Result<Vec<IpAddr>, ResolveError>>;
}

/// Why a name has no addresses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// There is no such name, or it has no address.
    #[error("the name does not exist or has no address")]
    NoSuchName,
    /// No name server answered in time.
    #[error("no name server answered in time")]
    TimedOut,
    /// No name server gave an answer.
    #[error("the name could not be looked up: {0}")]
    Failed(String),
}

/// The name servers that the system is set up with, and nothing else of the system: no hosts file, no search domains,
/// and nothing that was kept from an earlier look-up.
pub struct SystemResolver(Result<TokioResolver, ResolveError>);

impl SystemResolver {
    /// Build it once per process. A system without name servers shows at the first look-up: an attempt then fails, and
    /// is tried again like any other.
    #[must_use]
    pub fn new() -> Self {
        Self(Self::build().map_err(|error| ResolveError::Failed(error.to_string())))
    }

    fn build() -> Result<TokioResolver, NetError> {
        let mut builder = TokioResolver::builder_tokio()?;
        let options = builder.options_mut();
        options.use_hosts_file = ResolveHosts::Never;
        options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
        options.cache_size = 0;
        builder.build()
    }

    async fn look_up(&self, host: &str) -> Result<Vec<IpAddr>, ResolveError> {
        let resolver = self.0.as_ref().map_err(Clone::clone)?;
        let mut name = Name::from_ascii(host).map_err(|_| ResolveError::NoSuchName)?;
        // Absolute: no search domain is tried.
        name.set_fqdn(true);
        let looked_up = tokio::time::timeout(limits::WEBHOOK_RESOLVE_TIMEOUT, resolver.lookup_ip(name)).await;
        match looked_up {
            Ok(Ok(addresses)) => Ok(addresses.iter().collect()),
            Ok(Err(error)) if error.is_no_records_found() => Err(ResolveError::NoSuchName),
            Err(_) | Ok(Err(NetError::Timeout)) => Err(ResolveError::TimedOut),
            Ok(Err(error)) => Err(ResolveError::Failed(error.to_string())),
        }
    }
}

impl Default for SystemResolver {
    fn default() -> Self {
        Self::new()
    }
}

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, Result<Vec<IpAddr>, ResolveError>> {
        Box::pin(self.look_up(host))
    }
}

impl fmt::Debug for SystemResolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SystemResolver")
    }
}
