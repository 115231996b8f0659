//! What a person, a file or another program needs of a game: its texts.
//!
//! Writing is strict, reading is lenient, and whatever is refused is refused with a sentence.

use std::fmt;

use crate::{Cell, Outcome, Position, Side};

/// The texts of one game.
pub trait Notation: Position {
    /// The name other programs use, e.g. `chinese-checkers`.
    const ID: &'static str;
    /// The name people use.
    const NAME: &'static str;
    /// How the two sides are called.
    const SIDES: [SideInfo; 2];
    /// The options a game can be played with.
    const OPTIONS: &'static [OptionInfo];

    /// Reads `key=value,…`; the empty text is the default.
    fn parse_options(text: &str) -> Result<Self::Options, OptionsError>;
    /// Writes what differs from the default, in the form that
    /// [`read_options`](Notation::read_options) takes.
    fn format_options(options: &Self::Options) -> String;

    /// Reads a position and checks everything that can be wrong with it.
    fn parse_position(text: &str, options: &Self::Options) -> Result<Self, PositionError>;
    /// The position's one text.
    fn format_position(&self) -> String;

    /// Reads a move in any unambiguous form; a refusal says which rule it breaks.
    fn parse_move(&self, text: &str) -> Result<Self::Move, MoveError>;
    /// Reads a turn of a game that was played: a move or, where turns are skipped for a fault, such a
    /// turn, written `pass`, though it is no move.
    fn parse_recorded_move(&self, text: &str) -> Result<Self::Move, MoveError> {
        let skipped = || Self::skip_move().filter(|_| text == "pass");
        self.parse_move(text).or_else(|error| skipped().ok_or(error))
    }
    /// The one text of a legal move.
    fn format_move(&self, mv: Self::Move) -> String;

    /// The cells a legal move touches down on, start and end included; a pass has none.
    fn path(&self, mv: Self::Move) -> Vec<Cell>;
    /// All ways to make a legal move that are no longer than its path, which comes first; nine at most.
    fn paths(&self, mv: Self::Move) -> Vec<Vec<Cell>>;
    /// The cells whose pieces a legal move takes, in order of cells.
    fn captures(&self, mv: Self::Move) -> Vec<Cell>;

    /// The letters of the 64 cells, row 1 first; `.` is empty.
    fn board(&self) -> [char; 64];
    /// One sentence on how the game ended.
    fn describe(&self, outcome: Outcome) -> String;

    /// The letter of a side.
    fn letter(side: Side) -> char {
        Self::SIDES[side.index()].letter
    }
}

/// How a side is called.
#[derive(Clone, Copy, Debug)]
pub struct SideInfo {
    /// In texts: `b`, `w`, `#` or `O`.
    pub letter: char,
    /// In words.
    pub name: &'static str,
}

/// One option of a game, for listings.
#[derive(Clone, Copy, Debug)]
pub struct OptionInfo {
    /// The key in `key=value`.
    pub key: &'static str,
    /// What the value may be.
    pub values: &'static str,
    /// The value when nothing is said.
    pub default: &'static str,
    /// What it does.
    pub description: &'static str,
}

/// Why a game's name or its options were refused.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct OptionsError(pub String);

/// Why a position text was refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PositionError {
    /// The character of the text where the fault was found, counted from 1.
    pub column: usize,
    /// What is wrong there and what would be right.
    pub message: String,
}

impl fmt::Display for PositionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "position, character {}: {}", self.column, self.message)
    }
}

impl std::error::Error for PositionError {}

/// Why a move was refused.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{reason}")]
pub struct MoveError {
    /// The first check that the move failed.
    pub kind: MoveErrorKind,
    /// The sentence a learner reads.
    pub reason: String,
}

/// The checks of a move, in the order in which they are made.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MoveErrorKind {
    /// The text is no move.
    Format,
    /// It names a cell that is not on the board (or cannot be played on).
    OffBoard,
    /// No piece of the player stands where the move starts.
    Start,
    /// The cell where the move ends is not free.
    End,
    /// The rules forbid the move, or the text fits several moves.
    Rule,
}

/// A refused move.
pub(crate) fn move_error<T>(
    kind: MoveErrorKind,
    reason: impl Into<String>,
) -> Result<T, MoveError> {
    Err(MoveError { kind, reason: reason.into() })
}
