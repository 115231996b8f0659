//! Scratch directories: for compiling, and for programs without a file system of their own.
//!
//! A scratch directory is removed by its owner. Those of processes that were killed are removed
//! when the next program is started: the name contains the id of the owner. The owner may have
//! another id here, if it runs in another container, so it also holds a lock on the directory.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

/// Name of a scratch directory, before the id of its owner.
const PREFIX: &str = "crownhead-scratch-";

/// A directory that is removed with all its contents when this is dropped.
pub struct ScratchDir {
    path: PathBuf,
    /// `None` if the file system has no locks.
    _lock: Option<DirLock>,
}

impl ScratchDir {
    /// Creates a directory in the system's directory for temporary files.
    pub fn new() -> io::Result<ScratchDir> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let (temp_dir, owner) = (std::env::temp_dir(), std::process::id());
        loop {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = temp_dir.join(format!("{PREFIX}{owner}-{number}"));
            match create_private(&path) {
                Ok(()) => {
                    let lock = lock(&path);
                    return Ok(ScratchDir { path, _lock: lock });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Absolute path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the directories of processes that no longer exist. Only the first call does
    /// anything.
    #[cfg_attr(not(unix), expect(dead_code))] // no program can be started
    pub(crate) fn remove_stale() {
        static DONE: Once = Once::new();
        DONE.call_once(|| {
            let entries = std::fs::read_dir(std::env::temp_dir());
            for entry in entries.into_iter().flatten().flatten() {
                if is_stale(&entry.file_name(), PREFIX) && lock(&entry.path()).is_some() {
                    let _ = remove_tree(&entry.path());
                }
            }
        });
    }
}

impl Drop for ScratchDir {
    fn drop(&mut self) {
        // The program is dead, so nobody creates new files.
        let _ = remove_tree(&self.path);
    }
}

#[cfg(unix)]
pub(crate) use self::unix::is_stale;
#[cfg(unix)]
use self::unix::{DirLock, create_private, lock, remove_tree};

#[cfg(not(unix))]
type DirLock = ();

#[cfg(not(unix))]
fn lock(_path: &Path) -> Option<DirLock> {
    None
}

#[cfg(not(unix))]
fn create_private(path: &Path) -> io::Result<()> {
    std::fs::create_dir(path)
}

#[cfg(not(unix))]
fn remove_tree(path: &Path) -> io::Result<()> {
    std::fs::remove_dir_all(path)
}

#[cfg(not(unix))]
fn is_stale(_name: &OsStr, _prefix: &str) -> bool {
    false
}

#[cfg(unix)]
mod unix {
    use std::ffi::CString;
    use std::os::fd::{AsFd, OwnedFd};
    use std::os::unix::fs::DirBuilderExt;

    use rustix::fs::{
        AtFlags, CWD, Dir, FlockOperation, Mode, OFlags, flock, openat, renameat, unlinkat,
    };
    use rustix::io::Errno;
    use rustix::path::Arg;
    use rustix::process::{Pid, test_kill_process};

    use super::*;

    pub(super) fn create_private(path: &Path) -> io::Result<()> {
        std::fs::DirBuilder::new().mode(0o700).create(path)
    }

    /// Lock on a directory, which ends with its owner.
    pub(super) type DirLock = OwnedFd;

    /// Locks a directory; `None` if somebody else has locked it.
    pub(super) fn lock(path: &Path) -> Option<DirLock> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
        let dir = openat(CWD, path, flags, Mode::empty()).ok()?;
        flock(&dir, FlockOperation::NonBlockingLockExclusive).ok()?;
        Some(dir)
    }

    /// Whether `name` is `prefix`, then the id of a process that no longer exists.
    pub(crate) fn is_stale(name: &OsStr, prefix: &str) -> bool {
        let owner = name.to_str().and_then(|name| name.strip_prefix(prefix)?.split('-').next());
        let owner = owner.and_then(|owner| owner.parse::<u32>().ok());
        // Signals to process 0 go to the whole group, so `Pid` excludes it.
        let owner = owner.and_then(|owner| Pid::from_raw(i32::try_from(owner).ok()?));
        owner.is_some_and(|owner| test_kill_process(owner) == Err(Errno::SRCH))
    }

    /// Maximum number of entries that are removed at once: something may still create new ones.
    const MAX_REMOVED: u32 = 1 << 22;

    /// Removes a directory with all its contents, of any depth and whatever their modes. Symbolic
    /// links are not followed. Each subdirectory is moved up to the top before it is emptied, so
    /// that few directories are open at a time.
    pub(super) fn remove_tree(path: &Path) -> rustix::io::Result<()> {
        let top = open_dir(CWD, path)?;
        let mut count = 0;
        let mut next_count = || {
            count += 1;
            if count < MAX_REMOVED { Ok(count) } else { Err(Errno::TOOBIG) }
        };
        let mut has_subdirs = true;
        while has_subdirs {
            has_subdirs = false;
            for name in entry_names(&top)? {
                next_count()?;
                if unlinkat(&top, &name, AtFlags::empty()).is_ok() {
                    continue;
                }
                let dir = open_dir(&top, &name)?;
                for inner in entry_names(&dir)? {
                    next_count()?;
                    if unlinkat(&dir, &inner, AtFlags::empty()).is_ok() {
                        continue;
                    }
                    // Makes the directory writable: otherwise it could not be moved.
                    open_dir(&dir, &inner)?;
                    // The program may have used any name.
                    while let Err(error) = renameat(&dir, &inner, &top, next_count()?.to_string()) {
                        if ![Errno::EXIST, Errno::NOTEMPTY, Errno::NOTDIR].contains(&error) {
                            return Err(error);
                        }
                    }
                }
                unlinkat(&top, &name, AtFlags::REMOVEDIR)?;
                has_subdirs = true;
            }
        }
        unlinkat(CWD, path, AtFlags::REMOVEDIR)
    }

    fn entry_names(dir: &OwnedFd) -> rustix::io::Result<impl Iterator<Item = CString>> {
        let names = Dir::read_from(dir)?.flatten().map(|entry| entry.file_name().to_owned());
        Ok(names.filter(|name| name.as_c_str() != c"." && name.as_c_str() != c".."))
    }

    /// Opens a directory of the user, after granting the user all rights to it.
    fn open_dir(parent: impl AsFd, name: impl Arg) -> rustix::io::Result<OwnedFd> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        #[cfg(not(target_os = "linux"))]
        return openat(parent, name, flags | OFlags::RDONLY, Mode::empty());
        #[cfg(target_os = "linux")]
        {
            // The mode is changed through the descriptor, in case the name is replaced meanwhile.
            let dir = openat(parent, name, flags | OFlags::PATH, Mode::empty())?;
            let fd = std::os::fd::AsRawFd::as_raw_fd(&dir);
            let _ = rustix::fs::chmod(format!("/proc/self/fd/{fd}"), Mode::RWXU);
            openat(&dir, c".", flags | OFlags::RDONLY, Mode::empty())
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn directory_is_locked_by_its_owner() {
        let dir = ScratchDir::new().unwrap();
        assert!(lock(dir.path()).is_none(), "an owner with another id here keeps it");
        let path = dir.path().to_path_buf();
        drop(dir);
        assert!(!path.exists());
        std::fs::create_dir(&path).unwrap();
        assert!(lock(&path).is_some(), "one without an owner can be removed");
        std::fs::remove_dir(path).unwrap();
    }
}
