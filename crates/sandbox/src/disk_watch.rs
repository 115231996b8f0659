//! Watches how much a program writes to a directory. The kernel limits the size of each file, but
//! not their number.

use std::fs;
use std::io;
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
    /// Number of files and directories that cannot be measured: a program can make its directories
    /// unreadable, or nest them so deeply that their paths are too long.
    hidden: u64,
}

impl DiskWatch {
    /// Starts to watch a folder, which may grow by `max_growth` bytes.
    pub fn new(folder: &Path, max_growth: u64) -> DiskWatch {
        let before = FolderSize::measure(folder, u64::MAX);
        let (folder, next) = (folder.to_path_buf(), Instant::now());
        DiskWatch { folder, before, max_growth, next, violation: None }
    }

    /// Measures the folder, at most once per [`MIN_INTERVAL`]. Returns whether the program has
    /// exceeded a limit.
    pub fn is_exceeded(&mut self) -> bool {
        let start = Instant::now();
        if start < self.next || self.violation.is_some() {
            return self.violation.is_some();
        }
        let max_files = self.before.files.saturating_add(MAX_FILES);
        let size = FolderSize::measure(&self.folder, max_files);
        let growth = size.bytes.saturating_sub(self.before.bytes);
        if growth > self.max_growth {
            let [growth, max] = [growth >> 20, self.max_growth >> 20];
            self.violation = Some(format!("it wrote {growth} MB; the limit is {max} MB"));
        } else if size.files > max_files {
            self.violation = Some(format!("it created more than {MAX_FILES} files"));
        } else if size.hidden > self.before.hidden {
            self.violation = Some("it created directories whose size cannot be measured".into());
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
    /// Measures a folder, until more than `max_files` were found.
    fn measure(folder: &Path, max_files: u64) -> FolderSize {
        let mut size = FolderSize::default();
        let mut folders = vec![folder.to_path_buf()];
        while let Some(folder) = folders.pop() {
            let entries = fs::read_dir(&folder);
            size.hidden += entries.as_ref().err().map_or(0, count_hidden);
            for entry in entries.into_iter().flatten().flatten() {
                size.files += 1;
                if size.files > max_files {
                    return size;
                }
                // Symbolic links are not followed.
                match entry.metadata() {
                    Ok(metadata) => {
                        size.bytes = size.bytes.saturating_add(allocated_bytes(&metadata));
                        if metadata.is_dir() {
                            folders.push(entry.path());
                        }
                    }
                    Err(error) => size.hidden += count_hidden(&error),
                }
            }
        }
        size
    }
}

/// Returns 1 for an error by which a program can hide a file, else 0, for example for a file that
/// was removed meanwhile.
fn count_hidden(error: &io::Error) -> u64 {
    use io::ErrorKind::{InvalidFilename, PermissionDenied};
    matches!(error.kind(), PermissionDenied | InvalidFilename).into()
}

#[cfg(unix)]
fn allocated_bytes(metadata: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::blocks(metadata) * 512
}

#[cfg(not(unix))]
fn allocated_bytes(metadata: &fs::Metadata) -> u64 {
    metadata.len()
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::DirBuilderExt;

    use super::*;

    #[test]
    fn files_count_wherever_they_are() {
        let violation = |change: &dyn Fn(&Path)| {
            let folder = crate::ScratchDir::new().unwrap();
            let mut watch = DiskWatch::new(folder.path(), 1 << 20);
            change(folder.path());
            watch.check_now();
            watch.violation().map(String::from)
        };
        let write = |folder: &Path| fs::write(folder.join("file"), vec![1; 2 << 20]).unwrap();
        assert!(violation(&write).unwrap().starts_with("it wrote 2 MB"));
        assert_eq!(violation(&|folder| fs::create_dir_all(folder.join("a/b")).unwrap()), None);
        let hidden = Some("it created directories whose size cannot be measured".to_string());
        // Root may read all directories.
        let is_root = rustix::process::geteuid().is_root();
        let unreadable = violation(&|folder| {
            fs::DirBuilder::new().mode(0o300).create(folder.join("inner")).unwrap();
            write(&folder.join("inner"));
        });
        assert!(is_root || unreadable == hidden, "{unreadable:?}");
        // A path that is longer than the kernel accepts, made from its inner end.
        let deep = violation(&|folder| {
            let name = "x".repeat(200);
            write(folder);
            for _ in 0..25 {
                fs::create_dir(folder.join("outer")).unwrap();
                for entry in fs::read_dir(folder).unwrap().flatten() {
                    if entry.file_name() != "outer" {
                        let inside = folder.join("outer").join(entry.file_name());
                        fs::rename(entry.path(), inside).unwrap();
                    }
                }
                fs::rename(folder.join("outer"), folder.join(&name)).unwrap();
            }
        });
        assert_eq!(deep, hidden);
    }
}
