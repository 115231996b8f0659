//! Output files that are there whole or not at all.

use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};

use anyhow::Context;
use tempfile::NamedTempFile;

use super::Failure;

/// A file being written, beside the place it will have.
pub(crate) struct Output {
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

impl Output {
    pub(crate) fn create(path: &Path) -> Result<Output, Failure> {
        let target = path.canonicalize().unwrap_or_else(|_| path.into());
        let known = target.metadata().ok();
        let to = if known.as_ref().is_some_and(|known| !known.is_file()) {
            // A folder is refused here.
            To::Stream(File::options().write(true).open(&target).with_context(|| cannot(path))?)
        } else {
            // Beside the target, so that the last step is a rename within one file system.
            let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
            let mut builder = tempfile::Builder::new();
            builder.prefix(".crownhead-");
            #[cfg(unix)]
            builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666)); // less the umask
            let part = builder.tempfile_in(folder.unwrap_or(Path::new(".")));
            To::Part(part.with_context(|| cannot(path))?)
        };
        Ok(Output { name: path.into(), target, known, to })
    }

    /// Where to write to.
    pub(crate) fn file(&self) -> &File {
        match &self.to {
            To::Part(part) => part.as_file(),
            To::Stream(file) => file,
        }
    }

    /// Whether `path` is the file to be replaced.
    pub(crate) fn replaces(&self, path: &Path) -> bool {
        path.canonicalize().is_ok_and(|path| path == self.target)
    }

    /// Puts the file in its place; without this, whatever was there stays.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        let To::Part(part) = self.to else { return Ok(()) };
        let cannot = || cannot(&self.name);
        if let Some(known) = self.known {
            part.as_file().set_permissions(known.permissions()).with_context(cannot)?;
        }
        part.as_file().sync_all().with_context(cannot)?;
        part.persist(&self.target).map_err(|error| error.error).with_context(cannot)?;
        Ok(())
    }
}

/// Writes a text to a file.
pub(crate) fn write_text(path: &Path, text: &str) -> Result<(), Failure> {
    use std::io::Write;
    let output = Output::create(path)?;
    output.file().write_all(text.as_bytes()).with_context(|| cannot(path))?;
    output.finish()
}

fn cannot(path: &Path) -> String {
    format!("{} could not be written", path.display())
}
