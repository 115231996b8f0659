//! Adapters for programs that do not speak the bot protocol and run unchanged.
//!
//! [`tcp_int32`] talks to clients over TCP; [`function`] compiles a C or C++ function together with
//! a shim that speaks the bot protocol; [`checkerboard`] compiles a host for a shared library.

mod c_source;
pub(crate) mod checkerboard;
pub(crate) mod function;
pub(crate) mod tcp_int32;
pub(crate) mod tcp_port;

use crownhead_play::{Clock, Session};

use crate::process::BotProcess;
use crate::protocol::v1::format_turn;
pub(crate) use checkerboard::CheckerBoardAdapter;
pub(crate) use function::{CSource, FunctionAdapter};
pub(crate) use tcp_int32::TcpInt32Adapter;

/// Returns the text of a forced pass. Programs that cannot pass are not asked for one.
fn forced_pass(game: &dyn Session) -> Option<String> {
    match &game.legal_moves()[..] {
        [only] if only.path.is_empty() => Some(only.text.clone()),
        _ => None,
    }
}

/// Logs the turn in the form of the bot protocol, so that `bot replay` finds it.
fn log_turn(bot: &mut BotProcess, side: char, game: &dyn Session, clock: &Clock) {
    if let Some(log) = &mut bot.log {
        let mut line = String::new();
        format_turn(&mut line, side, game, clock);
        log.board(game);
        log.note(&line);
    }
}
