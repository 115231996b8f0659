//! The TCP port that `tcp-int32` bots connect to.
//!
//! In a network namespace every bot has the port to itself. Without one all bots share the
//! machine's port, one after the other: its owner starts a bot, accepts the first connection and
//! releases the port. Games of this process queue for it, and wait if another process holds it.

use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crownhead_play::StopFlag;

use crate::protocol::AskError;

/// The port number.
pub(crate) const PORT: u16 = 8888;

/// Whether a game of this process holds the machine's port.
static IS_TAKEN: Mutex<bool> = Mutex::new(false);
static RELEASED: Condvar = Condvar::new();

/// Maximum delay before a stop flag is noticed.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// How long to wait for another process to release the port: a little longer than the default
/// startup timeout, during which another `crownhead` may hold it.
const PORT_TIMEOUT: Duration = Duration::from_secs(12);

/// The right of one game of this process to use the machine's port; released on drop.
struct QueueSlot;

impl QueueSlot {
    fn wait(stop: &StopFlag) -> Result<QueueSlot, AskError> {
        let mut is_taken = IS_TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        while *is_taken {
            if stop.is_set() {
                return Err(AskError::Stopped);
            }
            let waited = RELEASED.wait_timeout(is_taken, POLL_INTERVAL);
            is_taken = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        *is_taken = true;
        Ok(QueueSlot)
    }
}

impl Drop for QueueSlot {
    fn drop(&mut self) {
        *IS_TAKEN.lock().unwrap_or_else(PoisonError::into_inner) = false;
        RELEASED.notify_one();
    }
}

/// The port, listening. Dropping it releases the port.
pub(crate) struct Port {
    // Declared first: the listener must be closed before the slot is released.
    listener: TcpListener,
    /// `None` in a network namespace.
    _slot: Option<QueueSlot>,
}

impl Port {
    /// Listens on the machine's port, when it is this game's turn.
    pub(crate) fn listen(stop: &StopFlag) -> Result<Port, AskError> {
        let slot = QueueSlot::wait(stop)?;
        let start = Instant::now();
        loop {
            let error = match TcpListener::bind((Ipv4Addr::LOCALHOST, PORT)) {
                Ok(listener) => return Port::new(listener, Some(slot)).map_err(unavailable),
                Err(error) => error,
            };
            if stop.is_set() {
                return Err(AskError::Stopped);
            }
            let is_in_use = error.kind() == io::ErrorKind::AddrInUse;
            if !is_in_use || start.elapsed() > PORT_TIMEOUT {
                return Err(unavailable(error));
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// Wraps the listener of a bot with a network namespace; `None` if it cannot be used.
    pub(crate) fn in_own_network(listener: TcpListener) -> Option<Port> {
        Port::new(listener, None).ok()
    }

    fn new(listener: TcpListener, slot: Option<QueueSlot>) -> io::Result<Port> {
        listener.set_nonblocking(true)?;
        Ok(Port { listener, _slot: slot })
    }

    /// Returns the listening socket, to wait for a connection.
    pub(crate) fn listener(&self) -> &TcpListener {
        &self.listener
    }

    /// Accepts a connection, if there is one.
    pub(crate) fn accept(&self) -> io::Result<Option<TcpStream>> {
        let stream = match self.listener.accept() {
            Ok((stream, _)) => stream,
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::ConnectionAborted => return Ok(None),
                _ => return Err(error),
            },
        };
        stream.set_nonblocking(true)?;
        // A packet must not wait for the next one.
        stream.set_nodelay(true)?;
        Ok(Some(stream))
    }
}

fn unavailable(error: io::Error) -> AskError {
    AskError::Unavailable(format!(
        "cannot listen on port {PORT} of 127.0.0.1, which tcp-int32 bots connect to: {error}"
    ))
}
