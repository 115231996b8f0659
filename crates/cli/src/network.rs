//! Addresses under which other machines find this one.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};

/// Returns an address of a server that listens on `listening` for use on other machines, if they
/// can reach it.
pub fn public_address(listening: IpAddr) -> IpAddr {
    match listening {
        IpAddr::V4(ip) if ip.is_unspecified() => {
            outbound_address("0.0.0.0:0", "192.0.2.1:9").unwrap_or(Ipv4Addr::LOCALHOST.into())
        }
        IpAddr::V6(ip) if ip.is_unspecified() => outbound_address("[::]:0", "[2001:db8::1]:9")
            .or_else(|| outbound_address("0.0.0.0:0", "192.0.2.1:9"))
            .unwrap_or(Ipv6Addr::LOCALHOST.into()),
        ip => ip,
    }
}

/// The address of this machine on the route to `destination`. Nothing is sent.
fn outbound_address(bind: &str, destination: &str) -> Option<IpAddr> {
    let socket = UdpSocket::bind(bind).ok()?;
    socket.connect(destination).ok()?;
    socket.local_addr().ok().map(|address| address.ip()).filter(|ip| !ip.is_unspecified())
}
