//! What can go wrong with a table.

use std::io;
use std::path::{Path, PathBuf};

/// Why a table could not be built, saved or opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// The system refused to open, read or write a file or to make its folder.
    #[error("{} could not be {what}: {error}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was to be done with it: `opened`, `read`, `written`, …
        what: &'static str,
        /// What the system said.
        error: io::Error,
    },
    /// The file is there, but it is not a whole table that this program can read.
    #[error(
        "{} is not a usable solo table: {why}; \
         build it anew with `crownhead tables build chinese-checkers`",
        path.display()
    )]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and what would be right.
        why: String,
    },
    /// There is not enough memory to build a table.
    #[error("there is no memory to build the table: {megabytes} MB are needed")]
    OutOfMemory {
        /// How much was asked for.
        megabytes: usize,
    },
    /// Whoever watched the progress said that it is enough.
    #[error("the table is not finished: building it was stopped")]
    Cancelled,
}

impl TableError {
    pub(crate) fn io(path: &Path, what: &'static str, error: io::Error) -> TableError {
        TableError::Io { path: path.into(), what, error }
    }

    pub(crate) fn corrupt(path: &Path, why: impl Into<String>) -> TableError {
        TableError::Corrupt { path: path.into(), why: why.into() }
    }
}
