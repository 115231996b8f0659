//! `crownhead train`: learned evaluations from self-play games.

use std::fs::File;
use std::io::{BufReader, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context;
use clap::value_parser;
use crownhead_files::AtomicFile;
use crownhead_play::counted;
use crownhead_rules::Game;
use crownhead_search::train::data::{Block, DataError, DataReader, write_header};
use crownhead_search::train::{FitOptions, SelfPlayOptions, Trainer, TrainingSet, fit, trainer};

use crate::failure::Failure;
use crate::knowledge::load_or_warn;
use crate::output::eprint_message;
use crate::signals::stop_on_interrupt;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Play games against itself and store their positions
    Generate(GenerateArgs),
    /// Train a network on stored positions
    Fit(FitArgs),
}

#[derive(clap::Args)]
struct GenerateArgs {
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
    /// Percentage of positions that are followed by one that is not from the game: one or two
    /// random moves later
    #[arg(long, value_name = "PERCENT", default_value_t = 10)]
    #[arg(value_parser = value_parser!(u32).range(0..=100))]
    off_game: u32,
    /// Threads
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = value_parser!(u16).range(1..=256))]
    threads: u16,
    /// Random seed
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
}

#[derive(clap::Args)]
struct FitArgs {
    /// Game, with options
    game: Game,
    /// Output file for the network
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Files of training data
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
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

/// Games per block: what an interruption loses at most.
const BLOCK_GAMES: u32 = 64;

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    match &args.command {
        Command::Generate(args) => generate(args),
        Command::Fit(args) => train(args),
    }
}

fn find_trainer(game: &Game) -> Result<Box<dyn Trainer>, Failure> {
    let knowledge = load_or_warn(game);
    trainer(game, &knowledge)
        .ok_or_else(|| Failure::Usage(format!("{game} has no learned evaluation")))
}

fn generate(args: &GenerateArgs) -> Result<(), Failure> {
    let GenerateArgs { game, nodes, random_plies, off_game, seed, .. } = args;
    let trainer = find_trainer(game)?;
    let settings = format!(
        "game={game} nodes={nodes} random-plies={random_plies} off-game={off_game} seed={seed}"
    );
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
    let mut next = first;
    while next < args.games {
        let end = args.games.min(next + BLOCK_GAMES);
        let Some(records) = trainer.play_games(next..end, &options, &stop)? else {
            return Err(Failure::Interrupted);
        };
        positions += records.len();
        let block = Block { first_game: next, games: end - next, records };
        block.write(&mut file).and_then(|()| file.flush()).context("cannot write the data")?;
        next = end;
        let seconds = start.elapsed().as_secs();
        if seconds / 60 > reported && next < args.games {
            reported = seconds / 60;
            let left = seconds * u64::from(args.games - next) / u64::from(next - first).max(1);
            eprint_message(format_args!(
                "{next} of {} games, {positions} positions in {seconds} s, {left} s left",
                args.games
            ));
        }
    }
    let (positions, seconds) = (counted(positions as u64, "position"), start.elapsed());
    eprint_message(format_args!("Played {games}, {positions}, in {:.1} s.", seconds.as_secs_f64()));
    Ok(())
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

fn train(args: &FitArgs) -> Result<(), Failure> {
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
        settings.push(reader.settings().to_string());
        loop {
            match reader.next_block() {
                Ok(Some(block)) => trainer.add_samples(&block.records, &mut set),
                Ok(None) => break,
                Err(error) => {
                    eprint_message(format_args!("{}: {error}", path.display()));
                    break;
                }
            }
        }
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
    let mut loss = 0.0;
    let network = fit(&set, shape, &options, &stop, &mut |epoch| {
        loss = epoch.validation_loss;
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
    output.file().write_all(&network.to_bytes(&comment)).context("cannot write the network")?;
    output.commit()?;
    let seconds = start.elapsed().as_secs_f64();
    eprint_message(format_args!("Wrote {} in {seconds:.1} s.", args.output.display()));
    Ok(())
}

/// Returns the id of the game in the settings of a data file.
fn data_game(settings: &str) -> &str {
    let game = settings.strip_prefix("game=").unwrap_or_default();
    game.split([' ', ':']).next().unwrap_or_default()
}

/// The comment that says how a network was made.
fn comment(args: &FitArgs, settings: &[String], positions: [usize; 2], loss: f32) -> String {
    let FitArgs { game, epochs, result_weight, learning_rate, seed, .. } = args;
    let hidden = args.hidden.map(|hidden| format!(" --hidden {hidden}")).unwrap_or_default();
    let mut text = format!(
        "crownhead train fit {game}{hidden} --epochs {epochs} --result-weight {result_weight} \
         --learning-rate {learning_rate} --seed {seed}\n"
    );
    for settings in settings {
        text.push_str(&format!("data: {settings}\n"));
    }
    let [training, validation] = positions;
    text.push_str(&format!("{training} positions; loss {loss:.5} on {validation} others"));
    text
}
