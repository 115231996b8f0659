//! `crownhead tables verify`: checks tables completely.

use std::io::Write;
use std::ops::ControlFlow;

use anyhow::anyhow;
use clap::value_parser;
use crownhead_rules::Game;
use crownhead_tables::registry::{TABLES, TableState};
use crownhead_tables::{Verification, Verified};
use serde_json::json;

use super::progress::Progress;
use super::{tables_for, threads};
use crate::failure::Failure;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Game [default: all games with tables]
    game: Option<Game>,
    /// Random blocks of 4096 values to derive again, in each part with more than 4 pieces
    #[arg(long, value_name = "N", default_value_t = 16)]
    blocks: u64,
    /// Threads, capped at the number of cores
    #[arg(long, value_name = "N", default_value_t = 2)]
    #[arg(value_parser = value_parser!(u16).range(1..=256))]
    threads: u16,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let tables = match &args.game {
        Some(game) => tables_for(game)?,
        None => TABLES.iter().collect(),
    };
    let mut out = std::io::stdout().lock();
    let mut objects = Vec::new();
    for info in tables {
        let (game, name) = (info.game, info.name);
        let verified = match info.open() {
            TableState::Ok(table) => {
                let shown = Progress::new(info);
                let progress = |done, total| {
                    shown.set(done, total);
                    ControlFlow::Continue(())
                };
                let verification = Verification {
                    blocks: args.blocks,
                    ..Verification::new(threads(args.threads))
                };
                let verified = table.verify(&verification, &progress);
                shown.finish();
                verified?
            }
            TableState::Broken(error) => return Err(error.into()),
            TableState::Absent | TableState::NoFolder if args.game.is_none() => continue,
            TableState::Absent | TableState::NoFolder => {
                let message = format!(
                    "the {name} table of {game} is not built; build it with \
                     `crownhead tables build {game}`"
                );
                return Err(anyhow!(message).into());
            }
        };
        let Verified { slices, positions } = verified;
        if args.json {
            objects.push(json!({
                "game": game, "table": name, "slices": slices, "positions": positions,
            }));
        } else {
            writeln!(out, "{game} {name}: ok, {positions} {} verified", info.entry_name)?;
        }
    }
    if args.json {
        writeln!(out, "{}", json!({ "tables": objects }))?;
    }
    Ok(())
}
