//! A scratch folder on disk, for machines where a program cannot have a file system of its own.
//!
//! It is removed with its program. What a crownhead that was killed left behind is removed when the
//! next one needs a folder: the name says whose it was.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

const NAME: &str = "crownhead-scratch-";

pub(super) struct Scratch {
    path: PathBuf,
}

impl Scratch {
    pub(super) fn new() -> io::Result<Scratch> {
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

    pub(super) fn path(&self) -> &Path {
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
        if !Path::new("/proc").join(owner.to_string()).exists() {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}
