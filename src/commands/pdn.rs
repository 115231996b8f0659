//! `crownhead pdn`: files of recorded games.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use crownhead_files::AtomicFile;
use crownhead_records::{GameRecord, Reader, RecordError, RecordErrorKind, WriteError, write_game};
use serde_json::json;

use super::{Failure, say};

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Read files, replay every game and report each error with its place
    Check(Check),
    /// Write the games of files anew, in strict PDN
    Convert(Convert),
}

#[derive(clap::Args)]
pub(crate) struct Check {
    /// The files to read; - is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print one JSON object (with the first 1000 errors of each file)
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
pub(crate) struct Convert {
    /// The files to read; - is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Write to this file instead of standard output; it is replaced only when all is written
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// How many errors of a file go into JSON: a file of nothing but errors must not fill the memory.
const LISTED_ERRORS: usize = 1000;

pub(crate) fn run(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Check(arguments) => check(arguments),
        Command::Convert(arguments) => convert(arguments),
    }
}

fn check(arguments: &Check) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    let mut files = Vec::new();
    let (mut any_error, mut any_failure) = (false, false);
    for path in &arguments.files {
        let mut listed = Vec::new();
        let mut plies = 0;
        let count_plies = |record: GameRecord| {
            plies += record.line.plies.len();
            Ok(())
        };
        let tally = read(path, count_plies, |error| {
            if !arguments.json {
                report(path, error);
            } else if listed.len() < LISTED_ERRORS {
                listed.push(json!({
                    "game": error.game,
                    "line": error.line,
                    "column": error.column,
                    "message": error.message,
                }));
            }
        });
        let tally = match tally {
            Ok(tally) => tally,
            Err(error) => {
                any_failure = true;
                say(format_args!("crownhead: {error:#}"));
                files.push(json!({ "file": name(path), "failure": format!("{error:#}") }));
                continue;
            }
        };
        any_error |= tally.errors > 0;
        if arguments.json {
            files.push(json!({
                "file": name(path),
                "games": tally.games,
                "plies": plies,
                "errors": tally.errors,
                "listed": listed,
            }));
        } else {
            let (games, errors) = (count(tally.games, "game"), count(tally.errors, "error"));
            let plies = if plies == 1 { "1 ply".into() } else { format!("{plies} plies") };
            print(&mut out, format_args!("{}: {games} read ({plies}), {errors}", name(path)))?;
        }
    }
    if arguments.json {
        print(&mut out, json!({ "files": files }))?;
    }
    match (any_failure, any_error) {
        (true, _) => Err(Failure::Reported),
        (false, true) => Err(Failure::BadInputReported),
        (false, false) => Ok(()),
    }
}

/// Prints a line. That nobody reads it changes nothing about the files.
fn print(out: &mut impl Write, line: impl std::fmt::Display) -> Result<(), std::io::Error> {
    match writeln!(out, "{line}") {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

fn convert(arguments: &Convert) -> Result<(), Failure> {
    let output = arguments.output.as_deref().filter(|path| *path != Path::new("-"));
    let Some(path) = output else {
        return convert_to(&mut BufWriter::new(std::io::stdout().lock()), None, &arguments.files);
    };
    let output = AtomicFile::create(path)?;
    let result = convert_to(&mut BufWriter::new(output.file()), Some(path), &arguments.files);
    match result {
        Err(Failure::BadInputReported)
            if arguments.files.iter().any(|file| output.is_target(file)) =>
        {
            // Replacing it would lose the games that could not be read.
            say(format_args!("crownhead: {} was left as it is", path.display()));
        }
        Ok(()) | Err(Failure::BadInputReported) => output.commit()?,
        _ => {}
    }
    result
}

/// Writes the games of all files to `out`; `output` is its name, if it is not standard output.
fn convert_to(
    out: &mut impl Write,
    output: Option<&Path>,
    files: &[PathBuf],
) -> Result<(), Failure> {
    // With a name the error is no longer one of standard output, whose reader may go away.
    let cannot = |error: std::io::Error| match output {
        Some(path) => anyhow!("{} could not be written: {error}", path.display()),
        None => error.into(),
    };
    let mut errors = 0;
    for path in files {
        let write = |record: GameRecord| {
            write_game(out, &record).map_err(|error| match error {
                WriteError::Io(error) => cannot(error),
                WriteError::Record(why) => anyhow!(why),
            })
        };
        errors += read(path, write, |error| report(path, error))?.errors;
    }
    out.flush().map_err(cannot)?;
    if errors > 0 {
        let games = if errors == 1 { "1 game was".into() } else { format!("{errors} games were") };
        say(format_args!("crownhead: {games} left out"));
        return Err(Failure::BadInputReported);
    }
    Ok(())
}

/// What was in a file.
struct Tally {
    games: u64,
    errors: u64,
}

/// Hands every game and every error of a file on, and fails only where the file cannot be read.
fn read(
    path: &Path,
    mut game: impl FnMut(GameRecord) -> Result<(), anyhow::Error>,
    mut error: impl FnMut(&RecordError),
) -> Result<Tally, anyhow::Error> {
    let input: Box<dyn Read> = if path == Path::new("-") {
        Box::new(std::io::stdin().lock())
    } else {
        Box::new(File::open(path).with_context(|| format!("{} could not be opened", name(path)))?)
    };
    let mut tally = Tally { games: 0, errors: 0 };
    for result in Reader::new(BufReader::with_capacity(1 << 16, input)) {
        match result {
            Ok(record) => {
                tally.games += 1;
                game(record)?;
            }
            Err(fault) if fault.kind == RecordErrorKind::Io => {
                return Err(anyhow!("{}: {}", name(path), fault.message));
            }
            Err(fault) => {
                tally.errors += 1;
                error(&fault);
            }
        }
    }
    Ok(tally)
}

fn report(path: &Path, error: &RecordError) {
    let RecordError { game, line, column, message, .. } = error;
    say(format_args!("{}:{line}:{column}: game {game}: {message}", name(path)));
}

fn name(path: &Path) -> String {
    if path == Path::new("-") { "standard input".into() } else { path.display().to_string() }
}

fn count(number: u64, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}
