//! `crownhead train`: learned evaluations from self-play games.

mod curve;
mod fit;
mod generate;
mod test;

use crownhead_rules::Game;
use crownhead_search::train::{Trainer, trainer};

use crate::failure::Failure;
use crate::knowledge::load_or_warn;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Play self-play games and store their positions
    Generate(generate::Args),
    /// Train a network on stored positions
    Fit(fit::Args),
    /// Play a match between a network and the evaluation of the program, or another network
    Test(test::Args),
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    match &args.command {
        Command::Generate(args) => generate::run(args),
        Command::Fit(args) => fit::run(args),
        Command::Test(args) => test::run(args),
    }
}

fn find_trainer(game: &Game) -> Result<Box<dyn Trainer>, Failure> {
    let knowledge = load_or_warn(game);
    trainer(game, &knowledge)
        .ok_or_else(|| Failure::Usage(format!("{game} has no learned evaluation")))
}
