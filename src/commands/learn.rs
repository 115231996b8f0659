//! `crownhead learn`: the rules of a game in exercises.

use std::io::BufReader;

use crownhead_play::lessons::course;
use crownhead_rules::Game;
use crownhead_terminal::plain::lessons;
use crownhead_terminal::screen::{self, LessonScreen};

use super::play::{has_colour, has_screen};
use super::{Failure, say, stop_on_signals};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The game: english, contest, chinese-checkers or capture-halma
    game: Game,
    /// By lines of text, as on a terminal that can do no more
    #[arg(long)]
    plain: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let course = course(&arguments.game).map_err(anyhow::Error::msg)?;
    let stop = stop_on_signals();
    if arguments.plain || !has_screen() {
        let input = BufReader::new(std::io::stdin());
        lessons::run(course, input, std::io::stdout().lock(), &stop)?;
    } else {
        let mut screen = LessonScreen::new(course, has_colour());
        screen::run(&mut screen, &stop)?;
        let course = screen.course();
        say(format_args!("{} of {} exercises done.", course.solved_count(), course.count()));
    }
    if stop.is_set() { Err(Failure::Interrupted) } else { Ok(()) }
}
