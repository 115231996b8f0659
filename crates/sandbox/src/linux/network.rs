//! A network of a program's own: a loopback that reaches nobody else, and one port on it where we
//! listen.

#![allow(unsafe_code)] // system calls

use std::ffi::{c_int, c_long};

use super::syscalls::{Failed, NIL, Step, call, close, done};

/// Brings up the loopback of this network namespace and listens on a port of it, by a descriptor of
/// the number wanted.
pub(super) fn listen(port: u16, number: c_int) -> Result<(), Failed> {
    let internet = libc::AF_INET as c_long;
    let kind = (libc::SOCK_STREAM | libc::SOCK_CLOEXEC) as c_long;
    let socket = call!(Step::Network, libc::SYS_socket, internet, kind, NIL)?;
    // What the kernel takes for a request about an interface: its name, then its flags.
    #[repr(C)]
    struct Interface {
        name: [u8; libc::IFNAMSIZ],
        flags: i16,
        rest: [u8; 22],
    }
    let mut loopback =
        Interface { name: [0; libc::IFNAMSIZ], flags: libc::IFF_UP as i16, rest: [0; 22] };
    loopback.name[..2].copy_from_slice(b"lo");
    let request = libc::SIOCSIFFLAGS as c_long;
    call!(Step::Network, libc::SYS_ioctl, socket, request, &raw const loopback)?;
    let address = libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: port.to_be(),
        sin_addr: libc::in_addr { s_addr: libc::INADDR_LOOPBACK.to_be() },
        sin_zero: [0; 8],
    };
    let length = size_of::<libc::sockaddr_in>();
    call!(Step::Network, libc::SYS_bind, socket, &raw const address, length)?;
    const WAITING: c_long = 8;
    call!(Step::Network, libc::SYS_listen, socket, WAITING)?;
    let closed = libc::O_CLOEXEC as c_long;
    if socket != c_long::from(number) {
        call!(Step::Network, libc::SYS_dup3, socket, c_long::from(number), closed)?;
        close(socket);
    }
    Ok(())
}
