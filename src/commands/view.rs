//! `crownhead view`: stepping through recorded games.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, anyhow};
use crownhead_records::{Reader, RecordErrorKind};
use crownhead_terminal::game_file::GameFile;
use crownhead_terminal::print::print;
use crownhead_terminal::screen::{self, ViewScreen};

use super::play::{has_colour, has_screen};
use super::{Failure, say, stop_on_signals};

#[derive(clap::Args)]
#[command(
    after_help = "On a terminal the games are on the screen, and ? says which keys there are. Elsewhere they are \
printed, with their comments and variations."
)]
pub(crate) struct Arguments {
    /// A file of games (PDN)
    file: PathBuf,
    /// Print the games, as on a terminal that can do no more
    #[arg(long)]
    plain: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let name = arguments.file.display();
    let file = File::open(&arguments.file).with_context(|| format!("{name} cannot be opened"))?;
    if arguments.plain || !has_screen() {
        return print_all(arguments, file);
    }
    let mut screen = ViewScreen::new(GameFile::new(file), has_colour())
        .map_err(|why| Failure::BadInput(format!("{name}: {why}")))?;
    let stop = stop_on_signals();
    screen::run(&mut screen, &stop)?;
    if stop.is_set() { Err(Failure::Interrupted) } else { Ok(()) }
}

fn print_all(arguments: &Arguments, file: File) -> Result<(), Failure> {
    let name = arguments.file.display();
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let (mut number, mut wrong) = (0, false);
    for game in Reader::new(file) {
        number += 1;
        match game {
            Ok(record) => print(&record, number, &mut out)?,
            Err(error) if error.kind == RecordErrorKind::Io => {
                return Err(anyhow!("{name} cannot be read: {}", error.message).into());
            }
            Err(error) => {
                out.flush()?;
                say(format_args!("crownhead: {name}: {error}"));
                wrong = true;
            }
        }
    }
    out.flush()?;
    if number == 0 {
        return Err(Failure::BadInput(format!("{name}: the file has no games")));
    }
    if wrong { Err(Failure::BadInputReported) } else { Ok(()) }
}
