//! `crownhead view`: shows recorded games.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, anyhow};
use crownhead_records::{GameFile, Reader, RecordErrorKind};
use crownhead_terminal::print::print;
use crownhead_terminal::screen::{self, ViewScreen};

use super::tables::{existing_tables, missing_table};
use crate::failure::Failure;
use crate::output::{eprint_message, is_interactive, look};
use crate::signals::stop_on_signals;

#[derive(clap::Args)]
#[command(after_help = "\
On a terminal, the games are shown on the full screen; ? lists the keys. Elsewhere they are printed
with their comments and variations.")]
pub(crate) struct Args {
    /// File of games (PDN)
    file: PathBuf,
    /// Print the games as plain text
    #[arg(long)]
    plain: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let name = args.file.display();
    let file = File::open(&args.file).with_context(|| format!("cannot open {name}"))?;
    if args.plain || !is_interactive() {
        return print_all(args, file);
    }
    let mut screen = ViewScreen::new(GameFile::new(file), look())
        .map_err(|reason| Failure::BadInput(format!("{name}: {reason}")))?;
    let stop = stop_on_signals();
    screen::run(&mut screen, &stop)?;
    if stop.is_set() {
        return Err(Failure::Interrupted);
    }
    if let Some((game, position)) = screen.analysed()
        && let Some(missing) = missing_table(game, position, &existing_tables(game))
    {
        eprint_message(missing);
    }
    Ok(())
}

fn print_all(args: &Args, file: File) -> Result<(), Failure> {
    let name = args.file.display();
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let (mut number, mut has_errors) = (0, false);
    for game in Reader::new(file) {
        number += 1;
        match game {
            Ok(record) => print(&record, number, &mut out)?,
            Err(error) if error.kind == RecordErrorKind::Io => {
                return Err(anyhow!("cannot read {name}: {}", error.message).into());
            }
            Err(error) => {
                out.flush()?;
                eprint_message(format_args!("crownhead: {name}: {error}"));
                has_errors = true;
            }
        }
    }
    out.flush()?;
    if number == 0 {
        return Err(Failure::BadInput(format!("{name} contains no games")));
    }
    if has_errors { Err(Failure::BadInputReported) } else { Ok(()) }
}
