//! `crownhead pdn`: checks and converts files of recorded games.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use crownhead_files::AtomicFile;
use crownhead_play::counted;
use crownhead_records::{GameRecord, WriteError, write_game};
use serde_json::json;

use crate::failure::Failure;
use crate::game_files::{read, report};
use crate::output::{eprint_message, input_name};

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Replay every game of the files and report each error with line and column
    Check(Check),
    /// Rewrite files of games in strict PDN
    Convert(Convert),
}

#[derive(clap::Args)]
pub(crate) struct Check {
    /// Files to read; - is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print one JSON object (with the first 1000 errors of each file)
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
pub(crate) struct Convert {
    /// Files to read; - is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Output file, replaced only if everything could be written [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Maximum number of errors per file in JSON, to bound the memory.
const MAX_LISTED_ERRORS: usize = 1000;

pub(crate) fn run(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Check(args) => check(args),
        Command::Convert(args) => convert(args),
    }
}

fn check(args: &Check) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    let mut files = Vec::new();
    let (mut has_errors, mut has_failures) = (false, false);
    for path in &args.files {
        let mut listed = Vec::new();
        let mut plies = 0;
        let count_plies = |record: GameRecord| {
            plies += record.line.plies.len();
            Ok(())
        };
        let counts = read(path, count_plies, |error| {
            if !args.json {
                report(path, error);
            } else if listed.len() < MAX_LISTED_ERRORS {
                listed.push(json!({
                    "game": error.game,
                    "line": error.line,
                    "column": error.column,
                    "message": error.message,
                }));
            }
        });
        let counts = match counts {
            Ok(counts) => counts,
            Err(error) => {
                has_failures = true;
                eprint_message(format_args!("crownhead: {error:#}"));
                files.push(json!({ "file": input_name(path), "failure": format!("{error:#}") }));
                continue;
            }
        };
        has_errors |= counts.errors > 0;
        if args.json {
            files.push(json!({
                "file": input_name(path),
                "games": counts.games,
                "plies": plies,
                "errors": counts.errors,
                "listed": listed,
            }));
        } else {
            let (games, errors) = (counted(counts.games, "game"), counted(counts.errors, "error"));
            let plies = counted(plies as u64, "ply");
            print_line(
                &mut out,
                format_args!("{}: {games} read ({plies}), {errors}", input_name(path)),
            )?;
        }
    }
    if args.json {
        print_line(&mut out, json!({ "files": files }))?;
    }
    match (has_failures, has_errors) {
        (true, _) => Err(Failure::Reported),
        (false, true) => Err(Failure::BadInputReported),
        (false, false) => Ok(()),
    }
}

/// Prints a line. If the reader is gone, the files are still checked for the exit code.
fn print_line(out: &mut impl Write, line: impl std::fmt::Display) -> Result<(), std::io::Error> {
    match writeln!(out, "{line}") {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

fn convert(args: &Convert) -> Result<(), Failure> {
    let output = args.output.as_deref().filter(|path| *path != Path::new("-"));
    let Some(path) = output else {
        return convert_to(&mut BufWriter::new(std::io::stdout().lock()), &args.files);
    };
    let output = AtomicFile::create(path)?;
    let result = convert_to(&mut BufWriter::new(&output), &args.files);
    match result {
        Err(Failure::BadInputReported) if args.files.iter().any(|file| output.is_target(file)) => {
            // Replacing the input would lose the games that could not be read.
            eprint_message(format_args!("crownhead: {} is unchanged", path.display()));
        }
        Ok(()) | Err(Failure::BadInputReported) => output.commit()?,
        _ => {}
    }
    result
}

/// Writes the games of all files to `out`.
fn convert_to(out: &mut impl Write, files: &[PathBuf]) -> Result<(), Failure> {
    let mut errors = 0;
    for path in files {
        let write = |record: GameRecord| {
            write_game(out, &record).map_err(|error| match error {
                // An I/O error stays one: it may be a broken pipe.
                WriteError::Io(error) => error.into(),
                WriteError::Record(reason) => anyhow!(reason),
            })
        };
        errors += read(path, write, |error| report(path, error))?.errors;
    }
    out.flush()?;
    if errors > 0 {
        eprint_message(format_args!("crownhead: skipped {}", counted(errors, "game")));
        return Err(Failure::BadInputReported);
    }
    Ok(())
}
