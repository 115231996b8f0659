//! `crownhead tune`: tunes the weights of an evaluation on self-play games.

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, anyhow};
use clap::value_parser;
use crownhead_files::AtomicFile;
use crownhead_play::counted;
use crownhead_rules::Game;
use crownhead_search::tune::{Fit, FitOptions, SelfPlayOptions, fit, tuner};

use crate::failure::Failure;
use crate::knowledge::load_or_warn;
use crate::output::eprint_message;
use crate::signals::stop_on_interrupt;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Game, with options: english, contest:kings=true, …
    game: Game,
    /// Output file for the weights [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Initial weights [default: the built-in ones]
    #[arg(long, value_name = "FILE")]
    weights: Option<PathBuf>,
    /// Number of self-play games
    #[arg(long, value_name = "N", default_value_t = 1000)]
    #[arg(value_parser = value_parser!(u32).range(1..=10_000_000))]
    games: u32,
    /// Nodes per move
    #[arg(long, value_name = "N", default_value_t = 1000)]
    #[arg(value_parser = value_parser!(u64).range(1..))]
    nodes: u64,
    /// Random plies at the start of each game; up to three more are added
    #[arg(long, value_name = "N", default_value_t = 6)]
    #[arg(value_parser = value_parser!(u32).range(0..=100))]
    random_plies: u32,
    /// Share of the game's result in the target; the rest is the search's score
    #[arg(long, value_name = "FRACTION", default_value_t = 0.5, value_parser = fraction)]
    result_weight: f32,
    /// L2 regularisation, in positions: features seen less often keep less than half of their
    /// weight
    #[arg(long, value_name = "N", default_value_t = 300.0, value_parser = non_negative)]
    l2: f32,
    /// Number of training epochs
    #[arg(long, value_name = "N", default_value_t = 80)]
    #[arg(value_parser = value_parser!(u32).range(1..=100_000))]
    epochs: u32,
    /// Threads for self-play
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = value_parser!(u16).range(1..=256))]
    threads: u16,
    /// Random seed
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
}

fn fraction(text: &str) -> Result<f32, String> {
    let value = text.parse().ok().filter(|value| (0.0..=1.0).contains(value));
    value.ok_or_else(|| "expected a number from 0 to 1".into())
}

fn non_negative(text: &str) -> Result<f32, String> {
    let value = text.parse().ok().filter(|value: &f32| value.is_finite() && *value >= 0.0);
    value.ok_or_else(|| "expected a number of at least 0".into())
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let knowledge = load_or_warn(&args.game);
    let Some(mut tuner) = tuner(&args.game, &knowledge) else {
        let message = format!("the evaluation of {} cannot be tuned", args.game);
        return Err(Failure::Usage(message));
    };
    // Created before the work, so that an error does not waste it.
    let output = args.output.as_deref().map(AtomicFile::create).transpose()?;
    if let Some(path) = &args.weights {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        tuner
            .parse_weights(&text)
            .map_err(|error| Failure::BadInput(format!("{}: {error}", path.display())))?;
    }
    let stop = stop_on_interrupt();
    let options = SelfPlayOptions {
        games: args.games as usize,
        nodes: args.nodes,
        random_plies: args.random_plies,
        seed: args.seed,
        threads: args.threads.into(),
    };
    eprint_message(format_args!(
        "Playing {} of {} …",
        counted(args.games.into(), "game"),
        args.game
    ));
    let start = Instant::now();
    let report_every = (options.games / 20).max(1);
    let samples = tuner.generate_samples(&options, &stop, &|done| {
        if done % report_every == 0 {
            let seconds = start.elapsed().as_secs_f64();
            eprint_message(format_args!("{done} of {} games, {seconds:.0} s", options.games));
        }
    })?;
    if stop.is_set() {
        return Err(Failure::Interrupted);
    }
    let fit_options =
        FitOptions { epochs: args.epochs as usize, result_weight: args.result_weight, l2: args.l2 };
    let fit = fit(&samples, tuner.weights(), &fit_options, &stop, &mut |epoch, loss| {
        if epoch % 10 == 0 {
            eprint_message(format_args!("epoch {epoch}: error {loss:.6}"));
        }
    });
    if stop.is_set() {
        return Err(Failure::Interrupted);
    }
    let (training, validation) = fit.samples;
    if training == 0 || validation == 0 {
        return Err(anyhow!(
            "too few positions: {training} for training, {validation} for validation; \
             change --games or --random-plies"
        )
        .into());
    }
    let mut text = header(args, tuner.game_name(), &fit);
    text.push_str(&tuner.format_weights(&fit.weights));
    match output {
        None => std::io::stdout().lock().write_all(text.as_bytes())?,
        Some(file) => file.write(&text)?,
    }
    let seconds = start.elapsed().as_secs_f64();
    eprint_message(format_args!("Tuned on {training} positions in {seconds:.1} s."));
    Ok(())
}

/// The comment that says how the weights were made.
fn header(args: &Args, game: &str, fit: &Fit) -> String {
    let Args { games, nodes, random_plies, seed, result_weight, l2, epochs, .. } = args;
    // Debug format quotes the path, so that it stays one word on one line.
    let weights = args.weights.as_ref().map(|path| format!(" --weights {path:?}"));
    let weights = weights.unwrap_or_default();
    let initial = if weights.is_empty() { "the built-in weights" } else { "a weights file" };
    let (training, validation) = fit.samples;
    let (first, last) = (fit.losses[0], fit.losses[fit.losses.len() - 1]);
    format!(
        "# Weights of the evaluation of {game}, made by\n\
         # crownhead tune {}{weights} --games {games} --nodes {nodes} --random-plies \
         {random_plies} --seed {seed} --result-weight {result_weight} --l2 {l2} --epochs \
         {epochs}\n\
         # from {initial} and {training} positions. On {validation} validation positions the\n\
         # mean squared error of the expected result fell from {first:.5} to {last:.5}.\n",
        args.game
    )
}
