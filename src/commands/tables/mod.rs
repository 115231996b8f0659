//! `crownhead tables`: builds, lists, verifies and probes tables.

mod probe;
mod progress;
mod verify;

use std::cell::OnceCell;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::value_parser;
use crownhead_play::knowledge::from_tables;
use crownhead_play::{Knowledge, StopFlag, new_session};
use crownhead_rules::Game;
use crownhead_tables::endgame::{Counts, PiecesSummary, Slice};
use crownhead_tables::registry::{
    self, BuildOptions, LargerBuild, NO_FOLDER, TABLES, Table, TableInfo, TableState,
};
use crownhead_tables::{EndgameTable, SoloTable, TableError};
use serde_json::json;

use self::progress::Progress;
use crate::failure::Failure;
use crate::output::eprint_message;
use crate::signals::stop_on_signals;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Build the tables of a game in the cache folder; continues an interrupted build
    Build(Build),
    /// List all tables with their state and path
    List(List),
    /// Check every byte of the tables, and derive values again from those one move later
    Verify(verify::Args),
    /// List the legal moves of a position by their exact values
    Probe(probe::Args),
}

#[derive(clap::Args)]
pub(crate) struct Build {
    /// Game; crownhead tables list shows which games have tables
    game: Game,
    /// Maximum number of pieces, for endgame tables [default: 5, in contest checkers 8]
    #[arg(long, value_name = "N")]
    pieces: Option<u8>,
    /// Build only this slice of an endgame table and what it depends on, e.g. 0m3k-0m4k: three
    /// kings of the side to move, four kings of the opponent
    #[arg(long, conflicts_with = "pieces")]
    slice: Option<Slice>,
    /// Maximum memory in MB, for endgame tables
    #[arg(long, value_name = "MB", default_value_t = 4096)]
    #[arg(value_parser = value_parser!(u32).range(16..))]
    memory: u32,
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
        Command::Verify(args) => verify::run(args),
        Command::Probe(args) => probe::run(args),
    }
}

/// Loads the tables of a game that exist.
pub(crate) fn existing_tables(game: &Game) -> Knowledge {
    from_tables(&registry::load(game.info().id).0)
}

/// Returns a hint to build a table that contains a position of a running game; `None` if one in
/// `knowledge` does, or none can be built.
pub(crate) fn missing_table(game: &Game, position: &str, knowledge: &Knowledge) -> Option<String> {
    let session = new_session(game, Some(position)).ok()?;
    if session.outcome().is_some() || session.table_value(knowledge).is_some() {
        return None;
    }
    let count = session.board().iter().filter(|&&letter| letter != '.').count();
    let info = TABLES.iter().find(|info| info.is_for(game) && info.pieces.is_some())?;
    let (build, time) = info.build_for(u8::try_from(count).ok()?)?;
    Some(format!(
        "the {} table has exact results for such positions; build it with \
         `crownhead tables build {build}` ({time})",
        info.name
    ))
}

fn build(args: &Build) -> Result<(), Failure> {
    // Saving is not interrupted: it is short and leaves nothing incomplete behind.
    let stop = OnceCell::new();
    for info in tables_for(&args.game)? {
        let pieces = pieces(info, args)?;
        let path = info.path().context(NO_FOLDER)?;
        let state = if args.force { TableState::Absent } else { info.open_checked() };
        let reason = state.reason().filter(|_| !args.json);
        let (table, time) = match state {
            TableState::Ok(table) if is_built(&table, pieces, args.slice) => (table, None),
            TableState::Broken(TableError::Corrupt { .. } | TableError::Damaged { .. }) => {
                if let Some(reason) = reason {
                    let path = path.display();
                    eprint_message(format_args!("{path}: {reason}; rebuilding it"));
                }
                generate(info, args, &path, stop.get_or_init(stop_on_signals))?
            }
            TableState::Broken(error) => return Err(error.into()),
            TableState::Ok(_) | TableState::Absent | TableState::NoFolder => {
                generate(info, args, &path, stop.get_or_init(stop_on_signals))?
            }
        };
        report(args, info, &path, &table, time)?;
    }
    Ok(())
}

/// Whether a table has what is to be built.
fn is_built(table: &Table, pieces: Option<u8>, slice: Option<Slice>) -> bool {
    match (table, slice) {
        (Table::Endgame(table), Some(slice)) => {
            [slice, slice.swapped()].iter().all(|&slice| table.slice_summary(slice).is_some())
        }
        _ => table.pieces() >= pieces,
    }
}

/// Tables that hold for a game and its options.
fn tables_for(game: &Game) -> Result<Vec<&'static TableInfo>, Failure> {
    let tables: Vec<_> = TABLES.iter().filter(|info| info.is_for(game)).collect();
    if !tables.is_empty() {
        return Ok(tables);
    }
    let games: Vec<_> = TABLES.iter().map(|info| info.game).collect();
    let games = games.join(", ");
    Err(Failure::Usage(format!("{game} has no tables; games with tables: {games}")))
}

/// Maximum number of pieces of the table to build, if it depends on them.
fn pieces(info: &TableInfo, args: &Build) -> Result<Option<u8>, Failure> {
    let Some((range, default)) = &info.pieces else {
        let option = match (args.pieces, args.slice) {
            (None, None) => return Ok(None),
            (Some(_), _) => "--pieces",
            (None, Some(_)) => "--slice",
        };
        let TableInfo { game, name, .. } = info;
        let message = format!("the {name} table of {game} does not depend on {option}");
        return Err(Failure::Usage(message));
    };
    if args.slice.is_some() && !info.builds_slices {
        let message = format!("the {} table of {} is built as a whole", info.name, info.game);
        return Err(Failure::Usage(message));
    }
    let pieces = args.pieces.unwrap_or(*default);
    if range.contains(&pieces) {
        return Ok(Some(pieces));
    }
    let (min, max) = (range.start(), range.end());
    Err(Failure::Usage(format!("--pieces takes a number from {min} to {max}, not {pieces}")))
}

/// Builds a table; returns it with the time that it took.
fn generate(
    info: &TableInfo,
    args: &Build,
    path: &Path,
    stop: &StopFlag,
) -> Result<(Table, Option<Duration>), Failure> {
    check_folder(info, path)?;
    eprint_message(format_args!("building {} …", path.display()));
    let display = Progress::new(info);
    let progress = |known, total| {
        display.set(known, total);
        if stop.is_set() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let start = Instant::now();
    let options = BuildOptions {
        threads: threads(args.threads),
        pieces: pieces(info, args)?,
        slice: args.slice,
        memory: u64::from(args.memory) * 1_000_000,
        force: args.force,
    };
    let table = info.build(path, &options, &progress);
    let time = start.elapsed();
    display.finish();
    let table = match table {
        Err(TableError::Cancelled) => return Err(Failure::Interrupted),
        table => table?,
    };
    Ok((table, Some(time)))
}

/// Checks that the table can be saved, before the work of generating it.
fn check_folder(info: &TableInfo, path: &Path) -> Result<(), anyhow::Error> {
    if !info.is_folder && path.is_dir() {
        bail!("{} is a folder; remove it to build the table there", path.display());
    }
    if info.is_folder && path.is_file() {
        bail!("{} is not a folder; remove it to build the table there", path.display());
    }
    let parent = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = if info.is_folder { path } else { parent.unwrap_or(Path::new(".")) };
    std::fs::create_dir_all(folder)
        .and_then(|()| tempfile::tempfile_in(folder))
        .with_context(|| format!("cannot write to {}", folder.display()))?;
    Ok(())
}

fn threads(wanted: u16) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    cores.min(wanted.into())
}

fn report(
    args: &Build,
    info: &TableInfo,
    path: &Path,
    table: &Table,
    time: Option<Duration>,
) -> Result<(), std::io::Error> {
    let mut out = std::io::stdout().lock();
    let bytes = table.bytes();
    if args.json {
        let mut object = json!({
            "game": info.game,
            "table": info.name,
            "path": path.display().to_string(),
            "bytes": bytes,
            "built": time.is_some(),
            "seconds": time.map(|time| time.as_secs_f64()),
        });
        match table {
            Table::Solo(table) => {
                object["placements"] = SoloTable::PLACEMENTS.into();
                object["histogram"] = json!(table.histogram());
            }
            Table::Endgame(table) => {
                object["pieces"] = summary_json(&table.summary());
                if let Some(slice) = args.slice {
                    let row = |(slice, counts, bytes): (Slice, Counts, u64)| {
                        json!({
                            "slice": slice.to_string(), "wins": counts.wins,
                            "losses": counts.losses, "draws": counts.draws, "bytes": bytes,
                        })
                    };
                    object["slices"] = of_pair(table, slice).into_iter().map(row).collect();
                }
            }
            Table::Contest(table) => object["pieces"] = summary_json(&table.summary()),
        }
        return writeln!(out, "{object}");
    }
    writeln!(out, "{}: {bytes} bytes", path.display())?;
    match table {
        Table::Solo(table) => {
            writeln!(out, "turns {}", info.entry_name)?;
            for (turns, entries) in table.histogram().iter().enumerate() {
                writeln!(out, "{turns} {entries}")?;
            }
        }
        Table::Endgame(table) => {
            if let Some(slice) = args.slice {
                writeln!(out, "slice wins losses draws bytes")?;
                for (slice, Counts { wins, losses, draws }, bytes) in of_pair(table, slice) {
                    writeln!(out, "{slice} {wins} {losses} {draws} {bytes}")?;
                }
            }
            write_summary(&mut out, &table.summary())?;
        }
        Table::Contest(table) => write_summary(&mut out, &table.summary())?,
    }
    out.flush()?;
    match time {
        Some(time) => eprint_message(format_args!("built in {:.1} s", time.as_secs_f64())),
        None => eprint_message("already built; rebuild it with --force"),
    }
    Ok(())
}

/// A slice and that of the other side to move, with counts and sizes.
fn of_pair(table: &EndgameTable, slice: Slice) -> Vec<(Slice, Counts, u64)> {
    let mut slices = vec![slice, slice.swapped()];
    slices.dedup();
    let row = |slice| table.slice_summary(slice).map(|(counts, bytes)| (slice, counts, bytes));
    slices.into_iter().filter_map(row).collect()
}

fn write_summary(out: &mut impl Write, summary: &[PiecesSummary]) -> std::io::Result<()> {
    writeln!(out, "pieces wins losses draws longest-win bytes")?;
    for PiecesSummary { pieces, counts, longest, bytes } in summary {
        let Counts { wins, losses, draws } = counts;
        let longest = longest.map_or("-".into(), |plies| plies.to_string());
        writeln!(out, "{pieces} {wins} {losses} {draws} {longest} {bytes}")?;
    }
    Ok(())
}

fn summary_json(summary: &[PiecesSummary]) -> serde_json::Value {
    let rows = summary.iter().map(|row| {
        let Counts { wins, losses, draws } = row.counts;
        json!({
            "pieces": row.pieces, "wins": wins, "losses": losses, "draws": draws,
            "longest": row.longest, "bytes": row.bytes,
        })
    });
    rows.collect()
}

fn list(args: &List) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    let mut objects = Vec::new();
    for info in TABLES {
        let path = info.path();
        let state = info.open_checked();
        let (state, reason, table) = match state {
            TableState::Ok(table) => ("ok", None, Some(table)),
            state => (state.code(), state.reason(), None),
        };
        let bytes = match &table {
            Some(table) => table.bytes(),
            // Size of the broken file, or of the table that would be built.
            None => {
                let metadata = path.as_ref().and_then(|path| path.metadata().ok());
                let file = metadata.filter(|metadata| metadata.is_file());
                file.map_or(info.bytes, |file| file.len())
            }
        };
        let pieces = table.as_ref().and_then(Table::pieces);
        let TableInfo { game, name, build_time, benefit, .. } = info;
        let has_larger = |larger: &&LargerBuild| pieces.is_some_and(|most| most >= larger.pieces);
        let larger = info.larger.as_ref().filter(|larger| !has_larger(larger));
        if args.json {
            objects.push(json!({
                "game": game,
                "table": name,
                "state": state,
                "reason": reason,
                "path": path.map(|path| path.display().to_string()),
                "bytes": bytes,
                "pieces": pieces,
                "benefit": benefit,
                "build_time": build_time,
                "larger": larger.map(|larger| json!({
                    "pieces": larger.pieces,
                    "bytes": larger.bytes,
                    "benefit": larger.benefit,
                    "build_time": larger.build_time,
                })),
            }));
            continue;
        }
        let pieces = pieces.map(|pieces| format!("up to {pieces} pieces, ")).unwrap_or_default();
        let path = path.map(|path| format!(", {}", path.display())).unwrap_or_default();
        let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
        writeln!(out, "{game} {name}: {state}, {pieces}{bytes} bytes{path}{reason}")?;
        writeln!(out, "  {benefit}; `crownhead tables build {game}` takes {build_time}")?;
        if let Some(LargerBuild { pieces, bytes, build_time, benefit }) = larger {
            writeln!(
                out,
                "  {benefit}; `crownhead tables build {game} --pieces {pieces}` takes \
                 {build_time}, {bytes} bytes"
            )?;
        }
    }
    if args.json {
        writeln!(out, "{}", json!({ "tables": objects }))?;
    }
    Ok(())
}
