//! What a player did wrong, for machines in a word and for its author in a sentence.

use std::fmt;

/// What a player did wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// For machines.
    pub kind: FaultKind,
    /// For the author: what happened.
    pub message: String,
    /// The beginning of what was received.
    pub received: Option<String>,
}

/// The kinds of faults.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FaultKind {
    /// A move that the rules refuse.
    IllegalMove,
    /// No answer in time.
    Timeout,
    /// The program could not be built or started.
    StartFailed,
    /// The program ended.
    Crash,
    /// The program lives and closed its output.
    OutputClosed,
    /// Output that is no line of the protocol.
    ProtocolError,
    /// More output than anybody needs.
    OutputFlood,
    /// More memory, processor time or processes than are allowed.
    LimitExceeded,
}

impl FaultKind {
    /// A word for machine-readable output.
    pub const fn code(self) -> &'static str {
        match self {
            FaultKind::IllegalMove => "illegal-move",
            FaultKind::Timeout => "time",
            FaultKind::StartFailed => "start",
            FaultKind::Crash => "crash",
            FaultKind::OutputClosed => "end-of-output",
            FaultKind::ProtocolError => "no-protocol",
            FaultKind::OutputFlood => "flood",
            FaultKind::LimitExceeded => "limits",
        }
    }

    /// Whether the program cannot be talked with any more.
    pub const fn ends_process(self) -> bool {
        use FaultKind::{Crash, LimitExceeded, OutputClosed, OutputFlood, StartFailed};
        matches!(self, StartFailed | Crash | OutputClosed | OutputFlood | LimitExceeded)
    }
}

impl Fault {
    pub fn new(kind: FaultKind, what: impl Into<String>) -> Fault {
        Fault { kind, message: what.into(), received: None }
    }

    /// With what was received, made fit for a line of text.
    pub fn received(mut self, bytes: &[u8]) -> Fault {
        self.received = Some(quoted(bytes));
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.received {
            Some(received) => write!(f, "; received: {received}"),
            None => Ok(()),
        }
    }
}

/// So much of what a bot wrote is shown.
const SHOWN: usize = 120;

/// Bytes in quotes, on one line, shortened.
pub fn quoted(bytes: &[u8]) -> String {
    let mut text = String::from("\"");
    for chunk in bytes[..bytes.len().min(4 * SHOWN)].utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '"' | '\\' => text.extend(['\\', c]),
                c if c.is_control() => text.extend(c.escape_debug()),
                c => text.push(c),
            }
        }
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    let mut short: String = text.chars().take(SHOWN).collect();
    short.push('"');
    if short.len() <= text.len() || bytes.len() > 4 * SHOWN {
        short.push_str(&format!("… ({} bytes)", bytes.len()));
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_was_received_is_shown_on_one_short_line() {
        assert_eq!(quoted(b"move 11-15"), "\"move 11-15\"");
        assert_eq!(quoted(b"a\tb\x1b[2J\xff\n"), "\"a\\tb\\u{1b}[2J\\xff\\n\"");
        let long = quoted(&vec![b'x'; 100_000]);
        assert!(long.len() < 160 && long.ends_with("… (100000 bytes)"), "{long}");
    }
}
