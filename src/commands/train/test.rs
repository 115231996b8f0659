//! `crownhead train test`: a match between two networks.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::value_parser;
use crownhead_play::parse_duration;
use crownhead_rules::Game;
use crownhead_search::SearchLimits;
use crownhead_search::train::{MatchError, MatchOptions, PairResult};
use crownhead_statistics::{GamePoints, Pentanomial, Wdl};

use super::find_trainer;
use crate::failure::Failure;
use crate::output::eprint_message;
use crate::signals::stop_on_interrupt;

#[derive(clap::Args)]
pub(super) struct Args {
    /// Game, with options
    game: Game,
    /// The network to test
    #[arg(value_name = "NETWORK")]
    network: PathBuf,
    /// Opposing network [default: the evaluation of the program]
    #[arg(long, value_name = "NETWORK")]
    against: Option<PathBuf>,
    /// Number of games; both players play every opening with both colours
    #[arg(short = 'n', long, value_name = "N", default_value_t = 400)]
    #[arg(value_parser = value_parser!(u32).range(2..=1_000_000))]
    games: u32,
    /// Nodes per move
    #[arg(long, value_name = "N", default_value_t = 3000, conflicts_with = "cputime")]
    #[arg(value_parser = value_parser!(u64).range(1..))]
    nodes: u64,
    /// CPU time per move instead of nodes
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    cputime: Option<Duration>,
    /// Random plies at the start of each game; up to five more are added
    #[arg(long, value_name = "N", default_value_t = 3)]
    #[arg(value_parser = value_parser!(u32).range(0..=100))]
    random_plies: u32,
    /// Threads
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = value_parser!(u16).range(1..=256))]
    threads: u16,
    /// Random seed
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
}

/// Pairs per thread between two checks of the clock.
const BLOCK_PAIRS: u32 = 4;

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let trainer = find_trainer(&args.game)?;
    let read =
        |path: &Path| fs::read(path).with_context(|| format!("cannot open {}", path.display()));
    let network = read(&args.network)?;
    let against = args.against.as_deref().map(read).transpose()?;
    let limits = match args.cputime {
        Some(time) => SearchLimits { cpu_time: Some(time), ..SearchLimits::default() },
        None => SearchLimits { nodes: Some(args.nodes), ..SearchLimits::default() },
    };
    let Args { random_plies, seed, .. } = *args;
    let options = MatchOptions { limits, random_plies, seed, threads: args.threads.into() };
    let stop = stop_on_interrupt();
    let (pairs, mut next, mut reported) = (args.games.div_ceil(2), 0, 0);
    let (mut results, start) = (Results::default(), Instant::now());
    while next < pairs {
        let end = pairs.min(next + BLOCK_PAIRS * u32::from(args.threads));
        let networks = [Some(&network[..]), against.as_deref()];
        let block = trainer.play_match(networks, next..end, &options, &stop);
        let block = block.map_err(|error| match error {
            MatchError::Network(player, error) => {
                let path = [Some(&args.network), args.against.as_ref()][player];
                let path = path.unwrap_or(&args.network).display();
                Failure::BadInput(format!("{path}: {error}"))
            }
            MatchError::Memory(error) => anyhow::Error::new(error).into(),
        })?;
        let Some(block) = block else { return Err(Failure::Interrupted) };
        block.iter().for_each(|pair| results.add(pair));
        next = end;
        let minutes = start.elapsed().as_secs() / 60;
        if minutes > reported && next < pairs {
            reported = minutes;
            eprint_message(format_args!("{} of {} games: {}", 2 * next, 2 * pairs, results.text()));
        }
    }
    writeln!(std::io::stdout().lock(), "{}", results.text())?;
    Ok(())
}

/// The results of the pairs played so far.
#[derive(Default)]
struct Results {
    pairs: Pentanomial,
    games: Wdl,
    seconds: [f64; 2],
    nodes: [u64; 2],
}

impl Results {
    fn add(&mut self, pair: &PairResult) {
        let points = |half_points: u8| match half_points {
            0 => GamePoints::Loss,
            1 => GamePoints::Draw,
            _ => GamePoints::Win,
        };
        let games = pair.half_points.map(points);
        self.pairs.add(games);
        games.into_iter().for_each(|game| self.games.add(game));
        for player in 0..2 {
            self.seconds[player] += pair.time[player].as_secs_f64();
            self.nodes[player] += pair.nodes[player];
        }
    }

    /// The score with its 95 % interval, and the speed relative to the opponent's.
    fn text(&self) -> String {
        let Wdl { wins, draws, losses } = self.games;
        let Some(estimate) = self.pairs.estimate() else { return "no games".to_string() };
        let speed = |player: usize| self.nodes[player] as f64 / self.seconds[player].max(1e-9);
        let elo = match estimate.elo_error.is_finite() {
            true => format!(", Elo {:+.0} ± {:.0}", estimate.elo, estimate.elo_error),
            false => String::new(),
        };
        format!(
            "+{wins} ={draws} -{losses}: {:.1} % ± {:.1}{elo}; {:.0} nodes per second, {:.2} times \
             the opponent's",
            100.0 * estimate.score,
            100.0 * estimate.error,
            speed(0),
            speed(0) / speed(1)
        )
    }
}
