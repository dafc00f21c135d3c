//! Which addresses are not those of machines in the public internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::IpNet;

/// Whether an address is not one of the public internet: this machine, its link, a private network, a carrier's inner
/// network, a group of machines, a test, or reserved. An IPv6 address that stands for an IPv4 one is what that is.
pub fn is_private(address: IpAddr) -> bool {
    let address = match address {
        IpAddr::V6(v6) => embedded(v6).map_or(address, IpAddr::V4),
        IpAddr::V4(_) => address,
    };
    // What is assigned to machines begins with these bits.
    (address.is_ipv6() && !is_in(address, "2000::/3"))
        || SPECIAL
            .iter()
            .flat_map(|networks| networks.split(' '))
            .any(|network| is_in(address, network))
}

/// Whether an address is one of a network.
fn is_in(address: IpAddr, network: &str) -> bool {
    let network = network.parse::<IpNet>();
    network.is_ok_and(|network| network.contains(&address))
}

/// The IPv4 address that an IPv6 address stands for: mapped, compatible, translated, NAT64, 6to4.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let (high, low) = match address.segments() {
        [0, 0, 0, 0, 0, 0 | 0xFFFF, high, low]
        | [0, 0, 0, 0, 0xFFFF, 0, high, low]
        | [0x64, 0xFF9B, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..] => (high, low),
        _ => return None,
    };
    Some(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)))
}

/// The registries of special-purpose addresses (RFC 6890), multicast, and what is reserved.
const SPECIAL: &[&str] = &[
    // This machine, also as "this network", and private networks, also that of a carrier.
    "0.0.0.0/8 127.0.0.0/8 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 100.64.0.0/10",
    // Where clouds keep their metadata: link-local, protocol assignments, and an address of Azure.
    "169.254.0.0/16 192.0.0.0/24 168.63.129.16/32",
    // Relays and servers of the name system that answer everywhere.
    "192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.175.48.0/24 2620:4f:8000::/48",
    // Benchmarks of networks, which some use inside; documentation.
    "198.18.0.0/15 192.0.2.0/24 198.51.100.0/24 203.0.113.0/24 2001:db8::/32 3fff::/20",
    // Multicast, reserved, broadcast.
    "224.0.0.0/3",
    // Protocol assignments, with Teredo, which reaches an IPv4 address, and benchmarks.
    "2001::/23",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn private(text: &str) -> bool {
        is_private(text.parse().expect("an address"))
    }

    #[test]
    fn what_is_not_public_is_private() {
        for address in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "10.255.255.255",
            "100.64.0.0",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.254",
            "169.254.169.254",
            "172.16.0.0",
            "172.31.255.255",
            "192.0.0.192",
            "192.0.2.1",
            "192.168.0.1",
            "198.18.0.0",
            "198.19.255.255",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "239.255.255.250",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "febf::1",
            "fec0::1",
            "ff02::1",
            "64:ff9b:1::1",
            "100::1",
            "2001::7f00:1",
            "2001:0:4136:e378:8000:63bf:3fff:fdd2",
            "2001:2::1",
            "2001:db8::1",
            "3fff::1",
            "5f00::1",
        ] {
            assert!(private(address), "{address}");
        }
    }

    #[test]
    fn what_is_public_is_not() {
        for address in [
            "1.1.1.1",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.1",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "192.0.3.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2606:4700::1111",
            "2001:4860:4860::8888",
            "2a00:1450:4001::1",
            "3ffe::1",
        ] {
            assert!(!private(address), "{address}");
        }
    }

    #[test]
    fn an_ipv4_address_in_ipv6_is_what_it_is() {
        for prefix in ["::", "::ffff:", "::ffff:0:", "64:ff9b::"] {
            for (address, expected) in [
                ("127.0.0.1", true),
                ("10.1.2.3", true),
                ("198.18.0.1", true),
                ("8.8.8.8", false),
            ] {
                assert_eq!(
                    private(&format!("{prefix}{address}")),
                    expected,
                    "{prefix}{address}"
                );
            }
        }
        assert!(private("2002:7f00:0001::"));
        assert!(private("2002:c0a8:0101::5"));
        assert!(!private("2002:0808:0808::1"));
    }
}
