//! Locks a journal, so that a tournament runs once at a time. The operating system releases the
//! lock when the process ends, however it ends.
//!
//! On Linux the lock is a `flock` on the journal itself: it holds for every path that leads to the
//! file, and there is no lock file to delete by mistake. SQLite's own locks are `fcntl` locks and
//! do not interfere, but a process loses them as soon as it closes *any* descriptor of the file.
//! The lock must therefore be taken and tested before SQLite opens the file, and released after
//! SQLite has closed it; only [`Journal`](super::Journal) does so. On other systems the two kinds
//! interfere, and a file beside the journal is locked.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;
use std::time::Duration;

use super::JournalError;

/// Another process that tests the lock holds it for an instant: retry for a while.
const LOCK_ATTEMPTS: u32 = 20;
const RETRY_INTERVAL: Duration = Duration::from_millis(20);

/// The exclusive right to run a tournament; released on drop.
#[derive(Debug)]
pub(super) struct Lock(
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "holds the lock"))]
    pub(super)  File,
);

fn open_lock_file(journal: &Path, options: &OpenOptions) -> io::Result<File> {
    if cfg!(target_os = "linux") {
        return options.open(journal);
    }
    let real = journal.canonicalize().unwrap_or_else(|_| journal.to_path_buf());
    options.clone().write(true).create(true).open(real.with_extension("lock"))
}

impl Lock {
    /// Locks an existing journal.
    pub(super) fn acquire(journal: &Path) -> Result<Lock, JournalError> {
        Lock::acquire_file(journal, journal, OpenOptions::new().read(true).write(true))
    }

    /// Locks a journal that will be created by renaming `draft`; creates the draft if necessary.
    pub(super) fn acquire_draft(draft: &Path, journal: &Path) -> Result<Lock, JournalError> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        let lock = Lock::acquire_file(draft, journal, &options)?;
        #[cfg(target_os = "linux")]
        {
            use std::os::unix::fs::MetadataExt;
            // Another process may have renamed or removed the draft before we got the lock.
            let metadata = (lock.0.metadata(), draft.metadata());
            if !matches!(metadata, (Ok(locked), Ok(draft)) if locked.ino() == draft.ino()) {
                return Err(JournalError::Locked(journal.to_path_buf()));
            }
        }
        Ok(lock)
    }

    fn acquire_file(
        path: &Path,
        journal: &Path,
        options: &OpenOptions,
    ) -> Result<Lock, JournalError> {
        let io_error = |error| JournalError::from_io(journal, &error);
        // Close-on-exec by default: a bot must not inherit the lock.
        let file = open_lock_file(path, options).map_err(io_error)?;
        for _ in 0..LOCK_ATTEMPTS {
            match file.try_lock() {
                Ok(()) => return Ok(Lock(file)),
                Err(TryLockError::WouldBlock) => std::thread::sleep(RETRY_INTERVAL),
                Err(TryLockError::Error(error)) => return Err(io_error(error)),
            }
        }
        Err(JournalError::Locked(journal.to_path_buf()))
    }

    /// Returns whether a journal is locked. This process must not have it open in SQLite.
    pub(super) fn is_held(journal: &Path) -> bool {
        let file = open_lock_file(journal, OpenOptions::new().read(true));
        file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }
}
