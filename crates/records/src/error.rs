//! What can be wrong with a file, and where.

/// Why one game of a file could not be read. The games before and after it are not affected.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("game {game}, line {line}, column {column}: {message}")]
pub struct RecordError {
    /// Which game of the file, counted from 1; games that could not be read count too.
    pub game: u64,
    /// The line, counted from 1.
    pub line: u64,
    /// The character of the line, counted from 1.
    pub column: u64,
    /// What sort of fault it is.
    pub kind: RecordErrorKind,
    /// What is wrong there.
    pub message: String,
}

/// The sorts of fault a game can have.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RecordErrorKind {
    /// The file could not be read on; nothing follows this error.
    Io,
    /// The text is not put together as a game is.
    Syntax,
    /// A tag names a game that is not played here, or contradicts another tag.
    Tag,
    /// The position the game starts from is refused.
    Position,
    /// A move is refused.
    Move,
    /// The game is larger than any game may be.
    Limit,
}

/// Why a record could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The output refused the text.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The record holds something that no file could hold.
    #[error("{0}")]
    Record(String),
}

/// A place in the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Location {
    pub(crate) line: u64,
    pub(crate) column: u64,
}

/// An error that does not know yet which game it is in.
#[derive(Debug)]
pub(crate) struct LocatedError {
    pub(crate) location: Location,
    pub(crate) kind: RecordErrorKind,
    pub(crate) message: String,
}

impl LocatedError {
    pub(crate) fn new(
        place: Location,
        kind: RecordErrorKind,
        message: impl Into<String>,
    ) -> LocatedError {
        LocatedError { location: place, kind, message: message.into() }
    }

    pub(crate) fn in_game(self, game: u64) -> RecordError {
        let Location { line, column } = self.location;
        RecordError { game, line, column, kind: self.kind, message: self.message }
    }
}
