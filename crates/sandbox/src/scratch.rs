//! A scratch folder on disk: where functions are compiled, and for machines where a program cannot have
//! a file system of its own.
//!
//! It is removed by its owner. What a crownhead that was killed left behind is removed when the
//! next one needs a folder: the name says whose it was.

use std::ffi::{CString, OsStr};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, openat, renameat, unlinkat};
use rustix::io::Errno;
use rustix::path::Arg;
use rustix::process::{Pid, test_kill_process};

const NAME: &str = "crownhead-scratch-";

pub struct Scratch {
    path: PathBuf,
}

impl Scratch {
    pub fn new() -> io::Result<Scratch> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let around = std::env::temp_dir();
        let own = std::process::id();
        loop {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = around.join(format!("{NAME}{own}-{number}"));
            use std::os::unix::fs::DirBuilderExt;
            match std::fs::DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Scratch { path }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Removes the folders of those who were killed; once.
    pub fn clean() {
        static CLEANED: Once = Once::new();
        CLEANED.call_once(|| remove_stale(&std::env::temp_dir()));
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // The program is dead: nobody makes new files.
        let _ = remove(&self.path);
    }
}

/// Whether something has a name that begins so, then with the number of a process, and that is gone.
pub fn is_stale(name: &OsStr, start: &str) -> bool {
    let owner = name.to_str().and_then(|name| name.strip_prefix(start)?.split('-').next());
    let owner = owner.and_then(|owner| owner.parse::<u32>().ok());
    // Owner 0 would be everybody.
    let owner = owner.and_then(|owner| Pid::from_raw(i32::try_from(owner).ok()?));
    owner.is_some_and(|owner| test_kill_process(owner) == Err(Errno::SRCH))
}

/// Removes what belongs to nobody who lives.
fn remove_stale(around: &Path) {
    for entry in std::fs::read_dir(around).into_iter().flatten().flatten() {
        if is_stale(&entry.file_name(), NAME) {
            let _ = remove(&entry.path());
        }
    }
}

/// After so many files and folders the rest is left to the next start: somebody may still make them.
const MOST: u32 = 1 << 22;

/// Removes a folder with all that is in it: also where its owner may not look, and however deep it
/// goes. So that few folders are open at a time, each is moved up to the first before it is emptied.
/// Links are not followed.
fn remove(path: &Path) -> rustix::io::Result<()> {
    let top = open(CWD, path)?;
    let mut count = 0;
    let mut counted = || {
        count += 1;
        if count < MOST { Ok(count) } else { Err(Errno::TOOBIG) }
    };
    let mut has_folders = true;
    while has_folders {
        has_folders = false;
        for name in names(&top)? {
            counted()?;
            if unlinkat(&top, &name, AtFlags::empty()).is_ok() {
                continue;
            }
            let folder = open(&top, &name)?;
            for inner in names(&folder)? {
                counted()?;
                if unlinkat(&folder, &inner, AtFlags::empty()).is_ok() {
                    continue;
                }
                // Whoever may not write to a folder cannot move it.
                open(&folder, &inner)?;
                // The program may have used any name.
                while let Err(error) = renameat(&folder, &inner, &top, format!("{}", counted()?)) {
                    if ![Errno::EXIST, Errno::NOTEMPTY, Errno::NOTDIR].contains(&error) {
                        return Err(error);
                    }
                }
            }
            unlinkat(&top, &name, AtFlags::REMOVEDIR)?;
            has_folders = true;
        }
    }
    unlinkat(CWD, path, AtFlags::REMOVEDIR)
}

/// What is in a folder.
fn names(folder: &OwnedFd) -> rustix::io::Result<impl Iterator<Item = CString>> {
    let names = Dir::read_from(folder)?.flatten().map(|entry| entry.file_name().to_owned());
    Ok(names.filter(|name| name.as_c_str() != c"." && name.as_c_str() != c".."))
}

/// Opens a folder that is ours, even if we have shut it to ourselves.
fn open(around: impl AsFd, name: impl Arg) -> rustix::io::Result<OwnedFd> {
    let folder = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    #[cfg(not(target_os = "linux"))]
    return openat(around, name, folder | OFlags::RDONLY, Mode::empty());
    #[cfg(target_os = "linux")]
    {
        // Its mode is changed by a descriptor: whatever has the name by then is left alone.
        let found = openat(around, name, folder | OFlags::PATH, Mode::empty())?;
        let number = std::os::fd::AsRawFd::as_raw_fd(&found);
        let _ = rustix::fs::chmod(format!("/proc/self/fd/{number}"), Mode::RWXU);
        openat(&found, c".", folder | OFlags::RDONLY, Mode::empty())
    }
}
