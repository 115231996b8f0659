//! How large one game may be.
//!
//! A file may be of any size, a game may not: the reader's memory is one game. The limits count
//! what a game keeps, not how it is written, so that a game that could be read can be read again
//! after it was written.

/// Plies of one game, variations included.
pub(crate) const MAX_PLIES: usize = 100_000;
/// How deep variations may lie in one another.
pub(crate) const MAX_DEPTH: usize = 32;
/// Bytes of comments and tags in one game.
pub(crate) const MAX_TEXT: usize = 1024 * 1024;
/// Tags of one game.
pub(crate) const MAX_TAGS: usize = 1000;
/// Annotations (`$7`) of one game.
pub(crate) const MAX_NAGS: usize = 100_000;
/// Bytes of a line that holds a tag.
pub(crate) const MAX_TAG: usize = 64 * 1024;
/// Bytes of a word: the longest move is a path of a hundred cells.
pub(crate) const MAX_WORD: usize = 1000;
