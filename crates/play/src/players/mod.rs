//! The players that are part of the program.

mod best;
mod level;
mod random;
mod spec;
mod textbook;

pub(crate) use best::Best;
pub(crate) use level::Graded;
pub use random::Random;
pub use spec::{BUILTIN_NAMES, BuiltinSpec, PlayerKind, PlayerOptions, SpecError};
pub(crate) use textbook::Textbook;

use std::time::Duration;

use crownhead_search::{SearchLimits, SearchReport, Searchable};

use crate::session::line_texts;
use crate::{Choice, Clock, PlayerError, Session, TypedSession};

/// Longer lines are not told.
const LINE: usize = 24;

/// The game as a player of `P` needs it.
fn typed<P: Searchable>(game: &dyn Session) -> Result<&TypedSession<P>, PlayerError> {
    let typed = game.as_any().downcast_ref();
    typed.ok_or_else(|| PlayerError::WrongGame(game.game().to_string()))
}

/// The choice where there is none: one legal move needs no thought and no time.
fn without_thought<P: Searchable>(game: &TypedSession<P>) -> Result<Option<Choice>, PlayerError> {
    match *game.legal() {
        [] => Err(PlayerError::GameOver),
        [only] => Ok(Some(Choice::from_text(game.current().format_move(only)))),
        _ => Ok(None),
    }
}

/// What a player may use for a move: no more than the clock allows, nor than its options.
fn limits(options: &PlayerOptions, clock: &Clock) -> SearchLimits {
    let time = clock.move_time();
    SearchLimits {
        depth: None,
        nodes: options.nodes,
        hard_time: shorter(time.hard, options.movetime),
        soft_time: time.soft,
    }
}

fn shorter(one: Option<Duration>, other: Option<Duration>) -> Option<Duration> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// The texts of the beginning of a line.
fn told<P: Searchable>(position: &P, line: &[P::Move]) -> Vec<String> {
    line_texts(position, &line[..line.len().min(LINE)])
}

/// One of the lines that a search found, as the move to make. The text is empty if there is none.
fn choice<P: Searchable>(position: &P, report: &SearchReport<P>, line: usize) -> Choice {
    let found = report.lines.get(line);
    let line = found.map(|line| told(position, &line.moves)).unwrap_or_default();
    Choice {
        text: line.first().cloned().unwrap_or_default(),
        score: found.map(|line| line.score),
        depth: report.depth,
        nodes: report.nodes,
        pv: line,
    }
}
