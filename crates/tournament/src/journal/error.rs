//! Why a journal cannot be used, and what the organiser can do about it.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use super::schema;

/// Why a journal cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum JournalError {
    /// The journal does not exist.
    #[error("no journal {}", .0.display())]
    Missing(PathBuf),
    /// A new journal would overwrite this one.
    #[error("journal {} already exists", .0.display())]
    Exists(PathBuf),
    /// Another process is running the tournament.
    #[error("the tournament is already running: another crownhead has locked {}", .0.display())]
    Locked(PathBuf),
    /// A write-ahead log without its journal.
    #[error(
        "found {} without its journal {}; it may hold finished games: move it to where the \
         journal is, or move it away, then run the tournament again",
        log.display(), path.display()
    )]
    StrayWal {
        /// The missing journal.
        path: PathBuf,
        /// The log.
        log: PathBuf,
    },
    /// The journal has a second name, by which SQLite would not find its write-ahead log.
    #[error(
        "journal {} has a second name (a hard link), and SQLite would lose track of its log: \
         remove one of the names, or make a copy", .0.display()
    )]
    HardLinked(PathBuf),
    /// The file is not a journal.
    #[error("{} is not a tournament journal", .0.display())]
    NotAJournal(PathBuf),
    /// The journal has another schema version.
    #[error(
        "journal {} has version {version}, but this crownhead uses version {}: start a new \
         journal, or use the crownhead that wrote it", path.display(), schema::VERSION
    )]
    Version {
        /// The journal.
        path: PathBuf,
        /// Its version.
        version: i64,
    },
    /// The journal is damaged.
    #[error(
        "journal {0} is damaged: {problem}. Restore a backup; or save what can be read with \
         `(sqlite3 '{0}' .dump | grep -v ^ROLLBACK; echo 'COMMIT; PRAGMA application_id = {1}; \
         PRAGMA user_version = {2};') | sqlite3 recovered.journal`, and use recovered.journal \
         instead", path.display(), schema::APPLICATION_ID, schema::VERSION
    )]
    Damaged {
        /// The journal.
        path: PathBuf,
        /// What SQLite found.
        problem: String,
    },
    /// The journal was deleted or replaced during the run.
    #[error(
        "journal {} was deleted or replaced while the tournament ran{}", path.display(),
        match copy {
            Some(copy) => format!(
                "; everything it held was saved to {}: move that file back if necessary, then run \
                 `crownhead tournament resume`", copy.display()
            ),
            None => "; what it held could not be saved: restore a backup".into(),
        }
    )]
    Deleted {
        /// The journal.
        path: PathBuf,
        /// Where its contents were saved.
        copy: Option<PathBuf>,
    },
    /// The disk is full.
    #[error(
        "disk full: cannot write journal {}; every reported game is safe: free some space, then \
         run `crownhead tournament resume`", .0.display()
    )]
    DiskFull(PathBuf),
    /// Any other error.
    #[error("cannot use journal {}: {reason}", path.display())]
    Other {
        /// The journal.
        path: PathBuf,
        /// Message of the system or SQLite.
        reason: String,
    },
}

impl JournalError {
    pub(super) fn from_sqlite(path: &Path, error: rusqlite::Error) -> JournalError {
        let path = path.to_path_buf();
        let reason = match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => return JournalError::DiskFull(path),
            Some(ErrorCode::NotADatabase) => return JournalError::NotAJournal(path),
            // SQLite hides that a file beside the journal could not be extended.
            Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen) if is_disk_full(&path) => {
                return JournalError::DiskFull(path);
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                "another program has locked it for too long".into()
            }
            Some(ErrorCode::DatabaseCorrupt) => {
                return JournalError::Damaged { path, problem: error.to_string() };
            }
            _ => error.to_string(),
        };
        JournalError::Other { path, reason }
    }

    pub(super) fn from_io(path: &Path, error: &std::io::Error) -> JournalError {
        let path = path.to_path_buf();
        match error.kind() {
            ErrorKind::AlreadyExists => JournalError::Exists(path),
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => JournalError::DiskFull(path),
            _ => JournalError::Other { path, reason: error.to_string() },
        }
    }
}

/// Returns whether the disk is full, by writing a small file beside the journal.
fn is_disk_full(path: &Path) -> bool {
    let probe = path.with_extension("journal-probe");
    let written = std::fs::write(&probe, [1; 64 * 1024]);
    let _ = std::fs::remove_file(&probe);
    written.is_err_and(|error| {
        matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
    })
}
