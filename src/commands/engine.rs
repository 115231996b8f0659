//! `crownhead engine`: a built-in player as a bot.

use std::io::BufReader;

use crownhead_play::engine::{self, EngineError};
use crownhead_play::{PlayerKind, PlayerSpec};
use crownhead_rules::Game;

use super::Failure;

#[derive(clap::Args)]
#[command(
    after_help = "Reads lines from standard input and answers on standard output: the bot protocol \
(docs/protocol.md), or with --hub version 2 of the Hub protocol of draughts engines.

Example, one built-in player entered as a program:
  crownhead match \"cmd:crownhead engine level:4\" level:3 --game english"
)]
pub(crate) struct Arguments {
    /// The player: random, minimax:DEPTH, alphabeta:DEPTH, level:1 to level:10 or best, with options
    #[arg(value_name = "PLAYER", default_value = "best")]
    player: PlayerSpec,
    /// The game for turns that come before any newgame line
    #[arg(long, value_name = "GAME", default_value_t, conflicts_with = "hub")]
    game: Game,
    /// Speak Hub, version 2 (English and contest checkers)
    #[arg(long)]
    hub: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let spec = &arguments.player;
    if let PlayerKind::Outside(program) = &spec.kind {
        let message = format!("{program} is a program already: an engine is a built-in player");
        return Err(Failure::Usage(message));
    }
    // Not locked: a search writes from its own thread.
    let (input, output) = (BufReader::new(std::io::stdin()), std::io::stdout());
    let served = match arguments.hub {
        true => engine::hub::serve(spec, input, output),
        false => engine::serve(spec, &arguments.game, input, output),
    };
    match served {
        // Whoever drove the engine went away.
        Err(EngineError::Io(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}
