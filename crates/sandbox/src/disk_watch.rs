//! Watches how much a program writes to a directory. The kernel limits the size of each file, but not
//! their number.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Minimum time between two measurements.
const MIN_INTERVAL: Duration = Duration::from_millis(200);
/// Pause after a measurement, as a multiple of the time it took.
const PAUSE_FACTOR: u32 = 10;
/// Maximum number of files that a program may add.
const MAX_FILES: u64 = 100_000;

/// Size of a directory that a program writes to.
pub struct DiskWatch {
    folder: PathBuf,
    before: FolderSize,
    max_growth: u64,
    next: Instant,
    violation: Option<String>,
}

#[derive(Clone, Copy, Default)]
struct FolderSize {
    bytes: u64,
    files: u64,
}

impl DiskWatch {
    /// Starts to watch a folder, which may grow by `max_growth` bytes.
    pub fn new(folder: &Path, max_growth: u64) -> DiskWatch {
        let before = FolderSize::measure(folder);
        let (folder, next) = (folder.to_path_buf(), Instant::now());
        DiskWatch { folder, before, max_growth, next, violation: None }
    }

    /// Measures the folder, at most once per [`MIN_INTERVAL`]. Returns whether it has grown too
    /// much.
    pub fn is_exceeded(&mut self) -> bool {
        let start = Instant::now();
        if start < self.next || self.violation.is_some() {
            return self.violation.is_some();
        }
        let size = FolderSize::measure(&self.folder);
        let growth = size.bytes.saturating_sub(self.before.bytes);
        if growth > self.max_growth {
            let [growth, max] = [growth >> 20, self.max_growth >> 20];
            self.violation = Some(format!("it wrote {growth} MB; the limit is {max} MB"));
        } else if size.files.saturating_sub(self.before.files) > MAX_FILES {
            self.violation = Some(format!("it created more than {MAX_FILES} files"));
        }
        self.next = Instant::now() + MIN_INTERVAL.max(start.elapsed() * PAUSE_FACTOR);
        self.violation.is_some()
    }

    /// Measures the folder, even before the interval has passed.
    pub fn check_now(&mut self) {
        self.next = Instant::now();
        self.is_exceeded();
    }

    /// How the program has exceeded the limit, if it has.
    pub fn violation(&self) -> Option<&str> {
        self.violation.as_deref()
    }
}

impl FolderSize {
    fn measure(folder: &Path) -> FolderSize {
        let mut size = FolderSize::default();
        let mut folders = vec![folder.to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                // Symbolic links are not followed.
                let Ok(metadata) = entry.metadata() else { continue };
                size.files += 1;
                size.bytes = size.bytes.saturating_add(allocated_bytes(&metadata));
                if metadata.is_dir() {
                    folders.push(entry.path());
                }
            }
        }
        size
    }
}

#[cfg(unix)]
fn allocated_bytes(metadata: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::blocks(metadata) * 512
}

#[cfg(not(unix))]
fn allocated_bytes(metadata: &fs::Metadata) -> u64 {
    metadata.len()
}
