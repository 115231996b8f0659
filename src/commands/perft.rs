//! `crownhead perft`: how many positions lie so many plies ahead.

use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use clap::value_parser;
use crownhead_rules::perft::{PerftHash, PerftOptions};
use crownhead_rules::{BulkPerft, Game, MoveList, Notation, PerftVisitor};
use serde_json::json;

use super::{Failure, position, say};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The game, with options if wanted: english, contest:kings=true, …
    game: Game,
    /// Count every depth from 1 to this one
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = value_parser!(u32).range(0..=200))]
    depth: u32,
    /// The position to count from instead of the start
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    position: Option<String>,
    /// Also list the count behind each move, at the last depth
    #[arg(long)]
    divide: bool,
    /// Count a capture once for every path, as most published tables of English checkers do
    #[arg(long, conflicts_with_all = ["hash", "threads", "no_bulk"])]
    paths: bool,
    /// Play every move of the last ply too, instead of only counting it
    #[arg(long)]
    no_bulk: bool,
    /// How many threads count; more than the machine has cores are not started
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u16).range(1..=1024))]
    threads: u16,
    /// Remember counts of positions that come up again in a table of so many megabytes
    #[arg(long, value_name = "MB", value_parser = value_parser!(u32).range(1..=1_048_576))]
    hash: Option<u32>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    match arguments.paths {
        true => arguments.game.visit_perft(ByPaths(arguments)),
        false => arguments.game.visit_perft(Distinct(arguments)),
    }
}

struct ByPaths<'a>(&'a Arguments);

impl PerftVisitor for ByPaths<'_> {
    type Output = Result<(), Failure>;

    fn visit<P: Notation + BulkPerft>(self, options: &P::Options) -> Self::Output {
        let Some(perft) = P::path_perft() else {
            let message = format!("--paths is not available for {}", self.0.game);
            return Err(Failure::Usage(message));
        };
        let position: P = position(self.0.position.as_deref(), options)?;
        report(self.0, &position, perft.count, perft.divide)
    }
}

struct Distinct<'a>(&'a Arguments);

impl PerftVisitor for Distinct<'_> {
    type Output = Result<(), Failure>;

    fn visit<P: Notation + BulkPerft>(self, options: &P::Options) -> Self::Output {
        let position: P = position(self.0.position.as_deref(), options)?;
        let table = self.0.hash.map(|megabytes| {
            PerftHash::new(megabytes as usize)
                .with_context(|| format!("there is no memory for a table of {megabytes} MB"))
        });
        let table = table.transpose()?;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = cores.min(self.0.threads.into());
        let counter = PerftOptions { bulk: !self.0.no_bulk, hash: table.as_ref(), threads };
        let count = |position: &P, depth| counter.count(position, depth, &[]);
        let divide = |position: &P, depth| {
            let mut moves = MoveList::new();
            if position.outcome(&[]).is_none() {
                position.legal_moves(&mut moves);
            }
            let past = [position.key()];
            let behind = |&mv: &P::Move| (mv, counter.count(&position.after(mv), depth - 1, &past));
            moves.iter().map(behind).collect()
        };
        report(self.0, &position, count, divide)
    }
}

fn report<P: Notation>(
    arguments: &Arguments,
    position: &P,
    count: impl Fn(&P, u32) -> u64,
    divide: impl Fn(&P, u32) -> Vec<(P::Move, u64)>,
) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    let mut counts = Vec::new();
    for depth in arguments.depth.min(1)..=arguments.depth {
        let start = Instant::now();
        let nodes = count(position, depth);
        let time = start.elapsed();
        if nodes == u64::MAX {
            let message =
                format!("depth {depth} has more positions than can be counted: 2^64 or more");
            return Err(anyhow!(message).into());
        }
        counts.push(json!({ "depth": depth, "nodes": nodes, "seconds": time.as_secs_f64() }));
        if !arguments.json {
            writeln!(out, "{depth} {nodes}")?;
            out.flush()?;
            if depth == arguments.depth {
                say(format_args!("depth {depth}: {}", speed(nodes, time)));
            }
        }
    }
    let mut divided: Vec<(String, u64)> = Vec::new();
    if arguments.divide && arguments.depth > 0 {
        let behind = divide(position, arguments.depth).into_iter();
        divided.extend(behind.map(|(mv, nodes)| (position.format_move(mv), nodes)));
        divided.sort();
    }
    if !arguments.json {
        for (text, nodes) in &divided {
            writeln!(out, "  {text} {nodes}")?;
        }
        return Ok(());
    }
    let mut object = json!({
        "game": arguments.game.to_string(),
        "position": position.format_position(),
        "counts": counts,
    });
    if arguments.divide {
        let divided: Vec<_> =
            divided.iter().map(|(text, nodes)| json!({ "move": text, "nodes": nodes })).collect();
        object["divide"] = divided.into();
    }
    writeln!(out, "{object}")?;
    Ok(())
}

fn speed(nodes: u64, time: Duration) -> String {
    let seconds = time.as_secs_f64();
    let rate = if seconds > 0.0 { nodes as f64 / seconds / 1e6 } else { 0.0 };
    let digits = if rate < 10.0 { 1 } else { 0 };
    format!("{seconds:.3} s, {rate:.digits$} million nodes per second")
}
