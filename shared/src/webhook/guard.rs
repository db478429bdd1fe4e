//! Guards against server-side request forgery (SSRF): deliveries go only to public hosts.
//!
//! [`EndpointUrl::parse`] checks a URL when entered, [`check`] its addresses at every attempt: connect only to those.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use url::Host;

use super::resolve::{Resolve, ResolveError};
use crate::domain::delivery::FailureClass;
use crate::domain::endpoint_url::NOT_PUBLIC;
pub use crate::domain::endpoint_url::{EndpointUrl, Guard, InvalidUrl, Scheme};

/// Allows only public hosts over TLS.
#[derive(Debug, Clone, Copy, Default)]
pub struct PublicOnly;

impl Guard for PublicOnly {
    fn allows_scheme(&self, scheme: Scheme) -> bool {
        scheme == Scheme::Https
    }

    fn allows_name(&self, _: Scheme, name: &str) -> bool {
        let mut labels = name.rsplit('.');
        let last = labels.next().unwrap_or_default();
        // A single label belongs to a local network.
        labels.next().is_some() && !PRIVATE_SUFFIXES.contains(&last)
    }

    fn allows_address(&self, scheme: Scheme, address: IpAddr) -> bool {
        scheme == Scheme::Https && is_public(address)
    }
}

/// Top-level labels outside the public DNS: special use (RFC 6761, 6762, 7686, 8375, 9476 and ICANN's `internal`), or
/// too common in private networks ever to become public. `arpa` covers addresses and `home.arpa`.
const PRIVATE_SUFFIXES: [&str; 15] = [
    "alt",
    "arpa",
    "corp",
    "home",
    "internal",
    "intranet",
    "invalid",
    "lan",
    "local",
    "localdomain",
    "localhost",
    "onion",
    "private",
    "test",
    "workgroup",
];

/// Whether an address is in none of IANA's special-purpose registries, not multicast, and embeds no such address.
fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// IPv4 networks that aren't public: IANA's special-purpose registry, and addresses of no single host.
const SPECIAL_V4: [(Ipv4Addr, u32); 19] = [
    (Ipv4Addr::UNSPECIFIED, 8),            // this network
    (Ipv4Addr::new(10, 0, 0, 0), 8),       // private
    (Ipv4Addr::new(100, 64, 0, 0), 10),    // carrier-grade NAT; Alibaba's metadata at 100.100.100.200
    (Ipv4Addr::new(127, 0, 0, 0), 8),      // loopback
    (Ipv4Addr::new(168, 63, 129, 16), 32), // Azure's host, public in form only
    (Ipv4Addr::new(169, 254, 0, 0), 16),   // link-local; metadata of AWS, Google, Azure and others
    (Ipv4Addr::new(172, 16, 0, 0), 12),    // private
    (Ipv4Addr::new(192, 0, 0, 0), 24),     // protocol assignments; Oracle's metadata at 192.0.0.192
    (Ipv4Addr::new(192, 0, 2, 0), 24),     // documentation
    (Ipv4Addr::new(192, 31, 196, 0), 24),  // AS112
    (Ipv4Addr::new(192, 52, 193, 0), 24),  // AMT
    (Ipv4Addr::new(192, 88, 99, 0), 24),   // 6to4 relays
    (Ipv4Addr::new(192, 168, 0, 0), 16),   // private
    (Ipv4Addr::new(192, 175, 48, 0), 24),  // AS112
    (Ipv4Addr::new(198, 18, 0, 0), 15),    // benchmarks
    (Ipv4Addr::new(198, 51, 100, 0), 24),  // documentation
    (Ipv4Addr::new(203, 0, 113, 0), 24),   // documentation
    (Ipv4Addr::new(224, 0, 0, 0), 4),      // multicast
    (Ipv4Addr::new(240, 0, 0, 0), 4),      // reserved; broadcast
];

fn is_public_v4(address: Ipv4Addr) -> bool {
    let starts_with = |network: Ipv4Addr, bits: u32| (address.to_bits() ^ network.to_bits()) >> (32 - bits) == 0;
    !SPECIAL_V4.iter().any(|(network, bits)| starts_with(*network, *bits))
}

/// Networks within `2000::/3`, the allocated eighth of IPv6, that aren't public. All others are special: local,
/// multicast, discard, deprecated IPv4 forms, segment routing, local NAT64, unallocated.
const SPECIAL_V6: [(Ipv6Addr, u32); 5] = [
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23), // protocol assignments: Teredo, benchmarks, AMT, ORCHID, DRIP
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32), // documentation
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16), // 6to4: a detour to any IPv4 address
    (Ipv6Addr::new(0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0), 48), // AS112
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20), // documentation
];

fn is_public_v6(address: Ipv6Addr) -> bool {
    let starts_with = |network: Ipv6Addr, bits: u32| (address.to_bits() ^ network.to_bits()) >> (128 - bits) == 0;
    let [.., high, low] = address.segments();
    let embedded = Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    // NAT64 connects to the IPv4 address in the last 32 bits.
    if starts_with(Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0), 96) {
        return is_public_v4(embedded);
    }
    // ISATAP tunnels to the IPv4 address in the last 32 bits, below any prefix.
    if matches!(address.segments(), [_, _, _, _, 0 | 0x100 | 0x200 | 0x300, 0x5efe, ..]) && !is_public_v4(embedded) {
        return false;
    }
    starts_with(Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3)
        && !SPECIAL_V6.iter().any(|(network, bits)| starts_with(*network, *bits))
}

/// Why an endpoint can't be connected to, in words for a form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// Its name has no address.
    #[error("must have a host name that leads somewhere: it has no address now, or could not be looked up")]
    Unresolved(#[from] ResolveError),
    /// It is, or resolves to, an address that isn't public. Unnamed: outsiders must not learn internal addresses.
    #[error("{NOT_PUBLIC}")]
    Refused,
}

impl AddressError {
    /// The failure class of an attempt that ends with this error.
    #[must_use]
    pub fn class(&self) -> FailureClass {
        match self {
            Self::Unresolved(_) => FailureClass::DnsError,
            Self::Refused => FailureClass::AddressRefused,
        }
    }
}

/// The addresses to connect to, IPv4 first. Fails if `guard` refuses the URL or *any* of its addresses.
pub async fn check(
    url: &EndpointUrl,
    guard: &dyn Guard,
    resolver: &dyn Resolve,
) -> Result<Vec<SocketAddr>, AddressError> {
    if !url.is_allowed(guard) {
        return Err(AddressError::Refused);
    }
    let addresses = match url.host() {
        Host::Domain(name) => resolver.resolve(name).await?,
        Host::Ipv4(address) => vec![address.into()],
        Host::Ipv6(address) => vec![address.into()],
    };
    if addresses.is_empty() {
        return Err(ResolveError::NoSuchName.into());
    }
    if !addresses.iter().all(|address| guard.allows_address(url.scheme(), *address)) {
        return Err(AddressError::Refused);
    }
    // Converts IPv4-mapped IPv6 addresses to IPv4.
    let mut allowed: Vec<_> =
        addresses.iter().map(|address| SocketAddr::new(address.to_canonical(), url.port())).collect();
    allowed.sort_by_key(SocketAddr::is_ipv6);
    Ok(allowed)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::webhook::testing::Names;

    /// Hosts that resolve to internal addresses, in attackers' spellings, one per line.
    const INSIDE: &str = include_str!("inside.txt");

    #[test]
    fn hosts_that_lead_inside_are_refused() {
        let hosts: Vec<&str> = INSIDE.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
        assert!(hosts.len() >= 250, "{}", hosts.len());
        for host in hosts {
            for url in [format!("https://{host}/hook"), format!("https://{host}:8443/hook")] {
                let refused = EndpointUrl::parse(&url, &PublicOnly).expect_err(&url);
                assert!(matches!(refused, InvalidUrl::NotPublic | InvalidUrl::Host), "{url}: {refused}");
            }
        }
    }

    #[tokio::test]
    async fn a_name_with_any_internal_address_is_refused() {
        let url = EndpointUrl::parse("https://hooks.example.com/", &PublicOnly).unwrap();
        let public: IpAddr = "93.184.216.34".parse().unwrap();
        let inside = INSIDE.lines().filter_map(|line| line.trim_matches(['[', ']']).parse::<IpAddr>().ok());
        let mut count = 0;
        for address in inside {
            count += 1;
            for answer in [vec![address], vec![public, address], vec![address, public]] {
                let names = Names::always(&answer);
                assert_eq!(check(&url, &PublicOnly, &names).await, Err(AddressError::Refused), "{answer:?}");
            }
        }
        assert!(count >= 100, "{count}");
        assert!(check(&url, &PublicOnly, &Names::always(&[public])).await.is_ok());
        let unresolved = check(&url, &PublicOnly, &Names::always(&[])).await.unwrap_err();
        assert_eq!(unresolved.class(), FailureClass::DnsError);
        assert!(unresolved.to_string().starts_with("must have a host name that leads somewhere"));
        assert_eq!(AddressError::Refused.class(), FailureClass::AddressRefused);
    }

    #[test]
    fn public_hosts_are_allowed() {
        for (text, kept) in [
            ("https://hooks.example.com", "https://hooks.example.com/"),
            ("HTTPS://Hooks.Example.COM/Path?q=1&r=a%20b", "https://hooks.example.com/Path?q=1&r=a%20b"),
            (" https://hooks.example.com/ ", "https://hooks.example.com/"),
            ("https://hooks.example.com:443/", "https://hooks.example.com/"),
            ("https://hooks.example.com:1/", "https://hooks.example.com:1/"),
            ("https://hooks.example.com:65535/", "https://hooks.example.com:65535/"),
            ("https://hooks.example.com./", "https://hooks.example.com/"),
            ("https://a_b.example.com/", "https://a_b.example.com/"),
            ("https://münchen.example/straße", "https://xn--mnchen-3ya.example/stra%C3%9Fe"),
            ("https://例え.テスト/", "https://xn--r8jz45g.xn--zckzah/"),
            ("https://8.8.8.8/", "https://8.8.8.8/"),
            ("https://134744072/", "https://8.8.8.8/"),
            ("https://0x08.010.8.8/", "https://8.8.8.8/"),
            ("https://[2606:4700::1111]:8443/x", "https://[2606:4700::1111]:8443/x"),
            ("https://[::ffff:8.8.8.8]/", "https://[::ffff:808:808]/"),
            ("https://[64:ff9b::8.8.8.8]/", "https://[64:ff9b::808:808]/"),
            ("https://internal.example.com/", "https://internal.example.com/"),
            ("https://localhost.example.com/", "https://localhost.example.com/"),
            ("https://hooks.example.com/?to=user@host", "https://hooks.example.com/?to=user@host"),
        ] {
            let url = EndpointUrl::parse(text, &PublicOnly);
            assert_eq!(url.as_ref().map(EndpointUrl::as_str), Ok(kept), "{text}");
        }
        for address in [
            "1.1.1.1",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "168.63.129.15",
            "2000::1",
            "2001:200::1",
            "2001:4860:4860::8888",
            "2001:db7:ffff::1",
            "2001:db9::1",
            "2003::1",
            "2a00:1450::5efe:8.8.8.8",
            "2a00:1450::200:5efe:8.8.8.8",
            "3ffe:ffff::1",
            "3fff:1000::1",
        ] {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn an_invalid_url_is_refused_with_its_reason() {
        let long = format!("https://hooks.example.com/{}", "a".repeat(1974));
        assert_eq!(long.chars().count(), 2000);
        assert!(EndpointUrl::parse(&long, &PublicOnly).is_ok());
        for (text, error) in [
            ("", InvalidUrl::NotAbsolute),
            ("hooks.example.com", InvalidUrl::NotAbsolute),
            ("//hooks.example.com", InvalidUrl::NotAbsolute),
            ("/hook", InvalidUrl::NotAbsolute),
            ("https:hooks.example.com", InvalidUrl::NotAbsolute),
            ("https:/hooks.example.com", InvalidUrl::NotAbsolute),
            ("https:\\\\hooks.example.com", InvalidUrl::NotAbsolute),
            ("https://hooks.example.com\\@localhost/", InvalidUrl::NotAbsolute),
            ("https://hooks.exa\tmple.com/", InvalidUrl::NotAbsolute),
            ("https://hooks.example.com/\r\nHost: x", InvalidUrl::NotAbsolute),
            ("https://hooks.example.com/a b", InvalidUrl::NotAbsolute),
            ("http://hooks.example.com/", InvalidUrl::NotHttps),
            ("ftp://hooks.example.com/", InvalidUrl::NotHttps),
            ("gopher://127.0.0.1:6379/_x", InvalidUrl::NotHttps),
            ("file:///etc/passwd", InvalidUrl::NotHttps),
            ("javascript://hooks.example.com/", InvalidUrl::NotHttps),
            ("https://user@hooks.example.com/", InvalidUrl::UserInfo),
            ("https://user:password@hooks.example.com/", InvalidUrl::UserInfo),
            ("https://@hooks.example.com/", InvalidUrl::UserInfo),
            ("https://hooks.example.com@127.0.0.1/", InvalidUrl::UserInfo),
            ("https://hooks.example.com#@127.0.0.1/", InvalidUrl::Fragment),
            ("https://hooks.example.com/#", InvalidUrl::Fragment),
            ("https://", InvalidUrl::Host),
            ("https:///hooks.example.com", InvalidUrl::Host),
            ("https://?q", InvalidUrl::Host),
            ("https://a..example.com/", InvalidUrl::Host),
            ("https://example.com../", InvalidUrl::Host),
            ("https://.example.com/", InvalidUrl::Host),
            ("https://./", InvalidUrl::Host),
            ("https://-a.example.com/", InvalidUrl::Host),
            ("https://a%2eexample.com%2f/", InvalidUrl::Host),
            ("https://*.example.com/", InvalidUrl::Host),
            ("https://1.2.3.4.5/", InvalidUrl::Host),
            ("https://example.1/", InvalidUrl::Host),
            ("https://[fe80::1%25eth0]/", InvalidUrl::Host),
            ("https://[::1/", InvalidUrl::Host),
            (&format!("https://{}.example.com/", "a".repeat(64)), InvalidUrl::Host),
            (&format!("https://{}example.com/", "a.".repeat(130)), InvalidUrl::Host),
            ("https://hooks.example.com:0/", InvalidUrl::Port),
            ("https://hooks.example.com:65536/", InvalidUrl::Port),
            ("https://hooks.example.com:-1/", InvalidUrl::Port),
            ("https://hooks.example.com:https/", InvalidUrl::Port),
            (&format!("{long}a"), InvalidUrl::TooLong),
            (&format!("https://hooks.example.com/{}", "ß".repeat(400)), InvalidUrl::TooLong),
        ] {
            assert_eq!(EndpointUrl::parse(text, &PublicOnly), Err(error), "{text}");
        }
    }

    #[test]
    fn a_stored_url_is_read_unchanged() {
        let url = EndpointUrl::parse("https://münchen.example:8443/a?b", &PublicOnly).unwrap();
        let kept = serde_json::to_string(&url).unwrap();
        assert_eq!(kept, "\"https://xn--mnchen-3ya.example:8443/a?b\"");
        assert_eq!(serde_json::from_str::<EndpointUrl>(&kept).unwrap(), url);
        assert_eq!((url.authority(), url.path_and_query()), ("xn--mnchen-3ya.example:8443", "/a?b"));
    }

    #[tokio::test]
    async fn the_guard_checks_a_stored_url_again() {
        let names = Names::always(&["93.184.216.34".parse().unwrap()]);
        for kept in ["http://hooks.example.com/", "https://127.0.0.1/", "https://[::1]/", "https://localhost/"] {
            let url = EndpointUrl::try_from(kept.to_owned()).unwrap();
            assert_eq!(check(&url, &PublicOnly, &names).await, Err(AddressError::Refused), "{kept}");
        }
        assert_eq!(names.asked(), 0);
    }

    #[tokio::test]
    async fn addresses_come_with_the_port_and_ipv4_first() {
        let answer = ["2606:4700::1111", "::ffff:1.1.1.1", "8.8.8.8"].map(|address| address.parse().unwrap());
        let url = EndpointUrl::parse("https://hooks.example.com:8443/", &PublicOnly).unwrap();
        let addresses = check(&url, &PublicOnly, &Names::always(&answer)).await.unwrap();
        let expected = ["1.1.1.1:8443", "8.8.8.8:8443", "[2606:4700::1111]:8443"];
        assert_eq!(addresses, expected.map(|address| address.parse::<SocketAddr>().unwrap()));
    }

    proptest! {
        #[test]
        fn every_spelling_of_an_address_is_checked_alike(bits: u32) {
            let address = Ipv4Addr::from_bits(bits);
            let [a, b, c, d] = address.octets();
            let (ab, cd) = (bits >> 16, bits & 0xffff);
            let spellings = [
                format!("{address}"), format!("{address}."), format!("{bits}"), format!("{bits:#x}"), format!("0{bits:o}"),
                format!("0{a:o}.0{b:o}.0{c:o}.0{d:o}"), format!("{a:#x}.{b:#X}.{c}.0{d:o}").replace("0X", "0x"),
                format!("{a}.{}", bits & 0xff_ffff), format!("{a}.{b}.{cd}"),
                format!("[::ffff:{address}]"), format!("[::ffff:{ab:x}:{cd:x}]"), format!("[64:ff9b::{address}]"),
            ];
            for host in spellings {
                let url = format!("https://{host}/");
                prop_assert_eq!(EndpointUrl::parse(&url, &PublicOnly).is_ok(), is_public_v4(address), "{}", url);
            }
            // Never public, whichever address they embed.
            for host in [format!("[::{address}]"), format!("[2002:{ab:x}:{cd:x}::1]"), format!("[64:ff9b:1::{address}]")] {
                prop_assert!(EndpointUrl::parse(&format!("https://{host}/"), &PublicOnly).is_err(), "{}", host);
            }
        }

        #[test]
        fn parsing_never_panics_and_its_result_parses_again(text in "(https?://)?\\PC{0,40}") {
            if let Ok(url) = EndpointUrl::read(&text) {
                prop_assert_eq!(EndpointUrl::read(url.as_str()), Ok(url.clone()));
                prop_assert!(!url.authority().is_empty() && !url.authority().contains('@'));
            }
        }
    }
}
