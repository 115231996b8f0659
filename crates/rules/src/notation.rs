//! Text formats of a game: positions, moves and options, and why a move is illegal.
//!
//! Formatting is strict: a position or a move has one text. Parsing is lenient, and an error says
//! what is wrong and what to write instead.

use std::fmt;

use crate::{Cell, GameInfo, OptionInfo, Outcome, Position, Side, SideInfo};

/// Maximum number of paths that [`Notation::paths`] returns.
pub(crate) const MAX_PATHS: usize = 9;

/// Text formats of a game.
pub trait Notation: Position {
    /// Descriptor of the game.
    const INFO: GameInfo;

    /// See [`GameInfo::id`].
    const ID: &'static str = Self::INFO.id;
    /// See [`GameInfo::name`].
    const NAME: &'static str = Self::INFO.name;
    /// See [`GameInfo::sides`].
    const SIDES: [SideInfo; 2] = Self::INFO.sides;
    /// See [`GameInfo::options`].
    const OPTIONS: &'static [OptionInfo] = Self::INFO.options;

    /// Parses `key=value,…`; an empty text gives the default options.
    fn parse_options(text: &str) -> Result<Self::Options, OptionsError>;
    /// Formats the options that differ from the default.
    fn format_options(options: &Self::Options) -> String;

    /// Parses and validates a position.
    fn parse_position(text: &str, options: &Self::Options) -> Result<Self, PositionError>;
    /// Formats the position.
    fn format_position(&self) -> String;

    /// Parses a legal move in any unambiguous form. The error of an illegal move says which rule it
    /// breaks.
    fn parse_move(&self, text: &str) -> Result<Self::Move, MoveError>;
    /// Parses a move of a recorded game. Unlike [`parse_move`](Notation::parse_move) it accepts
    /// `pass` for a turn that was skipped as a penalty, although that is not a legal move.
    fn parse_recorded_move(&self, text: &str) -> Result<Self::Move, MoveError> {
        let skipped = || Self::skip_move().filter(|_| text == "pass");
        self.parse_move(text).or_else(|error| skipped().ok_or(error))
    }
    /// Formats a legal move.
    fn format_move(&self, mv: Self::Move) -> String;

    /// Returns the cells where a legal move starts, touches down and ends; none for a pass.
    fn path(&self, mv: Self::Move) -> Vec<Cell>;
    /// Returns the shortest paths of a legal move, at most nine. The first is
    /// [`path`](Notation::path).
    fn paths(&self, mv: Self::Move) -> Vec<Vec<Cell>>;
    /// Returns the cells of the pieces that a legal move captures, in ascending order.
    fn captures(&self, mv: Self::Move) -> Vec<Cell>;

    /// Returns the letters of the 64 cells, row 1 first; `.` is an empty cell.
    fn board(&self) -> [char; 64];
    /// Describes in one sentence how the game ended.
    fn describe(&self, outcome: Outcome) -> String;

    /// Returns the letter of a side.
    fn letter(side: Side) -> char {
        Self::SIDES[side.index()].letter
    }
}

/// Error of an unknown game or invalid options.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct OptionsError(pub String);

/// Error of an invalid position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PositionError {
    /// The character of the text where the error is, counted from 1.
    pub column: usize,
    /// The error and how to fix it.
    pub message: String,
}

impl fmt::Display for PositionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "position, character {}: {}", self.column, self.message)
    }
}

impl std::error::Error for PositionError {}

/// Error of an invalid or illegal move.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{reason}")]
pub struct MoveError {
    /// The first check that failed.
    pub kind: MoveErrorKind,
    /// Explanation for a beginner.
    pub reason: String,
}

/// The checks of a move, in order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MoveErrorKind {
    /// The text is not a move.
    Format,
    /// A cell is not on the board.
    OffBoard,
    /// The move does not start on a piece of the player.
    Start,
    /// The move does not end on an empty cell.
    End,
    /// The rules forbid the move, or the text matches several moves.
    Rule,
}

/// Returns the error of a move that can be parsed but not played.
pub(crate) fn illegal<T>(
    kind: MoveErrorKind,
    reason: impl std::fmt::Display,
) -> Result<T, MoveError> {
    move_error(kind, format!("illegal: {reason}"))
}

/// Returns a [`MoveError`] as a result.
pub(crate) fn move_error<T>(
    kind: MoveErrorKind,
    reason: impl Into<String>,
) -> Result<T, MoveError> {
    Err(MoveError { kind, reason: reason.into() })
}
