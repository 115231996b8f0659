//! A position as pages and programs ask for it: a game, a position, and moves from there.

use crownhead_rules::{Cell, Game, MoveErrorKind, OptionsError, PositionError};
use serde::Deserialize;

use crate::{PlayError, Session, new_session};

/// Maximum number of moves to play from the position.
const MAX_REQUEST_MOVES: usize = 500;
/// Maximum length of a position, and of a game id with options.
pub const MAX_POSITION_BYTES: usize = 300;

/// A position: the start of a game or another position, after some moves.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PositionRequest {
    /// The game and its options.
    pub game: String,
    /// The position; `None` is the start of the game.
    pub position: Option<String>,
    /// The moves from there.
    #[serde(default)]
    pub moves: Vec<String>,
}

/// Why a request names no position.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RequestError {
    /// The game is unknown, or its options are invalid.
    #[error(transparent)]
    Game(#[from] OptionsError),
    /// The position is invalid.
    #[error(transparent)]
    Position(#[from] PositionError),
    /// A move cannot be played.
    #[error("{error}")]
    Move {
        /// Index of the move.
        at: usize,
        /// Why it cannot be played.
        error: PlayError,
        /// The cells that the reason names.
        cells: Vec<Cell>,
    },
    /// The request is too large.
    #[error("{0}")]
    TooLarge(String),
}

impl PositionRequest {
    /// Plays the moves. The request may come from anyone: its size is limited.
    pub fn session(&self) -> Result<Box<dyn Session>, RequestError> {
        if self.moves.len() > MAX_REQUEST_MOVES {
            return Err(RequestError::TooLarge(format!("more than {MAX_REQUEST_MOVES} moves")));
        }
        let texts = [Some(&self.game), self.position.as_ref()];
        if texts.into_iter().flatten().any(|text| text.len() > MAX_POSITION_BYTES) {
            let reason = format!("position is longer than {MAX_POSITION_BYTES} bytes");
            return Err(RequestError::TooLarge(reason));
        }
        let game: Game = self.game.parse()?;
        let mut session = new_session(&game, self.position.as_deref())?;
        for (at, text) in self.moves.iter().enumerate() {
            session.play(text).map_err(|error| {
                let cells = cells_of_error(&game, &error);
                RequestError::Move { at, error, cells }
            })?;
        }
        Ok(session)
    }
}

/// Returns the cells that the explanation of a refused move names. The example in the explanation of
/// an invalid format is about other cells.
pub fn cells_of_error(game: &Game, error: &PlayError) -> Vec<Cell> {
    match error {
        PlayError::Illegal(error) if error.kind != MoveErrorKind::Format => {
            named_cells(game, &error.reason)
        }
        _ => vec![],
    }
}

/// Returns the cells that the explanation of an illegal move names, in the order of its text.
pub fn named_cells(game: &Game, reason: &str) -> Vec<Cell> {
    let info = game.info();
    let by_number = |number: u8| Cell::all().find(|&cell| info.square_number(cell) == Some(number));
    let mut cells: Vec<Cell> = Vec::new();
    for digits in reason.split(|c: char| !c.is_ascii_digit()) {
        match info.numbered_squares {
            true => cells.extend(digits.parse().ok().and_then(by_number)),
            // A move of Chinese checkers is two cells without a separator.
            false if matches!(digits.len(), 2 | 4) => {
                cells.extend([0, 2].iter().filter_map(|&i| Cell::parse(digits.get(i..i + 2)?)));
            }
            false => {}
        }
    }
    let mut seen = Vec::new();
    cells.retain(|cell| {
        !seen.contains(cell) && {
            seen.push(*cell);
            true
        }
    });
    cells
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a failing test may panic
mod tests {
    use super::*;

    fn cells(game: &str, reason: &str) -> Vec<String> {
        let game = game.parse().unwrap();
        named_cells(&game, reason).iter().map(Cell::to_string).collect()
    }

    #[test]
    fn explanation_names_its_cells_once_and_in_order() {
        let english = "illegal: 15x22 is mandatory: the man on 15 jumps";
        assert_eq!(cells("english", english), ["45", "63"]);
        assert_eq!(cells("english", "the draw limit of 50 plies, 33 and 0"), [""; 0]);
        assert_eq!(cells("capture-halma", "illegal: 22-24 is too far"), ["22", "24"]);
        assert_eq!(cells("chinese-checkers", "illegal: 1131 is no jump"), ["11", "31"]);
        assert_eq!(cells("chinese-checkers", "illegal: 99, 12345 and 7"), [""; 0]);
    }

    #[test]
    fn text_that_is_not_a_move_names_no_cells() {
        for game in Game::all() {
            let error = new_session(&game, None).unwrap().play("zz").unwrap_err();
            assert_eq!(cells_of_error(&game, &error), [], "{game}: {error}");
        }
    }

    #[test]
    fn illegal_move_of_a_request_has_an_index_and_cells() {
        let request = |moves: &[&str]| PositionRequest {
            game: "english".into(),
            position: None,
            moves: moves.iter().map(|text| text.to_string()).collect(),
        };
        let Err(RequestError::Move { at, cells, .. }) =
            request(&["11-15", "22-18", "8-11"]).session()
        else {
            panic!("15x22 is mandatory");
        };
        assert_eq!(at, 2);
        assert!(!cells.is_empty());
        let long = vec!["11-15"; MAX_REQUEST_MOVES + 1];
        assert!(matches!(request(&long).session(), Err(RequestError::TooLarge(_))));
    }
}
