//! Maximum size of one game.
//!
//! A file may have any size, but the reader keeps one game in memory. The limits apply to what a
//! game contains, not to how it is written, so that a game that was read can be written and read
//! again.

/// Maximum number of plies, variations included.
pub(crate) const MAX_PLIES: usize = 100_000;
/// Maximum nesting depth of variations.
pub(crate) const MAX_DEPTH: usize = 32;
/// Maximum size of comments and tags, in bytes.
pub(crate) const MAX_TEXT: usize = 1024 * 1024;
/// Maximum number of tags.
pub(crate) const MAX_TAGS: usize = 1000;
/// Maximum number of annotations (`$7`).
pub(crate) const MAX_NAGS: usize = 100_000;
/// Maximum length of a line with a tag, in bytes.
pub(crate) const MAX_TAG: usize = 64 * 1024;
/// Maximum length of a word, in bytes. The longest move is a path of a hundred cells.
pub(crate) const MAX_WORD: usize = 1000;
