//! `crownhead engine`: a built-in player as a bot.

use std::io::BufReader;

use crownhead_bots::engine::{self, EngineError};
use crownhead_play::BuiltinSpec;
use crownhead_rules::Game;

use super::Failure;

#[derive(clap::Args)]
#[command(
    after_help = "Reads lines from standard input and answers on standard output: the bot protocol \
(docs/protocol.md).

Example, one built-in player entered as a program:
  crownhead match \"cmd:crownhead engine level:4\" level:3 --game english"
)]
pub(crate) struct Arguments {
    /// The player: random, minimax:DEPTH, alphabeta:DEPTH, level:1 to level:10 or best, with options
    #[arg(value_name = "PLAYER", default_value = "best")]
    player: BuiltinSpec,
    /// The game for turns that come before any newgame line
    #[arg(long, value_name = "GAME", default_value = "english")]
    game: Game,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let spec = &arguments.player;
    // Not locked: a search writes from its own thread.
    let (input, output) = (BufReader::new(std::io::stdin()), std::io::stdout());
    match engine::run(spec, &arguments.game, input, output) {
        // Whoever drove the engine went away.
        Err(EngineError::Io(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}
