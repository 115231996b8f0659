//! `crownhead analyse`: analyses a position, or every move of recorded games.

use std::fs::File;
use std::io::{Read, Write};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context, anyhow};
use clap::value_parser;
use crownhead_analysis::{
    self as analysis, AnalysisError, AnalysisRequest, FileAnalysis, GameAnalysis, PositionSpec,
    Progress, json, judge_game, pdn, text,
};
use crownhead_cli::fleet::FleetArgs;
use crownhead_files::AtomicFile;
use crownhead_play::{Knowledge, counted, parse_duration};
use crownhead_records::{GameRecord, Reader, RecordError, RecordErrorKind, format_game};
use crownhead_report::html::analysis_page;
use crownhead_rules::Game;
use crownhead_search::{EngineConfig, SearchLimits};

use super::tables::missing_table;
use crate::failure::Failure;
use crate::knowledge::load_knowledge;
use crate::output::{LiveDisplay, colours_allowed, eprint_message, input_name, supports_ansi};
use crate::signals::stop_on_interrupt;

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  crownhead analyse --game english --moves \"11-15 22-18\" --depth 15 --lines 3
  crownhead analyse games.pdn --games 2-4 --time 1s --html games.html")]
pub(crate) struct Args {
    /// File of recorded games to analyse move by move; - is standard input
    #[arg(conflicts_with = "game")]
    file: Option<PathBuf>,
    /// Games of the file to analyse: 3 or 1,4-6 or 10- [default: all]
    #[arg(long, value_name = "NUMBERS", conflicts_with = "game")]
    games: Option<GameSelection>,
    /// Analyse a position of this game instead of a file
    #[arg(long, value_name = "GAME")]
    game: Option<Game>,
    /// Position [default: the start position]
    #[arg(long, value_name = "POSITION", allow_hyphen_values = true, conflicts_with = "file")]
    position: Option<String>,
    /// Moves to play first, for example "1. 11-15 22-18"
    #[arg(long, value_name = "MOVES", allow_hyphen_values = true, conflicts_with = "file")]
    moves: Option<String>,
    /// Time per position: 500ms, 2s, 1.5s [default: 5s, or 500ms for each move of a file, if there
    /// is no other limit]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    time: Option<Duration>,
    /// Depth per position
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=120))]
    depth: Option<u32>,
    /// Nodes per position
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..))]
    nodes: Option<u64>,
    /// Number of best lines to find (multi-PV)
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = value_parser!(u8).range(1..=100))]
    lines: u8,
    /// Search threads, capped at the number of cores; reproducible only with 1
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "fleet")]
    #[arg(value_parser = value_parser!(u16).range(1..=256))]
    threads: u16,
    /// Size of the transposition table in megabytes
    #[arg(long, value_name = "MB", default_value_t = 64)]
    #[arg(value_parser = value_parser!(u32).range(1..=65_536))]
    hash: u32,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Write the games with scores, marks and better lines to this file; - is standard output
    #[arg(long, value_name = "OUT", conflicts_with = "game")]
    pdn: Option<PathBuf>,
    /// Write an HTML page with a board to step through to this file; - is standard output
    #[arg(long, value_name = "OUT", conflicts_with = "game")]
    html: Option<PathBuf>,
    #[command(flatten)]
    fleet: FleetArgs,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let outputs = [args.pdn.as_deref(), args.html.as_deref()];
    let to_stdout = outputs.iter().flatten().filter(|path| is_dash(path)).count();
    if to_stdout + usize::from(args.json) > 1 {
        let message = "only one of --json, --pdn and --html can go to standard output";
        return Err(Failure::Usage(message.into()));
    }
    match (&args.file, &args.game) {
        (Some(path), _) => analyse_file(args, path),
        (None, Some(game)) => analyse_position(args, game),
        (None, None) => {
            let message = "nothing to analyse: give a file of games, or --game GAME for a position";
            Err(Failure::Usage(message.into()))
        }
    }
}

fn is_dash(path: &Path) -> bool {
    path == Path::new("-")
}

/// Returns the search settings. Without any limit, a position is searched for `default_time`.
fn request(args: &Args, default_time: Duration) -> AnalysisRequest {
    let Args { time, depth, nodes, .. } = args;
    let mut limits =
        SearchLimits { depth: *depth, nodes: *nodes, hard_time: *time, ..Default::default() };
    if is_unlimited(args) {
        limits.hard_time = Some(default_time);
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let engine = EngineConfig {
        threads: cores.min(args.threads.into()),
        hash_mb: args.hash as usize,
        ..EngineConfig::default()
    };
    AnalysisRequest { limits, engine, lines: args.lines.into() }
}

fn is_unlimited(args: &Args) -> bool {
    args.time.is_none() && args.depth.is_none() && args.nodes.is_none()
}

/// Reports the default time limit, if it is used.
fn report_default_time(args: &Args, request: &AnalysisRequest, unit: &str) {
    if let Some(time) = request.limits.hard_time.filter(|_| is_unlimited(args)) {
        let seconds = time.as_secs_f64();
        eprint_message(format_args!(
            "searching {seconds} s{unit}; change it with --time, --depth or --nodes"
        ));
    }
}

/// Loads the tables of a game. Reports a missing one, unless that was the `last_warning`.
fn load_tables(game: &Game, last_warning: &mut Option<String>) -> Knowledge {
    let (knowledge, warning) = load_knowledge(game);
    if let Some(warning) = warning.filter(|warning| last_warning.as_ref() != Some(warning)) {
        eprint_message(&warning);
        *last_warning = Some(warning);
    }
    knowledge
}

/// Converts an error; `context` precedes the message.
fn failure(error: AnalysisError, context: &str) -> Failure {
    match error {
        AnalysisError::Interrupted => Failure::Interrupted,
        AnalysisError::InvalidInput(message) => Failure::BadInput(format!("{context}{message}")),
        AnalysisError::OutOfMemory(message) => anyhow!(message).into(),
    }
}

fn analyse_position(args: &Args, game: &Game) -> Result<(), Failure> {
    if args.fleet.is_used()? {
        return Err(Failure::Usage("a fleet analyses games: give a file instead of --game".into()));
    }
    let position = PositionSpec {
        game,
        position: args.position.as_deref(),
        moves: args.moves.as_deref().unwrap_or_default(),
    };
    let request = request(args, Duration::from_secs(5));
    let sides = game.info().sides;
    let stop = stop_on_interrupt();
    let mut display = LiveDisplay::new();
    let mut is_started = false;
    let mut on_progress = |progress: &Progress| {
        // Not earlier: the position may be invalid or the game over.
        if !std::mem::replace(&mut is_started, true) {
            report_default_time(args, &request, "");
        }
        display.show(|| text::progress(progress, &sides));
    };
    let mut warning = None;
    let knowledge = load_tables(game, &mut warning);
    let result =
        analysis::analyse_position(&position, &request, &knowledge, &stop, &mut on_progress);
    display.clear();
    let result = result.map_err(|error| failure(error, ""))?;
    let missing = missing_table(game, &result.position, &knowledge);
    let mut out = std::io::stdout().lock();
    if args.json {
        let mut object = json::position(&result, &request.limits);
        object["missing_table"] = missing.clone().into();
        writeln!(out, "{object}")?;
    } else {
        out.write_all(text::position(&result).as_bytes())?;
    }
    out.flush()?;
    // A broken table has its message already.
    if let Some(missing) = missing.filter(|_| warning.is_none()) {
        eprint_message(&missing);
    }
    if result.end.is_none() && !args.json {
        let seconds = result.time.as_secs_f64();
        let rate = result.nodes as f64 / seconds.max(1e-6) / 1e6;
        eprint_message(format_args!(
            "depth {}, {} nodes in {seconds:.3} s ({rate:.1} million per second); + is good for {}",
            result.depth, result.nodes, sides[0].name
        ));
    }
    if stop.is_set() { Err(Failure::Interrupted) } else { Ok(()) }
}

fn analyse_file(args: &Args, path: &Path) -> Result<(), Failure> {
    let (games, errors) = read_games(path, args.games.as_ref())?;
    let has_all_games = errors.is_empty() && args.games.is_none();
    // Before the search, so that an error does not waste it.
    let (pdn_output, html_output) = open_outputs(args, path, has_all_games)?;
    let coordinator = args.fleet.join(None)?;
    let request = request(args, Duration::from_millis(500));
    report_default_time(args, &request, " per move");
    let stop = stop_on_interrupt();
    let (mut last_warning, mut missing) = (None, None);
    let mut display = LiveDisplay::new();
    let count = games.len();
    let name = input_name(path);
    let mut analysis =
        FileAnalysis { file: name.clone(), limits: request.limits, games: Vec::new(), errors };
    let mut annotated = String::new();
    let title = |index: usize| format!("game {} of {count}", index + 1);
    let context = |index: usize| format!("{name}, {}: ", title(index));
    let mut on_game = |index: usize, knowledge: &Knowledge, result: GameAnalysis| {
        missing = missing.take().or_else(|| missing_table_of_game(&result, knowledge));
        if pdn_output.is_some() {
            annotated.push_str(&format_game(&pdn::annotated(&result))?);
        }
        // A file can have thousands of games: collect them only for output as a whole.
        if html_output.is_some() || args.json {
            analysis.games.push(result);
        } else if pdn_output.is_none() {
            print_game(&result, index > 0)?;
        }
        Ok::<(), Failure>(())
    };
    match coordinator {
        None => {
            for (index, (number, record)) in games.iter().enumerate() {
                let sides = record.game.info().sides;
                let knowledge = load_tables(&record.game, &mut last_warning);
                let mut on_progress = |progress: &Progress| {
                    display.show(|| {
                        let mut lines = text::progress(progress, &sides);
                        let (done, positions) = progress.positions;
                        let title = title(index);
                        let line =
                            format!("{title}, position {} of {positions}, backwards", done + 1);
                        lines.insert(0, line);
                        lines
                    });
                };
                let result = analysis::analyse_game(
                    record,
                    *number,
                    &request,
                    &knowledge,
                    &stop,
                    &mut on_progress,
                );
                display.clear();
                let result = result.map_err(|error| failure(error, &context(index)))?;
                on_game(index, &knowledge, result)?;
            }
        }
        Some(coordinator) => {
            let run = args.fleet.run(name.clone(), games.iter().map(|(_, record)| &record.game));
            let is_complete =
                coordinator.analyse(run, &games, &request, &stop, |index, searched| {
                    let (number, record) = &games[index];
                    let knowledge = load_tables(&record.game, &mut last_warning);
                    let result = judge_game(record, *number, request.lines, searched)
                        .map_err(|error| failure(error, &context(index)))?;
                    display.clear();
                    on_game(index, &knowledge, result)?;
                    display.show(|| vec![format!("{} of {count} games", index + 1)]);
                    Ok::<(), Failure>(())
                })?;
            if !is_complete {
                display.clear();
                return Err(Failure::Interrupted);
            }
        }
    }
    display.finish(format_args!("Analysed {} of {name}", counted(count as u64, "game")));
    if let Some(missing) = missing.filter(|_| last_warning.is_none()) {
        eprint_message(&missing);
    }
    if let Some(output) = pdn_output {
        output.write(&annotated)?;
    }
    if let Some(output) = html_output {
        output.write(&analysis_page(&analysis))?;
    }
    if args.json {
        writeln!(std::io::stdout().lock(), "{}", json::file(&analysis))?;
    }
    if analysis.errors.is_empty() { Ok(()) } else { Err(Failure::BadInputReported) }
}

/// Names a table that would make the analysis of the end of a game exact and is not built.
fn missing_table_of_game(analysis: &GameAnalysis, knowledge: &Knowledge) -> Option<String> {
    let game = &analysis.record.game;
    // The last position may be the end of the game.
    let mut last = analysis.moves.iter().rev().take(2);
    last.find_map(|played| missing_table(game, &played.position, knowledge))
}

/// Opens the outputs of `--pdn` and `--html`. `has_all_games` means that no game of the file is
/// skipped.
fn open_outputs(
    args: &Args,
    path: &Path,
    has_all_games: bool,
) -> Result<(Option<OutputTarget>, Option<OutputTarget>), Failure> {
    let open = |path: &Option<PathBuf>| path.as_deref().map(OutputTarget::open).transpose();
    let (pdn, html) = (open(&args.pdn)?, open(&args.html)?);
    let replaces = |output: &Option<OutputTarget>, path: &Path| {
        let file = output.as_ref().and_then(|output| output.0.as_ref());
        file.is_some_and(|file| file.is_target(path))
    };
    let name = input_name(path);
    if args.html.as_deref().is_some_and(|html| replaces(&pdn, html)) {
        return Err(Failure::Usage("--pdn and --html name the same file".into()));
    }
    if replaces(&html, path) {
        let message = format!("{name} is unchanged: --html would replace the games with a page");
        return Err(Failure::Usage(message));
    }
    if replaces(&pdn, path) && !has_all_games {
        return Err(Failure::BadInput(format!(
            "{name} is unchanged: games that are not analysed would be lost"
        )));
    }
    Ok((pdn, html))
}

/// Destination of `--pdn` or `--html`: a file, or standard output if there is none.
struct OutputTarget(Option<AtomicFile>);

impl OutputTarget {
    fn open(path: &Path) -> std::io::Result<OutputTarget> {
        let file = (!is_dash(path)).then(|| AtomicFile::create(path));
        Ok(OutputTarget(file.transpose()?))
    }

    fn write(self, text: &str) -> std::io::Result<()> {
        match self.0 {
            None => std::io::stdout().lock().write_all(text.as_bytes()),
            Some(file) => file.write(text),
        }
    }
}

/// Prints the analysis of a game, after an empty line if it is not the first one.
fn print_game(game: &GameAnalysis, with_gap: bool) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    let is_coloured = colours_allowed() && supports_ansi(&out);
    let colours = if is_coloured { text::Colours::Terminal } else { text::Colours::None };
    if with_gap {
        writeln!(out)?;
    }
    out.write_all(text::game(game, colours).as_bytes())?;
    Ok(out.flush()?)
}

type Games = (Vec<(u64, GameRecord)>, Vec<RecordError>);

/// Reads the selected games of a file; reports and returns the errors in them.
fn read_games(path: &Path, selection: Option<&GameSelection>) -> Result<Games, Failure> {
    let name = input_name(path);
    let input: Box<dyn Read> = if is_dash(path) {
        Box::new(std::io::stdin().lock())
    } else {
        let file = File::open(path).with_context(|| format!("cannot open {name}"));
        // `crownhead analyse english`, as in other commands.
        let game = path.to_str().and_then(|path| path.parse::<Game>().ok());
        let file = match game {
            Some(game) => file.with_context(|| {
                format!("to analyse the start position of {game}, write --game {game}")
            }),
            None => file,
        };
        Box::new(file?)
    };
    let (mut games, mut errors, mut last) = (Vec::new(), Vec::new(), 0);
    for (number, result) in (1..).zip(Reader::new(input)) {
        if selection.is_some_and(|selection| number > selection.last()) {
            break;
        }
        last = number;
        let is_selected = selection.is_none_or(|selection| selection.contains(number));
        match result {
            Err(error) if error.kind == RecordErrorKind::Io => {
                return Err(anyhow!("{name}: {}", error.message).into());
            }
            Ok(record) if is_selected => games.push((number, record)),
            Err(error) if is_selected => {
                let RecordError { game, line, column, message, .. } = &error;
                eprint_message(format_args!("{name}:{line}:{column}: game {game}: {message}"));
                errors.push(error);
            }
            _ => {}
        }
    }
    if games.is_empty() && errors.is_empty() {
        return Err(Failure::BadInput(match (last, selection) {
            (0, _) | (_, None) => format!("{name} contains no games"),
            (1, _) => format!("{name} contains only game 1"),
            (last, _) => format!("{name} contains only games 1 to {last}"),
        }));
    }
    Ok((games, errors))
}

/// Game numbers: `3`, `1,4-6`, `10-`.
#[derive(Clone)]
struct GameSelection(Vec<RangeInclusive<u64>>);

impl GameSelection {
    fn contains(&self, number: u64) -> bool {
        self.0.iter().any(|range| range.contains(&number))
    }

    fn last(&self) -> u64 {
        self.0.iter().map(|range| *range.end()).max().unwrap_or(0)
    }
}

impl FromStr for GameSelection {
    type Err = String;

    fn from_str(text: &str) -> Result<GameSelection, String> {
        let invalid = |part: &str| {
            format!("invalid game numbers {part:?}: write 3, 1,4-6 or 10-, counting from 1")
        };
        let number = |part: &str| part.trim().parse::<u64>().ok().filter(|&number| number > 0);
        let range = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let first = number(first)?;
            let last = if last.trim().is_empty() { u64::MAX } else { number(last)? };
            (first <= last).then_some(first..=last)
        };
        let ranges = text.split(',').map(|part| range(part).ok_or_else(|| invalid(part)));
        ranges.collect::<Result<_, _>>().map(GameSelection)
    }
}
