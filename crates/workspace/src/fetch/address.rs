//! Which addresses lie in one's own network.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address is not one of the public internet: this machine, its link, a private network, a
/// carrier's inner network, a group of machines, or reserved. An IPv6 address that stands for an IPv4
/// one (mapped, compatible, translated, NAT64, 6to4) is what that is.
///
/// Addresses meant for documentation count as public: nobody answers there.
pub fn is_private(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_private_v4(ip),
        IpAddr::V6(ip) => is_private_v6(ip),
    }
}

fn is_private_v4(ip: Ipv4Addr) -> bool {
    match ip.octets() {
        // "This network" (which reaches this machine), private, loopback.
        [0 | 10 | 127, ..]
        // Shared with the carrier's other customers.
        | [100, 64..=127, ..]
        // Link-local, where clouds keep their metadata.
        | [169, 254, ..]
        | [172, 16..=31, ..]
        // Protocol assignments; some clouds keep their metadata here.
        | [192, 0, 0, _]
        | [192, 168, ..]
        // Multicast, reserved, broadcast.
        | [224..=255, ..] => true,
        _ => false,
    }
}

fn is_private_v6(ip: Ipv6Addr) -> bool {
    let embedded = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        is_private_v4(Ipv4Addr::new(a, b, c, d))
    };
    match ip.segments() {
        // Unspecified and loopback, then IPv4 compatible, mapped, translated, NAT64, 6to4.
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => true,
        [0, 0, 0, 0, 0, 0, high, low]
        | [0, 0, 0, 0, 0, 0xFFFF, high, low]
        | [0, 0, 0, 0, 0xFFFF, 0, high, low]
        | [0x64, 0xFF9B, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..] => embedded(high, low),
        // NAT64 for use inside one network.
        [0x64, 0xFF9B, 1, ..] => true,
        // Unique local, link-local, the site-local of old, multicast.
        [0xFC00..=0xFDFF | 0xFE80..=0xFEFF | 0xFF00..=0xFFFF, ..] => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn private(text: &str) -> bool {
        is_private(text.parse().expect("an address"))
    }

    #[test]
    fn what_is_one_s_own_is_private() {
        for address in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "10.255.255.255",
            "100.64.0.0",
            "100.127.255.255",
            "100.100.100.200",
            "127.0.0.1",
            "127.255.255.254",
            "169.254.169.254",
            "172.16.0.0",
            "172.31.255.255",
            "192.0.0.192",
            "192.168.0.1",
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
            "ff0e::1",
            "64:ff9b:1::1",
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
            "192.167.255.255",
            "192.169.0.0",
            "223.255.255.255",
            "192.0.2.1",
            "198.51.100.1",
            "203.0.113.1",
            "2606:4700::1111",
            "2001:db8::1",
            "fbff::1",
            "fe7f::1",
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
                ("169.254.169.254", true),
                ("0.0.0.0", true),
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
