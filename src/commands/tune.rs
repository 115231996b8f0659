//! `crownhead tune`: weights of an evaluation from games the search plays against itself.

use std::fmt::Write as _;
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, anyhow};
use clap::value_parser;
use crownhead_files::AtomicFile;
use crownhead_rules::Game;
use crownhead_search::eval::Tunable;
use crownhead_search::eval::weights::Weights;
use crownhead_search::tune::{FitOptions, SelfPlayOptions, fit, generate_samples};
use crownhead_search::{GameVisitor, Searchable, visit};

use super::{Failure, say, stop_on_interrupt};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The game, with options if wanted: english:rules=wcdf, …
    game: Game,
    /// Where to write the weights; standard output if nothing is named
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The weights to begin with, instead of the built-in ones
    #[arg(long, value_name = "FILE")]
    weights: Option<PathBuf>,
    /// How many games to play
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = value_parser!(u32).range(1..=10_000_000))]
    games: u32,
    /// Nodes searched for each move of them
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = value_parser!(u64).range(1..))]
    nodes: u64,
    /// Random plies each game begins with (and up to three more)
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = value_parser!(u32).range(0..=100))]
    random_plies: u32,
    /// How much of the target is the game's result; the rest is what the search thought
    #[arg(long, value_name = "FRACTION", default_value_t = 0.5, value_parser = share)]
    result_weight: f32,
    /// Draws weights to zero that are seen in fewer positions than this
    #[arg(long, value_name = "N", default_value_t = 300.0, value_parser = positive)]
    l2: f32,
    /// How often the weights are improved
    #[arg(long, value_name = "N", default_value_t = 80, value_parser = value_parser!(u32).range(1..=100_000))]
    epochs: u32,
    /// Threads that play
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u16).range(1..=256))]
    threads: u16,
    /// Decides the random moves
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

fn share(text: &str) -> Result<f32, String> {
    let value = text.parse().ok().filter(|value| (0.0..=1.0).contains(value));
    value.ok_or_else(|| "a number from 0 to 1 is wanted".into())
}

fn positive(text: &str) -> Result<f32, String> {
    let value = text.parse().ok().filter(|value: &f32| value.is_finite() && *value >= 0.0);
    value.ok_or_else(|| "a number of positions is wanted, 0 or more".into())
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    visit(&arguments.game, Tune(arguments))
}

struct Tune<'a>(&'a Arguments);

impl GameVisitor for Tune<'_> {
    type Output = Result<(), Failure>;

    fn visit<P: Searchable>(self, options: &P::Options) -> Self::Output {
        let arguments = self.0;
        let layout = <P::Evaluator as Tunable<P>>::layout();
        let (knowledge, missing) = crownhead_play::knowledge_for(&arguments.game);
        if let Some(sentence) = missing {
            say(sentence);
        }
        // Before the work, so that none is done in vain.
        let output = arguments.output.as_deref().map(AtomicFile::create).transpose()?;
        let mut evaluation = P::evaluator(&knowledge);
        if let Some(path) = &arguments.weights {
            let text = std::fs::read_to_string(path)
                .with_context(|| format!("cannot read {}", path.display()))?;
            let weights = Weights::parse(&text, layout)
                .map_err(|error| Failure::BadInput(format!("{}: {error}", path.display())))?;
            evaluation = evaluation.with_weights(weights);
        }
        let stop = stop_on_interrupt();
        let games = SelfPlayOptions {
            games: arguments.games as usize,
            nodes: arguments.nodes,
            random_plies: arguments.random_plies,
            seed: arguments.seed,
            threads: arguments.threads.into(),
        };
        let start = Instant::now();
        let every = (games.games / 20).max(1);
        let samples = generate_samples::<P>(options, &evaluation, &games, &stop, &|done| {
            if done % every == 0 {
                let seconds = start.elapsed().as_secs_f64();
                say(format_args!("{done} of {} games, {seconds:.0} s", games.games));
            }
        })?;
        if stop.is_set() {
            return Err(Failure::Interrupted);
        }
        let how = FitOptions {
            epochs: arguments.epochs as usize,
            result_weight: arguments.result_weight,
            l2: arguments.l2,
        };
        let fit = fit(&samples, evaluation.weights(), &how, &stop, |epoch, loss| {
            if epoch % 10 == 0 {
                say(format_args!("epoch {epoch}: error {loss:.6}"));
            }
        });
        if stop.is_set() {
            return Err(Failure::Interrupted);
        }
        let (used, checked) = fit.samples;
        if used == 0 || checked == 0 {
            return Err(anyhow!(
                "{used} positions to fit the weights to, and {checked} to check them with, are too \
                 few: --games and --random-plies say which games are played"
            )
            .into());
        }
        let mut text = String::new();
        let (first, last) = (fit.losses[0], fit.losses[fit.losses.len() - 1]);
        // A String takes everything, so nothing can fail here.
        let _ = writeln!(text, "# Weights of the evaluation of {}, made by", P::NAME);
        // The path in quotes, so that it stays one word and one line.
        let weights = arguments.weights.as_ref().map(|path| format!(" --weights {path:?}"));
        let _ = writeln!(
            text,
            "# crownhead tune {}{} --games {} --nodes {} --random-plies {} --seed {} --result-weight {} --l2 {} --epochs {}",
            arguments.game,
            weights.unwrap_or_default(),
            arguments.games,
            arguments.nodes,
            arguments.random_plies,
            arguments.seed,
            arguments.result_weight,
            arguments.l2,
            arguments.epochs
        );
        let from =
            if arguments.weights.is_some() { "a file of weights" } else { "the built-in weights" };
        let _ = writeln!(
            text,
            "# from {from} and {used} positions. On {checked} others, of games kept apart, the\n\
             # mean squared error of the expected result fell from {first:.5} to {last:.5}.",
        );
        text.push_str(&fit.weights.format(layout));
        match output {
            None => std::io::stdout().lock().write_all(text.as_bytes())?,
            Some(file) => file.write(&text)?,
        }
        Ok(())
    }
}
