//! Errors, with their location in the file.

/// Error in one game of a file. The other games are not affected.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("game {game}, line {line}, column {column}: {message}")]
pub struct RecordError {
    /// Number of the game in the file, from 1; invalid games count too.
    pub game: u64,
    /// Line, from 1.
    pub line: u64,
    /// Character of the line, from 1.
    pub column: u64,
    /// Kind of error.
    pub kind: RecordErrorKind,
    /// Description of the error.
    pub message: String,
}

/// Kinds of errors in a game.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RecordErrorKind {
    /// Reading the file failed. No game follows this error.
    Io,
    /// The text is not a valid game.
    Syntax,
    /// A tag names an unknown game or contradicts another tag.
    Tag,
    /// The start position is invalid.
    Position,
    /// A move is invalid or illegal.
    Move,
    /// The game exceeds a size limit.
    Limit,
}

/// Error writing a game.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The output failed.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The record cannot be represented in PDN.
    #[error("{0}")]
    Record(String),
}

/// A location in the file, from line 1, column 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Location {
    pub(crate) line: u64,
    pub(crate) column: u64,
}

/// An error in a game whose number is not known yet.
#[derive(Debug)]
pub(crate) struct LocatedError {
    pub(crate) location: Location,
    pub(crate) kind: RecordErrorKind,
    pub(crate) message: String,
}

impl LocatedError {
    pub(crate) fn new(
        location: Location,
        kind: RecordErrorKind,
        message: impl Into<String>,
    ) -> LocatedError {
        LocatedError { location, kind, message: message.into() }
    }

    pub(crate) fn in_game(self, game: u64) -> RecordError {
        let Location { line, column } = self.location;
        RecordError { game, line, column, kind: self.kind, message: self.message }
    }
}
