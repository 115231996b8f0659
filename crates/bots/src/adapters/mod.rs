//! Programs that were written for something else than the bot protocol, and run as they are.
//!
//! A [`Protocol`] says how a program is named, which games it can play and which [`Dialogue`] speaks
//! its language: [`tcp_int32`] talks with programs as they are, [`function`] compiles a
//! function together with a shim that speaks the bot protocol. The referee knows nothing of all that.

mod c_source;
mod function;
mod tcp_int32;
mod tcp_port;

use std::fmt;

use crownhead_rules::Game;

use crate::process::BotProcess;
use crate::protocol::ProtocolAdapter;
use crate::protocol::v1::{V1Adapter, write_turn};
use crownhead_play::truncate;
use crownhead_play::{Clock, Session};
pub(crate) use function::CSource;

/// How a program is talked with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Protocol {
    /// The bot protocol, version 1.
    V1,
    /// Capture Halma over TCP, as the course's server spoke it.
    TcpInt32,
    /// A C function that plays Chinese checkers.
    CFunction,
    /// C++ functions that play contest checkers.
    CppFunction,
}

impl Protocol {
    /// All of them.
    pub const ALL: [Protocol; 4] =
        [Protocol::V1, Protocol::TcpInt32, Protocol::CFunction, Protocol::CppFunction];

    /// Its name in a `bot.toml`.
    pub const fn name(self) -> &'static str {
        match self {
            Protocol::V1 => "crownhead",
            Protocol::TcpInt32 => "tcp-int32",
            Protocol::CFunction => "c-function",
            Protocol::CppFunction => "cpp-function",
        }
    }

    /// What the name of a player of this kind begins with.
    pub const fn prefix(self) -> &'static str {
        match self {
            Protocol::V1 => "cmd",
            other => other.name(),
        }
    }

    /// The port of this machine that such a program connects to.
    pub(crate) const fn port(self) -> Option<u16> {
        match self {
            Protocol::TcpInt32 => Some(tcp_port::NUMBER),
            _ => None,
        }
    }

    /// The protocol of a name.
    pub(crate) fn of(name: &str) -> Result<Protocol, String> {
        let found = Protocol::ALL.into_iter().find(|protocol| protocol.name() == name.trim());
        found.ok_or_else(|| {
            let names = Protocol::ALL.map(Protocol::name).join(", ");
            format!("there is no protocol {:?}: there are {names}", truncate(name))
        })
    }

    /// Whether its programs are compiled here from one file.
    pub const fn is_function(self) -> bool {
        matches!(self, Protocol::CFunction | Protocol::CppFunction)
    }

    /// Whether its programs are told nothing of a new game: what they remember would be of the last.
    pub const fn needs_process_per_game(self) -> bool {
        matches!(self, Protocol::TcpInt32 | Protocol::CFunction | Protocol::CppFunction)
    }

    /// Whether its programs can play a game.
    pub const fn supports(self, game: &Game) -> bool {
        match self {
            Protocol::V1 => true,
            Protocol::TcpInt32 => matches!(game, Game::CaptureHalma),
            Protocol::CFunction => matches!(game, Game::ChineseCheckers),
            Protocol::CppFunction => matches!(game, Game::Contest(_)),
        }
    }

    /// The games that its programs can play, by id.
    pub const fn games(self) -> &'static str {
        match self {
            Protocol::V1 => "all games",
            Protocol::TcpInt32 => "capture-halma only",
            Protocol::CFunction => "chinese-checkers only",
            Protocol::CppFunction => "contest only",
        }
    }

    pub(crate) fn adapter(self) -> Box<dyn ProtocolAdapter> {
        match self {
            Protocol::V1 => Box::new(V1Adapter::default()),
            Protocol::TcpInt32 => Box::new(tcp_int32::TcpInt32Adapter::default()),
            Protocol::CFunction | Protocol::CppFunction => {
                Box::new(function::FunctionAdapter::new(self))
            }
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The text of the one move of a player who cannot move: a pass. Programs that know no such move are
/// not asked for it.
fn forced_pass(game: &dyn Session) -> Option<String> {
    let moves = game.legal_moves();
    match &moves[..] {
        [only] if only.path.is_empty() => Some(only.text.clone()),
        _ => None,
    }
}

/// Writes the moment into the log as the bot protocol would have it, so that it can be found and
/// asked again.
fn log_turn(bot: &mut BotProcess, side: char, game: &dyn Session, clock: &Clock) {
    if let Some(log) = &mut bot.log {
        let mut line = String::new();
        write_turn(&mut line, side, game, clock);
        log.board(game);
        log.note(&line);
    }
}
