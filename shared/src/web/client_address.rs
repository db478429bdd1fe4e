//! The IP address of a client.

use std::net::IpAddr;

/// The IP address that a request comes from, as reported by the gateway or the local stack's server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientAddress(pub IpAddr);

impl ClientAddress {
    /// An IPv4 address, or an IPv6 /64, which one household or office usually has to itself.
    pub(super) fn rate_limit_key(self) -> String {
        match self.0.to_canonical() {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                format!("{a:x}:{b:x}:{c:x}:{d:x}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_an_ipv6_network_share_a_key() {
        let key = |text: &str| ClientAddress(text.parse().unwrap()).rate_limit_key();
        assert_eq!(key("2001:db8:1:2::1"), key("2001:db8:1:2:ffff::9"));
        assert_ne!(key("2001:db8:1:2::1"), key("2001:db8:1:3::1"));
        assert_eq!(key("::ffff:192.0.2.7"), key("192.0.2.7"));
        assert_ne!(key("192.0.2.7"), key("192.0.2.8"));
    }
}
