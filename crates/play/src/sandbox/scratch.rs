//! A scratch folder on disk: where functions are compiled, and for machines where a program cannot have
//! a file system of its own.
//!
//! It is removed by its owner. What a crownhead that was killed left behind is removed when the
//! next one needs a folder: the name says whose it was.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

const NAME: &str = "crownhead-scratch-";

pub(crate) struct Scratch {
    path: PathBuf,
}

impl Scratch {
    pub(crate) fn new() -> io::Result<Scratch> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        static CLEANED: Once = Once::new();
        let around = std::env::temp_dir();
        CLEANED.call_once(|| remove_stale(&around));
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

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // The program is dead: nobody makes new files.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

/// Removes what belongs to nobody who lives.
fn remove_stale(around: &Path) {
    for entry in std::fs::read_dir(around).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner = name.to_str().and_then(|name| name.strip_prefix(NAME)?.split('-').next());
        let Some(owner) = owner.and_then(|owner| owner.parse::<u32>().ok()) else { continue };
        // Owner 0 would be everybody.
        let owner = i32::try_from(owner).ok().and_then(Pid::from_raw);
        let is_gone = |pid| test_kill_process(pid) == Err(Errno::SRCH);
        if owner.is_some_and(is_gone) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}
