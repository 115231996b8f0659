//! Faults of players, their penalties, and the report to the player's author.

use std::fmt;
use std::str::FromStr;

use crownhead_rules::{Game, GameVisitor, IllegalMoveRule, Notation, Side, is_invisible};

use crate::Session;
use crate::sentence::truncate;

/// A fault of a player.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The kind, for programs.
    pub kind: FaultKind,
    /// The description, for the player's author.
    pub message: String,
    /// The beginning of what the player sent, quoted.
    pub received: Option<String>,
    /// The last lines of the standard error of a program that crashed.
    pub stderr: Vec<String>,
}

/// The kinds of faults.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FaultKind {
    /// An illegal move.
    IllegalMove,
    /// No answer in time.
    Timeout,
    /// The program could not be built or started.
    StartFailed,
    /// The process exited.
    Crash,
    /// The process runs but closed its output.
    OutputClosed,
    /// Output that does not follow the protocol.
    ProtocolError,
    /// Too much output.
    OutputFlood,
    /// A memory, CPU time or process limit was exceeded.
    LimitExceeded,
}

impl FaultKind {
    /// All kinds.
    pub const ALL: [FaultKind; 8] = [
        FaultKind::IllegalMove,
        FaultKind::Timeout,
        FaultKind::StartFailed,
        FaultKind::Crash,
        FaultKind::OutputClosed,
        FaultKind::ProtocolError,
        FaultKind::OutputFlood,
        FaultKind::LimitExceeded,
    ];

    /// The stable external word.
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

    /// Whether the process cannot be used any more.
    pub const fn ends_process(self) -> bool {
        use FaultKind::{Crash, LimitExceeded, OutputClosed, OutputFlood, StartFailed};
        matches!(self, StartFailed | Crash | OutputClosed | OutputFlood | LimitExceeded)
    }
}

impl Fault {
    /// A fault without received text.
    pub fn new(kind: FaultKind, message: impl Into<String>) -> Fault {
        Fault { kind, message: message.into(), received: None, stderr: Vec::new() }
    }

    /// Adds what was received, quoted and truncated to one line.
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

/// The penalty for a fault.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FaultPolicy {
    /// The player loses the game.
    Forfeit,
    /// The player loses the turn.
    Skip,
    /// A random move is played for the player.
    RandomMove,
}

impl FaultPolicy {
    /// All policies.
    pub const ALL: [FaultPolicy; 3] =
        [FaultPolicy::Forfeit, FaultPolicy::Skip, FaultPolicy::RandomMove];

    /// Returns the policy that the rules of a game prescribe for an illegal move.
    pub fn default_for(game: &Game) -> FaultPolicy {
        match game.info().illegal_move_rule {
            IllegalMoveRule::SkipTurn => FaultPolicy::Skip,
            IllegalMoveRule::Forfeit => FaultPolicy::Forfeit,
        }
    }

    /// Whether a game supports the policy: not every game allows skipped turns.
    pub fn supports(self, game: &Game) -> bool {
        struct Skips;
        impl GameVisitor for Skips {
            type Output = bool;
            fn visit<P: Notation>(self, _: &P::Options) -> bool {
                P::skip_move().is_some()
            }
        }
        self != FaultPolicy::Skip || game.visit(Skips)
    }

    /// The stable external word.
    pub const fn code(self) -> &'static str {
        match self {
            FaultPolicy::Forfeit => "forfeit",
            FaultPolicy::Skip => "skip",
            FaultPolicy::RandomMove => "random-move",
        }
    }
}

impl fmt::Display for FaultPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl FromStr for FaultPolicy {
    type Err = String;

    fn from_str(text: &str) -> Result<FaultPolicy, String> {
        FaultPolicy::ALL.into_iter().find(|policy| policy.code() == text).ok_or_else(|| {
            format!("a policy is forfeit, skip or random-move, not {:?}", truncate(text))
        })
    }
}

/// A fault and where it happened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Incident {
    /// The side at fault.
    pub side: Side,
    /// The number of plies played before it.
    pub ply: usize,
    /// The fault.
    pub fault: Fault,
    /// The position in which it happened.
    pub position: String,
    /// The legal moves there, truncated.
    pub moves: String,
    /// The penalty.
    pub policy: FaultPolicy,
}

/// Maximum length of the list of legal moves in an incident.
const MAX_MOVES_BYTES: usize = 400;

impl Incident {
    /// A fault of the side to move.
    pub fn new(session: &dyn Session, fault: Fault, policy: FaultPolicy) -> Incident {
        let mut moves = String::new();
        session.write_legal_moves(&mut moves);
        if moves.len() > MAX_MOVES_BYTES {
            let end = moves[..MAX_MOVES_BYTES].rfind(',').unwrap_or(0);
            let more = moves[end..].matches(',').count();
            moves.truncate(end);
            moves.push_str(&format!(" and {more} more"));
        }
        let (side, ply) = (session.side(), session.plies());
        Incident { side, ply, fault, position: session.position(), moves, policy }
    }

    /// Whether it lost the game or ended the process.
    pub fn is_fatal(&self) -> bool {
        self.policy == FaultPolicy::Forfeit || self.fault.kind.ends_process()
    }

    /// The report to the player's author.
    pub fn describe(&self, game: &Game) -> String {
        let name = game.info().sides[self.side.index()].name;
        let cost = match self.policy {
            FaultPolicy::Forfeit => "the game is lost",
            FaultPolicy::Skip => "the turn is skipped",
            FaultPolicy::RandomMove => "a random move is made",
        };
        format!(
            "{}, {name}, ply {}: {}. Penalty: {cost} (policy {}). Position: {}. Legal moves: {}",
            self.fault.kind.code(),
            self.ply,
            self.fault,
            self.policy,
            self.position,
            self.moves
        )
    }
}

/// Maximum length of quoted text, in characters.
const MAX_QUOTED_CHARS: usize = 120;

/// Quotes bytes on one line, escaped and truncated.
pub fn quoted(bytes: &[u8]) -> String {
    let mut text = String::from("\"");
    for chunk in bytes[..bytes.len().min(4 * MAX_QUOTED_CHARS)].utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '"' | '\\' => text.extend(['\\', c]),
                c if is_invisible(c) => text.extend(c.escape_debug()),
                c => text.push(c),
            }
        }
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    let mut short: String = text.chars().take(MAX_QUOTED_CHARS).collect();
    short.push('"');
    if short.len() <= text.len() || bytes.len() > 4 * MAX_QUOTED_CHARS {
        short.push_str(&format!("… ({} bytes)", bytes.len()));
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn received_text_is_quoted_on_one_short_line() {
        assert_eq!(quoted(b"move 11-15"), "\"move 11-15\"");
        assert_eq!(quoted(b"a\tb\x1b[2J\xff\n"), "\"a\\tb\\u{1b}[2J\\xff\\n\"");
        let long = quoted(&vec![b'x'; 100_000]);
        assert!(long.len() < 160 && long.ends_with("… (100000 bytes)"), "{long}");
    }
}
