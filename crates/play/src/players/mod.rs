//! The built-in players, and what they share.

mod best;
mod catalog;
mod level;
mod random;
mod spec;
mod textbook;

pub(crate) use best::Best;
pub use catalog::{CATALOG, CatalogPlayer};
pub(crate) use level::LevelPlayer;
pub use random::Random;
pub use spec::{BUILTIN_NAMES, BuiltinSpec, PlayerKind, PlayerOptions, SpecError};
pub(crate) use textbook::Textbook;

use std::time::Duration;

use crownhead_search::{SearchLimits, SearchReport, Searchable};

use crate::session::line_texts;
use crate::{Choice, Clock, PlayerError, Session, TypedSession};

/// Maximum number of moves reported of a principal variation.
const MAX_PV_MOVES: usize = 24;

/// Downcasts a session to the game of the player.
fn typed<P: Searchable>(game: &dyn Session) -> Result<&TypedSession<P>, PlayerError> {
    let typed = game.as_any().downcast_ref();
    typed.ok_or_else(|| PlayerError::WrongGame(game.game().to_string()))
}

/// Returns the only legal move, which needs no search; `None` if there are several.
fn only_move<P: Searchable>(game: &TypedSession<P>) -> Result<Option<Choice>, PlayerError> {
    match *game.legal() {
        [] => Err(PlayerError::GameOver),
        [only] => Ok(Some(Choice::from_text(game.current().format_move(only)))),
        _ => Ok(None),
    }
}

/// Returns the limits of a search: the clock's and those of the player's options.
fn limits(options: &PlayerOptions, clock: &Clock) -> SearchLimits {
    let time = clock.move_time();
    SearchLimits {
        depth: None,
        nodes: options.nodes,
        hard_time: min_time(time.hard, options.movetime),
        soft_time: time.soft,
        cpu_time: options.cputime,
    }
}

/// Returns the shorter of two times; `None` is unlimited.
fn min_time(a: Option<Duration>, b: Option<Duration>) -> Option<Duration> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// Returns the texts of the first [`MAX_PV_MOVES`] moves of a line.
fn pv_texts<P: Searchable>(position: &P, line: &[P::Move]) -> Vec<String> {
    line_texts(position, &line[..line.len().min(MAX_PV_MOVES)])
}

/// Converts line number `index` of a report to a choice. The text is empty if there is no such
/// line.
fn choice<P: Searchable>(position: &P, report: &SearchReport<P>, index: usize) -> Choice {
    let line = report.lines.get(index);
    let pv = line.map(|line| pv_texts(position, &line.moves)).unwrap_or_default();
    Choice {
        text: pv.first().cloned().unwrap_or_default(),
        score: line.map(|line| line.score),
        depth: report.depth,
        nodes: report.nodes,
        pv,
    }
}
