//! `crownhead book`: makes opening books.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context;
use clap::value_parser;
use crownhead_files::AtomicFile;
use crownhead_play::book::{Book, BookBatch, BookError, BookOptions, BookScores, new_book_maker};
use crownhead_play::counted;
use crownhead_rules::Game;

use crate::failure::Failure;
use crate::output::{LiveDisplay, eprint_message};
use crate::signals::stop_on_interrupt;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Make an opening book by drop-out expansion; continues an interrupted run
    Make(Make),
}

#[derive(clap::Args)]
pub(crate) struct Make {
    /// Game, with options
    game: Game,
    /// Output file; FILE.scores beside it stores what an interrupted run needs to continue
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Nodes per search
    #[arg(long, value_name = "N", default_value_t = 150_000)]
    #[arg(value_parser = value_parser!(u64).range(1..))]
    nodes: u64,
    /// Number of positions to expand
    #[arg(long, value_name = "N", default_value_t = 2600)]
    #[arg(value_parser = value_parser!(u32).range(1..=100_000))]
    positions: u32,
    /// Threads; the book does not depend on their number
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = value_parser!(u16).range(1..=256))]
    threads: u16,
}

/// Maximum size of a file of scores: more than any run writes.
const MAX_SCORES_BYTES: u64 = 1 << 28;

pub(crate) fn run(command: &Command) -> Result<(), Failure> {
    let Command::Make(args) = command;
    let Make { game, file: path, nodes, .. } = args;
    // Created before the work, so that an error does not waste it.
    let output = AtomicFile::create(path)?;
    let mut scores = BookScores::new(game, *nodes);
    let mut scores_path = path.clone().into_os_string();
    scores_path.push(".scores");
    let scores_path = PathBuf::from(scores_path);
    let mut scores_file = open(&scores_path, &mut scores)?;
    let total = args.positions as usize;
    let options = BookOptions { nodes: *nodes, positions: total, threads: args.threads.into() };
    let mut maker = new_book_maker(game, options, scores).map_err(book_error(path))?;
    let stop = stop_on_interrupt();
    eprint_message(format_args!("Expanding {total} positions of {game} …"));
    let (mut display, mut start, mut first) = (LiveDisplay::new(), Instant::now(), 0);
    while let Some(batch) = maker.expand(&stop) {
        let BookBatch { positions, scores, searched, ref bytes } = batch;
        let context = || format!("cannot write {}", scores_path.display());
        scores_file.write_all(bytes).with_context(context)?;
        if searched == 0 {
            // Their scores were in the file: the time left depends on the others.
            (start, first) = (Instant::now(), positions);
        }
        let done = (positions - first).max(1) as u64;
        let left = start.elapsed().as_secs() * (total - positions) as u64 / done;
        display.show(|| {
            vec![format!("{positions} of {total} positions, {scores} scores, {left} s left")]
        });
    }
    if stop.is_set() {
        return Err(Failure::Interrupted);
    }
    let bytes = maker.book();
    let book = Book::read(&bytes).map_err(book_error(path))?;
    output.file().write_all(&bytes).with_context(|| format!("cannot write {}", path.display()))?;
    output.commit()?;
    let entries = counted(book.entries() as u64, "move");
    let kept = counted(book.keys().len() as u64, "position");
    display.finish(format_args!("Wrote {kept} with {entries}, {} bytes,", bytes.len()));
    Ok(())
}

/// Opens the file of scores for appending, and reads those that it has.
fn open(path: &Path, scores: &mut BookScores) -> Result<File, Failure> {
    let context = || format!("cannot open {}", path.display());
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    let mut file = options.open(path).with_context(context)?;
    let length = file.metadata().with_context(context)?.len();
    if length == 0 {
        writeln!(file, "{}", scores.header()).with_context(context)?;
        return Ok(file);
    }
    if length > MAX_SCORES_BYTES {
        return Err(Failure::BadInput(format!("{} is too large", path.display())));
    }
    let end = scores.read(&fs::read(path).with_context(context)?).map_err(book_error(path))?;
    file.set_len(end as u64).with_context(context)?;
    file.seek(SeekFrom::Start(end as u64)).with_context(context)?;
    Ok(file)
}

fn book_error(path: &Path) -> impl Fn(BookError) -> Failure {
    move |error| match error {
        BookError::OutOfMemory(_) => anyhow::anyhow!("{error}").into(),
        error => Failure::BadInput(format!("{}: {error}", path.display())),
    }
}
