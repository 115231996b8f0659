//! `crownhead train generate`: self-play games for training data.

use std::fs::{File, TryLockError};
use std::io::{BufReader, BufWriter, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, anyhow};
use clap::value_parser;
use crownhead_cli::fleet::FleetArgs;
use crownhead_fleet::SelfPlayBlocks;
use crownhead_play::{StopFlag, counted};
use crownhead_rules::Game;
use crownhead_search::train::data::{Block, DataError, DataReader, write_header};
use crownhead_search::train::{SelfPlayOptions, Trainer};

use super::find_trainer;
use crate::failure::Failure;
use crate::output::eprint_message;
use crate::signals::stop_on_interrupt;

#[derive(clap::Args)]
pub(super) struct Args {
    /// Game, with options: english, contest:kings=true, …
    game: Game,
    /// Output file; an incomplete one is continued
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Number of games
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    #[arg(value_parser = value_parser!(u32).range(1..=100_000_000))]
    games: u32,
    /// Nodes per move
    #[arg(long, value_name = "N", default_value_t = 1200)]
    #[arg(value_parser = value_parser!(u64).range(1..))]
    nodes: u64,
    /// Random plies at the start of each game; up to five more are added
    #[arg(long, value_name = "N", default_value_t = 3)]
    #[arg(value_parser = value_parser!(u32).range(0..=100))]
    random_plies: u32,
    /// Percentage of positions that are followed by one off the game, one or two random moves later
    #[arg(long, value_name = "PERCENT", default_value_t = 10)]
    #[arg(value_parser = value_parser!(u32).range(0..=100))]
    off_game: u32,
    /// Threads
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "fleet")]
    #[arg(value_parser = value_parser!(u16).range(1..=256))]
    threads: u16,
    /// Random seed
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    fleet: FleetArgs,
}

/// Games per block. An interruption loses at most one block; a job of a fleet is one.
const BLOCK_GAMES: u32 = 64;

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let Args { game, nodes, random_plies, off_game, seed, .. } = args;
    let trainer = find_trainer(game)?;
    let settings = format!(
        "game={game} nodes={nodes} random-plies={random_plies} off-game={off_game} seed={seed}"
    );
    let coordinator = args.fleet.join(None)?;
    let (mut file, first) = open(&args.file, &settings)?;
    let options = SelfPlayOptions {
        nodes: *nodes,
        random_plies: *random_plies,
        off_game: *off_game,
        seed: *seed,
        threads: args.threads.into(),
    };
    if first > 0 {
        eprint_message(format_args!("{}: continuing after {first} games", args.file.display()));
    }
    let stop = stop_on_interrupt();
    let games = counted(args.games.saturating_sub(first).into(), "game");
    eprint_message(format_args!("Playing {games} of {game} …"));
    let (start, mut positions, mut reported) = (Instant::now(), 0, 0);
    let write = |block: Block| -> Result<(), Failure> {
        positions += block.records.len();
        block.write(&mut file).and_then(|()| file.flush()).context("cannot write the data")?;
        let next = block.first_game + block.games;
        let seconds = start.elapsed().as_secs();
        if seconds / 60 > reported && next < args.games {
            reported = seconds / 60;
            let left = seconds * u64::from(args.games - next) / u64::from(next - first).max(1);
            eprint_message(format_args!(
                "{next} of {} games, {positions} positions in {seconds} s, {left} s left",
                args.games
            ));
        }
        Ok(())
    };
    let games_left = first..args.games.max(first);
    let is_complete = match coordinator {
        None => play_here(trainer.as_ref(), games_left, &options, &stop, write)?,
        Some(coordinator) => {
            let path = args.file.canonicalize()?;
            let run = args.fleet.run(format!("{game}, {}", args.file.display()), [game]);
            let identity = format!("{settings} {}", path.display());
            let run = args.fleet.resumable(run, &coordinator, &identity)?;
            let blocks = SelfPlayBlocks {
                game,
                trainer: trainer.as_ref(),
                options,
                games: games_left,
                block_games: BLOCK_GAMES,
            };
            coordinator.self_play(run, blocks, &stop, write)?
        }
    };
    if !is_complete {
        return Err(Failure::Interrupted);
    }
    let (positions, seconds) = (counted(positions as u64, "position"), start.elapsed());
    eprint_message(format_args!("Played {games}, {positions}, in {:.1} s.", seconds.as_secs_f64()));
    Ok(())
}

/// Plays games in this process. Returns false if `stop` was set.
fn play_here(
    trainer: &dyn Trainer,
    games: Range<u32>,
    options: &SelfPlayOptions,
    stop: &StopFlag,
    mut write: impl FnMut(Block) -> Result<(), Failure>,
) -> Result<bool, Failure> {
    for first_game in games.clone().step_by(BLOCK_GAMES as usize) {
        let end = games.end.min(first_game + BLOCK_GAMES);
        let Some(records) = trainer.play_games(first_game..end, options, stop)? else {
            return Ok(false);
        };
        write(Block { first_game, games: end - first_game, records })?;
    }
    Ok(true)
}

/// Opens a file for appending and returns the number of the next game. Removes an incomplete block.
fn open(path: &Path, settings: &str) -> Result<(BufWriter<File>, u32), Failure> {
    let context = || format!("cannot open {}", path.display());
    let mut file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .with_context(context)?;
    if let Err(TryLockError::WouldBlock) = file.try_lock() {
        return Err(anyhow!("another command is writing {}", path.display()).into());
    }
    if file.metadata().with_context(context)?.len() == 0 {
        let mut file = BufWriter::new(file);
        write_header(settings, &mut file).with_context(context)?;
        return Ok((file, 0));
    }
    let bad_input = |error: DataError| Failure::BadInput(format!("{}: {error}", path.display()));
    let mut reader = DataReader::new(BufReader::new(&file)).map_err(bad_input)?;
    if reader.settings() != settings {
        return Err(Failure::BadInput(format!(
            "{} was made with other settings: {}",
            path.display(),
            reader.settings()
        )));
    }
    let mut next = 0;
    while let Ok(Some(block)) = reader.next_block() {
        next = block.first_game + block.games;
    }
    let end = reader.position();
    drop(reader);
    file.set_len(end).with_context(context)?;
    file.seek(SeekFrom::Start(end)).with_context(context)?;
    Ok((BufWriter::new(file), next))
}
