//! `crownhead tables`: exact knowledge that is computed once and kept.

use std::io::{ErrorKind, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::value_parser;
use crownhead_rules::{ChineseCheckers, Game, Notation};
use crownhead_tables::{SoloTable, TableError, solo_path};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;

use super::{Failure, can_draw, say};

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Build the tables of a game and keep them for this user
    Build(Build),
    /// List the tables there are or could be, with their places
    List(List),
}

#[derive(clap::Args)]
pub(crate) struct Build {
    /// The game; chinese-checkers has a table
    game: Game,
    /// How many threads build; more than the machine has cores are not started
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = value_parser!(u16).range(1..=256))]
    threads: u16,
    /// Build it even if it is there
    #[arg(long)]
    force: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
pub(crate) struct List {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The names of the one table there is.
const GAME: &str = ChineseCheckers::ID;
const TABLE: &str = "solo";
const NO_FOLDER: &str = "there is no folder for tables: set CROWNHEAD_CACHE to one";

pub(crate) fn run(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Build(arguments) => build(arguments),
        Command::List(arguments) => list(arguments),
    }
}

fn build(arguments: &Build) -> Result<(), Failure> {
    if arguments.game.info().id != GAME {
        return Err(Failure::Usage(format!(
            "{} has no tables to build; {GAME} has",
            arguments.game.info().id
        )));
    }
    let path = solo_path().context(NO_FOLDER)?;
    let kept = if arguments.force { None } else { open(&path)? };
    let (table, time) = match kept {
        Some(Ok(table)) => (table, None),
        Some(Err(why)) => {
            if !arguments.json {
                say(format_args!("{}: {why}; it is built anew", path.display()));
            }
            build_solo(arguments, &path)?
        }
        None => build_solo(arguments, &path)?,
    };
    report(arguments, &path, &table, time)?;
    Ok(())
}

/// The table in a file, or what is wrong with it; `None` if there is no such file.
fn open(path: &Path) -> Result<Option<Result<SoloTable, String>>, TableError> {
    match SoloTable::open(path) {
        Ok(table) => Ok(Some(Ok(table))),
        Err(TableError::Corrupt { why, .. }) => Ok(Some(Err(why))),
        Err(TableError::Io { error, .. }) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Builds and saves the table, and says how long building took.
fn build_solo(arguments: &Build, path: &Path) -> Result<(SoloTable, Option<Duration>), Failure> {
    check_folder(path)?;
    static STOPPED: AtomicBool = AtomicBool::new(false);
    // While the file is written, nothing is stopped: it takes a moment, and nothing is left over.
    // Without the handler the system ends the program, which is as good but for that moment.
    let _ = ctrlc::set_handler(|| STOPPED.store(true, Ordering::Relaxed));

    let bar = progress_bar();
    let progress = |known, _| {
        bar.set_position(known);
        if STOPPED.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let start = Instant::now();
    let table = SoloTable::generate(threads(arguments), &progress);
    let time = start.elapsed();
    bar.finish_and_clear();
    let table = match table {
        Err(TableError::Cancelled) => return Err(Failure::Interrupted),
        table => table?,
    };
    table.save(path)?;
    Ok((table, Some(time)))
}

/// Finds out before the work that the table could not be saved after it.
fn check_folder(path: &Path) -> Result<(), anyhow::Error> {
    if path.is_dir() {
        bail!("{} is a folder, and the table is to be a file there", path.display());
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)
        .and_then(|()| tempfile::tempfile_in(folder))
        .with_context(|| format!("{} cannot be written to", folder.display()))?;
    Ok(())
}

fn threads(arguments: &Build) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    cores.min(arguments.threads.into())
}

/// A bar on a terminal that can move its cursor, and nothing elsewhere.
fn progress_bar() -> ProgressBar {
    let target = if can_draw(&std::io::stderr()) {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let bar = ProgressBar::with_draw_target(Some(SoloTable::PLACEMENTS), target);
    // Without colours, so there is nothing that NO_COLOR could forbid.
    let template = "{wide_bar} {percent:>3} %  {human_pos} placements, {elapsed}";
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}

fn report(
    arguments: &Build,
    path: &Path,
    table: &SoloTable,
    time: Option<Duration>,
) -> Result<(), std::io::Error> {
    let mut out = std::io::stdout().lock();
    let histogram = table.histogram();
    if arguments.json {
        let object = json!({
            "game": GAME,
            "table": TABLE,
            "path": path.display().to_string(),
            "bytes": SoloTable::FILE_BYTES,
            "placements": SoloTable::PLACEMENTS,
            "built": time.is_some(),
            "seconds": time.map(|time| time.as_secs_f64()),
            "histogram": histogram,
        });
        return writeln!(out, "{object}");
    }
    writeln!(out, "{}: {} bytes", path.display(), SoloTable::FILE_BYTES)?;
    writeln!(out, "turns placements")?;
    for (turns, placements) in histogram.iter().enumerate() {
        writeln!(out, "{turns} {placements}")?;
    }
    out.flush()?;
    match time {
        Some(time) => say(format_args!("built in {:.1} s", time.as_secs_f64())),
        None => say("it was there already; --force builds it anew"),
    }
    Ok(())
}

fn list(arguments: &List) -> Result<(), Failure> {
    let path = solo_path();
    let (state, why) = state(path.as_deref());
    // What is there, or what will be.
    let known = path.as_ref().and_then(|path| path.metadata().ok());
    let bytes =
        known.filter(|known| known.is_file()).map_or(SoloTable::FILE_BYTES, |known| known.len());
    let mut out = std::io::stdout().lock();
    if arguments.json {
        let table = json!({
            "game": GAME,
            "table": TABLE,
            "state": state,
            "why": why,
            "path": path.map(|path| path.display().to_string()),
            "bytes": bytes,
        });
        writeln!(out, "{}", json!({ "tables": [table] }))?;
        return Ok(());
    }
    let place = path.map(|path| format!(", {}", path.display())).unwrap_or_default();
    let why = why.map(|why| format!(": {why}")).unwrap_or_default();
    writeln!(out, "{GAME} {TABLE}: {state}, {bytes} bytes{place}{why}")?;
    if state != "ok" {
        say(format_args!("`crownhead tables build {GAME}` builds it in less than a minute"));
    }
    Ok(())
}

/// `ok`, `absent` or `broken`, and why if that is not plain.
fn state(path: Option<&Path>) -> (&'static str, Option<String>) {
    let Some(path) = path else { return ("absent", Some(NO_FOLDER.into())) };
    match open(path) {
        Ok(Some(Ok(_))) => ("ok", None),
        Ok(None) => ("absent", None),
        Ok(Some(Err(why))) => ("broken", Some(why)),
        Err(error) => ("broken", Some(error.to_string())),
    }
}
