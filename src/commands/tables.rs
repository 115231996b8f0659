//! `crownhead tables`: builds and lists tables.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::value_parser;
use crownhead_play::{Knowledge, knowledge::from_tables};
use crownhead_rules::Game;
use crownhead_tables::TableError;
use crownhead_tables::registry::{self, NO_FOLDER, TABLES, Table, TableInfo, TableState};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;

use crate::failure::Failure;
use crate::output::{eprint_message, supports_ansi};

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Build the tables of a game in the cache folder
    Build(Build),
    /// List all tables with their state and path
    List(List),
}

#[derive(clap::Args)]
pub(crate) struct Build {
    /// Game; crownhead tables list shows which games have tables
    game: Game,
    /// Threads, capped at the number of cores
    #[arg(long, value_name = "N", default_value_t = 2)]
    #[arg(value_parser = value_parser!(u16).range(1..=256))]
    threads: u16,
    /// Rebuild existing tables
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

pub(crate) fn run(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Build(args) => build(args),
        Command::List(args) => list(args),
    }
}

/// Loads the tables of a game. The second part is a warning for the user if one is missing.
pub(crate) fn load_knowledge(game: &Game) -> (Knowledge, Option<String>) {
    let (tables, warning) = registry::load(game.info().id);
    (from_tables(&tables), warning)
}

fn build(args: &Build) -> Result<(), Failure> {
    let id = args.game.info().id;
    let mut tables = registry::of_game(id).peekable();
    if tables.peek().is_none() {
        let games: Vec<_> = TABLES.iter().map(|info| info.game).collect();
        let games = games.join(", ");
        return Err(Failure::Usage(format!("{id} has no tables; games with tables: {games}")));
    }
    for info in tables {
        let path = info.path().context(NO_FOLDER)?;
        let state = if args.force { TableState::Absent } else { info.open() };
        let (table, time) = match state {
            TableState::Ok(table) => (table, None),
            TableState::Broken(TableError::Corrupt { error, .. }) => {
                if !args.json {
                    eprint_message(format_args!("{}: {error}; rebuilding it", path.display()));
                }
                generate(info, args, &path)?
            }
            TableState::Broken(error) => return Err(error.into()),
            TableState::Absent | TableState::NoFolder => generate(info, args, &path)?,
        };
        report(args, info, &path, &table, time)?;
    }
    Ok(())
}

/// Generates and saves a table; returns it with the time that the generation took.
fn generate(
    info: &TableInfo,
    args: &Build,
    path: &Path,
) -> Result<(Table, Option<Duration>), Failure> {
    check_folder(path)?;
    static INTERRUPTED: AtomicBool = AtomicBool::new(false);
    // Saving is not interrupted: it is short and leaves nothing behind. If the handler cannot be
    // set, an interrupt ends the program at once, which is safe too.
    let _ = ctrlc::set_handler(|| INTERRUPTED.store(true, Ordering::Relaxed));

    eprint_message(format_args!("building {} …", path.display()));
    let bar = progress_bar(info);
    let progress = |known, _| {
        bar.set_position(known);
        if INTERRUPTED.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let start = Instant::now();
    let table = info.generate(threads(args), &progress);
    let time = start.elapsed();
    bar.finish_and_clear();
    let table = match table {
        Err(TableError::Cancelled) => return Err(Failure::Interrupted),
        table => table?,
    };
    table.save(path)?;
    Ok((table, Some(time)))
}

/// Checks that the table can be saved, before the work of generating it.
fn check_folder(path: &Path) -> Result<(), anyhow::Error> {
    if path.is_dir() {
        bail!("{} is a folder; remove it to build the table there", path.display());
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)
        .and_then(|()| tempfile::tempfile_in(folder))
        .with_context(|| format!("cannot write to {}", folder.display()))?;
    Ok(())
}

fn threads(args: &Build) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    cores.min(args.threads.into())
}

/// A progress bar on an ANSI terminal; hidden elsewhere.
fn progress_bar(info: &TableInfo) -> ProgressBar {
    let target = if supports_ansi(&std::io::stderr()) {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let bar = ProgressBar::with_draw_target(Some(info.entries), target);
    // No colours, so NO_COLOR needs no check.
    let template =
        format!("{{wide_bar}} {{percent:>3}} %  {{human_pos}} {}, {{elapsed}}", info.entry_name);
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style);
    }
    bar
}

fn report(
    args: &Build,
    info: &TableInfo,
    path: &Path,
    table: &Table,
    time: Option<Duration>,
) -> Result<(), std::io::Error> {
    let mut out = std::io::stdout().lock();
    let histogram = table.histogram();
    if args.json {
        let object = json!({
            "game": info.game,
            "table": info.name,
            "path": path.display().to_string(),
            "bytes": info.bytes,
            "placements": info.entries,
            "built": time.is_some(),
            "seconds": time.map(|time| time.as_secs_f64()),
            "histogram": histogram,
        });
        return writeln!(out, "{object}");
    }
    writeln!(out, "{}: {} bytes", path.display(), info.bytes)?;
    writeln!(out, "turns {}", info.entry_name)?;
    for (turns, entries) in histogram.iter().enumerate() {
        writeln!(out, "{turns} {entries}")?;
    }
    out.flush()?;
    match time {
        Some(time) => eprint_message(format_args!("built in {:.1} s", time.as_secs_f64())),
        None => eprint_message("already built; rebuild it with --force"),
    }
    Ok(())
}

fn list(args: &List) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    let mut objects = Vec::new();
    for info in TABLES {
        let path = info.path();
        let state = info.open();
        let (state, reason) = (state.code(), state.reason());
        // Size of the file, or of the file that would be built.
        let metadata = path.as_ref().and_then(|path| path.metadata().ok());
        let file = metadata.filter(|metadata| metadata.is_file());
        let bytes = file.map_or(info.bytes, |file| file.len());
        let TableInfo { game, name, .. } = info;
        if args.json {
            objects.push(json!({
                "game": game,
                "table": name,
                "state": state,
                "reason": reason,
                "path": path.map(|path| path.display().to_string()),
                "bytes": bytes,
            }));
            continue;
        }
        let path = path.map(|path| format!(", {}", path.display())).unwrap_or_default();
        let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
        writeln!(out, "{game} {name}: {state}, {bytes} bytes{path}{reason}")?;
        if state != "ok" {
            let time = info.build_time;
            eprint_message(format_args!("build it with `crownhead tables build {game}` ({time})"));
        }
    }
    if args.json {
        writeln!(out, "{}", json!({ "tables": objects }))?;
    }
    Ok(())
}
