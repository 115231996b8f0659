//! One run at a time: a lock of the operating system on a file beside the journal. It ends with the
//! program that has it, however that ends; the file itself means nothing.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

use super::JournalError;

/// The right to run a contest, until it is dropped.
#[derive(Debug)]
pub struct Lock(#[allow(dead_code)] File); // the file is the lock

impl Lock {
    /// Takes the lock of a journal.
    pub fn take(journal: &Path) -> Result<Lock, JournalError> {
        let path = journal.with_extension("lock");
        let io = |error| JournalError::io(&path, &error);
        // Not inherited by programs that are started: they would keep it.
        let mut options = OpenOptions::new();
        let file = options.create(true).truncate(false).write(true).open(&path).map_err(io)?;
        match file.try_lock() {
            Ok(()) => Ok(Lock(file)),
            Err(TryLockError::WouldBlock) => Err(JournalError::Locked(journal.to_path_buf())),
            Err(TryLockError::Error(error)) => Err(io(error)),
        }
    }

    /// Whether somebody has the lock of a journal.
    pub fn is_taken(journal: &Path) -> bool {
        let file = File::open(journal.with_extension("lock"));
        file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }
}
