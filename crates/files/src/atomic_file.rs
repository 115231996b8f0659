//! Files that appear complete or not at all, even if the program is killed while it writes.

use std::fs::{File, Metadata};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// A file written beside its target and renamed over it by [`commit`](AtomicFile::commit).
pub struct AtomicFile {
    /// The path as the caller gave it, for error messages.
    path: PathBuf,
    /// The canonical path: a symbolic link is followed, not replaced.
    target: PathBuf,
    existing: Option<Metadata>,
    sink: Sink,
}

enum Sink {
    Temporary(NamedTempFile),
    /// A pipe or a device: written directly.
    Stream(File),
}

impl AtomicFile {
    /// Creates the temporary file. An existing target stays as it is until
    /// [`commit`](AtomicFile::commit).
    pub fn create(path: &Path) -> io::Result<AtomicFile> {
        let target = canonical(path);
        let existing = target.metadata().ok();
        let sink = if existing.as_ref().is_some_and(|existing| !existing.is_file()) {
            // Opening a directory fails here.
            Sink::Stream(File::options().write(true).open(&target).map_err(write_error(path))?)
        } else {
            // In the target's directory, so that the rename stays within one file system.
            let dir = target.parent().filter(|dir| !dir.as_os_str().is_empty());
            let mut builder = tempfile::Builder::new();
            builder.prefix(".crownhead-");
            #[cfg(unix)]
            builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666)); // minus umask
            let file = builder.tempfile_in(dir.unwrap_or(Path::new(".")));
            Sink::Temporary(file.map_err(|error| write_error(path)(without_path(error)))?)
        };
        Ok(AtomicFile { path: path.into(), target, existing, sink })
    }

    /// The file that is written, to lock it for example.
    pub fn file(&self) -> &File {
        match &self.sink {
            Sink::Temporary(file) => file.as_file(),
            Sink::Stream(file) => file,
        }
    }

    /// Returns whether `path` names the file that will be replaced, whether or not it exists.
    pub fn is_target(&self, path: &Path) -> bool {
        matches!(self.sink, Sink::Temporary(_)) && canonical(path) == self.target
    }

    /// Writes all of the contents and commits.
    pub fn write(self, contents: &(impl AsRef<[u8]> + ?Sized)) -> io::Result<()> {
        Write::write_all(&mut &self, contents.as_ref())?;
        self.commit()
    }

    /// Syncs the file and renames it over the target. Without a commit the target stays as it was.
    pub fn commit(self) -> io::Result<()> {
        let Sink::Temporary(file) = self.sink else { return Ok(()) };
        let path = &self.path;
        if let Some(existing) = self.existing {
            file.as_file().set_permissions(existing.permissions()).map_err(write_error(path))?;
        }
        file.as_file().sync_all().map_err(write_error(path))?;
        file.persist(&self.target).map_err(|error| write_error(path)(error.error))?;
        Ok(())
    }
}

/// Errors name the path.
impl Write for &AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file().write(bytes).map_err(write_error(&self.path))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file().flush().map_err(write_error(&self.path))
    }
}

/// Writes a file atomically.
pub fn write_atomic(path: &Path, contents: &(impl AsRef<[u8]> + ?Sized)) -> io::Result<()> {
    AtomicFile::create(path)?.write(contents)
}

/// Removes the temporary file's path from an error of `tempfile`, which appends it to the message
/// and hides the cause.
fn without_path(error: io::Error) -> io::Error {
    let text = error.to_string();
    let cause = text.rsplit_once(" at path ").map(|(cause, _)| cause.to_string());
    cause.map_or(error.kind().into(), |cause| io::Error::new(error.kind(), cause))
}

/// The canonical path of a file that may not exist yet.
fn canonical(path: &Path) -> PathBuf {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    let new = || {
        let dir = dir.unwrap_or(Path::new(".")).canonicalize().ok()?;
        Some(dir.join(path.file_name()?))
    };
    path.canonicalize().ok().or_else(new).unwrap_or_else(|| path.into())
}

/// Adds the path to an error.
fn write_error(path: &Path) -> impl Fn(io::Error) -> io::Error {
    move |error| {
        let text = format!("cannot write {}: {error}", path.display());
        io::Error::new(error.kind(), text)
    }
}
