//! `tournament report`: a report as web pages and as JSON.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, anyhow};
use clap::value_parser;
use crownhead_analysis::{AnalysisError, AnalysisRequest, GameAnalysis, analyse_game};
use crownhead_bots::log;
use crownhead_files::write_atomic;
use crownhead_play::{StopFlag, parse_duration};
use crownhead_report::data::GameLog;
use crownhead_report::{Report, ReportInput, html};
use crownhead_rules::{Game, Side};
use crownhead_search::{EngineConfig, SearchLimits};
use crownhead_tournament::config;
use crownhead_tournament::journal::{GameDetails, Journal, Snapshot};

use super::show::{parse_game, read_snapshot, record, write_pdn};
use super::{games_text, journal_failure};
use crate::failure::Failure;
use crate::knowledge::load_or_warn;
use crate::output::{LiveDisplay, eprint_message};
use crate::signals::stop_on_interrupt;

/// Nodes per position of `--analyse` if no limit is given.
const DEFAULT_NODES: u64 = 20_000;
/// Size of the transposition table of each analysing thread, in megabytes.
const HASH_MB: usize = 16;
/// Maximum size of a log that is read.
const MAX_LOG_BYTES: u64 = 4 << 20;

/// Args of `crownhead tournament report`.
#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("output")
    .args(["html", "per_player", "json"])
    .required(true)
    .multiple(true))]
#[command(after_help = "\
Examples:
  crownhead tournament report class.toml --html report
  crownhead tournament report class.toml --analyse --html report --per-player feedback")]
pub struct Args {
    /// Tournament file or journal
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Write the report to this folder, with the games as PDN; or to one file if the name ends in
    /// .html
    #[arg(long, value_name = "DIR")]
    html: Option<PathBuf>,
    /// Write a page for each player to this folder, with the log lines of its faults
    #[arg(long, value_name = "DIR")]
    per_player: Option<PathBuf>,
    /// Judge every move of every game
    #[arg(long)]
    analyse: bool,
    /// Time per position for --analyse [default: 20000 nodes, if there is no other limit]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, requires = "analyse")]
    time: Option<Duration>,
    /// Depth per position for --analyse
    #[arg(
        long,
        value_name = "N",
        value_parser = value_parser!(u32).range(1..=120),
        requires = "analyse"
    )]
    depth: Option<u32>,
    /// Nodes per position for --analyse
    #[arg(
        long,
        value_name = "N",
        value_parser = value_parser!(u64).range(1..),
        requires = "analyse"
    )]
    nodes: Option<u64>,
    /// Number of games analysed in parallel [default: number of cores]
    #[arg(
        long,
        value_name = "N",
        value_parser = value_parser!(u16).range(1..=256),
        requires = "analyse"
    )]
    threads: Option<u16>,
    /// Folder with the logs of the bots [default: that of the tournament file]
    #[arg(long, value_name = "DIR")]
    log: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn report(args: &Args) -> Result<(), Failure> {
    let (journal, snapshot) = read_snapshot(&args.file)?;
    let game = parse_game(&snapshot)?;
    let mut details = HashMap::new();
    for (finished, _) in snapshot.finished() {
        let number = finished.number;
        details.insert(number, journal.game_details(number).map_err(journal_failure)?);
    }
    let logs = match log_folder(args) {
        Some(folder) => read_logs(&folder, &snapshot, &game),
        None => HashMap::new(),
    };
    let analyses = match args.analyse {
        true => analyse(args, &snapshot, &game, &details)?,
        false => HashMap::new(),
    };
    let input =
        ReportInput { snapshot: &snapshot, details: &details, analyses: &analyses, logs: &logs };
    let report = Report::new(&input).map_err(Failure::BadInput)?;
    if let Some(path) = &args.html {
        write_report(path, &report, &journal, &snapshot)?;
    }
    if let Some(folder) = &args.per_player {
        write_players(folder, &report)?;
    }
    if args.json {
        let json = serde_json::to_string(&report).context("cannot format the report")?;
        writeln!(std::io::stdout().lock(), "{json}")?;
    }
    Ok(())
}

/// Writes a folder with the page and the games; or a single page.
fn write_report(
    path: &Path,
    report: &Report,
    journal: &Journal,
    snapshot: &Snapshot,
) -> Result<(), Failure> {
    let games_text = games_text(report.games.len());
    let page = if path.extension().is_some_and(|extension| extension == "html") {
        write_atomic(path, &html::report_page(report, None))?;
        path.to_path_buf()
    } else {
        create_folder(path)?;
        let games: Vec<_> = snapshot.games.iter().collect();
        write_pdn(&path.join("games.pdn"), journal, snapshot, &games, true)?;
        // Last: a page that is there has its files.
        write_atomic(&path.join("index.html"), &html::report_page(report, Some("games.pdn")))?;
        path.join("index.html")
    };
    eprint_message(format_args!("wrote {} with {games_text}", page.display()));
    Ok(())
}

/// Writes one page per player.
fn write_players(folder: &Path, report: &Report) -> Result<(), Failure> {
    create_folder(folder)?;
    // The folder may be that of the report, whose page is not to be replaced.
    let mut used = HashSet::from(["index.html".to_string()]);
    let mut count = 0;
    for (player, name) in report.names.iter().enumerate() {
        let Some(page) = html::player_page(report, player) else { continue };
        write_atomic(&folder.join(page_name(name, &mut used)), &page)?;
        count += 1;
    }
    eprint_message(format_args!("wrote {count} player pages to {}", folder.display()));
    Ok(())
}

/// Returns a file name that no other player has, also where case does not matter.
fn page_name(name: &str, used: &mut HashSet<String>) -> String {
    let is_safe = |c: char| c.is_alphanumeric() || "_-".contains(c);
    // A file name may have 255 bytes, and a character four.
    let safe: String = name.chars().take(60).map(|c| if is_safe(c) { c } else { '-' }).collect();
    let safe = match safe.trim_matches('-') {
        "" => "player",
        safe => safe,
    };
    let numbered = |number: u32| match number {
        1 => format!("{safe}.html"),
        number => format!("{safe}-{number}.html"),
    };
    let is_free = |name: &String| !used.contains(&name.to_lowercase());
    let name = (1..).map(numbered).find(is_free).unwrap_or_default();
    used.insert(name.to_lowercase());
    name
}

fn create_folder(path: &Path) -> Result<(), Failure> {
    let created = std::fs::create_dir_all(path);
    Ok(created.with_context(|| format!("cannot create {}", path.display()))?)
}

/// Returns the folder with the logs: as given, or as in the tournament file.
fn log_folder(args: &Args) -> Option<PathBuf> {
    args.log.clone().or_else(|| config::read_file(&args.file).ok()?.0.log)
}

/// Reads the logs that exist.
fn read_logs(folder: &Path, snapshot: &Snapshot, game: &Game) -> HashMap<(i64, usize), GameLog> {
    let mut logs = HashMap::new();
    for (finished, _) in snapshot.finished() {
        for (index, side) in [Side::First, Side::Second].into_iter().enumerate() {
            let name = &snapshot.players[finished.players[index]].name;
            let file = log::file_name(game, finished.number.unsigned_abs(), side, name);
            let Ok(file) = File::open(folder.join(file)) else { continue };
            let mut bytes = Vec::new();
            // A log that cannot be read is like one that does not exist.
            if file.take(MAX_LOG_BYTES).read_to_end(&mut bytes).is_ok() {
                let log = GameLog::parse(&String::from_utf8_lossy(&bytes));
                logs.insert((finished.number, index), log);
            }
        }
    }
    logs
}

/// Analyses all finished games, several at a time.
fn analyse(
    args: &Args,
    snapshot: &Snapshot,
    game: &Game,
    details: &HashMap<i64, GameDetails>,
) -> Result<HashMap<i64, GameAnalysis>, Failure> {
    let is_unlimited = args.time.is_none() && args.depth.is_none() && args.nodes.is_none();
    let request = AnalysisRequest {
        limits: SearchLimits {
            depth: args.depth,
            nodes: args.nodes.or_else(|| is_unlimited.then_some(DEFAULT_NODES)),
            hard_time: args.time,
            ..SearchLimits::default()
        },
        engine: EngineConfig { threads: 1, hash_mb: HASH_MB, ..EngineConfig::default() },
        lines: 1,
    };
    let knowledge = load_or_warn(game);
    let games: Vec<_> = snapshot.finished().collect();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = args.threads.map_or(cores, usize::from).min(games.len()).max(1);
    let (next, stop) = (AtomicUsize::new(0), stop_on_interrupt());
    let results = Mutex::new((HashMap::new(), LiveDisplay::new()));
    let work = || -> Result<(), Failure> {
        while let Some((finished, summary)) = games.get(next.fetch_add(1, Ordering::Relaxed)) {
            let Some(details) = details.get(&finished.number) else { continue };
            let record = record(game, finished, summary, details, snapshot);
            let number = finished.number.unsigned_abs();
            let analysis = analyse_game(&record, number, &request, &knowledge, &stop, &mut |_| {})
                .map_err(|error| failure(error, finished.number, &stop))?;
            let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
            let (analyses, display) = &mut *results;
            analyses.insert(finished.number, analysis);
            let done = analyses.len();
            display.show(|| vec![format!("analysed {done} of {}", games_text(games.len()))]);
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let join = |handle: std::thread::ScopedJoinHandle<'_, Result<(), Failure>>| {
            handle.join().unwrap_or_else(|_| Err(anyhow!("the analysis panicked").into()))
        };
        handles.into_iter().map(join).collect::<Vec<_>>().into_iter().collect::<Result<(), _>>()
    })?;
    let (analyses, mut display) = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    display.clear();
    Ok(analyses)
}

/// Converts an error and stops the other threads.
fn failure(error: AnalysisError, game: i64, stop: &StopFlag) -> Failure {
    stop.set();
    match error {
        AnalysisError::Interrupted => Failure::Interrupted,
        AnalysisError::InvalidInput(message) => {
            Failure::BadInput(format!("game {game}: {message}"))
        }
        AnalysisError::OutOfMemory(message) => anyhow!(message).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_player_has_a_file_name_of_its_own() {
        let mut used = HashSet::from(["index.html".to_string()]);
        let names = ["Ada", "ada", "../x", "<img src=x>", "", "日本", "Index"];
        let names: Vec<_> = names.iter().map(|name| page_name(name, &mut used)).collect();
        let expected = ["Ada", "ada-2", "x", "img-src-x", "player", "日本", "Index-2"]
            .map(|s| s.to_string() + ".html");
        assert_eq!(names, expected);
        assert!(page_name(&"𠮷".repeat(1000), &mut used).len() <= 255);
    }
}
