//! One run at a time: a lock of the operating system, which ends with the program that has it, however
//! that ends.
//!
//! On Linux it is the journal itself that is locked (`flock`): whoever comes by a link finds the same
//! file, and there is no other file that somebody might clear away. SQLite's own locks are of another
//! kind there (`fcntl`) and do not meet it. But those are lost as soon as the process closes *any*
//! descriptor of the file. So a lock is taken before SQLite opens the file and given up after SQLite has
//! closed it, and whether somebody else has it is looked at before, too: [`Journal`](super::Journal)
//! alone does both. On other systems the two kinds do meet; there a file beside the real journal is
//! locked.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;
use std::time::Duration;

use super::JournalError;

/// Whoever looks whether a journal is locked holds a lock for an instant: that is waited for.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(20);

/// The right to run a tournament, until it is dropped.
#[derive(Debug)]
pub(super) struct Lock(#[allow(dead_code)] File); // the file is the lock

/// The file that is locked for a journal, opened.
fn locked_file(journal: &Path, options: &OpenOptions) -> io::Result<File> {
    if cfg!(target_os = "linux") {
        return options.open(journal);
    }
    let real = journal.canonicalize().unwrap_or_else(|_| journal.to_path_buf());
    options.clone().write(true).create(true).open(real.with_extension("lock"))
}

impl Lock {
    /// Takes the lock of a journal that is there.
    pub(super) fn take(journal: &Path) -> Result<Lock, JournalError> {
        Lock::on(journal, journal, OpenOptions::new().read(true).write(true))
    }

    /// Takes the lock of a journal that is to be made out of a draft, which need not be there.
    pub(super) fn take_new(draft: &Path, journal: &Path) -> Result<Lock, JournalError> {
        let mut options = OpenOptions::new();
        let lock = Lock::on(draft, journal, options.write(true).create(true).truncate(false))?;
        #[cfg(target_os = "linux")]
        {
            use std::os::unix::fs::MetadataExt;
            // Another may have put the file in its place, or taken it away, before the lock was ours.
            let known = (lock.0.metadata(), draft.metadata());
            if !matches!(known, (Ok(own), Ok(other)) if own.ino() == other.ino()) {
                return Err(JournalError::Locked(journal.to_path_buf()));
            }
        }
        Ok(lock)
    }

    fn on(path: &Path, journal: &Path, options: &OpenOptions) -> Result<Lock, JournalError> {
        // Not inherited by programs that are started: they would keep it.
        let file = locked_file(path, options).map_err(|error| JournalError::io(journal, &error))?;
        for _ in 0..TRIES {
            match file.try_lock() {
                Ok(()) => return Ok(Lock(file)),
                Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
                Err(TryLockError::Error(error)) => return Err(JournalError::io(journal, &error)),
            }
        }
        Err(JournalError::Locked(journal.to_path_buf()))
    }

    /// Whether somebody has the lock of a journal. Nobody may have the file open by SQLite here.
    pub(super) fn is_taken(journal: &Path) -> bool {
        let file = locked_file(journal, OpenOptions::new().read(true));
        file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }
}
