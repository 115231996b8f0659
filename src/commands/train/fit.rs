//! `crownhead train fit`: a network fitted to training data.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context;
use clap::value_parser;
use crownhead_files::{AtomicFile, write_atomic};
use crownhead_rules::Game;
use crownhead_search::train::data::{DataError, DataReader};
use crownhead_search::train::{FitOptions, FloatNetwork, TrainingSet, fit};

use super::curve::Curve;
use super::find_trainer;
use crate::failure::Failure;
use crate::output::eprint_message;
use crate::signals::stop_on_interrupt;

#[derive(clap::Args)]
pub(super) struct Args {
    /// Game, with options
    game: Game,
    /// Output file for the network
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Files of training data
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Network to train further; without it, the first weights are random
    #[arg(long, value_name = "NETWORK")]
    from: Option<PathBuf>,
    /// SVG file for the learning curve
    #[arg(long, value_name = "FILE")]
    curve: Option<PathBuf>,
    /// Hidden units [default: the game's]
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=4096))]
    hidden: Option<u16>,
    /// Passes over the data
    #[arg(long, value_name = "N", default_value_t = 14)]
    #[arg(value_parser = value_parser!(u16).range(1..=10_000))]
    epochs: u16,
    /// Share of the game's result in the target; the rest is the search's score
    #[arg(long, value_name = "FRACTION", default_value_t = 0.5)]
    result_weight: f32,
    /// Learning rate
    #[arg(long, value_name = "RATE", default_value_t = 0.003)]
    learning_rate: f32,
    /// Random seed
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let trainer = find_trainer(&args.game)?;
    let (mut set, mut settings) = (TrainingSet::default(), Vec::new());
    for path in &args.files {
        let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
        let bad_input =
            |error: DataError| Failure::BadInput(format!("{}: {error}", path.display()));
        let mut reader = DataReader::new(BufReader::new(file)).map_err(bad_input)?;
        if data_game(reader.settings()) != args.game.info().id {
            let (path, settings) = (path.display(), reader.settings());
            return Err(Failure::BadInput(format!("{path} has data of another game: {settings}")));
        }
        let mut games = 0;
        loop {
            match reader.next_block() {
                Ok(Some(block)) => {
                    games = block.first_game + block.games;
                    trainer.add_samples(&block.records, &mut set);
                }
                Ok(None) => break,
                Err(error) => {
                    eprint_message(format_args!("{}: {error}", path.display()));
                    break;
                }
            }
        }
        settings.push(format!("{} games={games}", reader.settings()));
    }
    let (training, validation) = set.len();
    eprint_message(format_args!("{training} positions for training, {validation} for validation"));
    let mut shape = trainer.shape();
    shape.hidden = args.hidden.map_or(shape.hidden, usize::from);
    let options = FitOptions {
        epochs: args.epochs.into(),
        result_weight: args.result_weight,
        learning_rate: args.learning_rate,
        seed: args.seed,
        ..FitOptions::default()
    };
    let stop = stop_on_interrupt();
    let start = Instant::now();
    let output = AtomicFile::create(&args.output)?;
    let start_network = match &args.from {
        Some(path) => {
            let file = fs::read(path).with_context(|| format!("cannot open {}", path.display()))?;
            FloatNetwork::parse(&file, shape)
                .map_err(|error| Failure::BadInput(format!("{}: {error}", path.display())))?
        }
        None => FloatNetwork::random(shape, args.seed),
    };
    let (mut loss, mut curve) = (0.0, Curve::default());
    let network = fit(&set, start_network, &options, &stop, &mut |epoch| {
        loss = epoch.validation_loss;
        curve.add(epoch);
        eprint_message(format_args!(
            "epoch {}: loss {:.5}, validation {:.5}, {:.0} s",
            epoch.number,
            epoch.training_loss,
            epoch.validation_loss,
            start.elapsed().as_secs_f64()
        ));
    });
    if stop.is_set() {
        return Err(Failure::Interrupted);
    }
    let comment = comment(args, &settings, [training, validation], loss);
    output.write(&network.to_bytes(&comment))?;
    if let Some(path) = &args.curve {
        write_atomic(path, &curve.svg(&args.game))?;
    }
    let seconds = start.elapsed().as_secs_f64();
    eprint_message(format_args!("Wrote {} in {seconds:.1} s.", args.output.display()));
    Ok(())
}

/// Returns the id of the game in the settings of a data file.
fn data_game(settings: &str) -> &str {
    let game = settings.strip_prefix("game=").unwrap_or_default();
    game.split([' ', ':']).next().unwrap_or_default()
}

/// The comment in a weights file: how the network was made.
fn comment(args: &Args, settings: &[String], positions: [usize; 2], loss: f32) -> String {
    let Args { game, epochs, result_weight, learning_rate, seed, .. } = args;
    let hidden = args.hidden.map(|hidden| format!(" --hidden {hidden}")).unwrap_or_default();
    let from = if args.from.is_some() { " --from NETWORK" } else { "" };
    let mut text = format!(
        "crownhead train fit {game}{from}{hidden} --epochs {epochs} --result-weight {result_weight} \
         --learning-rate {learning_rate} --seed {seed}\n"
    );
    for settings in settings {
        text.push_str(&format!("data: {settings}\n"));
    }
    let [training, validation] = positions;
    text.push_str(&format!("{training} positions; loss {loss:.5} on {validation} others"));
    text
}
