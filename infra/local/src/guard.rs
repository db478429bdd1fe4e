//! Where deliveries of the local stack may go: public hosts as everywhere, and this machine itself, over plain http too.
//! Only here: no function can be built with it, since no function depends on this crate.

use std::net::{IpAddr, Ipv4Addr};

use futures_util::future::BoxFuture;
use shared::webhook::guard::{Guard, PublicOnly, Scheme};
use shared::webhook::resolve::{Resolve, ResolveError, SystemResolver};

/// What this machine calls itself.
const LOCALHOST: &str = "localhost";

/// Public hosts over TLS, and this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct PublicOrLoopback;

impl Guard for PublicOrLoopback {
    fn allows_scheme(&self, _: Scheme) -> bool {
        // What a scheme may speak to is decided by the address.
        true
    }

    fn allows_name(&self, name: &str) -> bool {
        name == LOCALHOST || PublicOnly.allows_name(name)
    }

    fn allows_address(&self, scheme: Scheme, address: IpAddr) -> bool {
        address.is_loopback() || PublicOnly.allows_address(scheme, address)
    }
}

/// The system's name servers, and this machine's own name, which they do not know.
#[derive(Debug, Default)]
pub struct LocalResolver(SystemResolver);

impl Resolve for LocalResolver {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, Result<Vec<IpAddr>, ResolveError>> {
        if host == LOCALHOST {
            return Box::pin(std::future::ready(Ok(vec![Ipv4Addr::LOCALHOST.into()])));
        }
        self.0.resolve(host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_and_what_is_public_and_nothing_between() {
        for (scheme, address, expected) in [
            (Scheme::Http, "127.0.0.1", true),
            (Scheme::Https, "127.0.0.1", true),
            (Scheme::Http, "::1", true),
            (Scheme::Https, "1.1.1.1", true),
            (Scheme::Http, "1.1.1.1", false),
            (Scheme::Https, "10.0.0.1", false),
            (Scheme::Http, "192.168.1.1", false),
            (Scheme::Http, "169.254.169.254", false),
            (Scheme::Http, "0.0.0.0", false),
        ] {
            let address = address.parse().unwrap();
            assert_eq!(PublicOrLoopback.allows_address(scheme, address), expected, "{scheme:?} {address}");
        }
        assert!(PublicOrLoopback.allows_name("localhost") && PublicOrLoopback.allows_name("hooks.example.com"));
        assert!(!PublicOrLoopback.allows_name("printer") && !PublicOrLoopback.allows_name("nas.local"));
    }
}
