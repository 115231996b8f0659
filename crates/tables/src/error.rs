//! Errors.

use std::io;
use std::path::{Path, PathBuf};

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
    pub(crate) fn io(path: &Path, action: &'static str, error: io::Error) -> TableError {
        TableError::Io { path: path.into(), action, error }
    }
}
