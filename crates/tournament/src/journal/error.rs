//! Why a journal cannot be used, for the organiser.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// Why a journal cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum JournalError {
    /// There is none.
    #[error("there is no journal {}", .0.display())]
    Missing(PathBuf),
    /// There is one already.
    #[error("there is a journal already, {}", .0.display())]
    Exists(PathBuf),
    /// Another program has it.
    #[error("the contest is being run by another crownhead (the journal {} is locked)", .0.display())]
    Locked(PathBuf),
    /// What belongs to a journal that is not there.
    #[error(
        "there is {} without its journal {}, which somebody put away: finished games may be in it. Put it \
         beside that journal, or away, then run the tournament", log.display(), path.display()
    )]
    StrayWal {
        /// The journal.
        path: PathBuf,
        /// What lies beside it.
        log: PathBuf,
    },
    /// It has several names.
    #[error(
        "the journal {} has another name besides (a hard link): what is written by one name would be \
         missing by the other. Remove one of them, or copy it instead", .0.display()
    )]
    HardLinked(PathBuf),
    /// The file is something else.
    #[error("{} is no journal of a contest", .0.display())]
    NotAJournal(PathBuf),
    /// The file is of another version of this program.
    #[error("the journal {} has version {version}; this crownhead reads version {}", path.display(), super::schema::VERSION)]
    Version {
        /// Which file.
        path: PathBuf,
        /// What it says.
        version: i64,
    },
    /// There is no room.
    #[error(
        "the disk is full: the journal {} cannot be written. No finished game that was told is lost: \
         make room, then go on with `crownhead tournament resume`", .0.display()
    )]
    DiskFull(PathBuf),
    /// Anything else.
    #[error("the journal {} cannot be used: {why}", path.display())]
    Other {
        /// Which file.
        path: PathBuf,
        /// What the system or SQLite says.
        why: String,
    },
}

impl JournalError {
    pub(super) fn of(path: &Path, error: rusqlite::Error) -> JournalError {
        let path = path.to_path_buf();
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => JournalError::DiskFull(path),
            Some(ErrorCode::NotADatabase) => JournalError::NotAJournal(path),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                let why = "another program has been writing to it for too long".into();
                JournalError::Other { path, why }
            }
            Some(ErrorCode::DatabaseCorrupt) => {
                let why = "its contents are damaged; restore it from a copy".into();
                JournalError::Other { path, why }
            }
            // Files beside the journal, too, need room; the system's word for it is not passed on.
            Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen) if is_full(&path) => {
                JournalError::DiskFull(path)
            }
            _ => JournalError::Other { path, why: error.to_string() },
        }
    }

    pub(super) fn io(path: &Path, error: &std::io::Error) -> JournalError {
        let path = path.to_path_buf();
        match error.kind() {
            std::io::ErrorKind::AlreadyExists => JournalError::Exists(path),
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
                JournalError::DiskFull(path)
            }
            _ => JournalError::Other { path, why: error.to_string() },
        }
    }
}

/// Whether there is no room beside a file: some bytes are tried.
fn is_full(path: &Path) -> bool {
    let trial = path.with_extension("journal-room");
    let written = std::fs::write(&trial, [1; 64 * 1024]);
    let _ = std::fs::remove_file(&trial);
    written.is_err_and(|error| {
        use std::io::ErrorKind::{QuotaExceeded, StorageFull};
        matches!(error.kind(), StorageFull | QuotaExceeded)
    })
}
