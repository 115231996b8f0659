//! `crownhead perft`: counts the leaves of the move tree.

use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use clap::value_parser;
use crownhead_rules::perft::{PerftHash, PerftOptions};
use crownhead_rules::{Game, MoveList, Notation, Perft, PerftVisitor};
use serde_json::json;

use super::parse_position;
use crate::failure::Failure;
use crate::output::eprint_message;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Game, with options: english, contest:kings=true, …
    game: Game,
    /// Maximum depth; every depth from 1 is counted
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = value_parser!(u32).range(0..=200))]
    depth: u32,
    /// Position [default: the start position]
    #[arg(long, value_name = "POSITION", allow_hyphen_values = true)]
    position: Option<String>,
    /// Also list the count after each move, at the last depth
    #[arg(long)]
    divide: bool,
    /// Count each path of a capture separately, as most published counts of English checkers do
    #[arg(long, conflicts_with_all = ["hash", "threads", "no_bulk"])]
    paths: bool,
    /// Play the moves of the last ply instead of counting them in bulk
    #[arg(long)]
    no_bulk: bool,
    /// Threads, capped at the number of cores
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = value_parser!(u16).range(1..=1024))]
    threads: u16,
    /// Size of a hash table for transpositions, in megabytes [default: none]
    #[arg(long, value_name = "MB", value_parser = value_parser!(u32).range(1..=1_048_576))]
    hash: Option<u32>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    match args.paths {
        true => args.game.visit_perft(ByPaths(args)),
        false => args.game.visit_perft(Distinct(args)),
    }
}

struct ByPaths<'a>(&'a Args);

impl PerftVisitor for ByPaths<'_> {
    type Output = Result<(), Failure>;

    fn visit<P: Notation + Perft>(self, options: &P::Options) -> Self::Output {
        let Some(perft) = P::perft_by_paths() else {
            let message = format!("--paths is not available for {}", self.0.game);
            return Err(Failure::Usage(message));
        };
        let position: P = parse_position(self.0.position.as_deref(), options)?;
        report(self.0, &position, perft.count, perft.divide)
    }
}

struct Distinct<'a>(&'a Args);

impl PerftVisitor for Distinct<'_> {
    type Output = Result<(), Failure>;

    fn visit<P: Notation + Perft>(self, options: &P::Options) -> Self::Output {
        let position: P = parse_position(self.0.position.as_deref(), options)?;
        let table = self.0.hash.map(|megabytes| {
            PerftHash::new(megabytes as usize)
                .with_context(|| format!("not enough memory for a hash table of {megabytes} MB"))
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
            let count = |&mv: &P::Move| (mv, counter.count(&position.after(mv), depth - 1, &past));
            moves.iter().map(count).collect()
        };
        report(self.0, &position, count, divide)
    }
}

fn report<P: Notation>(
    args: &Args,
    position: &P,
    count: impl Fn(&P, u32) -> u64,
    divide: impl Fn(&P, u32) -> Vec<(P::Move, u64)>,
) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    let mut counts = Vec::new();
    for depth in args.depth.min(1)..=args.depth {
        let start = Instant::now();
        let nodes = count(position, depth);
        let time = start.elapsed();
        if nodes == u64::MAX {
            let message = format!("depth {depth} has 2^64 leaves or more: too many to count");
            return Err(anyhow!(message).into());
        }
        counts.push(json!({ "depth": depth, "nodes": nodes, "seconds": time.as_secs_f64() }));
        if !args.json {
            writeln!(out, "{depth} {nodes}")?;
            out.flush()?;
            if depth == args.depth {
                eprint_message(format_args!("depth {depth}: {}", speed_text(nodes, time)));
            }
        }
    }
    let mut divided: Vec<(String, u64)> = Vec::new();
    if args.divide && args.depth > 0 {
        let counts = divide(position, args.depth).into_iter();
        divided.extend(counts.map(|(mv, nodes)| (position.format_move(mv), nodes)));
        divided.sort();
    }
    if !args.json {
        for (text, nodes) in &divided {
            writeln!(out, "  {text} {nodes}")?;
        }
        return Ok(());
    }
    let mut object = json!({
        "game": args.game.to_string(),
        "position": position.format_position(),
        "counts": counts,
    });
    if args.divide {
        let divided: Vec<_> =
            divided.iter().map(|(text, nodes)| json!({ "move": text, "nodes": nodes })).collect();
        object["divide"] = divided.into();
    }
    writeln!(out, "{object}")?;
    Ok(())
}

fn speed_text(nodes: u64, time: Duration) -> String {
    let seconds = time.as_secs_f64();
    let rate = if seconds > 0.0 { nodes as f64 / seconds / 1e6 } else { 0.0 };
    let digits = if rate < 10.0 { 1 } else { 0 };
    format!("{seconds:.3} s, {rate:.digits$} million nodes per second")
}
