//! Errors.

use std::io;
use std::path::{Path, PathBuf};

use crate::endgame::Slice;

/// Extension of the files of slices.
#[cfg(feature = "fs")]
pub(crate) const SLICE: &str = "slice";

/// Error of generating, saving or opening a table.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// An I/O error of the table's file or folder.
    #[error("cannot {action} {}: {error}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The failed action: `open`, `read`, `write`, `create`.
        action: &'static str,
        /// The system's error.
        error: io::Error,
    },
    /// The file is not a valid table.
    #[error(
        "{} is not a valid table: {error}; rebuild it with `crownhead tables build {game}`",
        path.display()
    )]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// Id of the table's game.
        game: &'static str,
        /// Description of the error.
        error: FormatError,
    },
    /// There is not enough memory to generate a table.
    #[error("not enough memory to generate the table: {megabytes} MB needed")]
    OutOfMemory {
        /// Memory needed.
        megabytes: usize,
    },
    /// The generation would need more memory than it may use.
    #[error("the slice {slice} needs {needed} MB of memory, and --memory allows {allowed} MB")]
    MemoryLimit {
        /// The slice, with its other side to move.
        slice: Slice,
        /// Memory needed, in megabytes.
        needed: u64,
        /// Memory allowed, in megabytes.
        allowed: u64,
    },
    /// Another program is building the same table.
    #[error("another program is building the table in {}; wait until it has finished", path.display())]
    Busy {
        /// Folder of the table.
        path: PathBuf,
    },
    /// The file of a slice is damaged.
    #[error(
        "the slice {slice} is damaged: {error}; rebuild it with `crownhead tables build {game}`"
    )]
    Damaged {
        /// Id of the table's game.
        game: &'static str,
        /// The slice.
        slice: Slice,
        /// Description and place of the damage.
        error: FormatError,
    },
    /// A value differs from the one that the moves of the position give.
    #[error(
        "the slice {slice} is wrong: {what}; rebuild it with `crownhead tables build {game} --force`"
    )]
    Wrong {
        /// Id of the table's game.
        game: &'static str,
        /// The slice.
        slice: Slice,
        /// Description of the first error.
        what: String,
    },
    /// A slice is missing that others depend on.
    #[error("the slice {slice} is missing; build it with `crownhead tables build {game}`")]
    MissingSlice {
        /// Id of the table's game.
        game: &'static str,
        /// The slice.
        slice: Slice,
    },
    /// Slices that the analysis depends on are missing.
    #[error("slices with fewer pieces are missing; build the table again")]
    MissingSlices,
    /// A win takes longer than a table can store.
    #[error("a win takes more than 253 plies, which the table cannot store")]
    TooLong,
    /// The progress callback cancelled the generation.
    #[error("the generation of the table was cancelled")]
    Cancelled,
}

/// Why bytes are not a valid table.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct FormatError(pub(crate) String);

impl FormatError {
    pub(crate) fn new(message: impl Into<String>) -> FormatError {
        FormatError(message.into())
    }
}

#[cfg_attr(not(feature = "fs"), allow(dead_code))]
impl TableError {
    /// The error of a build that needs more memory than allowed. Both are given in bytes.
    pub(crate) fn memory_limit(slice: Slice, needed: u64, allowed: u64) -> TableError {
        let megabytes = |bytes: u64| bytes.div_ceil(1_000_000);
        TableError::MemoryLimit { slice, needed: megabytes(needed), allowed: megabytes(allowed) }
    }

    /// Description of a broken table, with the file of the slice.
    #[cfg(feature = "fs")]
    pub(crate) fn without_advice(&self) -> String {
        match self {
            TableError::Corrupt { path, error, .. } => match path.file_name() {
                Some(name) if path.extension().is_some_and(|end| end == SLICE) => {
                    format!("{}: {error}", name.display())
                }
                _ => error.to_string(),
            },
            TableError::Damaged { slice, error, .. } => format!("{slice}.{SLICE}: {error}"),
            error => error.to_string(),
        }
    }

    pub(crate) fn io(path: &Path, action: &'static str, error: io::Error) -> TableError {
        TableError::Io { path: path.into(), action, error }
    }
}
