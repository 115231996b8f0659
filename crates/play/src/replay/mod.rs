//! Replays recorded games.
//!
//! Moves are replayed as recorded, past the end of a game if it was played on.

mod cursor;

use crownhead_rules::{Cell, Game, Side};
use crownhead_search::{GameVisitor, Searchable, visit};

pub use cursor::RecordCursor;

use crate::{Session, TypedSession};

/// A position of a recorded game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReplayedPosition {
    /// Letters of the 64 cells, row 1 first.
    pub board: [char; 64],
    /// Side to move.
    pub side: Side,
    /// Text of the position.
    pub position: String,
    /// Path of the move that led here.
    pub path: Vec<Cell>,
    /// Cells of the pieces that this move captured.
    pub captures: Vec<Cell>,
    /// Outcome in a sentence, if the game is over here.
    pub outcome_text: Option<String>,
}

/// Returns the positions of a game, the start position included.
pub fn positions(
    game: &Game,
    start: Option<&str>,
    moves: &[&str],
) -> Result<Vec<ReplayedPosition>, String> {
    struct Replay<'a> {
        game: &'a Game,
        start: Option<&'a str>,
        moves: &'a [&'a str],
    }
    impl GameVisitor for Replay<'_> {
        type Output = Result<Vec<ReplayedPosition>, String>;
        fn visit<P: Searchable>(self, options: &P::Options) -> Self::Output {
            let moves = self.moves.iter().copied();
            let session = replay::<P>(self.game, options, self.start, moves)?;
            let positions = session.positions();
            let replayed = |(ply, position): (usize, &P)| {
                let (path, captures) = match ply.checked_sub(1) {
                    None => (Vec::new(), Vec::new()),
                    Some(last) => {
                        let mv = session.moves_played()[last];
                        (positions[last].path(mv), positions[last].captures(mv))
                    }
                };
                let outcome = position.outcome(&session.history_keys()[..ply]);
                ReplayedPosition {
                    board: position.board(),
                    side: position.side(),
                    position: position.format_position(),
                    path,
                    captures,
                    outcome_text: outcome.map(|outcome| position.describe(outcome)),
                }
            };
            Ok(positions.iter().enumerate().map(replayed).collect())
        }
    }
    visit(game, Replay { game, start, moves })
}

/// Replays a game. The error names the invalid move.
pub fn replay<'a, P: Searchable>(
    game: &Game,
    options: &P::Options,
    start: Option<&str>,
    moves: impl IntoIterator<Item = &'a str>,
) -> Result<TypedSession<P>, String> {
    let position = match start {
        Some(text) => P::parse_position(text, options).map_err(|error| error.to_string())?,
        None => P::start(options),
    };
    let mut session = TypedSession::new(game.clone(), position);
    for (number, text) in (1..).zip(moves) {
        session.replay(text).map_err(|error| format!("move {number}, {text}: {error}"))?;
    }
    Ok(session)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a failing test may panic
mod tests {
    use super::*;

    #[test]
    fn replay_continues_after_the_end_of_the_game() {
        // Contest checkers is drawn after ten plies without a capture.
        let moves = "1-5 32-28 5-9 28-24 9-14 24-20 2-6 31-27 6-9 27-23 9-13 23-19";
        let moves: Vec<_> = moves.split(' ').collect();
        let game = "contest".parse().unwrap();
        let positions = positions(&game, Some("B:W31,32:B1,2"), &moves).unwrap();
        assert_eq!(positions.len(), 13);
        assert!(positions[9].outcome_text.is_none() && positions[10].outcome_text.is_some());
    }

    #[test]
    fn replay_names_the_invalid_move() {
        let game = "english".parse().unwrap();
        let error = positions(&game, None, &["11-15", "11-15"]).unwrap_err();
        assert!(error.starts_with("move 2, 11-15: "), "{error}");
    }
}
