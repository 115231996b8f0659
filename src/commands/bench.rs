//! `crownhead bench`: node counts of the search on fixed positions, and its speed.

use std::io::Write;

use clap::value_parser;
use crownhead_rules::Game;
use crownhead_search::bench;
use serde_json::json;

use crate::failure::Failure;
use crate::output::eprint_message;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Game [default: all games]
    game: Option<Game>,
    /// Search threads; node counts are reproducible only with 1
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = value_parser!(u16).range(1..=256))]
    threads: u16,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let games = match &args.game {
        Some(game) => vec![game.clone()],
        None => Game::all().to_vec(),
    };
    let mut out = std::io::stdout().lock();
    let mut objects = Vec::new();
    for game in games {
        let result = bench::bench(&game, args.threads.into())?;
        let speed = result.nodes as f64 / result.time.as_secs_f64().max(1e-9);
        if !args.json {
            writeln!(out, "{game} {}", result.nodes)?;
            out.flush()?;
            eprint_message(format_args!(
                "{game}: depth {} in {:.2} s, {:.2} million nodes per second",
                result.depth,
                result.time.as_secs_f64(),
                speed / 1e6
            ));
        }
        objects.push(json!({
            "game": game.to_string(),
            "depth": result.depth,
            "nodes": result.nodes,
            "seconds": result.time.as_secs_f64(),
            "nodes_per_second": speed.round(),
        }));
    }
    if args.json {
        writeln!(out, "{}", json!({ "threads": args.threads, "games": objects }))?;
    }
    Ok(())
}
