//! `crownhead bot play`: plays against a bot in this terminal.

use std::time::Duration;

use crownhead_bots::PlayerSpec;
use crownhead_play::{TimeControl, parse_duration};
use crownhead_rules::Game;
use crownhead_terminal::local_game::{LocalGame, Seat, Setup};

use super::parse_program;
use crate::commands::play::{play, random_seed};
use crate::failure::Failure;
use crate::isolation_args::IsolationArgs;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The bot: a folder with a bot.toml, a command, tcp-int32:COMMAND, c-function:FILE,
    /// cpp-function:FILE or checkerboard:ENGINE.so
    #[arg(value_name = "DIR|COMMAND")]
    bot: String,
    /// Game, with options: english, contest:kings=true, …
    #[arg(long, value_name = "GAME", default_value_t)]
    game: Game,
    /// Let the bot move first
    #[arg(long)]
    bot_first: bool,
    /// Position [default: the start position]
    #[arg(long, value_name = "POSITION")]
    position: Option<String>,
    /// Time per move of the bot
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "5s")]
    movetime: Duration,
    /// Use plain text instead of the full screen
    #[arg(long)]
    plain: bool,
    #[command(flatten)]
    isolation: IsolationArgs,
}

pub(super) fn run(args: Args) -> Result<(), Failure> {
    let mut program = parse_program(&args.bot)?;
    program.supports(&args.game).map_err(Failure::Usage)?;
    args.isolation.apply([&mut program])?;
    let bot = Seat::Computer(PlayerSpec::Bot(Box::new(program)));
    let setup = Setup {
        game: args.game,
        seats: if args.bot_first { [bot, Seat::Human] } else { [Seat::Human, bot] },
        position: args.position,
        time_control: TimeControl::PerMove(args.movetime),
        seed: random_seed(),
    };
    let game = LocalGame::new(setup).map_err(|error| Failure::BadInput(error.to_string()))?;
    // Not autosaved: the bot will have changed before the game is resumed.
    play(game, None, args.plain, None)
}
