//! `crownhead bench`: how the search behaves, as node counts, and how fast it is.

use std::io::Write;

use clap::value_parser;
use crownhead_rules::Game;
use crownhead_search::bench;
use serde_json::json;

use super::{Failure, say};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The game to search; all of them if none is named
    game: Option<Game>,
    /// How many threads search together; node counts can be compared for one thread only
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u16).range(1..=256))]
    threads: u16,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let games = match &arguments.game {
        Some(game) => vec![game.clone()],
        None => Game::all().to_vec(),
    };
    let mut out = std::io::stdout().lock();
    let mut objects = Vec::new();
    for game in games {
        let found = bench::bench(&game, arguments.threads.into())?;
        let speed = found.nodes as f64 / found.time.as_secs_f64().max(1e-9);
        if !arguments.json {
            writeln!(out, "{game} {}", found.nodes)?;
            out.flush()?;
            say(format_args!(
                "{game}: depth {} in {:.2} s, {:.2} million nodes per second",
                found.depth,
                found.time.as_secs_f64(),
                speed / 1e6
            ));
        }
        objects.push(json!({
            "game": game.to_string(),
            "depth": found.depth,
            "nodes": found.nodes,
            "seconds": found.time.as_secs_f64(),
            "nodesPerSecond": speed.round(),
        }));
    }
    if arguments.json {
        writeln!(out, "{}", json!({ "threads": arguments.threads, "games": objects }))?;
    }
    Ok(())
}
