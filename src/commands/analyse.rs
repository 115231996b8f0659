//! `crownhead analyse`: the best lines of a position, or every move of recorded games.

use std::fs::File;
use std::io::{Read, Write};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use clap::value_parser;
use console::Term;
use crownhead_files::AtomicFile;
use crownhead_play::analysis::{
    self, AnalysisError, AnalysisRequest, FileAnalysis, GameAnalysis, PositionSpec, Progress, html,
    json, pdn, text,
};
use crownhead_play::{Knowledge, parse_duration};
use crownhead_records::{GameRecord, Reader, RecordError, RecordErrorKind, format_game};
use crownhead_rules::{Game, SideInfo};
use crownhead_search::{EngineConfig, SearchLimits};

use super::play::has_colour;
use super::tables::load_knowledge;
use super::{Failure, can_draw, say, stop_on_interrupt};

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  crownhead analyse --game english --moves \"11-15 22-18\" --depth 15 --lines 3
  crownhead analyse games.pdn --games 2-4 --time 1s --html games.html")]
pub(crate) struct Arguments {
    /// A file of recorded games, each to be analysed move by move; - is standard input
    #[arg(conflicts_with = "game")]
    file: Option<PathBuf>,
    /// Which games of the file: 3, 1,4-6, 10-
    #[arg(long, value_name = "NUMBERS", conflicts_with = "game")]
    games: Option<Choice>,
    /// Analyse a position of this game instead of a file: its start, if nothing else is said
    #[arg(long, value_name = "GAME")]
    game: Option<Game>,
    /// The position
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, conflicts_with = "file")]
    position: Option<String>,
    /// Moves to play first, with blanks between them
    #[arg(long, value_name = "MOVES", allow_hyphen_values = true, conflicts_with = "file")]
    moves: Option<String>,
    /// Search each position so long: 500ms, 2s, 1.5s [default: 5s, or 500ms a move of a file]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    time: Option<Duration>,
    /// Search each position so deep
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=120))]
    depth: Option<u32>,
    /// Search so many nodes for each position
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..))]
    nodes: Option<u64>,
    /// How many best lines to find
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u8).range(1..=100))]
    lines: u8,
    /// How many threads search; more than the machine has cores are not started, and only one
    /// finds the same every time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u16).range(1..=256))]
    threads: u16,
    /// Megabytes of memory for positions seen before
    #[arg(long, value_name = "MB", default_value_t = 64, value_parser = value_parser!(u32).range(1..=65_536))]
    hash: u32,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Write the games with scores, marks and better lines to this file; - is standard output
    #[arg(long, value_name = "OUT", conflicts_with = "game")]
    pdn: Option<PathBuf>,
    /// Write one page with a board to step through to this file; - is standard output
    #[arg(long, value_name = "OUT", conflicts_with = "game")]
    html: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let printed = [arguments.pdn.as_deref(), arguments.html.as_deref()];
    let printed = printed.iter().flatten().filter(|path| is_standard(path)).count();
    if printed + usize::from(arguments.json) > 1 {
        let message = "only one of --json, --pdn and --html can go to standard output";
        return Err(Failure::Usage(message.into()));
    }
    match (&arguments.file, &arguments.game) {
        (Some(path), _) => file(arguments, path),
        (None, Some(game)) => position(arguments, game),
        (None, None) => {
            let message = "a file of games, or --game GAME for a position of it, is to be named";
            Err(Failure::Usage(message.into()))
        }
    }
}

fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

/// What to search with; without any limit it is `usual`.
fn request(arguments: &Arguments, usual: Duration) -> AnalysisRequest {
    let Arguments { time, depth, nodes, .. } = arguments;
    let mut limits =
        SearchLimits { depth: *depth, nodes: *nodes, hard_time: *time, soft_time: None };
    if is_unlimited(arguments) {
        limits.hard_time = Some(usual);
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let settings = EngineConfig {
        threads: cores.min(arguments.threads.into()),
        hash_mb: arguments.hash as usize,
        ..EngineConfig::default()
    };
    AnalysisRequest { limits, engine: settings, lines: arguments.lines.into() }
}

fn is_unlimited(arguments: &Arguments) -> bool {
    arguments.time.is_none() && arguments.depth.is_none() && arguments.nodes.is_none()
}

/// Says how long is searched where nobody asked for it.
fn say_usual(arguments: &Arguments, request: &AnalysisRequest, each: &str) {
    if let Some(time) = request.limits.hard_time.filter(|_| is_unlimited(arguments)) {
        let seconds = time.as_secs_f64();
        say(format_args!("searching {seconds} s{each}; --time, --depth or --nodes say otherwise"));
    }
}

/// What is known about a game. What is missing is said, unless it was what was said `before`.
fn knowledge(game: &Game, before: &mut Option<String>) -> Knowledge {
    let (knowledge, missing) = load_knowledge(game);
    if let Some(missing) = missing.filter(|missing| before.as_ref() != Some(missing)) {
        say(&missing);
        *before = Some(missing);
    }
    knowledge
}

/// The failure, with the game it is about in front.
fn failure(error: AnalysisError, about: &str) -> Failure {
    match error {
        AnalysisError::Interrupted => Failure::Interrupted,
        AnalysisError::InvalidInput(message) => Failure::BadInput(format!("{about}{message}")),
        AnalysisError::OutOfMemory(message) => anyhow!(message).into(),
    }
}

fn position(arguments: &Arguments, game: &Game) -> Result<(), Failure> {
    let place = PositionSpec {
        game,
        position: arguments.position.as_deref(),
        moves: arguments.moves.as_deref().unwrap_or_default(),
    };
    let request = request(arguments, Duration::from_secs(5));
    let sides = game.info().sides;
    let stop = stop_on_interrupt();
    let mut live = Live::new();
    let mut begun = false;
    let mut heard = |progress: &Progress| {
        // Not before: the position may be refused, or the game may be over.
        if !std::mem::replace(&mut begun, true) {
            say_usual(arguments, &request, "");
        }
        live.show(None, progress, &sides);
    };
    let knowledge = knowledge(game, &mut None);
    let found = analysis::analyse_position(&place, &request, &knowledge, &stop, &mut heard);
    live.clear();
    let found = found.map_err(|error| failure(error, ""))?;
    let mut out = std::io::stdout().lock();
    if arguments.json {
        writeln!(out, "{}", json::position(&found, &request.limits))?;
    } else {
        out.write_all(text::position(&found).as_bytes())?;
    }
    out.flush()?;
    if found.end.is_none() && !arguments.json {
        let seconds = found.time.as_secs_f64();
        let rate = found.nodes as f64 / seconds.max(1e-6) / 1e6;
        say(format_args!(
            "depth {}, {} nodes in {seconds:.3} s ({rate:.1} million a second); + is good for {}",
            found.depth, found.nodes, sides[0].name
        ));
    }
    if stop.is_set() { Err(Failure::Interrupted) } else { Ok(()) }
}

fn file(arguments: &Arguments, path: &Path) -> Result<(), Failure> {
    let (games, errors) = read(path, arguments.games.as_ref())?;
    let whole = errors.is_empty() && arguments.games.is_none();
    // Before the work, so that none is done in vain.
    let (pdn_output, html_output) = outputs(arguments, path, whole)?;
    let request = request(arguments, Duration::from_millis(500));
    say_usual(arguments, &request, " a move");
    let stop = stop_on_interrupt();
    let mut missing = None;
    let mut live = Live::new();
    let count = games.len();
    let mut analysis =
        FileAnalysis { file: name(path), limits: request.limits, games: Vec::new(), errors };
    let mut annotated = String::new();
    for (index, (number, record)) in games.into_iter().enumerate() {
        let sides = record.game.info().sides;
        let knowledge = knowledge(&record.game, &mut missing);
        let title = format!("game {} of {count}", index + 1);
        let mut heard = |progress: &Progress| live.show(Some(&title), progress, &sides);
        let found =
            analysis::analyse_game(&record, number, &request, &knowledge, &stop, &mut heard);
        live.clear();
        let found = found.map_err(|error| failure(error, &format!("{}, {title}: ", name(path))))?;
        if pdn_output.is_some() {
            annotated.push_str(&format_game(&pdn::annotated(&found))?);
        }
        // A file can have thousands of games: they are kept only for what needs them together.
        if html_output.is_some() || arguments.json {
            analysis.games.push(found);
        } else if pdn_output.is_none() {
            print_game(&found, index > 0)?;
        }
    }
    if let Some(output) = pdn_output {
        output.write(&annotated)?;
    }
    if let Some(output) = html_output {
        output.write(&html::page(&analysis))?;
    }
    if arguments.json {
        writeln!(std::io::stdout().lock(), "{}", json::file(&analysis))?;
    }
    if analysis.errors.is_empty() { Ok(()) } else { Err(Failure::BadInputReported) }
}

/// Where `--pdn` and `--html` go to, `whole` being that all games of the file are analysed.
fn outputs(
    arguments: &Arguments,
    path: &Path,
    whole: bool,
) -> Result<(Option<Output>, Option<Output>), Failure> {
    let output = |path: &Option<PathBuf>| path.as_deref().map(Output::new).transpose();
    let (pdn, html) = (output(&arguments.pdn)?, output(&arguments.html)?);
    let replaces = |output: &Option<Output>, path: &Path| {
        let file = output.as_ref().and_then(|output| output.0.as_ref());
        file.is_some_and(|file| file.is_target(path))
    };
    let name = name(path);
    if arguments.html.as_deref().is_some_and(|html| replaces(&pdn, html)) {
        return Err(Failure::Usage("--pdn and --html name the same file".into()));
    }
    if replaces(&html, path) {
        let message = format!("{name} was left as it is: --html would put a page in its place");
        return Err(Failure::Usage(message));
    }
    if replaces(&pdn, path) && !whole {
        return Err(Failure::BadInput(format!(
            "{name} was left as it is: games that are not analysed would be lost"
        )));
    }
    Ok((pdn, html))
}

/// Where a format goes to: a file or, without one, standard output.
struct Output(Option<AtomicFile>);

impl Output {
    fn new(path: &Path) -> std::io::Result<Output> {
        let file = (!is_standard(path)).then(|| AtomicFile::create(path));
        Ok(Output(file.transpose()?))
    }

    fn write(self, text: &str) -> std::io::Result<()> {
        match self.0 {
            None => std::io::stdout().lock().write_all(text.as_bytes()),
            Some(file) => file.write(text),
        }
    }
}

fn print_game(game: &GameAnalysis, again: bool) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    let coloured = has_colour() && can_draw(&out);
    let colours = if coloured { text::Colours::Terminal } else { text::Colours::None };
    if again {
        writeln!(out)?;
    }
    out.write_all(text::game(game, colours).as_bytes())?;
    Ok(out.flush()?)
}

type Games = (Vec<(u64, GameRecord)>, Vec<RecordError>);

/// The chosen games of a file, and the errors in them, which are reported.
fn read(path: &Path, choice: Option<&Choice>) -> Result<Games, Failure> {
    let input: Box<dyn Read> = if is_standard(path) {
        Box::new(std::io::stdin().lock())
    } else {
        let opened =
            File::open(path).with_context(|| format!("{} could not be opened", name(path)));
        // A game's name is easily taken for the argument that other commands have.
        let game = path.to_str().and_then(|path| path.parse::<Game>().ok());
        let opened = match game {
            Some(game) => opened
                .with_context(|| format!("the start of a game is analysed with --game {game}")),
            None => opened,
        };
        Box::new(opened?)
    };
    let (mut games, mut errors, mut last) = (Vec::new(), Vec::new(), 0);
    for (number, result) in (1..).zip(Reader::new(input)) {
        if choice.is_some_and(|choice| number > choice.last()) {
            break;
        }
        last = number;
        let chosen = choice.is_none_or(|choice| choice.has(number));
        match result {
            Err(error) if error.kind == RecordErrorKind::Io => {
                return Err(anyhow!("{}: {}", name(path), error.message).into());
            }
            Ok(record) if chosen => games.push((number, record)),
            Err(error) if chosen => {
                let RecordError { game, line, column, message, .. } = &error;
                say(format_args!("{}:{line}:{column}: game {game}: {message}", name(path)));
                errors.push(error);
            }
            _ => {}
        }
    }
    if games.is_empty() && errors.is_empty() {
        let name = name(path);
        return Err(Failure::BadInput(match (last, choice) {
            (0, _) | (_, None) => format!("{name}: the file has no games"),
            (1, _) => format!("{name}: there is one game in it, and another was asked for"),
            (last, _) => format!("{name}: the games in it have the numbers 1 to {last}"),
        }));
    }
    Ok((games, errors))
}

fn name(path: &Path) -> String {
    if is_standard(path) { "standard input".into() } else { path.display().to_string() }
}

/// A block of lines on standard error that is drawn over itself while a search goes on; on anything
/// but a terminal, nothing.
struct Live {
    on: bool,
    drawn: Option<Instant>,
    height: usize,
}

/// Drawing more often would only flicker.
const PAUSE: Duration = Duration::from_millis(60);

impl Live {
    fn new() -> Live {
        let on = can_draw(&std::io::stderr());
        Live { on, drawn: None, height: 0 }
    }

    fn show(&mut self, title: Option<&str>, progress: &Progress, sides: &[SideInfo; 2]) {
        if !self.on || self.drawn.is_some_and(|drawn| drawn.elapsed() < PAUSE) {
            return;
        }
        let mut block = text::progress(progress, sides);
        if let Some(title) = title {
            let (done, all) = progress.positions;
            block.insert(0, format!("{title}, position {} of {all}, from the last", done + 1));
        }
        self.draw(&block);
        self.drawn = Some(Instant::now());
    }

    fn draw(&mut self, block: &[String]) {
        // What has left the screen at its top cannot be drawn over, nor what fills two rows.
        let (rows, columns) = Term::stderr().size();
        let (rows, columns) = (usize::from(rows), usize::from(columns));
        let block = &block[..block.len().min(rows.saturating_sub(1).max(1))];
        let mut text = String::new();
        if self.height > 0 {
            text.push_str(&format!("\x1b[{}A", self.height));
        }
        text.push_str("\r\x1b[J");
        for line in block {
            text.extend(line.chars().take(columns));
            text.push('\n');
        }
        self.height = block.len();
        let mut err = std::io::stderr().lock();
        let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
    }

    fn clear(&mut self) {
        if self.height > 0 {
            self.draw(&[]);
        }
        self.drawn = None;
    }
}

/// Numbers of games: `3`, `1,4-6`, `10-`.
#[derive(Clone)]
struct Choice(Vec<RangeInclusive<u64>>);

impl Choice {
    fn has(&self, number: u64) -> bool {
        self.0.iter().any(|range| range.contains(&number))
    }

    fn last(&self) -> u64 {
        self.0.iter().map(|range| *range.end()).max().unwrap_or(0)
    }
}

impl FromStr for Choice {
    type Err = String;

    fn from_str(text: &str) -> Result<Choice, String> {
        let wrong = |part: &str| {
            format!("{part:?} names no games: they are counted from 1, as in 3, 1,4-6 or 10-")
        };
        let number = |part: &str| part.trim().parse::<u64>().ok().filter(|&number| number > 0);
        let range = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let first = number(first)?;
            let last = if last.trim().is_empty() { u64::MAX } else { number(last)? };
            (first <= last).then_some(first..=last)
        };
        let ranges = text.split(',').map(|part| range(part).ok_or_else(|| wrong(part)));
        ranges.collect::<Result<_, _>>().map(Choice)
    }
}
