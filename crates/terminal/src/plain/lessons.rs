//! Lessons in plain text.

use std::io::{self, BufRead, Write};

use crownhead_play::{
    StopFlag, board_text,
    lessons::{Attempt, Course},
    to_sentence,
};

use crate::plain::input::{InputLine, InputLines};
use crate::text::{move_text, square_numbers};

const HELP: &str = "\
Type a move, or one of these commands:
  hint   show a hint
  moves  list the legal moves
  skip   go to the next exercise
  back   go to the previous exercise
  quit   leave
";

/// Runs a course until it ends, the input ends or the learner quits.
pub fn run(
    mut course: Course,
    input: impl BufRead + Send + 'static,
    mut output: impl Write,
    stop: &StopFlag,
) -> io::Result<()> {
    let lines = InputLines::new(input)?;
    let (name, count) = (course.game().info().name, course.count());
    writeln!(output, "{name}: {count} exercises. Type help for help.")?;
    if let Some(squares) = square_numbers(course.game()) {
        write!(output, "\n{squares}")?;
    }
    loop {
        let exercise = course.exercise();
        writeln!(output, "\n{} of {count}: {}\n", course.number(), exercise.title)?;
        write!(output, "{}", board_text(&course.session().board()))?;
        writeln!(output, "{}", exercise.task)?;
        let next = match answer(&mut course, &lines, &mut output, stop)? {
            None => break,
            Some(next) => next,
        };
        if !course.go_to(next) {
            if next > count {
                break;
            }
            writeln!(output, "This is the first exercise.")?;
        }
    }
    writeln!(output, "{} of {count} exercises done.", course.solved_count())?;
    output.flush()
}

/// Reads lines until the learner leaves the exercise. Returns the next exercise; `None` to quit.
fn answer(
    course: &mut Course,
    lines: &InputLines,
    output: &mut impl Write,
    stop: &StopFlag,
) -> io::Result<Option<usize>> {
    loop {
        write!(output, "> ")?;
        output.flush()?;
        let text = match lines.next(|| stop.is_set())? {
            InputLine::End | InputLine::Interrupted => {
                writeln!(output)?;
                return Ok(None);
            }
            InputLine::Text(text) => text,
            InputLine::Invalid(reason) => {
                writeln!(output, "{}", to_sentence(reason))?;
                continue;
            }
        };
        match text.to_ascii_lowercase().as_str() {
            "" => {}
            "help" => write!(output, "{HELP}")?,
            "hint" => writeln!(output, "{}", course.exercise().hint)?,
            "moves" => {
                for mv in course.session().legal_moves() {
                    writeln!(output, "{}", move_text(&mv))?;
                }
            }
            "skip" | "next" => return Ok(Some(course.number() + 1)),
            "back" => return Ok(Some(course.number() - 1)),
            "quit" | "exit" => return Ok(None),
            _ => match course.attempt(&text) {
                Attempt::Failed(message) => writeln!(output, "{message}")?,
                Attempt::Solved(message) => {
                    writeln!(output, "{message}")?;
                    if !course.expects_illegal_move() {
                        write!(output, "{}", board_text(&course.session().board()))?;
                    }
                    return Ok(Some(course.number() + 1));
                }
            },
        }
    }
}
