//! `crownhead engine`: a built-in player as a bot.

use std::io::BufReader;

use crownhead_bots::engine::{self, EngineError};
use crownhead_play::BuiltinSpec;
use crownhead_rules::Game;

use crate::failure::Failure;

#[derive(clap::Args)]
#[command(after_help = "Speaks the bot protocol (docs/protocol.md) on standard input and output.

Example: a built-in player entered as a bot
  crownhead match \"cmd:crownhead engine level:4\" level:3 --game english")]
pub(crate) struct Args {
    /// Player: random, minimax:DEPTH, alphabeta:DEPTH, level:1 to level:10 or best, with options
    #[arg(value_name = "PLAYER", default_value = "best")]
    player: BuiltinSpec,
    /// Game of turns that precede any newgame line
    #[arg(long, value_name = "GAME", default_value_t)]
    game: Game,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let (input, output) = (BufReader::new(std::io::stdin()), std::io::stdout());
    match engine::run(&args.player, &args.game, input, output) {
        // The referee is gone.
        Err(EngineError::Io(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        result => Ok(result?),
    }
}
