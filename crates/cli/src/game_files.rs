//! Reads files of recorded games.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, anyhow};
use crownhead_records::{GameRecord, Reader, RecordError, RecordErrorKind};

use crate::output::{eprint_message, input_name};

/// Contents of a file.
pub struct Counts {
    /// Number of games.
    pub games: u64,
    /// Number of games that could not be read.
    pub errors: u64,
}

/// Reads a file and passes on every game and every error. Fails if the file is unreadable.
pub fn read(
    path: &Path,
    mut on_game: impl FnMut(GameRecord) -> Result<(), anyhow::Error>,
    mut on_error: impl FnMut(&RecordError),
) -> Result<Counts, anyhow::Error> {
    let input: Box<dyn Read> = if path == Path::new("-") {
        Box::new(std::io::stdin().lock())
    } else {
        Box::new(File::open(path).with_context(|| format!("cannot open {}", input_name(path)))?)
    };
    let mut counts = Counts { games: 0, errors: 0 };
    for result in Reader::new(input) {
        match result {
            Ok(record) => {
                counts.games += 1;
                on_game(record)?;
            }
            Err(error) if error.kind == RecordErrorKind::Io => {
                return Err(anyhow!("{}: {}", input_name(path), error.message));
            }
            Err(error) => {
                counts.errors += 1;
                on_error(&error);
            }
        }
    }
    Ok(counts)
}

/// Reports an error in a file on standard error.
pub fn report(path: &Path, error: &RecordError) {
    let RecordError { game, line, column, message, .. } = error;
    eprint_message(format_args!("{}:{line}:{column}: game {game}: {message}", input_name(path)));
}
