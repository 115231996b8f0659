//! The network of a program: a loopback interface of its own, with one port on which we listen.

#![allow(unsafe_code)] // system calls

use std::ffi::{c_int, c_long};

use super::syscalls::{LaunchStep, NIL, StepError, call, check, close};

/// Brings up the loopback interface of this network namespace, and listens on a port of it with the
/// descriptor `listener`.
pub(super) fn listen(port: u16, listener: c_int) -> Result<(), StepError> {
    /// `struct ifreq`
    #[repr(C)]
    struct InterfaceRequest {
        name: [u8; libc::IFNAMSIZ],
        flags: i16,
        padding: [u8; 22],
    }
    const BACKLOG: c_long = 8;
    let step = LaunchStep::Network;
    let kind = (libc::SOCK_STREAM | libc::SOCK_CLOEXEC) as c_long;
    let socket = call!(step, libc::SYS_socket, libc::AF_INET as c_long, kind, NIL)?;
    let mut request = InterfaceRequest {
        name: [0; libc::IFNAMSIZ],
        flags: libc::IFF_UP as i16,
        padding: [0; 22],
    };
    request.name[..2].copy_from_slice(b"lo");
    let set_flags = libc::SIOCSIFFLAGS as c_long;
    call!(step, libc::SYS_ioctl, socket, set_flags, &raw const request)?;
    let address = libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: port.to_be(),
        sin_addr: libc::in_addr { s_addr: libc::INADDR_LOOPBACK.to_be() },
        sin_zero: [0; 8],
    };
    let size = size_of::<libc::sockaddr_in>();
    call!(step, libc::SYS_bind, socket, &raw const address, size)?;
    call!(step, libc::SYS_listen, socket, BACKLOG)?;
    let listener = c_long::from(listener);
    if socket != listener {
        call!(step, libc::SYS_dup3, socket, listener, libc::O_CLOEXEC as c_long)?;
        close(socket);
    }
    Ok(())
}
