//! The local guard also allows this machine. It is outside `shared`, so that no function can be built with it.

use std::net::IpAddr;

use shared::webhook::guard::{Guard, PublicOnly, Scheme};

/// Allows public hosts over TLS, and this machine over plain HTTP too.
#[derive(Debug, Clone, Copy, Default)]
pub struct PublicOrLoopback;

impl Guard for PublicOrLoopback {
    fn allows_scheme(&self, _scheme: Scheme) -> bool {
        true
    }

    fn allows_name(&self, scheme: Scheme, name: &str) -> bool {
        let is_here = name == "localhost" || name.ends_with(".localhost");
        is_here || scheme == Scheme::Https && PublicOnly.allows_name(scheme, name)
    }

    fn allows_address(&self, scheme: Scheme, address: IpAddr) -> bool {
        address.to_canonical().is_loopback() || PublicOnly.allows_address(scheme, address)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use shared::webhook::guard::{AddressError, EndpointUrl, InvalidUrl, check};
    use shared::webhook::resolve::{Resolve, Resolving, SystemResolver};

    use super::*;

    #[tokio::test]
    async fn loopback_is_allowed_and_no_other_private_address() {
        let resolver: Arc<dyn Resolve> = Arc::new(SystemResolver::new());
        for url in [
            "http://127.0.0.1:9000/hook",
            "http://127.1:9000/",
            "https://127.0.0.1/",
            "http://[::1]:9000/",
            "http://[::ffff:127.0.0.1]/",
            "http://localhost:9000/",
            "http://hooks.localhost:9000/",
            "https://8.8.8.8/",
        ] {
            let read = EndpointUrl::parse(url, &PublicOrLoopback).unwrap_or_else(|error| panic!("{url}: {error}"));
            assert!(check(&read, &PublicOrLoopback, &*resolver).await.is_ok(), "{url}");
        }
        // Doesn't resolve names: only names of this machine may go without TLS.
        for url in [
            "http://8.8.8.8/",
            "http://10.0.0.1/",
            "http://0.0.0.0/",
            "http://printer/",
            "http://hooks.example.com/",
            "http://localhost.example.com/",
        ] {
            assert_eq!(EndpointUrl::parse(url, &PublicOrLoopback), Err(InvalidUrl::NotHttps), "{url}");
        }
        for url in [
            "https://10.0.0.1/",
            "https://169.254.169.254/",
            "https://[::ffff:10.0.0.1]/",
            "https://[fd00::1]/",
            "https://printer.local/",
            "https://printer/",
        ] {
            assert_eq!(EndpointUrl::parse(url, &PublicOrLoopback), Err(InvalidUrl::NotPublic), "{url}");
        }
    }

    #[tokio::test]
    async fn a_public_host_needs_tls() {
        #[derive(Debug)]
        struct Public;
        impl Resolve for Public {
            fn resolve<'a>(&'a self, _host: &'a str) -> Resolving<'a> {
                Box::pin(async { Ok(vec![IpAddr::from([93, 184, 216, 34])]) })
            }
        }
        // A name of this machine that leads elsewhere, and an endpoint that an earlier version accepted.
        for url in ["http://hooks.localhost/", "http://hooks.example.com/"] {
            let plain = EndpointUrl::try_from(url.to_owned()).expect("a URL");
            assert_eq!(check(&plain, &PublicOrLoopback, &Public).await, Err(AddressError::Refused), "{url}");
        }
        let encrypted = EndpointUrl::parse("https://hooks.example.com/", &PublicOrLoopback).expect("a URL");
        assert!(check(&encrypted, &PublicOrLoopback, &Public).await.is_ok());
    }
}
