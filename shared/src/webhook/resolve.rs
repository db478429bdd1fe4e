//! Names to addresses.

use std::fmt;
use std::net::IpAddr;
use std::pin::Pin;

use hickory_resolver::config::{LookupIpStrategy, ResolveHosts, ResolverConfig};
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::proto::rr::Name;
use hickory_resolver::{ResolverBuilder, TokioResolver};

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
    /// No name server gave an answer.
    #[error("the name could not be looked up: {0}")]
    Failed(String),
}

/// The name servers that the system is set up with, and nothing else of the system: no hosts file, no search domains,
/// and nothing that was kept from an earlier look-up.
pub struct SystemResolver(Result<TokioResolver, ResolveError>);

impl SystemResolver {
    /// Build it once per process. A system without name servers shows when a name is looked up: the attempt fails, and
    /// is tried again like any other.
    #[must_use]
    pub fn new() -> Self {
        Self::built(TokioResolver::builder_tokio().unwrap_or_else(|_| {
            let nobody = ResolverConfig::from_name_servers(Vec::new());
            TokioResolver::builder_with_config(nobody, TokioRuntimeProvider::default())
        }))
    }

    fn built(mut builder: ResolverBuilder<TokioRuntimeProvider>) -> Self {
        let options = builder.options_mut();
        options.use_hosts_file = ResolveHosts::Never;
        options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
        options.cache_size = 0;
        options.timeout = limits::WEBHOOK_QUESTION_TIMEOUT;
        Self(builder.build().map_err(|error| ResolveError::Failed(error.to_string())))
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
    fn resolve<'a>(&'a self, host: &'a str) -> Resolving<'a> {
        Box::pin(self.look_up(host))
    }
}

impl fmt::Debug for SystemResolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SystemResolver")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use hickory_resolver::config::{ConnectionConfig, NameServerConfig};
    use hickory_resolver::proto::op::{Message, OpCode, ResponseCode};
    use hickory_resolver::proto::rr::{RData, Record, RecordType};
    use tokio::net::UdpSocket;

    use super::*;

    /// A name server that knows `hooks.example.com` and `v4.example.com`, and keeps what it is asked.
    async fn name_server() -> (SystemResolver, Arc<Mutex<Vec<String>>>) {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let port = socket.local_addr().unwrap().port();
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let kept = Arc::clone(&asked);
        tokio::spawn(async move {
            loop {
                let mut packet = [0; 1500];
                let (length, from) = socket.recv_from(&mut packet).await.unwrap();
                let question = Message::from_vec(&packet[..length]).unwrap();
                let query = question.queries[0].clone();
                let (name, kind) = (query.name().to_string(), query.query_type());
                kept.lock().unwrap().push(format!("{name} {kind}"));
                let mut answer = Message::response(question.metadata.id, OpCode::Query);
                answer.queries.push(query.clone());
                let data: Option<IpAddr> = match (name.as_str(), kind) {
                    ("hooks.example.com." | "v4.example.com.", RecordType::A) => "1.1.1.1".parse().ok(),
                    ("hooks.example.com.", RecordType::AAAA) => "2606:4700::1111".parse().ok(),
                    _ => None,
                };
                match data {
                    Some(ip) => drop(answer.add_answer(Record::from_rdata(query.name().clone(), 300, RData::from(ip)))),
                    None if name == "v4.example.com." => {}
                    None => answer.metadata.response_code = ResponseCode::NXDomain,
                }
                socket.send_to(&answer.to_vec().unwrap(), from).await.unwrap();
            }
        });
        let mut connection = ConnectionConfig::udp();
        connection.port = port;
        let server = NameServerConfig::new("127.0.0.1".parse().unwrap(), true, vec![connection]);
        let search = Name::from_ascii("inside.example.").unwrap();
        let config = ResolverConfig::from_parts(Some(search.clone()), vec![search], vec![server]);
        let builder = TokioResolver::builder_with_config(config, TokioRuntimeProvider::default());
        (SystemResolver::built(builder), asked)
    }

    #[tokio::test]
    async fn both_kinds_of_addresses_are_asked_for_anew_each_time() {
        let (resolver, asked) = name_server().await;
        for _ in 0..2 {
            let mut found = resolver.resolve("hooks.example.com").await.unwrap();
            found.sort();
            assert_eq!(found, ["1.1.1.1", "2606:4700::1111"].map(|address| address.parse::<IpAddr>().unwrap()));
        }
        let mut names = asked.lock().unwrap().clone();
        names.sort();
        let (a, aaaa) = ("hooks.example.com. A", "hooks.example.com. AAAA");
        assert_eq!(names, [a, a, aaaa, aaaa]);
        assert_eq!(resolver.resolve("v4.example.com").await.unwrap(), ["1.1.1.1".parse::<IpAddr>().unwrap()]);
    }

    #[tokio::test]
    async fn a_name_that_is_not_there_is_not_looked_for_elsewhere() {
        let (resolver, asked) = name_server().await;
        assert_eq!(resolver.resolve("unknown.example.com").await, Err(ResolveError::NoSuchName));
        assert_eq!(resolver.resolve("hooks").await, Err(ResolveError::NoSuchName));
        let asked = asked.lock().unwrap();
        assert!(asked.iter().all(|name| !name.contains("inside")), "{asked:?}");
        assert!(asked.iter().any(|name| name.starts_with("hooks. ")), "{asked:?}");
    }

    #[tokio::test]
    async fn without_name_servers_there_are_no_names() {
        let nobody = ResolverConfig::from_name_servers(Vec::new());
        let builder = TokioResolver::builder_with_config(nobody, TokioRuntimeProvider::default());
        let resolver = SystemResolver::built(builder);
        assert!(matches!(resolver.resolve("hooks.example.com").await, Err(ResolveError::Failed(_))));
        let localhost = resolver.resolve("localhost").await.unwrap();
        assert!(localhost.iter().all(IpAddr::is_loopback) && localhost.len() == 2, "{localhost:?}");
    }
}
