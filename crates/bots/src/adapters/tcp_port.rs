//! The port that TCP bots connect to by habit, and who has it.
//!
//! Behind walls with namespaces each bot has a network of its own with such a port. Elsewhere all of
//! them want the machine's, so it is given to one after the other: whoever has it starts its
//! bot, waits for the connection and gives the port back. Within this program they queue. Another
//! program that has the port may do the same and is waited for, but not for ever: there are others that
//! listen there all day.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crownhead_play::Stop;
use rustix::process::Pid;

use crate::protocol::AskError;
#[cfg(target_os = "linux")]
use crownhead_sandbox::monitor::family;

/// The port.
pub(crate) const NUMBER: u16 = 8888;

/// Whether somebody here has the port.
static TAKEN: Mutex<bool> = Mutex::new(false);
static FREE: Condvar = Condvar::new();

/// At least so often it is asked whether anybody still wants the port.
const SLICE: Duration = Duration::from_millis(50);

/// A place in the queue that has been reached.
struct QueueSlot;

impl QueueSlot {
    fn wait(stop: &Stop) -> Result<QueueSlot, AskError> {
        let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        while *taken {
            if stop.is_stopped() {
                return Err(AskError::Stopped);
            }
            taken = FREE.wait_timeout(taken, SLICE).unwrap_or_else(PoisonError::into_inner).0;
        }
        *taken = true;
        Ok(QueueSlot)
    }
}

impl Drop for QueueSlot {
    fn drop(&mut self) {
        *TAKEN.lock().unwrap_or_else(PoisonError::into_inner) = false;
        FREE.notify_one();
    }
}

/// The port, listening; it is free again when this is dropped.
pub(crate) struct Port {
    // The order matters: the port is closed before the next has its turn.
    listener: TcpListener,
    /// None for a port in a network that is the bot's own.
    place: Option<QueueSlot>,
}

/// Nobody who uses the port as it is used here keeps it longer.
const LONGEST: Duration = Duration::from_secs(12);

/// Listens on the port of this machine.
pub(crate) fn listen(stop: &Stop) -> Result<Port, AskError> {
    let place = QueueSlot::wait(stop)?;
    let mut holder = None;
    let mut since = Instant::now();
    loop {
        let error = match bind() {
            Ok(listener) => return Ok(Port { listener, place: Some(place) }),
            Err(error) => error,
        };
        if stop.is_stopped() {
            return Err(AskError::Stopped);
        }
        let now = listening();
        if now != holder {
            (holder, since) = (now, Instant::now());
        }
        let is_passing = error.kind() == io::ErrorKind::AddrInUse;
        if !is_passing || since.elapsed() > LONGEST {
            let who = holder.and_then(owner).map(|name| format!(": {name} listens there"));
            let what = format!(
                "bots of the protocol tcp-int32 connect to port {NUMBER} of 127.0.0.1, which cannot \
                 be listened on: {error}{}",
                who.unwrap_or_default()
            );
            return Err(AskError::Unavailable(what));
        }
        std::thread::sleep(SLICE);
    }
}

fn bind() -> io::Result<TcpListener> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, NUMBER))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

impl Port {
    /// The port in a network of the bot's own; none if it cannot be used.
    pub(crate) fn in_own_network(listener: TcpListener) -> Option<Port> {
        listener.set_nonblocking(true).ok()?;
        Some(Port { listener, place: None })
    }

    /// A connection that is there, if it is the bot's; others are closed.
    pub(crate) fn accept(&self, bot: Pid) -> io::Result<Option<TcpStream>> {
        let (stream, peer) = match self.listener.accept() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            // It went away again.
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => return Ok(None),
            other => other?,
        };
        if self.place.is_some() && !is_of(bot, peer) {
            return Ok(None);
        }
        stream.set_nonblocking(true)?;
        // A package is to be on its way when it is written.
        stream.set_nodelay(true)?;
        Ok(Some(stream))
    }
}

impl AsFd for Port {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
}

/// Whether the other end of a connection belongs to a bot or to a child of its. Where the system does
/// not tell, it is believed.
#[cfg(target_os = "linux")]
fn is_of(bot: Pid, peer: SocketAddr) -> bool {
    let Ok(table) = std::fs::read_to_string("/proc/net/tcp") else { return true };
    // Sockets of both versions of the protocol, such as Java's, have a table of their own.
    let both = std::fs::read_to_string("/proc/net/tcp6").unwrap_or_default();
    let port = peer.port();
    let Some(inode) = client(&table, port).or_else(|| client(&both, port)) else { return false };
    processes().any(|one| is_relative(one, bot.as_raw_nonzero().get()) && has_open(one, inode))
}

/// The socket that listens on the port.
#[cfg(target_os = "linux")]
fn listening() -> Option<u64> {
    let here = format!(":{NUMBER:04X}");
    ["/proc/net/tcp", "/proc/net/tcp6"].into_iter().find_map(|file| {
        let table = std::fs::read_to_string(file).ok()?;
        // State 0A is listening.
        socket(&table, |local, _, state| local.ends_with(&here) && state == "0A")
    })
}

/// The program that has a socket.
#[cfg(target_os = "linux")]
fn owner(inode: u64) -> Option<String> {
    let process = processes().find(|process| has_open(*process, inode))?;
    let name = std::fs::read_to_string(format!("/proc/{process}/comm")).ok()?;
    Some(format!("{} (process {process})", name.trim().replace(char::is_control, "?")))
}

#[cfg(not(target_os = "linux"))]
fn is_of(_: Pid, _: SocketAddr) -> bool {
    true
}

#[cfg(not(target_os = "linux"))]
fn listening() -> Option<u64> {
    None
}

#[cfg(not(target_os = "linux"))]
fn owner(_: u64) -> Option<String> {
    None
}

/// The socket at the client's end of a connection to the port.
#[cfg(target_os = "linux")]
fn client(table: &str, port: u16) -> Option<u64> {
    let (from, to) = (format!("0100007F:{port:04X}"), format!("0100007F:{NUMBER:04X}"));
    // The other table has it with this before it.
    let is = |address: &str, wanted: &str| {
        address.strip_prefix("0000000000000000FFFF0000").unwrap_or(address) == wanted
    };
    socket(table, |local, remote, _| is(local, &from) && is(remote, &to))
}

/// The socket in a table of the system's that has the local and remote address and the state wanted.
#[cfg(target_os = "linux")]
fn socket(table: &str, is_wanted: impl Fn(&str, &str, &str) -> bool) -> Option<u64> {
    table.lines().find_map(|line| {
        let mut row = line.split_ascii_whitespace().skip(1);
        let (local, remote, state) = (row.next()?, row.next()?, row.next()?);
        let inode = row.nth(5)?.parse().ok().filter(|inode| *inode != 0)?;
        is_wanted(local, remote, state).then_some(inode)
    })
}

#[cfg(target_os = "linux")]
fn processes() -> impl Iterator<Item = i32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Whether a process has a socket open.
#[cfg(target_os = "linux")]
fn has_open(process: i32, inode: u64) -> bool {
    let socket = format!("socket:[{inode}]");
    let mut links =
        std::fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
    links.any(|link| std::fs::read_link(link.path()).is_ok_and(|to| to.as_os_str() == &*socket))
}

/// More generations of children are not followed.
#[cfg(target_os = "linux")]
const GENERATIONS: usize = 100;

/// Whether a process is in the group of a bot, or a descendant of its.
#[cfg(target_os = "linux")]
fn is_relative(process: i32, bot: i32) -> bool {
    let line =
        std::iter::successors(Some(process), |process| family(*process).map(|known| known.parent));
    let line = line.take(GENERATIONS).take_while(|process| *process > 0);
    family(process).is_some_and(|known| known.group == bot)
        || line.into_iter().any(|one| one == bot)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_connection_belongs_to_whoever_made_it() {
        let own = rustix::process::getpid().as_raw_nonzero().get();
        // Not the usual port: other tests need that.
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
        let (here, there) = (stream.local_addr().unwrap(), stream.peer_addr().unwrap());
        let table = table.replace(&format!(":{:04X}", there.port()), &format!(":{NUMBER:04X}"));
        let inode = client(&table, here.port()).unwrap();
        assert!(has_open(own, inode) && owner(inode).is_some());
        assert!(client(&table, 1).is_none());
        let before = "0000000000000000FFFF0000";
        let both = table.replace("0100007F:", &format!("{before}0100007F:"));
        assert_eq!(client(&both, here.port()), Some(inode));
        assert!(is_relative(own, own) && !is_relative(1, own));
    }
}
