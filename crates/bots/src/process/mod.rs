//! A running bot: its process and its pipes.
//!
//! Every bot and every build command is started here, in a [sandbox](crownhead_sandbox) and in a
//! session of its own, so that it can be stopped together with its descendants. Processes exist on
//! Unix only; elsewhere [`BotProcess::start`] fails.

mod stderr;
#[cfg(unix)]
mod unix;
#[cfg(not(unix))]
mod unsupported;

use std::io;

#[cfg(unix)]
pub(crate) use unix::{BotProcess, describe_exit, is_host_shortage};
#[cfg(not(unix))]
pub(crate) use unsupported::{BotProcess, describe_exit, is_host_shortage};

/// Why no line was received.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ReceiveError {
    /// The deadline passed.
    Timeout,
    /// The bot closed its output.
    Closed,
    /// A line was too long, or all lines of a turn together.
    TooMuchOutput,
    /// The caller's stop flag was set.
    Stopped,
}

/// What to wait for on a socket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Interest {
    Readable,
    Writable,
}

/// Returns whether a non-blocking operation should be tried again later.
pub(crate) fn is_transient(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
