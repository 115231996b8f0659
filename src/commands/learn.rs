//! `crownhead learn`: teaches the rules of a game in exercises.

use std::io::BufReader;

use crownhead_play::lessons::course;
use crownhead_rules::Game;
use crownhead_terminal::plain::lessons;
use crownhead_terminal::screen::{self, LessonScreen};

use crate::failure::Failure;
use crate::output::{eprint_message, is_interactive, look};
use crate::signals::stop_on_signals;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Game; crownhead games lists them [default: english]
    game: Option<Game>,
    /// Use plain text instead of the full screen
    #[arg(long)]
    plain: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let course = course(&args.game.clone().unwrap_or_default()).map_err(anyhow::Error::msg)?;
    let stop = stop_on_signals();
    if args.plain || !is_interactive() {
        let input = BufReader::new(std::io::stdin());
        lessons::run(course, input, std::io::stdout().lock(), &stop)?;
    } else {
        let mut screen = LessonScreen::new(course, look());
        screen::run(&mut screen, &stop)?;
        let course = screen.course();
        eprint_message(format_args!(
            "{} of {} exercises done.",
            course.solved_count(),
            course.count()
        ));
    }
    if stop.is_set() { Err(Failure::Interrupted) } else { Ok(()) }
}
