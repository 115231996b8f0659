//! Files that are there whole or not at all, whatever happens while they are written.

use std::fs::{File, Metadata};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// A file being written, beside the place it will have.
pub struct WholeFile {
    name: PathBuf,
    /// What a link names is replaced, not the link.
    target: PathBuf,
    known: Option<Metadata>,
    to: To,
}

enum To {
    Part(NamedTempFile),
    /// A pipe or a device: it takes what comes.
    Stream(File),
}

impl WholeFile {
    /// Begins; whatever is there now stays until [`finish`](WholeFile::finish).
    pub fn create(path: &Path) -> io::Result<WholeFile> {
        let target = place(path);
        let known = target.metadata().ok();
        let to = if known.as_ref().is_some_and(|known| !known.is_file()) {
            // A folder is refused here.
            To::Stream(File::options().write(true).open(&target).map_err(cannot(path))?)
        } else {
            // Beside the target, so that the last step is a rename within one file system.
            let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
            let mut builder = tempfile::Builder::new();
            builder.prefix(".crownhead-");
            #[cfg(unix)]
            builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666)); // less the umask
            let part = builder.tempfile_in(folder.unwrap_or(Path::new(".")));
            To::Part(part.map_err(|error| cannot(path)(bare(error)))?)
        };
        Ok(WholeFile { name: path.into(), target, known, to })
    }

    /// Where to write to.
    pub fn file(&self) -> &File {
        match &self.to {
            To::Part(part) => part.as_file(),
            To::Stream(file) => file,
        }
    }

    /// Whether `path` is the file to be replaced, be it there already or not.
    pub fn replaces(&self, path: &Path) -> bool {
        matches!(self.to, To::Part(_)) && place(path) == self.target
    }

    /// Writes a text and puts the file in its place.
    pub fn write(self, text: &str) -> io::Result<()> {
        self.file().write_all(text.as_bytes()).map_err(cannot(&self.name))?;
        self.finish()
    }

    /// Puts the file in its place; without this, whatever was there stays.
    pub fn finish(self) -> io::Result<()> {
        let To::Part(part) = self.to else { return Ok(()) };
        let name = &self.name;
        if let Some(known) = self.known {
            part.as_file().set_permissions(known.permissions()).map_err(cannot(name))?;
        }
        part.as_file().sync_all().map_err(cannot(name))?;
        part.persist(&self.target).map_err(|error| cannot(name)(error.error))?;
        Ok(())
    }
}

/// Writes a text to a file.
pub fn write_text(path: &Path, text: &str) -> io::Result<()> {
    WholeFile::create(path)?.write(text)
}

/// An error without the name of the file beside the target, which nobody asked for. tempfile keeps the
/// cause to itself: only its words can be had.
fn bare(error: io::Error) -> io::Error {
    let text = error.to_string();
    let cause = text.rsplit_once(" at path ").map(|(cause, _)| cause.to_string());
    cause.map_or(error.kind().into(), |cause| io::Error::new(error.kind(), cause))
}

/// Where a file is or will be, by whatever way it is named.
fn place(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let new = || {
        let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
        Some(folder.join(path.file_name()?))
    };
    path.canonicalize().ok().or_else(new).unwrap_or_else(|| path.into())
}

/// The error with the name of the file.
fn cannot(path: &Path) -> impl Fn(io::Error) -> io::Error {
    move |error| {
        let text = format!("{} could not be written: {error}", path.display());
        io::Error::new(error.kind(), text)
    }
}
