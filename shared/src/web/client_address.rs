//! Where a request comes from.

use std::net::IpAddr;

/// Where a request comes from, as whoever received it knows: the gateway, or the local stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientAddress(pub IpAddr);

impl ClientAddress {
    /// Who is counted as one: an address, or of IPv6 the network that one household or office has.
    pub(super) fn counted(self) -> String {
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
    fn a_network_of_ipv6_is_one_guesser() {
        let counted = |text: &str| ClientAddress(text.parse().unwrap()).counted();
        assert_eq!(counted("2001:db8:1:2::1"), counted("2001:db8:1:2:ffff::9"));
        assert_ne!(counted("2001:db8:1:2::1"), counted("2001:db8:1:3::1"));
        assert_eq!(counted("::ffff:192.0.2.7"), counted("192.0.2.7"));
        assert_ne!(counted("192.0.2.7"), counted("192.0.2.8"));
    }
}
